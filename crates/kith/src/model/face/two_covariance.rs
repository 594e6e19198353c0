//! What people in general look like: the within-person and between-person covariances of known or supposed
//! people.

mod covariances;
mod numbers;

use std::borrow::Cow;
use std::ops::Range;

use faer::Mat;

pub(super) use self::covariances::eigen;
use self::covariances::{diagonalise, scaled, trace_of};
use super::empirical::nearest_squares;
use super::full::{factor_to, norm_of};
use super::{Full, FullPrior, Isotropic};
use crate::data::Embeddings;

/// Axes along which all faces together vary less than this share of the average are noise of the network's
/// last layer; they are left out.
const FLAT: f64 = 0.1;
/// More axes than this are not kept: beyond it they carry little and cost D^2 per face and identity.
const MOST_AXES: usize = 256;
/// In so many parts people are left out, one after the other, to see how far others vary along the axes found
/// without them; with fewer than [`FEWEST`] people of two faces or more nobody is.
const PARTS: usize = 4;
const FEWEST: usize = 32;
/// Steps of expectation-maximisation; the estimates settle within a few.
const STEPS: usize = 20;
/// Degrees of freedom of an identity's own covariance, as multiples of the number of axes: the likeliest is
/// taken. Of photographs the first would always be too many, because some are blurred or turned; lambda is
/// there for those.
const FREEDOMS: [f64; 9] = [3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0];
/// So many people are enough to tell.
const MOST_PEOPLE: usize = 128;
/// How much the common covariance counts beside a person's own: between 0.3, below which strangers gather in
/// one identity, and 0.5, above which people with many photos are cut (docs/NOTEBOOK.md has the table).
const COMMON: f64 = 0.4;
/// Degrees of freedom of the density of people's means, as a multiple of the number of axes: as many make the
/// cost of being somebody new grow more slowly than that of joining anybody from where faces lie onwards.
const TAIL: f64 = 1.0;
/// Within people an embedding carries about so many independent numbers at most: E. D axes of it, as those of
/// a random projection, carry E D / (E + D), and the density of faces counts to the power that makes it so
/// many, E / (E + D). With more, people with a hundred photos are cut; with less, photos are left apart.
const EFFECTIVE: f64 = 70.0;
/// Where photos of a person have fewer independent numbers than this, E is less in proportion, and where they
/// surely have more than E, it is as many. Under four networks they have 40 to 67 (docs/NOTEBOOK.md).
const FEWEST_NUMBERS: f64 = 40.0;
/// Counted on people of so many photos or more.
const COUNTED: usize = 4;
/// The standard deviation of ln lambda: about as much as photos vary.
const SPREAD: f64 = 0.3;
/// Without it strangers gather in one identity after all, each at a wide scale, where thousands of people are
/// seen once under a middling or weak network; with twice as much people are cut.
const LOOKALIKES: f64 = 1.0;
/// In fewer dimensions than this a length is a coordinate like others, none is noise, and points are what
/// they seem: clouds with a covariance each, whose points count once.
pub(crate) const DIRECTIONS: usize = 32;
/// The between-person variances are rounded to so many values, which makes a face's mean part cheap to weigh.
const LEVELS: usize = 8;
/// The largest share of pseudo-observations in a covariance.
const MOST_SHRUNK: f64 = 0.99;
/// Nobody counts for more faces than this in the within-person covariance: it is that of people in general.
const MOST_FACES: f64 = 30.0;

impl Full {
    /// From people who are known, each a list of rows: expectation-maximisation of `x = m + b + w`,
    /// `b ~ N(0, B)` per person, `w ~ N(0, W)` per face. By as many pseudo-observations as there are axes, or
    /// more where variances seem to be equal, W is shrunk towards equal variances and B towards the shape of
    /// W, so that few faces are enough. The axes that set these people apart set others less apart, so the
    /// variances along them are those of people who were left out.
    pub fn from_people(embeddings: &Embeddings, people: &[Vec<usize>]) -> Self {
        let sorted = Sorted { is_last: true, ..Sorted::new(embeddings, people) };
        let (transform, psi) = sorted.axes_by_psi();
        let runs = runs(&psi);
        let variances = match sorted.sizes.iter().filter(|&&size| size > 1).count() < FEWEST {
            true => runs.iter().map(|run| (1.0, mean_ln(&psi[run.clone()]).exp())).collect(),
            false => sorted.variances_of_others(&runs),
        };
        let (mut scaled, mut between, mut most) = (transform.clone(), Vec::new(), f64::INFINITY);
        for (run, (within, psi)) in runs.into_iter().zip(variances) {
            most = psi.min(most);
            for axis in run {
                between.push(most);
                (0..scaled.ncols()).for_each(|c| scaled[(axis, c)] = transform[(axis, c)] / within.sqrt());
            }
        }
        sorted.prior(&scaled, between)
    }

    /// From people who are only supposed to be such, because a sampler put their faces together. Between
    /// people everything is taken to vary in the same way as within, only more: `B = psi W`. A B of its own
    /// would be that of the few people who are there, and of the pieces they may still be in, and cut them
    /// further.
    pub fn from_supposed(embeddings: &Embeddings, people: &[Vec<usize>]) -> Self {
        Self::supposed(Sorted::new(embeddings, people))
    }

    /// The same of people who may as well be look-alikes: how few directions they vary in says nothing.
    pub fn from_look_alikes(embeddings: &Embeddings, people: &[Vec<usize>]) -> Self {
        Self::supposed(Sorted { are_there: false, ..Sorted::new(embeddings, people) })
    }

    /// The same as [`Full::from_supposed`] at the end of the rounds: W is brought nearer to equal variances
    /// where that is what it seems to be, and the density counts less where photos have few independent
    /// numbers. In the rounds before, W as it is found tells people from look-alikes more readily, and of
    /// pieces of people who vary in few directions a density that counts less makes more pieces.
    pub fn from_found(embeddings: &Embeddings, people: &[Vec<usize>]) -> Self {
        Self::supposed(Sorted { is_last: true, ..Sorted::new(embeddings, people) })
    }

    fn supposed(sorted: Sorted) -> Self {
        let within = sorted.within();
        let (transform, _, _) = diagonalise(&within, &within);
        let psi = sorted.scalar_between(&transform);
        sorted.prior(&transform, vec![psi; transform.nrows()])
    }

    /// From faces alone, before anybody is supposed: within people the variance is what sets a face apart
    /// from the one most like it, where that is little (a quarter of the faces are taken to have another of
    /// the same person), and half of all variance otherwise; alike in all directions. Too little is mended by
    /// the rounds that follow, which join what belongs together; too much is not: two people taken for one
    /// make their difference a way to vary. In a few dimensions the nearest is the nearest of several
    /// ([`Isotropic::from_unlabelled`]).
    pub fn from_faces(embeddings: &Embeddings) -> Self {
        let everyone: Vec<Vec<usize>> = (0..embeddings.len()).map(|row| vec![row]).collect();
        let sorted = Sorted::new(embeddings, &everyone);
        let d = sorted.y.ncols();
        if embeddings.dimension() < DIRECTIONS {
            let y = sorted.y.row_iter().flat_map(|row| row.iter().map(|&y| y as f32).collect::<Vec<_>>());
            let y = Embeddings::new(y.collect(), d).expect("they are as finite as before");
            let round = Isotropic::from_unlabelled(&y.usual());
            let root = (round.rate / (round.shape - 1.0)).max(sorted.least).sqrt();
            let transform = Mat::from_fn(d, d, |r, c| if r == c { 1.0 / root } else { 0.0 });
            return sorted.prior(&transform, vec![(1.0 / round.kappa).max(1e-4); d]);
        }
        let total = trace_of(&(sorted.y.transpose() * &sorted.y)) / sorted.y.nrows().max(1) as f64;
        let (nearest, copies) = nearest_squares(&brought_to(sorted.length, embeddings));
        let near = match nearest.get(nearest.len() / 4) {
            _ if copies > MOST_COPIES => 0.0,
            nearest => nearest.map_or(total, |square| 0.5 * square),
        };
        let within = near.clamp(LEAST_WITHIN * total, 0.5 * total).max(sorted.least * d as f64);
        let root = (within / d as f64).sqrt();
        let transform = Mat::from_fn(d, d, |r, c| if r == c { 1.0 / root } else { 0.0 });
        sorted.prior(&transform, vec![(total / within - 1.0).max(1e-4); d])
    }

    /// Whether another prior says nearly the same of W's size and of psi.
    pub fn is_near(&self, other: &Self) -> bool {
        let size = |full: &Self| {
            let squares: f64 = full.prior().transform.iter().map(|a| a * a).sum();
            (full.n_axes() as f64 / squares).ln()
        };
        let ratio = |full: &Self| full.prior().between.iter().sum::<f64>().ln();
        (size(self) - size(other)).abs() < NEAR && (ratio(self) - ratio(other)).abs() < NEAR
    }
}

/// Where more faces than this share have an equal one, copies are what people consist of.
const MOST_COPIES: f64 = 0.75;
/// Lengths that differ by no more than this share are taken for the same.
const ALIKE: f64 = 0.01;
/// The least share of all variance that is within people, before anybody is supposed.
const LEAST_WITHIN: f64 = 1e-4;
/// A variance that is as good as none beside one.
const LEAST_STANDARD: f64 = 1e-12;
/// Coordinates of which one varies so many times as much as another are in different units.
const OTHER_UNITS: f64 = 10.0;
/// Priors whose W and psi differ by less than this share are taken for the same.
const NEAR: f64 = 0.03;

/// Faces person after person, centred, along the axes that are kept.
struct Sorted {
    length: Option<f64>,
    /// A variance that is as good as none beside the embeddings' size.
    least: f64,
    mean: Vec<f64>,
    axes: Mat<f64>,
    y: Mat<f64>,
    sizes: Vec<usize>,
    /// Whether they are people rather than look-alikes.
    are_there: bool,
    /// Whether they are people found at last rather than on the way: W is then brought as near to equal
    /// variances as it seems to be, and few independent numbers count.
    is_last: bool,
}

impl Sorted {
    fn new(embeddings: &Embeddings, people: &[Vec<usize>]) -> Self {
        let people: Vec<&Vec<usize>> = people.iter().filter(|rows| !rows.is_empty()).collect();
        let rows: Vec<usize> = people.iter().flat_map(|rows| rows.iter().copied()).collect();
        let (length, least) = sizes_of(embeddings);
        let factors: Vec<f64> = embeddings.rows().map(|row| factor_to(length, row)).collect();
        let mean = mean_of_people(embeddings, &factors, &people);
        let centred = Mat::from_fn(rows.len(), embeddings.dimension(), |r, c| {
            factors[rows[r]] * f64::from(embeddings.row(rows[r])[c]) - mean[c]
        });
        let (axes, least) = match embeddings.dimension() < DIRECTIONS {
            true => coordinates(&centred, least),
            false => (leading_axes(&centred, least), least),
        };
        let y = &centred * &axes;
        Self {
            length,
            least,
            mean,
            axes,
            y,
            sizes: people.iter().map(|rows| rows.len()).collect(),
            are_there: true,
            is_last: false,
        }
    }

    /// The prior whose transform follows the axes.
    fn prior(&self, transform: &Mat<f64>, between: Vec<f64>) -> Full {
        let whole = transform * self.axes.transpose();
        let cells = (0..whole.nrows()).flat_map(|r| (0..whole.ncols()).map(move |c| (r, c)));
        let (numbers, at_least) = match self.are_there {
            true => self.independent_numbers(),
            false => (f64::INFINITY, 0.0),
        };
        let few = if self.is_last { (numbers / FEWEST_NUMBERS).min(1.0) } else { 1.0 };
        let effective = (EFFECTIVE * few).max(at_least);
        let power = 1.0 / (1.0 + transform.nrows() as f64 / effective);
        let (common, power, spread, lookalikes) = match self.mean.len() < DIRECTIONS {
            true => (0.0, 1.0, 0.0, 0.0),
            false => (COMMON, power, SPREAD, LOOKALIKES),
        };
        Full::new(FullPrior {
            length: self.length,
            mean: self.mean.clone(),
            transform: cells.map(|(r, c)| whole[(r, c)]).collect(),
            freedom: self.freedom(transform),
            between,
            common,
            tail: TAIL * transform.nrows() as f64,
            power,
            spread,
            lookalikes,
        })
    }

    /// nu of these people's covariances, where the transform makes the average one the identity.
    fn freedom(&self, transform: &Mat<f64>) -> f64 {
        let d = transform.nrows() as f64;
        let (y, means) = (&self.y * transform.transpose(), self.means() * transform.transpose());
        let (mut first, mut n_several) = (0, 0);
        let every = self.sizes.iter().filter(|&&size| size > 1).count().div_ceil(MOST_PEOPLE);
        // Of some people the eigenvalues of S that are not zero, and the number of faces.
        let mut people = Vec::new();
        for (person, &size) in self.sizes.iter().enumerate() {
            n_several += usize::from(size > 1);
            if size > 1 && n_several % every == 0 {
                let e = Mat::from_fn(size, y.ncols(), |r, c| y[(first + r, c)] - means[(person, c)]);
                let square = if size < y.ncols() { &e * e.transpose() } else { e.transpose() * &e };
                people.push((eigen(&square).0, size));
            }
            first += size;
        }
        let ln_likelihood = |nu: f64| -> f64 {
            let scale = nu - d - 1.0;
            let of_person = |(values, size): &(Vec<f64>, usize)| {
                let ln_det: f64 = values.iter().map(|value| (value.max(0.0) / scale).ln_1p()).sum();
                let steps: f64 = (1..*size).map(|n| Full::ln_gammas(nu, n as f64, d)).sum();
                let n_residuals = (size - 1) as f64;
                steps - 0.5 * n_residuals * d * scale.ln() - 0.5 * (nu + n_residuals) * ln_det
            };
            people.iter().map(of_person).sum()
        };
        let candidates = FREEDOMS.map(|multiple| multiple * d + 2.0);
        // The first of equals: without a second photo of anybody all are.
        let mut best = (candidates[0], ln_likelihood(candidates[0]));
        for nu in candidates {
            let ln = ln_likelihood(nu);
            if ln > best.1 {
                best = (nu, ln);
            }
        }
        best.0
    }

    /// The mean of each person, as rows.
    fn means(&self) -> Mat<f64> {
        let (mut means, mut first) = (Mat::<f64>::zeros(self.sizes.len(), self.y.ncols()), 0);
        for (person, &size) in self.sizes.iter().enumerate() {
            for c in 0..self.y.ncols() {
                let sum: f64 = (first..first + size).map(|r| self.y[(r, c)]).sum();
                means[(person, c)] = sum / size as f64;
            }
            first += size;
        }
        means
    }

    /// The scatter of faces about their person's mean, each person times `factor` of its size, and the
    /// degrees of freedom.
    fn scatter(&self, factor: impl Fn(usize) -> f64) -> (Mat<f64>, f64) {
        let means = self.means();
        let (mut residuals, mut freedom, mut r) = (self.y.clone(), 0.0, 0);
        for (person, &size) in self.sizes.iter().enumerate() {
            let weight = factor(size);
            freedom += weight * (size - 1) as f64;
            for _ in 0..size {
                for c in 0..self.y.ncols() {
                    residuals[(r, c)] = weight.sqrt() * (residuals[(r, c)] - means[(person, c)]);
                }
                r += 1;
            }
        }
        (residuals.transpose() * &residuals, freedom)
    }

    /// W, nobody counting for more than [`MOST_FACES`].
    fn within(&self) -> Mat<f64> {
        let (scatter, freedom) = self.scatter(|size| (MOST_FACES / (size.max(2) - 1) as f64).min(1.0));
        if freedom < 1.0 {
            // Without a second photo of anybody, within is taken for half of all variance.
            let half = scaled(&(self.y.transpose() * &self.y), 0.5);
            return shrunk(&half, self.y.nrows() as f64, self.least, half.nrows() as f64);
        }
        let usual = scatter.nrows() as f64;
        let pseudo = if self.is_last { usual.max(pseudo_observations(&scatter, freedom)) } else { usual };
        shrunk(&scatter, freedom, self.least, pseudo)
    }

    /// psi of `B = psi W`, where the transform makes W the identity: expectation-maximisation over people.
    fn scalar_between(&self, transform: &Mat<f64>) -> f64 {
        let seen = self.means() * transform.transpose();
        let d = seen.ncols() as f64;
        let squares: Vec<f64> = (0..seen.nrows())
            .map(|person| (0..seen.ncols()).map(|c| seen[(person, c)].powi(2)).sum::<f64>() / d)
            .collect();
        let mut psi = 1.0;
        for _ in 0..100 {
            let each = self.sizes.iter().zip(&squares).map(|(&size, square)| {
                let rest = 1.0 + psi * size as f64;
                let gain = psi * size as f64 / rest;
                gain * gain * square + psi / rest
            });
            psi = each.sum::<f64>() / self.sizes.len() as f64;
        }
        psi.max(1e-4)
    }
}

/// Runs of axes whose variances, the largest first, are of about equal width in their logarithm.
fn runs(psi: &[f64]) -> Vec<Range<usize>> {
    let ln: Vec<f64> = psi.iter().map(|psi| psi.max(1e-4).ln()).collect();
    let (highest, lowest) = (ln[0], ln[ln.len() - 1]);
    let width = ((highest - lowest) / LEVELS as f64).max(1e-12);
    let level = |ln: f64| (((highest - ln) / width) as usize).min(LEVELS - 1);
    let mut runs: Vec<Range<usize>> = Vec::new();
    for axis in 0..ln.len() {
        match runs.last_mut() {
            Some(run) if level(ln[run.start]) == level(ln[axis]) => run.end = axis + 1,
            _ => runs.push(axis..axis + 1),
        }
    }
    runs
}

fn mean_ln(psi: &[f64]) -> f64 {
    psi.iter().map(|psi| psi.max(1e-4).ln()).sum::<f64>() / psi.len() as f64
}

/// A covariance from a sum of squares, with so many pseudo-observations of equal variances; usually as many as
/// there are axes.
fn shrunk(sum: &Mat<f64>, count: f64, least: f64, pseudo: f64) -> Mat<f64> {
    let d = sum.nrows();
    let average = (trace_of(sum) / (count * d as f64)).max(least);
    Mat::from_fn(d, d, |r, c| {
        let prior = if r == c { pseudo * average } else { 0.0 };
        (sum[(r, c)] + prior) / (count + pseudo)
    })
}

/// How many pseudo-observations of equal variances bring a covariance nearest to the truth, where that is
/// estimated from the same sum (the oracle-approximating shrinkage of Chen, Wiesel, Eldar & Hero 2010): many
/// where all directions vary as much as each other, so that what differs is chance.
fn pseudo_observations(sum: &Mat<f64>, count: f64) -> f64 {
    let d = sum.nrows() as f64;
    let square = trace_of(sum).powi(2);
    let of_squares: f64 = sum.col_iter().flat_map(|column| column.iter()).map(|s| s * s).sum();
    let unequal = (count + 1.0 - 2.0 / d) * (of_squares - square / d);
    let share = ((1.0 - 2.0 / d) * of_squares + square) / unequal;
    // Nothing is known of it where the sum is of equal variances, or of nothing.
    let share = if share > 0.0 { share.min(MOST_SHRUNK) } else { return 0.0 };
    count * share / (1.0 - share)
}

/// Embeddings as they are compared: at one length, where theirs vary.
pub(crate) fn at_one_length(embeddings: &Embeddings) -> Cow<'_, Embeddings> {
    match sizes_of(embeddings).0 {
        None => Cow::Borrowed(embeddings),
        length => Cow::Owned(brought_to(length, embeddings)),
    }
}

/// The embeddings at one length.
fn brought_to(length: Option<f64>, embeddings: &Embeddings) -> Embeddings {
    let scaled = embeddings.rows().flat_map(|row| {
        let factor = factor_to(length, row);
        row.iter().map(move |&x| (factor * f64::from(x)) as f32)
    });
    Embeddings::new(scaled.collect(), embeddings.dimension()).expect("they are as finite as before")
}

/// The length that embeddings are brought to, where theirs vary (it tells the quality of a photo, not whose
/// it is), and a variance that is as good as none beside them.
fn sizes_of(embeddings: &Embeddings) -> (Option<f64>, f64) {
    let mut norms: Vec<f64> = embeddings.rows().map(norm_of).collect();
    norms.sort_by(f64::total_cmp);
    let median = norms.get(norms.len() / 2).copied().unwrap_or(0.0);
    if median == 0.0 {
        return (None, 1e-12);
    }
    let vary =
        embeddings.dimension() >= DIRECTIONS && norms.iter().any(|norm| (norm / median - 1.0).abs() > ALIKE);
    (vary.then_some(median), 1e-12 * median * median / embeddings.dimension() as f64)
}

fn mean_of_people(embeddings: &Embeddings, factors: &[f64], people: &[&Vec<usize>]) -> Vec<f64> {
    let mut mean = vec![0.0; embeddings.dimension()];
    for rows in people {
        let share = 1.0 / (rows.len() * people.len()) as f64;
        for &row in rows.iter() {
            mean.iter_mut()
                .zip(embeddings.row(row))
                .for_each(|(mean, &x)| *mean += share * factors[row] * f64::from(x));
        }
    }
    mean
}

/// The coordinates (as columns) that vary at all, and a variance that is as good as none beside them. In a
/// few dimensions they may be of different kinds: where they differ as much as units do, each is divided by
/// its standard deviation.
fn coordinates(centred: &Mat<f64>, least: f64) -> (Mat<f64>, f64) {
    let (n, d) = (centred.nrows(), centred.ncols());
    let variance = |c: usize| (0..n).map(|r| centred[(r, c)].powi(2)).sum::<f64>() / n.max(1) as f64;
    let variances: Vec<f64> = (0..d).map(variance).collect();
    let mut kept: Vec<usize> = (0..d).filter(|&c| variances[c] > least).collect();
    if kept.is_empty() {
        kept.push(0);
    }
    let sizes = || kept.iter().map(|&c| variances[c].max(least).sqrt());
    let (smallest, largest) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
    let is_mixed = largest > OTHER_UNITS * smallest;
    let factors: Vec<f64> = sizes().map(|size| if is_mixed { 1.0 / size } else { 1.0 }).collect();
    let axes = Mat::from_fn(d, kept.len(), |r, c| if r == kept[c] { factors[c] } else { 0.0 });
    (axes, if is_mixed { LEAST_STANDARD } else { least })
}

/// Principal axes (as columns) that are not flat, the widest first.
fn leading_axes(centred: &Mat<f64>, least: f64) -> Mat<f64> {
    let d = centred.ncols();
    let total = scaled(&(centred.transpose() * centred), 1.0 / centred.nrows().max(1) as f64);
    let (values, vectors) = eigen(&total);
    let average = values.iter().sum::<f64>() / d as f64;
    let mut order: Vec<usize> = (0..d).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    // Rounding gives axes without any variance a tiny one; a dataset of equal faces has no axis at all.
    let kept = |&axis: &usize| values[axis] > FLAT * average && values[axis] > least;
    let mut axes: Vec<usize> = order.iter().copied().filter(kept).take(MOST_AXES).collect();
    if axes.is_empty() {
        axes.push(order[0]);
    }
    Mat::from_fn(d, axes.len(), |r, c| vectors[(r, axes[c])])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Rng, driver};

    /// 400 people with 1 to 9 faces each from known covariances in 4 dimensions, W and B of different shapes.
    fn people(rng: &mut Rng) -> (Embeddings, Vec<Vec<usize>>) {
        let (mut values, mut people, mut row) = (Vec::new(), Vec::new(), 0);
        for person in 0..400 {
            let b: Vec<f64> = [3.0, 1.0, 2.0, 1.5].iter().map(|sd| sd * rng.normal()).collect();
            let size = 1 + person % 9;
            for _ in 0..size {
                let e: Vec<f64> = (0..4).map(|_| rng.normal()).collect();
                let w = [e[0], 0.8 * e[0] + 0.6 * e[1], e[2], 2.0 * e[3]];
                values.extend((0..4).map(|d| (10.0 + b[d] + w[d]) as f32));
            }
            people.push((row..row + size).collect());
            row += size;
        }
        (Embeddings::new(values, 4).unwrap(), people)
    }

    #[test]
    fn the_transform_makes_within_the_identity_and_between_diagonal() {
        let (faces, people) = people(&mut driver(5));
        let full = Full::from_people(&faces, &people);
        assert_eq!(full.n_axes(), 4);
        full.check(4).unwrap();
        // Residuals of people with several faces, in the transformed space, have unit covariance: 1,600
        // degrees of freedom give each entry a standard error of 0.035, and shrinkage moves it by less than
        // 0.01.
        let y = |row: usize| -> Vec<f64> {
            let x = faces.row(row);
            let rows = full.prior().transform.chunks_exact(4);
            rows.map(|a| (0..4).map(|d| a[d] * (f64::from(x[d]) - full.prior().mean[d])).sum()).collect()
        };
        let (mut scatter, mut freedom) = ([[0.0; 4]; 4], 0.0);
        for rows in people.iter().filter(|rows| rows.len() > 1) {
            let ys: Vec<Vec<f64>> = rows.iter().map(|&row| y(row)).collect();
            let mean: Vec<f64> =
                (0..4).map(|d| ys.iter().map(|y| y[d]).sum::<f64>() / ys.len() as f64).collect();
            for y in &ys {
                for (r, row) in scatter.iter_mut().enumerate() {
                    (0..4).for_each(|c| row[c] += (y[r] - mean[r]) * (y[c] - mean[c]));
                }
            }
            freedom += (ys.len() - 1) as f64;
        }
        for (cell, sum) in scatter.as_flattened().iter().enumerate() {
            let wanted = if cell % 5 == 0 { 1.0 } else { 0.0 };
            assert!((sum / freedom - wanted).abs() < 0.16, "{cell}: {}", sum / freedom);
        }
        // The between-person variances are the generalised eigenvalues of B and W; from 400 people each is
        // known to about 9 %, their product to about 20 %.
        assert!(full.prior().between.windows(2).all(|pair| pair[0] >= pair[1]));
        let product: f64 = full.prior().between.iter().product();
        let exact = (9.0 * 1.0 * 4.0 * 2.25) / (0.36 * 4.0);
        assert!((product / exact).ln().abs() < 0.6, "{product} {exact}");
    }

    /// 40 people of 30 faces in 4 dimensions, the faces of each about as wide along the axes as `widths`
    /// says.
    fn freedom_of(widths: impl Fn(&mut Rng) -> [f64; 4]) -> f64 {
        let (mut rng, mut values) = (driver(7), Vec::new());
        for _ in 0..40 {
            let (mean, widths) = ([0.0; 4].map(|_| 3.0 * rng.normal()), widths(&mut rng));
            for _ in 0..30 {
                values.extend((0..4).map(|d| (mean[d] + widths[d] * rng.normal()) as f32));
            }
        }
        let people: Vec<Vec<usize>> =
            (0..40).map(|person| (30 * person..30 * (person + 1)).collect()).collect();
        Full::from_supposed(&Embeddings::new(values, 4).unwrap(), &people).prior().freedom
    }

    /// With 1,160 residuals the likelihood of nu differs by hundreds between the ends of the grid.
    #[test]
    fn people_who_vary_alike_have_more_degrees_of_freedom_than_people_who_vary_each_in_their_own_way() {
        let alike = freedom_of(|_| [1.0; 4]);
        let each = freedom_of(|rng| [0.0; 4].map(|_: f64| rng.normal().exp()));
        assert_eq!(each, 3.0 * 4.0 + 2.0);
        assert!(alike >= 24.0 * 4.0, "{alike}");
    }

    #[test]
    fn few_faces_equal_faces_and_people_seen_once_still_give_a_usable_prior() {
        let mut rng = driver(6);
        let faces = |n: usize, d: usize, rng: &mut Rng| {
            Embeddings::new((0..n * d).map(|_| rng.normal() as f32).collect(), d).unwrap()
        };
        let one_each = |n: usize| (0..n).map(|row| vec![row]).collect::<Vec<_>>();
        let few = faces(5, 32, &mut rng);
        Full::from_people(&few, &one_each(5)).check(32).unwrap();
        Full::from_people(&few, &[vec![0, 1, 2, 3, 4]]).check(32).unwrap();
        let equal = Embeddings::new([1.0, 2.0].repeat(4), 2).unwrap();
        Full::from_people(&equal, &[vec![0, 1], vec![2, 3]]).check(2).unwrap();
        let one = faces(1, 3, &mut rng);
        Full::from_people(&one, &one_each(1)).check(3).unwrap();
    }
}

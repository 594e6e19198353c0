//! The empirical prior of the isotropic face model: from people who are known, or from the data alone.

use super::Isotropic;
use crate::data::Embeddings;
use crate::math::ln_gamma;

/// How many faces look for their nearest neighbour, and among how many, in [`Isotropic::from_unlabelled`].
const QUERIES: usize = 512;
const GALLERY: usize = 20_000;
/// In fewer dimensions the nearest of several photos is far nearer than a typical one, and a person's
/// variance differs from another's by more than a quarter.
const FEW_DIMENSIONS: f64 = 32.0;

impl Isotropic {
    /// From people who are known (MODEL.md §4): m_0 is the mean of person means; the mean and the spread over
    /// people of the within-person variance give a_0 and b_0; kappa_0 is within over between.
    ///
    /// `people` lists each person's rows. `None` when fewer than two people have at least two faces.
    pub fn from_people(embeddings: &Embeddings, people: &[Vec<usize>]) -> Option<Self> {
        let dimension = embeddings.dimension() as f64;
        let people: Vec<&Vec<usize>> = people.iter().filter(|rows| !rows.is_empty()).collect();
        let means: Vec<Vec<f64>> = people.iter().map(|rows| mean_of(embeddings, rows)).collect();
        let mean = mean_of_means(&means);

        // Per person: the variance per dimension and its degrees of freedom.
        let spreads: Vec<(f64, f64)> = people
            .iter()
            .zip(&means)
            .filter(|(rows, _)| rows.len() >= 2)
            .map(|(rows, mean)| {
                let scatter: f64 = rows.iter().map(|&row| distance(embeddings.row(row), mean)).sum();
                let freedom = (rows.len() - 1) as f64 * dimension;
                (scatter / freedom, freedom)
            })
            .collect();
        if spreads.len() < 2 {
            return None;
        }
        let n = spreads.len() as f64;
        let within = spreads.iter().map(|(variance, _)| variance).sum::<f64>() / n;
        // What the variances differ by beyond the noise of estimating each from a few faces.
        let noise = spreads.iter().map(|(_, freedom)| 2.0 * within * within / freedom).sum::<f64>() / n;
        let total = spreads.iter().map(|(v, _)| (v - within).powi(2)).sum::<f64>() / (n - 1.0);
        let spread = (total - noise).max(1e-3 * within * within);

        let of_means = means.iter().map(|m| square_distance(m, &mean)).sum::<f64>();
        let of_means = of_means / ((means.len() - 1) as f64 * dimension);
        let shrink = people.iter().map(|rows| 1.0 / rows.len() as f64).sum::<f64>() / people.len() as f64;
        let between = (of_means - within * shrink).max(1e-3 * within);
        let shape = 2.0 + within * within / spread;
        within.is_normal().then(|| Self {
            mean,
            kappa: within / between,
            shape,
            rate: within * (shape - 1.0),
        })
    }

    /// From the data alone. The rule: m_0 is the mean of all faces; the within-person variance is half the
    /// median squared distance to the nearest neighbour, per dimension, taking the nearest neighbour for
    /// another photo of the same person; between-person variance is the rest of the total; people's variances
    /// differ by a quarter of their mean.
    ///
    /// In a few dimensions the nearest neighbour is the nearest of all photos of the person, taken to be as
    /// many as there are people, sqrt(N); and people's variances differ the more, the fewer the dimensions.
    /// Measured on 50 points of three clusters in the plane: 3 people, where the rule for many dimensions
    /// finds 23.
    pub fn from_unlabelled(embeddings: &Embeddings) -> Self {
        let (n, dimension) = (embeddings.len(), embeddings.dimension() as f64);
        let all: Vec<usize> = (0..n).collect();
        let mean = mean_of(embeddings, &all);
        let total = embeddings.rows().map(|row| distance(row, &mean)).sum::<f64>() / (n as f64 * dimension);
        let total = if total.is_normal() { total } else { 1.0 };

        let (nearest, _) = nearest_squares(embeddings);
        let photos = (n.min(GALLERY) as f64).sqrt().max(2.0);
        let typical = if dimension < FEW_DIMENSIONS {
            chi_squared_quantile(1.0 - 0.5_f64.powf(1.0 / (photos - 1.0)), dimension)
        } else {
            dimension
        };
        let median = nearest.get(nearest.len() / 2).map_or(total, |d| d / (2.0 * typical));
        let within = median.clamp(1e-3 * total, 0.9 * total);
        let shape = 2.0 + 16.0 * (dimension / FEW_DIMENSIONS).min(1.0);
        Self { mean, kappa: within / (total - within), shape, rate: within * (shape - 1.0) }
    }

    /// Where nothing says that anybody was seen twice. Of how much photos of a person differ nothing is known
    /// but that no two of these are of one: the within-person variance is a tenth of what would make one
    /// person of the nearest two, and people's variances are as good as equal, so that those are not somebody
    /// with a large one. (A quarter was enough for 200 and for 1,000 people in 16 dimensions.) Copies of a
    /// photo are one person's all the same.
    pub fn of_strangers(embeddings: &Embeddings) -> Self {
        let guess = Self::from_unlabelled(embeddings);
        let before = guess.rate / (guess.shape - 1.0);
        let total = before * (1.0 + 1.0 / guess.kappa);
        let (nearest, _) = nearest_squares(embeddings);
        let apart = nearest.first().map_or(before, |square| 0.5 * square / embeddings.dimension() as f64);
        let within = (0.1 * apart).clamp(1e-6 * total, before);
        Self { kappa: within / (total - within), shape: ALIKE, rate: within * (ALIKE - 1.0), ..guess }
    }
}

/// a_0 of people whose variances are as good as equal: they differ by a tenth.
const ALIKE: f64 = 100.0;

/// The squared distances of some faces to the nearest other one that is not equal, the shortest first, and
/// the share of them that have an equal one. Copies of a photo say nothing of how photos vary.
pub(super) fn nearest_squares(embeddings: &Embeddings) -> (Vec<f64>, f64) {
    let gallery = evenly(embeddings.len(), GALLERY);
    let queries = evenly(embeddings.len(), QUERIES);
    let (mut squares, mut n_copies) = (Vec::new(), 0.0);
    for &query in &queries {
        let x = embeddings.row(query);
        let others = || gallery.iter().filter(|&&other| other != query);
        let distances: Vec<f64> = others().map(|&other| between_rows(x, embeddings.row(other))).collect();
        n_copies += f64::from(u8::from(distances.contains(&0.0)));
        squares.push(distances.into_iter().filter(|&square| square > 0.0).fold(f64::INFINITY, f64::min));
    }
    squares.retain(|square| square.is_finite());
    squares.sort_by(f64::total_cmp);
    (squares, n_copies / queries.len().max(1) as f64)
}

/// The squared length of a standard normal vector is below this with probability `p`.
fn chi_squared_quantile(p: f64, dimension: f64) -> f64 {
    let shape = 0.5 * dimension;
    // The regularised incomplete Gamma function by its series.
    let below = |x: f64| {
        let mut term = (shape * x.ln() - x - ln_gamma(shape + 1.0)).exp();
        let (mut sum, mut k) = (term, 1.0);
        while term > 1e-14 * sum {
            term *= x / (shape + k);
            (sum, k) = (sum + term, k + 1.0);
        }
        sum
    };
    let (mut low, mut high) = (0.0, shape + 1.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        *(if below(middle) < p { &mut low } else { &mut high }) = middle;
    }
    low + high
}

/// At most `most` numbers below `n`, evenly spaced.
fn evenly(n: usize, most: usize) -> Vec<usize> {
    let count = n.min(most);
    (0..count).map(|k| k * n / count).collect()
}

fn mean_of(embeddings: &Embeddings, rows: &[usize]) -> Vec<f64> {
    let mut mean = vec![0.0; embeddings.dimension()];
    for &row in rows {
        mean.iter_mut().zip(embeddings.row(row)).for_each(|(mean, &x)| *mean += f64::from(x));
    }
    mean.iter_mut().for_each(|m| *m /= rows.len() as f64);
    mean
}

fn mean_of_means(means: &[Vec<f64>]) -> Vec<f64> {
    let mut mean = vec![0.0; means.first().map_or(0, Vec::len)];
    for one in means {
        mean.iter_mut().zip(one).for_each(|(mean, x)| *mean += x / means.len() as f64);
    }
    mean
}

fn distance(x: &[f32], mean: &[f64]) -> f64 {
    x.iter().zip(mean).map(|(&x, m)| (f64::from(x) - m).powi(2)).sum()
}

fn square_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

/// In eight independent sums, which the compiler turns into vector instructions.
fn between_rows(a: &[f32], b: &[f32]) -> f64 {
    let mut sums = [0.0f32; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| (a - b) * (a - b)).sum();
    for (a, b) in a.zip(b) {
        for lane in 0..8 {
            sums[lane] += (a[lane] - b[lane]) * (a[lane] - b[lane]);
        }
    }
    f64::from(sums.iter().sum::<f32>() + rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::driver;

    /// 300 people drawn from a known prior, 10 faces each.
    #[test]
    fn the_prior_that_made_the_people_is_found_again() {
        let mut rng = driver(3);
        let (dimension, kappa, shape, rate) = (8, 0.25, 6.0, 10.0);
        let (mut values, mut people) = (Vec::new(), Vec::new());
        for person in 0..300 {
            let variance = 1.0 / rng.gamma(shape, rate);
            let mean: Vec<f64> =
                (0..dimension).map(|d| d as f64 + (variance / kappa).sqrt() * rng.normal()).collect();
            for _ in 0..10 {
                values.extend(mean.iter().map(|m| (m + variance.sqrt() * rng.normal()) as f32));
            }
            people.push((person * 10..person * 10 + 10).collect());
        }
        let embeddings = Embeddings::new(values, dimension).unwrap();
        let found = Isotropic::from_people(&embeddings, &people).unwrap();
        // Standard errors of these estimates are 3 to 10 % (the shape's is the largest).
        assert!((found.kappa / kappa).ln().abs() < 0.15, "{found:?}");
        assert!((found.shape / shape).ln().abs() < 0.5, "{found:?}");
        assert!((found.rate / (found.shape - 1.0) / 2.0).ln().abs() < 0.15, "{found:?}");
        assert!(found.mean.iter().enumerate().all(|(d, m)| (m - d as f64).abs() < 0.8), "{found:?}");

        let guessed = Isotropic::from_unlabelled(&embeddings);
        assert!((guessed.rate / (guessed.shape - 1.0) / 2.0).ln().abs() < 0.8, "{guessed:?}");
    }

    #[test]
    fn the_nearest_of_several_is_taken_for_what_it_is() {
        // scipy.stats.chi2.ppf
        let wanted = [(0.5, 2.0, 1.386294361), (0.1, 2.0, 0.210721031), (0.01, 4.0, 0.297109481)];
        for (p, dimension, wanted) in wanted {
            assert!((chi_squared_quantile(p, dimension) / wanted - 1.0).abs() < 1e-6);
        }
        // Ten people in the plane, ten photos each: within 1, whatever the nearest neighbour says.
        let mut rng = driver(5);
        let mut values = Vec::new();
        for person in 0..100 {
            let mean = [10.0 * (person % 10) as f64, 0.0];
            values.extend(mean.map(|mean| (mean + rng.normal()) as f32));
        }
        let found = Isotropic::from_unlabelled(&Embeddings::new(values, 2).unwrap());
        let within = found.rate / (found.shape - 1.0);
        assert!(within.ln().abs() < 0.7, "{within}");
    }

    #[test]
    fn one_face_or_equal_faces_still_give_a_usable_prior() {
        for rows in [1, 3] {
            let embeddings = Embeddings::new([1.0, 2.0].repeat(rows), 2).unwrap();
            Isotropic::from_unlabelled(&embeddings).check(2).unwrap();
            let one_person = [(0..rows).collect()];
            assert_eq!(Isotropic::from_people(&embeddings, &one_person), None);
        }
    }
}

//! What people in general look like: the within-person and between-person covariances of known or supposed people.

use faer::{Mat, Side};

use super::Full;
use crate::data::Embeddings;

/// Axes along which all faces together vary less than this share of the average are noise of the network's last
/// layer; they are left out.
const FLAT: f64 = 0.1;
/// More axes than this are not kept: beyond it they carry little and cost D^2 per face and identity.
const MOST_AXES: usize = 256;
/// Steps of expectation-maximisation; the estimates settle within a few.
const STEPS: usize = 20;
/// Degrees of freedom of an identity's own covariance, as a multiple of the number of axes.
const FREEDOM: f64 = 3.0;
/// To which power the density of faces counts.
const POWER: f64 = 0.5;

impl Full {
    /// From people, each a list of rows: expectation-maximisation of `x = m + b + w`, `b ~ N(0, B)` per person,
    /// `w ~ N(0, W)` per face. W and B are shrunk, by as many pseudo-observations as there are axes, towards the
    /// shape of the total covariance, so that few faces are enough.
    pub fn from_people(embeddings: &Embeddings, people: &[Vec<usize>]) -> Self {
        let people: Vec<&Vec<usize>> = people.iter().filter(|rows| !rows.is_empty()).collect();
        let n_rows: usize = people.iter().map(|rows| rows.len()).sum();
        let rows: Vec<usize> = people.iter().flat_map(|rows| rows.iter().copied()).collect();
        let mean = mean_of_people(embeddings, &people);
        let centred = Mat::from_fn(n_rows, embeddings.dimension(), |r, c| {
            f64::from(embeddings.row(rows[r])[c]) - mean[c]
        });
        let (axes, _) = leading_axes(&centred);
        let y = &centred * &axes;
        let sizes: Vec<usize> = people.iter().map(|rows| rows.len()).collect();
        let (within, between) = covariances(&y, &sizes);
        let (transform, _, psi) = diagonalise(&within, &between);
        let whole = &transform * axes.transpose();
        let n_axes = psi.len();
        Self {
            mean,
            transform: (0..n_axes)
                .flat_map(|r| (0..whole.ncols()).map(move |c| (r, c)))
                .map(|(r, c)| whole[(r, c)])
                .collect(),
            between: psi.iter().map(|psi| psi.max(1e-4)).collect(),
            freedom: FREEDOM * n_axes as f64 + 2.0,
            power: POWER,
        }
    }
}

fn mean_of_people(embeddings: &Embeddings, people: &[&Vec<usize>]) -> Vec<f64> {
    let mut mean = vec![0.0; embeddings.dimension()];
    for rows in people {
        let share = 1.0 / (rows.len() * people.len()) as f64;
        for &row in rows.iter() {
            mean.iter_mut().zip(embeddings.row(row)).for_each(|(mean, &x)| *mean += share * f64::from(x));
        }
    }
    mean
}

/// Principal axes (as columns) that are not flat, the widest first, with their variances.
fn leading_axes(centred: &Mat<f64>) -> (Mat<f64>, Vec<f64>) {
    let d = centred.ncols();
    let total = scaled(&(centred.transpose() * centred), 1.0 / centred.nrows() as f64);
    let (values, vectors) = eigen(&total);
    let average = values.iter().sum::<f64>() / d as f64;
    let mut order: Vec<usize> = (0..d).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    // Rounding gives axes without any variance a tiny one; a dataset of equal faces has no axis at all.
    let kept = |&axis: &usize| values[axis] > FLAT * average && values[axis] > 1e-12;
    let mut axes: Vec<usize> = order.iter().copied().filter(kept).take(MOST_AXES).collect();
    if axes.is_empty() {
        axes.push(order[0]);
    }
    let matrix = Mat::from_fn(d, axes.len(), |r, c| vectors[(r, axes[c])]);
    (matrix, axes.iter().map(|&axis| values[axis]).collect())
}

/// W and B of faces given person after person.
fn covariances(y: &Mat<f64>, sizes: &[usize]) -> (Mat<f64>, Mat<f64>) {
    let (n, d, k) = (y.nrows(), y.ncols(), sizes.len());
    let mut means = Mat::<f64>::zeros(k, d);
    let mut residuals = y.clone();
    let mut first = 0;
    for (person, &size) in sizes.iter().enumerate() {
        for c in 0..d {
            let mean = (first..first + size).map(|r| y[(r, c)]).sum::<f64>() / size as f64;
            means[(person, c)] = mean;
            (first..first + size).for_each(|r| residuals[(r, c)] -= mean);
        }
        first += size;
    }
    let scatter = residuals.transpose() * &residuals;
    let total = y.transpose() * y;
    // The shape that W and B are shrunk towards, with trace 1, never singular.
    let trace = trace_of(&total).max(1e-12);
    let shape = Mat::from_fn(d, d, |r, c| {
        (total[(r, c)] / trace + if r == c { 0.01 / d as f64 } else { 0.0 }) / 1.01
    });
    let pseudo = d as f64;
    let shrunk = |sum: &Mat<f64>, count: f64| {
        let trace = (trace_of(sum) / count).max(1e-9 * trace / n as f64);
        Mat::from_fn(d, d, |r, c| (sum[(r, c)] + pseudo * trace * shape[(r, c)]) / (count + pseudo))
    };
    let freedom = (n - k).max(1) as f64;
    // Without a second photo of anybody, within is taken for half of all variance.
    let mut within = if n > k { shrunk(&scatter, freedom) } else { shrunk(&scaled(&total, 0.5), n as f64) };
    let spread = means.transpose() * &means;
    // The means of people spread by B and by what is left of W after averaging; the latter is taken off.
    let noise = sizes.iter().map(|&size| 1.0 / size as f64).sum::<f64>() / k as f64;
    let (_, undo, psi) = diagonalise(&within, &shrunk(&spread, k as f64));
    let kept: Vec<f64> = psi.iter().map(|psi| (psi - noise).max(0.05 * psi)).collect();
    let mut between =
        Mat::from_fn(d, d, |r, c| (0..d).map(|axis| undo[(r, axis)] * kept[axis] * undo[(c, axis)]).sum());
    for _ in 0..STEPS {
        let (a, undo, psi) = diagonalise(&within, &between);
        let seen = &means * a.transpose();
        // Per person and axis: the posterior mean and variance of b, and what is left of the mean.
        let mut of_b = Mat::<f64>::zeros(k, d);
        let mut left = Mat::<f64>::zeros(k, d);
        let (mut var_b, mut var_w) = (vec![0.0; d], vec![0.0; d]);
        for (person, &size) in sizes.iter().enumerate() {
            let c = size as f64;
            for axis in 0..d {
                let gain = c * psi[axis] / (1.0 + c * psi[axis]);
                let variance = psi[axis] / (1.0 + c * psi[axis]);
                of_b[(person, axis)] = gain * seen[(person, axis)];
                left[(person, axis)] = c.sqrt() * (1.0 - gain) * seen[(person, axis)];
                var_b[axis] += variance;
                var_w[axis] += c * variance;
            }
        }
        let back = |sum: Mat<f64>, variance: &[f64]| {
            let sum = Mat::from_fn(d, d, |r, c| sum[(r, c)] + if r == c { variance[r] } else { 0.0 });
            &undo * sum * undo.transpose()
        };
        let b = back(of_b.transpose() * &of_b, &var_b);
        let w = back(left.transpose() * &left, &var_w) + &scatter;
        between = shrunk(&b, k as f64);
        within = shrunk(&w, n as f64);
    }
    (within, between)
}

/// A with A W A^T = I and A B A^T = diag(psi), its inverse, and psi, the largest first.
fn diagonalise(within: &Mat<f64>, between: &Mat<f64>) -> (Mat<f64>, Mat<f64>, Vec<f64>) {
    let d = within.nrows();
    let (values, vectors) = eigen(within);
    let floor = values.iter().copied().fold(0.0, f64::max) * 1e-9 + f64::MIN_POSITIVE;
    let root = |power: f64| {
        let scaled = Mat::from_fn(d, d, |r, c| vectors[(r, c)] * values[c].max(floor).powf(power));
        &scaled * vectors.transpose()
    };
    let (whiten, colour) = (root(-0.5), root(0.5));
    let (psi, axes) = eigen(&(&whiten * between * &whiten));
    let mut order: Vec<usize> = (0..d).collect();
    order.sort_by(|&a, &b| psi[b].total_cmp(&psi[a]));
    let sorted = Mat::from_fn(d, d, |r, c| axes[(r, order[c])]);
    let psi = order.iter().map(|&axis| psi[axis].max(0.0)).collect();
    (sorted.transpose() * &whiten, &colour * &sorted, psi)
}

/// Eigenvalues and eigenvectors (columns) of a symmetric matrix.
fn eigen(matrix: &Mat<f64>) -> (Vec<f64>, Mat<f64>) {
    let symmetric =
        Mat::from_fn(matrix.nrows(), matrix.ncols(), |r, c| 0.5 * (matrix[(r, c)] + matrix[(c, r)]));
    let found = symmetric.self_adjoint_eigen(Side::Lower).expect("a finite symmetric matrix has eigenvalues");
    let values = (0..matrix.nrows()).map(|k| found.S()[k]).collect();
    (values, found.U().to_owned())
}

fn trace_of(matrix: &Mat<f64>) -> f64 {
    (0..matrix.nrows()).map(|k| matrix[(k, k)]).sum()
}

fn scaled(matrix: &Mat<f64>, factor: f64) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |r, c| factor * matrix[(r, c)])
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
        // Residuals of people with several faces, in the transformed space, have unit covariance: 1,600 degrees of
        // freedom give each entry a standard error of 0.035, and shrinkage moves it by less than 0.01.
        let y = |row: usize| -> Vec<f64> {
            let x = faces.row(row);
            let rows = full.transform.chunks_exact(4);
            rows.map(|a| (0..4).map(|d| a[d] * (f64::from(x[d]) - full.mean[d])).sum()).collect()
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
        // The between-person variances are the generalised eigenvalues of B and W; from 400 people each is known to
        // about 9 %, their product to about 20 %.
        assert!(full.between.windows(2).all(|pair| pair[0] >= pair[1]));
        let product: f64 = full.between.iter().product();
        let exact = (9.0 * 1.0 * 4.0 * 2.25) / (0.36 * 4.0);
        assert!((product / exact).ln().abs() < 0.6, "{product} {exact}");
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

//! W and B by expectation-maximisation, and the axes along which both are diagonal.

use std::ops::Range;

use faer::{Mat, Side};

use super::{PARTS, STEPS, Sorted, shrunk};

impl Sorted {
    /// The transform that makes W the identity and B diag(psi), and psi, the largest first.
    pub(super) fn axes_by_psi(&self) -> (Mat<f64>, Vec<f64>) {
        let (within, between) = self.covariances();
        let (transform, _, psi) = diagonalise(&within, &between);
        (transform, psi)
    }

    /// Some of the people, along the same axes.
    pub(super) fn some(&self, is_kept: impl Fn(usize) -> bool) -> Self {
        let owner = self.sizes.iter().enumerate().flat_map(|(person, &size)| vec![person; size]);
        let rows: Vec<usize> =
            owner.enumerate().filter(|(_, person)| is_kept(*person)).map(|(row, _)| row).collect();
        let sizes = self.sizes.iter().enumerate().filter(|(person, _)| is_kept(*person));
        Self {
            length: self.length,
            least: self.least,
            mean: self.mean.clone(),
            axes: self.axes.clone(),
            y: Mat::from_fn(rows.len(), self.y.ncols(), |r, c| self.y[(rows[r], c)]),
            sizes: sizes.map(|(_, &size)| size).collect(),
            are_there: self.are_there,
            is_last: self.is_last,
        }
    }

    /// Per run of axes, the within-person variance and its ratio psi to the between-person one, of people
    /// along the axes that were found without them. As estimated from the people who gave the axes, psi is
    /// about twice as large.
    pub(super) fn variances_of_others(&self, runs: &[Range<usize>]) -> Vec<(f64, f64)> {
        let d = self.y.ncols();
        let (mut residuals, mut freedom, mut means) = (vec![0.0; d], 0.0, vec![0.0; d]);
        for part in 0..PARTS {
            let (transform, _) = self.some(|person| person % PARTS != part).axes_by_psi();
            let others = self.some(|person| person % PARTS == part);
            let along = |scatter: &Mat<f64>, sum: &mut Vec<f64>| {
                let turned = &transform * scatter * transform.transpose();
                sum.iter_mut().enumerate().for_each(|(axis, sum)| *sum += turned[(axis, axis)]);
            };
            let (scatter, own) = others.scatter(|_| 1.0);
            along(&scatter, &mut residuals);
            freedom += own;
            let of_people = others.means();
            along(&(of_people.transpose() * &of_people), &mut means);
        }
        let n_people = self.sizes.len() as f64;
        let noise = self.sizes.iter().map(|&size| 1.0 / size as f64).sum::<f64>() / n_people;
        let mean = |of: &[f64], run: &Range<usize>| of[run.clone()].iter().sum::<f64>() / run.len() as f64;
        runs.iter()
            .map(|run| {
                let within = (mean(&residuals, run) / freedom).max(1e-3);
                let between = mean(&means, run) / n_people - noise * within;
                (within, (between / within).max(1e-3))
            })
            .collect()
    }

    /// W and B by expectation-maximisation.
    pub(super) fn covariances(&self) -> (Mat<f64>, Mat<f64>) {
        let (n, d, k) = (self.y.nrows(), self.y.ncols(), self.sizes.len());
        let means = self.means();
        let (scatter, _) = self.scatter(|_| 1.0);
        let mut within = self.within();
        // Like W, by as many pseudo-people as there are axes.
        let like = |sum: &Mat<f64>, within: &Mat<f64>| {
            let ratio = (trace_of(sum) / (k as f64 * trace_of(within))).max(1e-4);
            let (count, pseudo) = (k as f64, d as f64);
            Mat::from_fn(d, d, |r, c| (sum[(r, c)] + pseudo * ratio * within[(r, c)]) / (count + pseudo))
        };
        let spread = means.transpose() * &means;
        // The means of people spread by B and by what is left of W after averaging; the latter is taken off.
        let noise = self.sizes.iter().map(|&size| 1.0 / size as f64).sum::<f64>() / k as f64;
        let (_, undo, psi) = diagonalise(&within, &like(&spread, &within));
        let kept: Vec<f64> = psi.iter().map(|psi| (psi - noise).max(0.05 * psi)).collect();
        let mut between = Mat::from_fn(d, d, |r, c| {
            (0..d).map(|axis| undo[(r, axis)] * kept[axis] * undo[(c, axis)]).sum()
        });
        for _ in 0..STEPS {
            let (a, undo, psi) = diagonalise(&within, &between);
            let seen = &means * a.transpose();
            // Per person and axis: the posterior mean and variance of b, and what is left of the mean.
            let mut of_b = Mat::<f64>::zeros(k, d);
            let mut left = Mat::<f64>::zeros(k, d);
            let (mut var_b, mut var_w) = (vec![0.0; d], vec![0.0; d]);
            for (person, &size) in self.sizes.iter().enumerate() {
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
            within = shrunk(&w, n as f64, self.least, d as f64);
            between = like(&b, &within);
        }
        (within, between)
    }
}

/// A with A W A^T = I and A B A^T = diag(psi), its inverse, and psi, the largest first.
pub(super) fn diagonalise(within: &Mat<f64>, between: &Mat<f64>) -> (Mat<f64>, Mat<f64>, Vec<f64>) {
    let d = within.nrows();
    let (values, vectors) = eigen(within);
    let floor = values.iter().copied().fold(0.0, f64::max) * 1e-9 + f64::MIN_POSITIVE;
    let root = |power: f64| {
        let roots: Vec<f64> = values.iter().map(|value| value.max(floor).powf(power)).collect();
        let scaled = Mat::from_fn(d, d, |r, c| vectors[(r, c)] * roots[c]);
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
pub(in super::super) fn eigen(matrix: &Mat<f64>) -> (Vec<f64>, Mat<f64>) {
    let symmetric =
        Mat::from_fn(matrix.nrows(), matrix.ncols(), |r, c| 0.5 * (matrix[(r, c)] + matrix[(c, r)]));
    let found = symmetric.self_adjoint_eigen(Side::Lower).expect("a finite symmetric matrix has eigenvalues");
    let values = (0..matrix.nrows()).map(|k| found.S()[k]).collect();
    (values, found.U().to_owned())
}

pub(super) fn trace_of(matrix: &Mat<f64>) -> f64 {
    (0..matrix.nrows()).map(|k| matrix[(k, k)]).sum()
}

pub(super) fn scaled(matrix: &Mat<f64>, factor: f64) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |r, c| factor * matrix[(r, c)])
}

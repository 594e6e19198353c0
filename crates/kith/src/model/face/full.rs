//! Faces with a covariance of their own per identity, for real embeddings (PAPER.md, "Faces beyond the paper").
//!
//! A linear map makes the within-person covariance of people in general the identity and the between-person one
//! diagonal: `y = A (x - m)`, W -> I, B -> diag(psi). The faces y_1..y_n of an identity then have density
//!
//! `f(y_1..y_n) = prod_d N(ybar_d; 0, psi_d + 1/n) * t(residuals) * n^(-D/2)`
//!
//! where the residual scatter `S = sum (y - ybar)(y - ybar)^T` is that of a Gaussian whose covariance has an
//! inverse-Wishart prior with `nu` degrees of freedom and mean I, integrated out (`P = nu - D - 1`):
//!
//! `t = prod_{k=1}^{n-1} Gamma((nu+k)/2) / Gamma((nu+k-D)/2) * (pi P)^(-(n-1) D/2) * |I + S/P|^(-(nu+n-1)/2)`.
//!
//! So a person's photos may spread far in directions of their own, which a shared covariance would cut into pieces.
//! The joint counts `f^power`: photos of one person are less than independent.

use serde::{Deserialize, Serialize};

use super::scatter::Scatter;
use crate::math::ln_gamma;
use crate::math::vectors::{dot, weighted_square_of_sum};
use crate::model::{ModelError, check_positive};
use crate::random::Rng;

/// The prior over an identity's mean and covariance.
#[derive(Clone, Debug, PartialEq)]
pub struct Full {
    /// m, of the embeddings' dimension.
    pub mean: Vec<f64>,
    /// A, one row after the other, each as long as `mean`.
    pub transform: Vec<f64>,
    /// psi: the between-person variance along each row of A, where the within-person variance is 1.
    pub between: Vec<f64>,
    /// nu.
    pub freedom: f64,
    /// To which power the density of faces counts, at most 1.
    pub power: f64,
}

/// The faces of one identity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FullGroup {
    sum: Vec<f64>,
    scatter: Scatter,
    after: After,
}

/// What the predictive of the next face needs of the faces before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct After {
    /// 1 / ((n+1) (1 + (n+1) psi_d)): with s the sum of n + 1 faces, the mean's quadratic form is sum of w s^2.
    weights: Vec<f64>,
    /// Everything that does not depend on the next face.
    ln_constant: f64,
}

impl Full {
    /// The dimension after the transform.
    pub fn n_axes(&self) -> usize {
        self.between.len()
    }

    /// P = nu - D - 1: the prior's scale.
    pub(super) fn scale(&self) -> f64 {
        self.freedom - self.n_axes() as f64 - 1.0
    }

    pub(super) fn check(&self, dimension: usize) -> Result<(), ModelError> {
        let wanted = format!("{dimension}, the dimension of the embeddings");
        if self.mean.len() != dimension {
            return Err(ModelError::value("face.mean", format!("{} numbers", self.mean.len()), &wanted));
        }
        if self.transform.len() != dimension * self.n_axes() {
            let wanted = format!("{} rows of {dimension}", self.n_axes());
            return Err(ModelError::value(
                "face.transform",
                format!("{} numbers", self.transform.len()),
                &wanted,
            ));
        }
        if let Some(bad) = self.mean.iter().chain(&self.transform).find(|number| !number.is_finite()) {
            return Err(ModelError::value("face.transform", bad, "finite numbers"));
        }
        self.between.iter().try_for_each(|&psi| check_positive("face.between", psi))?;
        check_positive("face.freedom - dimension - 1", self.scale())?;
        if !(self.power > 0.0 && self.power <= 1.0) {
            return Err(ModelError::value("face.power", self.power, "a number above 0, at most 1"));
        }
        Ok(())
    }

    /// -1/2 sum_d ln (2 pi (psi_d + 1/n)).
    fn ln_mean_scale(&self, n: f64) -> f64 {
        let ln_2_pi = (2.0 * std::f64::consts::PI).ln();
        -0.5 * self.between.iter().map(|psi| ln_2_pi + (psi + 1.0 / n).ln()).sum::<f64>()
    }

    /// ln of the n-th factor of t: Gamma((nu+n)/2) / Gamma((nu+n-D)/2) * (pi P)^(-D/2).
    fn ln_step(&self, n: f64) -> f64 {
        let d = self.n_axes() as f64;
        ln_gamma(0.5 * (self.freedom + n))
            - ln_gamma(0.5 * (self.freedom + n - d))
            - 0.5 * d * (std::f64::consts::PI * self.scale()).ln()
    }
}

impl Full {
    /// n faces of one new identity, drawn from f (with power 1), before the transform is undone.
    pub(super) fn simulate(&self, n: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
        let d = self.n_axes();
        let mean: Vec<f64> =
            self.between.iter().map(|psi| (psi + 1.0 / n as f64).sqrt() * rng.normal()).collect();
        let mut faces = vec![mean; n];
        // Sigma ~ inverse-Wishart: Sigma^-1 = T T^T / P with Bartlett's triangular T.
        let mut t = vec![0.0; d * d];
        for r in 0..d {
            t[r * d + r] = (2.0 * rng.gamma(0.5 * (self.freedom - r as f64), 1.0)).sqrt();
            (0..r).for_each(|c| t[r * d + c] = rng.normal());
        }
        for k in 1..n {
            // A residual direction ~ N(0, Sigma): sqrt(P) T^-T epsilon, by back substitution.
            let mut u: Vec<f64> = (0..d).map(|_| self.scale().sqrt() * rng.normal()).collect();
            for r in (0..d).rev() {
                let known: f64 = (r + 1..d).map(|c| t[c * d + r] * u[c]).sum();
                u[r] = (u[r] - known) / t[r * d + r];
            }
            // The k-th row of Helmert's matrix: orthogonal to the mean and to the rows before it.
            let k_ = k as f64;
            let (first, own) = (1.0 / (k_ * (k_ + 1.0)).sqrt(), -(k_ / (k_ + 1.0)).sqrt());
            for (j, face) in faces.iter_mut().enumerate().take(k + 1) {
                let factor = if j < k { first } else { own };
                face.iter_mut().zip(&u).for_each(|(y, u)| *y += factor * u);
            }
        }
        faces
    }

    /// The embedding of a face, for a transform that keeps every dimension.
    pub(super) fn undo(&self, y: &[f64]) -> Vec<f32> {
        let d = self.n_axes();
        assert_eq!(d, self.mean.len(), "a projection cannot be undone");
        let mut rows: Vec<Vec<f64>> = self.transform.chunks_exact(d).map(<[f64]>::to_vec).collect();
        rows.iter_mut().zip(y).for_each(|(row, y)| row.push(*y));
        for k in 0..d {
            let pivot = (k..d).max_by(|&a, &b| rows[a][k].abs().total_cmp(&rows[b][k].abs()));
            rows.swap(k, pivot.expect("there are rows left"));
            let above = rows[k].clone();
            for (_, row) in rows.iter_mut().enumerate().filter(|(r, _)| *r != k) {
                let factor = row[k] / above[k];
                row.iter_mut().zip(&above).for_each(|(cell, above)| *cell -= factor * above);
            }
        }
        let x = rows.iter().enumerate().map(|(k, row)| row[d] / row[k]);
        x.zip(&self.mean).map(|(x, m)| (x + m) as f32).collect()
    }
}

impl FullGroup {
    pub(super) fn new(prior: &Full) -> Self {
        let sum = vec![0.0; prior.n_axes()];
        let scatter = Scatter::new(prior.n_axes(), prior.scale());
        let after = After::of(prior, &sum, &scatter);
        Self { sum, scatter, after }
    }

    pub(super) fn observe(&mut self, prior: &Full, y: &[f64]) {
        self.scatter.observe(y, &self.sum);
        self.sum.iter_mut().zip(y).for_each(|(sum, y)| *sum += y);
        self.after = After::of(prior, &self.sum, &self.scatter);
    }

    pub(super) fn forget(&mut self, prior: &Full, y: &[f64]) {
        if self.scatter.n_faces() == 1 {
            *self = Self::new(prior);
            return;
        }
        self.sum.iter_mut().zip(y).for_each(|(sum, y)| *sum -= y);
        self.scatter.forget(y, &self.sum);
        self.after = After::of(prior, &self.sum, &self.scatter);
    }

    /// power * ln (f(y_1..y_n, y) / f(y_1..y_n)).
    pub(super) fn ln_predictive(&self, prior: &Full, y: &[f64], square: f64) -> f64 {
        let n = self.n_faces();
        let mean = weighted_square_of_sum(&self.after.weights, &self.sum, y);
        let mut ln_p = self.after.ln_constant - 0.5 * mean;
        if n > 0 {
            let n = f64::from(n);
            let q = self.scatter.quadratic(y, square, &self.sum);
            ln_p -= 0.5 * (prior.freedom + n) * (n / (n + 1.0) * q).ln_1p();
        }
        prior.power * ln_p
    }

    /// power * ln f.
    pub(super) fn ln_marginal(&self, prior: &Full) -> f64 {
        let n = self.n_faces();
        if n == 0 {
            return 0.0;
        }
        let (n, d) = (f64::from(n), prior.n_axes() as f64);
        let steps: f64 = (1..self.n_faces()).map(|k| prior.ln_step(f64::from(k))).sum();
        let ln_f = prior.ln_mean_scale(n) - 0.5 * self.quadratic_of_mean(prior) + steps
            - 0.5 * (prior.freedom + n - 1.0) * self.scatter.ln_det()
            - 0.5 * d * n.ln();
        prior.power * ln_f
    }

    fn quadratic_of_mean(&self, prior: &Full) -> f64 {
        let n = f64::from(self.n_faces());
        self.sum.iter().zip(&prior.between).map(|(s, psi)| s * s / (n * (1.0 + n * psi))).sum()
    }

    /// How many faces.
    pub fn n_faces(&self) -> u32 {
        self.scatter.n_faces()
    }

    pub(super) fn difference(&self, other: &Self) -> f64 {
        let counts = f64::from(self.n_faces().abs_diff(other.n_faces()));
        let sums = self.sum.iter().zip(&other.sum).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let size = 1.0 + dot(&self.sum, &self.sum).sqrt();
        counts
            + sums / size
            + (self.scatter.ln_det() - other.scatter.ln_det()).abs() / (1.0 + other.scatter.ln_det())
    }
}

impl After {
    fn of(prior: &Full, sum: &[f64], scatter: &Scatter) -> Self {
        let (n, d) = (f64::from(scatter.n_faces()), prior.n_axes() as f64);
        let next = n + 1.0;
        let weights = prior.between.iter().map(|psi| 1.0 / (next * (1.0 + next * psi))).collect();
        let mut ln_constant = prior.ln_mean_scale(next);
        if n > 0.0 {
            let before: f64 =
                sum.iter().zip(&prior.between).map(|(s, psi)| s * s / (n * (1.0 + n * psi))).sum();
            ln_constant += 0.5 * before - prior.ln_mean_scale(n) + prior.ln_step(n)
                - 0.5 * scatter.ln_det()
                - 0.5 * d * (next / n).ln();
        }
        Self { weights, ln_constant }
    }
}

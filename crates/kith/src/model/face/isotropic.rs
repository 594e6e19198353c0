//! Isotropic Gaussian faces with a Gaussian-inverse gamma prior (§2.3; MODEL.md §4).
//!
//! `x_n ~ N(mu_i, s2_i I)`, `mu_i | s2_i ~ N(m_0, s2_i / kappa_0 I)`, `s2_i ~ InvGamma(a_0, b_0)`.
//! Everything here is about `x - m_0`, which turns the posterior rate into one line:
//! `b_n = b_0 + (sum |x|^2 - |sum x|^2 / kappa_n) / 2`.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

use super::bound::Coefficients;
use crate::math::ln_gamma;
use crate::math::vectors::dot;
use crate::model::{ModelError, check_positive};
use crate::random::Rng;

/// The prior over an identity's mean and variance.
#[derive(Clone, Debug, PartialEq)]
pub struct Isotropic {
    /// m_0.
    pub mean: Vec<f64>,
    /// kappa_0: within-person variance over between-person variance.
    pub kappa: f64,
    /// a_0.
    pub shape: f64,
    /// b_0.
    pub rate: f64,
}

/// The faces of one identity: how many, their sum, their sum of squares, and what follows from these.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IsotropicGroup {
    n: u32,
    sum: Vec<f64>,
    sum_of_squares: f64,
    posterior: Posterior,
}

/// kappa_n, a_n, b_n and the part of the predictive that does not depend on the face.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Posterior {
    kappa: f64,
    shape: f64,
    rate: f64,
    /// |m_n - m_0|^2.
    square_of_mean: f64,
    ln_constant: f64,
}

/// theta*_i: mean (relative to m_0) and variance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Face {
    pub(crate) mean: Vec<f64>,
    pub(crate) variance: f64,
}

impl Isotropic {
    pub(super) fn check(&self, dimension: usize) -> Result<(), ModelError> {
        if self.mean.len() != dimension {
            let wanted = format!("{dimension}, the dimension of the embeddings");
            return Err(ModelError::value("face.mean", format!("{} numbers", self.mean.len()), &wanted));
        }
        if let Some(bad) = self.mean.iter().find(|m| !m.is_finite()) {
            return Err(ModelError::value("face.mean", bad, "finite numbers"));
        }
        check_positive("face.kappa", self.kappa)?;
        check_positive("face.shape", self.shape)?;
        check_positive("face.rate", self.rate)
    }

    /// The variance of a person's photos, about.
    pub(super) fn within(&self) -> f64 {
        self.rate / self.shape
    }
}

impl IsotropicGroup {
    /// The mean of the faces where within-person variance is 1, and its own because they are few.
    pub(super) fn mean(&self, prior: &Isotropic) -> (Vec<f64>, f64) {
        let unit = f64::from(self.n) * prior.within().sqrt();
        (self.sum.iter().map(|sum| sum / unit).collect(), 1.0 / f64::from(self.n))
    }

    pub(super) fn new(prior: &Isotropic) -> Self {
        let sum = vec![0.0; prior.mean.len()];
        let posterior = Posterior::of(prior, 0, &sum, 0.0);
        Self { n: 0, sum, sum_of_squares: 0.0, posterior }
    }

    pub(super) fn observe(&mut self, prior: &Isotropic, x: &[f64], square: f64) {
        self.n += 1;
        self.sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += x);
        self.sum_of_squares += square;
        self.posterior = Posterior::of(prior, self.n, &self.sum, self.sum_of_squares);
    }

    /// With another's faces.
    pub(super) fn with(&self, prior: &Isotropic, other: &Self) -> Self {
        let sum: Vec<f64> = self.sum.iter().zip(&other.sum).map(|(a, b)| a + b).collect();
        let (n, sum_of_squares) = (self.n + other.n, self.sum_of_squares + other.sum_of_squares);
        let posterior = Posterior::of(prior, n, &sum, sum_of_squares);
        Self { n, sum, sum_of_squares, posterior }
    }

    pub(super) fn forget(&mut self, prior: &Isotropic, x: &[f64], square: f64) {
        self.n -= 1;
        if self.n == 0 {
            // Exactly nothing is left, not what rounding leaves of it.
            *self = Self::new(prior);
            return;
        }
        self.sum.iter_mut().zip(x).for_each(|(sum, x)| *sum -= x);
        self.sum_of_squares -= square;
        self.posterior = Posterior::of(prior, self.n, &self.sum, self.sum_of_squares);
    }

    /// ln of a D-variate Student t with 2 a_n degrees of freedom, location m_n and scale
    /// (b_n / a_n)(1 + 1/kappa_n) I, written with b_{n+1} = b_n + kappa_n / (kappa_n + 1) |x - m_n|^2 / 2.
    pub(super) fn ln_predictive(&self, x: &[f64], square: f64) -> f64 {
        let Posterior { kappa, shape, rate, square_of_mean, ln_constant } = self.posterior;
        let distance = square - 2.0 * dot(x, &self.sum) / kappa + square_of_mean;
        let next_rate = rate + 0.5 * kappa / (kappa + 1.0) * distance.max(0.0);
        ln_constant - (shape + 0.5 * x.len() as f64) * next_rate.ln()
    }

    /// The coefficients of an upper bound of [`IsotropicGroup::ln_predictive`], and the sum of the faces.
    pub(super) fn bound(&self, unit: f64, safe: f64, out: &mut Coefficients) -> &[f64] {
        let Posterior { kappa, shape, rate, square_of_mean, ln_constant } = self.posterior;
        out.pull = 2.0 / kappa;
        out.square = safe * square_of_mean * unit * unit;
        out.half = shape + 0.5 * self.sum.len() as f64;
        out.constants.push(ln_constant - out.half * rate.ln());
        out.gains.push(0.5 * kappa / (kappa + 1.0) / (rate * unit * unit));
        &self.sum
    }

    pub(super) fn ln_marginal(&self, prior: &Isotropic) -> f64 {
        let Posterior { kappa, shape, rate, .. } = self.posterior;
        let dimension = self.sum.len() as f64;
        ln_gamma(shape) - ln_gamma(prior.shape) + prior.shape * prior.rate.ln() - shape * rate.ln()
            + 0.5 * dimension * (prior.kappa / kappa).ln()
            - 0.5 * f64::from(self.n) * dimension * (2.0 * PI).ln()
    }

    /// s2 ~ InvGamma(a_n, b_n), mu ~ N(m_n, s2 / kappa_n I).
    pub(super) fn draw(&self, rng: &mut Rng) -> Face {
        let Posterior { kappa, shape, rate, .. } = self.posterior;
        let variance = (rate.ln() - rng.ln_gamma(shape)).exp();
        let spread = (variance / kappa).sqrt();
        let mean = self.sum.iter().map(|sum| sum / kappa + spread * rng.normal()).collect();
        Face { mean, variance }
    }

    /// How many faces.
    pub fn n_faces(&self) -> u32 {
        self.n
    }

    /// The largest difference to another group's statistics, relative to their size.
    pub(super) fn difference(&self, other: &Self) -> f64 {
        let size = 1.0 + self.sum_of_squares.abs();
        let sums = self.sum.iter().zip(&other.sum).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let counts = f64::from(self.n.abs_diff(other.n));
        counts + sums.max((self.sum_of_squares - other.sum_of_squares).abs()) / size
    }
}

impl Posterior {
    fn of(prior: &Isotropic, n: u32, sum: &[f64], sum_of_squares: f64) -> Self {
        let (n, dimension) = (f64::from(n), sum.len() as f64);
        let kappa = prior.kappa + n;
        let shape = prior.shape + 0.5 * n * dimension;
        let square_of_sum = dot(sum, sum);
        let scatter = (sum_of_squares - square_of_sum / kappa).max(0.0);
        let rate = prior.rate + 0.5 * scatter;
        let ln_constant = ln_gamma(shape + 0.5 * dimension) - ln_gamma(shape) + shape * rate.ln()
            - 0.5 * dimension * ((kappa + 1.0) / kappa * 2.0 * PI).ln();
        Self { kappa, shape, rate, square_of_mean: square_of_sum / (kappa * kappa), ln_constant }
    }
}

impl Face {
    pub(super) fn ln_likelihood(&self, x: &[f64]) -> f64 {
        let distance: f64 = self.mean.iter().zip(x).map(|(m, x)| (x - m) * (x - m)).sum();
        -0.5 * x.len() as f64 * (2.0 * PI * self.variance).ln() - 0.5 * distance / self.variance
    }

    /// ln density of the prior of theta*.
    pub(crate) fn ln_prior(&self, prior: &Isotropic) -> f64 {
        let (a, b) = (prior.shape, prior.rate);
        let spread = self.variance / prior.kappa;
        let square: f64 = self.mean.iter().map(|m| m * m).sum();
        a * b.ln()
            - ln_gamma(a)
            - (a + 1.0) * self.variance.ln()
            - b / self.variance
            - 0.5 * self.mean.len() as f64 * (2.0 * PI * spread).ln()
            - 0.5 * square / spread
    }
}

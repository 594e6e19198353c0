//! What the next face's predictive needs of an identity's faces before it, worked out once for all who ask.

use serde::{Deserialize, Serialize};

use super::Centred;
use super::full::{Full, MOST_LEVELS};
use super::scales::{self, PerScale};

/// What the predictive of the next face needs of the faces before it, per scale of the next face.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct After {
    /// `1 / (L' (1 + L' psi))`, L' = L + lambda, per level: the mean's quadratic form is the sum of w
    /// |sum'|^2.
    pub weights: Vec<PerScale>,
    /// `lambda L / L'`: how much the next face adds to S in the direction y - ybar.
    pub gain: PerScale,
    /// Everything that does not depend on the next face.
    pub ln_constant: PerScale,
    /// L.
    pub total: f64,
}

/// The faces before the next one: how many, L, |sum|^2 per level, and ln |I + S/P|.
#[derive(Clone, Copy)]
pub(super) struct Others<'a> {
    pub n: u32,
    pub total: f64,
    pub squares: &'a [f64],
    pub ln_det: f64,
}

/// The next face and the `n` before it: |sum|^2 and sum . y per level, and q = (y - ybar)^T (P I + S)^-1 (y -
/// ybar).
pub(super) struct Next<'a> {
    pub n: u32,
    pub squares: &'a [f64],
    pub products: &'a [f64; MOST_LEVELS],
    pub x: &'a Centred,
    pub q: f64,
}

impl After {
    pub fn work_out(&mut self, model: &Full, others: Others) {
        let Others { n, total, squares, ln_det } = others;
        let d = model.n_axes() as f64;
        let mut ln_before = 0.0;
        if n > 0 {
            let own = model.ln_step(f64::from(n)) - 0.5 * ln_det;
            let common = -0.5 * d * (2.0 * std::f64::consts::PI).ln();
            ln_before = model.between_own_and_common(own, common)
                - model.ln_mean_scale(total)
                - model.ln_mean_shape(model.quadratic_of_mean(squares, total));
        }
        let Self { weights, gain, ln_constant, total: kept } = self;
        *kept = total;
        weights.clear();
        weights.extend(model.levels.iter().map(|(_, psi)| {
            model.scales.lambda.map(|lambda| 1.0 / ((total + lambda) * (1.0 + (total + lambda) * psi)))
        }));
        for (scale, lambda) in model.scales.lambda[..model.scales.n].iter().enumerate() {
            let next = total + lambda;
            gain[scale] = lambda * total / next;
            let ln_volume = if n > 0 { 0.5 * d * gain[scale].ln() } else { 0.0 };
            ln_constant[scale] = ln_before + ln_volume + model.ln_mean_scale(next);
        }
    }

    /// Per scale of a face: ln of its prior, and power times the term.
    pub fn terms_with_prior(&self, model: &Full, next: &Next<'_>) -> PerScale {
        self.with_own(model, next, &self.without_own(model, next))
    }

    /// The same but for the covariance of the faces' own, where q is not looked at.
    pub fn without_own(&self, model: &Full, next: &Next<'_>) -> PerScale {
        let mut terms = [f64::NEG_INFINITY; scales::MOST];
        for (scale, &ln_p) in model.scales.ln_p[..model.scales.n].iter().enumerate() {
            terms[scale] = ln_p + model.prior().power * self.term_without_own(model, scale, next);
        }
        terms
    }

    /// The terms, given those without the covariance of the faces' own.
    pub fn with_own(&self, model: &Full, next: &Next<'_>, without: &PerScale) -> PerScale {
        let mut terms = *without;
        let counts = model.prior().power * self.own_counts(model, next.n);
        for (term, gain) in terms.iter_mut().zip(&self.gain).take(model.scales.n) {
            *term -= counts * (gain * next.q).ln_1p();
        }
        terms
    }

    /// An upper bound of the terms' sum, given those without the covariance of the faces' own.
    pub fn ln_sum_at_most(&self, model: &Full, next: &Next<'_>, without: &PerScale) -> f64 {
        let counts = model.prior().power * self.own_counts(model, next.n);
        let mut most = f64::NEG_INFINITY;
        for (term, gain) in without.iter().zip(&self.gain).take(model.scales.n) {
            // A lower bound of ln (1 + a).
            let a = gain * next.q;
            most = most.max(term - counts * (3.0 * a * (2.0 + a) / (6.0 + a * (6.0 + a))));
        }
        // As many as there are scales, and more than rounding can take off.
        most + (model.scales.n as f64).ln() + 1e-6
    }

    /// ln (f(faces, y) / f(faces)) at one scale.
    pub fn term(&self, model: &Full, scale: usize, next: &Next<'_>) -> f64 {
        let own = self.own_counts(model, next.n) * (self.gain[scale] * next.q).ln_1p();
        self.term_without_own(model, scale, next) - own
    }

    /// How often ln (1 + q / ...) of the covariance of the faces' own counts.
    fn own_counts(&self, model: &Full, n: u32) -> f64 {
        if n == 0 {
            return 0.0;
        }
        model.between_own_and_common(0.5 * (model.prior().freedom + f64::from(n)), 0.0)
    }

    fn term_without_own(&self, model: &Full, scale: usize, next: &Next<'_>) -> f64 {
        let Next { n, squares, products, x, .. } = *next;
        let lambda = model.scales.lambda[scale];
        let mut mean = 0.0;
        for (level, weights) in self.weights.iter().enumerate() {
            let square = squares[level] + lambda * (2.0 * products[level] + lambda * x.squares[level]);
            mean += weights[scale] * square;
        }
        let mut term = self.ln_constant[scale] + model.ln_mean_shape(mean);
        if n > 0 {
            let common = self.gain[scale] * distance(self.total, squares, products, x);
            term -= 0.5 * model.between_own_and_common(0.0, common);
        }
        term
    }
}

/// |y - ybar|^2, for faces that sum to L ybar.
fn distance(total: f64, squares: &[f64], products: &[f64; MOST_LEVELS], x: &Centred) -> f64 {
    let (square, product) = (squares.iter().sum::<f64>(), products[..squares.len()].iter().sum::<f64>());
    (x.square - 2.0 * product / total + square / (total * total)).max(0.0)
}

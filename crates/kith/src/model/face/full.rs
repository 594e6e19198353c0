//! Faces with a covariance of their own per identity, for real embeddings (MODEL.md §4).
//!
//! A linear map makes the within-person covariance of people in general the identity and the between-person one
//! diagonal: `y = A (x - m)`, W -> I, B -> diag(psi). Each face has a scale lambda (`scales.rs`). With
//! `L = sum lambda`, `ybar = sum lambda y / L` and `S = sum lambda (y - ybar)(y - ybar)^T`, the faces y_1..y_n of an
//! identity have density
//!
//! `f(y_1..y_n | lambda) = prod_d N(ybar_d; 0, psi_d + 1/L) * t(S) * L^(-D/2) * prod lambda^(D/2)`
//!
//! where the residuals are those of a Gaussian whose covariance has an inverse-Wishart prior with `nu` degrees of
//! freedom and mean I, integrated out (`P = nu - D - 1`):
//!
//! `t = prod_{k=1}^{n-1} Gamma((nu+k)/2) / Gamma((nu+k-D)/2) * (pi P)^(-(n-1) D/2) * |I + S/P|^(-(nu+n-1)/2)`.
//!
//! So a person's photos may spread far in directions of their own, which a shared covariance would cut into pieces.
//! The joint counts `f^power`: photos of one person are less than independent.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::after::{After, Next, Others};
use super::bound::{Coefficients, QuadraticForm};
use super::scales::{PerScale, Scales};
use super::scatter::Scatter;
use super::{Centred, Portrait};
use crate::math::vectors::{dot, product};
use crate::math::{ln_gamma, ln_sum_exp};
use crate::model::{ModelError, check_positive};
use crate::random::Rng;

/// How many different values psi may have.
pub const MOST_LEVELS: usize = 16;

/// The prior over an identity's mean and covariance, as people write it.
#[derive(Clone, Debug, PartialEq)]
pub struct FullPrior {
    /// m, of the embeddings' dimension.
    pub mean: Vec<f64>,
    /// A, one row after the other, each as long as `mean`.
    pub transform: Vec<f64>,
    /// psi: the between-person variance along each row of A, where the within-person variance is 1. Axes of equal psi
    /// stand side by side; at most 16 values differ.
    pub between: Vec<f64>,
    /// nu.
    pub freedom: f64,
    /// To which power the density of faces counts, at most 1.
    pub power: f64,
    /// The standard deviation of ln lambda; 0 gives all faces the same scale.
    pub spread: f64,
}

/// The prior with what follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Full {
    prior: Arc<FullPrior>,
    /// Axes of equal psi.
    pub(super) levels: Vec<(Range<usize>, f64)>,
    pub(super) scales: Scales,
}

/// The faces of one identity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FullGroup {
    /// sum lambda y, and its square per level.
    sum: Vec<f64>,
    squares: Vec<f64>,
    /// L, and sum ln lambda.
    total: f64,
    ln_scales: f64,
    scatter: Scatter,
    after: After,
}

impl Full {
    /// From a prior; [`crate::model::Model::check`] says whether it can be used.
    pub fn new(prior: FullPrior) -> Self {
        let mut levels: Vec<(Range<usize>, f64)> = Vec::new();
        for (axis, &psi) in prior.between.iter().enumerate() {
            match levels.last_mut() {
                Some((axes, same)) if *same == psi => axes.end = axis + 1,
                _ => levels.push((axis..axis + 1, psi)),
            }
        }
        let scales = Scales::new(prior.spread);
        Self { prior: Arc::new(prior), levels, scales }
    }

    /// The prior.
    pub fn prior(&self) -> &Arc<FullPrior> {
        &self.prior
    }

    /// A face after the transform, rounded to `f32`: that is where it lies, for all who ask.
    pub(super) fn portray(&self, embedding: &[f32]) -> Portrait {
        let FullPrior { mean, transform, .. } = &*self.prior;
        let centred: Vec<f64> = embedding.iter().zip(mean).map(|(&x, m)| f64::from(x) - m).collect();
        let mut y = Vec::new();
        product(transform, &centred, &mut y);
        y.into_iter().map(|y| y as f32).collect()
    }

    /// The dimension after the transform.
    pub fn n_axes(&self) -> usize {
        self.prior.between.len()
    }

    /// P = nu - D - 1: the prior's scale.
    fn scale(&self) -> f64 {
        self.prior.freedom - self.n_axes() as f64 - 1.0
    }

    pub(super) fn check(&self, dimension: usize) -> Result<(), ModelError> {
        let prior = &self.prior;
        let wanted = format!("{dimension}, the dimension of the embeddings");
        if prior.mean.len() != dimension {
            return Err(ModelError::value("face.mean", format!("{} numbers", prior.mean.len()), &wanted));
        }
        if prior.transform.len() != dimension * self.n_axes() || self.n_axes() == 0 {
            let wanted = format!("{} rows of {dimension}", self.n_axes().max(1));
            return Err(ModelError::value(
                "face.transform",
                format!("{} numbers", prior.transform.len()),
                &wanted,
            ));
        }
        if let Some(bad) = prior.mean.iter().chain(&prior.transform).find(|number| !number.is_finite()) {
            return Err(ModelError::value("face.transform", bad, "finite numbers"));
        }
        prior.between.iter().try_for_each(|&psi| check_positive("face.between", psi))?;
        if self.levels.len() > MOST_LEVELS {
            let wanted = format!("at most {MOST_LEVELS}, equal ones side by side");
            return Err(ModelError::value(
                "face.between",
                format!("{} runs of equal values", self.levels.len()),
                &wanted,
            ));
        }
        check_positive("face.freedom - dimension - 1", self.scale())?;
        if !(prior.power > 0.0 && prior.power <= 1.0) {
            return Err(ModelError::value("face.power", prior.power, "a number above 0, at most 1"));
        }
        if !(0.0..=2.0).contains(&prior.spread) {
            return Err(ModelError::value("face.spread", prior.spread, "a number from 0 to 2"));
        }
        Ok(())
    }

    /// The axes of each level of psi.
    pub(super) fn axes_of_levels(&self) -> impl Iterator<Item = Range<usize>> {
        self.levels.iter().map(|(axes, _)| axes.clone())
    }

    /// |y|^2 per level.
    pub(super) fn squares(&self, y: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.levels.iter().map(|(axes, _)| dot(&y[axes.clone()], &y[axes.clone()])));
    }

    /// -1/2 sum_d ln (2 pi (psi_d + 1/L)).
    pub(super) fn ln_mean_scale(&self, total: f64) -> f64 {
        let ln = |(axes, psi): &(Range<usize>, f64)| {
            axes.len() as f64 * (2.0 * std::f64::consts::PI * (psi + 1.0 / total)).ln()
        };
        -0.5 * self.levels.iter().map(ln).sum::<f64>()
    }

    /// The mean's quadratic form: sum_d sum_d^2 / (L (1 + L psi_d)).
    pub(super) fn quadratic_of_mean(&self, squares: &[f64], total: f64) -> f64 {
        let levels = self.levels.iter().zip(squares);
        levels.map(|((_, psi), square)| square / (total * (1.0 + total * psi))).sum()
    }

    /// ln of the n-th factor of t: Gamma((nu+n)/2) / Gamma((nu+n-D)/2) * (pi P)^(-D/2).
    pub(super) fn ln_step(&self, n: f64) -> f64 {
        let d = self.n_axes() as f64;
        Self::ln_gammas(self.prior.freedom, n, d) - 0.5 * d * (std::f64::consts::PI * self.scale()).ln()
    }

    /// ln of Gamma((nu+n)/2) / Gamma((nu+n-D)/2).
    pub(super) fn ln_gammas(nu: f64, n: f64, d: f64) -> f64 {
        ln_gamma(0.5 * (nu + n)) - ln_gamma(0.5 * (nu + n - d))
    }
}

impl Full {
    /// Faces of one new identity with these scales, drawn from f (with power 1), before the transform is undone.
    pub(super) fn simulate(&self, lambda: &[f64], rng: &mut Rng) -> Vec<Vec<f64>> {
        let (d, n) = (self.n_axes(), lambda.len());
        let total: f64 = lambda.iter().sum();
        let mean: Vec<f64> =
            self.prior.between.iter().map(|psi| (psi + 1.0 / total).sqrt() * rng.normal()).collect();
        let mut faces = vec![mean; n];
        // Sigma ~ inverse-Wishart: Sigma^-1 = T T^T / P with Bartlett's triangular T.
        let mut t = vec![0.0; d * d];
        for r in 0..d {
            t[r * d + r] = (2.0 * rng.gamma(0.5 * (self.prior.freedom - r as f64), 1.0)).sqrt();
            (0..r).for_each(|c| t[r * d + c] = rng.normal());
        }
        let mut before = lambda.first().copied().unwrap_or(0.0);
        for (k, &lambda) in lambda.iter().enumerate().skip(1) {
            // A residual direction ~ N(0, Sigma): sqrt(P) T^-T epsilon, by back substitution.
            let mut u: Vec<f64> = (0..d).map(|_| self.scale().sqrt() * rng.normal()).collect();
            for r in (0..d).rev() {
                let known: f64 = (r + 1..d).map(|c| t[c * d + r] * u[c]).sum();
                u[r] = (u[r] - known) / t[r * d + r];
            }
            // sqrt(lambda_j) y_j moves along the k-th row of a weighted Helmert matrix: orthogonal to sqrt(lambda),
            // that is, to the mean, and to the rows before it.
            let after = before + lambda;
            let (first, own) = ((lambda / (before * after)).sqrt(), -(before / (after * lambda)).sqrt());
            for (j, face) in faces.iter_mut().enumerate().take(k + 1) {
                let factor = if j < k { first } else { own };
                face.iter_mut().zip(&u).for_each(|(y, u)| *y += factor * u);
            }
            before = after;
        }
        faces
    }

    /// The embedding of a face, for a transform that keeps every dimension.
    pub(super) fn undo(&self, y: &[f64]) -> Vec<f32> {
        let d = self.n_axes();
        assert_eq!(d, self.prior.mean.len(), "a projection cannot be undone");
        let mut rows: Vec<Vec<f64>> = self.prior.transform.chunks_exact(d).map(<[f64]>::to_vec).collect();
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
        x.zip(&self.prior.mean).map(|(x, m)| (x + m) as f32).collect()
    }
}

impl FullGroup {
    pub(super) fn new(model: &Full) -> Self {
        let scatter = Scatter::new(model.n_axes(), model.scale());
        let after = After::default();
        let (sum, squares) = (vec![0.0; model.n_axes()], vec![0.0; model.levels.len()]);
        let mut group = Self { sum, squares, total: 0.0, ln_scales: 0.0, scatter, after };
        group.look_ahead(model);
        group
    }

    pub(super) fn observe(&mut self, model: &Full, x: &Centred) {
        self.scatter.observe(&x.portrait, &x.values, x.lambda(model), &self.sum);
        self.add(x, x.lambda(model));
        self.look_ahead(model);
    }

    /// As [`FullGroup::observe`] for one after the other.
    pub(super) fn observe_all(&mut self, model: &Full, xs: &[Centred]) {
        if !self.scatter.is_few() {
            return xs.iter().for_each(|x| self.observe(model, x));
        }
        self.scatter.observe_together(xs.iter().map(|x| (&x.portrait, &x.values[..], x.lambda(model))));
        xs.iter().for_each(|x| self.add(x, x.lambda(model)));
        self.look_ahead(model);
    }

    /// Adds a face to the sums.
    fn add(&mut self, x: &Centred, lambda: f64) {
        self.sum.iter_mut().zip(&x.values).for_each(|(sum, y)| *sum += lambda * y);
        self.total += lambda;
        self.ln_scales += lambda.ln();
    }

    pub(super) fn forget(&mut self, model: &Full, x: &Centred) {
        if self.n_faces() == 1 {
            *self = Self::new(model);
            return;
        }
        let lambda = x.lambda(model);
        self.sum.iter_mut().zip(&x.values).for_each(|(sum, y)| *sum -= lambda * y);
        self.total -= lambda;
        self.ln_scales -= lambda.ln();
        self.scatter.forget(&x.portrait, &x.values, lambda, &self.sum);
        self.look_ahead(model);
    }

    /// power * ln (f(faces, y) / f(faces)), y's scale summed over.
    pub(super) fn ln_predictive(&self, model: &Full, x: &Centred) -> f64 {
        ln_sum_exp(&self.terms_with_prior(model, x))
    }

    /// power * ln (f(faces, y) / f(faces)) at y's own scale.
    pub(super) fn ln_joining(&self, model: &Full, x: &Centred) -> f64 {
        let products = self.products(model, &x.values);
        let q = self.quadratic(model, &products, x);
        let scale = x.scale.into();
        let next = Next { n: self.n_faces(), squares: &self.squares, products: &products, x, q };
        model.prior.power * self.after.term(model, scale, &next)
    }

    /// Per scale of a face of the group, as if it were not there yet: ln of the scale's prior and of the predictive.
    /// Nothing is changed: what the other faces' statistics are follows from all of them and from the face by
    /// `ybar - y = (L' / L) (ybar' - y)` and by the formulas of a rank-one update.
    pub(super) fn rejoining(&self, model: &Full, x: &Centred) -> PerScale {
        debug_assert!(self.n_faces() > 1, "a face that is alone has nobody to rejoin");
        let lambda = x.lambda(model);
        let left = self.total - lambda;
        let mut products = self.products(model, &x.values);
        let q = self.quadratic(model, &products, x);
        let shrinks = 1.0 - lambda * self.total / left * q;
        let q = (self.total / left).powi(2) * q / shrinks;
        let levels = self.squares.iter().zip(&mut products).zip(&x.squares);
        let squares: Vec<f64> = levels
            .map(|((square, product), own)| {
                let without = square - lambda * (2.0 * *product - lambda * own);
                *product -= lambda * own;
                without
            })
            .collect();
        let others = Others {
            n: self.n_faces() - 1,
            total: left,
            squares: &squares,
            ln_det: self.scatter.ln_det() + shrinks.ln(),
        };
        let mut after = After::default();
        after.work_out(model, others);
        let next = Next { n: others.n, squares: &squares, products: &products, x, q };
        after.terms_with_prior(model, &next)
    }

    /// A face of the group gets another scale.
    pub(super) fn rescale(&mut self, model: &Full, x: &Centred, scale: u8) {
        let (from, to) = (x.lambda(model), model.scales.lambda[usize::from(scale)]);
        self.sum.iter_mut().zip(&x.values).for_each(|(sum, y)| *sum -= from * y);
        self.scatter.reweigh(&x.portrait, &x.values, from, to, &self.sum);
        self.sum.iter_mut().zip(&x.values).for_each(|(sum, y)| *sum += to * y);
        self.total += to - from;
        self.ln_scales += to.ln() - from.ln();
        self.look_ahead(model);
    }

    /// y's scale given that it joins.
    pub(super) fn draw_scale(&self, model: &Full, x: &Centred, rng: &mut Rng) -> u8 {
        rng.categorical_ln(&mut self.terms_with_prior(model, x)) as u8
    }

    /// The coefficients of an upper bound of [`FullGroup::ln_predictive`], and the sum of the faces, of which there is
    /// one at least.
    pub(super) fn bound(&self, model: &Full, safe: f64, out: &mut Coefficients) -> &[f64] {
        let After { weights, gain, ln_constant } = &self.after;
        let Scales { n, lambda, ln_p } = &model.scales;
        let power = model.prior.power;
        out.pull = 2.0 / self.total;
        out.square = safe * self.squares.iter().sum::<f64>() / (self.total * self.total);
        out.half = power * 0.5 * (model.prior.freedom + f64::from(self.n_faces()));
        // (y - ybar)^T (P I + S)^-1 (y - ybar) is at least |y - ybar|^2 over the largest eigenvalue of P I + S; where
        // there is a form, it is known.
        let widest = if self.has_form() { 1.0 } else { model.scale() + self.scatter.widest() };
        for scale in 0..*n {
            let levels = weights.iter().zip(&self.squares);
            let of_sum: f64 = levels.map(|(weights, square)| weights[scale] * safe * square).sum();
            let term = ln_constant[scale] - 0.5 * of_sum;
            // The sum over scales is at most their number times the largest term.
            out.constants.push((*n as f64).ln() + ln_p[scale] + power * term);
            out.gains.push(gain[scale] / widest);
        }
        for weights in weights {
            out.weights.extend((0..*n).map(|scale| power * lambda[scale] * weights[scale]));
        }
        &self.sum
    }

    /// Two or three faces are weighed faster than bounded.
    pub(super) fn has_form(&self) -> bool {
        self.n_faces() > 3
    }

    /// The quadratic form of several faces.
    pub(super) fn form(&self, model: &Full, out: &mut QuadraticForm) {
        if self.has_form() {
            (out.scale, out.total) = (model.scale(), self.total);
            self.scatter.form(&self.sum, out);
        }
    }

    /// power * ln f.
    pub(super) fn ln_marginal(&self, model: &Full) -> f64 {
        let n = self.n_faces();
        if n == 0 {
            return 0.0;
        }
        let d = model.n_axes() as f64;
        let steps: f64 = (1..n).map(|k| model.ln_step(f64::from(k))).sum();
        let ln_f = model.ln_mean_scale(self.total) - 0.5 * model.quadratic_of_mean(&self.squares, self.total)
            + steps
            - 0.5 * (model.prior.freedom + f64::from(n) - 1.0) * self.scatter.ln_det()
            + 0.5 * d * (self.ln_scales - self.total.ln());
        model.prior.power * ln_f
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
            + (self.total - other.total).abs() / (1.0 + other.total)
            + (self.ln_scales - other.ln_scales).abs() / (1.0 + f64::from(other.n_faces()))
            + (self.scatter.ln_det() - other.scatter.ln_det()).abs() / (1.0 + other.scatter.ln_det())
    }

    /// Per scale: ln of its prior, and power times the term.
    fn terms_with_prior(&self, model: &Full, x: &Centred) -> PerScale {
        let products = self.products(model, &x.values);
        let q = self.quadratic(model, &products, x);
        let next = Next { n: self.n_faces(), squares: &self.squares, products: &products, x, q };
        self.after.terms_with_prior(model, &next)
    }

    /// (y - ybar)^T (P I + S)^-1 (y - ybar).
    fn quadratic(&self, model: &Full, products: &[f64; MOST_LEVELS], x: &Centred) -> f64 {
        match self.n_faces() {
            0 => 0.0,
            1 => {
                let (product, square) = (products.iter().sum::<f64>(), self.squares.iter().sum::<f64>());
                let distance = x.square - 2.0 * product / self.total + square / (self.total * self.total);
                distance.max(0.0) / model.scale()
            }
            _ => self.scatter.quadratic(&x.values, x.square, &self.sum),
        }
    }

    /// sum . y per level.
    fn products(&self, model: &Full, y: &[f64]) -> [f64; MOST_LEVELS] {
        let mut products = [0.0; MOST_LEVELS];
        for (product, (axes, _)) in products.iter_mut().zip(&model.levels) {
            *product = dot(&self.sum[axes.clone()], &y[axes.clone()]);
        }
        products
    }

    /// Works out what does not depend on the next face.
    fn look_ahead(&mut self, model: &Full) {
        model.squares(&self.sum, &mut self.squares);
        let (n, ln_det) = (self.n_faces(), self.scatter.ln_det());
        self.after.work_out(model, Others { n, total: self.total, squares: &self.squares, ln_det });
    }
}

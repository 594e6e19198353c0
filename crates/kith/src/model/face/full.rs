//! Faces with a covariance of their own per identity, for real embeddings (MODEL.md §4).
//!
//! A linear map makes the within-person covariance of people in general the identity and the between-person
//! one diagonal: `y = A (x - m)`, W -> I, B -> diag(psi). Each face has a scale lambda (`scales.rs`). With
//! `L = sum lambda`, `ybar = sum lambda y / L` and `S = sum lambda (y - ybar)(y - ybar)^T`, the faces
//! y_1..y_n of an identity have density
//!
//! `f(y_1..y_n | lambda) = m(ybar; psi + 1/L) * t(S)^(1-w) * g(S)^w * L^(-D/2) * prod lambda^(D/2)`
//!
//! **The mean** has a t density with kappa degrees of freedom and squared widths psi_d + 1/L: with
//! `q = sum_d ybar_d^2 / (psi_d + 1/L)`,
//!
//! `m = Gamma((kappa+D)/2) / Gamma(kappa/2) * prod_d (kappa pi (psi_d + 1/L))^(-1/2) *
//! (1 + q/kappa)^(-(kappa+D)/2)`,
//!
//! so that a face far from everybody is somebody new: its cost grows with the logarithm of the distance, that
//! of joining anybody with its square.
//!
//! **The residuals** are judged by two experts. One knows the common covariance I alone,
//! `g = (2 pi)^(-(n-1) D/2) exp(-tr S / 2)`; for the other the identity has a covariance of its own, with an
//! inverse-Wishart prior of `nu` degrees of freedom and mean I, integrated out (`P = nu - D - 1`):
//!
//! `t = prod_{k=1}^{n-1} Gamma((nu+k)/2) / Gamma((nu+k-D)/2) * (pi P)^(-(n-1) D/2) *
//! |I + S/P|^(-(nu+n-1)/2)`.
//!
//! With t alone (w = 0) hundreds of strangers fit into one identity whose covariance grows into the
//! population's: that costs once, and gains with every face. With g alone (w = 1) people with many photos,
//! who spread far in directions of their own, are cut into pieces. Between the two, spreading in few
//! directions is cheap and growing in all of them costs every face. The joint counts `e^c f^power`: photos of
//! one person are less than independent, and so are the coordinates of an embedding; and there are more
//! look-alikes than a density of people with few parameters says, so that being somebody new is likelier than
//! it by e^c.

use std::ops::Range;
use std::sync::Arc;

use super::Portrait;
use super::scales::Scales;
use crate::math::ln_gamma;
use crate::math::vectors::{dot, product};
use crate::model::{ModelError, check_positive};
use crate::random::Rng;

/// How many different values psi may have.
pub const MOST_LEVELS: usize = 16;

/// The spread of scales where wide ones would gather strangers: with an identity's own covariance alone.
const NEARLY_ONE_SCALE: f64 = 0.1;

/// So many factors of t are kept.
const STEPS: usize = 512;

/// The prior over an identity's mean and covariance, as people write it.
#[derive(Clone, Debug, PartialEq)]
pub struct FullPrior {
    /// Every embedding is brought to this length first; none: they are taken as they are.
    pub length: Option<f64>,
    /// m, of the embeddings' dimension.
    pub mean: Vec<f64>,
    /// A, one row after the other, each as long as `mean`.
    pub transform: Vec<f64>,
    /// psi: the between-person variance along each row of A, where the within-person variance is 1. Axes of
    /// equal psi stand side by side; at most 16 values differ.
    pub between: Vec<f64>,
    /// nu.
    pub freedom: f64,
    /// w: how much the common covariance counts in the residuals, from 0 (an identity's own alone) to 1.
    pub common: f64,
    /// kappa: the degrees of freedom of the mean's density; infinity makes it Gaussian.
    pub tail: f64,
    /// To which power the density of faces counts, at most 1.
    pub power: f64,
    /// The standard deviation of ln lambda; 0 gives all faces the same scale.
    pub spread: f64,
    /// c: what every identity counts beside its faces' density, as a logarithm.
    pub lookalikes: f64,
}

/// The prior with what follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Full {
    pub(super) prior: Arc<FullPrior>,
    /// Axes of equal psi.
    pub(super) levels: Vec<(Range<usize>, f64)>,
    pub(super) scales: Scales,
    /// ln Gamma((kappa+D)/2) - ln Gamma(kappa/2) - D/2 ln (kappa pi), and c / power: once in every identity.
    ln_mean_constant: f64,
    /// ln of the product of t's first 0, 1, ... factors.
    ln_steps: Vec<f64>,
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
        let (kappa, d) = (prior.tail, prior.between.len() as f64);
        let ln_mean_constant = if kappa.is_infinite() {
            -0.5 * d * (2.0 * std::f64::consts::PI).ln()
        } else {
            Self::ln_gammas(kappa, d, d) - 0.5 * d * (kappa * std::f64::consts::PI).ln()
        };
        let ln_mean_constant = ln_mean_constant + prior.lookalikes / prior.power;
        let mut model =
            Self { prior: Arc::new(prior), levels, scales, ln_mean_constant, ln_steps: vec![0.0] };
        for k in 1..STEPS {
            model.ln_steps.push(model.ln_steps[k - 1] + model.ln_step(k as f64));
        }
        model
    }

    /// The same with a larger c.
    pub(crate) fn favouring(&self, more: f64) -> Self {
        let mut prior = (*self.prior).clone();
        prior.lookalikes += more;
        Self::new(prior)
    }

    /// The same with residuals judged by an identity's own covariance alone, and faces at nearly one scale.
    pub(crate) fn of_own_covariances(&self) -> Self {
        let mut prior = (*self.prior).clone();
        prior.common = 0.0;
        prior.spread = prior.spread.min(NEARLY_ONE_SCALE);
        Self::new(prior)
    }

    /// The prior.
    pub fn prior(&self) -> &Arc<FullPrior> {
        &self.prior
    }

    /// A face after the transform, rounded to `f32`: that is where it lies, for all who ask.
    pub(super) fn portray(&self, embedding: &[f32]) -> Portrait {
        let FullPrior { length, mean, transform, .. } = &*self.prior;
        let factor = factor_to(*length, embedding);
        let centred: Vec<f64> = embedding.iter().zip(mean).map(|(&x, m)| factor * f64::from(x) - m).collect();
        let mut y = Vec::new();
        product(transform, &centred, &mut y);
        y.into_iter().map(|y| y as f32).collect()
    }

    /// The dimension after the transform.
    pub fn n_axes(&self) -> usize {
        self.prior.between.len()
    }

    /// P = nu - D - 1: the prior's scale.
    pub(super) fn scale(&self) -> f64 {
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
        prior.length.map_or(Ok(()), |length| check_positive("face.length", length))?;
        if !(prior.power > 0.0 && prior.power <= 1.0) {
            return Err(ModelError::value("face.power", prior.power, "a number above 0, at most 1"));
        }
        if !(0.0..=1.0).contains(&prior.common) {
            return Err(ModelError::value("face.common", prior.common, "a number from 0 to 1"));
        }
        if prior.tail < 1.0 || prior.tail.is_nan() {
            return Err(ModelError::value("face.tail", prior.tail, "a number of at least 1"));
        }
        if !(0.0..=2.0).contains(&prior.spread) {
            return Err(ModelError::value("face.spread", prior.spread, "a number from 0 to 2"));
        }
        if !prior.lookalikes.is_finite() {
            return Err(ModelError::value("face.lookalikes", prior.lookalikes, "a finite number"));
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

    /// ln m where q = 0, but for Gammas: those are the same for all L.
    pub(super) fn ln_mean_scale(&self, total: f64) -> f64 {
        let ln = |(axes, psi): &(Range<usize>, f64)| axes.len() as f64 * (psi + 1.0 / total).ln();
        self.ln_mean_constant - 0.5 * self.levels.iter().map(ln).sum::<f64>()
    }

    /// ln m less its value where q = 0.
    pub(super) fn ln_mean_shape(&self, q: f64) -> f64 {
        let kappa = self.prior.tail;
        if kappa.is_infinite() {
            return -0.5 * q;
        }
        -0.5 * (kappa + self.n_axes() as f64) * (q / kappa).ln_1p()
    }

    /// kappa, or, for a Gaussian, so much that it makes no difference to a bound.
    pub(super) fn kappa(&self) -> f64 {
        self.prior.tail.min(1e9)
    }

    /// What a bound multiplies ln (1 + q/kappa) by.
    pub(super) fn far(&self) -> f64 {
        self.prior.power * 0.5 * (self.kappa() + self.n_axes() as f64)
    }

    /// What the two experts on residuals say together.
    pub(super) fn between_own_and_common(&self, own: f64, common: f64) -> f64 {
        let w = self.prior.common;
        (1.0 - w) * own + w * common
    }

    /// q, the mean's quadratic form: sum_d sum_d^2 / (L (1 + L psi_d)).
    pub(super) fn quadratic_of_mean(&self, squares: &[f64], total: f64) -> f64 {
        let levels = self.levels.iter().zip(squares);
        levels.map(|((_, psi), square)| square / (total * (1.0 + total * psi))).sum()
    }

    /// ln of the first n - 1 factors of t.
    fn ln_steps(&self, n: u32) -> f64 {
        let known = (n as usize).min(self.ln_steps.len()).max(1);
        let further = (known as u32..n).map(|k| self.ln_step(f64::from(k)));
        self.ln_steps[known - 1] + further.sum::<f64>()
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
    /// Faces of one new identity with these scales, drawn from f with power 1, c = 0 and w = 0 or 1 (in
    /// between it is no density; then as if w were 0), before the transform is undone.
    pub(super) fn simulate(&self, lambda: &[f64], rng: &mut Rng) -> Vec<Vec<f64>> {
        let (d, n) = (self.n_axes(), lambda.len());
        let total: f64 = lambda.iter().sum();
        let kappa = self.prior.tail;
        let wide = if kappa.is_infinite() { 1.0 } else { 0.5 * kappa / rng.gamma(0.5 * kappa, 1.0) };
        let width = |psi: &f64| (wide * (psi + 1.0 / total)).sqrt();
        let mean: Vec<f64> = self.prior.between.iter().map(|psi| width(psi) * rng.normal()).collect();
        let mut faces = vec![mean; n];
        // Sigma ~ inverse-Wishart: Sigma^-1 = T T^T / P with Bartlett's triangular T; where it is common, I.
        let mut t = vec![0.0; d * d];
        for r in 0..d {
            if self.prior.common == 1.0 {
                t[r * d + r] = self.scale().sqrt();
                continue;
            }
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
            // sqrt(lambda_j) y_j moves along the k-th row of a weighted Helmert matrix: orthogonal to
            // sqrt(lambda), that is, to the mean, and to the rows before it.
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

/// What the density of some faces is made of: n, L, |sum|^2 per level, sum ln lambda, sum lambda |y|^2, and
/// ln |I + S/P|.
pub(super) struct Whole<'a> {
    pub n: u32,
    pub total: f64,
    pub squares: &'a [f64],
    pub ln_scales: f64,
    pub weighted: f64,
    pub ln_det: f64,
}

impl Full {
    /// power * ln f + c of at least one face.
    pub(super) fn ln_marginal(&self, whole: &Whole<'_>) -> f64 {
        let &Whole { n, total, squares, ln_scales, weighted, ln_det } = whole;
        let d = self.n_axes() as f64;
        let own = self.ln_steps(n) - 0.5 * (self.prior.freedom + f64::from(n) - 1.0) * ln_det;
        let trace = (weighted - squares.iter().sum::<f64>() / total).max(0.0);
        let common = -0.5 * (f64::from(n - 1) * d * (2.0 * std::f64::consts::PI).ln() + trace);
        let ln_f = self.ln_mean_scale(total)
            + self.ln_mean_shape(self.quadratic_of_mean(squares, total))
            + self.between_own_and_common(own, common)
            + 0.5 * d * (ln_scales - total.ln());
        self.prior.power * ln_f
    }
}

/// What brings an embedding to a length; one of nothing but zeros has none.
pub(crate) fn factor_to(length: Option<f64>, embedding: &[f32]) -> f64 {
    let norm = norm_of(embedding);
    match length {
        Some(length) if norm > 0.0 => length / norm,
        _ => 1.0,
    }
}

/// |x|.
pub(super) fn norm_of(embedding: &[f32]) -> f64 {
    embedding.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt()
}

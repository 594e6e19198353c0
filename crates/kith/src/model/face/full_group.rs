//! The faces of one identity under the full model: their sums, what the next one would weigh, and bounds of
//! that.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::after::{After, Next, Others};
use super::bound::Coefficients;
use super::full::{Full, MOST_LEVELS, Whole};
use super::scales::{PerScale, Scales};
use super::scatter::Scatter;
use super::{Centred, Weight};
use crate::math::ln_sum_exp;
use crate::math::vectors::dot;
use crate::random::Rng;

/// The faces of one identity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FullGroup {
    /// sum lambda y, and its square per level.
    sum: Vec<f64>,
    squares: Vec<f64>,
    /// L, and sum ln lambda.
    total: f64,
    ln_scales: f64,
    /// sum lambda |y|^2.
    weighted: f64,
    scatter: Scatter,
    after: After,
}

impl FullGroup {
    pub(super) fn new(model: &Full) -> Self {
        let scatter = Scatter::new(model.n_axes(), model.scale());
        let after = After::default();
        let (sum, squares) = (vec![0.0; model.n_axes()], vec![0.0; model.levels.len()]);
        let mut group = Self { sum, squares, total: 0.0, ln_scales: 0.0, weighted: 0.0, scatter, after };
        group.look_ahead(model);
        group
    }

    pub(super) fn observe(&mut self, model: &Full, x: &Centred) {
        self.scatter.observe(&x.portrait, &x.values, x.lambda(model), &self.sum);
        self.add(x, x.lambda(model));
        self.look_ahead(model);
    }

    /// As [`FullGroup::observe`] where nobody needs bounds before the group is finished.
    pub(super) fn draft(&mut self, model: &Full, x: &Centred) {
        self.scatter.draft();
        self.observe(model, x);
    }

    pub(super) fn finish(&mut self) {
        self.scatter.finish();
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
        self.weighted += lambda * x.square;
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
        self.weighted -= lambda * x.square;
        self.scatter.forget(&x.portrait, &x.values, lambda, &self.sum);
        self.look_ahead(model);
    }

    /// power * ln (f(faces, y) / f(faces)), y's scale summed over.
    pub(super) fn ln_predictive(&self, model: &Full, x: &Centred) -> f64 {
        ln_sum_exp(&self.terms_with_prior(model, x))
    }

    /// The same, or an upper bound of it that is below `floor`.
    pub(super) fn ln_predictive_above(&self, model: &Full, x: &Centred, floor: f64) -> Weight {
        let products = self.products(model, &x.values);
        let next = |q: f64| Next { n: self.n_faces(), squares: &self.squares, products: &products, x, q };
        if self.n_faces() < 2 {
            return Weight::Exactly(self.ln_predictive(model, x));
        }
        let without = self.after.without_own(model, &next(0.0));
        let at_most = |q: f64| self.after.ln_sum_at_most(model, &next(q), &without);
        let is_enough = |q: f64| at_most(q) < floor;
        match self.scatter.quadratic_unless(&x.values, x.square, &self.sum, is_enough) {
            Ok(q) => Weight::Exactly(ln_sum_exp(&self.after.with_own(model, &next(q), &without))),
            Err(least) => Weight::AtMost(at_most(least)),
        }
    }

    /// power * ln (f(faces, y) / f(faces)) at y's own scale.
    pub(super) fn ln_joining(&self, model: &Full, x: &Centred) -> f64 {
        let products = self.products(model, &x.values);
        let q = self.quadratic(model, &products, x);
        let scale = x.scale.into();
        let next = Next { n: self.n_faces(), squares: &self.squares, products: &products, x, q };
        model.prior.power * self.after.term(model, scale, &next)
    }

    /// Per scale of a face of the group, as if it were not there yet: ln of the scale's prior and of the
    /// predictive. Nothing is changed: what the other faces' statistics are follows from all of them and from
    /// the face by `ybar - y = (L' / L) (ybar' - y)` and by the formulas of a rank-one update.
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
        self.weighted += (to - from) * x.square;
        self.look_ahead(model);
    }

    /// y's scale given that it joins.
    pub(super) fn draw_scale(&self, model: &Full, x: &Centred, rng: &mut Rng) -> u8 {
        rng.categorical_ln(&mut self.terms_with_prior(model, x)) as u8
    }

    /// The coefficients of an upper bound of [`FullGroup::ln_predictive`], and the sum of the faces.
    ///
    /// The mean after the face has joined is (1 - t) ybar + t y, t = lambda / (L + lambda), and its quadratic
    /// form at any scale is at least rho times that with the widths of the middle one, which is
    /// (1 - t)^2 a + 2 t (1 - t) m + t^2 c with a = ybar^T V ybar, m = ybar^T V y, c = y^T V y.
    pub(super) fn bound(&self, model: &Full, safe: f64, out: &mut Coefficients) -> &[f64] {
        let After { gain, ln_constant, .. } = &self.after;
        let Scales { n, lambda, ln_p } = &model.scales;
        let power = model.prior.power;
        // Where there are only odd looks, residuals count nothing: all gains are zero.
        let total = if self.n_faces() == 0 { 1.0 } else { self.total };
        out.pull = 2.0 / total;
        out.square = safe * self.squares.iter().sum::<f64>() / (total * total);
        let own = 0.5 * (model.prior.freedom + f64::from(self.n_faces()));
        out.half = power * model.between_own_and_common(own, 0.0);
        // (y - ybar)^T (P I + S)^-1 (y - ybar) is at least |y - ybar|^2 over the largest eigenvalue of P I +
        // S.
        let widest = model.scale() + self.scatter.widest(self.trace());
        let width = |psi: f64, lambda: f64| psi + 1.0 / (self.total + lambda);
        let precision = |psi: f64| 1.0 / width(psi, 1.0);
        let levels = model.levels.iter().zip(&self.squares);
        let of_mean: f64 = levels.map(|((_, psi), square)| safe * square * precision(*psi)).sum();
        for scale in 0..*n {
            // The sum over scales is at most their number times the largest term.
            out.constants.push((*n as f64).ln() + ln_p[scale] + power * ln_constant[scale]);
            out.gains.push(gain[scale] / widest);
            out.commons.push(power * model.between_own_and_common(0.0, 0.5 * gain[scale]));
            let narrower = |(_, psi): &(Range<usize>, f64)| width(*psi, 1.0) / width(*psi, lambda[scale]);
            let rho = model.levels.iter().map(narrower).fold(f64::INFINITY, f64::min) / model.kappa();
            let t = lambda[scale] / (self.total + lambda[scale]);
            out.of_sums.push(rho * (1.0 - t).powi(2) * of_mean / (total * total));
            out.of_products.push(rho * 2.0 * t * (1.0 - t));
            out.of_squares.push(rho * t * t);
        }
        out.level_products.extend(model.levels.iter().map(|(_, psi)| precision(*psi) / total));
        out.level_squares.extend(model.levels.iter().map(|(_, psi)| precision(*psi)));
        &self.sum
    }

    /// power * ln f + c.
    pub(super) fn ln_marginal(&self, model: &Full) -> f64 {
        if self.n_faces() == 0 {
            return 0.0;
        }
        let Self { squares, total, ln_scales, weighted, .. } = self;
        let (n, ln_det) = (self.n_faces(), self.scatter.ln_det());
        model.ln_marginal(&Whole {
            n,
            total: *total,
            squares,
            ln_scales: *ln_scales,
            weighted: *weighted,
            ln_det,
        })
    }

    /// An upper bound of what [`FullGroup::ln_marginal`] would be with another's faces too, from D^2 numbers:
    /// S is at least this one's and what the distance of the two means adds to it.
    pub(super) fn ln_marginal_with(&self, model: &Full, other: &Self) -> f64 {
        if self.n_faces() == 0 || other.n_faces() == 0 {
            return f64::INFINITY;
        }
        let mean: Vec<f64> = other.sum.iter().map(|sum| sum / other.total).collect();
        let products = self.products(model, &mean);
        let square = other.squares.iter().sum::<f64>() / (other.total * other.total);
        let q = match self.n_faces() {
            1 => distance_to_mean(self, &products, square) / model.scale(),
            _ => self.scatter.quadratic(&mean, square, &self.sum),
        };
        let apart = self.total * other.total / (self.total + other.total);
        let ln_marginal = self.ln_of_both(model, other, self.scatter.ln_det() + (apart * q).ln_1p());
        // More than rounding can have taken off it.
        ln_marginal + 1e-6 + 1e-9 * ln_marginal.abs()
    }

    /// What [`FullGroup::ln_marginal`] would be with another's faces too.
    pub(super) fn ln_marginal_together(&self, model: &Full, other: &Self) -> f64 {
        match (self.n_faces(), other.n_faces()) {
            (_, 0) => self.ln_marginal(model),
            (0, _) => other.ln_marginal(model),
            _ => {
                self.ln_of_both(model, other, self.scatter.ln_det_with(&self.sum, &other.scatter, &other.sum))
            }
        }
    }

    /// power * ln f + c of both groups' faces, given their ln |I + S/P|.
    fn ln_of_both(&self, model: &Full, other: &Self, ln_det: f64) -> f64 {
        let sum: Vec<f64> = self.sum.iter().zip(&other.sum).map(|(a, b)| a + b).collect();
        let mut squares = Vec::new();
        model.squares(&sum, &mut squares);
        model.ln_marginal(&Whole {
            n: self.n_faces() + other.n_faces(),
            total: self.total + other.total,
            squares: &squares,
            ln_scales: self.ln_scales + other.ln_scales,
            weighted: self.weighted + other.weighted,
            ln_det,
        })
    }

    /// The sum of S's eigenvalues.
    fn trace(&self) -> f64 {
        if self.n_faces() == 0 { 0.0 } else { self.weighted - self.squares.iter().sum::<f64>() / self.total }
    }

    /// ybar, and the variance 1/L that it has because the faces are few.
    pub(super) fn mean(&self) -> (Vec<f64>, f64) {
        (self.sum.iter().map(|sum| sum / self.total).collect(), 1.0 / self.total)
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
            1 => distance_to_mean(self, products, x.square) / model.scale(),
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

/// |y - ybar|^2, from y's products with the sum per level and its square.
fn distance_to_mean(group: &FullGroup, products: &[f64; MOST_LEVELS], square: f64) -> f64 {
    let (product, of_sum) = (products.iter().sum::<f64>(), group.squares.iter().sum::<f64>());
    (square - 2.0 * product / group.total + of_sum / (group.total * group.total)).max(0.0)
}

//! ln p(everything), slow and plain: the yardstick of the kernels, with which it shares no formula in code.

use std::f64::consts::PI;

use super::{Name, State};
use crate::data::{Dataset, Statement};
use crate::ids::{FaceId, IdentityId};
use crate::math::{ln_beta_density, ln_gamma};
use crate::model::face::{FaceKind, ODD, factor_to};
use crate::model::{ContextMode, ErrorRate, FaceUpdate, FullPrior, Isotropic, NameUpdate};
use crate::target::Target;

impl State {
    /// ln of the joint density of all latent variables and the data, with omega, pi_c and (collapsed) theta*
    /// integrated out. With names in the paper's form there is no joint; its factors are multiplied as if.
    pub fn ln_joint_plain(&self, target: &Target) -> f64 {
        self.ln_contexts(target)
            + self.ln_identities(target)
            + self.ln_repeats(target)
            + self.ln_faces(target)
            + self.ln_names(target)
            + self.ln_statements(target)
    }

    /// p(c*), omega integrated out (§2.1), and gamma_0's prior.
    fn ln_contexts(&self, target: &Target) -> f64 {
        let gamma_0 = self.weights.context_concentration;
        let n_frames = target.data().n_frames() as f64;
        let counts = || self.seating.contexts().map(|c| f64::from(self.seating.n_frames_in(c)));
        let ln_total = ln_gamma(gamma_0) - ln_gamma(gamma_0 + n_frames);
        let ln_prior = target.model().context.concentration.ln_density(gamma_0);
        match target.model().context.mode {
            ContextMode::None => ln_prior,
            ContextMode::Given | ContextMode::Latent { .. } => {
                let share = gamma_0 / self.seating.n_contexts() as f64;
                ln_prior + ln_total + counts().map(|m| ln_gamma(share + m) - ln_gamma(share)).sum::<f64>()
            }
            ContextMode::Unbounded => {
                let occupied = counts().filter(|&m| m > 0.0);
                ln_prior + ln_total + occupied.map(|m| gamma_0.ln() + ln_gamma(m)).sum::<f64>()
            }
        }
    }

    /// p(z, pi_0 | c*) of MODEL.md §3, and the priors of alpha_0 and alpha_c.
    fn ln_identities(&self, target: &Target) -> f64 {
        let (model, data) = target.parts();
        let alpha_0 = self.weights.global_concentration;
        let mut ln_p = model.identity.global_concentration.ln_density(alpha_0);
        ln_p += (alpha_0 - 1.0) * self.weights.ln_unseen;
        for &identity in self.seating.identities() {
            ln_p += alpha_0.ln() - self.weights.ln_of(identity);
        }
        for context in self.seating.contexts() {
            let alpha_c = self.weights.local_concentration(context);
            for &identity in self.seating.identities() {
                let n = members(self, data, identity).filter(|&f| self.context_of_face(f, data) == context);
                // (alpha_c pi_0i)^(n), factor by factor, the first in logarithms because it may underflow.
                let ln_share = alpha_c.ln() + self.weights.ln_of(identity);
                for (k, _) in n.enumerate() {
                    ln_p += if k == 0 { ln_share } else { (ln_share.exp() + k as f64).ln() };
                }
            }
            let n = data.faces().filter(|&f| self.context_of_face(f, data) == context).count() as f64;
            ln_p -= ln_gamma(alpha_c + n) - ln_gamma(alpha_c);
            let prior =
                model.identity.local_concentration.of(data.contexts().get(context.index()).map(|c| &**c));
            if context.index() == 0 || !model.identity.local_concentration.is_shared() {
                ln_p += prior.ln_density(alpha_c);
            }
        }
        ln_p
    }

    /// repeat^(pairs of one frame with one identity), MODEL.md §7.
    fn ln_repeats(&self, target: &Target) -> f64 {
        let mut pairs = 0;
        for frame in target.data().frames() {
            let faces = target.data().faces_in(frame);
            for (k, &a) in faces.iter().enumerate() {
                let same = |b: &FaceId| self.seating.identity_of(*b) == self.seating.identity_of(a);
                pairs += faces[..k].iter().filter(|b| same(b)).count();
            }
        }
        if pairs == 0 { 0.0 } else { pairs as f64 * target.model().repeat.ln() }
    }

    /// p(what was said | z, y*), MODEL.md §7: 1 - e where it is true, e where it is not,
    /// e that of its kind.
    fn ln_statements(&self, target: &Target) -> f64 {
        let mut ln_p = 0.0;
        for &statement in target.data().evidence().statements() {
            let person = |face: FaceId| self.seating.identity_of(face).expect("every face is seated");
            let is_true = match statement {
                Statement::Same(a, b) => person(a) == person(b),
                Statement::Different(a, b) => person(a) != person(b),
                Statement::Not(face, label) => self.names.of(person(face)) != Name::Known(label),
            };
            let e = target.model().evidence.error_rate(statement);
            ln_p += if is_true { (1.0 - e).ln() } else { e.ln() };
        }
        ln_p
    }

    /// p(X | z), theta* integrated out, or p(X, theta* | z).
    fn ln_faces(&self, target: &Target) -> f64 {
        let data = target.data();
        let identities = self.seating.identities().iter();
        let prior = match &target.model().face.kind {
            FaceKind::Isotropic(prior) => prior,
            FaceKind::Full(full) => {
                let faces = |identity| shown(self, data, identity);
                let of_faces = identities.map(|&identity| self.ln_full(full.prior(), data, &faces(identity)));
                let of_faces: f64 = of_faces.sum();
                let usual = data.faces().filter(|&face| self.faces.scale(face) != ODD);
                let of_scales = usual.map(|face| ln_scale(full.prior().spread, self.faces.scale(face)));
                return of_faces + of_scales.sum::<f64>() + self.ln_odd(target);
            }
        };
        let of_identities: f64 = identities
            .map(|&identity| match target.model().face.update {
                FaceUpdate::Collapsed => {
                    let faces = shown(self, data, identity);
                    if faces.is_empty() { 0.0 } else { ln_marginal(prior, data, &faces) }
                }
                FaceUpdate::Explicit => {
                    let theta = self.faces.theta(identity).expect("theta* is kept");
                    let each = members(self, data, identity).map(|face| {
                        let x = data.embedding(face).iter().zip(&prior.mean).zip(&theta.mean);
                        let square: f64 = x.map(|((&x, m_0), mu)| (f64::from(x) - m_0 - mu).powi(2)).sum();
                        let ln_scale = data.dimension() as f64 * (2.0 * PI * theta.variance).ln();
                        -0.5 * (ln_scale + square / theta.variance)
                    });
                    theta.ln_prior(prior) + each.sum::<f64>()
                }
            })
            .sum();
        of_identities + self.ln_odd(target)
    }

    /// rho g for every face with odd looks, 1 - rho for every other that might have them (MODEL.md §7).
    fn ln_odd(&self, target: &Target) -> f64 {
        let mut ln_p = 0.0;
        for face in target.data().faces() {
            let Some(odd) = target.odd(face) else { continue };
            let rho = odd.ln_p.exp();
            ln_p += if self.faces.scale(face) == ODD { rho.ln() + odd.ln_density } else { (1.0 - rho).ln() };
        }
        ln_p
    }

    /// p(H) p(y* | H) p(y | y*, H) of MODEL.md §5, and the priors of lambda and epsilon.
    fn ln_names(&self, target: &Target) -> f64 {
        let model = target.model();
        let (lambda, epsilon) = (self.names.concentration, self.names.error_rate);
        let h = |name| self.names.ln_weight(name);
        let mut ln_p = model.name.concentration.ln_density(lambda);
        if let ErrorRate::Learnt { alpha, beta } = model.name.error_rate {
            ln_p += ln_beta_density(epsilon, alpha, beta);
        }
        match model.name.update {
            NameUpdate::Exact => {
                ln_p += ln_gamma(lambda);
                for name in self.names.all() {
                    let ln_shape = lambda.ln() + self.names.ln_base(name);
                    // Gamma(a) = Gamma(1 + a) / a, so that a tiny a keeps its digits.
                    ln_p += (ln_shape.exp() - 1.0) * h(name) + ln_shape - ln_gamma(1.0 + ln_shape.exp());
                }
                for &identity in self.seating.identities() {
                    ln_p += h(self.names.of(identity));
                }
            }
            NameUpdate::Paper => {
                // The Polya urn of (14), seat after seat.
                ln_p += ln_gamma(lambda) - ln_gamma(lambda + self.seating.n_identities() as f64);
                for name in self.names.all() {
                    let ln_share = lambda.ln() + self.names.ln_base(name);
                    for k in 0..self.names.n_named(name) {
                        ln_p += if k == 0 { ln_share } else { (ln_share.exp() + f64::from(k)).ln() };
                    }
                }
            }
        }
        for face in target.data().faces() {
            let Some(label) = target.data().label(face) else { continue };
            let epsilon = if label.is_word { model.evidence.is } else { epsilon };
            let given = label.name;
            let identity = self.seating.identity_of(face).expect("every face is seated");
            ln_p += match self.names.of(identity) {
                Name::Known(label) if label == given => (1.0 - epsilon).ln(),
                Name::Unknown => epsilon.ln() + h(Name::Known(given)),
                own => {
                    let others = self.names.all().filter(|&name| name != own);
                    let rest: f64 = others.map(|name| h(name).exp()).sum();
                    epsilon.ln() + h(Name::Known(given)) - rest.ln()
                }
            };
        }
        ln_p
    }
}

fn members<'a>(
    state: &'a State,
    data: &'a Dataset,
    identity: IdentityId,
) -> impl Iterator<Item = FaceId> + 'a {
    data.faces().filter(move |&face| state.seating.identity_of(face) == Some(identity))
}

/// The faces that show what the identity looks like.
fn shown(state: &State, data: &Dataset, identity: IdentityId) -> Vec<FaceId> {
    members(state, data, identity).filter(|&face| state.faces.scale(face) != ODD).collect()
}

/// The Gaussian-inverse gamma marginal of MODEL.md §4, from the mean and the scatter.
fn ln_marginal(prior: &Isotropic, data: &Dataset, faces: &[FaceId]) -> f64 {
    let (n, dimension) = (faces.len() as f64, data.dimension());
    let mut scatter = 0.0;
    let mut offset = 0.0;
    for d in 0..dimension {
        let values = faces.iter().map(|&face| f64::from(data.embedding(face)[d]));
        let mean = values.clone().sum::<f64>() / n;
        scatter += values.map(|x| (x - mean).powi(2)).sum::<f64>();
        offset += (mean - prior.mean[d]).powi(2);
    }
    let kappa = prior.kappa + n;
    let a = prior.shape + 0.5 * n * dimension as f64;
    let b = prior.rate + 0.5 * scatter + prior.kappa * n * offset / (2.0 * kappa);
    ln_gamma(a) - ln_gamma(prior.shape) + prior.shape * prior.rate.ln() - a * b.ln()
        + 0.5 * dimension as f64 * (prior.kappa.ln() - kappa.ln() - n * (2.0 * PI).ln())
}

/// The scale of a grid point of the prior over ln lambda (MODEL.md §4), k = -3..=4 standing at 0..=7.
fn lambda(spread: f64, scale: u8) -> f64 {
    if spread == 0.0 { 1.0 } else { (-spread * (2.0f64 / 3.0).sqrt() * (f64::from(scale) - 3.0)).exp() }
}

/// ln of its prior.
fn ln_scale(spread: f64, scale: u8) -> f64 {
    let weight = |k: f64| (-k * k / 3.0).exp();
    let total: f64 = (-3..=4).map(|k| weight(f64::from(k))).sum();
    if spread == 0.0 { 0.0 } else { (weight(f64::from(scale) - 3.0) / total).ln() }
}

/// The density of an identity's mean: Gaussian, or Student's t where the tail has degrees of freedom.
fn ln_density_of_mean(mean: &[f64], variances: &[f64], tail: f64) -> f64 {
    let d = mean.len() as f64;
    let ln_widths: f64 = variances.iter().map(|variance| variance.ln()).sum();
    let q: f64 = mean.iter().zip(variances).map(|(mean, variance)| mean * mean / variance).sum();
    if tail.is_infinite() {
        return -0.5 * (d * (2.0 * PI).ln() + ln_widths + q);
    }
    ln_gamma(0.5 * (tail + d))
        - ln_gamma(0.5 * tail)
        - 0.5 * (d * (PI * tail).ln() + ln_widths)
        - 0.5 * (tail + d) * (1.0 + q / tail).ln()
}

impl State {
    /// `power * ln f` of the full-covariance model as it stands in its documentation: moments face by face,
    /// the determinant by elimination, the residuals' t as a ratio of multivariate Gamma functions.
    fn ln_full(&self, prior: &FullPrior, data: &Dataset, faces: &[FaceId]) -> f64 {
        if faces.is_empty() {
            return 0.0;
        }
        let (n, d) = (faces.len() as f64, prior.between.len());
        let lambdas: Vec<f64> = faces.iter().map(|&f| lambda(prior.spread, self.faces.scale(f))).collect();
        let total: f64 = lambdas.iter().sum();
        // A face lies where `f32` says.
        let axis = |face: FaceId, row: &[f64]| -> f64 {
            let factor = factor_to(prior.length, data.embedding(face));
            let x = data.embedding(face).iter().zip(&prior.mean).zip(row);
            let y: f64 = x.map(|((&x, m), a)| a * (factor * f64::from(x) - m)).sum();
            f64::from(y as f32)
        };
        let rows: Vec<&[f64]> = prior.transform.chunks_exact(data.dimension()).collect();
        let ys: Vec<Vec<f64>> =
            faces.iter().map(|&f| rows.iter().map(|row| axis(f, row)).collect()).collect();
        let weighted = || ys.iter().zip(&lambdas);
        let mean: Vec<f64> = (0..d).map(|k| weighted().map(|(y, l)| l * y[k]).sum::<f64>() / total).collect();
        let variances: Vec<f64> = prior.between.iter().map(|psi| psi + 1.0 / total).collect();
        let mut ln_f = ln_density_of_mean(&mean, &variances, prior.tail);
        let scale = prior.freedom - d as f64 - 1.0;
        let mut matrix: Vec<Vec<f64>> =
            (0..d).map(|r| (0..d).map(|c| if r == c { 1.0 } else { 0.0 }).collect()).collect();
        for (y, lambda) in weighted() {
            for r in 0..d {
                for c in 0..d {
                    matrix[r][c] += lambda * (y[r] - mean[r]) * (y[c] - mean[c]) / scale;
                }
            }
        }
        let mut ln_det = 0.0;
        for k in 0..d {
            ln_det += matrix[k][k].ln();
            for r in k + 1..d {
                let factor = matrix[r][k] / matrix[k][k];
                let pivot = matrix[k].clone();
                matrix[r].iter_mut().zip(pivot).for_each(|(cell, above)| *cell -= factor * above);
            }
        }
        let ln_multigamma = |a: f64| (0..d).map(|k| ln_gamma(a - 0.5 * k as f64)).sum::<f64>();
        let own = ln_multigamma(0.5 * (prior.freedom + n - 1.0))
            - ln_multigamma(0.5 * prior.freedom)
            - 0.5 * (n - 1.0) * d as f64 * (PI * scale).ln()
            - 0.5 * (prior.freedom + n - 1.0) * ln_det;
        let residual = |(y, lambda): (&Vec<f64>, &f64)| -> f64 {
            lambda * y.iter().zip(&mean).map(|(y, mean)| (y - mean).powi(2)).sum::<f64>()
        };
        let trace: f64 = weighted().map(residual).sum();
        let common = -0.5 * ((n - 1.0) * d as f64 * (2.0 * PI).ln() + trace);
        ln_f += (1.0 - prior.common) * own + prior.common * common;
        let ln_lambdas: f64 = lambdas.iter().map(|lambda| lambda.ln()).sum();
        prior.lookalikes + prior.power * (ln_f + 0.5 * d as f64 * (ln_lambdas - total.ln()))
    }
}

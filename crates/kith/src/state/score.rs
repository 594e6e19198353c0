//! ln p(everything) from the statistics a state keeps: what chains report. [`State::ln_joint_plain`] is its
//! oracle.

use super::State;
use crate::data::Dataset;
use crate::math::{ln_beta_density, ln_gamma, ln_rising};
use crate::model::face::{COPY, ODD};
use crate::model::{ContextMode, ErrorRate, FaceUpdate, Model, NameUpdate};
use crate::target::Target;

impl State {
    /// ln of the joint density of all latent variables and the data.
    pub fn ln_joint(&self, target: &Target) -> f64 {
        self.ln_p_contexts(target)
            + self.ln_p_identities(target)
            + self.n_repeats(target.data()) as f64 * target.model().repeat.ln()
            + self.ln_p_faces(target)
            + self.ln_p_names(target.model())
            + self.ln_p_statements(target)
    }

    fn ln_p_contexts(&self, target: &Target) -> f64 {
        let gamma_0 = self.weights.context_concentration;
        let ln_hyper = target.model().context.concentration.ln_density(gamma_0);
        let ln_share = match target.model().context.mode {
            ContextMode::None => return ln_hyper,
            ContextMode::Unbounded => None,
            _ => Some((gamma_0 / self.seating.n_contexts() as f64).ln()),
        };
        let of_context = |n: f64| match ln_share {
            Some(ln_share) => ln_rising(ln_share, n),
            None if n > 0.0 => gamma_0.ln() + ln_gamma(n),
            None => 0.0,
        };
        let counts = self.seating.contexts().map(|c| f64::from(self.seating.n_frames_in(c)));
        ln_hyper + counts.map(of_context).sum::<f64>()
            - ln_rising(gamma_0.ln(), target.data().n_frames() as f64)
    }

    fn ln_p_identities(&self, target: &Target) -> f64 {
        let alpha_0 = self.weights.global_concentration;
        let prior = &target.model().identity;
        let mut ln_p = prior.global_concentration.ln_density(alpha_0);
        ln_p += (alpha_0 - 1.0) * self.weights.ln_unseen;
        for &identity in self.seating.identities() {
            ln_p += alpha_0.ln() - self.weights.ln_of(identity);
            for (context, n) in self.seating.per_context(identity).iter() {
                let ln_share = self.weights.local_concentration(context).ln() + self.weights.ln_of(identity);
                ln_p += ln_rising(ln_share, f64::from(n));
            }
        }
        for context in self.seating.contexts() {
            let ln_alpha_c = self.weights.local_concentration(context).ln();
            ln_p -= ln_rising(ln_alpha_c, f64::from(self.seating.n_in(context)));
            if context.index() == 0 || !prior.local_concentration.is_shared() {
                let name = target.data().contexts().get(context.index()).map(String::as_str);
                ln_p += prior.local_concentration.of(name).ln_density(ln_alpha_c.exp());
            }
        }
        ln_p
    }

    /// How many pairs of faces of one frame have the same identity.
    pub fn n_repeats(&self, data: &Dataset) -> usize {
        let mut seen = Vec::new();
        let mut pairs = 0;
        for frame in data.frames().filter(|&frame| data.faces_in(frame).len() > 1) {
            seen.clear();
            for &face in data.faces_in(frame) {
                let identity = self.seating.identity_of(face);
                pairs += seen.iter().filter(|&&other| other == identity).count();
                seen.push(identity);
            }
        }
        pairs
    }

    fn ln_p_faces(&self, target: &Target) -> f64 {
        let model = target.model();
        let identities = self.seating.identities().iter();
        if model.face.update == FaceUpdate::Collapsed {
            let ln_scale = |face| match (self.faces.scale(face), target.odd(face)) {
                (COPY, _) => 0.0,
                (ODD, odd) => odd.map_or(f64::NEG_INFINITY, |odd| odd.ln_p + odd.ln_density),
                (scale, odd) => model.face.ln_scale(scale) + odd.map_or(0.0, |odd| odd.ln_usual),
            };
            let ln_scales: f64 = target.data().faces().map(ln_scale).sum();
            return ln_scales + identities.map(|&i| model.face.ln_marginal(self.faces.group(i))).sum::<f64>();
        }
        let theta = |identity| self.faces.theta(identity).expect("theta* is kept");
        let ln_thetas: f64 = identities.map(|&i| model.face.ln_prior(theta(i))).sum();
        let mut x = crate::model::face::Centred::default();
        let of_face = |face| {
            self.look(face, target, &mut x);
            let identity = self.seating.identity_of(face).expect("every face is seated");
            model.face.ln_likelihood(theta(identity), &x)
        };
        ln_thetas + target.data().faces().map(of_face).sum::<f64>()
    }

    fn ln_p_names(&self, model: &Model) -> f64 {
        let names = &self.names;
        let (lambda, epsilon) = (names.concentration, names.error_rate);
        let mut ln_p = model.name.concentration.ln_density(lambda);
        if let ErrorRate::Learnt { alpha, beta } = model.name.error_rate {
            ln_p += ln_beta_density(epsilon, alpha, beta);
        }
        for name in names.all() {
            let ln_shape = lambda.ln() + names.ln_base(name);
            let n = f64::from(names.n_named(name));
            ln_p += match model.name.update {
                NameUpdate::Exact => {
                    (ln_shape.exp() - 1.0 + n) * names.ln_weight(name) - ln_gamma(1.0 + ln_shape.exp())
                        + ln_shape
                }
                NameUpdate::Paper => ln_rising(ln_shape, n),
            };
        }
        ln_p += match model.name.update {
            NameUpdate::Exact => ln_gamma(lambda),
            NameUpdate::Paper => -ln_rising(lambda.ln(), self.seating.n_identities() as f64),
        };
        for &identity in self.seating.identities() {
            let name = names.of(identity);
            for &(given, times) in names.votes(identity) {
                ln_p += f64::from(times) * names.ln_likelihood(given, name);
            }
        }
        ln_p
    }
}

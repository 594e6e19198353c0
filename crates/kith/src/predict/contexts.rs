//! The contexts a new frame may be in (MODEL.md §2, §6), and how many strangers each expects.

use super::new_frame::NewFrame;
use super::posterior::Pooled;
use super::seat_weights::Seats;
use crate::model::ContextMode;

/// How a context is called in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ContextLabel {
    /// A context of the draw, or the first free number for one without frames.
    Number(u32),
    /// A given name that training never saw.
    Unseen,
}

/// A context a frame may be in: its label, ln of its prior, and which of the draw's it is.
pub(super) struct Candidate {
    pub label: ContextLabel,
    pub ln_prior: f64,
    pub context: Option<usize>,
    pub concentration: f64,
    /// ln of how much more often than expected a face is somebody seen, and somebody never seen (deviation
    /// D11).
    pub ln_seen: f64,
    pub ln_stranger: f64,
}

impl Candidate {
    /// A context with as many strangers as it expects.
    fn new(label: ContextLabel, ln_prior: f64, context: Option<usize>, concentration: f64) -> Self {
        Self { label, ln_prior, context, concentration, ln_seen: 0.0, ln_stranger: 0.0 }
    }

    /// A context of a draw that is not in question.
    pub fn of_context(context: usize, draw: &Pooled) -> Self {
        let concentration = draw.contexts[context].concentration;
        Self::new(ContextLabel::Number(context as u32), 0.0, Some(context), concentration)
    }

    /// The column of `Posterior::seats_and_weights` that holds seat weights of this context, and by what to
    /// multiply.
    pub fn column(&self) -> (usize, f64) {
        match self.context {
            Some(context) => (1 + context, self.ln_seen.exp()),
            None => (0, self.concentration * self.ln_seen.exp()),
        }
    }

    /// ln (N_c. + alpha_c).
    pub fn ln_denominator(&self, draw: &Pooled) -> f64 {
        Seats::of(draw, self).ln_denominator(1)
    }

    /// Expects this share of strangers; those seen keep their proportions.
    fn expect(&mut self, share: f64, draw: &Pooled) {
        let n_in = self.context.map_or(0.0, |context| f64::from(draw.contexts[context].n_in));
        let of_seen: f64 = draw.ln_weight.iter().map(|ln| ln.exp()).sum();
        let ln_all = (n_in + self.concentration).ln();
        self.ln_seen = (-share).ln_1p() - (n_in + self.concentration * of_seen).ln() + ln_all;
        self.ln_stranger = share.ln() - (self.concentration.ln() + draw.ln_unseen) + ln_all;
    }
}

impl NewFrame<'_> {
    /// The contexts that the frame may have, per draw.
    pub fn all_candidates(&self, shares: Option<&[f64]>) -> Vec<Vec<Candidate>> {
        let draws = self.posterior.draws.iter().enumerate();
        draws.map(|(number, draw)| self.candidates(draw, shares.map(|shares| shares[number]))).collect()
    }

    /// The contexts the frame may be in, each with this share of strangers. Where there is but one context
    /// for all, an occasion with a share of its own is a context without faces (deviation D11).
    pub fn candidates(&self, draw: &Pooled, share: Option<f64>) -> Vec<Candidate> {
        let mut candidates = self.contexts(draw);
        if let Some(share) = share {
            let is_alone = self.posterior.is_without_contexts();
            for candidate in &mut candidates {
                candidate.context = candidate.context.filter(|_| !is_alone);
                candidate.expect(share, draw);
            }
        }
        candidates
    }

    /// The contexts the frame may be in (MODEL.md §2, §6).
    fn contexts(&self, draw: &Pooled) -> Vec<Candidate> {
        let model = &self.posterior.model;
        let gamma_0 = draw.globals.context_concentration;
        let n_frames: u32 = draw.contexts.iter().map(|context| context.n_frames).sum();
        let known = |number: usize, label: u32, weight: f64| {
            let ln_prior = (weight / (gamma_0 + f64::from(n_frames))).ln();
            let concentration = draw.contexts[number].concentration;
            Candidate::new(ContextLabel::Number(label), ln_prior, Some(number), concentration)
        };
        let certain = |candidate| Candidate { ln_prior: 0.0, ..candidate };
        let share = gamma_0 / draw.contexts.len() as f64;
        let all = draw.contexts.iter().enumerate();
        match (model.context.mode, self.context) {
            _ if self.posterior.is_without_contexts() => vec![certain(known(0, 0, 1.0))],
            (ContextMode::None, _) => unreachable!("this mode has no contexts"),
            (ContextMode::Given, Some(name)) => {
                match self.posterior.contexts.iter().position(|context| context == name) {
                    // Its chance matters where draws differ in it: where a training frame's context is
                    // missing.
                    Some(number) => {
                        let n_frames = f64::from(draw.contexts[number].n_frames);
                        vec![known(number, number as u32, share + n_frames)]
                    }
                    None => {
                        let local = &model.identity.local_concentration;
                        let is_shared = local.is_shared();
                        let first = draw.contexts[0].concentration;
                        let concentration = if is_shared { first } else { local.of(Some(name)).start() };
                        let label = ContextLabel::Unseen;
                        vec![Candidate::new(label, 0.0, None, concentration)]
                    }
                }
            }
            (ContextMode::Given, None) => {
                all.map(|(c, context)| known(c, c as u32, share + f64::from(context.n_frames))).collect()
            }
            (ContextMode::Latent { .. }, _) => {
                let occupied = draw.contexts.iter().filter(|context| context.n_frames > 0).count();
                all.map(|(c, context)| known(c, c.min(occupied) as u32, share + f64::from(context.n_frames)))
                    .collect()
            }
            (ContextMode::Unbounded, _) => {
                let mut candidates: Vec<Candidate> =
                    all.map(|(c, context)| known(c, c as u32, f64::from(context.n_frames))).collect();
                let label = ContextLabel::Number(draw.contexts.len() as u32);
                let ln_prior = (gamma_0 / (gamma_0 + f64::from(n_frames))).ln();
                candidates.push(Candidate::new(label, ln_prior, None, draw.contexts[0].concentration));
                candidates
            }
        }
    }
}

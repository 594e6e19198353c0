//! A draw of the posterior: what is kept of a state, with labels that do not depend on the chain's slots.

use crate::ids::{ContextId, IdentityId, LabelId};
use crate::model::ContextMode;
use crate::state::{Name, State};
use crate::target::Target;

/// One kept draw. Identities, and contexts without a name, are numbered by first appearance.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw {
    /// Which chain.
    pub chain: u32,
    /// After how many sweeps.
    pub sweep: u64,
    /// `z_n` per face.
    pub identities: Vec<u32>,
    /// The number of each face's scale; none where faces have no scales.
    pub scales: Vec<u8>,
    /// `c*_m` per frame.
    pub contexts: Vec<u32>,
    /// `y*_i` per identity; `None` is unknown.
    pub names: Vec<Option<LabelId>>,
    /// `pi_0i` per identity.
    pub weights: Vec<f64>,
    /// `pi_0'`.
    pub unseen: f64,
    /// ln of the joint density.
    pub ln_joint: f64,
    /// alpha_0.
    pub global_concentration: f64,
    /// alpha_c per context; contexts without frames come last.
    pub local_concentration: Vec<f64>,
    /// gamma_0.
    pub context_concentration: f64,
    /// H over the known names, then unknown.
    pub name_weights: Vec<f64>,
    /// lambda.
    pub name_concentration: f64,
    /// epsilon.
    pub error_rate: f64,
}

impl Draw {
    pub(super) fn of(state: &State, chain: u32, sweep: u64, target: &Target) -> Self {
        let (model, data) = target.parts();
        let (seating, weights, names) = (state.seating(), state.weights(), state.names());
        let mut order = FirstAppearance::new(seating.n_slots());
        let identities = data
            .faces()
            .map(|face| order.number(seating.identity_of(face).expect("every face is seated").index()))
            .collect();
        let slots: Vec<IdentityId> = order.seen.iter().map(|&slot| IdentityId::new(slot)).collect();

        let mut order = FirstAppearance::new(seating.n_contexts());
        if model.context.mode == ContextMode::Given {
            // Named contexts keep the dataset's numbers.
            order.number_all();
        }
        let contexts = data.frames().map(|frame| order.number(seating.context_of(frame).index())).collect();
        // Unbounded contexts without frames do not exist, but for the first before anything has been seen.
        if model.context.mode != ContextMode::Unbounded || order.seen.is_empty() {
            order.number_all();
        }
        let local = order.seen.iter().map(|&context| weights.local_concentration(ContextId::new(context)));
        Self {
            chain,
            sweep,
            identities,
            scales: match model.face.n_scales() {
                1 => Vec::new(),
                _ => data.faces().map(|face| state.faces().scale(face)).collect(),
            },
            contexts,
            names: slots
                .iter()
                .map(|&slot| match names.of(slot) {
                    Name::Known(label) => Some(label),
                    Name::Unknown => None,
                })
                .collect(),
            weights: slots.iter().map(|&slot| weights.ln_of(slot).exp()).collect(),
            unseen: weights.ln_unseen().exp(),
            ln_joint: state.ln_joint(target),
            global_concentration: weights.global_concentration(),
            local_concentration: local.collect(),
            context_concentration: weights.context_concentration(),
            name_weights: names.all().map(|name| names.ln_weight(name).exp()).collect(),
            name_concentration: names.concentration(),
            error_rate: names.error_rate(),
        }
    }

    /// I.
    pub fn n_identities(&self) -> usize {
        self.weights.len()
    }
}

/// Numbers slots in the order in which they are first met.
struct FirstAppearance {
    number_of: Vec<Option<u32>>,
    seen: Vec<usize>,
}

impl FirstAppearance {
    fn new(n_slots: usize) -> Self {
        Self { number_of: vec![None; n_slots], seen: Vec::new() }
    }

    fn number_all(&mut self) {
        for slot in 0..self.number_of.len() {
            self.number(slot);
        }
    }

    fn number(&mut self, slot: usize) -> u32 {
        *self.number_of[slot].get_or_insert_with(|| {
            self.seen.push(slot);
            (self.seen.len() - 1) as u32
        })
    }
}

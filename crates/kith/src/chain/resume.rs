//! A chain goes on from what is remembered of it: seats, contexts, names and concentrations.
//!
//! What is not remembered is drawn from its conditional given what is (pi_0 and tables, H, theta*), and faces that have
//! arrived since are seated one by one: the chain is then where one of its own steps could have taken it. So it can go
//! on when faces have arrived or left, statements were made or taken back, or the face model was learnt anew.

use super::{Chain, Draw};
use crate::data::Dataset;
use crate::gibbs::{self, assignments::Scan};
use crate::ids::{ContextId, IdentityId, LabelId};
use crate::model::{ContextMode, Model};
use crate::random;
use crate::state::{Name, State};

/// What is remembered of a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// Which chain.
    pub chain: u32,
    /// After how many sweeps.
    pub sweep: u64,
    /// Per face of the dataset its identity, by any numbers below `names.len()`; `None` for a face that has arrived since.
    pub identities: Vec<Option<u32>>,
    /// Per identity its name.
    pub names: Vec<Option<LabelId>>,
    /// Per frame its context, where it is sampled; `None` for a frame that has arrived since.
    pub contexts: Vec<Option<u32>>,
    /// alpha_0.
    pub global_concentration: f64,
    /// alpha_c per context.
    pub local_concentration: Vec<f64>,
    /// gamma_0.
    pub context_concentration: f64,
    /// lambda.
    pub name_concentration: f64,
    /// epsilon.
    pub error_rate: f64,
}

impl Memory {
    /// All of a draw of this dataset.
    pub fn of(draw: &Draw) -> Self {
        Self {
            chain: draw.chain,
            sweep: draw.sweep,
            identities: draw.identities.iter().copied().map(Some).collect(),
            names: draw.names.clone(),
            contexts: draw.contexts.iter().copied().map(Some).collect(),
            global_concentration: draw.global_concentration,
            local_concentration: draw.local_concentration.clone(),
            context_concentration: draw.context_concentration,
            name_concentration: draw.name_concentration,
            error_rate: draw.error_rate,
        }
    }
}

impl Chain {
    /// Goes on from what is remembered. The model must have passed [`Model::check`]. The generator is that of the seed,
    /// the chain and the sweep, so that the same chain resumed twice makes the same draws.
    ///
    /// # Panics
    /// When the memory is not one of this dataset.
    pub fn resume(memory: &Memory, seed: u64, model: &Model, data: &Dataset) -> Self {
        assert_eq!(memory.identities.len(), data.n_faces(), "a memory has one entry per face");
        assert_eq!(memory.contexts.len(), data.n_frames(), "a memory has one entry per frame");
        let sown = seed ^ memory.sweep.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut rng = random::stream(sown, u64::from(memory.chain));
        let mut state = State::empty(model);
        state.weights.global_concentration = memory.global_concentration;
        state.weights.context_concentration = memory.context_concentration;
        state.names.concentration = memory.name_concentration;
        state.names.error_rate = memory.error_rate;
        state.extend(data, model, &mut rng);
        recall_contexts(memory, &mut state, model, data);
        let mut scan = Scan::new(model);
        let mut slots: Vec<Option<IdentityId>> = vec![None; memory.names.len()];
        for (face, remembered) in data.faces().zip(&memory.identities) {
            let Some(number) = remembered.map(|number| number as usize) else { continue };
            match slots[number] {
                Some(identity) => scan.seat_at(face, identity, &mut state, model, data),
                None => {
                    let identity = scan.seat_apart(face, &mut state, model, data, &mut rng);
                    let is_known = |label: &LabelId| label.index() < data.names().len();
                    let name = memory.names[number].filter(is_known).map_or(Name::Unknown, Name::Known);
                    state.names.set(identity, name);
                    slots[number] = Some(identity);
                }
            }
        }
        if state.seating.n_identities() > 0 {
            gibbs::names::redraw_weights(&mut state, model, &mut rng);
            gibbs::faces::step(&mut state, model, &mut rng);
            gibbs::weights::step(&mut state, model, data, &mut rng);
        }
        let mut chain = Self { state, rng, number: memory.chain, n_sweeps: memory.sweep };
        chain.extend(model, data);
        chain
    }
}

/// Puts frames back in the contexts that were sampled for them, and contexts' concentrations.
fn recall_contexts(memory: &Memory, state: &mut State, model: &Model, data: &Dataset) {
    for (frame, remembered) in data.frames().zip(&memory.contexts) {
        let is_given = model.context.mode == ContextMode::Given && data.given_context(frame).is_some();
        let Some(context) = remembered.map(|number| ContextId::new(number as usize)) else { continue };
        if model.context.mode == ContextMode::None || is_given {
            continue;
        }
        if model.context.mode == ContextMode::Unbounded {
            state.lay_out_contexts(context.index() + 1, data, model);
        }
        if context.index() < state.seating.n_contexts() {
            state.move_frame(frame, context, data);
        }
    }
    let local = &mut state.weights.local_concentration;
    if model.identity.local_concentration.is_shared() {
        let shared = memory.local_concentration.first().copied();
        shared.into_iter().for_each(|shared| local.fill(shared));
    } else {
        local.iter_mut().zip(&memory.local_concentration).for_each(|(alpha_c, &old)| *alpha_c = old);
    }
}

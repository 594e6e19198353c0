//! A chain goes on from what a draw of it remembers.
//!
//! pi_0 and H are then redrawn by their kernels and theta*, where it is kept, is drawn given its faces; faces
//! that have arrived since are seated one by one. The chain is then where one of its own steps could have
//! taken it. So it can go on when faces have arrived or left, statements were made or taken back, or the face
//! model was learnt anew.

use super::absorb::Attention;
use super::{Chain, Draw, Globals};
use crate::data::Dataset;
use crate::gibbs;
use crate::ids::{ContextId, FaceId, IdentityId, LabelId};
use crate::math::{ln_add_exp, ln_sum_exp};
use crate::model::ContextMode;
use crate::model::face::{COPY, ODD};
use crate::random;
use crate::state::{Name, Names, State};
use crate::target::Target;

/// What is remembered of a chain: a draw of which some faces, frames and names may have come since.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// Which chain.
    pub chain: u32,
    /// After how many sweeps.
    pub sweep: u64,
    /// Per face of the dataset its identity, by any numbers below `names.len()`; `None` for a face that has
    /// arrived since.
    pub identities: Vec<Option<u32>>,
    /// Per face the number of its scale; `None` for a face that has arrived since, and where faces have no
    /// scales.
    pub scales: Vec<Option<u8>>,
    /// Per frame its context, where it is sampled; `None` for a frame that has arrived since.
    pub contexts: Vec<Option<u32>>,
    /// Per identity its name.
    pub names: Vec<Option<LabelId>>,
    /// Per identity the one whose look it was; a chain that goes on finds them anew.
    pub people: Vec<u32>,
    /// The rest; the weight of a name that was given since is `None`.
    pub globals: Globals<Option<f64>>,
}

impl Memory {
    /// Everybody of a partition of the faces as likely as anybody else, and without a name.
    pub fn of_partition(partition: &[u32], data: &Dataset) -> Self {
        let n = partition.iter().max().map_or(0, |&last| last as usize + 1);
        let n_names = data.names().len();
        Self {
            chain: 0,
            sweep: 0,
            identities: partition.iter().copied().map(Some).collect(),
            scales: vec![None; data.n_faces()],
            contexts: vec![None; data.n_frames()],
            names: vec![None; n],
            people: Vec::new(),
            globals: Globals {
                weights: vec![1.0 / (n + 1) as f64; n],
                unseen: 1.0 / (n + 1) as f64,
                ln_joint: f64::NAN,
                global_concentration: 10.0,
                local_concentration: vec![10.0; data.contexts().len().max(1)],
                context_concentration: 1.0,
                name_weights: vec![Some(1.0 / (n_names + 1) as f64); n_names + 1],
                name_concentration: 1.0,
                error_rate: 0.05,
            },
        }
    }

    /// All of a draw of this dataset.
    pub fn of(draw: &Draw) -> Self {
        Self {
            chain: draw.chain,
            sweep: draw.sweep,
            identities: draw.identities.iter().copied().map(Some).collect(),
            scales: draw.scales.iter().copied().map(Some).collect(),
            contexts: draw.contexts.iter().copied().map(Some).collect(),
            names: draw.names.clone(),
            people: draw.people.clone(),
            globals: draw.globals.with_names(draw.globals.name_weights.iter().copied().map(Some).collect()),
        }
    }

    /// The draw, where nothing has come since.
    pub fn into_draw(self) -> Option<Draw> {
        let name_weights = self.globals.name_weights.iter().copied().collect::<Option<Vec<f64>>>()?;
        Some(Draw {
            chain: self.chain,
            sweep: self.sweep,
            identities: self.identities.into_iter().collect::<Option<_>>()?,
            scales: self.scales.into_iter().flatten().collect(),
            contexts: self.contexts.into_iter().collect::<Option<_>>()?,
            names: self.names,
            people: self.people,
            globals: self.globals.with_names(name_weights),
        })
    }
}

impl Chain {
    /// Goes on from what is remembered. The generator is that of the seed,
    /// the chain and the sweep, so that the same chain resumed twice makes the same draws.
    ///
    /// # Panics
    /// When the memory is not one of this dataset.
    pub fn resume(memory: &Memory, seed: u64, target: &Target) -> Self {
        let mut chain = Self::recall(memory, seed, target);
        let (state, rng) = (&mut chain.state, &mut chain.rng);
        state.weights.scale(-state.ln_total_weight());
        if state.seating.n_identities() > 0 {
            gibbs::names::redraw_weights(state, target, rng);
            gibbs::faces::step(state, target, rng);
            gibbs::weights::step(state, target, rng);
        }
        chain.extend(target);
        chain
    }

    /// Where it was, nothing drawn anew. Faces of which nothing is remembered have no seat yet, and pi_0 has
    /// the sum that is remembered of it.
    pub(crate) fn recall(memory: &Memory, seed: u64, target: &Target) -> Self {
        let (model, data) = target.parts();
        assert_eq!(memory.identities.len(), data.n_faces(), "a memory has one entry per face");
        assert_eq!(memory.contexts.len(), data.n_frames(), "a memory has one entry per frame");
        let sown = seed ^ memory.sweep.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut rng = random::stream(sown, u64::from(memory.chain));
        let mut state = State::empty(target);
        state.weights.global_concentration = memory.globals.global_concentration;
        state.weights.context_concentration = memory.globals.context_concentration;
        state.names.concentration = memory.globals.name_concentration;
        state.names.error_rate = memory.globals.error_rate;
        state.extend(target, &mut rng);
        recall_contexts(memory, &mut state, target);
        recall_name_weights(&memory.globals.name_weights, &mut state.names);
        let mut slots: Vec<Option<IdentityId>> = vec![None; memory.names.len()];
        let mut others: Vec<Vec<FaceId>> = vec![Vec::new(); slots.len()];
        for (face, remembered) in data.faces().zip(&memory.identities) {
            let scale = memory.scales.get(face.index()).copied().flatten();
            let is_scale = |&scale: &u8| match scale {
                ODD => target.odd(face).is_some(),
                // What was said of a face counts, and then its looks do.
                COPY => target.odd(face).is_none(),
                scale => usize::from(scale) < model.face.n_scales(),
            };
            scale.filter(is_scale).into_iter().for_each(|scale| state.faces.set_scale(face, scale));
            let Some(number) = remembered.map(|number| number as usize) else { continue };
            match slots[number] {
                Some(identity) => {
                    state.set_down(face, identity, data);
                    others[number].push(face);
                }
                None => {
                    let identity = state.seat_apart(face, target, &mut rng);
                    let is_known = |label: &LabelId| label.index() < data.names().len();
                    let name = memory.names[number].filter(is_known).map_or(Name::Unknown, Name::Known);
                    state.names.set(identity, name);
                    slots[number] = Some(identity);
                }
            }
        }
        for (identity, others) in slots.iter().zip(&others) {
            identity.iter().for_each(|&identity| state.observe_all(identity, others, target));
        }
        recall_weights(memory, &slots, &mut state);
        let attention = Attention::default();
        Self { state, rng, number: memory.chain, n_sweeps: memory.sweep, attention }
    }
}

/// Puts H back; a name that was given since takes its prior share of *unknown*'s, as it was just drawn. H is
/// redrawn given the rest afterwards, but the rejected draws of D5 need it as it was.
pub(super) fn recall_name_weights(name_weights: &[Option<f64>], names: &mut Names) {
    let ln_prior = &mut names.ln_prior;
    let (unknown, known) = name_weights.split_last().expect("unknown is always there");
    let unknown = unknown.unwrap_or(0.0);
    let known = |label: usize| known.get(label).copied().flatten();
    let new: Vec<usize> = (0..ln_prior.len()).filter(|&label| known(label).is_none()).collect();
    let ln_new = ln_sum_exp(&new.iter().map(|&label| ln_prior[label]).collect::<Vec<f64>>());
    for label in new {
        ln_prior[label] += ln(unknown) - ln_new;
    }
    for (label, ln_weight) in ln_prior.iter_mut().enumerate() {
        known(label).into_iter().for_each(|weight| *ln_weight = ln(weight));
    }
}

/// Puts pi_0 back. Identities whose faces have all left have given theirs back (D2).
fn recall_weights(memory: &Memory, slots: &[Option<IdentityId>], state: &mut State) {
    let mut ln_unseen = ln(memory.globals.unseen);
    for (slot, &weight) in slots.iter().zip(&memory.globals.weights) {
        match slot {
            Some(identity) => state.weights.ln_of[identity.index()] = ln(weight),
            None => ln_unseen = ln_add_exp(ln_unseen, ln(weight)),
        }
    }
    state.weights.ln_unseen = ln_unseen;
}

/// What is below the smallest number has no digits left to recall.
fn ln(weight: f64) -> f64 {
    weight.max(f64::MIN_POSITIVE).ln()
}

/// Puts frames back in the contexts that were sampled for them, and contexts' concentrations.
fn recall_contexts(memory: &Memory, state: &mut State, target: &Target) {
    let (model, data) = target.parts();
    for (frame, remembered) in data.frames().zip(&memory.contexts) {
        let is_given = model.context.mode == ContextMode::Given && data.given_context(frame).is_some();
        let Some(context) = remembered.map(|number| ContextId::new(number as usize)) else { continue };
        if model.context.mode == ContextMode::None || is_given {
            continue;
        }
        if model.context.mode == ContextMode::Unbounded {
            state.lay_out_contexts(context.index() + 1, target);
        }
        if context.index() < state.seating.n_contexts() && state.seating.context_of(frame) != context {
            state.move_frame(frame, context, data);
        }
    }
    let local = &mut state.weights.local_concentration;
    if model.identity.local_concentration.is_shared() {
        let shared = memory.globals.local_concentration.first().copied();
        shared.into_iter().for_each(|shared| local.fill(shared));
    } else {
        local.iter_mut().zip(&memory.globals.local_concentration).for_each(|(alpha_c, &old)| *alpha_c = old);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;
    use crate::data::NewFace;
    use crate::gibbs::Sweep;
    use crate::random::driver;
    use crate::simulate::prior;

    #[test]
    fn a_chain_goes_on_from_a_draw_in_every_mode_with_faces_come_and_gone() {
        for case in cases::all() {
            let (state, target) = prior::draw(&case.target, &mut driver(5));
            let draw = Draw::of(&state, 3, 17, &target);
            let mut chain = Chain::resume(&Memory::of(&draw), 1, &target);
            chain.state().check(&target).unwrap();
            let again = chain.draw(&target);
            let seats = |draw: &Draw| (draw.identities.clone(), draw.contexts.clone(), draw.names.clone());
            assert_eq!(seats(&again), seats(&draw), "{}", case.name);
            assert_eq!((again.chain, again.sweep), (3, 17));
            assert_eq!(again, Chain::resume(&Memory::of(&draw), 1, &target).draw(&target));

            // One face has lost its seat and two have arrived.
            let mut more = target.clone();
            let new = [[0.5, -0.5, 1.0], [3.0, 1.0, 0.0]];
            let faces = new.each_ref().map(|x| NewFace { embedding: x, name: None });
            more.push_frame(Some("home"), &faces).unwrap();
            let mut memory = Memory::of(&draw);
            memory.identities[2] = None;
            memory.identities.extend([None, None]);
            memory.contexts.push(None);
            chain = Chain::resume(&memory, 1, &more);
            chain.sweep(&Sweep::default(), &more);
            chain.state().check(&more).unwrap();
        }
    }
}

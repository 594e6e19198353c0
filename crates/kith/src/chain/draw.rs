//! A draw of the posterior: what is kept of a state, with labels that do not depend on the chain's slots.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};

use super::looks::{self, Looks};
use crate::ids::{ContextId, FaceId, IdentityId, LabelId};
use crate::model::ContextMode;
use crate::model::face::COPY;
#[cfg(doc)]
use crate::model::face::ODD;
use crate::state::{Name, State};
use crate::target::Target;

/// One kept draw. Identities, and contexts without a name, are numbered by first appearance. Where it is
/// written, contexts and names may be known by something else than numbers: `C` and `N`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draw<C = u32, N = LabelId> {
    /// Which chain.
    pub chain: u32,
    /// After how many sweeps.
    pub sweep: u64,
    /// `z_n` per face.
    pub identities: Vec<u32>,
    /// The number of each face's scale, [`ODD`] or [`COPY`]; none where faces have no scales and none is either.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub scales: Vec<u8>,
    /// `c*_m` per frame.
    pub contexts: Vec<C>,
    /// `y*_i` per identity; `None` is unknown.
    pub names: Vec<Option<N>>,
    /// Per identity the one whose look it is, itself for most (`chain/looks.rs`); none where that is all.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub people: Vec<u32>,
    /// All that is neither of a face nor of a frame.
    #[serde(flatten)]
    pub globals: Globals,
}

/// What a draw holds of no face and no frame; `W` is what the weights of names are known by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Globals<W = f64> {
    /// `pi_0i` per identity.
    pub weights: Vec<f64>,
    /// `pi_0'`.
    pub unseen: f64,
    /// ln of the joint density.
    #[serde(deserialize_with = "number_or_nan")]
    pub ln_joint: f64,
    /// alpha_0.
    pub global_concentration: f64,
    /// alpha_c per context; contexts without frames come last.
    pub local_concentration: Vec<f64>,
    /// gamma_0.
    pub context_concentration: f64,
    /// H over the known names, then unknown.
    pub name_weights: Vec<W>,
    /// lambda.
    pub name_concentration: f64,
    /// epsilon.
    pub error_rate: f64,
}

/// What is not finite is written as null.
fn number_or_nan<'d, D: Deserializer<'d>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

impl<W> Globals<W> {
    /// The same with the weights of other names.
    pub fn with_names<V>(&self, name_weights: Vec<V>) -> Globals<V> {
        Globals {
            weights: self.weights.clone(),
            unseen: self.unseen,
            ln_joint: self.ln_joint,
            global_concentration: self.global_concentration,
            local_concentration: self.local_concentration.clone(),
            context_concentration: self.context_concentration,
            name_weights,
            name_concentration: self.name_concentration,
            error_rate: self.error_rate,
        }
    }
}

impl<C, N> Draw<C, N> {
    /// The same with contexts and names known by something else, or the first refusal.
    pub fn known_by<D, M, E>(
        &self,
        context: impl FnMut(&C) -> Result<D, E>,
        name: impl FnMut(&N) -> Result<M, E>,
    ) -> Result<Draw<D, M>, E> {
        let mut name = name;
        Ok(Draw {
            chain: self.chain,
            sweep: self.sweep,
            identities: self.identities.clone(),
            scales: self.scales.clone(),
            contexts: self.contexts.iter().map(context).collect::<Result<_, E>>()?,
            names: self
                .names
                .iter()
                .map(|n| n.as_ref().map(&mut name).transpose())
                .collect::<Result<_, E>>()?,
            people: self.people.clone(),
            globals: self.globals.clone(),
        })
    }

    /// The identity whose look an identity is: itself, or somebody with more photos.
    pub fn person(&self, identity: u32) -> u32 {
        self.people.get(identity as usize).copied().unwrap_or(identity)
    }

    /// Per face its person, by the numbers of identities.
    pub fn partition(&self) -> Cow<'_, [u32]> {
        match self.people.is_empty() {
            true => Cow::Borrowed(&self.identities),
            false => self.identities.iter().map(|&identity| self.person(identity)).collect(),
        }
    }

    /// The seats of some faces alone, in their order, in the draw of all.
    pub fn of_some(&self, faces: &[FaceId]) -> Self
    where
        C: Clone,
        N: Clone,
    {
        Self {
            chain: self.chain,
            sweep: self.sweep,
            identities: faces.iter().map(|face| self.identities[face.index()]).collect(),
            scales: Vec::new(),
            contexts: Vec::new(),
            names: self.names.clone(),
            people: self.people.clone(),
            globals: self.globals.clone(),
        }
    }

    /// Whether another face of the same shot speaks for a face.
    pub fn is_copy(&self, face: usize) -> bool {
        self.scales.get(face) == Some(&COPY)
    }

    /// How many people there are: I, but for second looks.
    pub fn n_people(&self) -> usize {
        self.n_identities() - (0..).zip(&self.people).filter(|(identity, person)| identity != *person).count()
    }

    /// I.
    pub fn n_identities(&self) -> usize {
        self.globals.weights.len()
    }
}

impl Draw {
    /// Per identity the name of its person: its own, or that of another look.
    pub fn names_of_people(&self) -> Cow<'_, [Option<LabelId>]> {
        if self.people.is_empty() {
            return Cow::Borrowed(&self.names);
        }
        let mut names = self.names.clone();
        for (&person, &name) in self.people.iter().zip(&self.names) {
            names[person as usize] = names[person as usize].or(name);
        }
        self.people.iter().map(|&person| names[person as usize]).collect()
    }

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
        let Looks { people, apart } = looks::find(state, &slots, target);
        let mut draw = Self {
            chain,
            sweep,
            identities,
            scales: match model.face.n_scales() {
                1 if !data.faces().any(|face| state.faces().scale(face) >= COPY) => Vec::new(),
                _ => data.faces().map(|face| state.faces().scale(face)).collect(),
            },
            contexts,
            people,
            names: slots
                .iter()
                .map(|&slot| match names.of(slot) {
                    Name::Known(label) => Some(label),
                    Name::Unknown => None,
                })
                .collect(),
            globals: Globals {
                weights: slots.iter().map(|&slot| weights.ln_of(slot).exp()).collect(),
                unseen: weights.ln_unseen().exp(),
                ln_joint: state.ln_joint(target),
                global_concentration: weights.global_concentration(),
                local_concentration: local.collect(),
                context_concentration: weights.context_concentration(),
                name_weights: names.all().map(|name| names.ln_weight(name).exp()).collect(),
                name_concentration: names.concentration(),
                error_rate: names.error_rate(),
            },
        };
        apart.into_iter().for_each(|face| draw.set_apart(face));
        draw
    }

    /// A face becomes somebody of whom nothing else is known, with the share of pi_0' that a new identity has
    /// on average.
    pub(super) fn set_apart(&mut self, face: FaceId) {
        let new = self.names.len() as u32;
        let share = self.globals.unseen / (1.0 + self.globals.global_concentration);
        self.globals.unseen -= share;
        self.globals.weights.push(share);
        self.names.push(None);
        self.people.push(new);
        self.identities[face.index()] = new;
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

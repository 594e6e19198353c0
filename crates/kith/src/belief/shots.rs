//! Chains move among the faces that speak for their shots (`data/shots.rs`); what they come to is then of all
//! faces.

use rayon::prelude::*;

use super::{Belief, Kept};
use crate::chain::{Chain, Draw, Ensemble, Memory, shots};
use crate::data::Shots;
use crate::ids::FaceId;
use crate::model::face::COPY;
use crate::target::Target;

/// All faces, by those who speak for them.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    shots: Shots,
    /// Those who speak, and what is sampled of them.
    firsts: Vec<FaceId>,
    target: Target,
    /// Per face the place of the one who speaks for it.
    place_of: Vec<usize>,
    /// Per frame the place of the one whose context it has, among those that the firsts are in.
    frame_of: Vec<usize>,
}

impl Whole {
    /// `None` where every face speaks for itself.
    pub(super) fn of(target: &Target) -> Option<Self> {
        let (model, data) = target.parts();
        if !model.face.has_covariances() {
            return None;
        }
        let shots = shots::find(model, data)?;
        let firsts = shots.firsts();
        let place = |face: FaceId| firsts.partition_point(|&first| first < face);
        let place_of: Vec<usize> = data.faces().map(|face| place(shots.first_of(face))).collect();
        let (few, frames) = data.of_faces(&firsts);
        let of_frame = |frame| {
            let first = shots.first_of(data.faces_in(frame)[0]);
            frames.partition_point(|&other| other < data.frame_of(first))
        };
        let frame_of = data.frames().map(of_frame).collect();
        let target = Target::new(model.clone(), few).expect("a model of all faces is one of some");
        Some(Self { shots, firsts, target, place_of, frame_of })
    }

    /// What is sampled of those who speak.
    pub(super) fn target(&self) -> &Target {
        &self.target
    }

    /// A draw of those who speak, as one of all.
    pub(super) fn all(&self, draw: Draw) -> Draw {
        let scale = |(face, &place): (usize, &usize)| match self.shots.is_copy(FaceId::new(face)) {
            true => COPY,
            false => draw.scales.get(place).copied().unwrap_or(0),
        };
        Draw {
            identities: self.place_of.iter().map(|&place| draw.identities[place]).collect(),
            scales: self.place_of.iter().enumerate().map(scale).collect(),
            contexts: self.frame_of.iter().map(|&frame| draw.contexts[frame]).collect(),
            ..draw
        }
    }

    /// What is remembered of those who speak, where all are.
    fn memory(&self, all: &Draw) -> Memory {
        let mut memory = Memory::of(all);
        memory.identities = self.firsts.iter().map(|first| memory.identities[first.index()]).collect();
        if !memory.scales.is_empty() {
            memory.scales = self.firsts.iter().map(|first| memory.scales[first.index()]).collect();
        }
        // Of several frames of a shot they are the same, where they are not given.
        let mut contexts = vec![None; self.target.data().n_frames()];
        for (&frame, &context) in self.frame_of.iter().zip(&memory.contexts) {
            contexts[frame] = contexts[frame].or(context);
        }
        memory.contexts = contexts;
        memory
    }
}

impl Belief {
    /// The same with its chains among those who speak.
    pub(super) fn among(&self, whole: &Whole) -> Self {
        let memories: Vec<Memory> =
            self.chains().iter().map(|chain| whole.memory(&chain.draw(&self.target))).collect();
        Self::resume(whole.target.clone(), &memories, self.seed).with_sweep(self.sweep.clone())
    }

    /// Chains and draws of those who speak, as of all. Nothing is drawn anew: copies would count.
    pub(super) fn take_over(&mut self, whole: &Whole, few: &Self) {
        let (target, seed) = (&self.target, self.seed);
        let of_all = |chain: &Chain| {
            let draw = whole.all(chain.draw(&whole.target));
            Chain::recall(&Memory::of(&draw), seed, target)
        };
        self.ensemble = Ensemble::of(few.chains().par_iter().map(of_all).collect());
        self.draws = match few.draws.draws.get() {
            Some(draws) => Kept::from(draws.iter().map(|draw| whole.all(draw.clone())).collect::<Vec<_>>()),
            None => Kept::default(),
        };
    }
}

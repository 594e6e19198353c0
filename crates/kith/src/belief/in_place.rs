//! Draws take in what was said where it moves nobody, without a look at anybody else: naming somebody who is well known
//! by looks is a matter of names.

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;

use super::Belief;
use crate::chain::{Draw, Memory};
use crate::ids::FaceId;
use crate::predict::{Envelopes, KeptBounds};
use crate::state::Seat;
use crate::target::Target;

/// A face stays where it is if what was said makes its seat less probable by no more than this.
const LESS: f64 = 0.05;

impl Belief {
    /// Takes in what was said since of some faces: names are redrawn, and all faces stay where they are. `None` where
    /// one of them would rather move, which is for [`Belief::catch_up`], or where the bounds are of other draws.
    pub fn in_place(
        target: Target,
        memories: Vec<Memory>,
        kept: (&KeptBounds, Option<Arc<dyn Envelopes>>),
        said: &BTreeSet<FaceId>,
        (seed, moment): (u64, u64),
    ) -> Option<Self> {
        let stream = seed.wrapping_add(moment << 20);
        let draws = memories.into_par_iter().map(|memory| memory.heard(said, stream, &target));
        let draws: Option<Vec<Draw>> = draws.collect();
        let belief = Self::of_bounded_draws(target, draws?, kept, seed)?;
        said.iter().all(|&face| belief.stays(face)).then_some(belief)
    }

    /// Whether what was said leaves a face as probably where it is as looks alone would, on average over the draws.
    fn stays(&self, face: FaceId) -> bool {
        let at_home = |(seats, draw): (&Vec<Seat>, &Draw)| {
            let own = draw.identities[face.index()];
            let is_alone = !seats.iter().any(|seat| seat.identity.is_some_and(|identity| identity.0 == own));
            let is_home = |seat: &&Seat| match seat.identity {
                Some(identity) => draw.person(identity.0) == draw.person(own),
                None => is_alone,
            };
            seats.iter().filter(is_home).map(|seat| seat.p).sum::<f64>()
        };
        let draws = self.draws();
        let with_words: f64 = self.who_is(face).seats.iter().zip(draws).map(at_home).sum();
        let by_looks: f64 = self.posterior().at_home(face, &self.target, draws).iter().sum();
        with_words >= by_looks - LESS * draws.len() as f64
    }
}

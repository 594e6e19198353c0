//! One chain on many cores: faces move among the identities of their colour, colour beside colour (MODEL.md
//! §10).
//!
//! The joint with an independent, uniform colour for every identity has the state's joint as its marginal,
//! and given the colours it falls into as many parts: each is a joint like the whole's with its share of the
//! unseen mass and alpha_0 / n in the place of alpha_0. So a round draws colours and shares, moves the seats
//! of each part by the kernels that move those of a whole, and forgets the colours. How many colours there
//! are is part of the sweep and each has a stream of its own, so that the draws are the same for any number
//! of threads.

use rayon::prelude::*;

use super::scan::Scan;
use super::{Info, assignments, split_merge};
use crate::model::NameUpdate;
use crate::random::{self, Rng};
use crate::state::{Colour, State};
use crate::target::Target;

/// `n` rounds by `n` colours: two identities meet about once. Each weighs a face against an n-th of the
/// identities and tries an n-th of the splits, so that all together are about one sweep's work.
pub fn step(n: usize, state: &mut State, target: &Target, rng: &mut Rng) -> Info {
    let mut info = Info::default();
    // In the paper's form of names an identity's depends on those of all others.
    if n <= 1 || target.model().name.update == NameUpdate::Paper {
        info.moved_faces = assignments::step(state, target, rng);
        [info.splits, info.merges] = split_merge::step(state, target, rng);
        return info;
    }
    (0..n).for_each(|_| info += round(n, state, target, rng));
    info
}

fn round(n: usize, state: &mut State, target: &Target, rng: &mut Rng) -> Info {
    let mut colours = state.take_apart(n, target.data(), rng);
    let seed = rng.seed();
    let each = |(number, Colour { state, faces }): (usize, &mut Colour)| {
        let mut rng = random::stream(seed, number as u64);
        let moved_faces = Scan::new(target).pass(faces, state, target, &mut rng);
        let [splits, merges] = split_merge::round(n, faces, state, target, &mut rng);
        Info { moved_faces, splits, merges, moved_frames: 0 }
    };
    let infos: Vec<Info> = colours.par_iter_mut().enumerate().map(each).collect();
    state.unite(colours, target.data());
    infos.into_iter().fold(Info::default(), |mut sum, info| {
        sum += info;
        sum
    })
}

//! Draws that were remembered go on when something was seen or said since, at a cost that somebody who asks
//! can wait for.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::hear::with_company;
use super::shots::Whole;
use super::{Belief, Chains, stages};
use crate::chain::{Chain, Draw, Ensemble, Memory, Start};
use crate::gibbs::Sweep;
use crate::ids::FaceId;
use crate::target::Target;

/// Rounds of local moves of every draw.
const ROUNDS: usize = 2;
/// Multiplications that may be spent on that: a second or two.
const BUDGET: f64 = 4e9;
/// How many draws go on then, at least and at most.
const FEWEST_STATES: usize = 16;
const MOST_STATES: usize = 100;
/// Sweeps of chains that have never swept, when somebody asks before they have learnt, and how many are then
/// kept.
const FIRST_SWEEPS: u64 = 5;
const FIRST_DRAWS: usize = 8;

/// What happened since draws were remembered.
pub struct News<'a, P> {
    /// The faces that something was said of.
    pub said: BTreeSet<FaceId>,
    /// The person that each face was taken for.
    pub person_of: &'a [Option<P>],
    /// Another number each time, for another random stream.
    pub moment: u64,
}

impl Belief {
    /// First draws of faces that nothing is remembered of: a few sweeps.
    pub fn at_first_sight(target: Target, chains: Chains) -> Self {
        if let Some(whole) = Whole::of(&target) {
            let few = Self::at_first_sight(whole.target().clone(), chains);
            let mut belief = Self::of_draws(target, Vec::new(), chains.seed);
            belief.take_over(&whole, &few);
            return belief;
        }
        let mut belief = Self::start(target, &[Start::Sequential], chains);
        belief.sweep(FIRST_SWEEPS);
        let target = &belief.target;
        let of_chain = |chain: &mut Chain| {
            let next = |_| {
                chain.sweep(&Sweep::default(), target);
                chain.draw(target)
            };
            (0..FIRST_DRAWS).map(next).collect::<Vec<Draw>>()
        };
        let draws: Vec<Draw> = belief.ensemble.chains_mut().par_iter_mut().flat_map_iter(of_chain).collect();
        belief.draws = draws.into();
        belief
    }

    /// Takes in what was seen and said since: every draw goes on from where it was, new faces are seated, and
    /// those that something was said of are looked at again with some of their people. What nobody touched
    /// keeps all its draws. Returns, too, the faces that may have become another person's.
    pub fn catch_up<P: Copy + Ord>(
        target: Target,
        memories: Vec<Memory>,
        seed: u64,
        news: News<'_, P>,
    ) -> (Self, BTreeSet<FaceId>) {
        let n_identities = memories.iter().map(|memory| memory.names.len()).max().unwrap_or(1) as f64;
        let (cost, n_faces) = (cost_of_face(&target), target.data().n_faces());
        let n_states = (BUDGET / (n_faces as f64 * cost)) as usize;
        let memories = thinned(memories, n_states.clamp(FEWEST_STATES, MOST_STATES));
        let mut new: BTreeSet<FaceId> = BTreeSet::new();
        for memory in &memories {
            let faces = memory.identities.iter().enumerate().filter(|(_, seat)| seat.is_none());
            new.extend(faces.map(|(face, _)| FaceId::new(face)));
        }
        let room = (BUDGET / (memories.len() as f64 * n_identities * cost * ROUNDS as f64)) as usize;
        let touched = with_company(news.said, &new, news.person_of, room.clamp(20, 500));
        let belief = Self::go_on(target, &memories, &touched, (seed, news.moment));
        // While there are few faces, people are made out anew.
        if n_faces <= stages::ALL_SWEPT {
            let all = belief.faces().collect();
            return (belief, all);
        }
        (belief, touched.into_iter().chain(new).collect())
    }

    /// Goes on from what is remembered with some faces looked at again. The last of each chain is that chain.
    fn go_on(target: Target, memories: &[Memory], touched: &[FaceId], (seed, moment): (u64, u64)) -> Self {
        let last = last_of_chains(memories);
        // Another stream for each, and for each time.
        let stream = seed.wrapping_add(moment << 20);
        let go_on = |(place, memory): (usize, &Memory)| {
            let mut chain = Chain::resume(memory, stream.wrapping_add(place as u64), &target);
            chain.heed(touched, &target);
            for _ in 0..ROUNDS {
                chain.settle(touched, &target);
            }
            let draw = chain.draw(&target);
            let is_last = last[&memory.chain] == place;
            (draw, is_last.then_some(chain))
        };
        let gone_on: Vec<(Draw, Option<Chain>)> = memories.par_iter().enumerate().map(go_on).collect();
        let (draws, chains): (Vec<Draw>, Vec<Option<Chain>>) = gone_on.into_iter().unzip();
        let mut belief = Self::of_draws(target, draws, seed);
        belief.ensemble = Ensemble::of(chains.into_iter().flatten().collect());
        belief
    }
}

/// Where the last memory of each chain is.
fn last_of_chains(memories: &[Memory]) -> BTreeMap<u32, usize> {
    memories.iter().enumerate().map(|(place, memory)| (memory.chain, place)).collect()
}

/// At most `most` memories, evenly spaced, the last of each chain among them.
fn thinned(memories: Vec<Memory>, most: usize) -> Vec<Memory> {
    let step = memories.len().div_ceil(most).max(1);
    let last = last_of_chains(&memories);
    let is_kept =
        |(place, memory): &(usize, Memory)| place.is_multiple_of(step) || last[&memory.chain] == *place;
    memories.into_iter().enumerate().filter(is_kept).map(|(_, memory)| memory).collect()
}

/// About how many multiplications it takes to weigh one face at one identity.
fn cost_of_face(target: &Target) -> f64 {
    let face = &target.model().face;
    let dimension = face.dimension() as f64;
    if face.has_covariances() { dimension * dimension } else { dimension }
}

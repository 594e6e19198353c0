//! Draws take in what was said and seen since, looking at nobody but the people whom it concerns.
//!
//! Most words move nobody: naming somebody who is well known by looks is a matter of names. Where one of the
//! faces would rather be somebody else, and for faces that are new, the people who they may be move in every
//! draw, with their faces, and all others stay (`chain/part.rs`).

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::Belief;
use super::hear::{MOST_TOUCHED, with_company};
use crate::chain::{Draw, Moves, Remembered};
use crate::ids::FaceId;
use crate::predict::Bounded;
use crate::random;
use crate::state::Seat;
use crate::target::Target;

/// A face stays where it is if what was said makes its seat less probable by no more than this.
const LESS: f64 = 0.05;
/// People who a face is less probably than this in every draw are not asked to move for it.
const NEGLECTED: f64 = 1e-4;
/// A face that is somebody else than so many people of a draw more often than one time in a thousand may be
/// anybody.
const MOST_PEOPLE: usize = 12;
const ANYBODY: f64 = 1e-3;

/// What happened since chains and draws were remembered.
pub struct Since {
    /// The chains.
    pub chains: Vec<Remembered>,
    /// The draws.
    pub draws: Vec<Remembered>,
    /// The faces that something was said of, or that it was taken back of.
    pub said: BTreeSet<FaceId>,
    /// Those of which something was taken back.
    pub unsaid: BTreeSet<FaceId>,
    /// A seed, and another number each time, for another random stream.
    pub seed: (u64, u64),
}

/// What is believed then.
pub struct Nearby {
    /// The belief, of the draws.
    pub belief: Belief,
    /// The chains.
    pub chains: Vec<Draw>,
    /// The faces that may have become another person's; nobody, where only names are other.
    pub moved: BTreeSet<FaceId>,
}

/// Who a face may be.
enum Whom {
    /// One of the people of these faces, itself among them, or somebody new.
    These(BTreeSet<FaceId>),
    /// Anybody: per draw, with the number of its chain, one of the faces of whom it is there by chance;
    /// `None` for somebody new.
    Drawn(Vec<(u32, Option<FaceId>)>),
}

impl Whom {
    fn these(&self) -> Option<&BTreeSet<FaceId>> {
        match self {
            Self::These(people) => Some(people),
            Self::Drawn(_) => None,
        }
    }

    /// Who it is in a draw, or in the chain of a number, which is near the last draw of it.
    fn drawn(&self, place: usize, chain: u32) -> Option<Option<FaceId>> {
        match self {
            Self::These(_) => None,
            Self::Drawn(of) => Some(match of.get(place) {
                Some(drawn) => drawn.1,
                None => of.iter().rfind(|drawn| drawn.0 == chain).and_then(|drawn| drawn.1),
            }),
        }
    }
}

impl Since {
    /// The faces that have arrived.
    fn newcomers(&self) -> BTreeSet<FaceId> {
        self.draws.iter().flat_map(Remembered::newcomers).collect()
    }
}

impl Belief {
    /// Takes in what was said and seen since. `None` where that is for [`Belief::catch_up`]: bounds are of
    /// other draws, or contexts of new frames have to be sampled.
    pub fn nearby(target: Target, since: Since, bounded: &Bounded<'_>) -> Option<Nearby> {
        let (new, said) = (since.newcomers(), &since.said);
        let stream = since.seed.0.wrapping_add(since.seed.1 << 20);
        let heard = |draw: Remembered| draw.heard(said, stream, &target);
        let chains: Option<Vec<Draw>> = since.chains.into_par_iter().map(heard).collect();
        let draws: Option<Vec<Draw>> = since.draws.into_par_iter().map(heard).collect();
        let (chains, draws) = (chains?, draws?);
        let belief = Self::of_bounded_draws(target, draws, bounded, since.seed.0)?;
        let about: BTreeSet<FaceId> = said.union(&new).copied().collect();
        let is_anew = |face: &FaceId| new.contains(face) || since.unsaid.contains(face);
        let may_be = |&face: &FaceId| Some((face, belief.may_be(face, is_anew(&face), stream)?));
        let moving: Vec<(FaceId, Whom)> = about.par_iter().filter_map(may_be).collect();
        if moving.is_empty() {
            return Some(Nearby { belief, chains, moved: BTreeSet::new() });
        }
        belief.moved_nearby(chains, &moving, &new, (stream, bounded))
    }

    /// Who a face may be; `None` where it stays who it is, unless that is to be found out anew.
    fn may_be(&self, face: FaceId, is_anew: bool, stream: u64) -> Option<Whom> {
        let seats = self.who_is(face).seats;
        if !is_anew && self.stays(face, &seats) {
            return None;
        }
        let linked = self.target.data().evidence().links(face).iter().map(|link| link.0);
        let mut people: BTreeSet<FaceId> = linked.chain([face]).collect();
        let mut left = 0.0;
        for (seats, draw) in seats.iter().zip(self.draws()) {
            let mut known: Vec<&Seat> = seats.iter().filter(|seat| seat.identity.is_some()).collect();
            known.sort_by(|a, b| b.p.total_cmp(&a.p));
            let (first, others) = known.split_at(known.len().min(MOST_PEOPLE));
            left += others.iter().map(|seat| seat.p).sum::<f64>();
            let first = first.iter().filter(|seat| seat.p >= NEGLECTED);
            people.extend(first.filter_map(|seat| somebody_at(seat, face, draw)));
        }
        if left / self.draws().len() as f64 <= ANYBODY {
            return Some(Whom::These(people));
        }
        let mut rng = random::stream(stream, u64::from(face.0));
        let drawn = |(seats, draw): (&Vec<Seat>, &Draw)| {
            let mut ln_weights: Vec<f64> = seats.iter().map(|seat| seat.p.ln()).collect();
            let seat = &seats[rng.categorical_ln(&mut ln_weights)];
            (draw.chain, somebody_at(seat, face, draw))
        };
        Some(Whom::Drawn(seats.iter().zip(self.draws()).map(drawn).collect()))
    }

    /// Whether what was said leaves a face as probably where it is as looks alone would, on average over the
    /// draws.
    fn stays(&self, face: FaceId, seats: &[Vec<Seat>]) -> bool {
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
        let with_words: f64 = seats.iter().zip(draws).map(at_home).sum();
        let by_looks: f64 = self.posterior().at_home(face, &self.target, draws).iter().sum();
        with_words >= by_looks - LESS * draws.len() as f64
    }

    /// Every draw, and every chain, after local moves of some faces and some of their people among those who
    /// they may be.
    fn moved_nearby(
        self,
        chains: Vec<Draw>,
        moving: &[(FaceId, Whom)],
        new: &BTreeSet<FaceId>,
        (stream, bounded): (u64, &Bounded<'_>),
    ) -> Option<Nearby> {
        let person_of: Vec<Option<u32>> = self.draws()[0].partition().iter().copied().map(Some).collect();
        let these: BTreeMap<FaceId, &BTreeSet<FaceId>> =
            moving.iter().filter_map(|(face, whom)| Some((*face, whom.these()?))).collect();
        let (arrived, said) = these.keys().partition(|face| new.contains(face));
        let touched = with_company(said, &arrived, &person_of, MOST_TOUCHED.max(arrived.len()));
        let among: Vec<FaceId> = these.into_values().flatten().chain(&touched).copied().collect();
        let target = &self.target;
        let go_on = |(place, draw): (usize, &Draw)| {
            let held = moving.iter().filter_map(|(face, whom)| Some((*face, whom.drawn(place, draw.chain)?)));
            let moves = Moves { touched: &touched, among: &among, held: &held.collect::<Vec<_>>() };
            draw.moved(&moves, stream.wrapping_add(place as u64), target)
        };
        let draws: Vec<Draw> = self.draws().par_iter().enumerate().map(go_on).collect();
        let n_draws = draws.len();
        let chains =
            chains.par_iter().enumerate().map(|(place, draw)| go_on((n_draws + place, draw))).collect();
        let moved = changed(self.draws(), &draws, moving);
        let belief = Self::of_bounded_draws(self.target, draws, bounded, self.seed)?;
        Some(Nearby { belief, chains, moved })
    }
}

/// The faces whose people are others now in any draw, and those that move.
fn changed(before: &[Draw], after: &[Draw], moving: &[(FaceId, Whom)]) -> BTreeSet<FaceId> {
    let in_draw = |(before, after): (&Draw, &Draw)| {
        // Per person of before the one of now who has their first face, and the reverse.
        let (old, new) = (before.partition(), after.partition());
        let mut now_of: Vec<Option<u32>> = vec![None; before.n_identities()];
        let mut old_of: Vec<Option<u32>> = vec![None; after.n_identities()];
        let mut changed = Vec::new();
        for (face, (&old, &new)) in old.iter().zip(new.iter()).enumerate() {
            let now = *now_of[old as usize].get_or_insert(new);
            let was = *old_of[new as usize].get_or_insert(old);
            if (now, was) != (new, old) {
                changed.push(FaceId::new(face));
            }
        }
        changed
    };
    let changed: Vec<Vec<FaceId>> = before.par_iter().zip(after).map(in_draw).collect();
    changed.into_iter().flatten().chain(moving.iter().map(|(face, _)| *face)).collect()
}

/// Another face than this of an identity, if it is not a new one.
fn somebody_at(seat: &Seat, face: FaceId, draw: &Draw) -> Option<FaceId> {
    let identity = seat.identity?.0;
    let is_there = |(other, &of): (usize, &u32)| of == identity && other != face.index();
    draw.identities.iter().enumerate().find(|&other| is_there(other)).map(|(other, _)| FaceId::new(other))
}

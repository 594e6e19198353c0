//! Learning: all chains sweep all faces, for so long or until they agree.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use rayon::prelude::*;

use super::Belief;
use super::agreement::disagreement;
use crate::chain::{Chain, Draw, Run, Watch};
use crate::target::Target;

/// Chains agree when their [`disagreement`] is below this.
pub const AGREED: f64 = 1.05;
/// They are asked every so many sweeps, and not before they have made a few ([`FEWEST`]).
const BLOCK: u64 = 8;
/// They go on for at least so many.
const FEWEST: u64 = 24;
/// At most so many sweeps, fewer where they are dear: about this many multiplications per chain, some
/// minutes' work.
const MOST: u64 = 500;
const WORK: f64 = 8e11;
/// Chains that disagree by less than this then are given half as many more.
const NEARLY: f64 = 1.15;
/// Without agreement, chains are brought together about every so many reseated faces.
const FACES_PER_ROUND: u64 = 200_000;

/// How long to learn, and what to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Until {
    /// Sweeps of each chain; without it, until the chains agree or have done what is sensible.
    pub sweeps: Option<u64>,
    /// At most so many draws of each chain are kept.
    pub draws: usize,
}

impl Until {
    /// Until the chains agree, or clearly will not. The second half of all sweeps is kept.
    pub fn agreed() -> Self {
        Self { sweeps: None, draws: 25 }
    }

    /// So many sweeps of each chain. The last four fifths are kept.
    pub fn sweeps(sweeps: u64) -> Self {
        Self { sweeps: Some(sweeps), draws: 25 }
    }

    /// The share of the sweeps that is kept.
    fn kept_share(&self) -> f64 {
        if self.sweeps.is_none() { 0.5 } else { 0.8 }
    }
}

/// What a learning came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Learnt {
    /// How many sweeps each chain made.
    pub sweeps: u64,
    /// By how much the chains disagree ([`disagreement`]), where they were to agree; infinite where it cannot
    /// be told.
    pub r_hat: Option<f64>,
    /// Whether it was told to stop.
    pub is_interrupted: bool,
}

impl Learnt {
    /// Whether the chains agree.
    pub fn is_agreed(&self) -> bool {
        self.r_hat.is_some_and(|r_hat| r_hat < AGREED)
    }
}

/// A learning that goes on: what it would come to if it ended now.
pub struct Round<'a> {
    target: &'a Target,
    chains: &'a [Chain],
    kept: &'a [Kept],
    until: &'a Until,
    /// What it has come to.
    pub learnt: Learnt,
    /// How many sweeps each chain makes at most, as it looks now.
    pub most_sweeps: u64,
}

impl Round<'_> {
    /// What the chains believe now.
    pub fn now(&self) -> Vec<Draw> {
        self.chains.iter().map(|chain| chain.draw(self.target)).collect()
    }

    /// About how many people there are, the mean over the chains.
    pub fn n_people(&self) -> usize {
        let n = |chain: &Chain| chain.state().seating().n_identities();
        self.chains.iter().map(n).sum::<usize>() / self.chains.len()
    }

    /// The draws that are kept so far.
    pub fn draws(&self) -> Vec<Draw> {
        drawn(self.kept, self.until)
    }
}

impl Belief {
    /// Learns from everything; the draws are then those of this learning.
    pub fn learn(&mut self, until: &Until, watch: &Watch<'_>) -> Learnt {
        self.learn_with(until, watch, &mut |_| ControlFlow::Continue(()))
    }

    /// As [`Belief::learn`]; `after_round` may keep what has been learnt so far, and break off.
    pub fn learn_with(
        &mut self,
        until: &Until,
        watch: &Watch<'_>,
        after_round: &mut dyn FnMut(&Round<'_>) -> ControlFlow<()>,
    ) -> Learnt {
        let (allowed, target, sweep) = (self.most_sweeps(until), &self.target, &self.sweep);
        let to_agree = until.sweeps.is_none();
        let per_round = (FACES_PER_ROUND / target.data().n_faces().max(1) as u64).clamp(1, 50);
        let per_round = if to_agree { BLOCK } else { per_round };
        let chains = self.ensemble.chains_mut();
        let mut kept: Vec<Kept> = chains.iter().map(|_| Kept::new(until.draws)).collect();
        let is_stopped = || watch.stop.load(Ordering::Relaxed);
        let mut learnt =
            Learnt { sweeps: 0, r_hat: to_agree.then_some(f64::INFINITY), is_interrupted: false };
        let mut most = allowed;
        while learnt.sweeps < most && !is_stopped() {
            // The first rounds are short: somebody may be waiting for a first answer.
            let round = if learnt.sweeps < per_round { learnt.sweeps.max(1) } else { per_round };
            let next = (learnt.sweeps + round).min(most);
            chains.par_iter_mut().zip(&mut kept).for_each(|(chain, kept)| {
                for _ in learnt.sweeps..next {
                    if is_stopped() {
                        break;
                    }
                    chain.sweep_unless(watch.stop, sweep, target);
                    if is_stopped() {
                        break;
                    }
                    kept.count(|| chain.draw(target));
                    (watch.swept)();
                }
            });
            learnt.sweeps = next;
            // An interrupted chain may have made fewer sweeps than another: there is nothing to compare.
            if to_agree && next >= FEWEST && !is_stopped() {
                let late: Vec<&Draw> = kept.iter().flat_map(|kept| kept.late(0.5)).collect();
                learnt.r_hat = Some(disagreement(&late, chains.len()));
                if learnt.is_agreed() {
                    break;
                }
                if next == most && most == allowed && learnt.r_hat.is_some_and(|r_hat| r_hat < NEARLY) {
                    most += most / 2;
                }
            }
            let round = Round { target, chains, kept: &kept, until, learnt, most_sweeps: most };
            if next < most && after_round(&round).is_break() {
                break;
            }
        }
        learnt.is_interrupted = is_stopped();
        let draws = drawn(&kept, until);
        // Before the first draw was kept, draws are what the chains believe.
        self.draws.drop();
        if !draws.is_empty() {
            self.draws = draws.into();
        }
        learnt
    }

    /// Runs on to sweep `to` of `run`, or until told to stop; returns the draws that are kept on the way,
    /// ordered by sweep, then chain. Called again it goes on from there.
    pub fn run(&mut self, run: &Run, to: u64, watch: &Watch<'_>) -> Vec<Draw> {
        self.draws.drop();
        self.ensemble.run(run, to, &self.sweep, &self.target, watch)
    }

    /// How many sweeps of each chain a learning makes at most, unless chains nearly agree then; the same for
    /// the same states, on any machine.
    pub fn most_sweeps(&self, until: &Until) -> u64 {
        until.sweeps.unwrap_or_else(|| {
            let (model, data) = self.target.parts();
            let (n_faces, n_axes) = (data.n_faces() as f64, model.face.axes().n_axes as f64);
            let n_identities = |chain: &Chain| chain.state().seating().n_identities() as f64;
            let most_identities = self.chains().iter().map(n_identities).fold(1.0, f64::max);
            // Bounds in single precision and eight at once; some forty forms of D^2, most of them in splits.
            let per_face = match model.face.has_covariances() {
                true => most_identities * n_axes / 8.0 + 40.0 * n_axes * n_axes,
                false => most_identities * n_axes,
            };
            let most = WORK / (n_faces * per_face).max(1.0);
            (most as u64 / BLOCK * BLOCK).clamp(FEWEST, MOST)
        })
    }
}

/// Draws of a chain whose end is not known yet: evenly spaced, ever wider.
struct Kept {
    n_sweeps: u64,
    /// Every how many sweeps one is kept, as a power of two.
    wide: u32,
    draws: Vec<(u64, Draw)>,
    /// Spaced wider when there are so many.
    room: usize,
}

impl Kept {
    /// Nothing yet; about `wanted` draws are.
    fn new(wanted: usize) -> Self {
        Self { n_sweeps: 0, wide: 0, draws: Vec::new(), room: 4 * wanted }
    }

    /// One more sweep was made.
    fn count(&mut self, draw: impl FnOnce() -> Draw) {
        self.n_sweeps += 1;
        if self.n_sweeps.is_multiple_of(1 << self.wide) {
            self.draws.push((self.n_sweeps, draw()));
        }
        if self.draws.len() >= self.room {
            self.wide += 1;
            self.draws.retain(|(sweep, _)| sweep.is_multiple_of(1 << self.wide));
        }
    }

    /// The draws of the latest `share` of the sweeps.
    fn late(&self, share: f64) -> impl Iterator<Item = &Draw> {
        let first = self.n_sweeps as f64 * (1.0 - share);
        self.draws.iter().filter(move |(sweep, _)| *sweep as f64 > first).map(|(_, draw)| draw)
    }
}

/// The draws that are to be kept of each chain, evenly spaced over the latest sweeps.
fn drawn(kept: &[Kept], until: &Until) -> Vec<Draw> {
    let of_chain = |kept: &Kept| {
        let late: Vec<&Draw> = kept.late(until.kept_share()).collect();
        let step = late.len().div_ceil(until.draws).max(1);
        // Counted from the end, so that the latest is among them.
        let mut some: Vec<Draw> = late.into_iter().rev().step_by(step).cloned().collect();
        some.reverse();
        some
    };
    kept.iter().flat_map(of_chain).collect()
}

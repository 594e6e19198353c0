//! Learning: all chains sweep all faces, for so long or until they agree.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use rayon::prelude::*;

use super::Belief;
use super::agreement::{Concentrations, of_people};
use super::shots::Whole;
use crate::chain::diagnostics::Summary;
use crate::chain::{Chain, Draw, Run, Watch};
use crate::target::Target;

/// Chains agree when their disagreement (`agreement.rs`) is below this.
pub const AGREED: f64 = 1.05;
/// They are asked every so many sweeps, and not before they have made a few ([`FEWEST`]).
const BLOCK: u64 = 8;
/// They go on for at least so many.
const FEWEST: u64 = 24;
/// At most so many sweeps, fewer where they are dear: about this many multiplications per chain, some
/// minutes' work.
const MOST: u64 = 500;
const WORK: f64 = 8e11;
/// Chains that disagree by less than this then are given half as many more, and once again.
const NEARLY: f64 = 1.15;
/// Where they agree on people and the concentrations are worth fewer independent draws than this, they go on
/// for a share of the sweeps so far, or for what takes a moment: so many multiplications per chain.
pub const ENOUGH: f64 = 100.0;
const SHARE: u64 = 5;
const MOMENT: f64 = 1e10;
/// Concentrations are redrawn after each sweep to be followed, about so many times: with 34 people of 2,370
/// faces alpha_c is forgotten after some ten redraws, with thousands sooner. A redraw takes time for every
/// person, so of more people there are fewer; all of them take less than a twentieth of a sweep.
const REDRAWS: usize = 24;
const FEWEST_REDRAWS: usize = 8;
const REDRAWN_PEOPLE: usize = 24_000;
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
    /// By how much the chains disagree (`agreement.rs`), where they were to agree; infinite where it cannot
    /// be told.
    pub r_hat: Option<f64>,
    /// How many independent draws the concentrations alpha_0 and alpha_c are worth, where chains were to
    /// agree; infinite where they are fixed.
    pub effective: Option<f64>,
    /// Both of them, at every redraw of the latest half of the sweeps, where chains were to agree.
    pub concentrations: Option<[Summary; 2]>,
    /// Whether it was told to stop.
    pub is_interrupted: bool,
}

impl Learnt {
    /// Whether the chains agree, and know the concentrations well enough to tell an interval.
    pub fn is_agreed(&self) -> bool {
        self.agrees_on_people() && self.effective.is_some_and(|effective| effective >= ENOUGH)
    }

    /// Whether the chains agree on who is with whom.
    pub fn agrees_on_people(&self) -> bool {
        self.r_hat.is_some_and(|r_hat| r_hat < AGREED)
    }

    /// Nothing yet.
    fn begun(to_agree: bool) -> Self {
        let unknown = to_agree.then_some(f64::INFINITY);
        Self {
            sweeps: 0,
            r_hat: unknown,
            effective: to_agree.then_some(0.0),
            concentrations: None,
            is_interrupted: false,
        }
    }

    /// Compares the chains.
    fn compare(&mut self, kept: &[Kept]) {
        let late: Vec<&Draw> = kept.iter().flat_map(|kept| kept.late(0.5)).collect();
        let concentrations = Concentrations { chains: kept.iter().map(Kept::late_redraws).collect() };
        self.r_hat = Some(of_people(&late, kept.len()).max(concentrations.excess()));
        self.effective = Some(concentrations.effective());
        self.concentrations = Some(concentrations.summaries());
    }
}

/// A learning that goes on: what it would come to if it ended now.
pub struct Round<'a> {
    target: &'a Target,
    chains: &'a [Chain],
    kept: &'a [Kept],
    until: &'a Until,
    /// Where others speak for some faces, how to come to draws of all.
    whole: Option<&'a Whole>,
    /// What it has come to.
    pub learnt: Learnt,
    /// How many sweeps each chain makes at most, as it looks now.
    pub most_sweeps: u64,
}

impl Round<'_> {
    /// What the chains believe now.
    pub fn now(&self) -> Vec<Draw> {
        self.of_all(self.chains.iter().map(|chain| chain.draw(self.target)).collect())
    }

    /// About how many people there are, the mean over the chains.
    pub fn n_people(&self) -> usize {
        let n = |chain: &Chain| chain.state().seating().n_identities();
        self.chains.iter().map(n).sum::<usize>() / self.chains.len()
    }

    /// The draws that are kept so far.
    pub fn draws(&self) -> Vec<Draw> {
        self.of_all(drawn(self.kept, self.until))
    }

    fn of_all(&self, draws: Vec<Draw>) -> Vec<Draw> {
        match self.whole {
            Some(whole) => draws.into_iter().map(|draw| whole.all(draw)).collect(),
            None => draws,
        }
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
        let Some(whole) = Whole::of(&self.target) else { return self.learn_all(until, watch, after_round) };
        let mut few = self.among(&whole);
        let mut of_all = |round: &Round<'_>| after_round(&Round { whole: Some(&whole), ..*round });
        let learnt = few.learn_all(until, watch, &mut of_all);
        self.take_over(&whole, &few);
        learnt
    }

    /// The same where every face speaks for itself.
    fn learn_all(
        &mut self,
        until: &Until,
        watch: &Watch<'_>,
        after_round: &mut dyn FnMut(&Round<'_>) -> ControlFlow<()>,
    ) -> Learnt {
        let to_agree = until.sweeps.is_none();
        let mut end = End::of(self.most_sweeps(until), self.sweeps_for(MOMENT) as u64);
        let redraws = (REDRAWN_PEOPLE / self.most_identities().max(1)).clamp(FEWEST_REDRAWS, REDRAWS);
        let (target, sweep) = (&self.target, &self.sweep);
        let per_round = (FACES_PER_ROUND / target.data().n_faces().max(1) as u64).clamp(1, 50);
        let per_round = if to_agree { BLOCK } else { per_round };
        let chains = self.ensemble.chains_mut();
        let mut kept: Vec<Kept> = chains.iter().map(|_| Kept::new(until.draws)).collect();
        let is_stopped = || watch.stop.load(Ordering::Relaxed);
        let mut learnt = Learnt::begun(to_agree);
        while learnt.sweeps < end.most && !is_stopped() {
            // The first rounds are short: somebody may be waiting for a first answer.
            let round = if learnt.sweeps < per_round { learnt.sweeps.max(1) } else { per_round };
            let next = end.next(learnt.sweeps + round);
            chains.par_iter_mut().zip(&mut kept).for_each(|(chain, kept)| {
                for _ in learnt.sweeps..next {
                    if is_stopped() {
                        break;
                    }
                    chain.sweep_unless(watch.stop, sweep, target);
                    if is_stopped() {
                        break;
                    }
                    if to_agree {
                        kept.redraws.push(chain.redraw(redraws, target));
                    }
                    kept.count(|| chain.draw(target));
                    (watch.swept)();
                }
            });
            learnt.sweeps = next;
            // An interrupted chain may have made fewer sweeps than another: there is nothing to compare.
            if to_agree && next >= FEWEST && !is_stopped() {
                learnt.compare(&kept);
                if end.is_reached(&learnt) {
                    break;
                }
            }
            // A round that was broken off may have come to no draw yet: it ends the loop, and nobody keeps it.
            let round =
                Round { target, chains, kept: &kept, until, whole: None, learnt, most_sweeps: end.most };
            if next < end.most && !is_stopped() && after_round(&round).is_break() {
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
        let Some(whole) = Whole::of(&self.target) else {
            return self.ensemble.run(run, to, &self.sweep, &self.target, watch);
        };
        let mut few = self.among(&whole);
        let draws = few.ensemble.run(run, to, &self.sweep, &few.target, watch);
        self.take_over(&whole, &few);
        draws.into_iter().map(|draw| whole.all(draw)).collect()
    }

    /// How many sweeps of each chain a learning makes at most, unless chains nearly agree then; the same for
    /// the same states, on any machine.
    pub fn most_sweeps(&self, until: &Until) -> u64 {
        let affordable = || (self.sweeps_for(WORK) as u64 / BLOCK * BLOCK).clamp(FEWEST, MOST);
        until.sweeps.unwrap_or_else(affordable)
    }

    /// About how many sweeps of a chain so many multiplications are.
    fn sweeps_for(&self, work: f64) -> f64 {
        let (model, data) = self.target.parts();
        let (n_faces, n_axes) = (data.n_faces() as f64, model.face.axes().n_axes as f64);
        let most_identities = self.most_identities().max(1) as f64;
        // Bounds in single precision and eight at once; some twenty forms of D^2, half of them in splits.
        let per_face = match model.face.has_covariances() {
            true => most_identities * n_axes / 8.0 + 20.0 * n_axes * n_axes,
            false => most_identities * n_axes,
        };
        work / (n_faces * per_face).max(1.0)
    }

    fn most_identities(&self) -> usize {
        self.chains().iter().map(|chain| chain.state().seating().n_identities()).max().unwrap_or(0)
    }
}

/// How far chains go.
struct End {
    /// How many sweeps were meant at most, and how many it is now.
    allowed: u64,
    most: u64,
    /// How many take a moment, and where chains that agree on people end.
    moment: u64,
    agreed: Option<u64>,
}

impl End {
    fn of(allowed: u64, moment: u64) -> Self {
        Self { allowed, most: allowed, moment, agreed: None }
    }

    /// The end of a round that would go so far.
    fn next(&self, wanted: u64) -> u64 {
        let is_within = |end: &u64| (wanted.saturating_sub(BLOCK) + 1..wanted).contains(end);
        self.agreed.filter(is_within).unwrap_or(wanted).min(self.most)
    }

    /// Whether chains that came so far may stop.
    fn is_reached(&mut self, learnt: &Learnt) -> bool {
        if learnt.agrees_on_people() {
            let more = (learnt.sweeps / SHARE).max(self.moment);
            let end = *self.agreed.get_or_insert(learnt.sweeps + more);
            return learnt.is_agreed() || learnt.sweeps >= end;
        }
        let is_near = learnt.r_hat.is_some_and(|r_hat| r_hat < NEARLY);
        if learnt.sweeps == self.most && self.most < 2 * self.allowed && is_near {
            self.most += self.most / 2;
        }
        false
    }
}

/// Draws of a chain whose end is not known yet: evenly spaced, ever wider.
struct Kept {
    n_sweeps: u64,
    /// Every how many sweeps one is kept, as a power of two.
    wide: u32,
    draws: Vec<(u64, Draw)>,
    /// The concentrations, after every redraw that follows a sweep.
    redraws: Vec<Vec<[f64; 2]>>,
    /// Spaced wider when there are so many.
    room: usize,
}

impl Kept {
    /// Nothing yet; about `wanted` draws are.
    fn new(wanted: usize) -> Self {
        Self { n_sweeps: 0, wide: 0, draws: Vec::new(), redraws: Vec::new(), room: 4 * wanted }
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

    /// The concentrations in the latest half of the sweeps.
    fn late_redraws(&self) -> Vec<[f64; 2]> {
        self.redraws[self.redraws.len() / 2..].concat()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn after(sweeps: u64, r_hat: f64, effective: f64) -> Learnt {
        Learnt { sweeps, r_hat: Some(r_hat), effective: Some(effective), ..Learnt::begun(true) }
    }

    #[test]
    fn chains_go_on_for_their_concentrations_a_bounded_while() {
        let mut end = End::of(200, 0);
        assert!(!end.is_reached(&after(24, 1.2, 500.0)) && end.next(32) == 32);
        assert!(!end.is_reached(&after(40, 1.01, 60.0)) && end.next(48) == 48);
        assert!(end.is_reached(&after(48, 1.01, 70.0)), "a fifth more");
        assert!(!after(48, 1.01, 70.0).is_agreed() && after(48, 1.01, 70.0).agrees_on_people());
        let mut end = End::of(200, 0);
        assert!(!end.is_reached(&after(24, 1.01, 60.0)));
        assert_eq!(end.next(32), 28, "a fifth of 24");
        assert!(end.is_reached(&after(28, 1.01, 100.0)) && after(28, 1.01, 100.0).is_agreed());
        // They fell out again: what comes then is as if they had never agreed, but they stop when they do.
        assert!(!end.is_reached(&after(28, 1.06, 100.0)) && end.next(36) == 36);
        assert!(end.is_reached(&after(36, 1.01, 60.0)));
        // Where sweeps take no time.
        let mut end = End::of(500, 300);
        assert!(!end.is_reached(&after(24, 1.01, 60.0)) && end.next(32) == 32);
        assert!(!end.is_reached(&after(320, 1.01, 60.0)) && end.next(328) == 324);
        // Never more than was allowed, or half as much again where they nearly agree, and once more.
        let mut end = End::of(40, 300);
        assert!(!end.is_reached(&after(40, 1.1, 60.0)) && end.most == 60 && end.next(64) == 60);
        assert!(!end.is_reached(&after(60, 1.1, 60.0)) && end.most == 90);
        assert!(!end.is_reached(&after(90, 1.1, 60.0)) && end.most == 90);
        let mut end = End::of(40, 300);
        assert!(!end.is_reached(&after(40, 1.2, 60.0)) && end.most == 40);
    }
}

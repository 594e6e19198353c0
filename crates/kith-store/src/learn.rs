//! Learning: all chains sweep all faces until they agree, and what changed is said in people's terms.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use kith::chain::agreement::{AGREED, BLOCK, FEWEST, disagreement, most_sweeps};
use kith::chain::{Chain, Draw, Watch};
use kith::gibbs::Sweep;
use kith::target::Target;
use rayon::prelude::*;

use crate::belief::{Belief, CHAINS};
use crate::memory;
use crate::model::model;
use crate::people::Person;
use crate::snapshot::Snapshot;
use crate::{Library, StoreError};

/// How many draws of each chain are kept.
const DRAWS_PER_CHAIN: usize = 25;

/// How to learn.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Sweeps of each chain; without it, until the chains agree or have done what is sensible.
    pub sweeps: Option<u64>,
    /// Chains, where none have been started yet.
    pub chains: Option<u32>,
    /// Makes it repeatable, where no chain has been started yet.
    pub seed: Option<u64>,
}

/// Whoever is told how far learning is.
pub struct Told<'a> {
    /// The share of learning what faces look like that is done.
    pub prior: &'a mut dyn FnMut(f64),
    /// How many sweeps all chains together will make at most.
    pub begins: &'a mut dyn FnMut(u64),
}

/// What learning changed, in people's terms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// People who were not there.
    pub new_people: usize,
    /// People who are no longer there: parts of others.
    pub gone_people: usize,
    /// Faces that somebody has gained, by title.
    pub gained: Vec<(String, usize)>,
    /// Faces that are now uncertain (below 60 %).
    pub uncertain: usize,
    /// Sweeps that each chain has made in all.
    pub sweeps: u64,
    /// Whether it was interrupted.
    pub is_interrupted: bool,
    /// Split R-hat of the chains, where they ran until they agree; infinite where it cannot be told.
    pub r_hat: Option<f64>,
}

impl Belief {
    /// Learns: all chains sweep all faces, and people are made out anew. What has been learnt is kept now and then, so
    /// that whoever is interrupted goes on from there.
    pub fn learn(
        library: &Library,
        plan: &Plan,
        watch: &Watch<'_>,
        told: &mut Told<'_>,
    ) -> Result<(Self, Changes), StoreError> {
        let before = library.people()?;
        let Snapshot { data, rows } = library.snapshot()?;
        if rows.faces.is_empty() {
            return Err(StoreError::refused("found only ignored faces, wanted at least one that is not"));
        }
        let target = Target::new(model(library, &data, Some(&mut *told.prior))?, data)?;
        if library.meta("seed")?.is_none() {
            library.set_meta("seed", &plan.seed.unwrap_or(1).to_string())?;
        }
        let seed = library.meta("seed")?.and_then(|seed| seed.parse().ok()).unwrap_or(1);
        let mut belief = Self { target, rows, draws: Vec::new(), chains: Vec::new(), seed };
        let n_before = belief.chains(library)?.len() as u32;
        if n_before == 0 || plan.chains.is_some_and(|wanted| wanted != n_before) {
            belief.start(plan.chains.unwrap_or(CHAINS), 0);
        }
        let most = plan.sweeps.unwrap_or_else(|| most_sweeps(&belief.chains, &belief.target));
        (told.begins)(most * belief.chains.len() as u64);
        let r_hat = belief.sweep(library, most, plan.sweeps.is_none(), watch)?;
        belief.save(library, None)?;
        let mut changes = changes(&before, &library.people()?);
        changes.sweeps = belief.chains.first().map_or(0, Chain::n_sweeps);
        changes.is_interrupted = watch.stop.load(Ordering::Relaxed);
        changes.r_hat = r_hat;
        Ok((belief, changes))
    }

    /// Sweeps all chains `most` times, or until they agree, or are interrupted; the first fifth of what was made is not
    /// kept, or the first half where they were to agree. Returns their R-hat then.
    fn sweep(
        &mut self,
        library: &Library,
        most: u64,
        until_agreed: bool,
        watch: &Watch<'_>,
    ) -> Result<Option<f64>, StoreError> {
        let target = &self.target;
        let round =
            if until_agreed { BLOCK } else { (200_000 / target.data().n_faces() as u64).clamp(1, 50) };
        let kept_share = if until_agreed { 0.5 } else { 0.8 };
        let sweep_all = Sweep::default();
        let mut kept: Vec<Kept> = self.chains.iter().map(|_| Kept::default()).collect();
        let (mut done, mut saved) = (0, std::time::Instant::now());
        let mut r_hat = until_agreed.then_some(f64::INFINITY);
        while done < most && !watch.stop.load(Ordering::Relaxed) {
            let until = (done + round).min(most);
            self.chains.par_iter_mut().zip(&mut kept).for_each(|(chain, kept)| {
                for _ in done..until {
                    if watch.stop.load(Ordering::Relaxed) {
                        break;
                    }
                    chain.sweep(&sweep_all, target);
                    kept.count(|| chain.draw(target));
                    (watch.swept)();
                }
            });
            done = until;
            // An interrupted chain may have made fewer sweeps than another: there is nothing to compare.
            if until_agreed && done >= FEWEST && !watch.stop.load(Ordering::Relaxed) {
                let found = disagreement(&late(&kept, 0.5), self.chains.len());
                r_hat = Some(found);
                if found < AGREED {
                    break;
                }
            }
            if saved.elapsed().as_secs() >= 20 && done < most {
                let (chains, draws) = (memory::now(&self.chains, target), drawn(&kept, kept_share));
                library.write(|_| library.remember(&chains, &draws, &self.rows))?;
                saved = std::time::Instant::now();
            }
        }
        self.draws = drawn(&kept, kept_share);
        if self.draws.is_empty() {
            self.draws = memory::now(&self.chains, target);
        }
        Ok(r_hat)
    }
}

/// Draws of a chain whose end is not known yet: evenly spaced, ever wider.
#[derive(Default)]
struct Kept {
    n_sweeps: u64,
    /// Every how many sweeps one is kept, as a power of two.
    wide: u32,
    draws: Vec<(u64, Draw)>,
}

impl Kept {
    /// One more sweep was made.
    fn count(&mut self, draw: impl FnOnce() -> Draw) {
        self.n_sweeps += 1;
        if self.n_sweeps.is_multiple_of(1 << self.wide) {
            self.draws.push((self.n_sweeps, draw()));
        }
        if self.draws.len() >= 4 * DRAWS_PER_CHAIN {
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

/// All draws of the latest `share` of the sweeps.
fn late(kept: &[Kept], share: f64) -> Vec<Draw> {
    kept.iter().flat_map(|kept| kept.late(share).cloned()).collect()
}

/// At most [`DRAWS_PER_CHAIN`] draws of each chain, of the latest `share` of the sweeps.
fn drawn(kept: &[Kept], share: f64) -> Vec<Draw> {
    let of_chain = |kept: &Kept| {
        let late: Vec<&Draw> = kept.late(share).collect();
        let step = late.len().div_ceil(DRAWS_PER_CHAIN).max(1);
        // Counted from the end, so that the latest is among them.
        let mut some: Vec<Draw> = late.into_iter().rev().step_by(step).cloned().collect();
        some.reverse();
        some
    };
    kept.iter().flat_map(of_chain).collect()
}

/// What is different between two lists of people.
fn changes(before: &[Person], after: &[Person]) -> Changes {
    let known: BTreeMap<i64, usize> = before.iter().map(|person| (person.id, person.faces.len())).collect();
    let mut changes = Changes::default();
    for person in after {
        match known.get(&person.id) {
            None => changes.new_people += 1,
            Some(&n) if person.faces.len() > n => {
                changes.gained.push((person.title(), person.faces.len() - n));
            }
            Some(_) => {}
        }
        changes.uncertain += person.faces.iter().filter(|face| face.p < 0.6).count();
    }
    changes.gone_people =
        before.iter().filter(|person| after.iter().all(|other| other.id != person.id)).count();
    changes.gained.sort_by_key(|(title, n)| (std::cmp::Reverse(*n), title.clone()));
    changes
}

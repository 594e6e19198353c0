//! Learning: what a library remembers goes on until the chains agree, and what changed is said in people's
//! terms.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use kith::belief::{Belief, Chains, Round, Until};
use kith::chain::{Chain, Watch};

use crate::belief::Believed;
use crate::ids::PersonId;
use crate::memory::{Before, Bodies};
use crate::meta::{BELIEVED, SEED};
use crate::people::Person;
use crate::snapshot::Rows;
use crate::{Library, StoreError};

/// What has been learnt is kept so often, so that whoever is interrupted goes on from there.
const KEPT_EVERY: Duration = Duration::from_secs(20);
/// Of more faces the first people are shown after the first round: certainty takes minutes.
const PEOPLE_FIRST: usize = 2_000;

/// How to learn.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Sweeps of each chain; without it, until the chains agree or have done what is sensible.
    pub sweeps: Option<u64>,
    /// Chains, where none have been started yet.
    pub chains: Option<u32>,
    /// Makes it repeatable, where no chain has been started yet.
    pub seed: Option<u64>,
    /// Interrupted after fewer sweeps than this, nothing is kept: what was believed before is the better
    /// guess.
    pub least: u64,
}

/// Whoever is told how far learning is.
pub struct Told<'a> {
    /// The share of learning what faces look like that is done.
    pub prior: &'a mut dyn FnMut(f64),
    /// How many sweeps all chains together will make at most.
    pub begins: &'a mut dyn FnMut(u64),
    /// How far it is, now and then.
    pub goes_on: &'a mut dyn FnMut(&Progress),
}

/// How far a learning is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Sweeps that each chain has made, and those that it makes at most.
    pub sweeps: (u64, u64),
    /// About how many people there are so far.
    pub n_people: usize,
    /// Split R-hat of the chains, where they run until they agree and it can be told already.
    pub r_hat: Option<f64>,
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

impl Believed {
    /// Learns: all chains sweep all faces, and people are made out anew.
    pub fn learn(
        library: &Library,
        plan: &Plan,
        watch: &Watch<'_>,
        told: &mut Told<'_>,
    ) -> Result<(Self, Changes), StoreError> {
        let before = library.people()?;
        let (target, rows) = library.target(Some(&mut *told.prior))?;
        if library.get(SEED)?.is_none() {
            library.set(SEED, plan.seed.unwrap_or(1))?;
        }
        let mut belief = Belief::resume(target, &library.memories(&rows)?, library.get(SEED)?.unwrap_or(1));
        let n_before = belief.chains().len();
        let n_wanted = plan.chains.map(|n| n as usize);
        if n_before == 0 || n_wanted.is_some_and(|wanted| wanted != n_before) {
            belief.restart(n_wanted.unwrap_or(Chains::default().n));
        } else {
            // Chains that sweep before they have heard what was said would tear the faces it was said of from
            // their people.
            belief.settle(&Vec::from_iter(rows.said_since(library.get(BELIEVED)?)));
        }
        let until = Until { sweeps: plan.sweeps, ..Until::agreed() };
        let most = belief.most_sweeps(&until);
        (told.begins)(most * belief.chains().len() as u64);
        let mut is_awaited = before.is_empty() && rows.faces.len() > PEOPLE_FIRST;
        let (mut saved, mut failed) = (Instant::now(), None);
        let mut keep = |round: &Round<'_>| {
            let r_hat = round.learnt.r_hat.filter(|r_hat| r_hat.is_finite());
            let n_people = round.n_people();
            (told.goes_on)(&Progress { sweeps: (round.learnt.sweeps, round.most_sweeps), n_people, r_hat });
            if is_awaited || saved.elapsed() >= KEPT_EVERY {
                let first = std::mem::take(&mut is_awaited);
                failed = keep_round(library, round, &rows, first).err();
                saved = Instant::now();
            }
            if failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let learnt = rows.guarded(|| belief.learn_with(&until, watch, &mut keep))?;
        if let Some(error) = failed {
            return Err(error);
        }
        let is_too_early = learnt.is_interrupted && learnt.sweeps < plan.least;
        let mut believed = Self { belief, rows };
        if !is_too_early {
            believed.save(library, None)?;
        }
        let mut changes = Changes::between(&before, &library.people()?);
        changes.sweeps = believed.belief.chains().first().map_or(0, Chain::n_sweeps);
        changes.is_interrupted = learnt.is_interrupted;
        changes.r_hat = learnt.r_hat;
        Ok((believed, changes))
    }
}

/// Keeps what a round came to, and the first people.
fn keep_round(library: &Library, round: &Round<'_>, rows: &Rows, is_first: bool) -> Result<(), StoreError> {
    let draws = round.draws();
    let people = is_first.then(|| library.made_out(&draws, rows, None)).transpose()?;
    let bodies = Bodies::of(&round.now(), &draws, rows, &Before::default());
    library.write(|_| {
        library.remember(bodies)?;
        people.iter().try_for_each(|people| library.set_people(people, rows))
    })
}

impl Changes {
    /// What is different between two lists of people.
    pub fn between<P: Borrow<Person>>(before: &[P], after: &[P]) -> Self {
        let (before, after) = (before.iter().map(Borrow::borrow), after.iter().map(Borrow::borrow));
        let known: BTreeMap<PersonId, usize> =
            before.map(|person: &Person| (person.id, person.faces.len())).collect();
        let mut left: BTreeSet<PersonId> = known.keys().copied().collect();
        let mut changes = Self::default();
        for person in after {
            left.remove(&person.id);
            match known.get(&person.id) {
                None => changes.new_people += 1,
                Some(&n) if person.faces.len() > n => {
                    changes.gained.push((person.title(), person.faces.len() - n));
                }
                Some(_) => {}
            }
            changes.uncertain += person.faces.iter().filter(|face| face.p < 0.6).count();
        }
        changes.gone_people = left.len();
        changes.gained.sort_by_key(|(title, n)| (std::cmp::Reverse(*n), title.clone()));
        changes
    }
}

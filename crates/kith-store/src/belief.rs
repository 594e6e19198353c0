//! What is believed of a library: chains that go on where they stopped, draws, and people.

use std::collections::{BTreeMap, BTreeSet};

use kith::chain::{Chain, Draw, Memory, Start};
use kith::gibbs::Sweep;
use kith::ids::FaceId;
use kith::model::Model;
use kith::model::face::FaceKind;
use kith::target::Target;
use rayon::prelude::*;

use crate::memory;
use crate::model::model;
use crate::snapshot::{Rows, Snapshot};
use crate::{Library, StoreError};

/// Rounds of local moves of every draw after something was said or seen.
const ROUNDS: usize = 2;
/// Multiplications that may be spent on that: a second or two.
const BUDGET: f64 = 4e9;
/// How many draws go on then, at least and at most.
const FEWEST_STATES: usize = 16;
const MOST_STATES: usize = 100;
/// Sweeps of chains that have never swept, when somebody asks before `learn`, and how many are then kept.
const FIRST_SWEEPS: u64 = 5;
const FIRST_DRAWS: usize = 8;
/// While there are no more faces, all of them may change to another person with everything that is said.
const FEW_FACES: usize = 200;
/// How many chains a library begins with.
pub const CHAINS: u32 = 4;

/// Chains, draws and what they are about.
#[derive(Debug)]
pub struct Belief {
    /// The model, its face prior learnt, and the faces.
    pub target: Target,
    /// Which rows of the library those are.
    pub rows: Rows,
    /// Draws of the posterior.
    pub draws: Vec<Draw>,
    pub(crate) chains: Vec<Chain>,
    pub(crate) seed: u64,
}

impl Belief {
    /// What is believed now: everything that was seen and said since is taken in, by a few local moves.
    /// Refused while there is no face to believe anything of.
    pub fn open(library: &Library) -> Result<Self, StoreError> {
        let Snapshot { data, rows } = library.snapshot()?;
        if rows.faces.is_empty() {
            return Err(StoreError::refused(format!(
                "{}: found only ignored faces, wanted at least one that is not",
                library.path().display()
            )));
        }
        let target = Target::new(model(library, &data, None)?, data)?;
        let seed = library.meta("seed")?.and_then(|seed| seed.parse().ok()).unwrap_or(1);
        let believed: i64 = library.meta("believed")?.and_then(|id| id.parse().ok()).unwrap_or(-1);
        let draws = match believed == rows.last_entry() {
            true => library.draws(&rows)?,
            false => None,
        };
        let is_current = draws.is_some();
        let draws = draws.unwrap_or_default();
        let mut belief = Self { target, rows, draws, chains: Vec::new(), seed };
        if !is_current {
            let touched = belief.catch_up(library, believed)?;
            match belief.save(library, Some(&touched)) {
                // Another process writes: the answer is as good without being kept.
                Ok(()) | Err(StoreError::Busy { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(belief)
    }

    /// The chains; they are brought back when first needed.
    pub fn chains(&mut self, library: &Library) -> Result<&mut [Chain], StoreError> {
        if self.chains.is_empty() {
            let memories = library.memories(&self.rows)?;
            let (target, seed) = (&self.target, self.seed);
            self.chains = memories.par_iter().map(|memory| Chain::resume(memory, seed, target)).collect();
        }
        Ok(&mut self.chains)
    }

    /// The target, and the chains to be moved.
    pub(crate) fn apart(&mut self, library: &Library) -> Result<(&Target, &mut [Chain]), StoreError> {
        self.chains(library)?;
        Ok((&self.target, &mut self.chains))
    }

    /// Starts chains where there are none.
    pub(crate) fn start(&mut self, n_chains: u32, sweeps: u64) {
        let (target, seed) = (&self.target, self.seed);
        let begin = |number: u32| {
            let mut chain = Chain::start(Start::Sequential, number, seed, target);
            for _ in 0..sweeps {
                chain.sweep(&Sweep::default(), target);
            }
            chain
        };
        self.chains = (0..n_chains).into_par_iter().map(begin).collect();
    }

    /// Takes in what was seen and said since: every draw goes on from where it was, new faces are seated, and those that
    /// something was said of are looked at again with some of their people. What nobody touched keeps all its draws.
    fn catch_up(&mut self, library: &Library, believed: i64) -> Result<BTreeSet<FaceId>, StoreError> {
        let mut memories = library.memories_of_draws(&self.rows)?;
        if memories.is_empty() {
            memories = library.memories(&self.rows)?;
        }
        if memories.is_empty() {
            self.begin();
            return Ok(self.target.data().faces().collect());
        }
        let n_identities = memories.iter().map(|memory| memory.names.len()).max().unwrap_or(1) as f64;
        let cost = cost_of_face(self.target.model());
        let n_states = (BUDGET / (self.rows.faces.len() as f64 * cost)) as usize;
        let memories = thinned(memories, n_states.clamp(FEWEST_STATES, MOST_STATES));
        let mut new: BTreeSet<FaceId> = BTreeSet::new();
        for memory in &memories {
            let faces = memory.identities.iter().enumerate().filter(|(_, seat)| seat.is_none());
            new.extend(faces.map(|(face, _)| FaceId::new(face)));
        }
        let entries = self.rows.log.iter().filter(|entry| entry.id > believed);
        let said: BTreeSet<FaceId> = entries.flat_map(|entry| self.rows.faces_of(entry)).collect();
        let person_of = library.person_of_faces(&self.rows)?;
        let room = (BUDGET / (memories.len() as f64 * n_identities * cost * ROUNDS as f64)) as usize;
        let touched = with_company(said, &new, &person_of, room.clamp(20, 500));
        self.settle(&memories, &touched);
        // While there are few faces, people are made out anew.
        if self.rows.faces.len() <= FEW_FACES {
            return Ok(self.target.data().faces().collect());
        }
        Ok(touched.into_iter().chain(new).collect())
    }

    /// First draws, when somebody asks before `learn`.
    fn begin(&mut self) {
        self.start(CHAINS, FIRST_SWEEPS);
        let target = &self.target;
        let of_chain = |chain: &mut Chain| {
            let next = |_| {
                chain.sweep(&Sweep::default(), target);
                chain.draw(target)
            };
            (0..FIRST_DRAWS).map(next).collect::<Vec<Draw>>()
        };
        self.draws = self.chains.par_iter_mut().flat_map_iter(of_chain).collect();
    }

    /// Goes on from what is remembered with some faces looked at again. The last of each chain is that chain.
    fn settle(&mut self, memories: &[Memory], touched: &[FaceId]) {
        let target = &self.target;
        let last: BTreeMap<u32, usize> =
            memories.iter().enumerate().map(|(place, memory)| (memory.chain, place)).collect();
        // Another stream for each, and for each time.
        let seed = self.seed.wrapping_add((self.rows.last_entry() as u64) << 20);
        let go_on = |(place, memory): (usize, &Memory)| {
            let mut chain = Chain::resume(memory, seed.wrapping_add(place as u64), target);
            for _ in 0..ROUNDS {
                chain.settle(touched, target);
            }
            let draw = chain.draw(target);
            let is_last = last[&memory.chain] == place;
            (draw, is_last.then_some(chain))
        };
        let gone_on: Vec<(Draw, Option<Chain>)> = memories.par_iter().enumerate().map(go_on).collect();
        self.chains.clear();
        self.draws.clear();
        for (draw, chain) in gone_on {
            self.draws.push(draw);
            self.chains.extend(chain);
        }
    }

    /// Keeps chains, draws and people; only `touched` faces may change to another person, where it is given.
    pub(crate) fn save(
        &self,
        library: &Library,
        touched: Option<&BTreeSet<FaceId>>,
    ) -> Result<(), StoreError> {
        let chains = memory::now(&self.chains, &self.target);
        library.write(|_| {
            library.remember(&chains, &self.draws, &self.rows)?;
            library.set_people(&self.draws, &self.rows, touched)?;
            library.set_meta("believed", &self.rows.last_entry().to_string())
        })
    }

    /// Keeps the chains only; draws go on from where they were when somebody asks.
    pub(crate) fn save_chains(&self, library: &Library) -> Result<(), StoreError> {
        let chains = memory::now(&self.chains, &self.target);
        library.write(|_| library.remember_chains(&chains, &self.rows))
    }

    /// Takes in what was said since, without reading faces anew; returns the faces it was said of. Chains are to be
    /// extended.
    pub(crate) fn hear_news(&mut self, library: &Library) -> Result<BTreeSet<FaceId>, StoreError> {
        self.rows.hear_news(library, &mut self.target)
    }

    /// How probable it is that what an entry says is true, by the draws; `None` where it says nothing of who is who.
    pub fn agreement(&self, entry: &crate::log::Entry) -> Option<f64> {
        use crate::snapshot::Meaning;
        use kith::data::Statement;
        let meaning = self.rows.meaning(entry)?;
        let identity = |draw: &Draw, face: FaceId| draw.identities[face.index()];
        let name = |draw: &Draw, face: FaceId| draw.names[identity(draw, face) as usize];
        let holds = |draw: &&Draw| match meaning {
            Meaning::Named(face, label) => name(draw, face) == Some(label),
            Meaning::Said(Statement::Not(face, label)) => name(draw, face) != Some(label),
            Meaning::Said(Statement::Same(a, b)) => identity(draw, a) == identity(draw, b),
            Meaning::Said(Statement::Different(a, b)) => identity(draw, a) != identity(draw, b),
        };
        Some(self.draws.iter().filter(holds).count() as f64 / self.draws.len() as f64)
    }
}

/// The faces to look at again, about `room` of them: those that something was said of, some others of their people, and
/// new ones.
pub(crate) fn with_company(
    said: BTreeSet<FaceId>,
    new: &BTreeSet<FaceId>,
    person_of: &[Option<i64>],
    room: usize,
) -> Vec<FaceId> {
    let mut of_person: BTreeMap<i64, Vec<FaceId>> = BTreeMap::new();
    for (face, person) in person_of.iter().enumerate() {
        person.iter().for_each(|&person| of_person.entry(person).or_default().push(FaceId::new(face)));
    }
    let mut touched = said.clone();
    let each = (room / said.len().max(1)).max(4);
    for face in said {
        let company = person_of[face.index()].map_or(&[][..], |person| &of_person[&person]);
        let step = company.len().div_ceil(each).max(1);
        touched.extend(company.iter().step_by(step));
    }
    let left = room.saturating_sub(touched.len());
    touched.extend(new.iter().take(left));
    touched.into_iter().collect()
}

/// At most `most` memories, evenly spaced, the last of each chain among them.
fn thinned(memories: Vec<Memory>, most: usize) -> Vec<Memory> {
    let step = memories.len().div_ceil(most).max(1);
    let last: BTreeMap<u32, usize> =
        memories.iter().enumerate().map(|(place, memory)| (memory.chain, place)).collect();
    let is_kept = |place: usize, memory: &Memory| place.is_multiple_of(step) || last[&memory.chain] == place;
    memories
        .into_iter()
        .enumerate()
        .filter(|(place, memory)| is_kept(*place, memory))
        .map(|(_, m)| m)
        .collect()
}

/// About how many multiplications it takes to weigh one face at one identity.
fn cost_of_face(model: &Model) -> f64 {
    let dimension = model.face.dimension() as f64;
    match model.face.kind {
        FaceKind::Isotropic(_) => dimension,
        _ => dimension * dimension,
    }
}

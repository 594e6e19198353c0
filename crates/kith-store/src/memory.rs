//! What is remembered of chains and draws: per face row its identity, per frame row its context, and the rest
//! as JSON.
//!
//! Faces, frames and names are known by their rows, so that what is remembered can be read when others have
//! come or gone.

use std::collections::{BTreeSet, HashMap};

use kith::chain::{Draw, Globals, Memory, Remembered};
use kith::ids::LabelId;
use kith::target::Target;
use rayon::prelude::*;
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use crate::differences::{self, Bases, Known, Written, section};
use crate::ids::{FaceRow, FrameRow, NameRow};
use crate::lists::List;
use crate::snapshot::Rows;
use crate::sums::Of;
use crate::{Library, StoreError};

/// A draw as it is stored, after its seats and contexts.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Body {
    pub(crate) chain: u32,
    pub(crate) sweep: u64,
    /// Rows of names, per identity.
    pub(crate) names: Vec<Option<NameRow>>,
    /// Per identity the one whose look it is; none where everybody has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) people: Vec<u32>,
    /// The weights of names are pairs of a name's row and H, but for that of unknown, which is apart.
    #[serde(flatten)]
    pub(crate) globals: Globals<(NameRow, f64)>,
    pub(crate) unknown_weight: f64,
}

/// A stored draw, its parts apart.
pub(crate) struct Stored {
    pub(crate) seats: List,
    pub(crate) contexts: List,
    pub(crate) scales: List,
    pub(crate) body: Body,
    /// What the lists were written by.
    pub(crate) bases: Bases,
}

/// A draw as it is stored.
fn stored(draw: &Draw, rows: &Rows) -> Stored {
    let row_of = |label: LabelId| rows.names[label.index()];
    let (unknown, known) = draw.globals.name_weights.split_last().expect("unknown is always there");
    let body = Body {
        chain: draw.chain,
        sweep: draw.sweep,
        names: draw.names.iter().map(|name| name.map(row_of)).collect(),
        people: draw.people.clone(),
        globals: draw.globals.with_names(rows.names.iter().copied().zip(known.iter().copied()).collect()),
        unknown_weight: *unknown,
    };
    let seats = List::of(&rows.faces, draw.identities.iter().copied());
    let contexts = List::of(&rows.frames, draw.contexts.iter().copied());
    let scales = List::of(&rows.faces, draw.scales.iter().map(|&scale| u32::from(scale)));
    Stored { seats, contexts, scales, body, bases: Bases::default() }
}

/// Chains and draws as they are to be stored: made before a transaction begins, for others wait for its end.
pub(crate) struct Bodies {
    chains: Vec<Written>,
    draws: Vec<Written>,
}

/// What chains and draws were written by before.
#[derive(Default)]
pub(crate) struct Before {
    pub(crate) chains: Vec<Bases>,
    pub(crate) draws: Vec<Bases>,
}

impl Bodies {
    pub(crate) fn of(chains: &[Draw], draws: &[Draw], rows: &Rows, before: &Before) -> Self {
        let nothing = Bases::default();
        let written = |draw: &Draw, before: Option<&Bases>, others: &Bases| {
            Written::of(&stored(draw, rows), before.unwrap_or(&nothing), others)
        };
        let first = draws.first().map(|draw| written(draw, before.draws.first(), &nothing));
        // All seats are like those of the first draw.
        let others = first.as_ref().map_or(&nothing, |first| &first.bases);
        let all = |draws: &[Draw], before: &[Bases]| -> Vec<Written> {
            let places = draws.par_iter().enumerate();
            places.map(|(place, draw)| written(draw, before.get(place), others)).collect()
        };
        let chains = all(chains, &before.chains);
        let rest = all(draws.get(1..).unwrap_or_default(), before.draws.get(1..).unwrap_or_default());
        Self { chains, draws: first.into_iter().chain(rest).collect() }
    }
}

/// Chains alone as they are to be stored, whole.
pub(crate) fn whole(chains: &[Draw], rows: &Rows) -> Vec<(u32, Vec<u8>)> {
    chains.par_iter().map(|chain| (chain.chain, join(&stored(chain, rows)))).collect()
}

/// What each of some rows has, of pairs in the order of rows. Most rows are in that order too.
pub(crate) fn by_row<R: Copy + Ord, T: Copy>(
    pairs: &[(R, T)],
    rows: &[R],
) -> impl Iterator<Item = Option<T>> {
    let mut next = 0;
    rows.iter().map(move |row| {
        if pairs.get(next).is_none_or(|pair| pair.0 != *row) {
            next = pairs.partition_point(|pair| pair.0 < *row);
        }
        let number = pairs.get(next).filter(|pair| pair.0 == *row).map(|pair| pair.1);
        next += usize::from(number.is_some());
        number
    })
}

/// A draw as bytes, whole: three packed lists (seats, contexts, scales), each after its length, then JSON.
fn join(stored: &Stored) -> Vec<u8> {
    let mut out = Vec::new();
    for packed in [&stored.seats, &stored.contexts, &stored.scales].map(List::pack) {
        out.extend((packed.len() as u32).to_le_bytes());
        out.extend(packed);
    }
    out.extend(serde_json::to_vec(&stored.body).expect("a draw is finite numbers"));
    out
}

fn part(bytes: &[u8], known: &Known) -> Option<Stored> {
    let stored = match differences::bases_of(bytes) {
        Some(_) => differences::read(bytes, known)?,
        None => read_whole(bytes)?,
    };
    let Stored { seats, contexts, scales, body, .. } = &stored;
    let n = body.names.len();
    let is_people = body.people.is_empty() || body.people.len() == n;
    let is_sound = seats.are_below(n)
        && contexts.are_below(body.globals.local_concentration.len())
        && scales.are_below(usize::from(u8::MAX) + 1)
        && body.globals.weights.len() == n
        && is_people
        && body.people.iter().all(|&person| body.people.get(person as usize) == Some(&person));
    is_sound.then_some(stored)
}

fn read_whole(mut bytes: &[u8]) -> Option<Stored> {
    let mut list = || List::unpack(section(&mut bytes)?);
    let (seats, contexts, scales) = (list()?, list()?, list()?);
    let body = serde_json::from_slice(bytes).ok()?;
    Some(Stored { seats, contexts, scales, body, bases: Bases::default() })
}

impl Stored {
    /// As a chain can go on from it.
    fn memory(&self, rows: &Rows) -> Memory {
        let body = &self.body;
        let scales = self.scales.of_rows(&rows.faces).into_iter();
        Memory {
            chain: body.chain,
            sweep: body.sweep,
            identities: self.seats.of_rows(&rows.faces),
            scales: scales.map(|scale| scale.map(|scale| scale as u8)).collect(),
            contexts: self.contexts.of_rows(&rows.frames),
            names: self.names(rows),
            people: body.people.clone(),
            globals: body.globals.with_names(self.name_weights(rows)),
        }
    }

    /// As a draw, when it is about exactly these faces, frames and names.
    fn draw(self, rows: &Rows) -> Option<Draw> {
        if !self.body.globals.name_weights.iter().map(|weight| &weight.0).eq(&rows.names) {
            return None;
        }
        let name_weights = self.name_weights(rows).into_iter().collect::<Option<_>>()?;
        let mut draw = self.of_faces(rows)?;
        draw.globals.name_weights = name_weights;
        Some(draw)
    }

    /// As a draw that is to take in what was said since.
    fn remembered(self, rows: &Rows, target: &Target) -> Remembered {
        let is_of = self.seats.are_rows(&rows.faces)
            && self.contexts.are_rows(&rows.frames)
            && (self.scales.len() == 0 || self.scales.are_rows(&rows.faces));
        if !is_of {
            return Remembered::Part(Box::new(self.memory(rows)));
        }
        let name_weights = self.name_weights(rows);
        let draw = self.of_faces(rows).expect("it is of these faces and frames");
        Remembered::new(draw, name_weights, target)
    }

    /// As a draw without the weights of names, when it is about exactly these faces and frames.
    fn of_faces(self, rows: &Rows) -> Option<Draw> {
        let names = self.names(rows);
        let Self { seats, contexts, scales, body, .. } = self;
        let scales = match scales.len() {
            0 => Vec::new(),
            _ => scales.of_exactly(&rows.faces)?,
        };
        Some(Draw {
            chain: body.chain,
            sweep: body.sweep,
            identities: seats.of_exactly(&rows.faces)?,
            scales: scales.into_iter().map(|scale| scale as u8).collect(),
            contexts: contexts.of_exactly(&rows.frames)?,
            names,
            people: body.people,
            globals: body.globals.with_names(Vec::new()),
        })
    }

    /// Names of identities, as far as they are known still.
    fn names(&self, rows: &Rows) -> Vec<Option<LabelId>> {
        let label_of: HashMap<NameRow, usize> = rows.names.iter().copied().zip(0..).collect();
        let label = |row: NameRow| label_of.get(&row).map(|&label| LabelId::new(label));
        self.body.names.iter().map(|name| name.and_then(label)).collect()
    }

    /// H of every name that is known now, where it was known then, and of unknown.
    fn name_weights(&self, rows: &Rows) -> Vec<Option<f64>> {
        let weights: HashMap<NameRow, f64> = self.body.globals.name_weights.iter().copied().collect();
        let known = rows.names.iter().map(|row| weights.get(row).copied());
        known.chain([Some(self.body.unknown_weight)]).collect()
    }
}

/// What is remembered of draws, as they are stored.
fn memories_of(bodies: &[Stored], rows: &Rows) -> Vec<Memory> {
    bodies.par_iter().map(|stored| stored.memory(rows)).collect()
}

/// What is remembered of draws, to take in what was said since.
pub(crate) fn remembered(bodies: Vec<Stored>, rows: &Rows, target: &Target) -> Vec<Remembered> {
    bodies.into_par_iter().map(|stored| stored.remembered(rows, target)).collect()
}

/// The draws, when they are about exactly these faces, frames and names.
pub(crate) fn draws_of(bodies: Vec<Stored>, rows: &Rows) -> Option<Vec<Draw>> {
    let draws: Option<Vec<Draw>> = bodies.into_par_iter().map(|stored| stored.draw(rows)).collect();
    draws.filter(|draws| !draws.is_empty())
}

impl Library {
    /// What is remembered of every chain.
    pub fn memories(&self, rows: &Rows) -> Result<Vec<Memory>, StoreError> {
        Ok(self.chains()?.iter().map(|stored| stored.memory(rows)).collect())
    }

    /// What is stored of every chain, each once.
    pub(crate) fn chains(&self) -> Result<Vec<Stored>, StoreError> {
        let mut bodies = self.bodies(Of::Chain)?;
        let mut numbers = BTreeSet::new();
        bodies.retain(|stored| numbers.insert(stored.body.chain));
        Ok(bodies)
    }

    /// What is remembered of every draw, as they are stored, or chain by chain in the order in which they
    /// were made.
    pub(crate) fn memories_of_draws(&self, rows: &Rows, by_chain: bool) -> Result<Vec<Memory>, StoreError> {
        let mut memories = memories_of(&self.bodies(Of::Draw)?, rows);
        if by_chain {
            memories.sort_by_key(|memory| memory.chain);
        }
        Ok(memories)
    }

    /// The draws, when they are about the library as it is.
    pub fn draws(&self, rows: &Rows) -> Result<Option<Vec<Draw>>, StoreError> {
        Ok(draws_of(self.bodies(Of::Draw)?, rows))
    }

    /// Bodies that can be read. Others are as good as not there: they can be learnt again.
    pub(crate) fn bodies(&self, of: Of) -> Result<Vec<Stored>, StoreError> {
        let (bodies, n_unreadable) = self.readable_bodies(of)?;
        if n_unreadable > 0 {
            self.note(format!(
                "{n_unreadable} of the library's chains and draws cannot be read and are thrown away; `kith \
                 learn` learns them again"
            ));
        }
        Ok(bodies)
    }

    /// Bodies that can be read, and how many cannot.
    pub(crate) fn readable_bodies(&self, of: Of) -> Result<(Vec<Stored>, usize), StoreError> {
        let query = match of {
            Of::Chain => "SELECT number, body FROM chains ORDER BY number",
            _ => "SELECT id, body FROM draws ORDER BY id",
        };
        let (sums, bodies) = (self.sums(of)?, self.rows_and_bodies(query)?);
        let n_stored = bodies.len();
        let known =
            self.bases(bodies.iter().filter_map(|(_, body)| differences::bases_of(body)).flatten())?;
        let read = |(row, bytes): &(i64, Vec<u8>)| part(bytes, &known).filter(|_| sums.agree(*row, bytes));
        let bodies: Vec<Stored> = bodies.par_iter().filter_map(read).collect();
        let n_unreadable = n_stored - bodies.len();
        Ok((bodies, n_unreadable))
    }

    pub(crate) fn rows_and_bodies(&self, query: &str) -> Result<Vec<(i64, Vec<u8>)>, StoreError> {
        self.run(|| {
            let mut query = self.connection.prepare(query)?;
            // What is no blob is no body.
            let bytes = |row: &rusqlite::Row<'_>| {
                Ok((row.get(0)?, row.get_ref(1)?.as_blob().unwrap_or_default().to_vec()))
            };
            query.query_map([], bytes)?.collect()
        })
    }

    /// Remembers chains and draws in place of earlier ones, inside the caller's transaction.
    pub(crate) fn remember(&self, bodies: Bodies) -> Result<(), StoreError> {
        let connection = &self.connection;
        let all = "DELETE FROM chains; DELETE FROM draws; DELETE FROM bases";
        self.run(|| connection.execute_batch(all))?;
        let Bodies { mut chains, mut draws } = bodies;
        self.put_bases(draws.iter_mut().chain(&mut chains))?;
        for body in draws.iter().map(Written::to_bytes) {
            self.run(|| connection.execute("INSERT INTO draws (body) VALUES (?1)", [&body]))?;
            self.seal(Of::Draw, connection.last_insert_rowid(), &body)?;
        }
        chains.iter().try_for_each(|chain| self.put_chain(chain.chain, &chain.to_bytes()))
    }

    /// Remembers chains in place of earlier ones, and draws that went on a little in the place of each,
    /// inside the caller's transaction. What was kept beside the draws stays.
    pub(crate) fn remember_in_place(&self, bodies: Bodies) -> Result<(), StoreError> {
        let Bodies { mut chains, mut draws } = bodies;
        self.put_bases(draws.iter_mut().chain(&mut chains))?;
        let rows = |query: &str| -> Result<Vec<i64>, StoreError> {
            self.run(|| self.connection.prepare(query)?.query_map([], |row| row.get(0))?.collect())
        };
        for (row, draw) in rows("SELECT id FROM draws ORDER BY id")?.into_iter().zip(&draws) {
            let body = draw.to_bytes();
            self.run(|| {
                self.connection.execute("UPDATE draws SET body = ?2 WHERE id = ?1", params![row, body])
            })?;
            self.seal(Of::Draw, row, &body)?;
        }
        let all: Vec<(u32, Vec<u8>)> = chains.iter().map(|chain| (chain.chain, chain.to_bytes())).collect();
        self.remember_chains(&all)?;
        let used = chains.iter().chain(&draws).flat_map(|draw| &draw.bases);
        let used: BTreeSet<Option<i64>> = used.map(|base| base.row).collect();
        for row in rows("SELECT id FROM bases")?.into_iter().filter(|&row| !used.contains(&Some(row))) {
            self.run(|| self.connection.execute("DELETE FROM bases WHERE id = ?1", [row]))?;
        }
        Ok(())
    }

    /// Remembers chains in place of earlier ones, inside the caller's transaction.
    pub(crate) fn remember_chains(&self, chains: &[(u32, Vec<u8>)]) -> Result<(), StoreError> {
        self.run(|| self.connection.execute("DELETE FROM chains", []))?;
        chains.iter().try_for_each(|(number, body)| self.put_chain(*number, body))
    }

    fn put_chain(&self, number: u32, body: &[u8]) -> Result<(), StoreError> {
        let insert = "INSERT INTO chains VALUES (?1, ?2)";
        self.run(|| self.connection.execute(insert, params![number, body]))?;
        self.seal(Of::Chain, i64::from(number), body)
    }

    /// Takes faces, frames and names out of what is remembered of chains; draws are dropped. Inside the
    /// caller's transaction.
    pub(crate) fn unremember(
        &self,
        is_kept: impl Fn(FaceRow) -> bool,
        is_kept_frame: impl Fn(FrameRow) -> bool,
        is_kept_name: impl Fn(NameRow) -> bool,
    ) -> Result<(), StoreError> {
        let mut chains = self.chains()?;
        let connection: &Connection = &self.connection;
        for stored in &mut chains {
            stored.seats = stored.seats.without(|row| is_kept(FaceRow(row)));
            stored.scales = stored.scales.without(|row| is_kept(FaceRow(row)));
            stored.contexts = stored.contexts.without(|row| is_kept_frame(FrameRow(row)));
            stored.body.globals.name_weights.retain(|weight| is_kept_name(weight.0));
            let names = stored.body.names.iter_mut();
            names.for_each(|name| *name = name.filter(|&row| is_kept_name(row)));
        }
        let all = "DELETE FROM chains; DELETE FROM draws; DELETE FROM bases";
        self.run(|| connection.execute_batch(all))?;
        chains.iter().try_for_each(|stored| self.put_chain(stored.body.chain, &join(stored)))
    }
}

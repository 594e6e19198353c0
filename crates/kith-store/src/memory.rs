//! What is remembered of chains and draws: per face row its identity, per frame row its context, and the rest
//! as JSON.
//!
//! Faces, frames and names are known by their rows, so that what is remembered can be read when others have
//! come or gone.

use std::collections::{BTreeSet, HashMap};

use kith::chain::{Draw, Globals, Memory};
use kith::ids::LabelId;
use rayon::prelude::*;
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use crate::ids::{FaceRow, FrameRow, NameRow};
use crate::snapshot::Rows;
use crate::sums::Of;
use crate::{Library, StoreError, codec};

/// A draw as it is stored, after its seats and contexts.
#[derive(Debug, Serialize, Deserialize)]
struct Body {
    chain: u32,
    sweep: u64,
    /// Rows of names, per identity.
    names: Vec<Option<NameRow>>,
    /// Per identity the one whose look it is; none where everybody has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    people: Vec<u32>,
    /// The weights of names are pairs of a name's row and H, but for that of unknown, which is apart.
    #[serde(flatten)]
    globals: Globals<(NameRow, f64)>,
    unknown_weight: f64,
}

/// A stored draw, its parts apart: lists as they are packed, which have been read once.
pub(crate) struct Stored {
    seats: Vec<u8>,
    contexts: Vec<u8>,
    scales: Vec<u8>,
    body: Body,
}

/// A draw as bytes: three packed lists (seats, contexts, scales), each after its length, then JSON.
fn encode(draw: &Draw, rows: &Rows) -> Vec<u8> {
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
    let seats = packed(&rows.faces, &draw.identities);
    let contexts = packed(&rows.frames, &draw.contexts);
    let numbers: Vec<u32> = draw.scales.iter().map(|&scale| u32::from(scale)).collect();
    let scales = packed(&rows.faces, &numbers);
    join(&Stored { seats, contexts, scales, body })
}

/// Chains or draws as they are stored, each with the number of its chain: made before a transaction begins,
/// for others wait for its end.
pub(crate) struct Bodies(Vec<(u32, Vec<u8>)>);

impl Bodies {
    pub(crate) fn of(draws: &[Draw], rows: &Rows) -> Self {
        Self(draws.par_iter().map(|draw| (draw.chain, encode(draw, rows))).collect())
    }
}

/// Numbers by row, in the order of the rows, packed.
fn packed<R: Copy + Ord + Into<i64>>(rows: &[R], numbers: &[u32]) -> Vec<u8> {
    let mut pairs: Vec<(R, u32)> = rows.iter().copied().zip(numbers.iter().copied()).collect();
    pairs.sort_unstable();
    codec::pack(pairs.into_iter())
}

/// What was packed, of some rows; rows mostly come in their order.
fn unpacked<R: Copy + Ord + From<i64>>(packed: &[u8], rows: &[R]) -> Vec<Option<u32>> {
    let mut pairs = codec::pairs::<R>(packed).map_while(|pair| pair);
    if !rows.is_sorted() {
        return by_row(&pairs.collect::<Vec<_>>(), rows).collect();
    }
    let mut next = pairs.next();
    let number = |row: &R| {
        while next.is_some_and(|pair| pair.0 < *row) {
            next = pairs.next();
        }
        next.filter(|pair| pair.0 == *row).map(|pair| pair.1)
    };
    rows.iter().map(number).collect()
}

/// The same without some rows.
fn repacked<R: Copy + From<i64> + Into<i64>>(packed: &[u8], is_kept: impl Fn(R) -> bool) -> Vec<u8> {
    codec::pack(codec::pairs::<R>(packed).flatten().filter(|pair| is_kept(pair.0)))
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

fn join(stored: &Stored) -> Vec<u8> {
    let mut out = Vec::new();
    for packed in [&stored.seats, &stored.contexts, &stored.scales] {
        out.extend((packed.len() as u32).to_le_bytes());
        out.extend(packed);
    }
    out.extend(serde_json::to_vec(&stored.body).expect("a draw is finite numbers"));
    out
}

fn part(bytes: &[u8]) -> Option<Stored> {
    let mut rest = bytes;
    let (seats, contexts, scales) = (list(&mut rest)?, list(&mut rest)?, list(&mut rest)?);
    let body: Body = serde_json::from_slice(rest).ok()?;
    let n = body.names.len();
    let is_pairs = |packed: &[u8], below: usize| {
        codec::pairs::<i64>(packed).all(|pair| pair.is_some_and(|pair| (pair.1 as usize) < below))
    };
    let is_people = body.people.is_empty() || body.people.len() == n;
    let is_sound = is_pairs(&seats, n)
        && is_pairs(&contexts, usize::MAX)
        && is_pairs(&scales, usize::MAX)
        && body.globals.weights.len() == n
        && is_people
        && body.people.iter().all(|&person| body.people.get(person as usize) == Some(&person));
    is_sound.then_some(Stored { seats, contexts, scales, body })
}

/// The next packed list.
fn list(bytes: &mut &[u8]) -> Option<Vec<u8>> {
    let (length, rest) = bytes.split_at_checked(4)?;
    let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
    let (packed, rest) = rest.split_at_checked(length)?;
    *bytes = rest;
    Some(packed.to_vec())
}

impl Stored {
    /// As a chain can go on from it.
    fn memory(&self, rows: &Rows) -> Memory {
        let label_of: HashMap<NameRow, usize> = rows.names.iter().copied().zip(0..).collect();
        let label = |row: NameRow| label_of.get(&row).map(|&label| LabelId::new(label));
        let body = &self.body;
        let weights: HashMap<NameRow, f64> = body.globals.name_weights.iter().copied().collect();
        let weights = rows.names.iter().map(|row| weights.get(row).copied());
        let scales = unpacked(&self.scales, &rows.faces).into_iter();
        Memory {
            chain: body.chain,
            sweep: body.sweep,
            identities: unpacked(&self.seats, &rows.faces),
            scales: scales.map(|scale| scale.map(|scale| scale as u8)).collect(),
            contexts: unpacked(&self.contexts, &rows.frames),
            names: body.names.iter().map(|name| name.and_then(label)).collect(),
            people: body.people.clone(),
            globals: body.globals.with_names(weights.chain([Some(body.unknown_weight)]).collect()),
        }
    }

    /// As a draw, when it is about exactly these faces, frames and names.
    fn draw(&self, rows: &Rows) -> Option<Draw> {
        let names = self.body.globals.name_weights.iter().map(|weight| &weight.0);
        let is_of = |packed: &[u8], n: usize| codec::pairs::<i64>(packed).count() == n;
        let is_current = is_of(&self.seats, rows.faces.len())
            && is_of(&self.contexts, rows.frames.len())
            && names.eq(&rows.names);
        is_current.then(|| self.memory(rows).into_draw()).flatten()
    }
}

impl Library {
    /// What is remembered of every chain.
    pub fn memories(&self, rows: &Rows) -> Result<Vec<Memory>, StoreError> {
        Ok(self.chains()?.iter().map(|stored| stored.memory(rows)).collect())
    }

    /// What is stored of every chain, each once.
    fn chains(&self) -> Result<Vec<Stored>, StoreError> {
        let mut bodies = self.bodies(Of::Chain)?;
        let mut numbers = BTreeSet::new();
        bodies.retain(|stored| numbers.insert(stored.body.chain));
        Ok(bodies)
    }

    /// What is remembered of every draw, as they are stored, or chain by chain in the order in which they were made.
    pub(crate) fn memories_of_draws(&self, rows: &Rows, by_chain: bool) -> Result<Vec<Memory>, StoreError> {
        let bodies = self.bodies(Of::Draw)?;
        let mut memories: Vec<Memory> = bodies.par_iter().map(|stored| stored.memory(rows)).collect();
        if by_chain {
            memories.sort_by_key(|memory| memory.chain);
        }
        Ok(memories)
    }

    /// The draws, when they are about the library as it is.
    pub fn draws(&self, rows: &Rows) -> Result<Option<Vec<Draw>>, StoreError> {
        let bodies = self.bodies(Of::Draw)?;
        let draws: Option<Vec<Draw>> = bodies.par_iter().map(|stored| stored.draw(rows)).collect();
        Ok(draws.filter(|draws| !draws.is_empty()))
    }

    /// Bodies that can be read. Others are as good as not there: they can be learnt again.
    fn bodies(&self, of: Of) -> Result<Vec<Stored>, StoreError> {
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
        let sums = self.sums(of)?;
        let bodies: Vec<(i64, Vec<u8>)> = self.run(|| {
            let mut query = self.connection.prepare(query)?;
            // What is no blob is no body.
            let bytes = |row: &rusqlite::Row<'_>| {
                let body = row.get_ref(1)?.as_blob().unwrap_or_default().to_vec();
                Ok((row.get(0)?, body))
            };
            query.query_map([], bytes)?.collect()
        })?;
        let n_stored = bodies.len();
        let read = |(row, bytes): &(i64, Vec<u8>)| part(bytes).filter(|_| sums.agree(*row, bytes));
        let bodies: Vec<Stored> = bodies.par_iter().filter_map(read).collect();
        let n_unreadable = n_stored - bodies.len();
        Ok((bodies, n_unreadable))
    }

    /// Remembers chains and draws in place of earlier ones, inside the caller's transaction.
    pub(crate) fn remember(&self, chains: &Bodies, draws: &Bodies) -> Result<(), StoreError> {
        self.remember_chains(chains)?;
        let connection = &self.connection;
        self.run(|| connection.execute("DELETE FROM draws", []))?;
        for (_, body) in &draws.0 {
            self.run(|| connection.execute("INSERT INTO draws (body) VALUES (?1)", [body]))?;
            self.seal(Of::Draw, connection.last_insert_rowid(), body)?;
        }
        Ok(())
    }

    /// Remembers chains in place of earlier ones, and draws that went on a little in the place of each, inside the caller's
    /// transaction. What was kept beside the draws stays.
    pub(crate) fn remember_in_place(&self, chains: &Bodies, draws: &Bodies) -> Result<(), StoreError> {
        self.remember_chains(chains)?;
        let rows: Vec<i64> = self.run(|| {
            let mut query = self.connection.prepare("SELECT id FROM draws ORDER BY id")?;
            query.query_map([], |row| row.get(0))?.collect()
        })?;
        for (row, (_, body)) in rows.into_iter().zip(&draws.0) {
            self.run(|| {
                self.connection.execute("UPDATE draws SET body = ?2 WHERE id = ?1", params![row, body])
            })?;
            self.seal(Of::Draw, row, body)?;
        }
        Ok(())
    }

    /// Remembers chains in place of earlier ones, inside the caller's transaction.
    pub(crate) fn remember_chains(&self, chains: &Bodies) -> Result<(), StoreError> {
        self.run(|| self.connection.execute("DELETE FROM chains", []))?;
        chains.0.iter().try_for_each(|(number, body)| self.put_chain(*number, body))
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
            stored.seats = repacked(&stored.seats, &is_kept);
            stored.scales = repacked(&stored.scales, &is_kept);
            stored.contexts = repacked(&stored.contexts, &is_kept_frame);
            stored.body.globals.name_weights.retain(|weight| is_kept_name(weight.0));
            let names = stored.body.names.iter_mut();
            names.for_each(|name| *name = name.filter(|&row| is_kept_name(row)));
        }
        self.run(|| {
            connection.execute("DELETE FROM chains", [])?;
            connection.execute("DELETE FROM draws", [])
        })?;
        chains.iter().try_for_each(|stored| self.put_chain(stored.body.chain, &join(stored)))
    }
}

//! Draws as they differ from lists that were written down before: a word rewrites what it changed.
//!
//! Draws of one library differ in the seats of few faces, and a word moves few more. A base is a list that
//! stays as it is; a body says by how it is to be changed. Identities are numbered anew by every move, so
//! that a body says, too, what those of its base are called in it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use kith::chain::Globals;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::ids::NameRow;
use crate::lists::{List, numbers_of, put_numbers};
use crate::memory::{Body, Stored};
use crate::sums::Of;
use crate::{Library, StoreError};

/// What a body begins with that is written so: no list is that long.
const MARK: [u8; 4] = [0xff; 4];
/// A list that differs from its base in more than one row of so many becomes a base.
const ONE_IN: usize = 8;
/// No identity of the base.
const NOBODY: u32 = u32::MAX;

/// A list that others are written down by, with its row in the library; without one it is the empty list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Base {
    pub(crate) row: Option<i64>,
    pub(crate) list: Arc<List>,
}

/// The bases of the seats, contexts and scales of a draw.
pub(crate) type Bases = [Base; 3];

/// Bases of a library by their rows.
pub(crate) type Known = HashMap<i64, Arc<List>>;

/// A draw as it is to be stored: which bases it has, new ones among them, and all that comes after their
/// rows.
pub(crate) struct Written {
    pub(crate) chain: u32,
    pub(crate) bases: Bases,
    rest: Vec<u8>,
}

/// What is one of in a body.
#[derive(Serialize, Deserialize)]
struct Head {
    chain: u32,
    sweep: u64,
    /// Without weights of identities and of names.
    #[serde(flatten)]
    globals: Globals<()>,
    unknown_weight: f64,
}

impl Written {
    /// By the bases that the draw had before, or those that another has, or new ones.
    pub(crate) fn of(stored: &Stored, before: &Bases, others: &Bases) -> Self {
        let lists = [&stored.seats, &stored.contexts, &stored.scales];
        let n_identities = stored.body.names.len();
        let mut rest = Vec::new();
        let mut bases = Bases::default();
        for (kind, list) in lists.into_iter().enumerate() {
            let by = |base: &Base| match kind {
                0 => Seats::of(list, base, n_identities),
                _ => Seats { known_as: Vec::new(), changes: list.since(&base.list, Some) },
            };
            let fits = |seats: &Seats| seats.changes.len() * ONE_IN <= list.len();
            let known = [&before[kind], &others[kind]].into_iter().filter(|base| base.list.len() > 0);
            let mut found = known.map(|base| (base.clone(), by(base))).filter(|(_, seats)| fits(seats));
            let (base, Seats { known_as, changes }) = found.next().unwrap_or_else(|| {
                let base = Base { row: None, list: Arc::new(list.clone()) };
                let seats = by(&base);
                (base, seats)
            });
            if kind == 0 {
                put_section(&mut rest, |out| put_numbers(out, &known_as));
            }
            put_section(&mut rest, |out| out.extend(changes.pack()));
            bases[kind] = base;
        }
        put_body(&mut rest, &stored.body);
        Self { chain: stored.body.chain, bases, rest }
    }

    /// The body, where every base has a row.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let rows = self.bases.iter().flat_map(|base| base.row.unwrap_or(0).to_le_bytes());
        MARK.into_iter().chain(rows).chain(self.rest.iter().copied()).collect()
    }
}

/// Seats by a base: what each identity is called in it, and who sits elsewhere.
struct Seats {
    known_as: Vec<u32>,
    changes: List,
}

impl Seats {
    fn of(list: &List, base: &Base, n_identities: usize) -> Self {
        let mut called = list.called(&base.list, base.list.n_numbers());
        let mut known_as = vec![NOBODY; n_identities];
        for (was, now) in (0..).zip(&mut called) {
            // Of two that became one person the first keeps its number.
            match now.and_then(|now| known_as.get_mut(now as usize)) {
                Some(known_as) if *known_as == NOBODY => *known_as = was,
                _ => *now = None,
            }
        }
        let changes = list.since(&base.list, |was| called[was as usize]);
        Self { known_as, changes }
    }
}

fn put_section(out: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>)) {
    let begin = out.len();
    out.extend([0; 4]);
    put(out);
    let length = (out.len() - begin - 4) as u32;
    out[begin..begin + 4].copy_from_slice(&length.to_le_bytes());
}

/// The next section, which comes after its length.
pub(crate) fn section<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, rest) = bytes.split_at_checked(4)?;
    let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
    let (section, rest) = rest.split_at_checked(length)?;
    *bytes = rest;
    Some(section)
}

/// What is neither of a face nor of a frame: lists as numbers, and the rest as JSON.
fn put_body(out: &mut Vec<u8>, body: &Body) {
    let Body { chain, sweep, names, people, globals, unknown_weight } = body;
    put_section(out, |out| out.extend(globals.weights.iter().flat_map(|weight| weight.to_le_bytes())));
    put_section(out, |out| {
        for (identity, name) in (0u32..).zip(names).filter_map(|(identity, name)| Some((identity, (*name)?)))
        {
            out.extend(identity.to_le_bytes().into_iter().chain(name.0.to_le_bytes()));
        }
    });
    put_section(out, |out| put_numbers(out, people));
    put_section(out, |out| {
        for (name, weight) in &globals.name_weights {
            out.extend(name.0.to_le_bytes().into_iter().chain(weight.to_le_bytes()));
        }
    });
    let mut globals = globals.with_names(Vec::new());
    globals.weights.clear();
    let head = Head { chain: *chain, sweep: *sweep, globals, unknown_weight: *unknown_weight };
    out.extend(serde_json::to_vec(&head).expect("a draw is finite numbers"));
}

fn body_of(mut bytes: &[u8]) -> Option<Body> {
    let weights = section(&mut bytes)?.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
    let weights: Vec<f64> = weights.collect();
    let mut names = vec![None; weights.len()];
    for pair in section(&mut bytes)?.as_chunks::<12>().0 {
        let (identity, name) = pair.split_first_chunk()?;
        let name = i64::from_le_bytes(name.try_into().ok()?);
        *names.get_mut(u32::from_le_bytes(*identity) as usize)? = Some(NameRow(name));
    }
    let people = numbers_of(section(&mut bytes)?)?;
    let mut name_weights = Vec::new();
    for pair in section(&mut bytes)?.as_chunks::<16>().0 {
        let (name, weight) = pair.split_first_chunk()?;
        name_weights.push((NameRow(i64::from_le_bytes(*name)), f64::from_le_bytes(weight.try_into().ok()?)));
    }
    let Head { chain, sweep, globals, unknown_weight } = serde_json::from_slice(bytes).ok()?;
    let globals = Globals { weights, ..globals.with_names(name_weights) };
    Some(Body { chain, sweep, names, people, globals, unknown_weight })
}

/// The rows of the bases of a body, where it is written by some.
pub(crate) fn bases_of(bytes: &[u8]) -> Option<[i64; 3]> {
    let rows = bytes.strip_prefix(&MARK)?.get(..24)?.as_chunks().0;
    Some([0, 1, 2].map(|kind| i64::from_le_bytes(rows[kind])))
}

/// What was written by bases; `None` for bytes that are nothing of the kind.
pub(crate) fn read(bytes: &[u8], known: &Known) -> Option<Stored> {
    let rows = bases_of(bytes)?;
    let mut bases = Bases::default();
    for (base, row) in bases.iter_mut().zip(rows) {
        *base = Base { row: Some(row), list: known.get(&row)?.clone() };
    }
    let mut rest = &bytes[MARK.len() + 24..];
    let known_as = numbers_of(section(&mut rest)?)?;
    let mut changes = || List::unpack(section(&mut rest)?);
    let [seats, contexts, scales] = [changes()?, changes()?, changes()?];
    let mut called = vec![NOBODY; bases[0].list.n_numbers()];
    for (identity, &was) in (0..).zip(&known_as).filter(|(_, was)| **was != NOBODY) {
        *called.get_mut(was as usize)? = identity;
    }
    Some(Stored {
        seats: bases[0].list.after(&seats, |was| called[was as usize]),
        contexts: bases[1].list.after(&contexts, |was| was),
        scales: bases[2].list.after(&scales, |was| was),
        body: body_of(rest)?,
        bases,
    })
}

impl Library {
    /// Some bases, those that can be read.
    pub(crate) fn bases(&self, rows: impl Iterator<Item = i64>) -> Result<Known, StoreError> {
        let rows: BTreeSet<i64> = rows.collect();
        let mut bodies = Vec::new();
        for row in rows {
            let query = format!("SELECT id, body FROM bases WHERE id = {row}");
            bodies.extend(self.rows_and_bodies(&query)?);
        }
        bodies.retain(|(row, body)| self.agrees(Of::Base, *row, body));
        let read = |(row, body): &(i64, Vec<u8>)| Some((*row, Arc::new(List::unpack_flat(body)?)));
        Ok(bodies.par_iter().filter_map(read).collect())
    }

    /// Gives bases that are new their rows, inside the caller's transaction.
    pub(crate) fn put_bases<'w>(
        &self,
        written: impl Iterator<Item = &'w mut Written>,
    ) -> Result<(), StoreError> {
        // A base that several draws have is the same in memory.
        let mut rows: Vec<(Arc<List>, i64)> = Vec::new();
        for base in written.flat_map(|draw| &mut draw.bases) {
            let Base { row: None, list } = base else { continue };
            let known = rows.iter().find(|(known, _)| Arc::ptr_eq(known, list)).map(|known| known.1);
            base.row = Some(match known {
                Some(row) => row,
                None => {
                    let body = list.pack_flat();
                    let insert = "INSERT INTO bases (body) VALUES (?1)";
                    self.run(|| self.connection.execute(insert, [&body]))?;
                    let row = self.connection.last_insert_rowid();
                    self.seal(Of::Base, row, &body)?;
                    rows.push((list.clone(), row));
                    row
                }
            });
        }
        Ok(())
    }
}

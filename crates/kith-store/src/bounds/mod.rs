//! Questions about few faces of many: bounds of what groups of faces say are kept beside the draws, and embeddings are
//! read one by one, those of the people who may matter.

mod kept;
mod reader;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use kith::belief::Belief;
use kith::belief::people::name_of;
use kith::chain::Draw;
use kith::data::Embeddings;
use kith::ids::FaceId;
use kith::predict::Envelopes;
use kith::target::Target;
use rusqlite::{OptionalExtension, params};

use self::kept::Kept;
use self::reader::{Reader, StoredEnvelopes};
use crate::belief::Believed;
use crate::ids::{EntryId, NameRow, PersonId};
use crate::memory::Bodies;
use crate::meta::{BELIEVED, MODEL, SEED, SETTINGS};
use crate::model::model;
use crate::snapshot::Snapshot;
use crate::sums::Of;
use crate::{Library, StoreError};

/// While all embeddings have fewer numbers than this, they are read at once.
pub(crate) const MANY_NUMBERS: usize = 1 << 22;
/// What was said of more faces at once is for chains.
const MOST_WORDS: usize = 64;

impl Believed {
    /// Keeps what questions about few faces need, where there are many and it is not there. It goes with the draws
    /// whenever others are kept; whoever has time makes it again.
    pub fn keep_bounds(&self, library: &Library) -> Result<(), StoreError> {
        if !library.is_large_file()? || library.kept_bounds()?.is_some() {
            return Ok(());
        }
        let read = library.read_so_far()?;
        // Others may have learnt, or said something, since these draws were read.
        let seats = |draws: &[Draw]| -> Vec<(Vec<u32>, Vec<u8>)> {
            draws.iter().map(|draw| (draw.identities.clone(), draw.scales.clone())).collect()
        };
        let is_kept = |draws: Vec<Draw>| seats(&draws) == seats(self.belief.draws());
        if read.1 != Some(self.rows.last_evidence()) || !library.draws(&self.rows)?.is_some_and(is_kept) {
            return Ok(());
        }
        let bounds = self.bounds(library)?;
        let envelopes = self.belief.posterior().envelopes(self.belief.target());
        let kept = library.write(|connection| {
            if library.read_so_far()? != read {
                return Ok(());
            }
            library.run(|| connection.execute_batch("DELETE FROM bounds; DELETE FROM envelopes"))?;
            library.run(|| connection.execute("INSERT INTO bounds (body) VALUES (?1)", [&bounds]))?;
            library.seal(Of::Bounds, connection.last_insert_rowid(), &bounds)?;
            for (number, envelope) in &envelopes {
                let insert = "INSERT INTO envelopes VALUES (?1, ?2)";
                library.run(|| connection.prepare_cached(insert)?.execute(params![number, envelope]))?;
                library.seal(Of::Envelope, i64::from(*number), envelope)?;
            }
            Ok(())
        });
        if_it_could_be(kept)
    }

    fn bounds(&self, library: &Library) -> Result<Vec<u8>, StoreError> {
        let target = self.belief.target();
        let row = |face: FaceId| self.rows.faces[face.index()];
        let odd = target.all_odd().iter().map(|(&face, &odd)| (row(face), odd, row(odd.look_alike)));
        let (model, odd) = (library.model_sum()?, odd.collect());
        Ok(Kept { model, odd, bounds: self.belief.posterior().bounds() }.to_bytes())
    }
}

/// What is believed of a large library.
struct Outlined {
    believed: Believed,
    /// Whether all that was read so far is as it was stored: known when a question has been answered.
    is_sound: Arc<AtomicBool>,
    words: Option<Words>,
}

/// What was said since it was kept, and moved nobody; and which draws were read.
struct Words {
    said: BTreeSet<FaceId>,
    chains: Vec<Draw>,
    read: Read,
}

/// Which draws there are, and up to which entry of the log they know.
type Read = (Option<i64>, Option<EntryId>);

impl Outlined {
    fn is_sound(&self) -> bool {
        self.is_sound.load(Ordering::Relaxed)
    }

    /// Keeps what was said and moved nobody: names in chains and draws, and those of the people concerned.
    fn keep(&self, library: &Library) -> Result<(), StoreError> {
        let Some(Words { said, chains, read }) = &self.words else { return Ok(()) };
        let Believed { belief, rows } = &self.believed;
        let (chains, draws) = (Bodies::of(chains, rows), Bodies::of(belief.draws(), rows));
        let bounds = self.believed.bounds(library)?;
        let person_of = library.person_of_faces(rows)?;
        let people: BTreeSet<PersonId> = said.iter().filter_map(|face| person_of[face.index()]).collect();
        let named = |person: PersonId| {
            let is_their = |face: &FaceId| person_of[face.index()] == Some(person);
            let name = name_of(&belief.faces().filter(is_their).collect::<Vec<_>>(), belief.draws());
            (person, name.map(|(label, _)| rows.names[label.index()]), name.map_or(0.0, |name| name.1))
        };
        let named: Vec<(PersonId, Option<NameRow>, f64)> = people.into_iter().map(named).collect();
        let kept = library.write(|connection| {
            // Another process may have learnt meanwhile; then it will be asked again.
            if library.read_so_far()? != *read {
                return Ok(());
            }
            library.remember_names(&chains, &draws)?;
            let query = "UPDATE bounds SET body = ?1 RETURNING id";
            let row = library.run(|| connection.query_row(query, [&bounds], |row| row.get(0)))?;
            library.seal(Of::Bounds, row, &bounds)?;
            for (person, name, p) in named {
                let update = "UPDATE people SET name = ?2, name_p = ?3 WHERE id = ?1";
                library.run(|| connection.execute(update, params![person, name, p]))?;
            }
            library.set(BELIEVED, rows.last_evidence())
        });
        if_it_could_be(kept)
    }
}

impl Library {
    /// Asks something about few faces of what is believed. Of a large library of which nothing is new, or only words
    /// that move nobody, those embeddings are read that may matter.
    pub fn asked<T, E: From<StoreError>>(
        &self,
        question: impl Fn(&Believed) -> Result<T, E>,
    ) -> Result<T, E> {
        if let Some(outlined) = self.outlined()? {
            let answer = question(&outlined.believed);
            if outlined.is_sound() {
                return answer;
            }
        }
        let believed = Believed::open(self)?;
        let answer = question(&believed)?;
        believed.keep_bounds(self)?;
        Ok(answer)
    }

    /// Takes in what was said since, where it moves nobody, and the library is large; otherwise nothing is done.
    pub fn take_in_words(&self) -> Result<(), StoreError> {
        let is_new = self.get(BELIEVED)? != Some(self.last_evidence()?);
        if is_new { self.outlined().map(drop) } else { Ok(()) }
    }

    fn outlined(&self) -> Result<Option<Outlined>, StoreError> {
        if !self.is_large_file()? {
            return Ok(None);
        }
        let beside = Self::open(self.path())?;
        // One read transaction: nothing that another process writes meanwhile is half-seen.
        let reading = self.run(|| self.connection.unchecked_transaction())?;
        let outlined = self.outlined_inside(beside)?;
        self.run(|| reading.finish())?;
        if let Some(outlined) = outlined.as_ref().filter(|outlined| outlined.is_sound()) {
            outlined.keep(self)?;
        }
        Ok(outlined)
    }

    fn outlined_inside(&self, beside: Self) -> Result<Option<Outlined>, StoreError> {
        let (Some(since), true, Some(kept)) =
            (self.get(BELIEVED)?, self.is_all_of_somebody()?, self.kept_bounds()?)
        else {
            return Ok(None);
        };
        beside.run(|| beside.connection.execute_batch("BEGIN"))?;
        if beside.read_so_far()? != self.read_so_far()? {
            return Ok(None);
        }
        let beside = Arc::new(Mutex::new(beside));
        let envelopes: Option<Arc<dyn Envelopes>> = Some(Arc::new(StoredEnvelopes(beside.clone())));
        let is_sound = Arc::new(AtomicBool::new(true));
        let (dimension, sound) = (self.dimension()?.unwrap_or(0), is_sound.clone());
        let Snapshot { data, rows } = self.outline(|rows| {
            let reader = Reader::of(beside, rows.to_vec(), dimension, sound);
            Embeddings::elsewhere(Box::new(reader), dimension)
        })?;
        let (Some(said), Some(odd)) = (rows.words_since(since), kept.odd(&rows)) else { return Ok(None) };
        let mut target = Target::with_odd(model(self, &data, None)?, data, odd)?;
        let seed = self.get(SEED)?.unwrap_or(1);
        if since == rows.last_evidence() {
            let Some(draws) = self.draws(&rows)? else { return Ok(None) };
            let belief = Belief::of_bounded_draws(target, draws, (&kept.bounds, envelopes), seed);
            let outlined = |belief| Outlined { believed: Believed { belief, rows }, is_sound, words: None };
            return Ok(belief.map(outlined));
        }
        if said.len() > MOST_WORDS {
            return Ok(None);
        }
        target.look_again(&said);
        let (moment, read) = (rows.last_evidence().0 as u64, self.read_so_far()?);
        let chains = self.memories(&rows)?.into_iter();
        let chains: Option<Vec<Draw>> =
            chains.map(|chain| chain.heard(&said, seed ^ moment, &target)).collect();
        let memories = self.memories_of_draws(&rows, false)?;
        let belief = Belief::in_place(target, memories, (&kept.bounds, envelopes), &said, (seed, moment));
        let (Some(belief), Some(chains)) = (belief, chains) else { return Ok(None) };
        let words = Some(Words { said, chains, read });
        Ok(Some(Outlined { believed: Believed { belief, rows }, is_sound, words }))
    }

    fn read_so_far(&self) -> Result<Read, StoreError> {
        let newest = "SELECT max(id) FROM draws";
        Ok((self.run(|| self.connection.query_row(newest, [], |row| row.get(0)))?, self.get(BELIEVED)?))
    }

    /// Whether there are too many faces to be read for every question, in a file of its own: there a second reader sees
    /// the same, and a copy in memory has been read already.
    fn is_large_file(&self) -> Result<bool, StoreError> {
        let is_file = self.connection.path().is_some_and(|path| !path.is_empty());
        Ok(is_file && self.n_faces()? * self.dimension()?.unwrap_or(0) >= self.many_numbers.get())
    }

    /// What says whether bounds are of the model that is there.
    fn model_sum(&self) -> Result<u32, StoreError> {
        let texts = [self.get(MODEL)?, self.get(SETTINGS)?].map(Option::unwrap_or_default);
        Ok(crc32fast::hash(texts.join("\n").as_bytes()))
    }

    fn kept_bounds(&self) -> Result<Option<Kept>, StoreError> {
        let query = "SELECT id, body FROM bounds";
        let body: Option<(i64, Vec<u8>)> = self
            .run(|| self.connection.query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?))).optional())?;
        let body = body.filter(|(row, bytes)| self.agrees(Of::Bounds, *row, bytes));
        let sum = self.model_sum()?;
        Ok(body.and_then(|(_, bytes)| Kept::from_bytes(&bytes)).filter(|kept| kept.model == sum))
    }

    /// How many bounds are not as they were stored.
    pub(crate) fn n_spoilt(&self, of: Of) -> Result<usize, StoreError> {
        let query = if of == Of::Bounds {
            "SELECT id, body FROM bounds"
        } else {
            "SELECT number, body FROM envelopes"
        };
        let sums = self.sums(of)?;
        self.run(|| {
            let mut query = self.connection.prepare(query)?;
            let is_spoilt = |row: &rusqlite::Row<'_>| {
                let body = row.get_ref(1)?.as_blob().unwrap_or_default();
                Ok(!sums.agree(row.get(0)?, body))
            };
            let spoilt: Vec<bool> = query.query_map([], is_spoilt)?.collect::<rusqlite::Result<_>>()?;
            Ok(spoilt.into_iter().filter(|&is_spoilt| is_spoilt).count())
        })
    }
}

/// What was kept, or not because another process writes: an answer is as good without.
fn if_it_could_be(kept: Result<(), StoreError>) -> Result<(), StoreError> {
    match kept {
        Err(StoreError::Busy { .. }) => Ok(()),
        kept => kept,
    }
}

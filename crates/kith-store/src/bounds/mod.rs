//! Questions about few faces of many: bounds of what groups of faces say are kept beside the draws, and
//! embeddings are read one by one, those of the people who may matter.

mod kept;
mod reader;
mod stored;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use kith::belief::people::name_of;
use kith::belief::{Belief, Nearby, Since, stages};
use kith::chain::Draw;
use kith::data::{Dataset, Embeddings, Lengths};
use kith::ids::FaceId;
use kith::predict::{Bounded, Envelopes};
use kith::target::Target;
use rusqlite::params;

use self::kept::Kept;
use self::reader::{Reader, StoredEnvelopes};
use self::stored::BoundsNow;
use crate::belief::Believed;
use crate::ids::{EntryId, FaceRow, NameRow, PersonId};
use crate::log::ignored;
use crate::memory::{Before, Bodies, Stored, draws_of, remembered};
use crate::meta::{BELIEVED, SEED};
use crate::model::model;
use crate::people::made_out_near;
use crate::snapshot::{Rows, Snapshot};
use crate::sums::Of;
use crate::{Library, StoreError};

/// While all embeddings have fewer numbers than this, they are read at once.
pub(crate) const MANY_NUMBERS: usize = 1 << 22;
/// What was said of more faces at once, or more new faces, is for chains.
const MOST_WORDS: usize = 64;
const MOST_NEW: usize = 64;
/// From one new group in so many on, bounds of all are written anew.
const MOST_SINCE: usize = 8;
/// How long embeddings usually are is told by so many.
const MOST_LENGTHS: usize = 512;

impl Believed {
    /// Keeps what questions about few faces need, where there are many and it is not there. It goes with the
    /// draws whenever others are kept; whoever has time makes it again.
    pub fn keep_bounds(&self, library: &Library) -> Result<(), StoreError> {
        if !library.is_large_file()? || library.kept_bounds()?.is_some() {
            return Ok(());
        }
        let (read, Some(model)) = (library.read_so_far()?, self.rows.model) else { return Ok(()) };
        // Others may have learnt, or said something, since these draws were read.
        let seats = |draws: &[Draw]| -> Vec<(Vec<u32>, Vec<u8>)> {
            draws.iter().map(|draw| (draw.identities.clone(), draw.scales.clone())).collect()
        };
        let is_kept = |draws: Vec<Draw>| seats(&draws) == seats(self.belief.draws());
        if read.1 != Some(self.rows.last_evidence()) || !library.draws(&self.rows)?.is_some_and(is_kept) {
            return Ok(());
        }
        let bounds = self.bounds(model, &[]).to_bytes();
        let envelopes = self.belief.posterior().envelopes(self.belief.target());
        let kept = library.write(|connection| {
            // Bounds under one model are none under another.
            if library.read_so_far()? != read || library.model_sum()? != model {
                return Ok(());
            }
            library.put_bounds(&BoundsNow::All(bounds))?;
            library.run(|| connection.execute("DELETE FROM envelopes", []))?;
            for (number, envelope) in &envelopes {
                let insert = "INSERT INTO envelopes VALUES (?1, ?2)";
                library.run(|| connection.prepare_cached(insert)?.execute(params![number, envelope]))?;
                library.seal(Of::Envelope, i64::from(*number), envelope)?;
            }
            Ok(())
        });
        if_it_could_be(kept)
    }

    /// What is kept beside the draws, under the model that has this sum, of groups that are not known.
    fn bounds(&self, model: u32, known: &[u64]) -> Kept {
        let target = self.belief.target();
        let row = |face: FaceId| self.rows.faces[face.index()];
        let odd = target.all_odd().iter().map(|(&face, &odd)| (row(face), odd, row(odd.look_alike)));
        let bounds = self.belief.posterior().bounds(&self.rows.keys_of_faces(), known);
        Kept { model, odd: odd.collect(), bounds }
    }
}

/// What is believed of a large library.
struct Outlined {
    believed: Believed,
    /// Whether all that was read so far is as it was stored: known when a question has been answered.
    is_sound: Arc<AtomicBool>,
    news: Option<News>,
}

/// What is news since draws were kept, and which draws were read.
struct News {
    /// The faces that something was said of, and those that may have become another person's.
    said: BTreeSet<FaceId>,
    moved: BTreeSet<FaceId>,
    /// Whether faces are ignored that were somebody's.
    is_smaller: bool,
    chains: Vec<Draw>,
    /// What chains and draws were written by.
    before: Before,
    /// The groups that bounds were kept of when all were.
    known: Vec<u64>,
    read: Read,
    model: u32,
}

/// Which draws there are, up to which entry of the log they know, and which bases they were written by.
type Read = (Option<i64>, Option<EntryId>, Option<i64>);

impl Outlined {
    fn is_sound(&self) -> bool {
        self.is_sound.load(Ordering::Relaxed)
    }

    /// Keeps what is news: chains, draws, and the people concerned.
    fn keep(&self, library: &Library) -> Result<(), StoreError> {
        let Some(news) = &self.news else { return Ok(()) };
        let News { said, moved, is_smaller, chains, before, read, model, .. } = news;
        let Believed { belief, rows } = &self.believed;
        let bodies = Bodies::of(chains, belief.draws(), rows, before);
        let bounds = self.bounds_since(news);
        let person_of = library.person_of_faces(rows)?;
        let named = if moved.is_empty() { self.named(said, &person_of) } else { Vec::new() };
        let are_others = !moved.is_empty() || *is_smaller;
        let people = are_others.then(|| made_out_near(belief.draws(), rows, moved, &person_of));
        let kept = library.write(|connection| {
            // Another process may have learnt meanwhile, or begun to; then it will be asked again.
            if library.read_so_far()? != *read || library.model_sum()? != *model {
                return Ok(());
            }
            library.remember_in_place(bodies)?;
            library.put_bounds(&bounds)?;
            people.iter().try_for_each(|people| library.set_people(people, rows))?;
            for (person, name, p) in named {
                let update = "UPDATE people SET name = ?2, name_p = ?3 WHERE id = ?1";
                library.run(|| connection.execute(update, params![person, name, p]))?;
            }
            library.set(BELIEVED, rows.last_evidence())
        });
        if_it_could_be(kept)
    }

    /// Bounds of the groups that came since all were kept, or of all, where those are many.
    fn bounds_since(&self, News { known, model, .. }: &News) -> BoundsNow {
        let since = self.believed.bounds(*model, known);
        match since.bounds.groups.len() * MOST_SINCE > known.len() {
            true => BoundsNow::All(self.believed.bounds(*model, &[]).to_bytes()),
            false => BoundsNow::Since(since.to_bytes()),
        }
    }

    /// The people of whose faces something was said, and what they are called.
    fn named(
        &self,
        said: &BTreeSet<FaceId>,
        person_of: &[Option<PersonId>],
    ) -> Vec<(PersonId, Option<NameRow>, f64)> {
        let Believed { belief, rows } = &self.believed;
        let people: BTreeSet<PersonId> = said.iter().filter_map(|face| person_of[face.index()]).collect();
        let named = |person: PersonId| {
            let is_their = |face: &FaceId| person_of[face.index()] == Some(person);
            let name = name_of(&belief.faces().filter(is_their).collect::<Vec<_>>(), belief.draws());
            (person, name.map(|(label, _)| rows.names[label.index()]), name.map_or(0.0, |name| name.1))
        };
        people.into_iter().map(named).collect()
    }
}

impl Library {
    /// Asks something about few faces of what is believed. Of a large library of which little is new, those
    /// embeddings are read that may matter.
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
        let believed = Believed::open_whole(self)?;
        let answer = question(&believed)?;
        believed.keep_bounds(self)?;
        Ok(answer)
    }

    /// Takes in what was said and seen since, where that is little and the library is large; otherwise
    /// nothing is done.
    pub fn take_in_news(&self) -> Result<(), StoreError> {
        if self.is_believed()? { Ok(()) } else { self.outlined().map(drop) }
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
        let (Some(since), Some(new), Some((kept, mut bounds))) =
            (self.get(BELIEVED)?, self.newcomers()?, self.kept_bounds()?)
        else {
            return Ok(None);
        };
        beside.run(|| beside.connection.execute_batch("BEGIN"))?;
        if beside.read_so_far()? != self.read_so_far()? || beside.newest_bounds()? != self.newest_bounds()? {
            return Ok(None);
        }
        let beside = Arc::new(Mutex::new(beside));
        let envelopes: Option<Arc<dyn Envelopes>> = Some(Arc::new(StoredEnvelopes(beside.clone())));
        let is_sound = Arc::new(AtomicBool::new(true));
        let (Snapshot { data, mut rows }, bodies) = self.outline_and_draws(&beside, is_sound.clone())?;
        rows.model = Some(kept.model);
        let said = rows.said_since(Some(since));
        if said.len() > MOST_WORDS || are_strange(&new, &rows, &data) {
            return Ok(None);
        }
        let (odd, again) = kept.odd(&rows);
        let mut target = Target::with_odd(model(self, &data, None)?, data, odd)?;
        target.look_again(&again);
        let key_of = rows.keys_of_faces();
        let bounded = Bounded { kept: &bounds, key_of: &key_of, envelopes };
        let seed = self.get(SEED)?.unwrap_or(1);
        if since == rows.last_evidence() && new.is_empty() {
            let Some(draws) = draws_of(bodies, &rows) else { return Ok(None) };
            let belief = Belief::of_bounded_draws(target, draws, &bounded, seed);
            let outlined = |belief| Outlined { believed: Believed { belief, rows }, is_sound, news: None };
            return Ok(belief.map(outlined));
        }
        target.look_again(&said);
        let (moment, read) = (rows.last_evidence().0 as u64 + rows.faces.len() as u64, self.read_so_far()?);
        let chains = self.chains()?;
        let bases = |bodies: &[Stored]| bodies.iter().map(|stored| stored.bases.clone()).collect();
        let before = Before { chains: bases(&chains), draws: bases(&bodies) };
        let [chains, draws] = [chains, bodies].map(|bodies| remembered(bodies, &rows, &target));
        let is_smaller = self.n_members()? + new.len() > rows.faces.len();
        let unsaid = rows.unsaid_since(since);
        let since = Since { chains, draws, said: said.clone(), unsaid, seed: (seed, moment) };
        let nearby = rows.guarded(|| Belief::nearby(target, since, &bounded))?;
        let Some(Nearby { belief, chains, moved }) = nearby else { return Ok(None) };
        // The model may have been learnt anew, for so many faces.
        if self.model_sum()? != kept.model {
            return Ok(None);
        }
        let known = std::mem::take(&mut bounds[0].groups);
        let news = Some(News { said, moved, is_smaller, chains, before, known, read, model: kept.model });
        Ok(Some(Outlined { believed: Believed { belief, rows }, is_sound, news }))
    }

    /// The library but for embeddings, and draws, which are read at the same time by a second connection.
    fn outline_and_draws(
        &self,
        beside: &Arc<Mutex<Self>>,
        is_sound: Arc<AtomicBool>,
    ) -> Result<(Snapshot, Vec<Stored>), StoreError> {
        let dimension = self.dimension()?.unwrap_or(0);
        let draws = |beside: Arc<Mutex<Self>>| {
            let beside = beside.lock().unwrap_or_else(PoisonError::into_inner);
            (beside.bodies(Of::Draw), beside.take_notes())
        };
        let mut found = None;
        let outline = rayon::in_place_scope(|scope| {
            let other = beside.clone();
            scope.spawn(|_| found = Some(draws(other)));
            self.outline(beside, |rows| {
                let reader = Reader::of(beside.clone(), rows.to_vec(), dimension, is_sound);
                Embeddings::elsewhere(Box::new(reader), dimension)
            })
        });
        let (draws, notes) = found.expect("the scope has ended");
        notes.into_iter().for_each(|line| self.note(line));
        Ok((outline?, draws?))
    }

    fn n_members(&self) -> Result<usize, StoreError> {
        self.run(|| self.connection.query_row("SELECT count(*) FROM members", [], |row| row.get(0)))
    }

    /// The faces that have come since people were made out; `None` where there are many, or others that are
    /// nobody's.
    fn newcomers(&self) -> Result<Option<Vec<FaceRow>>, StoreError> {
        if !self.is_checked()? {
            return Ok(None);
        }
        let ignored = ignored(&self.log()?);
        let latest: BTreeSet<FaceRow> = self.run(|| {
            let last = "SELECT coalesce(max(face), 0) FROM members";
            let query = format!("SELECT id FROM faces WHERE id > ({last}) LIMIT ?1");
            let mut query = self.connection.prepare(&query)?;
            query.query_map([MOST_NEW + ignored.len() + 1], |row| row.get(0))?.collect()
        })?;
        let new: Vec<FaceRow> = latest.iter().copied().filter(|row| !ignored.contains(row)).collect();
        if new.len() > MOST_NEW {
            return Ok(None);
        }
        // Others of nobody are to be ignored ones. They are counted: to find them would be a look at every
        // face.
        let mut n_of_nobody = latest.len();
        for row in ignored.iter().filter(|row| !latest.contains(row)) {
            let query = "SELECT count(*) FROM faces WHERE id = ?1 AND id NOT IN (SELECT face FROM members)";
            n_of_nobody += self.run(|| {
                self.connection.prepare_cached(query)?.query_row([row], |row| row.get::<_, usize>(0))
            })?;
        }
        Ok((self.n_members()? + n_of_nobody == self.n_faces()?).then_some(new))
    }

    fn read_so_far(&self) -> Result<Read, StoreError> {
        let newest = |query| self.run(|| self.connection.query_row(query, [], |row| row.get(0)));
        let (draws, bases) = (newest("SELECT max(id) FROM draws")?, newest("SELECT max(id) FROM bases")?);
        Ok((draws, self.get(BELIEVED)?, bases))
    }

    /// Which bounds there are; envelopes are made with them.
    fn newest_bounds(&self) -> Result<Option<i64>, StoreError> {
        let newest = "SELECT max(id) FROM bounds";
        self.run(|| self.connection.query_row(newest, [], |row| row.get(0)))
    }

    /// Whether there are too many faces to be read for every question, in a file of its own: there a second
    /// reader sees the same, and a copy in memory has been read already.
    fn is_large_file(&self) -> Result<bool, StoreError> {
        let is_file = self.connection.path().is_some_and(|path| !path.is_empty());
        let n_numbers = self.n_faces()?.saturating_mul(self.dimension()?.unwrap_or(0));
        Ok(is_file && n_numbers >= self.many_numbers.get())
    }
}

/// Whether any of some faces cannot be of the network of the others.
fn are_strange(new: &[FaceRow], rows: &Rows, data: &Dataset) -> bool {
    let new: Vec<FaceId> = new.iter().filter_map(|&row| rows.face_of(row)).collect();
    let step = data.n_faces().div_ceil(MOST_LENGTHS);
    if new.is_empty() {
        return false;
    }
    let known = data.faces().filter(|face| !new.contains(face)).step_by(step);
    let usual = Lengths::of(known.map(|face| data.embedding(face)));
    let new: Vec<&[f32]> = new.iter().map(|&face| data.embedding(face)).collect();
    !stages::strange(&new, &[], &usual).is_empty()
}

/// What was kept, or not because another process writes: an answer is as good without.
fn if_it_could_be(kept: Result<(), StoreError>) -> Result<(), StoreError> {
    match kept {
        Err(StoreError::Busy { .. }) => Ok(()),
        kept => kept,
    }
}

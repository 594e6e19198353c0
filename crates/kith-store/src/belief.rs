//! What is believed of a library: draws and chains are read when somebody asks, go on with what was seen and
//! said since, and are kept again.

use std::collections::{BTreeSet, HashMap};

use kith::belief::{Belief, Chains, News};
use kith::chain::{Draw, Memory};
use kith::data::Statement;
use kith::ids::FaceId;
use kith::target::Target;
use kith_io::model_file::to_tree;

use crate::ids::{EntryId, FaceRow};
use crate::log::{Entry, Kind, ignored};
use crate::memory::{Before, Bodies, whole};
use crate::meta::{BELIEVED, MODEL, SEED};
use crate::model::model;
use crate::snapshot::{Meaning, Rows, Snapshot};
use crate::{Library, StoreError};

/// What is believed, and which rows of the library its faces, frames and names are.
#[derive(Debug)]
pub struct Believed {
    /// The model with the faces, draws, and chains once they are needed.
    pub belief: Belief,
    /// The rows.
    pub rows: Rows,
}

impl Believed {
    /// What is believed now: everything that was seen and said since is taken in, by a few local moves.
    /// Refused while there is no face to believe anything of.
    pub fn open(library: &Library) -> Result<Self, StoreError> {
        library.take_in_news()?;
        Self::open_whole(library)
    }

    /// The same, everything read at once.
    pub(crate) fn open_whole(library: &Library) -> Result<Self, StoreError> {
        let (target, rows) = library.target(None)?;
        let (seed, believed) = (library.get(SEED)?.unwrap_or(1), library.get(BELIEVED)?);
        if believed == Some(rows.last_evidence())
            && let Some(draws) = library.draws(&rows)?
        {
            return Ok(Self { belief: Belief::of_draws(target, draws, seed), rows });
        }
        let (belief, touched) = rows.guarded(|| catch_up(library, target, &rows, believed))??;
        Self { belief, rows }.kept(library, &touched)
    }

    /// Keeps it, if that can be; only `touched` faces may change to another person.
    fn kept(mut self, library: &Library, touched: &BTreeSet<FaceId>) -> Result<Self, StoreError> {
        match self.save(library, Some(touched)) {
            // Another process writes: the answer is as good without being kept.
            Ok(()) | Err(StoreError::Busy { .. }) => Ok(self),
            Err(error) => Err(error),
        }
    }

    /// What is believed after what was said since, without reading faces anew. `None` where that cannot be
    /// told so: an act was taken back, or faces came or went.
    pub fn after_news(&self, library: &Library) -> Result<Option<Self>, StoreError> {
        let log = library.log()?;
        let is_told =
            |entry: &Entry| matches!(entry.kind, Kind::Name | Kind::Not | Kind::Same | Kind::Different);
        let mut news = log.iter().filter(|entry| entry.id > self.rows.last_evidence());
        let n_ignored = library.n_faces()?.checked_sub(self.rows.faces.len() + self.rows.set_aside.len());
        let all_told = news.all(|entry| is_told(entry) || !entry.kind.is_evidence());
        if !all_told || n_ignored != Some(self.rows.n_ignored()) || !self.rows.are_ignored(&ignored(&log)) {
            return Ok(None);
        }
        let (mut rows, mut target) = (self.rows.clone(), self.belief.target().clone());
        let said = rows.hear_news(library, &mut target)?;
        // In a large library only the people concerned move.
        library.take_in_news()?;
        if library.get(BELIEVED)? == Some(rows.last_evidence())
            && let Some(draws) = library.draws(&rows)?
        {
            let belief = Belief::of_draws(target, draws, library.get(SEED)?.unwrap_or(1));
            return Ok(Some(Self { belief, rows }));
        }
        let person_of = library.person_of_faces(&rows)?;
        let news = News { said, person_of: &person_of, moment: rows.last_evidence().0 as u64 };
        let memories = self.belief.draws().iter().map(Memory::of).collect();
        let seed = library.get(SEED)?.unwrap_or(1);
        let (belief, touched) = rows.guarded(|| Belief::catch_up(target, memories, seed, news))?;
        Self { belief, rows }.kept(library, &touched).map(Some)
    }

    /// Brings the chains back, if they are not there.
    pub fn with_chains(&mut self, library: &Library) -> Result<&mut Belief, StoreError> {
        if self.belief.chains().is_empty() {
            self.belief.resume_chains(&library.memories(&self.rows)?);
        }
        Ok(&mut self.belief)
    }

    /// Keeps chains, draws and people; only `touched` faces may change to another person, where it is given.
    pub(crate) fn save(
        &mut self,
        library: &Library,
        touched: Option<&BTreeSet<FaceId>>,
    ) -> Result<(), StoreError> {
        let people = library.made_out(self.belief.draws(), &self.rows, touched)?;
        let bodies = Bodies::of(&self.belief.now(), self.belief.draws(), &self.rows, &Before::default());
        library.write(|_| {
            library.remember(bodies)?;
            library.set_people(&people, &self.rows)?;
            library.set(BELIEVED, self.rows.last_evidence())
        })
    }

    /// Keeps the chains only; draws go on from where they were when somebody asks.
    pub(crate) fn save_chains(&self, library: &Library) -> Result<(), StoreError> {
        let chains = whole(&self.belief.now(), &self.rows);
        library.write(|_| library.remember_chains(&chains))
    }

    /// Takes in what was said since, without reading faces anew; returns the faces it was said of. Chains are
    /// to be settled.
    pub(crate) fn hear_news(&mut self, library: &Library) -> Result<BTreeSet<FaceId>, StoreError> {
        self.rows.hear_news(library, self.belief.target_mut())
    }

    /// How probable it is that what entries say is true, by the draws, and for names and "the same" that
    /// looks alone would put the face where it was said to belong, whichever is less; `None` where an entry
    /// says nothing of who is who. That looks mislead is no objection to a correction.
    pub fn agreements(&self, entries: &[Entry]) -> Vec<Option<f64>> {
        let spoken = |entry: &Entry| match self.rows.meaning(entry).filter(|_| entry.stands) {
            Some(Meaning::Named(face, label)) if label.is_word => vec![face],
            Some(Meaning::Said(Statement::Same(a, b))) => vec![a, b],
            _ => Vec::new(),
        };
        let faces: BTreeSet<FaceId> = entries.iter().flat_map(spoken).collect();
        let at_home: HashMap<FaceId, f64> = self.belief.at_home(&Vec::from_iter(faces)).into_iter().collect();
        let agreement = |entry: &Entry| {
            let holds = self.holds(self.rows.meaning(entry)?);
            Some(spoken(entry).iter().map(|face| at_home[face]).fold(holds, f64::min))
        };
        entries.iter().map(agreement).collect()
    }

    /// In what share of the draws something is true.
    fn holds(&self, meaning: Meaning) -> f64 {
        let identity = |draw: &Draw, face: FaceId| draw.person(draw.identities[face.index()]);
        let name = |draw: &Draw, face: FaceId| draw.names_of_people()[draw.identities[face.index()] as usize];
        let holds = |draw: &&Draw| match meaning {
            Meaning::Named(face, label) => name(draw, face) == Some(label.name),
            Meaning::Said(Statement::Not(face, label)) => name(draw, face) != Some(label),
            Meaning::Said(Statement::Same(a, b)) => identity(draw, a) == identity(draw, b),
            Meaning::Said(Statement::Different(a, b)) => identity(draw, a) != identity(draw, b),
        };
        let draws = self.belief.draws();
        draws.iter().filter(holds).count() as f64 / draws.len() as f64
    }
}

impl Believed {
    /// The face that one looks most like of which something was said.
    pub fn look_alike(&self, face: FaceRow) -> Option<FaceRow> {
        let odd = self.belief.target().odd(self.rows.face_of(face)?)?;
        Some(self.rows.faces[odd.look_alike.index()])
    }
}

impl Library {
    /// Whether people are as everything that was seen and said makes them; then nothing need be read of
    /// faces.
    pub fn is_believed(&self) -> Result<bool, StoreError> {
        Ok(self.get(BELIEVED)? == Some(self.last_evidence()?) && self.is_all_of_somebody()?)
    }

    /// Whether there are draws, and every face that is not ignored is somebody's.
    pub(crate) fn is_all_of_somebody(&self) -> Result<bool, StoreError> {
        let count =
            |query: &str| self.run(|| self.connection.query_row(query, [], |row| row.get::<_, usize>(0)));
        if !self.is_checked()? {
            return Ok(false);
        }
        // Faces that are set aside are of nobody either: then all is read, and they are named.
        let ignored = ignored(&self.log()?);
        Ok(count("SELECT count(*) FROM members")? + ignored.len() == self.n_faces()?)
    }

    /// Whether there are draws, and every embedding has a checksum: one without was stored before there were
    /// any, and is looked at first.
    pub(crate) fn is_checked(&self) -> Result<bool, StoreError> {
        let count =
            |query: &str| self.run(|| self.connection.query_row(query, [], |row| row.get::<_, usize>(0)));
        if count("SELECT count(*) FROM draws")? == 0 {
            return Ok(false);
        }
        // All of a table are counted by its pages, some of them one by one: nearly all are of faces.
        let others = count("SELECT count(*) FROM sums WHERE of < 'faces'")?
            + count("SELECT count(*) FROM sums WHERE of > 'faces'")?;
        Ok(count("SELECT count(*) FROM sums")? - others >= self.n_faces()?)
    }

    /// The model and the faces, and their rows; `learning` as in [`model`].
    pub(crate) fn target(&self, learning: Option<&mut dyn FnMut(f64)>) -> Result<(Target, Rows), StoreError> {
        let Snapshot { data, mut rows } = self.snapshot()?;
        if rows.faces.is_empty() {
            return Err(StoreError::Nobody { path: self.path().to_owned(), has_faces: self.n_faces()? > 0 });
        }
        // Another process may set another model between any two lines; whoever learns has claimed the
        // library.
        let (is_alone, before) = (learning.is_some(), self.model_sum()?);
        let model = model(self, &data, learning)?;
        let after = self.model_sum()?;
        let is_kept = || Ok::<_, StoreError>(self.get(MODEL)? == Some(to_tree(&model).to_string()));
        rows.model = (is_alone || after == before || is_kept()?).then_some(after);
        Ok((Target::new(model, data)?, rows))
    }
}

/// Takes in what was seen and said since; returns, too, the faces that may change to another person.
fn catch_up(
    library: &Library,
    target: Target,
    rows: &Rows,
    believed: Option<EntryId>,
) -> Result<(Belief, BTreeSet<FaceId>), StoreError> {
    let seed = library.get(SEED)?.unwrap_or(1);
    let mut memories = library.memories_of_draws(rows, true)?;
    if memories.is_empty() {
        memories = library.memories(rows)?;
    }
    if memories.is_empty() {
        let belief = Belief::at_first_sight(target, Chains { seed, ..Chains::default() });
        let all = belief.faces().collect();
        return Ok((belief, all));
    }
    let said = rows.said_since(believed);
    let person_of = library.person_of_faces(rows)?;
    let news = News { said, person_of: &person_of, moment: rows.last_evidence().0 as u64 };
    Ok(Belief::catch_up(target, memories, seed, news))
}

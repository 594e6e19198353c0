//! Frames as they arrive: each is stored, then answered, and nobody's id churns.
//!
//! What is inferred is the library crate's ([`kith::belief::stream`]); here it is stored, and kept.

use std::collections::BTreeSet;

use kith::belief::hear::{MOST_TOUCHED, with_company};
use kith::belief::stages;
use kith::belief::stream::{Look, Stream, Weighed};
use kith::ids::FaceId;
use kith::predict::Answer;
use rusqlite::params;

use crate::belief::Believed;
use crate::faces::NewFrame;
use crate::ids::{ActId, FaceRow, FrameRow, PersonId};
use crate::log::Saying;
use crate::{Claim, Kind, Library, StoreError};

/// After so many frames what is believed is kept.
const FRAMES_PER_SAVE: usize = 1000;

/// A library that learns from a stream.
pub struct Watcher {
    library: Library,
    _claim: Claim,
    believed: Option<(Believed, Stream<PersonId>)>,
    n_unsaved: usize,
    /// With so many faces the face prior is learnt anew.
    n_when_due: usize,
}

/// What is believed of a face of a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The face's id.
    pub key: String,
    /// The answer.
    pub answer: Answer,
    /// Who it is taken for from now on.
    pub person: PersonId,
    /// How probable that person is.
    pub person_p: f64,
    /// Whether the person is new.
    pub is_new: bool,
}

/// A frame that was stored: its row, and row, id and embedding of its faces.
type Stored = (FrameRow, Vec<(FaceRow, String, Vec<f32>)>);

impl Watcher {
    /// Begins to watch; the claim keeps others from learning meanwhile.
    pub fn new(library: Library) -> Result<Self, StoreError> {
        let claim = library.claim()?;
        let mut watcher = Self { library, _claim: claim, believed: None, n_unsaved: 0, n_when_due: 0 };
        watcher.reload()?;
        Ok(watcher)
    }

    /// The library.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// The known names, as answers number them.
    pub fn names(&self) -> &[String] {
        self.believed.as_ref().map_or(&[], |(believed, _)| believed.belief.target().data().names())
    }

    /// Brings belief back from the file.
    fn reload(&mut self) -> Result<(), StoreError> {
        if self.library.n_faces()? == 0 {
            return Ok(());
        }
        let mut believed = match Believed::open(&self.library) {
            Err(StoreError::Nobody { .. }) => return Ok(()),
            believed => believed?,
        };
        let person_of = self.library.person_of_faces(&believed.rows)?;
        let stream = Stream::new(person_of, believed.with_chains(&self.library)?.chains());
        self.n_when_due = 2 * believed.rows.faces.len();
        self.believed = Some((believed, stream));
        Ok(())
    }

    /// A frame arrives: it is stored, and answered when it is on the disk. A refused frame changes nothing.
    pub fn see(&mut self, frame: &NewFrame, embedding: Option<&str>) -> Result<Vec<Seen>, StoreError> {
        let n_known = frame.faces.iter().filter(|face| self.library.face(&face.key).is_ok()).count();
        if n_known > 0 && n_known < frame.faces.len() {
            return Err(StoreError::refused(
                "found a frame with both known and new faces, wanted only new ones",
            ));
        }
        let has_names = frame.faces.iter().any(|face| face.name.is_some());
        if self.believed.is_none() || has_names || (n_known == 0 && self.library.has_frame(frame)?) {
            return self.see_first(frame, embedding);
        }
        let rows = self.store(frame, embedding)?;
        let Some((frame_row, faces)) = rows else { return self.see_again(frame) };
        let (believed, _) = self.believed.as_mut().expect("there is a belief");
        let ids =
            believed.rows.push(frame_row, frame.context.as_deref(), &faces, believed.belief.target_mut())?;
        let n_faces = believed.rows.faces.len();
        let weighed = self.weigh(&ids, if n_faces <= stages::ALL_SWEPT { Look::AtAll } else { Look::New })?;
        let seen = self.decide(&ids, weighed)?;
        self.n_unsaved += 1;
        // What faces look like in general is learnt anew while there are few: see `stages::due`.
        let is_due = n_faces >= self.n_when_due && n_faces < stages::PRIOR_AT_ONCE;
        if self.n_unsaved >= FRAMES_PER_SAVE || is_due {
            self.save()?;
        }
        if is_due {
            self.believed = None;
            self.reload()?;
        }
        Ok(seen)
    }

    /// The first frame, one that comes with names, and more faces for one that is there: by the way of `add`.
    fn see_first(&mut self, frame: &NewFrame, embedding: Option<&str>) -> Result<Vec<Seen>, StoreError> {
        self.save()?;
        let added = self.library.add(std::slice::from_ref(frame), embedding)?;
        self.believed = None;
        self.reload()?;
        let mut seen = self.see_again(frame)?;
        if added.known == 0 {
            // Somebody is new who is on no other frame.
            let here = |person| seen.iter().filter(|seen| seen.person == person).count();
            let person_of = self.believed.as_ref().map_or(&[][..], |(_, stream)| stream.person_of());
            let n_of = |person| person_of.iter().filter(|known| **known == Some(person)).count();
            let are_new: Vec<bool> = seen.iter().map(|seen| n_of(seen.person) == here(seen.person)).collect();
            seen.iter_mut().zip(are_new).for_each(|(seen, is_new)| seen.is_new = is_new);
        }
        Ok(seen)
    }

    /// A frame whose faces are all known already: what is believed of them now.
    fn see_again(&mut self, frame: &NewFrame) -> Result<Vec<Seen>, StoreError> {
        let mut ids = Vec::new();
        let Some((believed, _)) = &self.believed else { return Ok(Vec::new()) };
        for face in &frame.faces {
            ids.extend(believed.rows.face_of(self.library.face(&face.key)?));
        }
        let weighed = self.weigh(&ids, Look::Again)?;
        self.decide(&ids, weighed)
    }

    /// Stores a frame; `None` when all of its faces were there before.
    fn store(&self, frame: &NewFrame, embedding: Option<&str>) -> Result<Option<Stored>, StoreError> {
        let added = self.library.add(std::slice::from_ref(frame), embedding)?;
        if added.faces == 0 {
            return Ok(None);
        }
        let mut faces = Vec::new();
        for face in &frame.faces {
            faces.push((self.library.face(&face.key)?, face.key.clone(), face.embedding.clone()));
        }
        let query = "SELECT frame FROM faces WHERE id = ?1";
        let row =
            self.library.run(|| self.library.connection.query_row(query, [faces[0].0], |row| row.get(0)))?;
        Ok(Some((row, faces)))
    }

    /// Seats faces in all chains and weighs their seats.
    fn weigh(&mut self, ids: &[FaceId], look: Look) -> Result<Vec<Weighed<PersonId>>, StoreError> {
        let (believed, stream) = self.believed.as_mut().expect("there is a belief");
        Ok(stream.weigh(ids, look, believed.with_chains(&self.library)?))
    }

    /// Makes up its mind who everybody is, writes it down, and answers.
    fn decide(&mut self, ids: &[FaceId], weighed: Vec<Weighed<PersonId>>) -> Result<Vec<Seen>, StoreError> {
        let library = &self.library;
        let mut seen = Vec::new();
        let (believed, stream) = self.believed.as_mut().expect("there is a belief");
        library.write(|connection| {
            for (&face, weighed) in ids.iter().zip(weighed) {
                let (known, person_p) = stream.decide(face, &weighed);
                let person = match known {
                    Some(person) => person,
                    None => {
                        library.run(|| connection.execute("INSERT INTO people DEFAULT VALUES", []))?;
                        PersonId(connection.last_insert_rowid())
                    }
                };
                stream.take_for(face, person, believed.with_chains(library)?.chains());
                let row = believed.rows.faces[face.index()];
                let insert = "INSERT INTO members VALUES (?1, ?2, ?3) ON CONFLICT (face) DO UPDATE SET \
                              person = excluded.person, p = excluded.p";
                library.run(|| connection.prepare_cached(insert)?.execute(params![row, person, person_p]))?;
                let (key, answer) = (believed.rows.keys[face.index()].clone(), weighed.answer);
                seen.push(Seen { key, answer, person, person_p, is_new: known.is_none() });
            }
            Ok(())
        })?;
        Ok(seen)
    }

    /// Somebody says something; when this returns it is on the disk and counts.
    pub fn say(&mut self, by: &str, saying: &Saying<'_>) -> Result<ActId, StoreError> {
        if saying.kind == Kind::Ignore {
            self.save()?;
        }
        let act = self.library.say(by, std::slice::from_ref(saying))?;
        if saying.kind == Kind::Ignore || self.believed.is_none() {
            self.believed = None;
            self.reload()?;
            return Ok(act);
        }
        let (believed, stream) = self.believed.as_mut().expect("there is a belief");
        let touched = believed.hear_news(&self.library)?;
        let touched = with_company(touched, &BTreeSet::new(), stream.person_of(), MOST_TOUCHED);
        let belief = believed.with_chains(&self.library)?;
        belief.settle(&touched);
        stream.match_chains(belief.chains());
        self.n_unsaved += 1;
        Ok(act)
    }

    /// Takes back, or restores.
    pub fn undo(&mut self, by: &str, n: usize) -> Result<Vec<ActId>, StoreError> {
        self.save()?;
        let acts = self.library.undo(by, n)?;
        self.believed = None;
        self.reload()?;
        Ok(acts)
    }

    /// Restores what was taken back last.
    pub fn redo(&mut self, by: &str) -> Result<Option<ActId>, StoreError> {
        self.save()?;
        let act = self.library.redo(by)?;
        self.believed = None;
        self.reload()?;
        Ok(act)
    }

    /// Keeps what is believed.
    pub fn save(&mut self) -> Result<(), StoreError> {
        if self.n_unsaved > 0
            && let Some((believed, _)) = &mut self.believed
        {
            believed.save_chains(&self.library)?;
            self.n_unsaved = 0;
        }
        Ok(())
    }
}

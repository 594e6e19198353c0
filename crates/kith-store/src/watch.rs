//! Frames as they arrive: each is stored, then answered, and nobody's id churns.
//!
//! The faces of a frame are seated by every chain and looked at again a few times; the probabilities of their seats,
//! averaged over chains and rounds, are the answer. Earlier faces stay where they are (`learn` looks at them again),
//! but while the library is small, when every frame sweeps them all.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kith::belief::hear::{MOST_TOUCHED, with_company};
use kith::belief::stages;
use kith::chain::Chain;
use kith::gibbs::Sweep;
use kith::ids::{FaceId, IdentityId};
use kith::predict::{Answer, Tally};
use kith::state::Seat;
use rayon::prelude::*;
use rusqlite::params;

use crate::belief::Believed;
use crate::faces::NewFrame;
use crate::ids::{ActId, FaceRow, FrameRow, PersonId};
use crate::log::Saying;
use crate::who::people_of_slots;
use crate::{Claim, Kind, Library, StoreError};

/// How often the faces of a frame are looked at.
const ROUNDS: usize = 3;
/// After so many frames what is believed is kept.
const FRAMES_PER_SAVE: usize = 1000;
/// Seats of a smaller probability are not counted.
const LEAST: f64 = 1e-12;

/// A library that learns from a stream.
pub struct Watcher {
    library: Library,
    _claim: Claim,
    believed: Option<Believed>,
    /// The person of every face, and per chain of every identity.
    person_of: Vec<Option<PersonId>>,
    slots: Vec<HashMap<IdentityId, PersonId>>,
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

/// What one chain says of one face.
#[derive(Clone, Default)]
struct Said {
    /// Per round the seats that matter.
    seats: Vec<Vec<Seat>>,
    /// The probabilities of a new identity's names.
    names_of_new: Vec<f64>,
    /// Sums over rounds.
    people: BTreeMap<PersonId, f64>,
}

/// What all chains say of one face.
struct Weighed {
    answer: Answer,
    people: BTreeMap<PersonId, f64>,
}

/// A frame that was stored: its row, and row, id and embedding of its faces.
type Stored = (FrameRow, Vec<(FaceRow, String, Vec<f32>)>);

/// How faces of a frame are looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Look {
    /// They were seated before.
    Again,
    /// They have just arrived.
    New,
    /// They have just arrived where there are few: all faces are swept with them.
    AtAll,
}

impl Watcher {
    /// Begins to watch; the claim keeps others from learning meanwhile.
    pub fn new(library: Library) -> Result<Self, StoreError> {
        let claim = library.claim()?;
        let mut watcher = Self {
            library,
            _claim: claim,
            believed: None,
            person_of: Vec::new(),
            slots: Vec::new(),
            n_unsaved: 0,
            n_when_due: 0,
        };
        watcher.reload()?;
        Ok(watcher)
    }

    /// The library.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// The known names, as answers number them.
    pub fn names(&self) -> &[String] {
        self.believed.as_ref().map_or(&[], |believed| believed.belief.target().data().names())
    }

    /// Brings belief back from the file.
    fn reload(&mut self) -> Result<(), StoreError> {
        if self.library.n_faces()? == 0 {
            return Ok(());
        }
        let mut believed = match Believed::open(&self.library) {
            // All faces are ignored.
            Err(StoreError::Refused(_)) => return Ok(()),
            believed => believed?,
        };
        believed.with_chains(&self.library)?;
        self.n_when_due = 2 * believed.rows.faces.len();
        self.person_of = self.library.person_of_faces(&believed.rows)?;
        self.believed = Some(believed);
        self.refresh_slots()
    }

    fn refresh_slots(&mut self) -> Result<(), StoreError> {
        if let Some(believed) = &mut self.believed {
            let chains = believed.with_chains(&self.library)?.chains();
            self.slots = chains.par_iter().map(|chain| people_of_slots(chain, &self.person_of)).collect();
        }
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
        let believed = self.believed.as_mut().expect("there is a belief");
        let ids =
            believed.rows.push(frame_row, frame.context.as_deref(), &faces, believed.belief.target_mut())?;
        self.person_of.resize(believed.rows.faces.len(), None);
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
            let n_of = |person| self.person_of.iter().filter(|known| **known == Some(person)).count();
            let are_new: Vec<bool> = seen.iter().map(|seen| n_of(seen.person) == here(seen.person)).collect();
            seen.iter_mut().zip(are_new).for_each(|(seen, is_new)| seen.is_new = is_new);
        }
        Ok(seen)
    }

    /// A frame whose faces are all known already: what is believed of them now.
    fn see_again(&mut self, frame: &NewFrame) -> Result<Vec<Seen>, StoreError> {
        let mut ids = Vec::new();
        let Some(believed) = &self.believed else { return Ok(Vec::new()) };
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
    fn weigh(&mut self, ids: &[FaceId], look: Look) -> Result<Vec<Weighed>, StoreError> {
        let believed = self.believed.as_mut().expect("there is a belief");
        let (target, chains) = believed.with_chains(&self.library)?.moving();
        let person_of = &self.person_of;
        let of_chain = |(chain, slots): (&mut Chain, &mut HashMap<IdentityId, PersonId>)| {
            let mut said = vec![Said::default(); ids.len()];
            // At the same cost however many faces there are; a small library is swept as a whole.
            if look == Look::New {
                chain.absorb_and_reseat(ROUNDS, target, |k, seats| said[k].count(seats, slots));
            } else {
                chain.absorb(0, target);
                if look == Look::AtAll {
                    chain.sweep(&Sweep::default(), target);
                    *slots = people_of_slots(chain, person_of);
                }
                for _ in 0..ROUNDS {
                    for (said, &face) in said.iter_mut().zip(ids) {
                        said.count(chain.reseat(face, target), slots);
                        let identity = chain.state().seating().identity_of(face).expect("it was seated");
                        chain.rename(identity, target);
                    }
                }
            }
            for (said, &face) in said.iter_mut().zip(ids) {
                said.names_of_new = chain.state().names_of_new(face, target);
            }
            said
        };
        let by_chain: Vec<Vec<Said>> = chains.par_iter_mut().zip(&mut self.slots).map(of_chain).collect();
        let data = target.data();
        let of_face = |(k, &face): (usize, &FaceId)| {
            let said: Vec<&Said> = by_chain.iter().map(|said| &said[k]).collect();
            Weighed::new(&said, data.names().len(), data.given_name(face).is_some())
        };
        Ok(ids.iter().enumerate().map(of_face).collect())
    }

    /// Makes up its mind who everybody is, writes it down, and answers.
    fn decide(&mut self, ids: &[FaceId], weighed: Vec<Weighed>) -> Result<Vec<Seen>, StoreError> {
        let library = &self.library;
        let mut seen = Vec::new();
        let believed = self.believed.as_mut().expect("there is a belief");
        library.write(|connection| {
            for (&face, weighed) in ids.iter().zip(weighed) {
                let best = weighed.people.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(&id, &p)| (id, p));
                let known = self.person_of[face.index()];
                let p_new = 1.0 - weighed.people.values().sum::<f64>();
                let (person, person_p, is_new) = match (known, best) {
                    (Some(known), _) => {
                        // Somebody of whom this is the only face is somebody new without it.
                        let others = self.person_of.iter().filter(|person| **person == Some(known)).count();
                        let alone = if others == 1 { p_new } else { 0.0 };
                        (known, weighed.people.get(&known).copied().unwrap_or(0.0) + alone, false)
                    }
                    (None, Some((person, p))) if p >= p_new => (person, p, false),
                    _ => {
                        library.run(|| connection.execute("INSERT INTO people DEFAULT VALUES", []))?;
                        (PersonId(connection.last_insert_rowid()), p_new, true)
                    }
                };
                self.person_of[face.index()] = Some(person);
                let row = believed.rows.faces[face.index()];
                let p = person_p.clamp(0.0, 1.0);
                let insert = "INSERT INTO members VALUES (?1, ?2, ?3) ON CONFLICT (face) DO UPDATE SET \
                              person = excluded.person, p = excluded.p";
                library.run(|| connection.prepare_cached(insert)?.execute(params![row, person, p]))?;
                let (key, answer) = (believed.rows.keys[face.index()].clone(), weighed.answer);
                seen.push(Seen { key, answer, person, person_p: p, is_new });
            }
            Ok(())
        })?;
        for (chain, slots) in believed.with_chains(library)?.chains().iter().zip(&mut self.slots) {
            for &face in ids {
                let identity = chain.state().seating().identity_of(face).expect("it was seated");
                if let Some(person) = self.person_of[face.index()] {
                    slots.entry(identity).or_insert(person);
                }
            }
        }
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
        let believed = self.believed.as_mut().expect("there is a belief");
        let touched = believed.hear_news(&self.library)?;
        let touched = with_company(touched, &BTreeSet::new(), &self.person_of, MOST_TOUCHED);
        believed.with_chains(&self.library)?.settle(&touched);
        self.n_unsaved += 1;
        self.refresh_slots()?;
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
            && let Some(believed) = &mut self.believed
        {
            believed.save_chains(&self.library)?;
            self.n_unsaved = 0;
        }
        Ok(())
    }
}

impl Said {
    /// One more round.
    fn count(&mut self, mut seats: Vec<Seat>, slots: &HashMap<IdentityId, PersonId>) {
        seats.retain(|seat| seat.p > LEAST);
        for seat in &seats {
            if let Some(person) = seat.identity.and_then(|identity| slots.get(&identity)) {
                *self.people.entry(*person).or_default() += seat.p;
            }
        }
        self.seats.push(seats);
    }
}

impl Weighed {
    /// Chains and rounds count alike.
    fn new(said: &[&Said], n_names: usize, is_named: bool) -> Self {
        let rounds: Vec<(&Vec<Seat>, &[f64])> = said
            .iter()
            .flat_map(|said| said.seats.iter().map(|seats| (seats, &said.names_of_new[..])))
            .collect();
        let share = 1.0 / rounds.len() as f64;
        let weights = vec![share; rounds.len()];
        let mut tally = Tally::new(&weights, n_names);
        for (number, (seats, names_of_new)) in rounds.into_iter().enumerate() {
            tally.count(number, seats, names_of_new, is_named);
        }
        let mut people: BTreeMap<PersonId, f64> = BTreeMap::new();
        for (&person, p) in said.iter().flat_map(|said| &said.people) {
            *people.entry(person).or_default() += share * p;
        }
        Self { answer: tally.answer(), people }
    }
}

//! Durable people: clusters of the representative partition, matched by overlap with the people who were
//! there before.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use kith::belief::people::{Clusters, matched, partitions};
use kith::chain::Draw;
use kith::ids::FaceId;
use kith::predict::representative::representative;
use rusqlite::{OptionalExtension, params};

use crate::ids::{FaceRow, FrameRow, NameRow, PersonId};
use crate::memory::by_row;
use crate::snapshot::Rows;
use crate::{Library, StoreError};

/// Less than one face in so many are few.
const FEW: usize = 8;

/// A person as people are shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Person {
    /// An id that survives learning.
    pub id: PersonId,
    /// The most probable name, where one is more probable than not.
    pub name: Option<String>,
    /// Its probability.
    pub name_p: f64,
    /// Row, id and probability of each face, the most certain first.
    pub faces: Vec<Member>,
    /// How often in which context.
    pub contexts: BTreeMap<String, usize>,
    /// The earliest and the latest time of its frames, as given.
    pub seen: Option<(String, String)>,
    /// What does not fit.
    pub conflicts: Vec<String>,
}

/// A face of a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The face's row.
    pub row: FaceRow,
    /// The id that people use.
    pub key: String,
    /// How sure the partition is of this place: a share of draws ([`kith::predict::representative`]), or of the
    /// face's seats where it came in a stream and nobody has learnt since.
    pub p: f64,
    /// The frame that it is on.
    pub frame: FrameRow,
    /// When that was, as given.
    pub time: Option<String>,
    /// Where that was.
    pub context: Option<String>,
}

impl Person {
    /// One more face.
    fn meet(&mut self, face: Member) {
        if let Some(context) = &face.context {
            *self.contexts.entry(context.clone()).or_default() += 1;
        }
        if let Some(time) = &face.time {
            let seconds = |text: &str| seconds(text).unwrap_or(f64::NAN);
            let (first, last) = self.seen.get_or_insert_with(|| (time.clone(), time.clone()));
            if seconds(time) < seconds(first) {
                first.clone_from(time);
            } else if seconds(time) > seconds(last) {
                last.clone_from(time);
            }
        }
        self.faces.push(face);
    }

    /// "named", "familiar" or "stranger": someone seen once and never named.
    pub fn standing(&self) -> &'static str {
        match (&self.name, self.faces.len()) {
            (Some(_), _) => "named",
            (None, 1) => "stranger",
            (None, _) => "familiar",
        }
    }

    /// The name, or the id.
    pub fn title(&self) -> String {
        self.name.clone().unwrap_or_else(|| format!("person {}", self.id))
    }
}

/// Who is who, before it is written down.
pub(crate) struct MadeOut {
    /// Whose faces they are: all, or those of some people.
    faces: Vec<FaceId>,
    people: Vec<Known>,
    clusters: Clusters,
}

/// Who a cluster is, unless it is somebody new; the name, and how sure that is.
struct Known {
    cluster: usize,
    person: Option<PersonId>,
    name: Option<NameRow>,
    p: f64,
}

/// When something was, in seconds since 1970; a time without a zone, as photos have it, is taken for
/// Greenwich's.
pub fn seconds(time: &str) -> Option<f64> {
    kith_io::time::seconds(time).or_else(|| kith_io::time::seconds(&format!("{time}Z")))
}

impl Library {
    /// The person of every face of a rows.
    pub fn person_of_faces(&self, rows: &Rows) -> Result<Vec<Option<PersonId>>, StoreError> {
        let members: Vec<(FaceRow, PersonId)> = self.run(|| {
            let mut query = self.connection.prepare("SELECT face, person FROM members ORDER BY face")?;
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })?;
        Ok(by_row(&members, &rows.faces).collect())
    }

    /// Makes out who is who: people keep their ids where clusters overlap. Faces that are not `touched`,
    /// where that is given, stay with whom they were.
    pub(crate) fn made_out(
        &self,
        draws: &[Draw],
        rows: &Rows,
        touched: Option<&BTreeSet<FaceId>>,
    ) -> Result<MadeOut, StoreError> {
        let before = self.person_of_faces(rows)?;
        let all: Vec<FaceId> = (0..rows.faces.len()).map(FaceId::new).collect();
        Ok(made_out(all, &before, draws, rows, touched))
    }
}

/// The same where only some faces are somebody else than they were: everybody who has nothing to do with them
/// is left out.
pub(crate) fn made_out_near(
    draws: &[Draw],
    rows: &Rows,
    touched: &BTreeSet<FaceId>,
    before: &[Option<PersonId>],
) -> MadeOut {
    let faces = company(touched, before, draws);
    let draws: Vec<Draw> = draws.iter().map(|draw| draw.of_some(&faces)).collect();
    let before: Vec<Option<PersonId>> = faces.iter().map(|face| before[face.index()]).collect();
    made_out(faces, &before, &draws, rows, Some(touched))
}

/// Some faces, those who share a person with them in any draw, and all faces of whoever they were before.
fn company(touched: &BTreeSet<FaceId>, before: &[Option<PersonId>], draws: &[Draw]) -> Vec<FaceId> {
    let mut is_near = vec![false; before.len()];
    touched.iter().for_each(|face| is_near[face.index()] = true);
    for draw in draws {
        let partition = draw.partition();
        let mut is_theirs = vec![false; draw.n_identities()];
        touched.iter().for_each(|face| is_theirs[partition[face.index()] as usize] = true);
        for (is_near, &person) in is_near.iter_mut().zip(partition.iter()) {
            *is_near |= is_theirs[person as usize];
        }
    }
    let near = is_near.iter().zip(before).filter(|(is_near, _)| **is_near);
    let people: BTreeSet<PersonId> = near.filter_map(|(_, &person)| person).collect();
    let is_theirs = |face: usize| before[face].is_some_and(|person| people.contains(&person));
    (0..before.len()).filter(|&face| is_near[face] || is_theirs(face)).map(FaceId::new).collect()
}

/// Who some faces are; `before` and the draws are of these faces.
fn made_out(
    faces: Vec<FaceId>,
    before: &[Option<PersonId>],
    draws: &[Draw],
    rows: &Rows,
    touched: Option<&BTreeSet<FaceId>>,
) -> MadeOut {
    let labels = representative(&partitions(draws)).labels;
    let matched = matched(&labels, before);
    // Somebody new is known by their cluster, until they have an id.
    let person_of = |(place, &cluster): (usize, &u32)| {
        let stays = touched.is_some_and(|touched| !touched.contains(&faces[place]));
        let person = before[place].filter(|_| stays).or(matched[cluster as usize]);
        (person, Reverse(if person.is_none() { cluster } else { 0 }))
    };
    let people: Vec<(Option<PersonId>, Reverse<u32>)> = labels.iter().enumerate().map(person_of).collect();
    let mut numbers: BTreeMap<(Option<PersonId>, Reverse<u32>), u32> = BTreeMap::new();
    let number = |&person: &(Option<PersonId>, Reverse<u32>)| {
        let next = numbers.len() as u32;
        *numbers.entry(person).or_insert(next)
    };
    let of_face: Vec<u32> = people.iter().map(number).collect();
    let clusters = Clusters::with(of_face, draws, rows.names.len());
    let named = |((person, _), cluster): ((Option<PersonId>, Reverse<u32>), u32)| {
        let name = clusters.names[cluster as usize];
        let (row, p) = (name.map(|(label, _)| rows.names[label.index()]), name.map_or(0.0, |name| name.1));
        Known { cluster: cluster as usize, person, name: row, p }
    };
    MadeOut { faces, people: numbers.into_iter().map(named).collect(), clusters }
}

impl Library {
    /// Writes down who is who where that is news, inside the caller's transaction, which is to be short:
    /// whoever says something waits for it.
    pub(crate) fn set_people(&self, made_out: &MadeOut, rows: &Rows) -> Result<(), StoreError> {
        let MadeOut { faces, people, clusters } = made_out;
        let connection = &self.connection;
        self.run(|| {
            let mut query = connection.prepare("SELECT id, name, name_p FROM people")?;
            let known = query.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
            let known: HashMap<PersonId, (Option<NameRow>, f64)> = known.collect::<Result<_, _>>()?;
            let mut ids = vec![PersonId(0); people.len()];
            for &Known { cluster, person, name, p } in people {
                if person.is_none_or(|person| known.get(&person) != Some(&(name, p))) {
                    let insert = "INSERT INTO people (id, name, name_p) VALUES (?1, ?2, ?3) \
                                  ON CONFLICT (id) DO UPDATE SET name = ?2, name_p = ?3";
                    connection.prepare_cached(insert)?.execute(params![person, name, p])?;
                }
                ids[cluster] = person.unwrap_or_else(|| PersonId(connection.last_insert_rowid()));
            }
            let mut known = self.known_members(made_out, rows)?;
            let insert = "INSERT INTO members VALUES (?1, ?2, ?3) ON CONFLICT (face) DO UPDATE SET \
                          person = excluded.person, p = excluded.p";
            let mut insert = connection.prepare_cached(insert)?;
            for (place, face) in faces.iter().enumerate() {
                let row = rows.faces[face.index()];
                let person = ids[clusters.of_face[place] as usize];
                let p = clusters.certainty[place].clamp(0.0, 1.0);
                if known.remove(&row) != Some((person, p)) {
                    insert.execute(params![row, person, p])?;
                }
            }
            for row in known.into_keys().filter(|&row| rows.face_of(row).is_none()) {
                connection.prepare_cached("DELETE FROM members WHERE face = ?1")?.execute([row])?;
            }
            connection.execute("DELETE FROM people WHERE id NOT IN (SELECT person FROM members)", [])?;
            Ok(())
        })
    }

    /// Whose faces were before, of those that were made out and those that are there no more. Few are looked
    /// for one by one: then the others that may be gone are ignored ones.
    fn known_members(
        &self,
        MadeOut { faces, .. }: &MadeOut,
        rows: &Rows,
    ) -> rusqlite::Result<HashMap<FaceRow, (PersonId, f64)>> {
        if faces.len() > rows.faces.len() / FEW {
            let mut query = self.connection.prepare("SELECT face, person, p FROM members")?;
            let known = query.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
            return known.collect();
        }
        let mut query = self.connection.prepare("SELECT person, p FROM members WHERE face = ?1")?;
        let mut known = HashMap::new();
        for row in faces.iter().map(|face| rows.faces[face.index()]).chain(rows.ignored()) {
            let of = query.query_row([row], |of| Ok((of.get(0)?, of.get(1)?))).optional()?;
            of.into_iter().for_each(|of| _ = known.insert(row, of));
        }
        Ok(known)
    }

    /// Every face with whose it is, the most certain first.
    fn members(&self) -> Result<Vec<(PersonId, Member)>, StoreError> {
        let query = "SELECT person, faces.id, faces.key, p, frame, time, contexts.name FROM members \
                     JOIN faces ON faces.id = face JOIN frames ON frames.id = frame \
                     LEFT JOIN contexts ON contexts.id = frames.context ORDER BY p DESC, faces.id";
        self.run(|| {
            let mut query = self.connection.prepare(query)?;
            let row = |row: &rusqlite::Row<'_>| {
                let (frame, time, context) = (row.get(4)?, row.get(5)?, row.get(6)?);
                let (key, p) = (row.get(2)?, row.get(3)?);
                Ok((row.get(0)?, Member { row: row.get(1)?, key, p, frame, time, context }))
            };
            query.query_map([], row)?.collect()
        })
    }

    /// Everybody: the named by name, then the familiar by how often they were seen, then strangers.
    pub fn people(&self) -> Result<Vec<Person>, StoreError> {
        let members = self.members()?;
        let named: Vec<(PersonId, Option<String>, f64)> = self.run(|| {
            let query =
                "SELECT people.id, names.name, name_p FROM people LEFT JOIN names ON names.id = people.name";
            let mut query = self.connection.prepare(query)?;
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
        })?;
        let mut people: BTreeMap<PersonId, Person> = named
            .into_iter()
            .map(|(id, name, name_p)| {
                let (faces, contexts) = (Vec::new(), BTreeMap::new());
                (id, Person { id, name, name_p, faces, contexts, seen: None, conflicts: Vec::new() })
            })
            .collect();
        let mut frames: HashMap<(PersonId, FrameRow), Vec<String>> = HashMap::new();
        for (id, face) in members {
            let Some(person) = people.get_mut(&id) else { continue };
            frames.entry((id, face.frame)).or_default().push(face.key.clone());
            person.meet(face);
        }
        for ((id, _), keys) in frames.into_iter().filter(|(_, keys)| keys.len() > 1) {
            let conflict = format!("twice in one frame: {}", keys.join(", "));
            people.get_mut(&id).into_iter().for_each(|person| person.conflicts.push(conflict.clone()));
        }
        for (id, names) in self.names_by_hand()? {
            if let (Some(person), true) = (people.get_mut(&id), names.len() > 1) {
                person.conflicts.push(format!("given two names: {}", names.join(", ")));
            }
        }
        let mut people: Vec<Person> =
            people.into_values().filter(|person| !person.faces.is_empty()).collect();
        people.iter_mut().for_each(|person| person.conflicts.sort());
        people.sort_by_key(|person| {
            let rank = ["named", "familiar", "stranger"].iter().position(|&s| s == person.standing());
            let name = person.name.as_ref().map(|name| name.to_lowercase());
            (rank, name, Reverse(person.faces.len()), person.id)
        });
        Ok(people)
    }

    /// What people are called, by their ids.
    pub fn titles(&self) -> Result<BTreeMap<PersonId, Option<String>>, StoreError> {
        let query = "SELECT people.id, names.name FROM people LEFT JOIN names ON names.id = people.name";
        self.run(|| {
            let mut query = self.connection.prepare(query)?;
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }

    /// Which names were given to the faces of each person, and stand.
    fn names_by_hand(&self) -> Result<BTreeMap<PersonId, Vec<String>>, StoreError> {
        let mut latest: BTreeMap<FaceRow, NameRow> = BTreeMap::new();
        for entry in self.log()?.iter().filter(|entry| entry.stands) {
            if let (crate::log::Kind::Name, Some(face), Some(name)) = (entry.kind, entry.face, entry.name) {
                latest.insert(face, name);
            }
        }
        let mut names: BTreeMap<PersonId, Vec<String>> = BTreeMap::new();
        for (face, name) in latest {
            let query = "SELECT person FROM members WHERE face = ?1";
            let person: Option<PersonId> = self.run(|| {
                self.connection.prepare_cached(query)?.query_row([face], |row| row.get(0)).optional()
            })?;
            if let Some(person) = person {
                let name = self.name_of(name)?;
                let list = names.entry(person).or_default();
                if !list.contains(&name) {
                    list.push(name);
                }
            }
        }
        Ok(names)
    }

    /// The face that stands for a person: the most certain one.
    pub fn face_of_person(&self, person: PersonId) -> Result<FaceRow, StoreError> {
        let query = "SELECT face FROM members WHERE person = ?1 ORDER BY p DESC, face LIMIT 1";
        let found = self.run(|| self.connection.query_row(query, [person], |row| row.get(0)).optional())?;
        found.ok_or_else(|| {
            StoreError::refused(format!("found no person {person} in {}", self.path().display()))
        })
    }
}

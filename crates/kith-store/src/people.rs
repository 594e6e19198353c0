//! Durable people: clusters of the representative partition, matched by overlap with the people who were there before.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kith::chain::Draw;
use kith::ids::{FaceId, LabelId};
use kith::predict::representative::representative;
use rusqlite::params;

use crate::snapshot::Rows;
use crate::{Library, StoreError};

/// A person as people are shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Person {
    /// An id that survives learning.
    pub id: i64,
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
    pub row: i64,
    /// The id that people use.
    pub key: String,
    /// How sure it is that this is the person.
    pub p: f64,
}

impl Person {
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

/// Who is who according to draws, not yet matched with anybody.
#[derive(Clone, Debug)]
pub struct Clusters {
    /// Cluster per face.
    pub of_face: Vec<u32>,
    /// How sure each face is of its cluster.
    pub certainty: Vec<f64>,
    /// Per cluster its most probable known name and its probability.
    pub names: Vec<Option<(LabelId, f64)>>,
}

impl Clusters {
    /// The representative partition of draws, with names.
    pub fn of(draws: &[Draw], n_names: usize) -> Self {
        let partitions: Vec<&[u32]> = draws.iter().map(|draw| &draw.identities[..]).collect();
        Self::with(representative(&partitions).labels, draws, n_names)
    }

    /// How sure a partition is of its faces, and its names.
    pub fn with(of_face: Vec<u32>, draws: &[Draw], n_names: usize) -> Self {
        let n_clusters = of_face.iter().max().map_or(0, |&last| last as usize + 1);
        let mut sizes = vec![0.0; n_clusters];
        of_face.iter().for_each(|&cluster| sizes[cluster as usize] += 1.0);
        let mut certainty = vec![0.0; of_face.len()];
        let mut names = vec![vec![0.0; n_names]; n_clusters];
        let share = 1.0 / draws.len() as f64;
        for draw in draws {
            let mut together: HashMap<(u32, u32), f64> = HashMap::new();
            let mut n_of = vec![0.0; draw.n_identities()];
            for (&cluster, &identity) in of_face.iter().zip(&draw.identities) {
                *together.entry((cluster, identity)).or_default() += 1.0;
                n_of[identity as usize] += 1.0;
            }
            for (face, (&cluster, &identity)) in of_face.iter().zip(&draw.identities).enumerate() {
                let size = sizes[cluster as usize];
                // Of the others of its cluster, how many are with it; alone, whether it is alone.
                let agreement = match size {
                    1.0 => f64::from(u8::from(n_of[identity as usize] == 1.0)),
                    _ => (together[&(cluster, identity)] - 1.0) / (size - 1.0),
                };
                certainty[face] += share * agreement;
                if let Some(label) = draw.names[identity as usize] {
                    names[cluster as usize][label.index()] += share / size;
                }
            }
        }
        let best = |weights: &Vec<f64>| {
            let best = weights.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
            best.filter(|&(_, p)| p > 0.5).map(|(label, p)| (LabelId::new(label), p.min(1.0)))
        };
        Self { of_face, certainty, names: names.iter().map(best).collect() }
    }
}

/// Matches clusters with people who were there before: of all pairs, the one with most faces in common first. Returns
/// the person of each cluster; `None` is somebody new.
pub fn matched(of_face: &[u32], before: &[Option<i64>]) -> Vec<Option<i64>> {
    let n_clusters = of_face.iter().max().map_or(0, |&last| last as usize + 1);
    let mut overlap: BTreeMap<(u32, i64), usize> = BTreeMap::new();
    for (&cluster, person) in of_face.iter().zip(before) {
        person.iter().for_each(|&person| *overlap.entry((cluster, person)).or_default() += 1);
    }
    let mut pairs: Vec<((u32, i64), usize)> = overlap.into_iter().collect();
    pairs.sort_by_key(|&((cluster, person), n)| (std::cmp::Reverse(n), person, cluster));
    let mut person_of = vec![None; n_clusters];
    let mut taken = BTreeSet::new();
    for ((cluster, person), _) in pairs {
        if person_of[cluster as usize].is_none() && taken.insert(person) {
            person_of[cluster as usize] = Some(person);
        }
    }
    person_of
}

impl Library {
    /// The person of every face of a rows.
    pub fn person_of_faces(&self, rows: &Rows) -> Result<Vec<Option<i64>>, StoreError> {
        let members: Vec<(i64, i64)> = self.run(|| {
            let mut query = self.connection.prepare("SELECT face, person FROM members")?;
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })?;
        let person_of: HashMap<i64, i64> = members.into_iter().collect();
        Ok(rows.faces.iter().map(|row| person_of.get(row).copied()).collect())
    }

    /// Writes down who is who, inside the caller's transaction: people keep their ids where clusters overlap. Faces that
    /// are not `touched`, where that is given, stay with whom they were.
    pub(crate) fn set_people(
        &self,
        draws: &[Draw],
        rows: &Rows,
        touched: Option<&BTreeSet<FaceId>>,
    ) -> Result<(), StoreError> {
        let before = self.person_of_faces(rows)?;
        let partitions: Vec<&[u32]> = draws.iter().map(|draw| &draw.identities[..]).collect();
        let labels = representative(&partitions).labels;
        let matched = matched(&labels, &before);
        // A new person for a cluster, until it has an id.
        let fresh = |cluster: u32| -1 - i64::from(cluster);
        let person_of = |(place, &cluster): (usize, &u32)| {
            let stays = touched.is_some_and(|touched| !touched.contains(&FaceId::new(place)));
            let kept = before[place].filter(|_| stays);
            kept.or(matched[cluster as usize]).unwrap_or_else(|| fresh(cluster))
        };
        let people: Vec<i64> = labels.iter().enumerate().map(person_of).collect();
        let mut numbers: BTreeMap<i64, u32> = BTreeMap::new();
        let number = |&person: &i64| {
            let next = numbers.len() as u32;
            *numbers.entry(person).or_insert(next)
        };
        let of_face: Vec<u32> = people.iter().map(number).collect();
        let clusters = Clusters::with(of_face, draws, rows.names.len());
        let connection = &self.connection;
        self.run(|| {
            connection.execute("DELETE FROM members", [])?;
            let mut ids = vec![0; numbers.len()];
            for (&person, &cluster) in &numbers {
                let name = clusters.names[cluster as usize];
                let row = name.map(|(label, _)| rows.names[label.index()]);
                let p = name.map_or(0.0, |name| name.1);
                ids[cluster as usize] = if person > 0 {
                    let update = "UPDATE people SET name = ?2, name_p = ?3 WHERE id = ?1";
                    connection.prepare_cached(update)?.execute(params![person, row, p])?;
                    person
                } else {
                    let insert = "INSERT INTO people (name, name_p) VALUES (?1, ?2)";
                    connection.prepare_cached(insert)?.execute(params![row, p])?;
                    connection.last_insert_rowid()
                };
            }
            let mut insert = connection.prepare_cached("INSERT INTO members VALUES (?1, ?2, ?3)")?;
            for (face, &row) in rows.faces.iter().enumerate() {
                let person = ids[clusters.of_face[face] as usize];
                insert.execute(params![row, person, clusters.certainty[face].clamp(0.0, 1.0)])?;
            }
            connection.execute("DELETE FROM people WHERE id NOT IN (SELECT person FROM members)", [])?;
            Ok(())
        })
    }

    /// Everybody: the named by name, then the familiar by how often they were seen, then strangers.
    pub fn people(&self) -> Result<Vec<Person>, StoreError> {
        struct Row {
            person: i64,
            member: Member,
            frame: i64,
            time: Option<String>,
            context: Option<String>,
        }
        let query = "SELECT person, faces.id, faces.key, p, frame, time, contexts.name FROM members \
                     JOIN faces ON faces.id = face JOIN frames ON frames.id = frame \
                     LEFT JOIN contexts ON contexts.id = frames.context ORDER BY p DESC, faces.id";
        let rows: Vec<Row> = self.run(|| {
            let mut query = self.connection.prepare(query)?;
            let row = |row: &rusqlite::Row<'_>| {
                let member = Member { row: row.get(1)?, key: row.get(2)?, p: row.get(3)? };
                let (person, frame) = (row.get(0)?, row.get(4)?);
                Ok(Row { person, member, frame, time: row.get(5)?, context: row.get(6)? })
            };
            query.query_map([], row)?.collect()
        })?;
        let named: Vec<(i64, Option<String>, f64)> = self.run(|| {
            let query =
                "SELECT people.id, names.name, name_p FROM people LEFT JOIN names ON names.id = people.name";
            let mut query = self.connection.prepare(query)?;
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
        })?;
        let mut people: BTreeMap<i64, Person> = named
            .into_iter()
            .map(|(id, name, name_p)| {
                let (faces, contexts) = (Vec::new(), BTreeMap::new());
                (id, Person { id, name, name_p, faces, contexts, seen: None, conflicts: Vec::new() })
            })
            .collect();
        let mut frames: HashMap<(i64, i64), Vec<String>> = HashMap::new();
        for row in rows {
            let Some(person) = people.get_mut(&row.person) else { continue };
            row.context.into_iter().for_each(|context| *person.contexts.entry(context).or_default() += 1);
            if let Some(time) = row.time {
                let seconds = |text: &str| kith_io::time::seconds(text).unwrap_or(f64::NAN);
                let seen = person.seen.get_or_insert_with(|| (time.clone(), time.clone()));
                if seconds(&time) < seconds(&seen.0) {
                    seen.0 = time;
                } else if seconds(&time) > seconds(&seen.1) {
                    seen.1 = time;
                }
            }
            frames.entry((row.person, row.frame)).or_default().push(row.member.key.clone());
            person.faces.push(row.member);
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
            (rank, name, std::cmp::Reverse(person.faces.len()), person.id)
        });
        Ok(people)
    }

    /// Which names were given to the faces of each person, and stand.
    fn names_by_hand(&self) -> Result<BTreeMap<i64, Vec<String>>, StoreError> {
        let mut latest: BTreeMap<i64, i64> = BTreeMap::new();
        for entry in self.log()?.iter().filter(|entry| entry.stands) {
            if let (crate::log::Kind::Name, Some(face), Some(name)) = (entry.kind, entry.face, entry.name) {
                latest.insert(face, name);
            }
        }
        let mut names: BTreeMap<i64, Vec<String>> = BTreeMap::new();
        for (face, name) in latest {
            let query = "SELECT person FROM members WHERE face = ?1";
            let person: Option<i64> = self.run(|| {
                use rusqlite::OptionalExtension;
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
    pub fn face_of_person(&self, person: i64) -> Result<i64, StoreError> {
        let query = "SELECT face FROM members WHERE person = ?1 ORDER BY p DESC, face LIMIT 1";
        use rusqlite::OptionalExtension;
        let found = self.run(|| self.connection.query_row(query, [person], |row| row.get(0)).optional())?;
        found.ok_or_else(|| {
            StoreError::refused(format!("found no person {person} in {}", self.path().display()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_keep_their_ids_by_most_faces_in_common() {
        // Person 7 is split: the larger part keeps the id. Person 3 is merged into 9, who has more faces there.
        let before = [7, 7, 7, 7, 7, 3, 9, 9].map(Some);
        let of_face = [0, 0, 0, 1, 1, 2, 2, 2];
        assert_eq!(matched(&of_face, &before), [Some(7), None, Some(9)]);
        assert_eq!(matched(&of_face, &[None; 8]), [None, None, None]);
        assert_eq!(matched(&[], &[]), []);
    }
}

//! The evidence log: what people said, who and when. It only grows; undoing is saying so.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{OptionalExtension, params};

use crate::faces::intern;
use crate::ids::{ActId, EntryId, FaceRow, NameRow};
use crate::{Library, StoreError, words};

/// Who said what came with a dataset; `undo` leaves it alone.
pub const DATASET: &str = "dataset";
/// Names that other programs left are theirs; a person has not said them here.
pub const OTHERS: [&str; 6] = [DATASET, "mwg", "microsoft", "iptc", "picasa", "takeout"];
/// Who said what was imported without saying who did.
pub const IMPORT: &str = "import";

/// Who leaves out faces that cannot be told, until something else is said of them; `undo` leaves it alone.
pub const QUALITY: &str = "quality";

/// What kind of thing was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A face has this name.
    Name,
    /// A face does not have this name.
    Not,
    /// Two faces are one person.
    Same,
    /// Two faces are two people.
    Different,
    /// A face is nobody's: a statue, a poster.
    Ignore,
    /// A face is the one that its person is shown by.
    Picture,
    /// What was said of a face, which looks like a slip, was meant so.
    Meant,
    /// An earlier act is taken back.
    Undo,
    /// An act that was taken back stands again.
    Redo,
}

impl Kind {
    const ALL: [(Self, &'static str); 9] = [
        (Self::Name, "name"),
        (Self::Not, "not"),
        (Self::Same, "same"),
        (Self::Different, "different"),
        (Self::Ignore, "ignore"),
        (Self::Picture, "picture"),
        (Self::Meant, "meant"),
        (Self::Undo, "undo"),
        (Self::Redo, "redo"),
    ];

    /// As it stands in the file.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).expect("every kind has a word").1
    }

    /// What was said, as a sentence.
    pub fn in_words(self, face: &str, other: &str, name: &str) -> String {
        match self {
            Self::Name => format!("{face} is {name}"),
            Self::Not => format!("{face} is not {name}"),
            Self::Same => format!("{face} and {other} are the same person"),
            Self::Different => format!("{face} and {other} are different people"),
            Self::Ignore => format!("{face} is nobody"),
            Self::Picture => format!("{face} is the picture of its person"),
            Self::Meant => format!("what was said of {face} was meant so"),
            Self::Undo => "taken back".to_owned(),
            Self::Redo => "restored".to_owned(),
        }
    }

    /// Whether it says something of who is who, rather than of how that is shown.
    pub fn is_evidence(self) -> bool {
        !matches!(self, Self::Picture | Self::Meant)
    }

    /// From its word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == word).map(|(kind, _)| *kind)
    }
}

fn unknown(kind: &str) -> rusqlite::Error {
    let found = format!("found an entry of the kind \"{kind}\" in the log");
    rusqlite::Error::FromSqlConversionFailure(4, rusqlite::types::Type::Text, found.into())
}

/// One entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its number.
    pub id: EntryId,
    /// Entries of one act are undone together.
    pub act: ActId,
    /// Seconds since 1970.
    pub at: f64,
    /// Who said it.
    pub by: String,
    /// What.
    pub kind: Kind,
    /// Of which face.
    pub face: Option<FaceRow>,
    /// Compared with which face.
    pub other: Option<FaceRow>,
    /// Which name.
    pub name: Option<NameRow>,
    /// Which act is undone or redone.
    pub undoes: Option<ActId>,
    /// Whether it stands: it was not undone.
    pub stands: bool,
}

impl Entry {
    /// Whether it came by an act of its own, rather than with faces.
    fn is_by_hand(&self) -> bool {
        self.by != DATASET && self.by != QUALITY
    }

    /// The face that it says is nobody's; [`ignored`] knows what else was said.
    pub fn ignores(&self) -> Option<FaceRow> {
        self.face.filter(|_| self.stands && self.kind == Kind::Ignore)
    }
}

/// The faces that are nobody's: those that somebody ignored, and those that cannot be told and of which
/// nothing else was said.
pub fn ignored(log: &[Entry]) -> BTreeSet<FaceRow> {
    let is_word = |entry: &&Entry| entry.stands && entry.undoes.is_none() && entry.kind != Kind::Ignore;
    let spoken_of: BTreeSet<FaceRow> = log
        .iter()
        .filter(is_word)
        .filter(|entry| entry.kind.is_evidence())
        .flat_map(|entry| [entry.face, entry.other])
        .flatten()
        .collect();
    let counts =
        |entry: &&Entry| entry.by != QUALITY || entry.face.is_some_and(|face| !spoken_of.contains(&face));
    log.iter().filter(counts).filter_map(Entry::ignores).collect()
}

/// Something to say.
#[derive(Clone, Debug, PartialEq)]
pub struct Saying<'a> {
    /// What kind.
    pub kind: Kind,
    /// Of which face.
    pub face: FaceRow,
    /// Compared with which face.
    pub other: Option<FaceRow>,
    /// Which name.
    pub name: Option<&'a str>,
}

impl Library {
    /// Appends one act; when this returns it is on the disk. Returns the act's number.
    pub fn say(&self, by: &str, sayings: &[Saying<'_>]) -> Result<ActId, StoreError> {
        self.write(|_| {
            let act = next_act(self)?;
            for saying in sayings {
                self.append(act, by, now(), saying)?;
            }
            Ok(act)
        })
    }

    /// Appends an entry inside the caller's transaction.
    pub(crate) fn append(
        &self,
        act: ActId,
        by: &str,
        at: f64,
        saying: &Saying<'_>,
    ) -> Result<(), StoreError> {
        if saying.other == Some(saying.face) {
            return Err(StoreError::refused("found one face twice, wanted two faces"));
        }
        let by = words::id("speaker", by)?;
        let name = match saying.name.map(words::name).transpose()? {
            Some(name) => Some(self.run(|| intern(&self.connection, "names", name))?),
            None => None,
        };
        let insert =
            "INSERT INTO evidence (act, at, by, kind, face, other, name) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let kind = saying.kind.as_str();
        self.run(|| {
            let mut insert = self.connection.prepare_cached(insert)?;
            insert.execute(params![act, at, by, kind, saying.face, saying.other, name])
        })?;
        Ok(())
    }

    /// The whole log, oldest first.
    pub fn log(&self) -> Result<Vec<Entry>, StoreError> {
        let query = "SELECT id, act, at, by, kind, face, other, name, undoes FROM evidence ORDER BY id";
        let mut entries: Vec<Entry> = self.run(|| {
            let mut query = self.connection.prepare(query)?;
            let rows = query.query_map([], |row| {
                let kind: String = row.get(4)?;
                Ok(Entry {
                    id: row.get(0)?,
                    act: row.get(1)?,
                    at: row.get(2)?,
                    by: row.get(3)?,
                    // The table admits no other, but the file may have been changed.
                    kind: Kind::of(&kind).ok_or_else(|| unknown(&kind))?,
                    face: row.get(5)?,
                    other: row.get(6)?,
                    name: row.get(7)?,
                    undoes: row.get(8)?,
                    stands: true,
                })
            })?;
            rows.collect()
        })?;
        let mut stands: BTreeMap<ActId, bool> = BTreeMap::new();
        for entry in &entries {
            if let Some(act) = entry.undoes {
                stands.insert(act, entry.kind == Kind::Redo);
            }
        }
        entries.iter_mut().for_each(|entry| entry.stands = stands.get(&entry.act).copied().unwrap_or(true));
        Ok(entries)
    }

    /// The last entry of the log that says something of who is who, or takes that back.
    pub fn last_evidence(&self) -> Result<EntryId, StoreError> {
        let query = "WITH shown AS (SELECT id, act FROM evidence WHERE kind IN ('picture', 'meant')) \
                     SELECT coalesce(max(id), 0) FROM evidence WHERE id NOT IN (SELECT id FROM shown) \
                     AND (undoes IS NULL OR undoes NOT IN (SELECT act FROM shown))";
        self.run(|| self.connection.query_row(query, [], |row| row.get(0)))
    }

    /// Takes back the last `n` acts that people made by hand and that stand; returns them, the latest first.
    pub fn undo(&self, by: &str, n: usize) -> Result<Vec<ActId>, StoreError> {
        self.write(|_| {
            let mut acts: Vec<ActId> = self
                .log()?
                .iter()
                .filter(|entry| entry.stands && entry.undoes.is_none() && entry.is_by_hand())
                .map(|entry| entry.act)
                .collect();
            acts.dedup();
            acts.reverse();
            acts.truncate(n);
            acts.iter().try_for_each(|&act| self.append_undo(by, Kind::Undo, act))?;
            Ok(acts)
        })
    }

    /// Restores the act that was undone last, unless something was said since; returns it.
    pub fn redo(&self, by: &str) -> Result<Option<ActId>, StoreError> {
        self.write(|_| {
            let mut undone = Vec::new();
            for entry in self.log()?.iter().filter(|entry| entry.is_by_hand()) {
                match (entry.kind, entry.undoes) {
                    (Kind::Undo, Some(act)) => undone.push(act),
                    (Kind::Redo, _) => drop(undone.pop()),
                    _ => undone.clear(),
                }
            }
            let Some(&act) = undone.last() else { return Ok(None) };
            self.append_undo(by, Kind::Redo, act)?;
            Ok(Some(act))
        })
    }

    /// Takes back one act, whichever it is; `false` where it does not stand. Refused where there is no such
    /// act.
    pub fn take_back(&self, by: &str, act: ActId) -> Result<bool, StoreError> {
        self.turn(by, act, Kind::Undo)
    }

    /// Makes one act stand again; `false` where it stands. Refused where there is no such act.
    pub fn restore(&self, by: &str, act: ActId) -> Result<bool, StoreError> {
        self.turn(by, act, Kind::Redo)
    }

    fn turn(&self, by: &str, act: ActId, kind: Kind) -> Result<bool, StoreError> {
        self.write(|_| {
            let log = self.log()?;
            let Some(entry) = log.iter().find(|entry| entry.act == act && entry.undoes.is_none()) else {
                return Err(StoreError::refused(format!("found no act {act}, wanted one of the log")));
            };
            let is_news = entry.stands == (kind == Kind::Undo);
            if is_news {
                self.append_undo(words::id("speaker", by)?, kind, act)?;
            }
            Ok(is_news)
        })
    }

    fn append_undo(&self, by: &str, kind: Kind, undoes: ActId) -> Result<(), StoreError> {
        let insert = "INSERT INTO evidence (act, at, by, kind, undoes) VALUES (?1, ?2, ?3, ?4, ?5)";
        let act = next_act(self)?;
        self.run(|| self.connection.execute(insert, params![act, now(), by, kind.as_str(), undoes]))?;
        Ok(())
    }

    /// A name by its number.
    pub fn name_of(&self, id: NameRow) -> Result<String, StoreError> {
        self.run(|| self.connection.query_row("SELECT name FROM names WHERE id = ?1", [id], |row| row.get(0)))
    }

    /// The id that people use for a face.
    pub fn key_of(&self, face: FaceRow) -> Result<String, StoreError> {
        self.run(|| {
            self.connection.query_row("SELECT key FROM faces WHERE id = ?1", [face], |row| row.get(0))
        })
    }

    /// Whether the same thing was said already, and stands.
    pub fn has_said(&self, log: &[Entry], saying: &Saying<'_>) -> Result<bool, StoreError> {
        let name: Option<NameRow> = match saying.name {
            None => None,
            Some(name) => {
                let query = "SELECT id FROM names WHERE name = ?1";
                match self.run(|| self.connection.query_row(query, [name], |row| row.get(0)).optional())? {
                    None => return Ok(false),
                    known => known,
                }
            }
        };
        let faces = (Some(saying.face), saying.other);
        let is_it = |entry: &Entry| {
            let same_faces = (entry.face, entry.other) == faces
                || saying.other.is_some() && (entry.other, entry.face) == faces;
            entry.stands && entry.kind == saying.kind && entry.name == name && same_faces
        };
        Ok(log.iter().any(is_it))
    }
}

/// The number of the next act.
pub(crate) fn next_act(library: &Library) -> Result<ActId, StoreError> {
    let query = "SELECT coalesce(max(act), 0) + 1 FROM evidence";
    library.run(|| library.connection.query_row(query, [], |row| row.get(0)))
}

/// Seconds since 1970.
pub(crate) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewFace, NewFrame};

    #[test]
    fn any_act_is_taken_back_and_restored() {
        let folder = tempfile::tempdir().unwrap();
        let library = Library::open_or_create(&folder.path().join("lib")).unwrap();
        let face =
            |k: i16| NewFace { key: k.to_string(), embedding: vec![k.into(), 2.0], ..NewFace::default() };
        let frames = [1, 2].map(|k| NewFrame { faces: vec![face(k)], ..NewFrame::default() });
        library.add(&frames, None).unwrap();
        let name =
            |face, name| Saying { kind: Kind::Name, face: FaceRow(face), other: None, name: Some(name) };
        let acts = [name(1, "Ann"), name(2, "Ben")].map(|saying| library.say("me", &[saying]).unwrap());
        let standing = || library.log().unwrap().iter().map(|entry| entry.stands).collect::<Vec<_>>();
        assert!(library.take_back("me", acts[0]).unwrap());
        assert_eq!(standing(), [false, true, true]);
        assert!(!library.take_back("me", acts[0]).unwrap(), "once is enough");
        assert!(!library.restore("me", acts[1]).unwrap(), "it stands");
        assert!(library.restore("me", acts[0]).unwrap());
        assert_eq!(standing(), [true; 4]);
        let refused = library.take_back("me", ActId(99)).unwrap_err().to_string();
        assert!(refused.contains("no act 99"), "{refused}");
    }
}

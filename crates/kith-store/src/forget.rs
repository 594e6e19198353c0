//! Forgetting: faces, what was said of them, and every trace of them, from the file's free pages too.

use std::collections::BTreeSet;
use std::time::Duration;

use rusqlite::{ErrorCode, OptionalExtension};

use crate::ids::{FaceRow, NameRow, PersonId};
use crate::library::PATIENCE;
use crate::meta::{BELIEVED, UNWIPED};
use crate::{Library, StoreError};

/// Whom to forget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forget {
    /// All faces of a person.
    Person(PersonId),
    /// One face.
    Face(String),
    /// Everybody of that name, and the name.
    Name(String),
}

/// What forgetting removes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Ids of faces.
    pub faces: Vec<String>,
    /// Frames that are left without faces.
    pub frames: usize,
    /// Entries of the log.
    pub entries: usize,
    /// Names that nobody has any more.
    pub names: Vec<String>,
    /// Why the file could not be cleaned of their bytes yet; whoever opens it next tries again.
    pub unwiped: Option<String>,
}

/// How long an opening waits for readers before it leaves what was forgotten to the next.
const SHORT: Duration = Duration::from_millis(100);

impl Library {
    /// Removes faces with every trace, or says what would be removed. Needs the claim (see
    /// [`Library::claim`]). Once they are removed this succeeds; [`Forgotten::unwiped`] says when their bytes
    /// are still to be overwritten.
    pub fn forget(&self, whom: &Forget, is_dry_run: bool) -> Result<Forgotten, StoreError> {
        let (faces, name) = self.whom(whom)?;
        if is_dry_run {
            // Rolled back when dropped.
            let change = self.run(|| self.connection.unchecked_transaction())?;
            let forgotten = self.remove(&faces, name)?;
            self.run(|| change.rollback())?;
            return Ok(forgotten);
        }
        let mut forgotten = self.write(|_| {
            self.set(UNWIPED, 1)?;
            self.remove(&faces, name)
        })?;
        forgotten.unwiped = self.wipe().err();
        Ok(forgotten)
    }

    /// Finishes what an earlier forgetting could not, if nothing is in its way now.
    pub(crate) fn wipe_what_was_left(&self) -> Result<(), StoreError> {
        if self.get(UNWIPED)?.is_some() {
            self.run(|| self.connection.busy_timeout(SHORT))?;
            // Whatever is in the way, the library can be used.
            drop(self.wipe());
            self.run(|| self.connection.busy_timeout(PATIENCE))?;
        }
        Ok(())
    }

    fn whom(&self, whom: &Forget) -> Result<(Vec<FaceRow>, Option<NameRow>), StoreError> {
        let rows = |query: &str, id: i64| -> Result<Vec<FaceRow>, StoreError> {
            self.run(|| self.connection.prepare(query)?.query_map([id], |row| row.get(0))?.collect())
        };
        match whom {
            Forget::Face(key) => Ok((vec![self.face(key)?], None)),
            Forget::Person(person) => {
                self.face_of_person(*person)?;
                Ok((rows("SELECT face FROM members WHERE person = ?1", person.0)?, None))
            }
            Forget::Name(name) => {
                let query = "SELECT id FROM names WHERE name = ?1";
                let id =
                    self.run(|| self.connection.query_row(query, [name], |row| row.get(0)).optional())?;
                let none =
                    || StoreError::refused(format!("found no name \"{name}\" in {}", self.path().display()));
                let id: NameRow = id.ok_or_else(none)?;
                let query = "SELECT face FROM members JOIN people ON people.id = person WHERE people.name = \
                             ?1 UNION SELECT face FROM evidence WHERE name = ?1 AND kind = 'name'";
                Ok((rows(query, id.0)?, Some(id)))
            }
        }
    }

    /// Deletes rows, inside a transaction.
    fn remove(&self, faces: &[FaceRow], name: Option<NameRow>) -> Result<Forgotten, StoreError> {
        let connection = &self.connection;
        let mut forgotten = Forgotten::default();
        for &face in faces {
            forgotten.faces.push(self.key_of(face)?);
            self.run(|| {
                connection.execute("DELETE FROM members WHERE face = ?1", [face])?;
                let of_face = "DELETE FROM evidence WHERE face = ?1 OR other = ?1";
                forgotten.entries += connection.execute(of_face, [face])?;
                connection.execute("DELETE FROM thumbnails WHERE face = ?1", [face])?;
                let sidecar = "DELETE FROM sidecars WHERE photo IN (SELECT photos.id FROM photos \
                               JOIN faces ON faces.frame = photos.frame WHERE faces.id = ?1)";
                connection.execute(sidecar, [face])?;
                connection.execute("DELETE FROM faces WHERE id = ?1", [face])
            })?;
        }
        self.run(|| {
            if let Some(name) = name {
                forgotten.entries += connection.execute("DELETE FROM evidence WHERE name = ?1", [name])?;
                connection.execute("UPDATE people SET name = NULL, name_p = 0 WHERE name = ?1", [name])?;
            }
            // Undoing what is not there any more says nothing.
            let undone = "DELETE FROM evidence WHERE undoes IS NOT NULL AND undoes NOT IN \
                          (SELECT act FROM evidence WHERE undoes IS NULL)";
            forgotten.entries += connection.execute(undone, [])?;
            connection.execute("DELETE FROM people WHERE id NOT IN (SELECT person FROM members)", [])
        })?;
        self.remove_unused(&mut forgotten)?;
        let left = |table: &str| -> Result<BTreeSet<i64>, StoreError> {
            let query = format!("SELECT id FROM {table}");
            self.run(|| connection.prepare(&query)?.query_map([], |row| row.get(0))?.collect())
        };
        let (faces, frames, names) = (left("faces")?, left("frames")?, left("names")?);
        self.unremember(
            |row| faces.contains(&row.0),
            |row| frames.contains(&row.0),
            |row| names.contains(&row.0),
        )?;
        self.unlearn_prior()?;
        self.unset(BELIEVED)?;
        Ok(forgotten)
    }

    /// Deletes frames, names and contexts that no face has any more.
    fn remove_unused(&self, forgotten: &mut Forgotten) -> Result<(), StoreError> {
        let connection = &self.connection;
        self.run(|| {
            // What is left of a photo without faces is that it was looked at: its faces do not come back.
            connection.execute(
                "UPDATE photos SET frame = NULL, time = NULL, latitude = NULL, longitude = NULL, camera = \
                 NULL WHERE frame NOT IN (SELECT frame FROM faces)",
                [],
            )?;
            let empty = "DELETE FROM frames WHERE id NOT IN (SELECT frame FROM faces)";
            forgotten.frames = connection.execute(empty, [])?;
            let unused =
                "SELECT name FROM names WHERE id NOT IN (SELECT name FROM evidence WHERE name IS NOT NULL)";
            forgotten.names =
                connection.prepare(unused)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            connection.execute(
                "UPDATE people SET name = NULL, name_p = 0 WHERE name NOT IN \
                 (SELECT name FROM evidence WHERE name IS NOT NULL)",
                [],
            )?;
            connection.execute(
                "DELETE FROM names WHERE id NOT IN (SELECT name FROM evidence WHERE name IS NOT NULL)",
                [],
            )?;
            connection.execute(
                "DELETE FROM contexts WHERE id NOT IN (SELECT context FROM frames WHERE context IS NOT NULL)",
                [],
            )
        })?;
        Ok(())
    }

    /// Leaves nothing of what was deleted: the write-ahead log is emptied and the file written anew. The
    /// error is what is in the way.
    fn wipe(&self) -> Result<(), String> {
        let checkpoint =
            || self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
        match self.connection.execute_batch("VACUUM").and_then(|()| checkpoint()) {
            Ok(0) => self.unset(UNWIPED).map_err(|error| error.to_string()),
            Ok(_) => Err("another kith is reading it".to_owned()),
            Err(error) => Err(match error.sqlite_error_code() {
                Some(ErrorCode::DiskFull) => "the disk is full".to_owned(),
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                    "another kith is writing to it".to_owned()
                }
                _ => error.to_string(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::beside;
    use crate::{Kind, NewFace, NewFrame, Saying};
    use std::path::Path;

    /// Whether the file or its log has these bytes.
    fn holds(path: &Path, bytes: &[u8]) -> bool {
        let is_in = |path| std::fs::read(path).unwrap_or_default().windows(bytes.len()).any(|w| w == bytes);
        is_in(path.to_owned()) || is_in(beside(path, "-wal"))
    }

    #[test]
    fn what_a_reader_keeps_from_being_overwritten_is_overwritten_at_the_next_opening() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lib");
        let library = Library::open_or_create(&path).unwrap();
        let looks = |k: i16| vec![f32::from(k) + 0.123, 7.25];
        let face = |k| NewFace { key: format!("face-{k}"), embedding: looks(k), ..NewFace::default() };
        let frames = [1, 2, 3].map(|k| NewFrame { faces: vec![face(k)], ..NewFrame::default() });
        library.add(&frames, None).unwrap();
        let row = library.face("face-2").unwrap();
        let said = Saying { kind: Kind::Name, face: row, other: None, name: Some("Zephyrine") };
        library.say("me", &[said]).unwrap();

        let reader = rusqlite::Connection::open(&path).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM faces").unwrap();
        library.connection.busy_timeout(SHORT).unwrap();
        let forgotten = library.forget(&Forget::Name("Zephyrine".to_owned()), false).unwrap();
        assert_eq!(forgotten.faces, ["face-2"]);
        assert_eq!(forgotten.unwiped.as_deref(), Some("another kith is reading it"));
        assert!(library.face("face-2").is_err(), "removed all the same");
        drop(library);
        // Somebody who opens it meanwhile is not kept from working.
        assert_eq!(Library::open(&path).unwrap().n_faces().unwrap(), 2);
        assert!(holds(&path, b"Zephyrine"), "the reader has it");
        drop(reader);

        let library = Library::open(&path).unwrap();
        let embedding = crate::codec::to_bytes(&looks(2));
        for gone in [&b"Zephyrine"[..], b"face-2", &embedding] {
            assert!(!holds(&path, gone), "{gone:?}");
        }
        assert!(holds(&path, b"face-3"));
        assert_eq!(library.get(UNWIPED).unwrap(), None);
        assert_eq!(library.check().unwrap().faults, [""; 0]);
    }
}

//! Forgetting: faces, what was said of them, and every trace of them, from the file's free pages too.

use std::collections::BTreeSet;

use rusqlite::OptionalExtension;

use crate::ids::{FaceRow, NameRow, PersonId};
use crate::meta::BELIEVED;
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
}

impl Library {
    /// Removes faces with every trace, or says what would be removed. Needs the claim (see [`Library::claim`]).
    pub fn forget(&self, whom: &Forget, is_dry_run: bool) -> Result<Forgotten, StoreError> {
        let (faces, name) = self.whom(whom)?;
        if is_dry_run {
            // Rolled back when dropped.
            let change = self.run(|| self.connection.unchecked_transaction())?;
            let forgotten = self.remove(&faces, name)?;
            self.run(|| change.rollback())?;
            return Ok(forgotten);
        }
        let forgotten = self.write(|_| self.remove(&faces, name))?;
        self.wipe()?;
        Ok(forgotten)
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
                let query = "SELECT face FROM members JOIN people ON people.id = person WHERE people.name = ?1 \
                             UNION SELECT face FROM evidence WHERE name = ?1 AND kind = 'name'";
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
            connection.execute("DELETE FROM people WHERE id NOT IN (SELECT person FROM members)", [])?;
            // What is left of a photo without faces is that it was looked at: its faces do not come back.
            connection.execute(
                "UPDATE photos SET frame = NULL, time = NULL, latitude = NULL, longitude = NULL, camera = NULL \
                 WHERE frame NOT IN (SELECT frame FROM faces)",
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

    /// Leaves nothing of what was deleted: the write-ahead log is emptied and the file written anew.
    fn wipe(&self) -> Result<(), StoreError> {
        let checkpoint =
            || self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
        self.run(checkpoint)?;
        self.run(|| self.connection.execute_batch("VACUUM"))?;
        match self.run(checkpoint)? {
            0 => Ok(()),
            _ => Err(StoreError::Busy { path: self.path().to_owned(), doing: "reading" }),
        }
    }
}

//! Names that other programs left at faces: kept with the face, and taken into the log as one act.

use rusqlite::{Row, params};
use serde_json::{Value, json};

use crate::ids::FaceRow;
use crate::log::{self, Kind, Saying};
use crate::{Library, StoreError};

/// A name that another program left at a face.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The face's row.
    pub face: FaceRow,
    /// Who.
    pub name: String,
    /// What kind of file or field says so.
    pub source: String,
}

impl Library {
    /// Keeps the name that another program left at a face, until it is taken in (see [`Library::take_told`]).
    pub fn tell(&self, told: &Told) -> Result<(), StoreError> {
        let query = "SELECT other FROM faces WHERE id = ?1";
        let other: Option<String> =
            self.run(|| self.connection.query_row(query, [told.face], |row| row.get(0)))?;
        let mut other: Value =
            other.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_else(|| json!({}));
        other["told"] = json!(told.name);
        other["told_by"] = json!(told.source);
        let update = "UPDATE faces SET other = ?2 WHERE id = ?1";
        self.run(|| self.connection.execute(update, params![told.face, other.to_string()]).map(|_| ()))
    }

    /// Takes the names that other programs left into the log, as one act, each once and never again after it
    /// was taken back. Returns how many.
    pub fn take_told(&self) -> Result<usize, StoreError> {
        let query = "SELECT id, json_extract(other, '$.told'), json_extract(other, '$.told_by') FROM faces \
                     WHERE other LIKE '%\"told\"%' AND NOT EXISTS (SELECT 1 FROM evidence JOIN names ON \
                     names.id = evidence.name WHERE evidence.face = faces.id AND kind = 'name' AND \
                     names.name = json_extract(faces.other, '$.told') AND by = json_extract(faces.other, \
                     '$.told_by')) ORDER BY id";
        self.write(|connection| {
            let told: Vec<(FaceRow, Option<String>, Option<String>)> = self.run(|| {
                let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
                connection.prepare(query)?.query_map([], row)?.collect()
            })?;
            let (act, now) = (log::next_act(self)?, log::now());
            let mut n = 0;
            for (face, name, by) in told {
                if let (Some(name), Some(by)) = (name, by) {
                    let saying = Saying { kind: Kind::Name, face, other: None, name: Some(&name) };
                    self.append(act, &by, now, &saying)?;
                    n += 1;
                }
            }
            Ok(n)
        })
    }
}

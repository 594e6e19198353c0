//! What was written beside photos, and what was there before.

use rusqlite::{Row, params};

use crate::ids::PhotoRow;
use crate::{Library, StoreError};

/// A sidecar that kith wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sidecar {
    /// The photo's row.
    pub photo: PhotoRow,
    /// Where.
    pub path: String,
    /// What was there before; nothing where there was no file.
    pub before: Option<String>,
    /// What was written.
    pub after: String,
}

impl Library {
    /// The sidecars that kith wrote.
    pub fn sidecars(&self) -> Result<Vec<Sidecar>, StoreError> {
        let query = "SELECT photo, path, before, after FROM sidecars ORDER BY photo";
        let sidecar = |row: &Row<'_>| {
            Ok(Sidecar { photo: row.get(0)?, path: row.get(1)?, before: row.get(2)?, after: row.get(3)? })
        };
        self.run(|| self.connection.prepare(query)?.query_map([], sidecar)?.collect())
    }

    /// Keeps what a sidecar was, and what was written.
    pub fn set_sidecar(&self, sidecar: &Sidecar) -> Result<(), StoreError> {
        let Sidecar { photo, path, before, after } = sidecar;
        let insert = "INSERT OR REPLACE INTO sidecars VALUES (?1, ?2, ?3, ?4)";
        self.run(|| self.connection.execute(insert, params![photo, path, before, after]).map(|_| ()))
    }

    /// A sidecar is as it was before.
    pub fn unset_sidecar(&self, photo: PhotoRow) -> Result<(), StoreError> {
        self.run(|| self.connection.execute("DELETE FROM sidecars WHERE photo = ?1", [photo]).map(|_| ()))
    }
}

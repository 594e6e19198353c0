//! Evidence from elsewhere, and the columns that the model does not use.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::OptionalExtension;
use serde_json::{Map, Value};

use crate::ids::FaceRow;
use crate::log::{self, Kind, Saying};
use crate::snapshot::Rows;
use crate::{Library, StoreError};

/// Something that was said in another library, faces by the ids that people use.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// What kind.
    pub kind: Kind,
    /// Of which face.
    pub face: String,
    /// Compared with which.
    pub other: Option<String>,
    /// Which name.
    pub name: Option<String>,
    /// When, in seconds since 1970.
    pub at: f64,
    /// By whom.
    pub by: String,
}

/// What an import did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Import {
    /// Entries that were added.
    pub added: usize,
    /// Entries that were there, and stand.
    pub known: usize,
    /// Entries about faces that are not there.
    pub missing: usize,
}

/// Columns of text, one cell per face of a rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// The id of each frame.
    pub frames: Vec<String>,
    /// Who each face really is, where that came with it.
    pub truth: Option<Vec<Option<String>>>,
    /// `time`, `box`, `quality` and the rest.
    pub other: Vec<(String, Vec<String>)>,
}

impl Library {
    /// Appends what was said elsewhere, as one act.
    pub fn import(&self, statements: &[Imported]) -> Result<Import, StoreError> {
        self.write(|_| {
            let log = self.log()?;
            let act = log::next_act(self)?;
            let mut done = Import::default();
            let query = "SELECT id FROM faces WHERE key = ?1";
            let row = |key: &String| {
                self.run(|| {
                    self.connection.prepare_cached(query)?.query_row([key], |row| row.get(0)).optional()
                })
            };
            let mut added: BTreeSet<(&str, FaceRow, Option<FaceRow>, Option<&str>)> = BTreeSet::new();
            for statement in statements {
                let face: Option<FaceRow> = row(&statement.face)?;
                let other: Option<FaceRow> = match &statement.other {
                    Some(key) => row(key)?,
                    None => None,
                };
                let Some(face) = face.filter(|_| other.is_some() == statement.other.is_some()) else {
                    done.missing += 1;
                    continue;
                };
                let name = statement.name.as_deref();
                let saying = Saying { kind: statement.kind, face, other, name };
                let is_new = added.insert((statement.kind.as_str(), face, other, name));
                if !is_new || self.has_said(&log, &saying)? {
                    done.known += 1;
                    continue;
                }
                self.append(act, &statement.by, statement.at, &saying)?;
                done.added += 1;
            }
            Ok(done)
        })
    }

    /// What came with the faces of a snapshot beyond what the model uses.
    pub fn columns(&self, rows: &Rows) -> Result<Columns, StoreError> {
        let mut columns = Columns::default();
        for &frame in &rows.frames {
            let query = "SELECT key FROM frames WHERE id = ?1";
            let key: Option<String> =
                self.run(|| self.connection.prepare_cached(query)?.query_row([frame], |row| row.get(0)))?;
            columns.frames.push(key.unwrap_or_else(|| format!("frame-{frame}")));
        }
        let n_faces = rows.faces.len();
        let mut cells: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (place, &face) in rows.faces.iter().enumerate() {
            let query = "SELECT time, box, quality, faces.source, other FROM faces JOIN frames ON frames.id \
                         = frame WHERE faces.id = ?1";
            let texts: [Option<String>; 5] = self.run(|| {
                self.connection.prepare_cached(query)?.query_row([face], |row| {
                    Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?])
                })
            })?;
            let mut put = |name: &str, text: String| {
                cells.entry(name.to_owned()).or_insert_with(|| vec![String::new(); n_faces])[place] = text;
            };
            for (name, text) in ["time", "box", "quality"].iter().zip(&texts) {
                text.iter().for_each(|text| put(name, text.clone()));
            }
            let other: Map<String, Value> =
                texts[4].as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
            for (name, value) in other {
                put(&name, value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            }
        }
        let truth = cells.remove("truth");
        columns.truth = truth.map(|truth| truth.into_iter().map(|t| (!t.is_empty()).then_some(t)).collect());
        columns.other = cells.into_iter().collect();
        Ok(columns)
    }
}

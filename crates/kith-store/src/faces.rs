//! Faces and frames come in: all of them or none, and each once.

use std::collections::HashMap;

use kith::belief::stages;
use kith::data::Lengths;
use kith_io::dataset::FaceTable;
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Map, Value};

use crate::ids::{ActId, FaceRow, FrameRow};
use crate::log::{self, DATASET, Kind, Saying};
use crate::meta::{DIMENSION, EMBEDDING};
use crate::sums::Of;
use crate::{Library, StoreError, codec, words};

/// A frame that arrives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewFrame {
    /// Its id; without one it is a frame of its own.
    pub key: Option<String>,
    /// RFC 3339 or seconds.
    pub time: Option<String>,
    /// Where it was taken.
    pub context: Option<String>,
    /// The file it comes from.
    pub source: Option<String>,
    /// Who is on it.
    pub faces: Vec<NewFace>,
}

/// A face that arrives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewFace {
    /// Its id.
    pub key: String,
    /// Its embedding.
    pub embedding: Vec<f32>,
    /// The name that it was given.
    pub name: Option<String>,
    /// Where it is on the frame.
    pub place: Option<String>,
    /// How well it is seen.
    pub quality: Option<String>,
    /// Whether it cannot be told whose it is: it is left out until something is said of it.
    pub is_unclear: bool,
    /// All other columns.
    pub other: Map<String, Value>,
}

/// What an addition did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Faces that were not there.
    pub faces: usize,
    /// Faces that were there already.
    pub known: usize,
    /// Those of them that came with another frame or context than the library has for them, which stays.
    pub elsewhere: usize,
    /// Frames that were not there.
    pub frames: usize,
    /// Names that were given with them.
    pub names: usize,
    /// New faces that are left out because they cannot be told.
    pub unclear: usize,
}

/// About so many faces say how long embeddings usually are.
const MOST_MEASURED: usize = 500;

impl Library {
    /// Adds frames, or none of them; faces that are there already are left as they are. `embedding` says
    /// which network the embeddings come from.
    pub fn add(&self, frames: &[NewFrame], embedding: Option<&str>) -> Result<Added, StoreError> {
        let n_faces = frames.iter().map(|frame| frame.faces.len()).sum::<usize>();
        if n_faces == 0 {
            return Err(StoreError::refused("found zero faces, wanted at least one"));
        }
        self.write(|_| {
            self.check_network(embedding)?;
            self.check_lengths(frames)?;
            let act = log::next_act(self)?;
            let mut added = Added::default();
            for frame in frames {
                self.add_frame(frame, act, &mut added)?;
            }
            Ok(added)
        })
    }

    pub(crate) fn check_network(&self, embedding: Option<&str>) -> Result<(), StoreError> {
        let Some(found) = embedding else { return Ok(()) };
        match self.get(EMBEDDING)? {
            Some(wanted) if wanted != found => Err(StoreError::refused(format!(
                "found embeddings of \"{found}\", wanted those of \"{wanted}\" as in the library"
            ))),
            None if self.dimension()?.is_some() => Err(StoreError::refused(format!(
                "found the network \"{found}\" for a library that was begun without one, wanted --embedding \
                 at the first add"
            ))),
            Some(_) => Ok(()),
            None => self.set(EMBEDDING, found.to_owned()),
        }
    }

    /// Refuses faces that are far longer than those of the library and those that come with them, or in other
    /// units.
    pub(crate) fn check_lengths(&self, frames: &[NewFrame]) -> Result<(), StoreError> {
        let n_faces = self.n_faces()?;
        let mut kept = self.usual.borrow_mut();
        if n_faces < kept.0 || n_faces >= 2 * kept.0.max(1) {
            let step = n_faces.div_ceil(MOST_MEASURED).max(1);
            let query = "SELECT embedding FROM faces WHERE id % ?1 = 0";
            // What is no blob is nobody's looks.
            let looks = |row: &rusqlite::Row<'_>| Ok(row.get_ref(0)?.as_blob().ok().map(codec::from_bytes));
            let some: Vec<Option<Vec<f32>>> =
                self.run(|| self.connection.prepare_cached(query)?.query_map([step], looks)?.collect())?;
            *kept = (n_faces, some.into_iter().flatten().collect());
        }
        let faces: Vec<&NewFace> = frames.iter().flat_map(|frame| &frame.faces).collect();
        let new: Vec<&[f32]> = faces.iter().map(|face| face.embedding.as_slice()).collect();
        let known: Vec<&[f32]> = kept.1.iter().map(Vec::as_slice).collect();
        let lengths = Lengths::of(new.iter().chain(&known).copied());
        match stages::strange(&new, &known, &lengths).first() {
            Some((row, why)) => Err(StoreError::refused(format!("face {}: {why}", faces[*row].key))),
            None => Ok(()),
        }
    }

    pub(crate) fn add_frame(
        &self,
        frame: &NewFrame,
        act: ActId,
        added: &mut Added,
    ) -> Result<(), StoreError> {
        let connection = &self.connection;
        let mut id = None;
        for (kind, text) in [("frame", &frame.key), ("context", &frame.context)] {
            text.as_deref().map(|text| words::id(kind, text)).transpose()?;
        }
        for face in &frame.faces {
            words::id("face", &face.key)?;
            self.check_embedding(face)?;
            if let Some(known) = self.known_face(face)? {
                added.known += 1;
                added.elsewhere += usize::from(self.is_elsewhere(known, frame)?);
                self.give_name(known, face, act, added)?;
                continue;
            }
            let frame_id = match id {
                Some(id) => id,
                None => *id.insert(self.frame(frame, added)?),
            };
            let other = (!face.other.is_empty()).then(|| Value::Object(face.other.clone()).to_string());
            let insert = "INSERT INTO faces (key, frame, embedding, box, quality, source, other) \
                          VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
            let bytes = codec::to_bytes(&face.embedding);
            self.run(|| {
                connection.prepare_cached(insert)?.execute(params![
                    face.key,
                    frame_id,
                    bytes,
                    face.place,
                    face.quality,
                    frame.source,
                    other
                ])
            })?;
            added.faces += 1;
            let row = connection.last_insert_rowid();
            self.seal(Of::Face, row, &bytes)?;
            if face.is_unclear {
                let saying = Saying { kind: Kind::Ignore, face: FaceRow(row), other: None, name: None };
                self.append(act, log::QUALITY, log::now(), &saying)?;
                added.unclear += 1;
            }
            self.give_name(FaceRow(row), face, act, added)?;
        }
        Ok(())
    }

    fn check_embedding(&self, face: &NewFace) -> Result<(), StoreError> {
        let found = face.embedding.len();
        if let Some(column) = face.embedding.iter().position(|value| !value.is_finite()) {
            let value = face.embedding[column];
            return Err(StoreError::refused(format!(
                "face {}: found {value} at column {column}, wanted a finite number",
                face.key
            )));
        }
        match self.dimension()? {
            Some(wanted) if wanted != found => Err(StoreError::refused(format!(
                "face {}: found an embedding of dimension {found}, wanted {wanted} as in the library",
                face.key
            ))),
            None if found == 0 => Err(StoreError::refused(format!(
                "face {}: found an empty embedding, wanted numbers",
                face.key
            ))),
            Some(_) => Ok(()),
            None => self.set(DIMENSION, found),
        }
    }

    /// The face of that id, when it is there with the same embedding.
    fn known_face(&self, face: &NewFace) -> Result<Option<FaceRow>, StoreError> {
        let query = "SELECT id, embedding FROM faces WHERE key = ?1";
        let known: Option<(FaceRow, Vec<u8>)> = self.run(|| {
            let mut query = self.connection.prepare_cached(query)?;
            let known = |row: &rusqlite::Row<'_>| {
                Ok((row.get(0)?, row.get_ref(1)?.as_blob().unwrap_or_default().to_vec()))
            };
            query.query_row([&face.key], known).optional()
        })?;
        match known {
            Some((_, bytes)) if bytes != codec::to_bytes(&face.embedding) => {
                Err(StoreError::refused(format!(
                    "face {}: found another embedding than the library has for this id, wanted the same, or \
                     another id",
                    face.key
                )))
            }
            known => Ok(known.map(|known| known.0)),
        }
    }

    /// Whether a face comes with another frame, or another context, than it has. What comes without is no
    /// other.
    fn is_elsewhere(&self, face: FaceRow, frame: &NewFrame) -> Result<bool, StoreError> {
        let query = "SELECT frames.key, contexts.name FROM faces JOIN frames ON frames.id = frame \
                     LEFT JOIN contexts ON contexts.id = frames.context WHERE faces.id = ?1";
        let known: [Option<String>; 2] = self.run(|| {
            let mut query = self.connection.prepare_cached(query)?;
            query.query_row([face], |row| Ok([row.get(0)?, row.get(1)?]))
        })?;
        let is_other = |(new, known): (&Option<String>, &Option<String>)| new.is_some() && new != known;
        Ok([&frame.key, &frame.context].into_iter().zip(&known).any(is_other))
    }

    /// The id of a frame, which is made when it is not there.
    fn frame(&self, frame: &NewFrame, added: &mut Added) -> Result<FrameRow, StoreError> {
        let connection = &self.connection;
        let context = match &frame.context {
            Some(name) => Some(self.run(|| intern(connection, "contexts", name))?),
            None => None,
        };
        let query = "SELECT id, context FROM frames WHERE key = ?1";
        let known: Option<(FrameRow, Option<i64>)> = self.run(|| {
            connection.query_row(query, [&frame.key], |row| Ok((row.get(0)?, row.get(1)?))).optional()
        })?;
        if let Some((id, known)) = known {
            if context.is_some() && known.is_some() && context != known {
                let key = frame.key.as_deref().unwrap_or_default();
                let found = frame.context.as_deref().unwrap_or_default();
                return Err(StoreError::refused(format!(
                    "frame {key}: found the context \"{found}\", wanted that of the library"
                )));
            }
            if context.is_some() {
                let update = "UPDATE frames SET context = ?2 WHERE id = ?1";
                self.run(|| connection.execute(update, params![id, context]))?;
            }
            return Ok(id);
        }
        let insert = "INSERT INTO frames (key, context, time, source) VALUES (?1, ?2, ?3, ?4)";
        self.run(|| {
            connection.prepare_cached(insert)?.execute(params![frame.key, context, frame.time, frame.source])
        })?;
        added.frames += 1;
        Ok(FrameRow(connection.last_insert_rowid()))
    }

    /// A name that came with a face is evidence like any other, once.
    fn give_name(
        &self,
        id: FaceRow,
        face: &NewFace,
        act: ActId,
        added: &mut Added,
    ) -> Result<(), StoreError> {
        let Some(name) = &face.name else { return Ok(()) };
        let wrong = |error| StoreError::refused(format!("face {}: {error}", face.key));
        let name = words::name(name).map_err(wrong)?;
        let name = self.run(|| intern(&self.connection, "names", name))?;
        let query = "SELECT 1 FROM evidence WHERE face = ?1 AND name = ?2 AND by = ?3";
        let is_known =
            self.run(|| self.connection.query_row(query, params![id, name, DATASET], |_| Ok(())).optional())?;
        if is_known.is_none() {
            let insert =
                "INSERT INTO evidence (act, at, by, kind, face, name) VALUES (?1, ?2, ?3, 'name', ?4, ?5)";
            self.run(|| self.connection.execute(insert, params![act, log::now(), DATASET, id, name]))?;
            added.names += 1;
        }
        Ok(())
    }

    /// Whether a frame of that id is there.
    pub(crate) fn has_frame(&self, frame: &NewFrame) -> Result<bool, StoreError> {
        let query = "SELECT 1 FROM frames WHERE key = ?1";
        let found = self.run(|| self.connection.query_row(query, [&frame.key], |_| Ok(())).optional())?;
        Ok(found.is_some())
    }

    /// The face of an id that people use.
    pub fn face(&self, key: &str) -> Result<FaceRow, StoreError> {
        let query = "SELECT id FROM faces WHERE key = ?1";
        let found = self.run(|| self.connection.query_row(query, [key], |row| row.get(0)).optional())?;
        found.ok_or_else(|| {
            StoreError::refused(format!("found no face \"{key}\" in {}", self.path().display()))
        })
    }
}

/// The id of a text in a table of texts.
pub(crate) fn intern(connection: &Connection, table: &str, text: &str) -> rusqlite::Result<i64> {
    connection.execute(&format!("INSERT OR IGNORE INTO {table} (name) VALUES (?1)"), [text])?;
    connection.query_row(&format!("SELECT id FROM {table} WHERE name = ?1"), [text], |row| row.get(0))
}

/// The frames of a dataset as they are added.
pub fn frames_of(table: &FaceTable, source: Option<&str>) -> Vec<NewFrame> {
    let data = &table.dataset;
    let columns: HashMap<&str, &[String]> =
        table.other.iter().map(|(name, cells)| (name.as_str(), cells.as_slice())).collect();
    let cell = |name: &str, row: usize| {
        columns.get(name).map(|cells| cells[row].clone()).filter(|cell| !cell.is_empty())
    };
    let face = |face: kith::ids::FaceId| {
        let row = face.index();
        let mut other = Map::new();
        for (name, cells) in &table.other {
            if !["time", "box", "quality"].contains(&name.as_str()) && !cells[row].is_empty() {
                other.insert(name.clone(), Value::String(cells[row].clone()));
            }
        }
        if let Some(truth) = table.truth.as_ref().and_then(|truth| truth[row].clone()) {
            other.insert("truth".to_owned(), Value::String(truth));
        }
        NewFace {
            key: table.faces[row].clone(),
            embedding: data.embedding(face).to_vec(),
            name: data.given_name(face).map(|label| data.names()[label.index()].clone()),
            place: cell("box", row),
            quality: cell("quality", row),
            is_unclear: false,
            other,
        }
    };
    let frame = |frame: kith::ids::FrameId| {
        let faces = data.faces_in(frame);
        let key = &table.frames[frame.index()];
        NewFrame {
            key: (!key.is_empty()).then(|| key.clone()),
            time: faces.iter().find_map(|face| cell("time", face.index())),
            context: data.given_context(frame).map(|context| data.contexts()[context.index()].clone()),
            source: source.map(str::to_owned),
            faces: faces.iter().map(|&of| face(of)).collect(),
        }
    };
    data.frames().map(frame).collect()
}

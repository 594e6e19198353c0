//! The library as the model sees it: faces that are not ignored, in frames, with the statements that stand.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use kith::belief::stages;
use kith::data::{DataError, Dataset, Embeddings, Label, Lengths, NewFace, Statement};
use kith::ids::{ContextId, FaceId, FrameId, LabelId};
use kith::target::Target;
use rusqlite::types::FromSql;

use crate::ids::{EntryId, FaceRow, FrameRow, NameRow};
use crate::keys::Keys;
use crate::log::{Entry, IMPORT, Kind, OTHERS, ignored};
use crate::sums::Of;
use crate::{Library, StoreError, codec};

/// The library as it was when it was read.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// What the model sees.
    pub data: Dataset,
    /// Which row of the library each part of it is.
    pub rows: Rows,
}

/// Which row of the library each part of a dataset is, and what was said.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// The row of each face.
    pub faces: Vec<FaceRow>,
    /// The id of each face that people use.
    pub keys: Keys,
    /// The row of each frame.
    pub frames: Vec<FrameRow>,
    /// The row of each known name.
    pub names: Vec<NameRow>,
    /// The log as it was.
    pub log: Vec<Entry>,
    /// Faces that are left out because they cannot be of the same network, and why.
    pub set_aside: Vec<String>,
    /// What says which model was read with them ([`Library::model_sum`]), where that is known.
    pub(crate) model: Option<u32>,
    /// The face of each row, where rows do not come in their order.
    face_of: Option<HashMap<FaceRow, FaceId>>,
    ignored: BTreeSet<FaceRow>,
}

impl Library {
    /// The library as it is now.
    pub fn snapshot(&self) -> Result<Snapshot, StoreError> {
        // One read transaction: nothing that another process writes meanwhile is half-seen.
        let reading = self.run(|| self.connection.unchecked_transaction())?;
        let snapshot = self.snapshot_inside()?;
        self.run(|| reading.finish())?;
        Ok(snapshot)
    }

    /// The library as it is now, inside the caller's transaction.
    pub(crate) fn snapshot_inside(&self) -> Result<Snapshot, StoreError> {
        let mut snapshot = self.with_frames(self.without_faces()?)?;
        for line in &snapshot.rows.set_aside {
            self.note(format!("{line}; it is left out, and `kith forget` removes it"));
        }
        snapshot.take_in_words()?;
        Ok(snapshot)
    }

    /// The library as it is now but for embeddings, which are put where somebody says, inside the caller's
    /// transaction. No face is set aside.
    pub(crate) fn outline(
        &self,
        beside: &Arc<Mutex<Self>>,
        embeddings: impl FnOnce(&[FaceRow]) -> Result<Embeddings, DataError>,
    ) -> Result<Snapshot, StoreError> {
        let mut snapshot = self.without_faces()?;
        // Both are in an index: the pages of embeddings are not touched.
        let mut of_frame: Vec<(FaceRow, FrameRow)> =
            self.pairs("SELECT id, frame FROM faces ORDER BY frame, id")?;
        if !snapshot.rows.ignored.is_empty() {
            of_frame.retain(|(row, _)| !snapshot.rows.ignored.contains(row));
        }
        let rows: Vec<FaceRow> = of_frame.iter().map(|face| face.0).collect();
        let embeddings = embeddings(&rows)?;
        snapshot.rows.keys = Keys::elsewhere(beside.clone(), &rows);
        let mut snapshot = self.with_faces(snapshot, &of_frame, embeddings)?;
        snapshot.take_in_words()?;
        Ok(snapshot)
    }

    /// The same with faces in their frames, in order.
    fn with_faces(
        &self,
        Snapshot { data, mut rows }: Snapshot,
        faces: &[(FaceRow, FrameRow)],
        embeddings: Embeddings,
    ) -> Result<Snapshot, StoreError> {
        let contexts: HashMap<FrameRow, i64> = match data.contexts() {
            [] => HashMap::new(),
            _ => {
                self.pairs("SELECT id, context FROM frames WHERE context IS NOT NULL")?.into_iter().collect()
            }
        };
        let numbers = self.texts("contexts")?.into_iter().map(|(row, _)| row).zip((0..).map(ContextId));
        let numbers: HashMap<i64, ContextId> = numbers.collect();
        let mut frame_of: Vec<FrameId> = Vec::with_capacity(faces.len());
        rows.faces.reserve(faces.len());
        for &(face, frame) in faces {
            if rows.frames.last() != Some(&frame) {
                rows.frames.push(frame);
            }
            frame_of.push(FrameId::new(rows.frames.len() - 1));
            rows.push_face(face);
        }
        let given = |frame: &FrameRow| contexts.get(frame).and_then(|row| numbers.get(row)).copied();
        let contexts = rows.frames.iter().map(given).collect();
        Ok(Snapshot { data: data.with_faces(embeddings, frame_of, contexts)?, rows })
    }

    /// The log, names and contexts.
    fn without_faces(&self) -> Result<Snapshot, StoreError> {
        let dimension = self.dimension()?.ok_or_else(|| {
            StoreError::refused(format!("{}: found no face yet, wanted at least one", self.path().display()))
        })?;
        // So that nothing is made as large as a damaged number says.
        let whole = "SELECT count(*) FROM (SELECT 1 FROM faces WHERE length(embedding) = ?1 LIMIT 1)";
        let bytes = i64::try_from(dimension.saturating_mul(4)).unwrap_or(i64::MAX);
        let has_whole: bool = self.run(|| self.connection.query_row(whole, [bytes], |row| row.get(0)))?;
        if !has_whole && self.n_faces()? > 0 {
            return Err(self.damaged(format!("found no face of {dimension} numbers, as it says all are")));
        }
        let log = self.log()?;
        let mut data = Dataset::empty(dimension)?;
        for (_, context) in self.texts("contexts")? {
            data.know_context(&context);
        }
        let names = self.texts("names")?;
        for (_, name) in &names {
            data.know_name(name);
        }
        let ignored = ignored(&log);
        let names = names.iter().map(|name| NameRow(name.0)).collect();
        Ok(Snapshot { data, rows: Rows { names, log, ignored, ..Rows::default() } })
    }
}

impl Snapshot {
    /// What was said and stands.
    fn take_in_words(&mut self) -> Result<(), StoreError> {
        let Self { data, rows } = self;
        for entry in rows.log.iter().filter(|entry| entry.stands) {
            match rows.meaning(entry) {
                Some(Meaning::Named(face, label)) => {
                    let name = data.names()[label.name.index()].clone();
                    match label.is_word {
                        true => drop(data.say_name(face, &name)),
                        // What the owner said of a face outlives what data say of it later.
                        false if is_word(data, face) => {}
                        false => drop(data.set_name(face, Some(&name))),
                    }
                }
                Some(Meaning::Said(statement)) => data.correct(statement)?,
                None => {}
            }
        }
        Ok(())
    }
}

impl Library {
    fn texts(&self, table: &str) -> Result<Vec<(i64, String)>, StoreError> {
        self.pairs(&format!("SELECT id, name FROM {table} ORDER BY id"))
    }

    pub(crate) fn pairs<A: FromSql, B: FromSql>(&self, query: &str) -> Result<Vec<(A, B)>, StoreError> {
        self.run(|| {
            let mut query = self.connection.prepare(query)?;
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }

    fn with_frames(&self, mut snapshot: Snapshot) -> Result<Snapshot, StoreError> {
        let query = "SELECT faces.id, faces.key, frame, embedding FROM faces \
                     JOIN frames ON frames.id = frame ORDER BY frame, faces.id";
        let (sums, dimension) = (self.sums(Of::Face)?, snapshot.data.dimension());
        let (mut faces, mut values) = (Vec::new(), Vec::with_capacity(self.n_faces()? * dimension));
        let mut other_length = None;
        self.run(|| {
            let mut query = self.connection.prepare(query)?;
            let mut read = query.query([])?;
            while let Some(row) = read.next()? {
                let id: FaceRow = row.get(0)?;
                if snapshot.rows.ignored.contains(&id) {
                    continue;
                }
                let bytes = row.get_ref(3)?.as_blob().unwrap_or_default();
                let is_as_stored = sums.agree(id.0, bytes);
                faces.push(Row { id, key: row.get(1)?, frame: row.get(2)?, is_as_stored });
                if is_as_stored && bytes.len() != 4 * dimension {
                    other_length = other_length.or(Some(bytes.len() / 4));
                }
                values.extend(codec::numbers(bytes).chain(std::iter::repeat(0.0)).take(dimension));
            }
            Ok(())
        })?;
        if let Some(found) = other_length {
            return Err(DataError::Dimension { found, wanted: dimension }.into());
        }
        snapshot.rows.set_aside = leave_out_strange(&mut faces, &mut values, dimension);
        let (rows, keys): (Vec<_>, Vec<String>) =
            faces.into_iter().map(|face| ((face.id, face.frame), face.key)).unzip();
        snapshot.rows.keys = keys.into();
        self.with_faces(snapshot, &rows, Embeddings::new(values, dimension)?)
    }
}

/// A face as it is stored, but for its embedding.
struct Row {
    id: FaceRow,
    key: String,
    frame: FrameRow,
    is_as_stored: bool,
}

/// Leaves faces that can be of one library; says of the others why they cannot.
fn leave_out_strange(faces: &mut Vec<Row>, values: &mut Vec<f32>, dimension: usize) -> Vec<String> {
    let embeddings: Vec<&[f32]> = values.chunks_exact(dimension).collect();
    let lengths = Lengths::of(embeddings.iter().copied());
    let mut wrong: BTreeMap<usize, String> = stages::strange(&embeddings, &[], &lengths)
        .into_iter()
        .map(|(row, why)| (row, why.to_string()))
        .collect();
    for (number, _) in faces.iter().enumerate().filter(|(_, face)| !face.is_as_stored) {
        wrong.insert(number, "found an embedding that is not the one that was stored".to_owned());
    }
    let told = wrong.iter().map(|(&row, why)| format!("face {}: {why}", faces[row].key)).collect();
    if !wrong.is_empty() {
        let is_right = |row: &usize| !wrong.contains_key(row);
        let right = (0..faces.len()).filter(is_right);
        *values = right.flat_map(|row| values[row * dimension..][..dimension].to_vec()).collect();
        let mut row = 0..;
        faces.retain(|_| row.next().is_some_and(|row| is_right(&row)));
    }
    told
}

impl Rows {
    fn push_face(&mut self, row: FaceRow) -> FaceId {
        let face = FaceId::new(self.faces.len());
        if self.face_of.is_none() && self.faces.last() >= Some(&row) {
            self.face_of = Some(self.faces.iter().copied().zip((0..).map(FaceId)).collect());
        }
        self.face_of.iter_mut().for_each(|face_of| _ = face_of.insert(row, face));
        self.faces.push(row);
        face
    }

    /// The face of a row, unless it is ignored.
    pub fn face_of(&self, row: FaceRow) -> Option<FaceId> {
        match &self.face_of {
            Some(face_of) => face_of.get(&row).copied(),
            None => self.faces.binary_search(&row).ok().map(FaceId::new),
        }
    }

    /// The rows of faces that are ignored.
    pub(crate) fn ignored(&self) -> impl Iterator<Item = FaceRow> {
        self.ignored.iter().copied()
    }

    /// How many faces are ignored.
    pub(crate) fn n_ignored(&self) -> usize {
        self.ignored.len()
    }

    /// Whether just these faces are.
    pub(crate) fn are_ignored(&self, faces: &BTreeSet<FaceRow>) -> bool {
        self.ignored == *faces
    }

    /// Runs a computation about these faces; one that no weights can be worked out for is named.
    pub(crate) fn guarded<T>(&self, work: impl FnOnce() -> T) -> Result<T, StoreError> {
        kith::unweighable::guarded(work).map_err(|of| {
            let whom = of.face.and_then(|face| self.keys.get(face.index()));
            StoreError::refused(match whom {
                Some(key) => format!(
                    "face {key}: found weights that are no numbers, wanted a face like the others; `kith \
                     ignore` leaves it out"
                ),
                None => "found weights that are no numbers, wanted faces and settings of usual \
                         sizes"
                    .to_owned(),
            })
        })
    }

    /// A frame that has just been stored is seen too.
    pub(crate) fn push(
        &mut self,
        frame: FrameRow,
        context: Option<&str>,
        faces: &[(FaceRow, String, Vec<f32>)],
        target: &mut Target,
    ) -> Result<Vec<FaceId>, StoreError> {
        let new: Vec<NewFace<'_>> =
            faces.iter().map(|(_, _, embedding)| NewFace { embedding, name: None }).collect();
        target.push_frame(context, &new)?;
        self.frames.push(frame);
        let push = |(row, key, _): &(FaceRow, String, Vec<f32>)| {
            self.keys.push(key.clone());
            self.push_face(*row)
        };
        Ok(faces.iter().map(push).collect())
    }

    /// Names, denials and comparisons that were appended since. Acts that take away are not understood so.
    pub(crate) fn hear_news(
        &mut self,
        library: &Library,
        target: &mut Target,
    ) -> Result<BTreeSet<FaceId>, StoreError> {
        let last = self.last_evidence();
        self.log = library.log()?;
        for (row, name) in library.texts("names")?.into_iter().skip(self.names.len()) {
            target.know_name(&name);
            self.names.push(NameRow(row));
        }
        let mut faces = BTreeSet::new();
        for entry in self.log.iter().filter(|entry| entry.id > last) {
            match self.meaning(entry).filter(|_| entry.stands) {
                Some(Meaning::Named(face, label)) => {
                    let name = target.data().names()[label.name.index()].clone();
                    if label.is_word {
                        target.say_name(face, &name);
                    } else if !is_word(target.data(), face) {
                        target.set_name(face, Some(&name));
                    }
                }
                Some(Meaning::Said(statement)) => target.correct(statement)?,
                None => {}
            }
            faces.extend(self.faces_of(entry));
        }
        Ok(faces)
    }

    /// The last entry of the log that has been seen and says something of who is who.
    pub fn last_evidence(&self) -> EntryId {
        let says = |entry: &&Entry| match entry.undoes {
            None => entry.kind.is_evidence(),
            Some(act) => self.log.iter().any(|other| other.act == act && other.kind.is_evidence()),
        };
        self.log.iter().rev().find(says).map_or(EntryId(0), |entry| entry.id)
    }

    /// The faces that something was said of since an entry of the log, or ever.
    pub(crate) fn said_since(&self, entry: Option<EntryId>) -> BTreeSet<FaceId> {
        let entries = self.log.iter().filter(|later| entry.is_none_or(|last| later.id > last));
        entries.flat_map(|entry| self.faces_of(entry)).collect()
    }

    /// Those of them of which something was taken back or restored.
    pub(crate) fn unsaid_since(&self, entry: EntryId) -> BTreeSet<FaceId> {
        let entries = self.log.iter().filter(|later| later.id > entry && later.undoes.is_some());
        entries.flat_map(|entry| self.faces_of(entry)).collect()
    }

    /// What the faces of this library are known by, whatever their numbers.
    pub(crate) fn keys_of_faces(&self) -> Vec<u64> {
        self.faces.iter().map(|row| row.0 as u64).collect()
    }

    /// The faces that an entry is about.
    pub fn faces_of(&self, entry: &Entry) -> Vec<FaceId> {
        let entries: Vec<&Entry> = match entry.undoes {
            None => vec![entry],
            Some(act) => self.log.iter().filter(|other| other.act == act).collect(),
        };
        let entries = entries.into_iter().filter(|entry| entry.kind.is_evidence());
        let rows = entries.flat_map(|entry| [entry.face, entry.other]).flatten();
        rows.filter_map(|row| self.face_of(row)).collect()
    }

    /// What an entry says, where it says something about pairs or denies a name; and the name it gives.
    pub fn meaning(&self, entry: &Entry) -> Option<Meaning> {
        let face = self.face_of(entry.face?)?;
        let other = entry.other.and_then(|row| self.face_of(row));
        let label =
            entry.name.and_then(|row| self.names.iter().position(|&name| name == row)).map(LabelId::new);
        Some(match entry.kind {
            Kind::Name => {
                let is_word = entry.by != IMPORT && !OTHERS.contains(&&entry.by[..]);
                Meaning::Named(face, Label { name: label?, is_word })
            }
            Kind::Not => Meaning::Said(Statement::Not(face, label?)),
            Kind::Same => Meaning::Said(Statement::Same(face, other?)),
            Kind::Different => Meaning::Said(Statement::Different(face, other?)),
            Kind::Ignore | Kind::Picture | Kind::Meant | Kind::Undo | Kind::Redo => return None,
        })
    }
}

/// Whether the owner said whose face this is.
fn is_word(data: &Dataset, face: FaceId) -> bool {
    data.label(face).is_some_and(|label| label.is_word)
}

/// What an entry means to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A face was given a name.
    Named(FaceId, Label),
    /// Any other statement.
    Said(Statement),
}

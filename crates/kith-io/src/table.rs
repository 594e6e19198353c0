//! Faces with their ids, frames, truth and other columns: all that a dataset on disk holds.

use crate::columns::refuse_repeated;
use crate::error::{IoError, quoted};
use crate::place::Origin;
use crate::rows::{Rows, first_repeat};
use crate::time;
use kith::data::{Dataset, Embeddings};
use kith::ids::FaceId;
use std::path::Path;

/// The column that says who gave a face its name, and what stands there for the owner: such a name is sure of
/// this very face, others are noisy labels.
const SAID_BY: &str = "said_by";
const OWNER: &str = "owner";

/// That column, where the owner has named anybody.
pub fn said_by(data: &Dataset) -> Option<(String, Vec<String>)> {
    let is_word = |face| data.label(face).is_some_and(|label| label.is_word);
    let cell = |face| if is_word(face) { OWNER.to_owned() } else { String::new() };
    data.faces().any(is_word).then(|| (SAID_BY.to_owned(), data.faces().map(cell).collect()))
}

/// A dataset as it is on disk: what the model sees, and what only people and evaluations see.
#[derive(Clone, Debug, PartialEq)]
pub struct FaceTable {
    /// Embeddings, frames, given contexts and given names.
    pub dataset: Dataset,
    /// The id of each face, all different; by default its row number, from 0.
    pub faces: Vec<String>,
    /// The id of each frame, in the order of `FrameId`; empty for a frame that has none and holds one face.
    pub frames: Vec<String>,
    /// Who each face really is, where that is known; `None` without a column `truth`.
    pub truth: Option<Vec<Option<String>>>,
    /// `time`, `box`, `quality` and all columns that are not known, in their order, one text per face.
    pub other: Vec<(String, Vec<String>)>,
}

impl FaceTable {
    /// A dataset from elsewhere: faces and frames get their numbers for ids.
    pub fn new(dataset: Dataset) -> Self {
        let faces = dataset.faces().map(|face| face.index().to_string()).collect();
        let frames = dataset.frames().map(|frame| frame.index().to_string()).collect();
        Self { dataset, faces, frames, truth: None, other: Vec::new() }
    }

    pub(crate) fn put_together(rows: Rows, embeddings: Embeddings) -> Self {
        let mut dataset = Dataset::new(embeddings, rows.frame_of, &rows.contexts, &rows.names)
            .expect("as many rows as embeddings, and frames numbered by first appearance");
        let said_by = rows.other.iter().find(|(column, _)| column == SAID_BY);
        for (row, cell) in said_by.into_iter().flat_map(|(_, cells)| cells.iter().enumerate()) {
            if let Some(name) = rows.names[row].as_ref().filter(|_| cell == OWNER) {
                dataset.say_name(FaceId::new(row), name);
            }
        }
        Self { dataset, faces: rows.faces, frames: rows.frames, truth: rows.truth, other: rows.other }
    }

    /// The cells of a column that the model does not use.
    pub fn column(&self, name: &str) -> Option<&[String]> {
        self.other.iter().find(|(column, _)| column == name).map(|(_, cells)| cells.as_slice())
    }

    /// All columns as text, for writing; one that would be empty throughout is left out.
    pub(crate) fn columns(&self) -> Vec<(&str, Vec<&str>)> {
        let data = &self.dataset;
        let mut columns: Vec<(&str, Vec<&str>)> =
            vec![("face", self.faces.iter().map(String::as_str).collect())];
        let frames = data.faces().map(|face| self.frames[data.frame_of(face).index()].as_str());
        let context =
            |face| data.given_context(data.frame_of(face)).map_or("", |c| &data.contexts()[c.index()]);
        let name = |face| data.given_name(face).map_or("", |label| &data.names()[label.index()]);
        let optional = [
            ("frame", frames.collect()),
            ("context", data.faces().map(context).collect()),
            ("name", data.faces().map(name).collect()),
        ];
        columns.extend(
            optional
                .into_iter()
                .filter(|(_, cells): &(_, Vec<&str>)| cells.iter().any(|cell| !cell.is_empty())),
        );
        if let Some(truth) = &self.truth {
            columns.push(("truth", truth.iter().map(|truth| truth.as_deref().unwrap_or("")).collect()));
        }
        columns.extend(
            self.other
                .iter()
                .map(|(name, cells)| (name.as_str(), cells.iter().map(String::as_str).collect())),
        );
        columns
    }

    /// Refuses a table that would not be read back as it is.
    pub(crate) fn check(&self, path: &Path) -> Result<(), IoError> {
        self.check_lengths(path)?;
        let refuse =
            |found: String, wanted| Err(IoError::TableContent { path: path.to_owned(), found, wanted });
        if self.dataset.n_faces() == 0 {
            return refuse("zero faces".into(), "at least one");
        }
        let known = ["face", "frame", "context", "name", "truth"];
        let names = known.into_iter().chain(self.other.iter().map(|(name, _)| name.as_str()));
        refuse_repeated(names, &Origin::file(path))?;
        if let Some((first, second)) = first_repeat(&self.faces) {
            let id = quoted(&self.faces[second]);
            return refuse(format!("the id {id} for faces {first} and {second}"), "an id for each");
        }
        let named: Vec<String> = self.frames.iter().filter(|frame| !frame.is_empty()).cloned().collect();
        if let Some((first, _)) = first_repeat(&named) {
            return refuse(format!("the id {} for two frames", quoted(&named[first])), "an id for each");
        }
        let unnamed = |frame: &kith::ids::FrameId| self.frames[frame.index()].is_empty();
        if let Some(frame) =
            self.dataset.frames().filter(unnamed).find(|&f| self.dataset.faces_in(f).len() > 1)
        {
            return refuse(format!("no id for frame {}, which holds several faces", frame.index()), "an id");
        }
        let texts = self.faces.iter().chain(self.dataset.names()).chain(self.dataset.contexts());
        let mut texts = texts.chain(self.truth.iter().flatten().flatten());
        if texts.any(String::is_empty) {
            return refuse(
                "an empty text for a face id, name, context or truth".into(),
                "some text, or none given",
            );
        }
        let times = self.column("time").unwrap_or_default();
        if let Some(face) = times.iter().position(|text| !text.is_empty() && time::seconds(text).is_none()) {
            return refuse(format!("time {} at face {face}", quoted(&times[face])), "RFC 3339 or seconds");
        }
        let times_of = |frame| {
            let faces = self.dataset.faces_in(frame).iter();
            faces.filter_map(|face| times.get(face.index()).filter(|time| !time.is_empty()))
        };
        let differ =
            |&frame: &kith::ids::FrameId| times_of(frame).any(|time| times_of(frame).next() != Some(time));
        match self.dataset.frames().find(differ) {
            Some(frame) => refuse(format!("two times in frame {}", frame.index()), "one"),
            None => Ok(()),
        }
    }

    fn check_lengths(&self, path: &Path) -> Result<(), IoError> {
        let (n_faces, n_frames) = (self.dataset.n_faces(), self.dataset.n_frames());
        let truth = self.truth.iter().map(|truth| ("cells of truth".to_owned(), truth.len(), n_faces));
        let other = self
            .other
            .iter()
            .map(|(name, cells)| (format!("cells of {}", quoted(name)), cells.len(), n_faces));
        let ids = [
            ("face ids".to_owned(), self.faces.len(), n_faces),
            ("frame ids".to_owned(), self.frames.len(), n_frames),
        ];
        match ids.into_iter().chain(truth).chain(other).find(|(_, found, wanted)| found != wanted) {
            Some((what, found, wanted)) => {
                Err(IoError::TableLength { path: path.to_owned(), what, found, wanted })
            }
            None => Ok(()),
        }
    }
}

//! Columns of text, one cell per face, as every file format gives them before they are understood.

use crate::error::IoError;
use crate::place::{Origin, Place};
use std::path::Path;

/// The columns that have a meaning; any other is kept as it is.
pub(crate) const KNOWN: [&str; 8] = ["face", "frame", "context", "time", "name", "truth", "box", "quality"];

/// Named columns of equal length, and where their rows stand in the file.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    file: Origin,
    /// The line of each row in a text file; arrays count their rows.
    lines: Option<Vec<u64>>,
    n_rows: usize,
    cells: Vec<(String, Vec<String>)>,
}

impl Columns {
    /// From a text file whose rows begin on `lines`.
    pub(crate) fn of_text(file: Origin, lines: Vec<u64>, cells: Vec<(String, Vec<String>)>) -> Self {
        Self { file, n_rows: lines.len(), lines: Some(lines), cells }
    }

    /// From the arrays of one file.
    pub(crate) fn of_arrays(path: &Path, n_rows: usize, cells: Vec<(String, Vec<String>)>) -> Self {
        Self { file: Origin::file(path), lines: None, n_rows, cells }
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub(crate) fn n_columns(&self) -> usize {
        self.cells.len()
    }

    pub(crate) fn file(&self) -> &Origin {
        &self.file
    }

    /// Where a column stands: the text file, or the array.
    pub(crate) fn origin_of(&self, column: &str) -> Origin {
        match self.lines {
            Some(_) => self.file.clone(),
            None => Origin::array(&self.file.file, column),
        }
    }

    /// Where a row stands, and whose it is.
    pub(crate) fn place(&self, row: usize, faces: &[String]) -> Place {
        let place = self.lines.as_ref().map_or(Place::row(row), |lines| Place::line(lines[row]));
        Place { face: faces.get(row).map(|face| face.as_str().into()), ..place }
    }

    /// Takes a column out.
    pub(crate) fn take(&mut self, name: &str) -> Option<Vec<String>> {
        let at = self.cells.iter().position(|(column, _)| column == name)?;
        Some(self.cells.remove(at).1)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&[String]> {
        self.cells.iter().find(|(column, _)| column == name).map(|(_, cells)| cells.as_slice())
    }

    /// The columns that have not been taken, in their order.
    pub(crate) fn rest(self) -> Vec<(String, Vec<String>)> {
        self.cells
    }
}

/// Refuses a name that two columns have.
pub(crate) fn refuse_repeated<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    at: &Origin,
) -> Result<(), IoError> {
    for (second, name) in names.clone().enumerate() {
        let first = names.clone().position(|other| other == name).expect("it is among the names");
        if first < second {
            let (name, first, second) = (name.to_owned(), first + 1, second + 1);
            return Err(IoError::RepeatedColumn { at: at.clone(), name, first, second });
        }
    }
    Ok(())
}

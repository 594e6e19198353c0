//! Where something was found, as every message says it: file, then line or row, then face.
//!
//! Text files are counted as editors and spreadsheets count: lines and columns from 1, the header being
//! the first. Arrays are counted as numpy does: rows and columns from 0. The face's id follows in brackets
//! where it is known; a face without an id of its own has its row number, from 0, for an id.

use crate::terminal::is_hidden;
use std::fmt;
use std::path::{Path, PathBuf};

/// A file, or one array of an `.npz` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file.
    pub file: PathBuf,
    /// The array inside it, where it holds several.
    pub array: Option<Box<str>>,
}

impl Origin {
    pub(crate) fn file(path: &Path) -> Self {
        Self { file: path.to_owned(), array: None }
    }

    pub(crate) fn array(path: &Path, array: &str) -> Self {
        Self { file: path.to_owned(), array: Some(array.into()) }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", shown_path(&self.file))?;
        match &self.array {
            Some(array) => write!(f, " array {}", shown(array)),
            None => Ok(()),
        }
    }
}

/// A line of a text file or a row of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// What is being counted.
    pub unit: Unit,
    /// The line from 1, or the row from 0.
    pub number: u64,
    /// The id of the face that stands there, if it is known.
    pub face: Option<Box<str>>,
}

/// How a file counts what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Lines of a text file, from 1.
    Line,
    /// Rows of an array, from 0.
    Row,
}

impl Place {
    pub(crate) fn line(number: u64) -> Self {
        Self { unit: Unit::Line, number, face: None }
    }

    pub(crate) fn row(row: usize) -> Self {
        Self { unit: Unit::Row, number: row as u64, face: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            Unit::Line => write!(f, "line {}", self.number)?,
            Unit::Row => write!(f, "row {}", self.number)?,
        }
        match &self.face {
            Some(face) => write!(f, " (face {})", shown(face)),
            None => Ok(()),
        }
    }
}

/// Longer texts are cut in messages.
const LONGEST_SHOWN: usize = 80;

/// A text from a file, made fit for one line of a message.
pub(crate) fn shown(text: &str) -> String {
    let mut line = one_line(text.chars().take(LONGEST_SHOWN));
    if text.chars().nth(LONGEST_SHOWN).is_some() {
        line.push_str("...");
    }
    line
}

/// A path, made fit for one line of a message; never cut.
pub fn shown_path(path: &Path) -> String {
    one_line(path.to_string_lossy().chars())
}

fn one_line(chars: impl Iterator<Item = char>) -> String {
    let mut line = String::new();
    for c in chars {
        match c.is_control() || is_hidden(c) {
            true => line.extend(c.escape_default()),
            false => line.push(c),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_never_breaks_the_line_of_a_message() {
        assert_eq!(shown("O'Brien\nAnn\t\"x\""), "O'Brien\\nAnn\\t\"x\"");
        assert_eq!(shown(&"a".repeat(100)), format!("{}...", "a".repeat(80)));
        assert_eq!(shown_path(Path::new("a\nb/faces.csv")), "a\\nb/faces.csv");
    }

    #[test]
    fn a_place_is_told_as_its_file_counts() {
        let mut place = Place::line(5);
        assert_eq!(place.to_string(), "line 5");
        place.face = Some("3".into());
        assert_eq!(place.to_string(), "line 5 (face 3)");
        assert_eq!(Place::row(3).to_string(), "row 3");
        assert_eq!(Origin::array(Path::new("a.npz"), "x").to_string(), "a.npz array x");
    }
}

//! What can be wrong with a file: one line that names file, row, what was found and what was wanted.
//!
//! [`place`](crate::place) says how rows are counted. A second line `hint: ...` follows where it helps.

use crate::place::{Origin, Place, shown, shown_path};
use std::io;
use std::path::PathBuf;

/// Why a dataset was refused or could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "every variant's message says what its fields are")]
pub enum IoError {
    /// A file that belongs to the dataset is not there.
    #[error("{at}: found no such file, wanted {wanted}")]
    Missing { at: Origin, wanted: &'static str },
    /// The operating system refused to read.
    #[error("{at}: found an error on reading ({reason}), wanted a readable file")]
    Read { at: Origin, reason: io::Error },
    /// The operating system refused to write.
    #[error("{at}: cannot be written ({reason})")]
    Write { at: Origin, reason: io::Error },
    /// Nothing is ever overwritten.
    #[error("{}: found something there already, wanted a new path", shown_path(path))]
    Exists { path: PathBuf },
    /// Neither of the layouts that can be read.
    #[error(
        "{}: found {found}, wanted a dataset: a folder with embeddings.npy and faces.csv, \
         a folder with reps.csv and labels.csv, or an .npz file{hint}",
        shown_path(path)
    )]
    NotADataset { path: PathBuf, found: String, hint: &'static str },
    /// Parquet files are not read yet.
    #[error(
        "{}: found a Parquet file, which is not supported yet, wanted a folder with embeddings.npy and \
         faces.csv, or an .npz file",
        shown_path(path)
    )]
    Parquet { path: PathBuf },

    /// The magic bytes of an `.npy` file are missing.
    #[error("{at}: found {found}, wanted an .npy file, which begins with \\x93NUMPY")]
    NotNpy { at: Origin, found: String },
    /// The header of an `.npy` file cannot be understood.
    #[error("{at}: found a header {found}, wanted {wanted}")]
    NpyHeader { at: Origin, found: String, wanted: &'static str },
    /// An array of a type that is not read.
    #[error("{at}: found values of type {found}, wanted {wanted}{hint}")]
    Type { at: Origin, found: String, wanted: &'static str, hint: &'static str },
    /// Columns are stored one after the other instead of rows.
    #[error("{at}: found Fortran order, wanted C order\nhint: np.ascontiguousarray(x) puts it in C order")]
    FortranOrder { at: Origin },
    /// Too many or too few dimensions.
    #[error("{at}: found shape {}, wanted {wanted}", shown_shape(found))]
    Shape { at: Origin, found: Vec<u64>, wanted: String },
    /// The file ends too early.
    #[error(
        "{at}: found {found_bytes} bytes of data ({found_rows} whole rows), \
         wanted {wanted_bytes} bytes ({wanted_rows} rows); the file is truncated"
    )]
    Truncated { at: Origin, found_bytes: u64, found_rows: u64, wanted_bytes: u128, wanted_rows: u64 },
    /// The file goes on after the array.
    #[error("{at}: found {found} bytes after the last row, wanted none")]
    Trailing { at: Origin, found: u64 },
    /// The array does not fit into memory.
    #[error("{at}: found an array that takes {bytes} bytes, wanted one that fits into memory")]
    Memory { at: Origin, bytes: usize },
    /// More faces than can be numbered.
    #[error("{at}: found {found} rows, wanted at most {}", u32::MAX)]
    TooMany { at: Origin, found: u64 },

    /// The zip archive around the arrays is broken.
    #[error("{at}: found an archive that cannot be read ({reason}), wanted an .npz file")]
    Npz { at: Origin, reason: zip::result::ZipError },
    /// Something in an `.npz` file that should not be there, or is not there.
    #[error("{at}: found {found}, wanted {wanted}")]
    Members { at: Origin, found: String, wanted: &'static str },

    /// A number that is missing, not finite or too large.
    #[error("{at} {place}, column {column}: found {}, wanted {wanted}", shown(found))]
    Value { at: Origin, place: Place, column: usize, found: String, wanted: &'static str },
    /// A face that is not of the same network as the others.
    #[error("{at} {place}: {strange}")]
    Length { at: Origin, place: Place, strange: kith::data::Strange },
    /// Text that is not UTF-8 (or not Unicode, in an array).
    #[error("{at} {place}: found bytes that are not {wanted}, wanted {wanted}")]
    Encoding { at: Origin, place: Place, wanted: &'static str },
    /// A line with more or fewer cells than the first.
    #[error("{at} {place}: found {found} cells, wanted {wanted} as in line {first}")]
    Ragged { at: Origin, place: Place, found: usize, wanted: usize, first: u64 },
    /// There is no line of column names.
    #[error("{at}: found no header line, wanted one with the names of the columns")]
    NoHeader { at: Origin },
    /// Two columns of one name.
    #[error("{at}: found the column {} twice, as columns {first} and {second}, wanted it once", quoted(name))]
    RepeatedColumn { at: Origin, name: String, first: usize, second: usize },
    /// Nearly a known column's name, which would go unnoticed as another column.
    #[error(
        "{at} line {line}, column {column}: found {}, wanted {}, spelt just so",
        quoted(found),
        quoted(wanted)
    )]
    NearName { at: Origin, line: u64, column: usize, found: String, wanted: &'static str },
    /// Columns that something else than a comma separates.
    #[error("{at} line {line}: found columns separated by {other:?}, as in {}, wanted ','", quoted(found))]
    Separator { at: Origin, line: u64, found: String, other: char },
    /// Two files, or two arrays, that do not have one row for each face.
    #[error("{at}: found {found} rows, wanted {wanted} as in {other}{hint}")]
    Count { at: Origin, found: u64, wanted: u64, other: Box<Origin>, hint: &'static str },
    /// An empty dataset.
    #[error("{at}: found zero faces, wanted at least one")]
    NoFaces { at: Origin },
    /// One id for two faces.
    #[error(
        "{at} {second}: found the face id {} again, wanted an id of its own; it is already at {first}",
        quoted(face)
    )]
    RepeatedFace { at: Origin, face: String, first: Box<Place>, second: Box<Place> },
    /// A frame is in one context, and of one time.
    #[error(
        "{at} {second}: found {column} {} in frame {}, wanted {} as at {first}",
        quoted(found),
        quoted(frame),
        quoted(wanted)
    )]
    TwoOfFrame {
        at: Origin,
        column: &'static str,
        frame: Box<str>,
        found: Box<str>,
        wanted: Box<str>,
        first: Box<Place>,
        second: Box<Place>,
    },
    /// Text that is no time.
    #[error("{at} {place}: found time {}, wanted RFC 3339 (2024-05-01T12:30:00Z) or seconds", quoted(found))]
    Time { at: Origin, place: Place, found: String },
    /// A line of labels that is not a number and a path.
    #[error("{at} {place}: found {found} cells, wanted 2, NUMBER,PATH")]
    NotALabel { at: Origin, place: Place, found: usize },
    /// A path that does not say whose face it is.
    #[error("{at} {place}: found path {}, wanted PERSON/FILE at its end", quoted(found))]
    Label { at: Origin, place: Place, found: String },

    /// A table that was put together wrongly: a list of another length.
    #[error("{}: not written: found {found} {what}, wanted {wanted}", shown_path(path))]
    TableLength { path: PathBuf, what: String, found: usize, wanted: usize },
    /// A table that would not be read back as it is.
    #[error("{}: not written: found {found}, wanted {wanted}", shown_path(path))]
    TableContent { path: PathBuf, found: String, wanted: &'static str },
}

impl IoError {
    /// Adds the face's id to a message about a row of an array that was read apart from the ids.
    pub(crate) fn naming_face(mut self, faces: &[String]) -> Self {
        if let Self::Value { place, .. } = &mut self
            && place.face.is_none()
            && let Some(face) = faces.get(place.number as usize)
        {
            place.face = Some(face.as_str().into());
        }
        self
    }
}

pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", shown(text))
}

/// A shape as numpy prints it: `(3,)`, `(3, 4)`.
fn shown_shape(shape: &[u64]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("({})", shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

//! A dataset on disk: which layout it has, how it is read and how it is written.

use crate::error::{IoError, quoted};
use crate::parquet_table::{self, Cells, Column};
use crate::place::{Origin, Place};
use crate::rows::Rows;
use crate::{atomic, faces_csv, npy, npz, openface};
use kith::belief::stages;
use kith::data::{Dataset, Embeddings, Lengths};
use std::path::Path;

pub use crate::npz::write as write_npz;
pub use crate::table::{FaceTable, said_by};

/// The column of a Parquet file that holds the embeddings.
const EMBEDDING: &str = "embedding";

/// About so many known faces say how long embeddings usually are.
const MOST_MEASURED: usize = 500;

/// Reads a dataset, whichever layout it has.
///
/// A folder with `embeddings.npy` and `faces.csv`; else a folder with `reps.csv` and `labels.csv` (OpenFace);
/// or an `.npz` file. Nothing is read half: whatever is wrong, the answer is an error.
pub fn read(path: &Path) -> Result<FaceTable, IoError> {
    let table = read_any(path)?;
    check_lengths(path, &table, None)?;
    Ok(table)
}

/// Refuses faces that are far longer than the others, or than those they are to be compared with: they are
/// not of one network, and would drown all others.
pub fn check_lengths(path: &Path, table: &FaceTable, known: Option<&Dataset>) -> Result<(), IoError> {
    let new: Vec<&[f32]> = table.dataset.embeddings().rows().collect();
    let beside: Vec<&[f32]> = known.into_iter().flat_map(|known| some(known.embeddings())).collect();
    let lengths = Lengths::of(if known.is_some() { &beside } else { &new }.iter().copied());
    let Some(&(row, strange)) = stages::strange(&new, &beside, &lengths).first() else { return Ok(()) };
    let place = Place { face: Some(table.faces[row].as_str().into()), ..Place::row(row) };
    Err(IoError::Length { at: Origin::file(path), place, strange })
}

/// Evenly spaced embeddings, all of them while they are few.
fn some(known: &Embeddings) -> impl Iterator<Item = &[f32]> {
    let step = known.len().div_ceil(MOST_MEASURED).max(1);
    (0..known.len()).step_by(step).map(|row| known.row(row))
}

fn read_any(path: &Path) -> Result<FaceTable, IoError> {
    let found = match path.metadata() {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(not_a_dataset(path, "nothing there".into(), ""));
        }
        Err(reason) => return Err(IoError::Read { at: Origin::file(path), reason }),
    };
    if found.is_dir() {
        return read_folder(path);
    }
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("npz") => npz::read(path),
        Some("parquet") => Err(IoError::Parquet { path: path.to_owned() }),
        Some("npy" | "csv") => {
            let hint = "\nhint: give the folder that holds it";
            Err(not_a_dataset(path, format!("a single file {}", quoted(&name_of(path))), hint))
        }
        _ => Err(not_a_dataset(path, format!("a file {}", quoted(&name_of(path))), "")),
    }
}

/// Writes a new folder with `embeddings.npy` (float32) and `faces.csv`, or nothing at all.
pub fn write(path: &Path, table: &FaceTable) -> Result<(), IoError> {
    table.check(path)?;
    atomic::new_folder(path, |folder| {
        folder.file("embeddings.npy", |out| npy::write_to(out, table.dataset.embeddings()))?;
        folder.file("faces.csv", |out| faces_csv::write_to(out, &table.columns()))
    })
}

/// Writes a new Parquet file: the columns of `faces.csv` as texts, missing where they are empty, and
/// `embedding`, a list of FLOAT.
pub fn write_parquet(path: &Path, table: &FaceTable) -> Result<(), IoError> {
    table.check(path)?;
    if table.column(EMBEDDING).is_some() {
        let found = format!("another column {}", quoted(EMBEDDING));
        return Err(IoError::TableContent { path: path.to_owned(), found, wanted: "another name for it" });
    }
    let texts = table.columns();
    let mut columns: Vec<Column<'_>> = texts
        .iter()
        .map(|(name, cells)| {
            let cells = cells.iter().map(|&cell| Some(cell).filter(|cell| !cell.is_empty()));
            Column::new(name, Cells::Text(cells.collect()))
        })
        .collect();
    let data = &table.dataset;
    let embeddings = data.faces().map(|face| data.embedding(face)).collect();
    columns.push(Column::new(EMBEDDING, Cells::Floats(embeddings)));
    parquet_table::write(path, &columns, None)
}

fn read_folder(folder: &Path) -> Result<FaceTable, IoError> {
    let has = |name: &str| folder.join(name).exists();
    let missing = |name: &str, wanted| Err(IoError::Missing { at: Origin::file(&folder.join(name)), wanted });
    match [has("embeddings.npy"), has("faces.csv"), has("reps.csv"), has("labels.csv")] {
        [true, true, ..] => read_embeddings_and_faces(folder),
        [true, false, ..] => missing("faces.csv", "a header and one row per face, beside embeddings.npy"),
        [false, _, true, true] => openface::read(folder),
        [false, true, ..] => missing("embeddings.npy", "one row of numbers per face, beside faces.csv"),
        [_, _, true, false] => missing("labels.csv", "one line NUMBER,PATH per face, beside reps.csv"),
        [_, _, false, true] => missing("reps.csv", "one line of numbers per face, beside labels.csv"),
        [false, false, false, false] => Err(not_a_dataset(folder, what_is_in(folder)?, "")),
    }
}

fn read_embeddings_and_faces(folder: &Path) -> Result<FaceTable, IoError> {
    let columns = faces_csv::read(&folder.join("faces.csv"))?;
    let embeddings = npy::Reader::open(&folder.join("embeddings.npy"))?;
    let (found, wanted) = (columns.n_rows() as u64, embeddings.n_faces() as u64);
    if wanted == 0 {
        return Err(IoError::NoFaces { at: embeddings.at().clone() });
    }
    if found != wanted {
        let (at, other) = (columns.file().clone(), Box::new(embeddings.at().clone()));
        let hint = match columns.n_columns() {
            1 => "\nhint: blank lines are skipped; in a file of one column an empty cell is written \"\"",
            _ => "",
        };
        return Err(IoError::Count { at, found, wanted, other, hint });
    }
    // Everything that can be refused without the numbers has been when the large block is read.
    let rows = Rows::new(columns)?;
    let embeddings = embeddings.read().map_err(|error| error.naming_face(&rows.faces))?;
    Ok(FaceTable::put_together(rows, embeddings))
}

fn not_a_dataset(path: &Path, found: String, hint: &'static str) -> IoError {
    IoError::NotADataset { path: path.to_owned(), found, hint }
}

/// A few of the names in a folder, in order.
fn what_is_in(folder: &Path) -> Result<String, IoError> {
    let names = std::fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(name_of(&entry?.path()))).collect::<Result<Vec<_>, _>>());
    let mut names = names.map_err(|reason| IoError::Read { at: Origin::file(folder), reason })?;
    names.sort();
    let shown: Vec<String> = names.iter().take(3).map(|name| quoted(name)).collect();
    Ok(match names.len() {
        0 => "an empty folder".into(),
        1..=3 => format!("a folder with {}", shown.join(", ")),
        n => format!("a folder with {} and {} more", shown.join(", "), n - 3),
    })
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

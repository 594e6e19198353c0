//! OpenFace's own layout: `reps.csv` with one embedding a line, `labels.csv` with number and picture.

use crate::columns::Columns;
use crate::csv_lines::CsvText;
use crate::dataset::FaceTable;
use crate::error::IoError;
use crate::place::{Origin, Place};
use crate::rows::Rows;
use kith::data::Embeddings;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Reads a folder: the face's id is the picture's name without its ending, the truth is the name of the
/// folder that the picture is in. Number and path are kept as the columns `label` and `path`.
pub fn read(folder: &Path) -> Result<FaceTable, IoError> {
    let columns = labels(&CsvText::read(&folder.join("labels.csv"))?)?;
    let (labels_at, n_labels) = (columns.file().clone(), columns.n_rows());
    let path = folder.join("reps.csv");
    let at = Origin::file(&path);
    let file = File::open(&path).map_err(|reason| IoError::Read { at: at.clone(), reason })?;
    let embeddings = representations(BufReader::new(file), &at)?;
    if embeddings.len() != n_labels {
        let (found, wanted) = (n_labels as u64, embeddings.len() as u64);
        return Err(IoError::Count { at: labels_at, found, wanted, other: at.into(), hint: "" });
    }
    Ok(FaceTable::put_together(Rows::new(columns)?, embeddings))
}

fn labels(csv: &CsvText) -> Result<Columns, IoError> {
    let mut lines = Vec::new();
    let [mut faces, mut truths, mut numbers, mut paths] = [const { Vec::new() }; 4];
    csv.for_each(|line, record| {
        let place = Place::line(line);
        let (at, found) = (csv.at().clone(), record.len());
        let [number, path] = record.iter().collect::<Vec<_>>()[..] else {
            return Err(IoError::NotALabel { at, place, found });
        };
        let (face, truth) =
            face_and_person(path).ok_or_else(|| IoError::Label { at, place, found: path.to_owned() })?;
        lines.push(line);
        faces.push(face.to_owned());
        truths.push(truth.to_owned());
        numbers.push(number.to_owned());
        paths.push(path.to_owned());
        Ok(())
    })?;
    let cells = [("face", faces), ("truth", truths), ("label", numbers), ("path", paths)];
    let cells = cells.map(|(name, cells)| (name.to_owned(), cells)).into();
    Ok(Columns::of_text(csv.at().clone(), lines, cells))
}

/// `.../Ann_Lee/Ann_Lee_0001.png` is face `Ann_Lee_0001` of `Ann_Lee`.
fn face_and_person(path: &str) -> Option<(&str, &str)> {
    let mut parts = path.rsplit(['/', '\\']);
    let (file, person) = (parts.next()?, parts.next()?);
    let face = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    (!face.is_empty() && !matches!(person, "" | "." | "..")).then_some((face, person))
}

/// One line of numbers for each face; a line is read at a time, as the file may be large.
fn representations(mut input: impl BufRead, at: &Origin) -> Result<Embeddings, IoError> {
    let (mut values, mut text) = (Vec::new(), String::new());
    let mut first: Option<(usize, u64)> = None;
    for line in 1.. {
        text.clear();
        match input.read_line(&mut text) {
            Ok(0) => break,
            Ok(_) if text.trim().is_empty() => continue,
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                return Err(IoError::Encoding { at: at.clone(), place: Place::line(line), wanted: "UTF-8" });
            }
            Err(reason) => return Err(IoError::Read { at: at.clone(), reason }),
        }
        let before = values.len();
        for (column, cell) in text.trim().split(',').map(str::trim).enumerate() {
            match cell.parse::<f32>() {
                Ok(value) if value.is_finite() => values.push(value),
                _ => {
                    let (place, found) = (Place::line(line), format!("\"{cell}\""));
                    let wanted = "a finite number";
                    return Err(IoError::Value { at: at.clone(), place, column: column + 1, found, wanted });
                }
            }
        }
        let found = values.len() - before;
        let &mut (wanted, first) = first.get_or_insert((found, line));
        if found != wanted {
            return Err(IoError::Ragged { at: at.clone(), place: Place::line(line), found, wanted, first });
        }
    }
    match first {
        Some((dimension, _)) => {
            Ok(Embeddings::new(values, dimension).expect("finite numbers, rows of one length"))
        }
        None => Err(IoError::NoFaces { at: at.clone() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(reps: &str) -> String {
        representations(reps.as_bytes(), &Origin::file("reps.csv".as_ref())).unwrap_err().to_string()
    }

    #[test]
    fn a_path_says_whose_face_it_is() {
        assert_eq!(face_and_person("./lfw/Ann_Lee/Ann_Lee_0001.png"), Some(("Ann_Lee_0001", "Ann_Lee")));
        assert_eq!(face_and_person("c:\\faces\\Bob\\1.2.jpg"), Some(("1.2", "Bob")));
        assert_eq!(face_and_person("Bob/1"), Some(("1", "Bob")));
        for path in ["", "a.png", "./a.png", "/a.png", "../a.png", "Bob/", "Bob/.png"] {
            assert_eq!(face_and_person(path), None, "{path}");
        }
    }

    #[test]
    fn a_bad_number_is_refused_with_line_and_column() {
        for bad in ["nan", "inf", "1e300", "x", ""] {
            let wanted = format!("reps.csv line 3, column 2: found \"{bad}\", wanted a finite number");
            assert_eq!(refusal(&format!("1,2\r\n\r\n3,{bad}\r\n")), wanted);
        }
        assert_eq!(refusal("1,2\n3\n"), "reps.csv line 2: found 1 cells, wanted 2 as in line 1");
        assert_eq!(refusal("\n"), "reps.csv: found zero faces, wanted at least one");
    }
}

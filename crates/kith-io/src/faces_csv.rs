//! `faces.csv`: a header, then one row per face.

use crate::columns::{Columns, KNOWN, refuse_repeated};
use crate::csv_lines::CsvText;
use crate::error::IoError;
use crate::place::Origin;
use std::io::{self, Write};
use std::path::Path;

/// Reads all columns, known or not, as text.
pub(crate) fn read(path: &Path) -> Result<Columns, IoError> {
    parse(&CsvText::read(path)?)
}

fn parse(csv: &CsvText) -> Result<Columns, IoError> {
    let mut columns: Option<Vec<(String, Vec<String>)>> = None;
    let mut lines = Vec::new();
    csv.for_each(|line, record| {
        match &mut columns {
            None => columns = Some(header(line, record, csv.at())?),
            Some(columns) => {
                lines.push(line);
                columns.iter_mut().zip(record).for_each(|((_, cells), cell)| cells.push(cell.to_owned()));
            }
        }
        Ok(())
    })?;
    let columns = columns.ok_or_else(|| IoError::NoHeader { at: csv.at().clone() })?;
    Ok(Columns::of_text(csv.at().clone(), lines, columns))
}

fn header(line: u64, record: &csv::StringRecord, at: &Origin) -> Result<Vec<(String, Vec<String>)>, IoError> {
    refuse_repeated(record.iter(), at)?;
    for (column, name) in record.iter().enumerate() {
        let plain = name.trim().to_lowercase();
        // Beside the column itself, one that is called nearly so is another.
        let is_missed = |known: &&&str| **known == plain && !record.iter().any(|other| other == **known);
        if let Some(wanted) = KNOWN.iter().filter(|known| **known != name).find(is_missed) {
            let found = name.to_owned();
            return Err(IoError::NearName { at: at.clone(), line, column: column + 1, found, wanted });
        }
    }
    let is_known = |part: &str| KNOWN.contains(&part.trim().trim_matches('"').to_lowercase().as_str());
    if let Some(other) = [';', '\t'].into_iter().find(|&other| record[0].split(other).skip(1).any(is_known)) {
        let found = record[0].to_owned();
        return Err(IoError::Separator { at: at.clone(), line, found, other });
    }
    Ok(record.iter().map(|name| (name.to_owned(), Vec::new())).collect())
}

/// Writes columns of equal length under their names.
pub(crate) fn write_to(out: &mut impl Write, columns: &[(&str, Vec<&str>)]) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(columns.iter().map(|(name, _)| name))?;
    for row in 0..columns.first().map_or(0, |(_, cells)| cells.len()) {
        writer.write_record(columns.iter().map(|(_, cells)| cells[row]))?;
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(text: &str) -> Result<Columns, IoError> {
        parse(&CsvText::new(text.as_bytes().to_vec(), Origin::file("faces.csv".as_ref()))?)
    }

    fn refusal(text: &str) -> String {
        columns(text).unwrap_err().to_string()
    }

    #[test]
    fn cells_are_kept_to_the_letter() {
        let columns = columns("\u{feff}face,note\r\na,\" x, \"\"y\"\"\"\r\n,\r\n").unwrap();
        assert_eq!(columns.get("face").unwrap(), ["a", ""]);
        assert_eq!(columns.get("note").unwrap(), [" x, \"y\"", ""]);
        assert_eq!(columns.place(1, &[]).to_string(), "line 3");
    }

    #[test]
    fn a_ragged_row_is_refused_with_its_line() {
        let wanted = "faces.csv line 4: found 1 cells, wanted 2 as in line 1";
        assert_eq!(refusal("face,name\na,Ann\n\nb\n"), wanted);
        let wanted = "faces.csv line 2: found 3 cells, wanted 2 as in line 1";
        assert_eq!(refusal("face,name\na,Ann,x\n"), wanted);
    }

    #[test]
    fn a_repeated_column_is_refused() {
        let wanted = "faces.csv: found the column \"name\" twice, as columns 1 and 3, wanted it once";
        assert_eq!(refusal("name,face,name\n"), wanted);
    }

    #[test]
    fn a_known_column_with_blanks_is_not_taken_for_another() {
        let wanted = "faces.csv line 1, column 2: found \" name\", wanted \"name\", spelt just so";
        assert_eq!(refusal("face, name\na, Ann\n"), wanted);
    }

    #[test]
    fn a_known_column_in_capitals_or_with_other_separators_is_not_taken_for_another() {
        let wanted = "faces.csv line 1, column 1: found \"Face\", wanted \"face\", spelt just so";
        assert_eq!(refusal("Face,Name\na,Ann\n"), wanted);
        assert!(columns("face,FACE,note\na,b,c\n").is_ok(), "beside the column itself it is another");
        let wanted =
            "faces.csv line 1: found columns separated by ';', as in \"face;frame;name\", wanted ','";
        assert_eq!(refusal("face;frame;name\na;f;Ann\n"), wanted);
        assert!(refusal("Id\tName\na\tAnn\n").contains("separated by '\\t'"));
        assert!(columns("note; or remark\na\n").is_ok());
    }

    #[test]
    fn a_file_without_a_header_or_in_another_encoding_is_refused() {
        assert_eq!(refusal(""), "faces.csv: found no header line, wanted one with the names of the columns");
        let error =
            CsvText::new(b"face\na\nb\xe9\n".to_vec(), Origin::file("faces.csv".as_ref())).err().unwrap();
        assert_eq!(error.to_string(), "faces.csv line 3: found bytes that are not UTF-8, wanted UTF-8");
    }
}

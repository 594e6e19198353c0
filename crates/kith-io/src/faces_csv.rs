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
    let blank = |name: &&str| name.trim() != *name && KNOWN.contains(&name.trim());
    if let Some(column) = record.iter().position(|name| blank(&name)) {
        let found = record[column].to_owned();
        return Err(IoError::BlankInName { at: at.clone(), line, column: column + 1, found });
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
        let wanted = "faces.csv line 1, column 2: found \" name\", wanted \"name\" without blanks";
        assert_eq!(refusal("face, name\na, Ann\n"), wanted);
    }

    #[test]
    fn a_file_without_a_header_or_in_another_encoding_is_refused() {
        assert_eq!(refusal(""), "faces.csv: found no header line, wanted one with the names of the columns");
        let error =
            CsvText::new(b"face\na\nb\xe9\n".to_vec(), Origin::file("faces.csv".as_ref())).err().unwrap();
        assert_eq!(error.to_string(), "faces.csv line 3: found bytes that are not UTF-8, wanted UTF-8");
    }
}

//! Records of a CSV file with the line on which each begins, as an editor counts.
//!
//! The csv crate's own count is off after blank lines and with Windows line ends, so lines are counted here.

use crate::error::IoError;
use crate::place::{Origin, Place};
use std::path::Path;

/// A CSV file in memory: UTF-8, a byte order mark tolerated, blank lines skipped.
pub(crate) struct CsvText {
    at: Origin,
    text: String,
}

impl CsvText {
    pub(crate) fn read(path: &Path) -> Result<Self, IoError> {
        let at = Origin::file(path);
        match std::fs::read(path) {
            Ok(bytes) => Self::new(bytes, at),
            Err(reason) => Err(IoError::Read { at, reason }),
        }
    }

    pub(crate) fn new(bytes: Vec<u8>, at: Origin) -> Result<Self, IoError> {
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { at, text }),
            Err(error) => {
                let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let place = Place::line(1 + count_line_ends(good));
                Err(IoError::Encoding { at, place, wanted: "UTF-8" })
            }
        }
    }

    pub(crate) fn at(&self) -> &Origin {
        &self.at
    }

    /// Calls `each` with every record and its line; all records must have as many cells as the first.
    pub(crate) fn for_each(
        &self,
        mut each: impl FnMut(u64, &csv::StringRecord) -> Result<(), IoError>,
    ) -> Result<(), IoError> {
        let text = self.text.strip_prefix('\u{feff}').unwrap_or(&self.text).as_bytes();
        let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text);
        let mut record = csv::StringRecord::new();
        let (mut line, mut counted, mut first) = (1, 0, None);
        loop {
            let start = reader.position().byte() as usize;
            if !reader.read_record(&mut record).expect("text in memory, known to be UTF-8, of any width") {
                return Ok(());
            }
            // The rest of the last line end, and blank lines, stand before the record.
            let skipped = text[start..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            line += count_line_ends(&text[counted..start + skipped]);
            counted = start + skipped;
            let &mut (wanted, first) = first.get_or_insert((record.len(), line));
            if record.len() != wanted {
                let (at, found) = (self.at.clone(), record.len());
                return Err(IoError::Ragged { at, place: Place::line(line), found, wanted, first });
            }
            each(line, &record)?;
        }
    }
}

/// Line ends of Unix, Windows and old Macintosh.
fn count_line_ends(bytes: &[u8]) -> u64 {
    let ends =
        |(at, &byte): (usize, &u8)| byte == b'\n' || byte == b'\r' && bytes.get(at + 1) != Some(&b'\n');
    bytes.iter().enumerate().filter(|&place| ends(place)).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<(u64, String)> {
        let csv = CsvText::new(text.as_bytes().to_vec(), Origin::file("a.csv".as_ref())).unwrap();
        let mut lines = Vec::new();
        csv.for_each(|line, record| {
            lines.push((line, record.iter().collect::<Vec<_>>().join("|")));
            Ok(())
        })
        .unwrap();
        lines
    }

    #[test]
    fn lines_are_counted_as_an_editor_does() {
        for (text, wanted) in [
            ("a,b\n1,2\n3,4\n", [1, 2, 3]),
            ("a,b\r\n1,2\r\n3,4", [1, 2, 3]),
            ("a,b\r1,2\r3,4\r", [1, 2, 3]),
            ("\u{feff}a,b\n1,2\n3,4\n", [1, 2, 3]),
            ("a,b\n\n1,2\n\n\n3,4\n", [1, 3, 6]),
            ("a,b\r\n\r\n1,2\r\n3,4\r\n\r\n", [1, 3, 4]),
            ("\n\na,b\n1,\"x\ny\"\n3,4\n", [3, 4, 6]),
            ("a,b\r\n1,\"x\r\ny\"\r\n3,4\r\n", [1, 2, 4]),
        ] {
            let found: Vec<u64> = lines(text).iter().map(|(line, _)| *line).collect();
            assert_eq!(found, wanted, "{text:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_cell() {
        assert_eq!(lines("\u{feff}face,name\n")[0].1, "face|name");
        assert_eq!(lines("\u{feff}\"face\",name\n")[0].1, "face|name");
    }
}

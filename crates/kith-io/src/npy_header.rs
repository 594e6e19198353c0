//! The header of an `.npy` file: type, order and shape of the array that follows.

use crate::error::IoError;
use crate::npy_type::ValueType;
use crate::place::{Origin, shown};
use std::io::{self, Read, Write};

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// numpy itself refuses headers above 10,000 bytes; what is longer is no array of numbers.
const LONGEST: u32 = 1 << 20;

/// What the header says, and how many bytes it takes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Header {
    pub(crate) value_type: ValueType,
    pub(crate) fortran_order: bool,
    pub(crate) shape: Vec<u64>,
    /// From the start of the file to the first value.
    pub(crate) length: u64,
}

impl Header {
    /// Reads versions 1, 2 and 3, and leaves `input` at the first value.
    pub(crate) fn read(input: &mut impl Read, at: &Origin) -> Result<Self, IoError> {
        let magic = take(input, 6, at)?;
        if magic != MAGIC {
            let found = match magic.as_slice() {
                [] => "an empty file".to_owned(),
                bytes => format!("a file that begins with {}", bytes.escape_ascii()),
            };
            return Err(IoError::NotNpy { at: at.clone(), found });
        }
        let version = exactly(input, 2, at)?;
        let (width, utf8) = match version[0] {
            1 => (2, false),
            2 => (4, false),
            3 => (4, true),
            other => {
                let found = format!("of version {other}.{}", version[1]);
                return Err(IoError::NpyHeader { at: at.clone(), found, wanted: "version 1, 2 or 3" });
            }
        };
        let length = exactly(input, width, at)?.iter().rev().fold(0, |n, &byte| n << 8 | u32::from(byte));
        if length > LONGEST {
            let found = format!("of {length} bytes");
            return Err(IoError::NpyHeader { at: at.clone(), found, wanted: "a shorter one" });
        }
        let bytes = exactly(input, length as usize, at)?;
        // Versions 1 and 2 are Latin-1, which differs from ASCII in the field names of structured types only.
        let text = match utf8 {
            true => String::from_utf8_lossy(&bytes).into_owned(),
            false => bytes.iter().map(|&byte| char::from(byte)).collect(),
        };
        let length = (8 + width) as u64 + u64::from(length);
        let parsed = Literal(&text).header();
        let (value_type, fortran_order, shape) = parsed.ok_or_else(|| IoError::NpyHeader {
            at: at.clone(),
            found: format!("that reads {}", shown(text.trim_end())),
            wanted: "{'descr': ..., 'fortran_order': ..., 'shape': ...}",
        })?;
        Ok(Self { value_type, fortran_order, shape, length })
    }

    /// Checks that `length`, the whole file's, is this header and the array and nothing else.
    pub(crate) fn check_length(&self, length: u64, at: &Origin) -> Result<(), IoError> {
        let found = length.saturating_sub(self.length);
        let wanted = self.row_bytes().saturating_mul(self.n_rows().into());
        if u128::from(found) < wanted {
            return Err(self.truncated(found, at));
        }
        match found - wanted as u64 {
            0 => Ok(()),
            found => Err(IoError::Trailing { at: at.clone(), found }),
        }
    }

    /// The error for an array of which only `found_bytes` bytes are there.
    pub(crate) fn truncated(&self, found_bytes: u64, at: &Origin) -> IoError {
        let row_bytes = self.row_bytes();
        let found_rows = u128::from(found_bytes).checked_div(row_bytes).unwrap_or(0) as u64;
        let wanted_rows = self.n_rows();
        let wanted_bytes = row_bytes.saturating_mul(wanted_rows.into());
        IoError::Truncated { at: at.clone(), found_bytes, found_rows, wanted_bytes, wanted_rows }
    }

    fn n_rows(&self) -> u64 {
        self.shape.first().copied().unwrap_or(1)
    }

    fn row_bytes(&self) -> u128 {
        let values = self.shape.iter().skip(1).fold(1, |n: u128, &size| n.saturating_mul(size.into()));
        values.saturating_mul(self.value_type.size as u128)
    }
}

/// Writes a version 1 header; values start at a multiple of 64 bytes, as numpy has it.
pub(crate) fn write(out: &mut impl Write, descr: &str, shape: &[usize]) -> io::Result<()> {
    let sizes: String = shape.iter().map(|size| format!("{size}, ")).collect();
    let sizes = if shape.len() == 1 { sizes.trim_end() } else { sizes.trim_end_matches(", ") };
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}");
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&(length as u16).to_le_bytes())?;
    writeln!(out, "{text:<width$}", width = length - 1)
}

/// Up to `n` bytes: fewer where the input ends.
fn take(input: &mut impl Read, n: usize, at: &Origin) -> Result<Vec<u8>, IoError> {
    let mut bytes = Vec::new();
    let read = input.take(n as u64).read_to_end(&mut bytes);
    read.map_err(|reason| IoError::Read { at: at.clone(), reason })?;
    Ok(bytes)
}

/// `n` bytes of the header.
fn exactly(input: &mut impl Read, n: usize, at: &Origin) -> Result<Vec<u8>, IoError> {
    let bytes = take(input, n, at)?;
    if bytes.len() < n {
        let found = format!("that ends {} bytes too early", n - bytes.len());
        return Err(IoError::NpyHeader {
            at: at.clone(),
            found,
            wanted: "a whole one; the file is truncated",
        });
    }
    Ok(bytes)
}

/// The rest of a Python dictionary that is being read.
struct Literal<'a>(&'a str);

impl<'a> Literal<'a> {
    fn header(mut self) -> Option<(ValueType, bool, Vec<u64>)> {
        let (mut value_type, mut fortran_order, mut shape) = (None, None, None);
        self.symbol('{')?;
        while self.symbol('}').is_none() {
            let key = self.string()?;
            self.symbol(':')?;
            match key {
                "descr" => value_type = Some(self.value_type()?),
                "fortran_order" => fortran_order = Some(self.boolean()?),
                "shape" => shape = Some(self.shape()?),
                _ => return None,
            }
            if self.symbol(',').is_none() {
                self.symbol('}')?;
                break;
            }
        }
        match self.0.trim().is_empty() {
            true => Some((value_type?, fortran_order?, shape?)),
            false => None,
        }
    }

    fn symbol(&mut self, symbol: char) -> Option<()> {
        self.0 = self.0.trim_start().strip_prefix(symbol)?;
        Some(())
    }

    fn string(&mut self) -> Option<&'a str> {
        let text = self.0.trim_start();
        let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let (string, rest) = text[1..].split_once(quote)?;
        self.0 = rest;
        Some(string)
    }

    fn boolean(&mut self) -> Option<bool> {
        let text = self.0.trim_start();
        let (value, rest) = match text.strip_prefix("True") {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix("False")?),
        };
        self.0 = rest;
        Some(value)
    }

    fn shape(&mut self) -> Option<Vec<u64>> {
        self.symbol('(')?;
        let (inside, rest) = self.0.split_once(')')?;
        self.0 = rest;
        let inside = inside.trim().trim_end_matches(',');
        // Python 2 wrote long integers as `3L`.
        let size = |text: &str| text.trim().trim_end_matches('L').parse().ok();
        if inside.is_empty() { Some(Vec::new()) } else { inside.split(',').map(size).collect() }
    }

    /// A string such as `'<f4'`, or the list of fields of a structured type.
    fn value_type(&mut self) -> Option<ValueType> {
        if let Some(descr) = self.string() {
            return ValueType::parse(descr);
        }
        let list = self.0.trim_start();
        let (mut depth, mut quote) = (0_usize, None);
        for (place, c) in list.char_indices() {
            match (quote, c) {
                (Some(open), c) if open == c => quote = None,
                (Some(_), _) => {}
                (None, '\'' | '"') => quote = Some(c),
                (None, '[' | '(') => depth += 1,
                (None, ']' | ')') => depth = depth.checked_sub(1)?,
                _ if depth == 0 => return None,
                _ => {}
            }
            if depth == 0 && quote.is_none() {
                let (fields, rest) = list.split_at(place + c.len_utf8());
                self.0 = rest;
                return Some(ValueType::structured(fields));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<(ValueType, bool, Vec<u64>)> {
        Literal(text).header()
    }

    #[test]
    fn a_header_is_read_whatever_its_blanks_quotes_and_order() {
        let plain = parse("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }").unwrap();
        assert_eq!(plain.2, [3, 4]);
        for other in [
            "{\"shape\":(3,4),\"fortran_order\":False,\"descr\":\"<f4\"}",
            " { 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 3L , 4L ) } \n",
        ] {
            assert_eq!(parse(other).as_ref(), Some(&plain), "{other}");
        }
        assert_eq!(parse("{'descr': '<f4', 'fortran_order': True, 'shape': (), }").unwrap().2, [0u64; 0]);
        let fields =
            parse("{'descr': [('a]', '<f4'), ('b', '<f8', (2,))], 'fortran_order': False, 'shape': (3,), }");
        assert_eq!(fields.unwrap().2, [3]);
    }

    #[test]
    fn a_broken_header_is_refused_and_not_guessed_at() {
        for broken in [
            "",
            "{",
            "{'descr': '<f4', 'fortran_order': False}",
            "{'descr': '<f4', 'fortran_order': no, 'shape': (3,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3, x)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-3, 4)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3,4)} more",
            "{'descr': [((((', 'fortran_order': False, 'shape': (3,4)}",
            "{'descr': 'f', 'fortran_order': False, 'shape': (3,4)}",
            "{'descr': '\u{e9}4', 'fortran_order': False, 'shape': (3,4)}",
        ] {
            assert_eq!(parse(broken), None, "{broken}");
        }
    }

    #[test]
    fn a_written_header_is_read_back_and_aligned() {
        for shape in [vec![3], vec![3, 4], vec![1_000_000_000, 128]] {
            let mut bytes = Vec::new();
            write(&mut bytes, "<f4", &shape).unwrap();
            assert_eq!(bytes.len() % 64, 0);
            let header = Header::read(&mut bytes.as_slice(), &Origin::file("x.npy".as_ref())).unwrap();
            assert_eq!(header.shape, shape.iter().map(|&size| size as u64).collect::<Vec<_>>());
            assert_eq!((header.length, header.fortran_order), (bytes.len() as u64, false));
        }
    }
}

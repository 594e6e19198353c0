//! One-dimensional arrays of text or numbers as columns of text, in `.npy` form.

use crate::error::IoError;
use crate::npy_header::{self, Header};
use crate::npy_type::ValueType;
use crate::place::{Origin, Place};
use std::io::{self, Read, Write};

/// Reads one text per row; `input` holds `length` bytes. Numbers are written out, NaN is a missing cell.
pub(crate) fn read(
    mut input: impl Read,
    length: u64,
    at: Origin,
    n_rows: usize,
) -> Result<Vec<String>, IoError> {
    let header = Header::read(&mut input, &at)?;
    let Some(decode) = decoder(&header.value_type) else {
        let wanted = "text, bytes, bool, int8 to int64, float32 or float64";
        let hint = match header.value_type.kind {
            'O' => "\nhint: np.array(column, dtype=str) makes it text",
            'M' => "\nhint: np.datetime_as_string(time, timezone='UTC') makes it text",
            _ => "",
        };
        return Err(IoError::Type { at, found: header.value_type.to_string(), wanted, hint });
    };
    if header.shape != [n_rows as u64] {
        return Err(IoError::Shape {
            at,
            found: header.shape,
            wanted: format!("({n_rows},), one cell for each row of x"),
        });
    }
    header.check_length(length, &at)?;
    let (size, wanted) = (header.value_type.size, n_rows * header.value_type.size);
    let mut bytes = Vec::new();
    let read = input.take(wanted as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|reason| IoError::Read { at: at.clone(), reason })?;
    if bytes.len() < wanted {
        return Err(header.truncated(bytes.len() as u64, &at));
    }
    if bytes.len() > wanted {
        return Err(IoError::Trailing { at, found: 1 });
    }
    let cell = |row: usize| {
        let wanted = if header.value_type.kind == 'S' { "UTF-8" } else { "Unicode" };
        let refused = || IoError::Encoding { at: at.clone(), place: Place::row(row), wanted };
        decode(&bytes[row * size..][..size], header.value_type.is_big_endian).ok_or_else(refused)
    };
    (0..n_rows).map(cell).collect()
}

/// Writes texts as numpy's `<U`.
pub(crate) fn write_to(out: &mut impl Write, cells: &[&str]) -> io::Result<()> {
    let width = cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0).max(1);
    npy_header::write(out, &format!("<U{width}"), &[cells.len()])?;
    for cell in cells {
        let padded = cell.chars().map(u32::from).chain(std::iter::repeat(0)).take(width);
        let bytes: Vec<u8> = padded.flat_map(u32::to_le_bytes).collect();
        out.write_all(&bytes)?;
    }
    Ok(())
}

/// From the bytes of one value and whether they are big endian; `None` where they are no text.
type Decode = fn(&[u8], bool) -> Option<String>;

fn decoder(value_type: &ValueType) -> Option<Decode> {
    Some(match (value_type.kind, value_type.size) {
        ('U', _) => unicode,
        ('S', _) => |bytes, _| str::from_utf8(trim_nul(bytes)).ok().map(str::to_owned),
        ('b', 1) => |bytes, _| Some(if bytes[0] == 0 { "False" } else { "True" }.to_owned()),
        ('i', 1 | 2 | 4 | 8) => |bytes, big| {
            // Shifted up and down again, so that the sign is that of the value's own width.
            let unused = 64 - 8 * bytes.len();
            Some(((unsigned(bytes, big) << unused) as i64 >> unused).to_string())
        },
        ('u', 1 | 2 | 4 | 8) => |bytes, big| Some(unsigned(bytes, big).to_string()),
        ('f', 4) => |bytes, big| {
            let value = f32::from_bits(unsigned(bytes, big) as u32);
            Some(number(value.into(), || value.to_string(), || format!("{value:e}")))
        },
        ('f', 8) => |bytes, big| {
            let value = f64::from_bits(unsigned(bytes, big));
            Some(number(value, || value.to_string(), || format!("{value:e}")))
        },
        _ => return None,
    })
}

fn unicode(bytes: &[u8], big: bool) -> Option<String> {
    let codes: Vec<u32> = bytes.chunks_exact(4).map(|code| unsigned(code, big) as u32).collect();
    let used = codes.iter().rposition(|&code| code != 0).map_or(0, |last| last + 1);
    codes[..used].iter().map(|&code| char::from_u32(code)).collect()
}

fn trim_nul(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)]
}

fn unsigned(bytes: &[u8], big: bool) -> u64 {
    let join = |n, &byte| n << 8 | u64::from(byte);
    if big { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) }
}

/// `3` for 3.0, so that ids survive a detour through floats; an exponent where digits would run on; nothing
/// for NaN.
fn number(value: f64, plain: impl Fn() -> String, exponent: impl Fn() -> String) -> String {
    match value.abs() {
        size if size.is_nan() => String::new(),
        size if size == 0.0 || size.is_infinite() || (1e-5..1e16).contains(&size) => plain(),
        _ => exponent(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_text_is_read_back() {
        for cells in [vec!["Ann", "", "Zo\u{eb} \u{1f600}"], vec!["", "", ""]] {
            let mut bytes = Vec::new();
            write_to(&mut bytes, &cells).unwrap();
            let at = Origin::array("a.npz".as_ref(), "name");
            assert_eq!(read(bytes.as_slice(), bytes.len() as u64, at, 3).unwrap(), cells);
        }
    }

    #[test]
    fn numbers_of_every_width_become_text() {
        let told = |descr: &str, bytes: &[u8]| {
            let value_type = ValueType::parse(descr).unwrap();
            decoder(&value_type).unwrap()(bytes, value_type.is_big_endian).unwrap()
        };
        assert_eq!(told("|i1", &[0xff]), "-1");
        assert_eq!(told(">i2", &(-300_i16).to_be_bytes()), "-300");
        assert_eq!(told("<i8", &i64::MIN.to_le_bytes()), i64::MIN.to_string());
        assert_eq!(told("<u8", &u64::MAX.to_le_bytes()), u64::MAX.to_string());
        assert_eq!(told("|b1", &[1]), "True");
        assert_eq!(told("<f4", &0.1_f32.to_le_bytes()), "0.1");
        assert_eq!(told(">f8", &3.0_f64.to_be_bytes()), "3");
        assert_eq!(told("<f8", &1e300_f64.to_le_bytes()), "1e300");
        assert_eq!(told("<f8", &f64::NAN.to_le_bytes()), "");
    }
}

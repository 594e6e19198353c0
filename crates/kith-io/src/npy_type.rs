//! The type of an array's values, as `.npy` files spell it: `<f4`, `|S5`, `>i8`.

use crate::place::shown;
use std::fmt;

/// Kind, size and byte order of one value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ValueType {
    descr: String,
    /// numpy's letter: `f` float, `i` and `u` integers, `b` bool, `U` and `S` text, ...; `V` for structures.
    pub(crate) kind: char,
    /// Bytes of one value.
    pub(crate) size: usize,
    pub(crate) is_big_endian: bool,
}

impl ValueType {
    /// `None` for what is not a type.
    pub(crate) fn parse(descr: &str) -> Option<Self> {
        let is_big_endian = match descr.chars().next()? {
            '>' => true,
            '<' | '|' => false,
            '=' => cfg!(target_endian = "big"),
            _ => return None,
        };
        let kind = descr[1..].chars().next().filter(char::is_ascii_alphabetic)?;
        let digits = &descr[2..];
        let digits = &digits[..digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len())];
        let count: usize = match kind {
            'O' => 8,
            _ => digits.parse().ok()?,
        };
        let size = if kind == 'U' { count.checked_mul(4)? } else { count };
        Some(Self { descr: descr.to_owned(), kind, size, is_big_endian })
    }

    /// Several values under names of their own; never read, only named in messages.
    pub(crate) fn structured(fields: &str) -> Self {
        Self { descr: shown(fields), kind: 'V', size: 0, is_big_endian: false }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.size.saturating_mul(8);
        match self.kind {
            'f' => write!(f, "float{bits}")?,
            'i' => write!(f, "int{bits}")?,
            'u' => write!(f, "uint{bits}")?,
            'c' => write!(f, "complex{bits}")?,
            'b' => write!(f, "bool")?,
            'U' => write!(f, "text")?,
            'S' => write!(f, "bytes")?,
            'O' => write!(f, "Python object")?,
            'M' => write!(f, "datetime64")?,
            'm' => write!(f, "timedelta64")?,
            _ => write!(f, "structure")?,
        }
        write!(f, " ({})", shown(&self.descr))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_in_numpys_words() {
        for (descr, told, size) in [
            ("<f4", "float32 (<f4)", 4),
            (">i8", "int64 (>i8)", 8),
            ("|b1", "bool (|b1)", 1),
            ("<c16", "complex128 (<c16)", 16),
            ("<U5", "text (<U5)", 20),
            ("|S5", "bytes (|S5)", 5),
            ("|O", "Python object (|O)", 8),
            ("<M8[ns]", "datetime64 (<M8[ns])", 8),
        ] {
            let value_type = ValueType::parse(descr).unwrap();
            assert_eq!((value_type.to_string().as_str(), value_type.size), (told, size));
        }
        for broken in ["", "f4", "<", "<f", "<4", "<\u{e9}4"] {
            assert_eq!(ValueType::parse(broken), None, "{broken}");
        }
    }
}

//! What goes to a terminal: characters that would move its cursor, change its title or turn text around are
//! shown, not sent.

use std::borrow::Cow;
use std::io::{self, Write};

/// Whether a character does something to a terminal, or to the order of the text around it, instead of being
/// seen. Line feeds and tabs are the program's own.
pub fn is_hidden(c: char) -> bool {
    let is_control = c.is_control() && !matches!(c, '\n' | '\t');
    let ends_a_line = matches!(c, '\u{2028}' | '\u{2029}');
    let turns_text =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    is_control || ends_a_line || turns_text || c == '\u{feff}'
}

/// A text as it may be printed: what is hidden is written as `\u001b`, which in JSON is the same text.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut line = String::new();
    for c in text.chars() {
        match is_hidden(c) {
            true => line.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => line.push(c),
        }
    }
    Cow::Owned(line)
}

/// A writer of text through which nothing hidden passes.
#[derive(Debug)]
pub struct Shown<W> {
    inner: W,
    /// The beginning of a character whose end has not been written yet.
    begun: Vec<u8>,
}

impl<W: Write> Shown<W> {
    /// Shows what is written to it.
    pub fn new(inner: W) -> Self {
        Self { inner, begun: Vec::new() }
    }
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend(bytes);
        let all = std::mem::take(&mut self.begun);
        let mut rest = all.as_slice();
        loop {
            let error = match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.inner.write_all(shown(text).as_bytes())?;
                    return Ok(bytes.len());
                }
                Err(error) => error,
            };
            let (text, after) = rest.split_at(error.valid_up_to());
            let text = std::str::from_utf8(text).expect("it is valid up to there");
            self.inner.write_all(shown(text).as_bytes())?;
            let Some(n_bad) = error.error_len() else {
                self.begun = after.to_vec();
                return Ok(bytes.len());
            };
            self.inner.write_all("\u{fffd}".as_bytes())?;
            rest = &after[n_bad..];
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_shown_and_json_stays_the_same_text() {
        let name = "\u{1b}]0;mine\u{7}\u{7f}\u{9b}2J\u{202e}nnA \u{5d0}\u{200d}\u{1f600}\r\u{2028}";
        let line = shown(name);
        assert!(!line.contains(is_hidden) && line.contains("\\u001b]0;mine\\u0007"), "{line}");
        assert!(line.contains("\u{5d0}\u{200d}\u{1f600}"), "letters, joiners and emoji are left: {line}");
        assert_eq!(shown("Zo\u{eb}\tO'Brien\n"), "Zo\u{eb}\tO'Brien\n");
        let json = serde_json::json!({ "name": name }).to_string();
        assert!(json.contains(is_hidden), "JSON itself escapes but a few");
        let back: serde_json::Value = serde_json::from_str(&shown(&json)).unwrap();
        assert_eq!(back["name"], name);
    }

    #[test]
    fn a_writer_shows_the_same_however_its_bytes_are_cut() {
        let text = "a\u{202e}b\u{1f600}\u{9b}c\u{eb}";
        for size in 1..12 {
            let mut out = Shown::new(Vec::new());
            text.as_bytes().chunks(size).for_each(|bytes| out.write_all(bytes).unwrap());
            assert_eq!(String::from_utf8(out.inner).unwrap(), shown(text), "in pieces of {size}");
        }
        let mut out = Shown::new(Vec::new());
        out.write_all(b"x\xff\x1by").unwrap();
        assert_eq!(out.inner, "x\u{fffd}\\u001by".as_bytes());
    }
}

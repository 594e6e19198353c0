//! Lines from elsewhere, none of which is endless.

use std::io::{self, BufRead, Read};

/// The longest line, in bytes: a frame of a thousand faces has about ten million.
const LONGEST: u64 = 64 << 20;

/// The lines of a reader without their ends; one that does not end is an error, and the last.
pub fn lines(reader: impl BufRead) -> impl Iterator<Item = io::Result<Vec<u8>>> {
    up_to(LONGEST, reader)
}

fn up_to(longest: u64, mut reader: impl BufRead) -> impl Iterator<Item = io::Result<Vec<u8>>> {
    let mut is_over = false;
    std::iter::from_fn(move || {
        if is_over {
            return None;
        }
        let mut line = Vec::new();
        let read = reader.by_ref().take(longest + 1).read_until(b'\n', &mut line);
        let ends = line.pop_if(|last| *last == b'\n').is_some();
        is_over = !ends;
        match read {
            Ok(0) => None,
            Ok(_) if line.len() as u64 > longest => {
                let found = format!("found a line of more than {longest} bytes, wanted one that ends before");
                Some(Err(io::Error::new(io::ErrorKind::InvalidData, found)))
            }
            Ok(_) => Some(Ok(line)),
            Err(error) => Some(Err(error)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_their_end_with_the_file_or_with_an_error() {
        let read = |text: &'static str| up_to(4, text.as_bytes()).map(|line| line.ok()).collect::<Vec<_>>();
        let some = |text: &str| Some(text.as_bytes().to_vec());
        assert_eq!(read("a\n\nbcde\nf"), [some("a"), some(""), some("bcde"), some("f")]);
        assert_eq!(read("a\n"), [some("a")]);
        assert_eq!(read(""), []);
        assert_eq!(read("a\nbcdef\ng"), [some("a"), None], "nothing is read after it");
        let endless = up_to(1 << 20, io::BufReader::new(io::repeat(0)));
        assert_eq!(endless.map(|line| line.is_ok()).collect::<Vec<_>>(), [false]);
    }
}

//! Names to choose from: those that were given, and those of the owner's address book, which is read and
//! never stored.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kith_store::FaceRow;
use serde_json::{Value, json};

use crate::alike::Alike;
use crate::call::{Call, Reply};
use crate::failure::Failure;
use crate::view::View;

/// So many names are taken from an address book.
const MOST: usize = 50_000;
/// Letters of a name.
const LETTERS: usize = 200;

/// Names for completion. Of a face (`face`) those come first whom it looks like, then what files of its
/// person's photos are called, then those that nobody has yet: who has faces already would have this one too.
/// Otherwise those of most faces come first.
pub fn names(call: &Call) -> Result<Reply, Failure> {
    let view = call.view();
    let query = call.word("q").unwrap_or_default().to_lowercase();
    let likely = match call.word("face") {
        Some(_) => likely(&view, FaceRow(call.count("face", 0, i64::MAX as usize)? as i64)),
        None => Vec::new(),
    };
    let filed: BTreeSet<&str> = likely.iter().filter(|one| one.is_filed).map(|one| &one.name[..]).collect();
    let is_of_face = call.word("face").is_some();
    let contacts = call.desk.contacts.read().expect("nobody panics while holding it").clone();
    let mut sizes: BTreeMap<&str, usize> = contacts.iter().map(|name| (name.as_str(), 0)).collect();
    sizes.extend(view.names.values().map(|name| (name.as_str(), 0)));
    sizes.extend(filed.iter().map(|name| (*name, 0)));
    for person in &view.people {
        if let Some(name) = &person.name {
            *sizes.entry(name).or_default() += person.faces.len();
        }
    }
    let is_meant = |name: &str| {
        let name = name.to_lowercase();
        name.starts_with(&query) || name.split_whitespace().any(|part| part.starts_with(&query))
    };
    let place = |name: &str| likely.iter().position(|other| other.name == name).unwrap_or(usize::MAX);
    let mut found: Vec<(&str, usize)> = sizes.into_iter().filter(|(name, _)| is_meant(name)).collect();
    if query.is_empty() && is_of_face {
        found.retain(|(name, _)| place(name) != usize::MAX);
    }
    found.sort_by_key(|&(name, n)| {
        let begins = name.to_lowercase().starts_with(&query);
        (place(name), !begins, if is_of_face { n > 0 } else { n == 0 }, Reverse(n), name)
    });
    found.truncate(call.count("n", 8, 100)?);
    let one = |&(name, n): &(&str, usize)| {
        let is_likely = likely.iter().any(|other| other.name == name && other.is_near);
        json!({"name": name, "n_faces": n, "likely": is_likely, "filed": filed.contains(name)})
    };
    Ok(Reply::json(&json!({"names": found.iter().map(one).collect::<Vec<Value>>()})))
}

/// A name that is offered for a face.
struct Likely {
    name: String,
    /// It looks as much like them as their own faces do.
    is_near: bool,
    /// Files are called so.
    is_filed: bool,
}

/// Named people whom a face's person looks like, nearest first, and what the files of its photos are called.
fn likely(view: &View, row: FaceRow) -> Vec<Likely> {
    let Some((person, _)) = view.face(row) else { return Vec::new() };
    let named = view.people.iter().filter(|person| person.name.is_some()).map(|person| person.id);
    let alike = view.looks.nearest(person.id, named).into_iter().take_while(|alike| alike.is_perhaps);
    let named = |alike: Alike| {
        let name = view.person(alike.person)?.name.clone()?;
        Some(Likely { name, is_near: alike.is_near, is_filed: false })
    };
    let mut likely: Vec<Likely> = alike.filter_map(named).take(3).collect();
    for name in crate::filed::names_of(view, person) {
        if likely.iter().all(|other| other.name != name) {
            likely.push(Likely { name, is_near: false, is_filed: true });
        }
    }
    likely
}

/// Takes an address book, until the page ends.
pub fn take(call: &Call) -> Result<Reply, Failure> {
    if call.desk.options.is_read_only {
        return Err(Failure::read_only());
    }
    let text = std::str::from_utf8(&call.body).map_err(|_| {
        Failure::malformed("body: found other bytes than UTF-8, wanted contacts (.vcf) or names")
    })?;
    let names = read_names(text);
    if names.is_empty() {
        return Err(Failure::refused("found no name, wanted contacts (.vcf), or one name on each line"));
    }
    let n = names.len();
    *call.desk.contacts.write().expect("nobody panics while holding it") = Arc::new(names);
    Ok(Reply::json(&json!({"names": n})))
}

/// The names of an address book: vCards, or a name on each line.
pub fn read_names(text: &str) -> Vec<String> {
    let is_cards = text.lines().any(|line| line.trim_end().eq_ignore_ascii_case("BEGIN:VCARD"));
    let names = if is_cards { of_cards(text) } else { text.lines().map(str::to_owned).collect() };
    let clean = |name: String| name.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_name = |name: &String| {
        !name.is_empty() && name.chars().count() <= LETTERS && !name.chars().any(char::is_control)
    };
    let names: BTreeSet<String> = names.into_iter().map(clean).filter(is_name).take(MOST).collect();
    names.into_iter().collect()
}

/// Of each card the formatted name (FN), or where there is none the parts of the name (N).
fn of_cards(text: &str) -> Vec<String> {
    let (mut names, mut formatted, mut parts) = (Vec::new(), None, None);
    for line in unfolded(text) {
        let Some((field, value)) = line.split_once(':') else { continue };
        let field = field.to_ascii_uppercase();
        let value = if field.contains("QUOTED-PRINTABLE") { printable(value) } else { value.to_owned() };
        // A field may stand in a group: "item1.FN".
        let name = field.split(';').next().unwrap_or_default();
        match name.rsplit('.').next().unwrap_or_default() {
            "BEGIN" => (formatted, parts) = (None, None),
            "FN" => formatted = Some(unescaped(&value)),
            "N" => {
                let mut of_name = split_parts(&value).into_iter();
                let family = of_name.next().unwrap_or_default();
                parts = Some(format!("{} {family}", of_name.next().unwrap_or_default()));
            }
            "END" => {
                let formatted = formatted.take().filter(|name: &String| !name.trim().is_empty());
                names.extend(formatted.or_else(|| parts.take()));
            }
            _ => {}
        }
    }
    names
}

/// Lines as they were before long ones were folded.
fn unfolded(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let is_soft = lines.last().is_some_and(|last| {
            last.ends_with('=') && last.to_ascii_uppercase().contains("QUOTED-PRINTABLE")
        });
        match (lines.last_mut(), line.strip_prefix([' ', '\t'])) {
            (Some(last), _) if is_soft => {
                last.pop();
                last.push_str(line);
            }
            (Some(last), Some(rest)) => last.push_str(rest),
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}

/// Without the backslashes before commas, semicolons and backslashes.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        plain.push(match letter {
            '\\' => match letters.next() {
                Some('n' | 'N') | None => ' ',
                Some(next) => next,
            },
            letter => letter,
        });
    }
    plain
}

/// The parts between semicolons that have no backslash before them.
fn split_parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let last = parts.last_mut().expect("one from the start");
        match (letter, letters.peek()) {
            ('\\', Some(&next)) => {
                last.push(next);
                letters.next();
            }
            (';', _) => parts.push(String::new()),
            _ => last.push(letter),
        }
    }
    parts
}

/// What `=C3=A9` stands for.
fn printable(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
        let coded = if *first == b'=' { after.get(..2).and_then(hex) } else { None };
        bytes.push(coded.unwrap_or(*first));
        rest = if coded.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_cards_and_from_lines() {
        let cards = "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Curie;Marie;;;\r\nFN:Marie\r\n  Curie\r\nEND:VCARD\r\n\
                     BEGIN:VCARD\r\nN:M\\;ller;Zo\u{eb};;;\r\nPHOTO:FN:no\r\nEND:VCARD\r\n\
                     BEGIN:VCARD\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Garc=C3=ADa;Jos=C3=A9=\n\
                     =20Luis;;;\nEND:VCARD\n\
                     begin:vcard\nitem1.fn;TYPE=x:Smith\\, Bob\nend:vcard\nBEGIN:VCARD\nFN:\nEND:VCARD\n";
        let wanted = ["Jos\u{e9} Luis Garc\u{ed}a", "Marie Curie", "Smith, Bob", "Zo\u{eb} M;ller"];
        assert_eq!(read_names(cards), wanted);
        assert_eq!(read_names("Ann\n\n  Bob  the \t Builder\nAnn\n"), ["Ann", "Bob the Builder"]);
        assert_eq!(read_names(&"x".repeat(LETTERS + 1)), [""; 0]);
    }

    #[test]
    fn wild_cards_do_not_break_it() {
        for text in [
            "=",
            "BEGIN:VCARD\nFN;QUOTED-PRINTABLE:=\n=",
            "BEGIN:VCARD\nN:\\",
            "BEGIN:VCARD\nFN;QUOTED-PRINTABLE:=\u{e9}=4",
        ] {
            read_names(text);
            read_names(&format!("{text}\nEND:VCARD"));
        }
    }
}

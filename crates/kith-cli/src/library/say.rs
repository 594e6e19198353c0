//! `kith name`, `not`, `same`, `different`, `ignore`: what people say is appended to the log, and counts at
//! once.

use std::io::Write;
use std::path::Path;

use anyhow::bail;
use kith_store::{Kind, Library, PersonId, Saying};
use serde_json::json;

use super::args::{IgnoreOptions, NameOptions, NotOptions, PairOptions};
use super::speaker;
use crate::Outcome;

/// Runs `kith name`.
pub fn name(options: &NameOptions) -> anyhow::Result<Outcome> {
    let library = Library::open(&options.lib)?;
    let (face, name) = match (options.person, &options.words[..]) {
        (None, [face, name]) => (library.face(face)?, name),
        // What is said of a person is said of the face that is most surely theirs.
        (Some(person), [name]) => (library.face_of_person(PersonId(person))?, name),
        (None, _) => bail!("found a name and no face, wanted FACE NAME, or --person P NAME"),
        (Some(_), _) => bail!("found a face and a person, wanted FACE NAME, or --person P NAME"),
    };
    say(&library, Saying { kind: Kind::Name, face, other: None, name: Some(name) }, options.json)
}

/// Runs `kith not`.
pub fn not(options: &NotOptions) -> anyhow::Result<Outcome> {
    let library = Library::open(&options.lib)?;
    let face = library.face(&options.face)?;
    say(&library, Saying { kind: Kind::Not, face, other: None, name: Some(&options.name) }, options.json)
}

/// Runs `kith same` and `kith different`.
pub fn pair(options: &PairOptions, kind: Kind) -> anyhow::Result<Outcome> {
    let library = Library::open(&options.lib)?;
    let (face, other) = (library.face(&options.face)?, library.face(&options.other)?);
    say(&library, Saying { kind, face, other: Some(other), name: None }, options.json)
}

/// Runs `kith ignore`.
pub fn ignore(options: &IgnoreOptions) -> anyhow::Result<Outcome> {
    let library = Library::open(&options.lib)?;
    let face = library.face(&options.face)?;
    say(&library, Saying { kind: Kind::Ignore, face, other: None, name: None }, options.json)
}

fn say(library: &Library, saying: Saying<'_>, is_json: bool) -> anyhow::Result<Outcome> {
    let act = library.say(&speaker(), std::slice::from_ref(&saying))?;
    let face = library.key_of(saying.face)?;
    let other = saying.other.map(|other| library.key_of(other)).transpose()?;
    let mut out = crate::progress::stdout();
    if is_json {
        let kind = saying.kind.as_str();
        writeln!(
            out,
            "{}",
            json!({"act": act, "kind": kind, "face": face, "other": other, "name": saying.name})
        )?;
    } else {
        writeln!(
            out,
            "{}; `kith undo {}` takes it back",
            in_words(saying.kind, &face, other.as_deref(), saying.name),
            quoted(library.path())
        )?;
    }
    Ok(Outcome::Done)
}

/// What was said.
pub fn in_words(kind: Kind, face: &str, other: Option<&str>, name: Option<&str>) -> String {
    kind.in_words(face, other.unwrap_or("?"), name.unwrap_or("?"))
}

fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    if text.contains(' ') { format!("\"{text}\"") } else { text }
}

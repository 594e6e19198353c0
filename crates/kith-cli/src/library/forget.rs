//! `kith forget`: faces and every trace of them leave the file.

use std::io::Write;

use kith_store::{Forget, Library, PersonId};
use serde_json::json;

use super::args::ForgetOptions;
use crate::Outcome;
use crate::progress::{count, note};

/// Runs the verb.
pub fn run(options: &ForgetOptions) -> anyhow::Result<Outcome> {
    let library = Library::open(&options.lib)?;
    let whom = match (&options.face, options.person, &options.name) {
        (Some(face), ..) => Forget::Face(face.clone()),
        (_, Some(person), _) => Forget::Person(PersonId(person)),
        (.., Some(name)) => Forget::Name(name.clone()),
        _ => unreachable!("one of them is required"),
    };
    let _claim = library.claim()?;
    let forgotten = library.forget(&whom, options.dry_run)?;
    library.take_notes().into_iter().for_each(note);
    let mut out = crate::progress::stdout();
    if options.json {
        let object = json!({
            "faces": forgotten.faces, "frames": forgotten.frames, "entries": forgotten.entries,
            "names": forgotten.names, "dry_run": options.dry_run, "cleaned": forgotten.unwiped.is_none(),
        });
        writeln!(out, "{object}")?;
    } else {
        let would = if options.dry_run { "would forget" } else { "forgot" };
        let entries = match forgotten.entries {
            1 => "1 entry of the log".to_owned(),
            n => format!("{n} entries of the log"),
        };
        let faces = count(forgotten.faces.len(), "face");
        writeln!(out, "{would} {faces}, {}, {entries}", count(forgotten.frames, "frame"))?;
        if !options.dry_run && forgotten.unwiped.is_none() {
            writeln!(
                out,
                "the file was written anew without them; copies and backups of it are yours to delete"
            )?;
        }
    }
    let Some(reason) = forgotten.unwiped else { return Ok(Outcome::Done) };
    note(format!(
        "removed, but the file could not be cleaned of their bytes yet: {reason}; the next command that \
         opens it does it"
    ));
    Ok(Outcome::Negative)
}

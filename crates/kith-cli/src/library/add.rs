//! `kith add`: faces of a dataset into a library, all or none.

use std::io::Write;

use kith_io::dataset;
use kith_store::{Library, StoreError, frames_of};
use serde_json::json;

use super::args::AddOptions;
use crate::Outcome;
use crate::progress::count;

/// Runs the verb.
pub fn run(options: &AddOptions) -> anyhow::Result<Outcome> {
    let table = dataset::read(&options.dataset)?;
    let source = options.dataset.display().to_string();
    let frames = frames_of(&table, Some(&source));
    let added = Library::open_and_add(&options.lib, &frames, options.embedding.as_deref());
    let (library, added) = added.map_err(|error| match error {
        StoreError::Refused(_) => anyhow::Error::new(error).context(source),
        other => other.into(),
    })?;
    let n_faces = library.n_faces()?;
    let mut out = crate::progress::stdout();
    if options.json {
        let object = json!({
            "added": added.faces, "known": added.known, "frames": added.frames, "names": added.names,
            "n_faces": n_faces,
        });
        writeln!(out, "{object}")?;
    } else {
        let (faces, frames) = (count(added.faces, "new face"), count(added.frames, "new frame"));
        let known = if added.known > 0 { format!("; {} known already", added.known) } else { String::new() };
        let names = if added.names > 0 { format!("; {}", count(added.names, "name")) } else { String::new() };
        writeln!(out, "{faces} in {frames}{known}{names}; the library has {}", count(n_faces, "face"))?;
    }
    Ok(Outcome::Done)
}

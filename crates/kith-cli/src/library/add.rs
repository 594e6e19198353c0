//! `kith add`: faces of photos or of a dataset into a library.

use std::io::Write;
use std::path::Path;

use anyhow::ensure;
use kith_io::dataset;
use kith_store::{Library, StoreError, frames_of};
use serde_json::json;

use super::args::AddOptions;
use crate::Outcome;
use crate::progress::{count, note};

/// Runs the verb.
pub fn run(options: &AddOptions) -> anyhow::Result<Outcome> {
    let n_photos = options.paths.iter().filter(|path| has_photos(path)).count();
    match (n_photos, &options.paths[..]) {
        (0, [dataset]) => add_dataset(options, dataset),
        (n, paths) if n == paths.len() => add_photos(options),
        (0, paths) => anyhow::bail!("found {} datasets, wanted one at a time", paths.len()),
        _ => anyhow::bail!("found photos and a dataset, wanted one or the other"),
    }
}

/// Whether a path is to be looked at for photos: everything that is no dataset.
fn has_photos(path: &Path) -> bool {
    if path.is_dir() {
        return !["embeddings.npy", "faces.csv", "reps.csv", "labels.csv"]
            .iter()
            .any(|name| path.join(name).exists());
    }
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    path.exists() && !matches!(ending.as_deref(), Some("npz" | "npy" | "csv" | "parquet"))
}

fn add_photos(options: &AddOptions) -> anyhow::Result<Outcome> {
    ensure!(
        options.embedding.is_none(),
        "found --embedding with photos, wanted --models to choose the network"
    );
    super::photos::run(options)
}

/// Adds the faces of a dataset, all or none.
fn add_dataset(options: &AddOptions, path: &Path) -> anyhow::Result<Outcome> {
    let table = dataset::read(path)?;
    let source = path.display().to_string();
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
            "added": added.faces, "known": added.known, "elsewhere": added.elsewhere,
            "frames": added.frames, "names": added.names,
            "n_faces": n_faces,
        });
        writeln!(out, "{object}")?;
    } else {
        let (faces, frames) = (count(added.faces, "new face"), count(added.frames, "new frame"));
        let known = if added.known > 0 { format!("; {} known already", added.known) } else { String::new() };
        let names = if added.names > 0 { format!("; {}", count(added.names, "name")) } else { String::new() };
        writeln!(out, "{faces} in {frames}{known}{names}; the library has {}", count(n_faces, "face"))?;
    }
    if added.elsewhere > 0 {
        let faces = count(added.elsewhere, "known face");
        note(format!("{faces} came with another frame or context than the library has, which stays"));
    }
    Ok(Outcome::Done)
}

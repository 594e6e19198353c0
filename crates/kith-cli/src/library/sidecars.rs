//! `kith export LIB xmp`: names go back to the photos, into sidecars beside them.

use std::collections::{BTreeMap, HashMap};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use kith_store::{FaceRow, Kind, Library, OTHERS, Photo, PhotoRow};
use kith_vision::sidecar::{Named, Picture, with_names};
use kith_vision::{Orientation, names};

use super::args::ExportOptions;
use crate::Outcome;
use crate::progress::{count, note};

/// Runs the verb.
pub fn run(library: &Library, options: &ExportOptions) -> anyhow::Result<Outcome> {
    if options.undo {
        return undo(library, options.dry_run);
    }
    let named = named(library, options.min_p)?;
    let former: HashMap<PhotoRow, kith_store::Sidecar> =
        library.sidecars()?.into_iter().map(|sidecar| (sidecar.photo, sidecar)).collect();
    let (mut out, mut written, mut same, mut wrong) = (crate::progress::stdout(), 0, 0, 0);
    for photo in library.photos()?.iter().filter(|photo| !photo.is_gone) {
        let faces: Vec<Named> = library
            .faces_of_photo(photo.row)?
            .into_iter()
            .filter_map(|face| {
                let (name, certainty) = named.get(&face.row)?.clone();
                Some(Named { name, bounds: face.bounds, certainty })
            })
            .collect();
        if faces.is_empty() && !former.contains_key(&photo.row) {
            continue;
        }
        match export(library, photo, &faces, former.get(&photo.row), options.dry_run) {
            Ok(Some(path)) => {
                written += 1;
                let names: Vec<&str> = faces.iter().map(|face| &face.name[..]).collect();
                writeln!(out, "{}: {}", path.display(), names.join(", "))?;
            }
            Ok(None) => same += 1,
            Err(error) => {
                wrong += 1;
                note(format!("{}: {error:#}", photo.path));
            }
        }
    }
    let would = if options.dry_run { "would be written" } else { "written" };
    let unwritten = if wrong > 0 { format!(", {wrong} could not be") } else { String::new() };
    note(format!("{} {would}, {same} are as they should be{unwritten}", count(written, "sidecar")));
    Ok(if written + same == 0 { Outcome::Negative } else { Outcome::Done })
}

/// The name of each face, and how sure it is where no person said so.
fn named(library: &Library, min_p: Option<f64>) -> anyhow::Result<BTreeMap<FaceRow, (String, Option<f64>)>> {
    let mut named = BTreeMap::new();
    if let Some(least) = min_p {
        super::believed(library)?;
        for person in library.people()? {
            let Some(name) = &person.name else { continue };
            for face in &person.faces {
                let p = person.name_p * face.p;
                if p >= least {
                    named.insert(face.row, (name.clone(), Some(p)));
                }
            }
        }
    }
    for entry in library.log()?.iter().filter(|entry| entry.stands && !OTHERS.contains(&&entry.by[..])) {
        match (entry.kind, entry.face, entry.name) {
            (Kind::Name, Some(face), Some(name)) => {
                named.insert(face, (library.name_of(name)?, None));
            }
            (Kind::Not, Some(face), Some(name)) => {
                let denied = library.name_of(name)?;
                if named.get(&face).is_some_and(|(name, _)| *name == denied) {
                    named.remove(&face);
                }
            }
            (Kind::Ignore, Some(face), _) => drop(named.remove(&face)),
            _ => {}
        }
    }
    Ok(named)
}

/// Writes the sidecar of a photo, unless it is as it should be. What kith wrote before and nobody touched
/// since is written anew from what was there first, so that a name that was taken back goes.
fn export(
    library: &Library,
    photo: &Photo,
    faces: &[Named],
    former: Option<&kith_store::Sidecar>,
    is_dry_run: bool,
) -> anyhow::Result<Option<PathBuf>> {
    let path = former.map_or_else(|| place(photo), |former| PathBuf::from(&former.path));
    let now = read(&path)?;
    let before = match former {
        Some(former) if now.as_deref() == Some(&former.after) => former.before.clone(),
        _ => now.clone(),
    };
    let picture = Picture { size: photo.pixels, orientation: Orientation::new(u32::from(photo.orientation)) };
    let after = match (&before, faces) {
        (before, []) => before.clone(),
        (before, faces) => Some(with_names(before.as_deref(), faces, picture)?),
    };
    if after == now {
        return Ok(None);
    }
    if !is_dry_run {
        put(&path, after.as_deref())?;
        match &after {
            Some(after) if !faces.is_empty() => {
                let (path, before) = (path.to_string_lossy().into_owned(), before);
                let sidecar = kith_store::Sidecar { photo: photo.row, path, before, after: after.clone() };
                library.set_sidecar(&sidecar)?;
            }
            _ => library.unset_sidecar(photo.row)?,
        }
    }
    Ok(Some(path))
}

/// The sidecar that is there, or the one that digiKam and darktable would make.
fn place(photo: &Photo) -> PathBuf {
    let [long, short] = names::sidecars(Path::new(&photo.path));
    if !long.exists() && short.exists() { short } else { long }
}

/// Gives back the sidecars as they were before kith wrote them; those that were changed since stay.
fn undo(library: &Library, is_dry_run: bool) -> anyhow::Result<Outcome> {
    let (mut out, mut undone, mut kept) = (crate::progress::stdout(), 0, 0);
    for sidecar in library.sidecars()? {
        let path = Path::new(&sidecar.path);
        if read(path)?.as_deref() != Some(&sidecar.after) {
            kept += 1;
            note(format!("{}: found it changed since, wanted it as kith wrote it; it stays", sidecar.path));
            continue;
        }
        undone += 1;
        writeln!(out, "{}", sidecar.path)?;
        if !is_dry_run {
            put(path, sidecar.before.as_deref())?;
            library.unset_sidecar(sidecar.photo)?;
        }
    }
    let would = if is_dry_run { "would be as before" } else { "as before" };
    note(format!("{} {would}, {kept} changed since", count(undone, "sidecar")));
    Ok(if undone == 0 { Outcome::Negative } else { Outcome::Done })
}

fn read(path: &Path) -> anyhow::Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}

fn put(path: &Path, text: Option<&str>) -> anyhow::Result<()> {
    let done = match text {
        Some(text) => kith_io::atomic::replace(path, text.as_bytes()),
        None => std::fs::remove_file(path),
    };
    done.with_context(|| path.display().to_string())
}

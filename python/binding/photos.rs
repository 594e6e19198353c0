//! Photos: added to a library, or looked at without being added.

use std::path::{Path, PathBuf};

use kith_album::{Album, AlbumError, Tally};
use kith_store::{Library, StoreError, meta};
use kith_vision::{Vision, is_raw, models, pipeline};
use serde_json::{Value, json};

use crate::work::Progress;

/// Which photos, and how.
pub struct Photos {
    pub paths: Vec<PathBuf>,
    pub context: Option<String>,
    pub models: Option<PathBuf>,
    pub n_threads: usize,
}

/// Adds the photos under some paths; after Ctrl-C what was seen stays.
pub fn add(path: &Path, photos: &Photos, progress: &Progress) -> Result<Value, AlbumError> {
    let found = |path: &PathBuf| {
        let missing = |_| AlbumError::Refused(format!("{}: cannot be found", path.display()));
        path.canonicalize().map_err(missing)
    };
    let paths = photos.paths.iter().map(found).collect::<Result<Vec<_>, _>>()?;
    let is_there = path.metadata().is_ok_and(|found| found.len() > 0);
    let wanted = if is_there { Library::open(path)?.get(meta::EMBEDDING)? } else { None };
    let vision = Vision::load(&models::folders(photos.models.as_deref()), wanted.as_deref())?;
    let library = Library::open_or_create(path)?;
    let workers = match photos.n_threads {
        0 => std::thread::available_parallelism().map_or(2, usize::from),
        n => n,
    };
    let mut album = Album::new(&library, &vision, workers, &progress.stop)?;
    let tally = album.look(&paths, photos.context.as_deref(), &mut |glance| {
        progress.begin(glance.all as u64);
        progress.reach(glance.done as f64);
    })?;
    Ok(told(&tally, library.n_faces()?))
}

fn told(tally: &Tally, n_faces: usize) -> Value {
    let bad = tally.bad.iter().map(|bad| (bad.path.to_string_lossy().into_owned(), json!(bad.reason)));
    json!({
        "photos": tally.new, "unchanged": tally.unchanged, "changed": tally.changed, "moved": tally.moved,
        "copies": tally.copies, "gone": tally.gone, "faces": tally.faces, "unclear": tally.unclear,
        "names": tally.names,
        "bad": Value::Object(bad.collect()), "n_faces": n_faces,
    })
}

/// The faces on a photo, by the networks of the library: boxes and embeddings.
pub fn look(path: &Path, photo: &Path, folder: Option<&Path>) -> Result<Value, AlbumError> {
    let wanted = Library::read(path, |library| library.get(meta::EMBEDDING))?;
    let vision = Vision::load(&models::folders(folder), wanted.as_deref())?;
    if wanted.as_deref() != Some(vision.pipeline()) {
        let wanted = wanted.unwrap_or_else(|| "no photos".to_owned());
        return Err(AlbumError::Refused(format!(
            "found the networks of \"{}\", wanted those of \"{wanted}\" as in the library",
            vision.pipeline()
        )));
    }
    let named = |error| AlbumError::Refused(format!("{}: {error}", photo.display()));
    let bytes = pipeline::read(photo).map_err(named)?;
    let seen = vision.look(&bytes, is_raw(photo), &[]).map_err(named)?;
    Ok(seen.faces.iter().map(|face| json!({"box": face.bounds, "embedding": face.embedding})).collect())
}

/// An error of photos is one of the library, which has its exception, or a refusal.
pub fn in_library(error: AlbumError) -> StoreError {
    match error {
        AlbumError::Store(error) => error,
        other => StoreError::refused(other.to_string()),
    }
}

//! `kith add --embed-again`: all faces of photos by other networks; what was said of them stays.

use std::path::Path;

use anyhow::ensure;
use kith_store::{Embedded, Library};
use kith_vision::{Region, Vision, is_raw, pipeline};

use crate::progress::{bar, note};

/// Embeds every face anew, or none of them.
pub fn run(library: &Library, vision: &Vision) -> anyhow::Result<()> {
    if library.get(kith_store::meta::EMBEDDING)?.as_deref() == Some(vision.pipeline()) {
        note("the faces were embedded by these networks already");
        return Ok(());
    }
    let photos = library.photos()?;
    let bar = bar(photos.len() as u64, "photos");
    let (mut embedded, mut missing) = (Vec::new(), Vec::new());
    for photo in &photos {
        bar.inc(1);
        let faces = library.faces_of_photo(photo.row)?;
        if faces.is_empty() {
            continue;
        }
        // Each face is looked for where it was, and known by its id.
        let region = |face: &kith_store::PhotoFace| Region {
            name: face.key.clone(),
            bounds: Some(face.bounds),
            is_stored: false,
            source: "kith",
        };
        let regions: Vec<Region> = faces.iter().map(region).collect();
        let path = Path::new(&photo.path);
        let seen = pipeline::read(path).and_then(|bytes| vision.look(&bytes, is_raw(path), &regions));
        let found = match seen {
            Ok(seen) => seen.faces,
            Err(error) => {
                missing.push(format!("{}: {error}", photo.path));
                continue;
            }
        };
        for face in &faces {
            let new = found.iter().find(|new| new.name.as_ref().is_some_and(|(key, _)| *key == face.key));
            match new {
                Some(new) => embedded.push(Embedded { face: face.row, embedding: new.embedding.clone() }),
                None => missing.push(format!("{}: found no face where it was, wanted one", face.key)),
            }
        }
    }
    bar.finish_and_clear();
    missing.iter().for_each(note);
    ensure!(
        missing.is_empty(),
        "found {} of the faces or photos above missing, wanted all of them; nothing was changed",
        missing.len()
    );
    Ok(library.embed_again(&embedded, vision.pipeline())?)
}

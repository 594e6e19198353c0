//! Faces and photos as they were seen, in the form in which a library takes them.

use kith_store::{NewFace, NewPhoto};
use kith_vision::{Face, Seen};
use serde_json::{Map, Value};

/// A photo with its faces; `size` and `modified` are the file's.
pub fn new_photo(
    key: String,
    path: String,
    (size, modified): (u64, i64),
    hash: String,
    seen: &Seen,
) -> NewPhoto {
    let faces = seen
        .faces
        .iter()
        .enumerate()
        .map(|(k, face)| (new_face(format!("{key}#{k}"), face), face.thumbnail.clone()));
    NewPhoto {
        path,
        size,
        modified,
        hash,
        pixels: seen.size,
        orientation: seen.about.stored_orientation.number(),
        time: seen.about.time.clone(),
        place: seen.about.place,
        camera: seen.about.camera.clone(),
        faces: faces.collect(),
        key,
    }
}

/// A face of a photo as the library takes it, with its measures as columns of its own.
pub fn new_face(key: String, face: &Face) -> NewFace {
    let mut other = Map::new();
    let quality = &face.quality;
    let measures = [
        ("sharpness", quality.sharpness),
        ("size", quality.size),
        ("yaw", quality.yaw),
        ("norm", quality.norm),
    ];
    for (name, value) in measures {
        other.insert(name.to_owned(), Value::String(format!("{value:.3}")));
    }
    if let Some((name, source)) = face.name.as_ref().filter(|name| name.1 != "hand") {
        other.insert("told".to_owned(), Value::String(name.clone()));
        other.insert("told_by".to_owned(), Value::String((*source).to_owned()));
    }
    let [x, y, w, h] = face.bounds;
    NewFace {
        key,
        embedding: face.embedding.clone(),
        name: None,
        place: Some(format!("{x:.5} {y:.5} {w:.5} {h:.5}")),
        quality: Some(format!("{:.4}", quality.score)),
        // Whoever marks a face by hand wants it.
        is_unclear: !quality.is_clear() && face.name.as_ref().is_none_or(|name| name.1 != "hand"),
        other,
    }
}

//! Photos are read as they were written; what changes keeps its row, its faces and what was said of them.

use super::*;
use crate::faces::NewFace;
use crate::{Forget, Kind, Library, Saying};

fn face(key: &str, left: f32) -> (NewFace, Vec<u8>) {
    let face = NewFace {
        key: key.to_owned(),
        embedding: vec![left, 1.0],
        name: None,
        place: Some(format!("{left:.5} 0.20000 0.10000 0.20000")),
        quality: Some("0.9312".to_owned()),
        is_unclear: false,
        other: serde_json::Map::new(),
    };
    (face, key.as_bytes().to_vec())
}

fn photo(hash: &str, faces: Vec<(NewFace, Vec<u8>)>) -> NewPhoto {
    NewPhoto {
        key: "trip/a.jpg".to_owned(),
        path: "/pictures/trip/a.jpg".to_owned(),
        size: 7,
        modified: 8,
        hash: hash.to_owned(),
        pixels: (640, 480),
        orientation: 6,
        time: Some("2024-05-01T12:00:00".to_owned()),
        place: Some((48.2, 16.4)),
        camera: None,
        faces,
    }
}

#[test]
fn photos_faces_and_thumbnails_are_read_as_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::open_or_create(&folder.path().join("lib")).unwrap();
    let bare = NewPhoto { key: "bare.jpg".to_owned(), ..photo("0", Vec::new()) };
    let faces = vec![face("trip/a.jpg#0", 0.1), face("trip/a.jpg#1", 0.5)];
    library.add_photos(&[photo("1", faces), bare], "toy").unwrap();
    let photos = library.photos().unwrap();
    assert_eq!((library.n_photos().unwrap(), photos.len()), (2, 2));
    assert_eq!((&photos[0].key[..], photos[0].pixels, photos[0].orientation), ("trip/a.jpg", (640, 480), 6));
    assert_eq!((photos[0].place, photos[0].is_gone), (Some((48.2, 16.4)), false));
    assert_eq!(library.photo(photos[0].row).unwrap().as_ref(), Some(&photos[0]));
    let faces = library.faces_of_photo(photos[0].row).unwrap();
    assert_eq!(faces[1].bounds, [0.5, 0.2, 0.1, 0.2]);
    assert_eq!(faces[1].quality, Some(0.9312));
    assert_eq!(library.photo_of(faces[1].row).unwrap().as_ref(), Some(&photos[0]));
    assert_eq!(library.thumbnail(faces[1].row).unwrap().unwrap(), b"trip/a.jpg#1");
    assert_eq!(library.faces_of_photo(photos[1].row).unwrap(), []);
    assert_eq!(library.photo(crate::PhotoRow(99)).unwrap(), None);
}

#[test]
fn a_changed_photo_keeps_its_row_and_new_faces_get_numbers_that_nobody_has() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::open_or_create(&folder.path().join("lib")).unwrap();
    let faces = vec![face("trip/a.jpg#0", 0.1), face("trip/a.jpg#1", 0.5)];
    library.add_photos(&[photo("1", faces)], "toy").unwrap();
    let row = library.photos().unwrap()[0].row;
    let (path, after) = ("a.jpg.xmp".to_owned(), "<x/>".to_owned());
    library.set_sidecar(&Sidecar { photo: row, path, before: None, after }).unwrap();
    library.forget(&Forget::Face("trip/a.jpg#0".to_owned()), false).unwrap();
    library
        .set_sidecar(&Sidecar {
            photo: row,
            path: "a.jpg.xmp".to_owned(),
            before: None,
            after: "<y/>".to_owned(),
        })
        .unwrap();
    library.photos_are_gone(&[row]).unwrap();
    // Moved a little, and somebody else came in.
    let seen = vec![face("trip/a.jpg#0", 0.51), face("trip/a.jpg#1", 0.8)];
    let added = library.change_photo(row, photo("2", seen), "toy").unwrap();
    assert_eq!(added.faces, 1);
    let changed = library.photo(row).unwrap().unwrap();
    assert_eq!((&changed.hash[..], changed.is_gone), ("2", false));
    let keys: Vec<String> = library.faces_of_photo(row).unwrap().into_iter().map(|face| face.key).collect();
    assert_eq!(keys, ["trip/a.jpg#1", "trip/a.jpg#2"]);
    assert_eq!(library.sidecars().unwrap().len(), 1, "what was written beside it can still be undone");
}

#[test]
fn a_face_that_cannot_be_told_is_left_out_until_something_is_said_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::open_or_create(&folder.path().join("lib")).unwrap();
    let mut faces = vec![face("trip/a.jpg#0", 0.1), face("trip/a.jpg#1", 0.5), face("trip/a.jpg#2", 0.8)];
    faces[1].0.is_unclear = true;
    faces[2].0.is_unclear = true;
    let added = library.add_photos(&[photo("1", faces)], "toy").unwrap();
    assert_eq!((added.faces, added.unclear), (3, 2));
    let seen = || library.snapshot().unwrap().rows.keys.to_vec();
    assert_eq!(seen(), ["trip/a.jpg#0"]);
    // What a person said last is not this.
    assert_eq!(library.undo("me", 1).unwrap(), []);
    let row = library.face("trip/a.jpg#1").unwrap();
    let saying = |kind, name| Saying { kind, face: row, other: None, name };
    library.say("me", &[saying(Kind::Name, Some("Ann"))]).unwrap();
    assert_eq!(seen(), ["trip/a.jpg#0", "trip/a.jpg#1"]);
    assert_eq!(library.undo("me", 1).unwrap().len(), 1);
    assert_eq!(seen(), ["trip/a.jpg#0"]);
    // Whom a person ignores stays ignored, whatever else was said.
    library.say("me", &[saying(Kind::Name, Some("Ann"))]).unwrap();
    library.say("me", &[saying(Kind::Ignore, None)]).unwrap();
    assert_eq!(seen(), ["trip/a.jpg#0"]);
}

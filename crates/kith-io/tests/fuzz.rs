//! Files that are nearly what they should be: every one is read or refused, none breaks anything.

use std::path::Path;

use crate::common::mutate::{corpus, fuzz};
use kith::target::Target;
use kith_io::{dataset, draws, model_file, npy, npz};

const HEADER: [&str; 12] = [
    "'descr'",
    "'<f4'",
    "'<f8'",
    "'>f4'",
    "'fortran_order'",
    "True",
    "'shape': (",
    "(2, 3)",
    ", }",
    "\\x93NUMPY",
    "|O",
    "<U7",
];

/// Inputs of one ending, by a name of their own.
fn only(bytes: Vec<Vec<u8>>, is_it: impl Fn(&[u8]) -> bool) -> Vec<Vec<u8>> {
    bytes.into_iter().filter(|bytes| is_it(bytes)).collect()
}

fn is_npz(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK")
}

/// A folder, and a file in it that takes every input in turn.
fn with_file(name: &str, work: impl FnOnce(&Path, &dyn Fn(&[u8]))) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    work(&path, &|bytes| std::fs::write(&path, bytes).unwrap());
}

#[test]
fn arrays() {
    with_file("embeddings.npy", |path, write| {
        fuzz("npy", &only(corpus("fixtures"), |bytes| bytes.starts_with(b"\x93NUMPY")), &HEADER, |bytes| {
            write(bytes);
            npy::read(path).is_ok()
        });
    });
}

#[test]
fn archives() {
    with_file("data.npz", |path, write| {
        fuzz("npz", &only(corpus("fixtures"), is_npz), &HEADER, |bytes| {
            write(bytes);
            npz::read(path).is_ok()
        });
    });
}

#[test]
fn tables() {
    with_file("faces.csv", |path, write| {
        let embeddings: Vec<u8> =
            (0..6u8).flat_map(|k| [f32::from(k), 1.0, 2.0]).flat_map(f32::to_le_bytes).collect();
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (6, 3), }";
        let mut array = b"\x93NUMPY\x01\x00".to_vec();
        array.extend(118u16.to_le_bytes());
        array.extend(format!("{header:<117}\n").bytes());
        array.extend(embeddings);
        let folder = path.parent().unwrap();
        std::fs::write(folder.join("embeddings.npy"), array).unwrap();
        let words = [
            "face",
            "frame",
            "context",
            "name",
            "time",
            "truth",
            "\r\n",
            "\"\"",
            ";",
            "\u{feff}",
            "2024-02-30T25:61:61Z",
        ];
        fuzz("csv", &corpus("corpus/csv"), &words, |bytes| {
            write(bytes);
            dataset::read(folder).is_ok()
        });
    });
}

#[test]
fn settings() {
    let data = kith::data::Dataset::empty(2).unwrap();
    let words = [
        "[face]",
        "[name]",
        "mode = \"latent\"",
        "count = ",
        "{shape = 1, rate = 1}",
        "kind = \"full\"",
        "[identity]",
    ];
    with_file("MODEL.toml", |path, write| {
        fuzz("model", &corpus("corpus/model"), &words, |bytes| {
            write(bytes);
            let settings = model_file::read(path);
            // What can be read says so again, and is checked before it is used.
            settings.is_ok_and(|settings| {
                settings.prior.is_some()
                    && settings.resolve(&data, None, &mut |_| ()).is_ok_and(|model| {
                        let is_sound = model.check(&data).is_ok();
                        assert!(!is_sound || model_file::from_tree(&model_file::to_tree(&model)).is_ok());
                        is_sound
                    })
            })
        });
    });
}

#[test]
fn drawn() {
    let words = ["\"model\"", "\"identities\"", "\"weights\"", "null", "[]", "{}", "\"scales\"", "true"];
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    for file in ["embeddings.npy", "faces.csv"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/faces").join(file);
        std::fs::copy(from, data.join(file)).unwrap();
    }
    let table = dataset::read(&data).unwrap();
    with_file("draws.ndjson", |path, write| {
        fuzz("draws", &corpus("corpus/draws"), &words, |bytes| {
            write(bytes);
            let Ok((model, _)) = draws::read(path, &table.dataset) else { return false };
            Target::new(model, table.dataset.clone()).is_ok()
        });
    });
}

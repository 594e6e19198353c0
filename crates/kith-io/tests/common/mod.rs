//! Fixtures and small dataset folders for the tests.

pub mod mutate;

use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A file that numpy wrote; see `fixtures/make.py`.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// A folder with these files.
pub fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

/// A dataset of one of numpy's arrays and this `faces.csv`.
pub fn dataset(npy: &str, faces: &str) -> TempDir {
    let embeddings = std::fs::read(fixture(npy)).unwrap();
    folder(&[("embeddings.npy", &embeddings), ("faces.csv", faces.as_bytes())])
}

/// The message with which a dataset is refused, its first line without the path before the file's name.
pub fn refusal(path: &Path) -> String {
    let message = kith_io::dataset::read(path).expect_err("refused").to_string();
    let first = message.lines().next().unwrap();
    assert!(message.lines().skip(1).all(|line| line.starts_with("hint: ")), "{message}");
    let prefix = |path: &Path| format!("{}{}", path.display(), std::path::MAIN_SEPARATOR);
    first.replace(&prefix(path), "").replace(&prefix(path.parent().unwrap()), "")
}

/// The message with which a dataset of this array and this `faces.csv` is refused.
pub fn refusal_of(npy: &str, faces: &str) -> String {
    refusal(dataset(npy, faces).path())
}

//! The photos of folders: each once, in the order of their names, however they are linked.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// What photos are called.
const ENDINGS: [&str; 11] =
    ["avif", "heic", "heif", "hif", "jpe", "jpeg", "jpg", "png", "tif", "tiff", "webp"];

/// What RAW files are called.
const RAW_ENDINGS: [&str; 13] =
    ["arw", "cr2", "cr3", "dng", "erf", "nef", "nrw", "orf", "pef", "raf", "rw2", "sr2", "srw"];

/// A photo that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Where.
    pub path: PathBuf,
    /// The folder that was given, or that the given file is in.
    pub root: PathBuf,
    /// Its path from there, with "/" between the parts.
    pub key: String,
    /// Bytes.
    pub size: u64,
    /// When it or what lies beside it was changed, in nanoseconds since 1970.
    pub modified: i64,
}

/// A photo that could not be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPhoto {
    /// Where.
    pub path: PathBuf,
    /// What was found and what was wanted.
    pub reason: String,
}

/// What a walk found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// Photos.
    pub files: Vec<File>,
    /// What cannot be read.
    pub bad: Vec<BadPhoto>,
}

/// Whether a file is called like a RAW file.
pub fn is_raw(path: &Path) -> bool {
    has_ending(path, &RAW_ENDINGS)
}

/// Whether a file is called like a photo.
pub fn is_photo(path: &Path) -> bool {
    has_ending(path, &ENDINGS) || is_raw(path)
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let ending = path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
    ending.is_some_and(|ending| endings.contains(&&ending[..]))
}

/// The photos in folders, and files that were given by name, whatever they are called.
pub fn walk(paths: &[PathBuf]) -> Walked {
    let mut walk = Walk::default();
    for path in paths {
        if path.is_dir() {
            walk.folder(path, path);
        } else {
            let root = path.parent().unwrap_or(Path::new(""));
            walk.file(root, path);
        }
    }
    walk.found
}

#[derive(Default)]
struct Walk {
    found: Walked,
    /// Folders and files that were looked at, by the names that they really have.
    seen: HashSet<PathBuf>,
}

impl Walk {
    fn bad(&mut self, path: &Path, reason: impl Into<String>) {
        self.found.bad.push(BadPhoto { path: path.to_owned(), reason: reason.into() });
    }

    /// Whether a path leads to something that was not met before; links may lead in circles.
    fn is_new(&mut self, path: &Path) -> bool {
        match path.canonicalize() {
            Ok(real) => self.seen.insert(real),
            Err(error) => {
                self.bad(path, format!("found {error}, wanted a file or folder"));
                false
            }
        }
    }

    fn folder(&mut self, root: &Path, folder: &Path) {
        if !self.is_new(folder) {
            return;
        }
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                return self.bad(folder, format!("found {error}, wanted a folder that can be read"));
            }
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            // Hidden, or made by a server or an archive.
            if name.starts_with('.') || name == "@eaDir" || name == "__MACOSX" {
                continue;
            }
            if path.is_dir() {
                self.folder(root, &path);
            } else if is_photo(&path)
                || path.symlink_metadata().is_ok_and(|it| it.is_symlink()) && !path.exists()
            {
                self.file(root, &path);
            }
        }
    }

    fn file(&mut self, root: &Path, path: &Path) {
        if !self.is_new(path) {
            return;
        }
        let Ok(relative) = path.strip_prefix(root) else { return };
        let parts: Option<Vec<&str>> = relative.iter().map(OsStr::to_str).collect();
        let Some(parts) = parts.filter(|_| path.to_str().is_some()) else {
            return self
                .bad(path, "found a name that is not UTF-8, wanted one that its faces can be called by");
        };
        match path.metadata() {
            Err(error) => self.bad(path, format!("found {error}, wanted a file")),
            Ok(metadata) if !metadata.is_file() => self.bad(path, "found no file, wanted a photo"),
            Ok(metadata) => {
                let key = parts.join("/");
                let (size, modified) = (metadata.len(), modified_with_sidecars(path, &metadata));
                self.found.files.push(File {
                    path: path.to_owned(),
                    root: root.to_owned(),
                    key,
                    size,
                    modified,
                });
            }
        }
    }
}

/// When a photo or a sidecar of it was changed.
fn modified_with_sidecars(path: &Path, metadata: &Metadata) -> i64 {
    let sidecars = crate::names::sidecars(path);
    let others = sidecars.iter().filter_map(|sidecar| sidecar.metadata().ok()).map(|other| modified(&other));
    others.fold(modified(metadata), i64::max)
}

/// Nanoseconds since 1970.
fn modified(metadata: &Metadata) -> i64 {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(0)
}

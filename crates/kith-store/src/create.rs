//! A new library: it appears whole and filled, or not at all.

use std::io::ErrorKind;
use std::path::Path;

use crate::faces::{Added, NewFrame};
use crate::library::beside;
use crate::{Library, StoreError};

/// How the name of a library ends while it is being filled.
const PARTIAL: &str = ".partial";

impl Library {
    /// Opens a library, or makes an empty one where there is nothing.
    pub fn open_or_create(path: &Path) -> Result<Self, StoreError> {
        if is_free(path) {
            create(path, |_| Ok(()))?;
        }
        Self::connect(path, true)
    }

    /// Adds frames to a library, which is made where there is nothing: with the frames, or not at all.
    pub fn open_and_add(
        path: &Path,
        frames: &[NewFrame],
        embedding: Option<&str>,
    ) -> Result<(Self, Added), StoreError> {
        if is_free(path)
            && let Some(added) = create(path, |library| library.add(frames, embedding))?
        {
            return Ok((Self::open(path)?, added));
        }
        let library = Self::connect(path, true)?;
        let added = library.add(frames, embedding)?;
        Ok((library, added))
    }
}

/// Makes and fills a library under another name, and gives it its own when it is on the disk: whatever fails
/// before, a full disk for one, leaves nothing behind. `None` when another process was faster.
fn create<T>(
    path: &Path,
    fill: impl FnOnce(&Library) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let found = "no folder to put it in".to_owned();
        return Err(StoreError::NotALibrary { path: path.to_owned(), found });
    }
    let wrong = |error: std::io::Error| match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            StoreError::ReadOnly { path: path.to_owned() }
        }
        _ => StoreError::Database { path: path.to_owned(), message: format!("cannot be made: {error}") },
    };
    let mut builder = tempfile::Builder::new();
    let prefix = format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy());
    builder.prefix(&prefix).suffix(PARTIAL);
    // For its owner alone, as temporary files are; SQLite gives what it lays beside a library the mode of the
    // library.
    remove_abandoned(folder, &prefix);
    // The lock says that somebody is at it; a process that is killed leaves the file, and no lock.
    let (lock, partial) = builder.tempfile_in(folder).map_err(wrong)?.into_parts();
    lock.lock().map_err(wrong)?;
    let filled = fill_new(&partial, path, fill);
    // SQLite takes these with it when it ends well.
    remove_logs(&partial);
    let filled = filled?;
    match partial.persist_noclobber(path) {
        Ok(()) => {}
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => return Ok(None),
        Err(error) => return Err(wrong(error.error)),
    }
    // A name is on the disk when its folder is.
    #[cfg(unix)]
    std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(wrong)?;
    Ok(Some(filled))
}

/// Removes what processes that were killed have left of libraries with this beginning of a temporary name:
/// there are embeddings in it.
fn remove_abandoned(folder: &Path, prefix: &str) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_abandoned =
            || std::fs::File::open(entry.path()).is_ok_and(|partial| partial.try_lock().is_ok());
        if name.starts_with(prefix) && name.ends_with(PARTIAL) && is_abandoned() {
            drop(std::fs::remove_file(entry.path()));
            remove_logs(&entry.path());
        }
    }
}

fn remove_logs(partial: &Path) {
    for ending in ["-wal", "-shm", "-journal"] {
        drop(std::fs::remove_file(beside(partial, ending)));
    }
}

/// Fills a library that is called by the name it will have.
fn fill_new<T>(
    partial: &Path,
    path: &Path,
    fill: impl FnOnce(&Library) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let library = Library::connect_as(partial, path, true)?;
    let filled = fill(&library)?;
    library.close()?;
    Ok(filled)
}

/// Whether there is nothing at all; an empty file is filled where it is.
fn is_free(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NewFace;

    fn frames(n: usize) -> Vec<NewFrame> {
        let face =
            |k: usize| NewFace { key: k.to_string(), embedding: vec![k as f32; 500], ..NewFace::default() };
        (0..n).map(|k| NewFrame { faces: vec![face(k)], ..NewFrame::default() }).collect()
    }

    fn n_files(folder: &tempfile::TempDir) -> usize {
        std::fs::read_dir(folder.path()).unwrap().count()
    }

    #[test]
    fn a_new_library_that_a_full_disk_cannot_hold_is_not_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lib");
        let filled = create(&path, |library| {
            library.connection.pragma_update(None, "max_page_count", 60).unwrap();
            assert_eq!(n_files(&folder), 3, "it lies there under another name, with its log");
            library.add(&frames(400), None)
        });
        let error = filled.unwrap_err().to_string();
        assert!(error.contains("lib: the disk is full; nothing was changed"), "{error}");
        assert!(!error.contains("partial"), "{error}");
        assert_eq!(n_files(&folder), 0);
        // Nor is one that refused what it was to be filled with.
        let twice = [&frames(2)[..], &[NewFrame { faces: vec![NewFace::default()], ..NewFrame::default() }]];
        let error = Library::open_and_add(&path, &twice.concat(), None).unwrap_err().to_string();
        assert!(error.contains("dimension 0"), "{error}");
        assert_eq!(n_files(&folder), 0);
    }

    #[test]
    fn what_a_killed_process_left_of_a_library_is_removed_and_what_a_running_one_is_at_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lib");
        for name in [".lib.old.partial", ".lib.old.partial-wal", ".lib.busy.partial", ".other.old.partial"] {
            std::fs::write(folder.path().join(name), "faces").unwrap();
        }
        let busy = std::fs::File::open(folder.path().join(".lib.busy.partial")).unwrap();
        busy.lock().unwrap();
        Library::open_and_add(&path, &frames(2), None).unwrap();
        let mut left: Vec<String> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(PARTIAL) || name.contains(".partial-"))
            .collect();
        left.sort();
        assert_eq!(left, [".lib.busy.partial", ".other.old.partial"]);
    }

    #[test]
    fn a_new_library_is_filled_and_one_that_is_there_is_added_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lib");
        let (library, added) = Library::open_and_add(&path, &frames(3), Some("toy")).unwrap();
        assert_eq!((added.faces, library.n_faces().unwrap()), (3, 3));
        assert_eq!(library.get(crate::meta::EMBEDDING).unwrap().as_deref(), Some("toy"));
        drop(library);
        assert_eq!(n_files(&folder), 1);
        let (library, added) = Library::open_and_add(&path, &frames(5), None).unwrap();
        assert_eq!((added.faces, added.known, library.n_faces().unwrap()), (2, 3, 5));
        // Somebody was faster: what is there stays.
        assert!(create(&path, |library| library.add(&frames(1), None)).unwrap().is_none());
        assert_eq!(library.n_faces().unwrap(), 5);
        assert_eq!(library.check().unwrap().faults, [""; 0]);
    }
}

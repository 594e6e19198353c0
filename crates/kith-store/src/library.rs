//! Opening a library file: who may, what it must be, and one line for everything that it is not.

use std::cell::{Cell, RefCell};
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use crate::bounds::MANY_NUMBERS;
use crate::meta::DIMENSION;
use crate::schema::{self, APPLICATION_ID};
use crate::{StoreError, read_only};

/// How long a short write waits for another to end.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// An open library file.
#[derive(Debug)]
pub struct Library {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    /// Some embeddings, and of how many faces they were taken: what is usual here.
    pub(crate) usual: RefCell<(usize, Vec<Vec<f32>>)>,
    notes: RefCell<Vec<String>>,
    /// Whether something could not be written for want of room.
    had_no_room: Cell<bool>,
    /// From so many numbers in all embeddings on they are not read for every question.
    pub(crate) many_numbers: Cell<usize>,
}

/// Held by whoever learns, watches or forgets: one at a time. Its file goes with it.
#[derive(Debug)]
pub struct Claim {
    _file: File,
    path: PathBuf,
}

impl Drop for Claim {
    /// The file is removed while it is still locked: whoever opened it before and locks it after finds it
    /// gone (see [`Library::claim`]). One that stays, after a kill, is in nobody's way.
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.path));
    }
}

impl Library {
    /// Opens a library; an older one is brought up to date.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::Missing { path: path.to_owned() });
        }
        Self::connect(path, false)
    }

    /// Opens a library for somebody who has nothing to write. One that cannot be written, in a read-only
    /// folder or on a read-only or full disk, is read into memory, and what is worked out there is forgotten
    /// at the end.
    pub fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        Self::open_or(path, read_only::in_memory)
    }

    /// Reads something out of a library, as [`Library::open_to_read`] opens it; once more from memory where
    /// the disk has room for opening it and not for keeping what is worked out.
    pub fn read<T, E: From<StoreError>>(path: &Path, work: impl Fn(&Self) -> Result<T, E>) -> Result<T, E> {
        let library = Self::open_to_read(path)?;
        let done = work(&library);
        if done.is_ok() || !library.had_no_room.get() {
            return done;
        }
        drop(library);
        work(&read_only::in_memory(path)?)
    }

    /// Opens a library for whoever checks it. One that cannot be written is looked at as it is on the disk: a
    /// copy would hide what is wrong with it.
    pub fn open_to_check(path: &Path) -> Result<Self, StoreError> {
        Self::open_or(path, read_only::on_disk)
    }

    /// Opens a library, in another way where it cannot be written.
    fn open_or(
        path: &Path,
        otherwise: impl FnOnce(&Path) -> Result<Self, StoreError>,
    ) -> Result<Self, StoreError> {
        match Self::open(path) {
            Ok(library) if !library.is_read_only()? => Ok(library),
            // A full disk has no room for what SQLite lays beside a library either.
            Ok(_) | Err(StoreError::ReadOnly { .. } | StoreError::Database { .. }) => otherwise(path),
            Err(error) => Err(error),
        }
    }

    fn is_read_only(&self) -> Result<bool, StoreError> {
        self.run(|| self.connection.is_readonly(rusqlite::MAIN_DB))
    }

    pub(crate) fn connect(path: &Path, may_create: bool) -> Result<Self, StoreError> {
        refuse_strange(path)?;
        Self::connect_as(path, path, may_create)
    }

    /// Opens a file that is called by another name.
    pub(crate) fn connect_as(file: &Path, path: &Path, may_create: bool) -> Result<Self, StoreError> {
        let is_new = !file.exists() || file.metadata().is_ok_and(|found| found.len() == 0 && may_create);
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if may_create {
            flags |= OpenFlags::SQLITE_OPEN_CREATE;
        }
        let connection = Connection::open_with_flags(file, flags).map_err(|error| explained(path, &error))?;
        let library = Self::of(connection, path);
        library.prepare(is_new)?;
        Ok(library)
    }

    pub(crate) fn of(connection: Connection, path: &Path) -> Self {
        Self {
            connection,
            path: path.to_owned(),
            usual: RefCell::default(),
            notes: RefCell::default(),
            had_no_room: Cell::default(),
            many_numbers: Cell::new(MANY_NUMBERS),
        }
    }

    fn prepare(&self, is_new: bool) -> Result<(), StoreError> {
        let connection = &self.connection;
        self.run(|| connection.busy_timeout(PATIENCE))?;
        let (id, version) = self.run(|| {
            let id: i32 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
            Ok((id, connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))?))
        })?;
        if id != APPLICATION_ID && !(is_new && id == 0) {
            let found = "a database of another program".to_owned();
            return Err(StoreError::NotALibrary { path: self.path.clone(), found });
        }
        if version > schema::VERSION {
            let (path, wanted) = (self.path.clone(), schema::VERSION);
            return Err(StoreError::Newer { path, found: version, wanted });
        }
        self.run(|| {
            // What is deleted is overwritten; what is acknowledged is on the disk.
            connection.pragma_update(None, "secure_delete", true)?;
            connection.pragma_update(None, "foreign_keys", true)?;
            // Faces are written nowhere else: what SQLite sets aside for a while stays in memory.
            connection.pragma_update(None, "temp_store", "MEMORY")?;
            if version == schema::VERSION {
                return connection.pragma_update(None, "synchronous", "FULL");
            }
            // Of 512 numbers one embedding and not two would fit on a page of 4 KiB; a file that is there
            // keeps its pages.
            connection.pragma_update(None, "page_size", 8192)?;
            connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            let change = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
            let from: i64 = change.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            schema::migrate(&change, from)?;
            change.commit()
        })?;
        self.wipe_what_was_left()
    }

    /// Brings everything into the file itself, and ends.
    pub(crate) fn close(self) -> Result<(), StoreError> {
        let fold = "PRAGMA wal_checkpoint(TRUNCATE)";
        let is_busy: bool = self.run(|| self.connection.query_row(fold, [], |row| row.get(0)))?;
        if is_busy {
            return Err(StoreError::Busy { path: self.path, doing: "writing" });
        }
        self.connection.close().map_err(|(_, error)| explained(&self.path, &error))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Claims the right to learn, watch or forget; refused while another process has it.
    pub fn claim(&self) -> Result<Claim, StoreError> {
        let name = beside(&the_file(&self.path), "-lock");
        let wrong = |error: std::io::Error| StoreError::Database {
            path: self.path.clone(),
            message: format!("cannot be locked: {error}"),
        };
        loop {
            let mut options = OpenOptions::new();
            options.create(true).truncate(false).write(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let file = options.open(&name).map_err(wrong)?;
            match file.try_lock() {
                // Whoever had the claim may have removed the file since it was opened.
                Ok(()) if is_there(&file, &name) => return Ok(Claim { _file: file, path: name }),
                Ok(()) => {}
                Err(std::fs::TryLockError::WouldBlock) => {
                    let (path, doing) = (self.path.clone(), "learning, watching, serving or forgetting");
                    return Err(StoreError::Busy { path, doing });
                }
                Err(std::fs::TryLockError::Error(error)) => return Err(wrong(error)),
            }
        }
    }

    /// What whoever uses the library should be told, once: faces that were set aside, chains that were thrown
    /// away.
    pub fn take_notes(&self) -> Vec<String> {
        self.notes.take()
    }

    pub(crate) fn note(&self, line: String) {
        let mut notes = self.notes.borrow_mut();
        if !notes.contains(&line) {
            notes.push(line);
        }
    }

    /// D, once a face is there.
    pub fn dimension(&self) -> Result<Option<usize>, StoreError> {
        self.get(DIMENSION)
    }

    /// How many faces there are, ignored ones included.
    pub fn n_faces(&self) -> Result<usize, StoreError> {
        self.run(|| self.connection.query_row("SELECT count(*) FROM faces", [], |row| row.get(0)))
    }

    /// Runs statements; a refusal of the database becomes one line.
    pub(crate) fn run<T>(&self, work: impl FnOnce() -> rusqlite::Result<T>) -> Result<T, StoreError> {
        work().map_err(|error| {
            let code = error.sqlite_error_code();
            if matches!(code, Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure)) {
                self.had_no_room.set(true);
            }
            explained(&self.path, &error)
        })
    }

    /// Runs statements all or nothing.
    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let begin = || Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate);
        let change = self.run(begin)?;
        let done = work(&change)?;
        self.run(|| change.commit())?;
        Ok(done)
    }

    pub(crate) fn damaged(&self, message: impl Into<String>) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), message: message.into() }
    }
}

/// The path of a library without links: where SQLite puts what lies beside it, and where everybody looks for
/// its lock.
pub(crate) fn the_file(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Refuses what cannot be a library, or not safely.
fn refuse_strange(path: &Path) -> Result<(), StoreError> {
    let Ok(there) = path.metadata() else { return Ok(()) };
    let refused =
        |found: &str| Err(StoreError::NotALibrary { path: path.to_owned(), found: found.to_owned() });
    if there.is_dir() {
        return refused("a folder");
    }
    if !there.is_file() {
        return refused("a pipe or a device");
    }
    // SQLite keeps its log beside the name that it was given: under two names a library has two logs, and
    // what is written by one is lost by the other.
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::nlink(&there) > 1 {
        return refused("a file with several names (hard links), which loses what is written by one of them");
    }
    Ok(())
}

/// The name of a file that lies beside a library.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(ending);
    name.into()
}

/// Whether an open file is the one of that name.
#[cfg(unix)]
fn is_there(file: &File, name: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (open, there) = (file.metadata(), std::fs::metadata(name));
    matches!((open, there), (Ok(open), Ok(there)) if (open.dev(), open.ino()) == (there.dev(), there.ino()))
}

/// Elsewhere a file that is open cannot be removed.
#[cfg(not(unix))]
fn is_there(_: &File, _: &Path) -> bool {
    true
}

/// A refusal of the database in words.
pub(crate) fn explained(path: &Path, error: &rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    let message = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => {
            return StoreError::NotALibrary { path, found: "a file of another kind".to_owned() };
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            return StoreError::Busy { path, doing: "writing" };
        }
        Some(ErrorCode::DiskFull) => "the disk is full".to_owned(),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            return StoreError::ReadOnly { path };
        }
        Some(ErrorCode::SystemIoFailure) => "the disk is full, or cannot be read or written".to_owned(),
        Some(ErrorCode::DatabaseCorrupt) => "found a damaged database, wanted a sound one".to_owned(),
        _ => error.to_string(),
    };
    StoreError::Database { path, message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meta::{EMBEDDING, SEED};
    use crate::{NewFace, NewFrame};

    #[test]
    fn a_full_disk_changes_nothing_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let library = Library::open_or_create(&folder.path().join("lib")).unwrap();
        let face =
            |k: usize| NewFace { key: k.to_string(), embedding: vec![k as f32; 500], ..NewFace::default() };
        let frames: Vec<NewFrame> =
            (0..400).map(|k| NewFrame { faces: vec![face(k)], ..NewFrame::default() }).collect();
        library.add(&frames[..3], None).unwrap();
        // As many pages as there are, and a few more.
        library.connection.pragma_update(None, "max_page_count", 60).unwrap();
        let error = library.add(&frames, None).unwrap_err().to_string();
        assert!(error.ends_with("the disk is full; nothing was changed"), "{error}");
        assert_eq!(library.n_faces().unwrap(), 3);
        assert_eq!(library.check().unwrap().faults, [""; 0]);
        library.add(&frames[..4], None).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn everything_of_a_library_is_for_its_owner_alone_and_nothing_lies_elsewhere() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let library = Library::open_or_create(&folder.path().join("lib")).unwrap();
        let face = NewFace { key: "a".into(), embedding: vec![1.0, 2.0], ..NewFace::default() };
        library.add(&[NewFrame { faces: vec![face], ..NewFrame::default() }], None).unwrap();
        let _claim = library.claim().unwrap();
        let of_file = |entry: std::io::Result<std::fs::DirEntry>| {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            (entry.file_name().into_string().unwrap(), mode)
        };
        let mut files: Vec<(String, u32)> = std::fs::read_dir(folder.path()).unwrap().map(of_file).collect();
        files.sort();
        assert_eq!(files, ["lib", "lib-lock", "lib-shm", "lib-wal"].map(|name| (name.to_owned(), 0o600)));
        let temp: i64 = library.connection.query_row("PRAGMA temp_store", [], |row| row.get(0)).unwrap();
        assert_eq!(temp, 2, "in memory");
    }

    #[cfg(unix)]
    #[test]
    fn a_claim_holds_by_any_path_and_a_file_of_two_names_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lib");
        let library = Library::open_or_create(&path).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let link = elsewhere.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let by_link = Library::open(&link).unwrap();
        let claim = library.claim().unwrap();
        let refused = by_link.claim().unwrap_err().to_string();
        assert!(refused.contains("learning, watching, serving or forgetting"), "{refused}");
        drop(claim);
        by_link.claim().unwrap();
        assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 1, "nothing lies beside the link");
        drop((library, by_link));
        std::fs::hard_link(&path, elsewhere.path().join("second")).unwrap();
        for path in [&path, &elsewhere.path().join("second")] {
            for refused in [Library::open(path), Library::open_to_read(path), Library::open_or_create(path)] {
                let refused = refused.unwrap_err().to_string();
                assert!(refused.contains("several names (hard links)"), "{refused}");
            }
        }
        std::fs::remove_file(elsewhere.path().join("second")).unwrap();
        Library::open(&path).unwrap();
    }

    #[test]
    fn a_claim_leaves_no_file_behind_and_is_had_by_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let library = Library::open_or_create(&folder.path().join("lib")).unwrap();
        let lock = folder.path().join("lib-lock");
        for _ in 0..2 {
            let claim = library.claim().unwrap();
            let refused = library.claim().unwrap_err().to_string();
            assert!(refused.contains("learning, watching, serving or forgetting"), "{refused}");
            assert!(lock.exists());
            drop(claim);
            assert!(!lock.exists());
        }
        // One that a killed process left is in nobody's way.
        std::fs::write(&lock, "").unwrap();
        library.claim().unwrap();
    }

    #[test]
    fn a_reader_sees_a_whole_library_while_another_writes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lib");
        let writer = Library::open_or_create(&path).unwrap();
        let face = |key: &str| NewFace { key: key.into(), embedding: vec![1.0, 2.0], ..NewFace::default() };
        writer.add(&[NewFrame { faces: vec![face("a")], ..NewFrame::default() }], None).unwrap();
        let reader = Library::open(&path).unwrap();
        let seen = writer.write(|_| {
            writer.set(EMBEDDING, "half-done".to_owned())?;
            Ok((reader.get(EMBEDDING)?, reader.snapshot()?.rows.keys.to_vec()))
        });
        assert_eq!(seen.unwrap(), (None, vec!["a".to_owned()]));
        assert_eq!(reader.get(EMBEDDING).unwrap().as_deref(), Some("half-done"));
        // A second writer waits, and is told when it waited in vain.
        reader.connection.busy_timeout(Duration::from_millis(20)).unwrap();
        let refused = writer.write(|_| Ok(reader.set(SEED, 7).unwrap_err().to_string())).unwrap();
        assert!(refused.contains("another kith is writing"), "{refused}");
    }
}

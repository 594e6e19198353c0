//! Files and folders that appear whole or not at all.
//!
//! What is written lies beside its place as `.NAME.XXXXXX.partial` and gets its name when it is complete and
//! on the disk. Whatever fails before, a full disk for one, leaves an older file as it was and nothing beside
//! it; a process that is killed may leave the partial file, which means nothing.
//!
//! What is written is about people's faces: it is for its owner alone, unless it takes the place of a file
//! that others may read.

use crate::error::IoError;
use crate::place::Origin;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// A file that is being written; it gets its name with [`WholeFile::finish`], or is gone when dropped before.
#[derive(Debug)]
pub struct WholeFile {
    out: BufWriter<File>,
    /// Where it lies until then; a pipe or a device is written directly.
    partial: Option<TempPath>,
    path: PathBuf,
    may_replace: bool,
}

impl WholeFile {
    /// Begins a file that must not be there when it is finished.
    pub fn create(path: &Path) -> io::Result<Self> {
        let (file, partial) = builder(&prefix_of(path)).tempfile_in(folder_of(path))?.into_parts();
        let (out, path) = (BufWriter::new(file), path.to_owned());
        Ok(Self { out, partial: Some(partial), path, may_replace: false })
    }

    /// Begins a file that takes the place of an older one, whose permissions it has; a pipe or a device is
    /// written directly.
    pub fn replace(path: &Path) -> io::Result<Self> {
        let older = path.metadata().ok();
        if older.as_ref().is_some_and(|found| !found.is_file()) {
            let out = BufWriter::new(File::options().write(true).open(path)?);
            return Ok(Self { out, partial: None, path: path.to_owned(), may_replace: true });
        }
        let begun = Self { may_replace: true, ..Self::create(path)? };
        if let Some(older) = older {
            begun.out.get_ref().set_permissions(older.permissions())?;
        }
        Ok(begun)
    }

    /// Puts the file in its place.
    pub fn finish(self) -> io::Result<()> {
        let file = self.out.into_inner()?;
        let Some(partial) = self.partial else { return Ok(()) };
        file.sync_all()?;
        let placed = if self.may_replace {
            partial.persist(&self.path)
        } else {
            partial.persist_noclobber(&self.path)
        };
        placed.map_err(|error| error.error)?;
        // A name is on the disk when its folder is.
        #[cfg(unix)]
        File::open(folder_of(&self.path))?.sync_all()?;
        Ok(())
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Seek for WholeFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.out.seek(to)
    }
}

/// Writes a file in the place of an older one.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = WholeFile::replace(path)?;
    file.write_all(bytes)?;
    file.finish()
}

/// Writes a new file.
pub(crate) fn new_file(
    path: &Path,
    fill: impl FnOnce(&mut WholeFile) -> io::Result<()>,
) -> Result<(), IoError> {
    refuse_existing(path)?;
    let written = WholeFile::create(path).and_then(|mut file| {
        fill(&mut file)?;
        file.finish()
    });
    written.map_err(|reason| match reason.kind() {
        io::ErrorKind::AlreadyExists => IoError::Exists { path: path.to_owned() },
        _ => IoError::Write { at: Origin::file(path), reason },
    })
}

/// Fills a temporary folder beside `path` and renames it when `fill` has succeeded.
pub(crate) fn new_folder(
    path: &Path,
    fill: impl FnOnce(&NewFolder<'_>) -> Result<(), IoError>,
) -> Result<(), IoError> {
    refuse_existing(path)?;
    let failed = |reason| IoError::Write { at: Origin::file(path), reason };
    let prefix = prefix_of(path);
    let mut builder = builder(&prefix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let folder = builder.tempdir_in(folder_of(path)).map_err(failed)?;
    fill(&NewFolder { partial: folder.path(), path })?;
    refuse_existing(path)?;
    std::fs::rename(folder.path(), path).map_err(failed)?;
    // It is no longer where it was made, so there is nothing to clean up.
    let _ = folder.keep();
    Ok(())
}

/// A folder that has not got its name yet.
pub(crate) struct NewFolder<'a> {
    partial: &'a Path,
    path: &'a Path,
}

impl NewFolder<'_> {
    /// Writes a file in it.
    pub(crate) fn file(
        &self,
        name: &str,
        fill: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
    ) -> Result<(), IoError> {
        let written = create_private(&self.partial.join(name)).and_then(|file| write_whole(&file, fill));
        written.map_err(|reason| IoError::Write { at: Origin::file(&self.path.join(name)), reason })
    }
}

fn write_whole(file: &File, fill: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    fill(&mut out)?;
    out.flush()?;
    file.sync_all()
}

fn refuse_existing(path: &Path) -> Result<(), IoError> {
    match path.symlink_metadata() {
        Ok(_) => Err(IoError::Exists { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(reason) => Err(IoError::Write { at: Origin::file(path), reason }),
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Temporary names are `.name.XXXXXX.partial`.
fn prefix_of(path: &Path) -> String {
    format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy())
}

/// Files that it makes are for their owner alone.
fn builder(prefix: &str) -> tempfile::Builder<'_, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(".partial");
    builder
}

/// Makes a file for its owner alone where there is none.
fn create_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

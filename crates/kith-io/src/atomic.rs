//! New files and folders that appear whole or not at all.

use crate::error::IoError;
use crate::place::Origin;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a temporary file beside `path` and renames it when `fill` has succeeded.
pub(crate) fn new_file(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> Result<(), IoError> {
    refuse_existing(path)?;
    let failed = |reason| IoError::Write { at: Origin::file(path), reason };
    let file = builder(&prefix_of(path), 0o666).tempfile_in(folder_of(path)).map_err(failed)?;
    write_whole(file.as_file(), fill).map_err(failed)?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            Err(IoError::Exists { path: path.to_owned() })
        }
        Err(error) => Err(failed(error.error)),
    }
}

/// Fills a temporary folder beside `path` and renames it when `fill` has succeeded.
pub(crate) fn new_folder(
    path: &Path,
    fill: impl FnOnce(&NewFolder<'_>) -> Result<(), IoError>,
) -> Result<(), IoError> {
    refuse_existing(path)?;
    let failed = |reason| IoError::Write { at: Origin::file(path), reason };
    let folder = builder(&prefix_of(path), 0o777).tempdir_in(folder_of(path)).map_err(failed)?;
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
        let written = File::create_new(self.partial.join(name)).and_then(|file| write_whole(&file, fill));
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

/// Readable for whomever the user lets read: `mode` less the umask, where tempfile's own would be the user alone.
fn builder(prefix: &str, mode: u32) -> tempfile::Builder<'_, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(".partial");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    builder
}

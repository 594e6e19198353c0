//! `.npz` files: an archive with the array `x` of embeddings, and one array for each column.

use crate::atomic;
use crate::columns::Columns;
use crate::dataset::FaceTable;
use crate::error::{IoError, quoted};
use crate::place::Origin;
use crate::rows::Rows;
use crate::{npy, npy_text};
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Reads what `numpy.savez` or `numpy.savez_compressed` wrote.
pub fn read(path: &Path) -> Result<FaceTable, IoError> {
    let at = Origin::file(path);
    let file = File::open(path).map_err(|reason| IoError::Read { at: at.clone(), reason })?;
    let broken = |reason| IoError::Npz { at: at.clone(), reason };
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(broken)?;
    let names = array_names(&archive, &at)?;
    let Some(x) = names.iter().position(|name| name == "x") else {
        let found: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        let found =
            if found.is_empty() { "no arrays".into() } else { format!("arrays {}", found.join(", ")) };
        return Err(IoError::Members {
            at,
            found,
            wanted: "the embeddings as an array \"x\": np.savez(FILE, x=embeddings)",
        });
    };
    let n_faces = embeddings(&mut archive, x, path)?.n_faces();
    let mut cells = Vec::new();
    for (index, name) in names.into_iter().enumerate().filter(|&(index, _)| index != x) {
        let member = archive.by_index(index).map_err(broken)?;
        let (length, at) = (member.size(), Origin::array(path, &name));
        cells.push((name, npy_text::read(member, length, at, n_faces)?));
    }
    let rows = Rows::new(Columns::of_arrays(path, n_faces, cells))?;
    let embeddings =
        embeddings(&mut archive, x, path)?.read().map_err(|error| error.naming_face(&rows.faces))?;
    Ok(FaceTable::put_together(rows, embeddings))
}

/// Writes a new file with `x` and all columns, or none at all.
pub fn write(path: &Path, table: &FaceTable) -> Result<(), IoError> {
    table.check(path)?;
    if table.column("x").is_some() {
        let found = "a column \"x\"".into();
        return Err(IoError::TableContent {
            path: path.to_owned(),
            found,
            wanted: "another name, as x holds the embeddings",
        });
    }
    atomic::new_file(path, |out| fill(out, table))
}

fn fill(out: &mut (impl io::Write + io::Seek), table: &FaceTable) -> io::Result<()> {
    let mut archive = ZipWriter::new(out);
    // Embeddings hardly shrink; text of four bytes a letter does.
    let options = SimpleFileOptions::default().large_file(true);
    archive.start_file("x.npy", options.compression_method(CompressionMethod::Stored))?;
    npy::write_to(&mut archive, table.dataset.embeddings())?;
    for (name, cells) in table.columns() {
        archive.start_file(format!("{name}.npy"), options.compression_method(CompressionMethod::Deflated))?;
        npy_text::write_to(&mut archive, &cells)?;
    }
    archive.finish()?;
    Ok(())
}

fn embeddings<'a>(
    archive: &'a mut ZipArchive<BufReader<File>>,
    index: usize,
    path: &Path,
) -> Result<npy::Reader<impl io::Read + use<'a>>, IoError> {
    let member = archive.by_index(index).map_err(|reason| IoError::Npz { at: Origin::file(path), reason })?;
    let length = member.size();
    npy::Reader::new(member, length, Origin::array(path, "x"))
}

/// The names of the arrays, in their order.
fn array_names(archive: &ZipArchive<BufReader<File>>, at: &Origin) -> Result<Vec<String>, IoError> {
    if archive.has_duplicate_names() {
        let found = "two arrays of one name".into();
        return Err(IoError::Members { at: at.clone(), found, wanted: "different names" });
    }
    let name = |member: Result<std::borrow::Cow<'_, str>, ZipError>| {
        let member = member.map_err(|reason| IoError::Npz { at: at.clone(), reason })?;
        match member.strip_suffix(".npy") {
            Some(name) => Ok(name.to_owned()),
            None => {
                Err(IoError::Members { at: at.clone(), found: quoted(&member), wanted: "arrays (.npy) only" })
            }
        }
    };
    archive.file_names().map(name).collect()
}

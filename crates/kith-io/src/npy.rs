//! Embeddings as an `.npy` file: N x D numbers, read straight into one block.

use crate::atomic;
use crate::error::IoError;
use crate::npy_header::{self, Header};
use crate::place::{Origin, Place};
use kith::data::{DataError, Embeddings};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Bytes read at once: a multiple of every value's size, small beside the block.
const CHUNK: usize = 1 << 20;

/// Reads a two-dimensional array of float32 or float64 numbers, all finite.
pub fn read(path: &Path) -> Result<Embeddings, IoError> {
    Reader::open(path)?.read()
}

/// Writes a new file of float32 numbers, or none at all.
pub fn write(path: &Path, embeddings: &Embeddings) -> Result<(), IoError> {
    atomic::new_file(path, |out| write_to(out, embeddings))
}

/// An array of embeddings whose header has been read and agreed with.
pub(crate) struct Reader<R> {
    input: R,
    at: Origin,
    header: Header,
    n_faces: usize,
    dimension: usize,
    /// Where the first number is that float32 takes for zero, and the number.
    vanished: Option<(usize, f64)>,
}

impl Reader<File> {
    pub(crate) fn open(path: &Path) -> Result<Self, IoError> {
        let at = Origin::file(path);
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (length, file) = opened.map_err(|reason| IoError::Read { at: at.clone(), reason })?;
        Self::new(file, length, at)
    }
}

impl<R: Read> Reader<R> {
    /// Takes the header from `input`, which holds `length` bytes, and checks everything that it says.
    pub(crate) fn new(mut input: R, length: u64, at: Origin) -> Result<Self, IoError> {
        let header = Header::read(&mut input, &at)?;
        if !matches!((header.value_type.kind, header.value_type.size), ('f', 4 | 8)) {
            let (found, wanted) = (header.value_type.to_string(), "float32 or float64");
            return Err(IoError::Type {
                at,
                found,
                wanted,
                hint: "\nhint: x.astype(np.float32) converts it",
            });
        }
        let wanted = "two dimensions, (faces, values of each)";
        let (n_faces, dimension) = match *header.shape {
            [_, 0] => {
                return Err(IoError::Shape {
                    at,
                    found: header.shape,
                    wanted: "at least one value for each face".into(),
                });
            }
            [n_faces, dimension] => (n_faces, dimension),
            _ => return Err(IoError::Shape { at, found: header.shape, wanted: wanted.into() }),
        };
        if header.fortran_order {
            return Err(IoError::FortranOrder { at });
        }
        header.check_length(length, &at)?;
        if n_faces > u32::MAX.into() {
            return Err(IoError::TooMany { at, found: n_faces });
        }
        let (n_faces, dimension) = (n_faces as usize, dimension as usize);
        Ok(Self { input, at, header, n_faces, dimension, vanished: None })
    }

    pub(crate) fn n_faces(&self) -> usize {
        self.n_faces
    }

    pub(crate) fn at(&self) -> &Origin {
        &self.at
    }

    /// Reads the values; beside the block itself only one chunk is ever in memory.
    pub(crate) fn read(mut self) -> Result<Embeddings, IoError> {
        let size = self.header.value_type.size;
        let n_values = self.n_faces * self.dimension;
        let mut values: Vec<f32> = Vec::new();
        let memory = |_| IoError::Memory { at: self.at.clone(), bytes: n_values.saturating_mul(4) };
        values.try_reserve_exact(n_values).map_err(memory)?;
        let mut chunk = vec![0; CHUNK];
        while values.len() < n_values {
            let wanted = CHUNK.min((n_values - values.len()).saturating_mul(size));
            let found = self.fill(&mut chunk[..wanted])?;
            if found < wanted {
                return Err(self.header.truncated((values.len() * size + found) as u64, &self.at));
            }
            self.append(&chunk[..found], &mut values)?;
        }
        if let Some((place, value)) = self.vanished
            && values.iter().all(|&value| value == 0.0)
        {
            let (row, column) = (place / self.dimension, place % self.dimension);
            let wanted = "a number that float32 can hold (1.2e-38 and more)";
            return Err(self.value(row, column, format!("{value:e}"), wanted));
        }
        // Reading up to the end also makes an archive check its sum.
        match self.fill(&mut chunk[..1])? {
            0 => Embeddings::new(values, self.dimension).map_err(|error| self.refused(error)),
            found => Err(IoError::Trailing { at: self.at, found: found as u64 }),
        }
    }

    /// Fills `chunk`, or as much of it as the input has.
    fn fill(&mut self, chunk: &mut [u8]) -> Result<usize, IoError> {
        let mut found = 0;
        while found < chunk.len() {
            match self.input.read(&mut chunk[found..]) {
                Ok(0) => break,
                Ok(n) => found += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(reason) => return Err(IoError::Read { at: self.at.clone(), reason }),
            }
        }
        Ok(found)
    }

    fn append(&mut self, bytes: &[u8], values: &mut Vec<f32>) -> Result<(), IoError> {
        let (fours, eights) = (bytes.as_chunks().0, bytes.as_chunks().0);
        match (self.header.value_type.size, self.header.value_type.is_big_endian) {
            (4, false) => values.extend(fours.iter().map(|&four| f32::from_le_bytes(four))),
            (4, true) => values.extend(fours.iter().map(|&four| f32::from_be_bytes(four))),
            (_, false) => self.narrow(eights.iter().map(|&eight| f64::from_le_bytes(eight)), values)?,
            (_, true) => self.narrow(eights.iter().map(|&eight| f64::from_be_bytes(eight)), values)?,
        }
        Ok(())
    }

    fn narrow(&mut self, wide: impl Iterator<Item = f64>, values: &mut Vec<f32>) -> Result<(), IoError> {
        for value in wide {
            let narrow = value as f32;
            if narrow.is_infinite() && value.is_finite() {
                let (row, column) = (values.len() / self.dimension, values.len() % self.dimension);
                let wanted = "a number that float32 can hold (below 3.4e38)";
                return Err(self.value(row, column, format!("{value:e}"), wanted));
            }
            if narrow == 0.0 && value != 0.0 && self.vanished.is_none() {
                self.vanished = Some((values.len(), value));
            }
            values.push(narrow);
        }
        Ok(())
    }

    fn value(&self, row: usize, column: usize, found: String, wanted: &'static str) -> IoError {
        IoError::Value { at: self.at.clone(), place: Place::row(row), column, found, wanted }
    }

    fn refused(&self, error: DataError) -> IoError {
        match error {
            DataError::NotFinite { row, column, found } => {
                self.value(row, column, found.to_string(), "a finite number")
            }
            other => unreachable!("shape and length were checked: {other}"),
        }
    }
}

/// Writes version 1, float32, little endian, C order.
pub(crate) fn write_to(out: &mut impl Write, embeddings: &Embeddings) -> io::Result<()> {
    npy_header::write(out, "<f4", &[embeddings.len(), embeddings.dimension()])?;
    let mut chunk = Vec::with_capacity(CHUNK);
    for values in embeddings.values().chunks(CHUNK / 4) {
        chunk.clear();
        chunk.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        out.write_all(&chunk)?;
    }
    Ok(())
}

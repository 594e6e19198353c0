//! The embeddings `x_n`: one flat block of N x D numbers, or rows that are read when they are asked for.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::DataError;

/// N embeddings of D numbers each, stored once, row after row, as `f32`.
#[derive(Clone, Debug)]
pub struct Embeddings {
    stored: Stored,
    dimension: usize,
}

#[derive(Clone, Debug)]
enum Stored {
    Here(Vec<f32>),
    Elsewhere(Arc<Elsewhere>),
}

/// Where embeddings are that are read one by one, for whoever needs few of many. What is read must be finite,
/// and of the dimension that was promised.
pub trait Source: Send + Sync {
    /// How many there are.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them.
    fn row(&self, row: usize) -> Vec<f32>;

    /// All of them, one after the other.
    fn all(&self) -> Vec<f32>;
}

/// What has been read of a source so far.
struct Elsewhere {
    source: Box<dyn Source>,
    rows: Vec<OnceLock<Box<[f32]>>>,
    all: OnceLock<Vec<f32>>,
}

impl fmt::Debug for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} embeddings elsewhere", self.rows.len())
    }
}

impl PartialEq for Embeddings {
    fn eq(&self, other: &Self) -> bool {
        self.dimension == other.dimension && self.values() == other.values()
    }
}

impl Embeddings {
    /// Takes a block of `dimension` numbers per face; every number must be finite.
    pub fn new(values: Vec<f32>, dimension: usize) -> Result<Self, DataError> {
        if dimension == 0 {
            return Err(DataError::NoDimension);
        }
        if !values.len().is_multiple_of(dimension) {
            return Err(DataError::Ragged { found: values.len(), dimension });
        }
        if let Some(at) = values.iter().position(|v| !v.is_finite()) {
            let (row, column) = (at / dimension, at % dimension);
            return Err(DataError::NotFinite { row, column, found: values[at] });
        }
        Ok(Self { stored: Stored::Here(values), dimension })
    }

    /// Embeddings that are read when they are asked for.
    pub fn elsewhere(source: Box<dyn Source>, dimension: usize) -> Result<Self, DataError> {
        if dimension == 0 {
            return Err(DataError::NoDimension);
        }
        let rows = vec![OnceLock::new(); source.len()];
        let stored = Stored::Elsewhere(Arc::new(Elsewhere { source, rows, all: OnceLock::new() }));
        Ok(Self { stored, dimension })
    }

    /// No embeddings yet, of a given dimension.
    pub fn empty(dimension: usize) -> Result<Self, DataError> {
        Self::new(Vec::new(), dimension)
    }

    /// How many embeddings there are (N).
    pub fn len(&self) -> usize {
        match &self.stored {
            Stored::Here(values) => values.len() / self.dimension,
            Stored::Elsewhere(elsewhere) => elsewhere.rows.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether they are read when they are asked for, and a copy of them costs nothing.
    pub fn is_elsewhere(&self) -> bool {
        matches!(self.stored, Stored::Elsewhere(_))
    }

    /// How many numbers each has (D).
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The embedding at a row.
    pub fn row(&self, row: usize) -> &[f32] {
        match &self.stored {
            Stored::Here(values) => &values[row * self.dimension..][..self.dimension],
            Stored::Elsewhere(elsewhere) => match elsewhere.all.get() {
                Some(all) => &all[row * self.dimension..][..self.dimension],
                None => elsewhere.rows[row].get_or_init(|| elsewhere.source.row(row).into()),
            },
        }
    }

    /// All rows, one after the other.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values().chunks_exact(self.dimension)
    }

    /// The whole block.
    pub fn values(&self) -> &[f32] {
        match &self.stored {
            Stored::Here(values) => values,
            Stored::Elsewhere(elsewhere) => elsewhere.all.get_or_init(|| elsewhere.source.all()),
        }
    }

    /// The whole block, to be changed.
    fn values_mut(&mut self) -> &mut Vec<f32> {
        if self.is_elsewhere() {
            self.stored = Stored::Here(self.values().to_vec());
        }
        match &mut self.stored {
            Stored::Here(values) => values,
            Stored::Elsewhere(_) => unreachable!("they have been read"),
        }
    }

    /// Replaces one embedding.
    pub(super) fn set(&mut self, row: usize, embedding: &[f32]) {
        let dimension = self.dimension;
        self.values_mut()[row * dimension..][..dimension].copy_from_slice(embedding);
    }

    /// Adds one embedding at the end.
    pub fn push(&mut self, embedding: &[f32]) -> Result<(), DataError> {
        if embedding.len() != self.dimension {
            return Err(DataError::Dimension { found: embedding.len(), wanted: self.dimension });
        }
        if let Some(column) = embedding.iter().position(|v| !v.is_finite()) {
            let found = embedding[column];
            return Err(DataError::NotFinite { row: self.len(), column, found });
        }
        self.values_mut().extend_from_slice(embedding);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    struct Counted(Arc<AtomicUsize>);

    impl Source for Counted {
        fn len(&self) -> usize {
            5
        }

        fn row(&self, row: usize) -> Vec<f32> {
            self.0.fetch_add(1, Ordering::Relaxed);
            vec![row as f32, 0.5]
        }

        fn all(&self) -> Vec<f32> {
            (0..5).flat_map(|row| self.row(row)).collect()
        }
    }

    #[test]
    fn embeddings_that_are_elsewhere_are_read_once_and_when_they_are_asked_for() {
        let n_read = Arc::new(AtomicUsize::new(0));
        let mut lazy = Embeddings::elsewhere(Box::new(Counted(n_read.clone())), 2).unwrap();
        let read = || n_read.load(Ordering::Relaxed);
        assert_eq!(
            (lazy.len(), lazy.row(3), lazy.clone().row(3), read()),
            (5, &[3.0, 0.5][..], &[3.0, 0.5][..], 1)
        );
        let whole = Embeddings::new((0..5).flat_map(|row| [row as f32, 0.5]).collect(), 2).unwrap();
        assert_eq!((lazy == whole, read()), (true, 6), "all were read");
        assert_eq!((lazy.row(2), lazy.rows().nth(4).unwrap(), read()), (&[2.0, 0.5][..], &[4.0, 0.5][..], 6));
        lazy.push(&[9.0, 9.0]).unwrap();
        assert_eq!((lazy.is_elsewhere(), lazy.len(), lazy.row(5)), (false, 6, &[9.0, 9.0][..]));
    }
}

//! The embeddings `x_n`: one flat block of N x D numbers.

use super::DataError;

/// N embeddings of D numbers each, stored once, row after row, as `f32`.
#[derive(Clone, Debug, PartialEq)]
pub struct Embeddings {
    values: Vec<f32>,
    dimension: usize,
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
        Ok(Self { values, dimension })
    }

    /// No embeddings yet, of a given dimension.
    pub fn empty(dimension: usize) -> Result<Self, DataError> {
        Self::new(Vec::new(), dimension)
    }

    /// How many embeddings there are (N).
    pub fn len(&self) -> usize {
        self.values.len() / self.dimension
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// How many numbers each has (D).
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The embedding at a row.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.dimension..][..self.dimension]
    }

    /// All rows, one after the other.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.dimension)
    }

    /// The whole block.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Replaces one embedding.
    pub(super) fn set(&mut self, row: usize, embedding: &[f32]) {
        self.values[row * self.dimension..][..self.dimension].copy_from_slice(embedding);
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
        self.values.extend_from_slice(embedding);
        Ok(())
    }
}

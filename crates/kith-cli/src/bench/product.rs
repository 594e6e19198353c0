//! The bare matrix product that a sweep is measured against: faces times people, `f32`, one thread.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use kith::data::Embeddings;

/// So many numbers of the result are held at a time: faces are taken in blocks, which costs nothing and keeps
/// a result of gigabytes out of the peak of memory.
const HELD: usize = 1 << 24;

/// N x D by D x I, kept ready to be repeated.
pub struct Product {
    /// I columns of D numbers.
    people: Vec<f32>,
    dimension: usize,
    out: Vec<f32>,
}

impl Product {
    /// With these people, one after the other.
    pub fn new(people: Vec<f32>, dimension: usize) -> Self {
        Self { people, dimension, out: Vec::new() }
    }

    /// Multiplies; `each` is given the number of the first face of a block and the block's products, face
    /// after face.
    pub fn run(&mut self, faces: &Embeddings, mut each: impl FnMut(usize, &[f32])) {
        let n_people = self.people.len() / self.dimension;
        let people = MatRef::from_column_major_slice(&self.people, self.dimension, n_people);
        let n_rows = (HELD / n_people).clamp(1, faces.len());
        self.out.resize(n_rows * n_people, 0.0);
        for (block, rows) in faces.values().chunks(n_rows * self.dimension).enumerate() {
            let n_faces = rows.len() / self.dimension;
            let out = &mut self.out[..n_faces * n_people];
            let faces = MatRef::from_row_major_slice(rows, n_faces, self.dimension);
            let products = MatMut::from_row_major_slice_mut(out, n_faces, n_people);
            matmul(products, Accum::Replace, faces, people, 1.0, Par::Seq);
            each(block * n_rows, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_come_face_after_face() {
        let faces = Embeddings::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2).unwrap();
        let mut found = Vec::new();
        Product::new(vec![1.0, 0.0, 1.0, 1.0], 2).run(&faces, |first, products| {
            assert_eq!(first, found.len() / 2);
            found.extend_from_slice(products);
        });
        assert_eq!(found, [1.0, 3.0, 3.0, 7.0, 5.0, 11.0]);
    }
}

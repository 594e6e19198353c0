//! Which earlier faces look most like a face: lists that are worked out when first asked for.

use std::sync::OnceLock;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::Embeddings;
use crate::ids::FaceId;

/// How many neighbours a list has at most.
const NEIGHBOURS: usize = 10;
/// Among how many earlier faces, evenly spaced, a face looks for them; all of them while they are no more.
const GALLERY: usize = 10_000;
/// So many lists are made at once, by products of matrices; the faces of such a block look at each other too.
const TOGETHER: usize = 32;
/// So many others are looked at together.
const TILE: usize = 512;

/// The lists of a dataset. A list depends on the face and those before it, so it stays true as faces arrive,
/// and a dataset read back has the same: it is a cache, and no part of what makes two datasets equal.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighbours(OnceLock<Vec<OnceLock<Box<[FaceId]>>>>);

impl PartialEq for Neighbours {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Neighbours {
    /// The list of a face. Several threads may ask at once, and may then make the same list: no thread waits
    /// for another, which in a thread pool could be handed a job that asks for the list it is making.
    pub(super) fn of(&self, face: FaceId, embeddings: &Embeddings) -> &[FaceId] {
        let lists = self.0.get_or_init(|| vec![OnceLock::new(); embeddings.len()]);
        if lists[face.index()].get().is_none() {
            let first = face.index() / TOGETHER * TOGETHER;
            let together = first..lists.len().min(first + TOGETHER);
            let missing: Vec<usize> = together.filter(|&other| lists[other].get().is_none()).collect();
            for (&face, nearest) in missing.iter().zip(nearest_before(&missing, first, embeddings)) {
                // Where another thread has been faster, it has made the same list.
                let _ = lists[face].set(nearest.into_iter().map(|(_, other)| other).collect());
            }
        }
        lists[face.index()].get().expect("it was there, or has been made")
    }

    /// Faces have arrived: there are `n_faces` now.
    pub(super) fn extend(&mut self, n_faces: usize) {
        if let Some(lists) = self.0.get_mut() {
            lists.resize(n_faces, OnceLock::new());
        }
    }

    /// Embeddings have been replaced.
    pub(super) fn clear(&mut self) {
        self.0.take();
    }
}

/// The nearest of the faces before each of some faces from `first` on, nearest first, of equally near ones
/// the earlier. The matrices are as large whichever faces are asked for and have arrived: so a list's
/// rounding hangs on its face alone.
fn nearest_before(faces: &[usize], first: usize, embeddings: &Embeddings) -> Vec<Vec<(f32, FaceId)>> {
    let dimension = embeddings.dimension();
    let nobody = vec![0.0; dimension];
    let row = |face: usize| if face < embeddings.len() { embeddings.row(face) } else { &nobody[..] };
    let mut lists: Vec<Vec<(f32, FaceId)>> = vec![Vec::with_capacity(NEIGHBOURS + 1); faces.len()];
    let n_gallery = first.min(GALLERY);
    let together = first..first + TOGETHER;
    let gallery: Vec<usize> = (0..n_gallery).map(|k| k * first / n_gallery).chain(together.clone()).collect();
    let queries: Vec<f32> = together.flat_map(row).copied().collect();
    let (mut tile, mut products) = (Vec::new(), Vec::new());
    for others in gallery.chunks(TILE) {
        tile.clear();
        others.iter().for_each(|&other| tile.extend_from_slice(row(other)));
        products.resize(others.len() * TOGETHER, 0.0f32);
        matmul(
            MatMut::from_column_major_slice_mut(&mut products, others.len(), TOGETHER),
            Accum::Replace,
            MatRef::from_row_major_slice(&tile, others.len(), dimension),
            MatRef::from_column_major_slice(&queries, dimension, TOGETHER),
            1.0,
            Par::Seq,
        );
        let squares: Vec<f32> = tile.chunks_exact(dimension).map(square).collect();
        for (&face, nearest) in faces.iter().zip(&mut lists) {
            let products = &products[(face - first) * others.len()..];
            for ((&other, square), product) in others.iter().zip(&squares).zip(products) {
                // |x - y|^2 without |x|^2, which is the same for all.
                let distance = square - 2.0 * product;
                if other < face && (nearest.len() < NEIGHBOURS || distance < nearest[NEIGHBOURS - 1].0) {
                    let at = nearest.partition_point(|&(known, _)| known <= distance);
                    nearest.insert(at, (distance, FaceId::new(other)));
                    nearest.truncate(NEIGHBOURS);
                }
            }
        }
    }
    lists
}

/// In eight independent sums, which the compiler turns into vector instructions.
fn square(x: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    let chunks = x.chunks_exact(8);
    let rest: f32 = chunks.remainder().iter().map(|x| x * x).sum();
    for chunk in chunks {
        for lane in 0..8 {
            sums[lane] += chunk[lane] * chunk[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use crate::data::{Dataset, NewFace};
    use crate::ids::FaceId;
    use crate::random::driver;

    #[test]
    fn lists_hold_the_nearest_earlier_faces_and_stay_as_faces_arrive() {
        let mut rng = driver(9);
        let mut data = Dataset::empty(11).unwrap();
        let mut push = |data: &mut Dataset| {
            let x: Vec<f32> = (0..11).map(|_| rng.normal() as f32).collect();
            data.push_frame(None, &[NewFace { embedding: &x, name: None }]).unwrap();
        };
        (0..40).for_each(|_| push(&mut data));
        let early: Vec<Vec<FaceId>> = data.faces().map(|face| data.neighbours(face).to_vec()).collect();
        (0..40).for_each(|_| push(&mut data));
        for face in data.faces() {
            let list = data.neighbours(face);
            assert_eq!(list.len(), face.index().min(super::NEIGHBOURS));
            if let Some(early) = early.get(face.index()) {
                assert_eq!(list, early);
            }
            let distance = |other: FaceId| {
                let pairs = data.embedding(face).iter().zip(data.embedding(other));
                pairs.map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>()
            };
            let mut all: Vec<FaceId> = data.faces().take(face.index()).collect();
            all.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
            assert_eq!(list, &all[..list.len()]);
        }
        let fresh = data.clone();
        assert_eq!(fresh.neighbours(FaceId(79)), data.neighbours(FaceId(79)));
    }
}

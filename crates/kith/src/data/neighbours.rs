//! Which earlier faces look most like a face: lists that are worked out when first asked for.

use std::sync::OnceLock;

use super::Embeddings;
use crate::ids::FaceId;

/// How many neighbours a list has at most.
const NEIGHBOURS: usize = 10;
/// Among how many earlier faces, evenly spaced, a face looks for them; all of them while they are no more.
const GALLERY: usize = 10_000;

/// The lists of a dataset. A list depends on the face and those before it, so it stays true as faces arrive, and
/// a dataset read back has the same: it is a cache, and no part of what makes two datasets equal.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighbours(OnceLock<Vec<OnceLock<Box<[FaceId]>>>>);

impl PartialEq for Neighbours {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Neighbours {
    /// The list of a face. Several threads may ask at once: each list is made by one of them, without help from
    /// the thread pool, in which a thread that waits could be handed a job that asks for the same list.
    pub(super) fn of(&self, face: FaceId, embeddings: &Embeddings) -> &[FaceId] {
        let lists = self.0.get_or_init(|| vec![OnceLock::new(); embeddings.len()]);
        lists[face.index()].get_or_init(|| nearest_before(face, embeddings))
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

/// The nearest of the faces before a face, nearest first, of equally near ones the earlier.
fn nearest_before(face: FaceId, embeddings: &Embeddings) -> Box<[FaceId]> {
    let x = embeddings.row(face.index());
    let n_gallery = face.index().min(GALLERY);
    let mut nearest: Vec<(f32, FaceId)> = Vec::with_capacity(NEIGHBOURS + 1);
    for k in 0..n_gallery {
        let other = FaceId::new(k * face.index() / n_gallery);
        let distance = square_distance(x, embeddings.row(other.index()));
        if nearest.len() < NEIGHBOURS || distance < nearest[NEIGHBOURS - 1].0 {
            let at = nearest.partition_point(|&(known, _)| known <= distance);
            nearest.insert(at, (distance, other));
            nearest.truncate(NEIGHBOURS);
        }
    }
    nearest.into_iter().map(|(_, other)| other).collect()
}

/// In eight independent sums, which the compiler turns into vector instructions.
fn square_distance(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| (a - b) * (a - b)).sum();
    for (a, b) in a.zip(b) {
        for lane in 0..8 {
            sums[lane] += (a[lane] - b[lane]) * (a[lane] - b[lane]);
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

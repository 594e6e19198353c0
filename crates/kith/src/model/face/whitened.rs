//! The faces of a dataset under a face model's transform: each worked out when first asked for, once for all
//! chains.

use std::sync::{Arc, OnceLock};

use crate::ids::FaceId;

/// A face where a face model's transform puts it; chains share it.
pub(crate) type Portrait = Arc<[f32]>;

/// One entry per face, empty until somebody asks.
#[derive(Clone, Debug)]
pub(crate) struct Whitened(Vec<OnceLock<Portrait>>);

impl Whitened {
    pub fn new(n_faces: usize) -> Self {
        Self(vec![OnceLock::new(); n_faces])
    }

    /// A face, made by `make` if it is not there.
    pub fn of(&self, face: FaceId, make: impl FnOnce() -> Portrait) -> Portrait {
        Arc::clone(self.0[face.index()].get_or_init(make))
    }

    /// Faces have arrived: there are `n_faces` now.
    pub fn extend(&mut self, n_faces: usize) {
        self.0.resize(n_faces, OnceLock::new());
    }

    /// An embedding has been replaced.
    pub fn forget(&mut self, face: FaceId) {
        self.0[face.index()].take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_face_is_made_once_and_again_when_it_changes() {
        let mut whitened = Whitened::new(2);
        let face = FaceId(1);
        assert_eq!(*whitened.of(face, || [5.0].into()), [5.0]);
        assert_eq!(*whitened.clone().of(face, || unreachable!("it is there")), [5.0]);
        whitened.extend(3);
        assert_eq!(*whitened.of(FaceId(2), || [7.0].into()), [7.0]);
        whitened.forget(face);
        assert_eq!(*whitened.of(face, || [8.0].into()), [8.0]);
    }
}

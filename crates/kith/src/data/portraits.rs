//! The faces as a face model's transform puts them: worked out when first asked for, once for all chains.

use std::any::Any;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use crate::ids::FaceId;

/// A face where a face model's transform puts it; chains share it.
pub(crate) type Portrait = Arc<[f32]>;

/// The faces under the transform that was asked for last. It is a cache, and no part of what makes two datasets equal.
#[derive(Debug, Default)]
pub(super) struct Portraits(RwLock<Album>);

#[derive(Clone, Debug, Default)]
struct Album {
    /// Whatever holds the transform: kept, so that no other can have its address.
    of: Option<Arc<dyn Any + Send + Sync>>,
    faces: Vec<OnceLock<Portrait>>,
}

impl Clone for Portraits {
    fn clone(&self) -> Self {
        Self(RwLock::new(self.0.read().unwrap_or_else(PoisonError::into_inner).clone()))
    }
}

impl PartialEq for Portraits {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Portraits {
    /// A face of `n_faces` under a transform, made by `make` if it is not there.
    pub(super) fn of<T: Any + Send + Sync>(
        &self,
        face: FaceId,
        n_faces: usize,
        transform: &Arc<T>,
        make: impl FnOnce() -> Portrait,
    ) -> Portrait {
        let album = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if album.is_of(transform) {
            return Arc::clone(album.faces[face.index()].get_or_init(make));
        }
        drop(album);
        let mut album = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if !album.is_of(transform) {
            let of: Arc<dyn Any + Send + Sync> = Arc::<T>::clone(transform);
            *album = Album { of: Some(of), faces: vec![OnceLock::new(); n_faces] };
        }
        Arc::clone(album.faces[face.index()].get_or_init(make))
    }

    /// Faces have arrived: there are `n_faces` now.
    pub(super) fn extend(&mut self, n_faces: usize) {
        let album = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if album.of.is_some() {
            album.faces.resize(n_faces, OnceLock::new());
        }
    }

    /// An embedding has been replaced.
    pub(super) fn forget(&mut self, face: FaceId) {
        let album = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = album.faces.get_mut(face.index()) {
            kept.take();
        }
    }
}

impl Album {
    fn is_of<T>(&self, transform: &Arc<T>) -> bool {
        let address = Arc::as_ptr(transform).cast::<()>();
        self.of.as_ref().is_some_and(|of| Arc::as_ptr(of).cast::<()>() == address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_face_is_made_once_per_transform_and_again_when_it_changes() {
        let mut portraits = Portraits::default();
        let [first, second] = [1.0f32, 2.0].map(Arc::new);
        let made = std::cell::Cell::new(0);
        let make = |value: f32| {
            let made = &made;
            move || {
                made.set(made.get() + 1);
                Portrait::from([value])
            }
        };
        let face = FaceId(1);
        assert_eq!(*portraits.of(face, 2, &first, make(5.0)), [5.0]);
        assert_eq!(*portraits.clone().of(face, 2, &first, make(6.0)), [5.0]);
        assert_eq!(made.get(), 1);
        portraits.extend(3);
        assert_eq!(*portraits.of(FaceId(2), 3, &first, make(7.0)), [7.0]);
        portraits.forget(face);
        assert_eq!(*portraits.of(face, 3, &first, make(8.0)), [8.0]);
        // An equal transform elsewhere is another one.
        assert_eq!(*portraits.of(face, 3, &second, make(9.0)), [9.0]);
        assert_eq!(made.get(), 4);
    }
}

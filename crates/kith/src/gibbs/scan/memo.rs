//! What a few faces say of the identities, remembered while nobody but faces that are told of moves.
//!
//! The faces of a frame are seated several times in a row. What a face says of an identity, itself not among
//! its faces, changes only with that identity's other faces, so all but the one or two identities that a
//! frame's faces have left or joined need to be weighed once. The weights are the same.

use crate::ids::{FaceId, IdentityId};

/// ln predictives by face and identity; NaN where it is to be worked out.
#[derive(Debug, Default)]
pub(crate) struct Memo(Vec<(FaceId, Vec<f64>)>);

impl Memo {
    /// What a face that is not seated says of an identity.
    pub fn ln_face(&mut self, face: FaceId, identity: IdentityId, weigh: impl FnOnce() -> f64) -> f64 {
        let place = self.0.iter().position(|known| known.0 == face).unwrap_or_else(|| {
            self.0.push((face, Vec::new()));
            self.0.len() - 1
        });
        let known = &mut self.0[place].1;
        if known.len() <= identity.index() {
            known.resize(identity.index() + 1, f64::NAN);
        }
        let value = &mut known[identity.index()];
        if value.is_nan() {
            *value = weigh();
        }
        *value
    }

    /// A face has left an identity and joined one, which may be the same: its scale may be another. What it
    /// says itself is said without it.
    pub fn moved(&mut self, face: FaceId, left: Option<IdentityId>, joined: IdentityId) {
        for (_, known) in self.0.iter_mut().filter(|(other, _)| *other != face) {
            for identity in left.into_iter().chain([joined]) {
                known.get_mut(identity.index()).into_iter().for_each(|value| *value = f64::NAN);
            }
        }
    }

    /// Identities have changed of which nothing was told.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

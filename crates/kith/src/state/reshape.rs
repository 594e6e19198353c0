//! An identity is split in two, or two are merged into one, with all their faces at once.

use super::{Name, State};
use crate::data::Dataset;
use crate::ids::{FaceId, IdentityId};
use crate::model::face::Group;
use crate::random::Rng;
use crate::target::Target;

impl State {
    /// Moves some faces of an identity to a new one. `groups` and `ln_weights` are those of the faces that
    /// stay and of those that move; theta*, when it is kept, is drawn for both. The new identity's name is
    /// unknown, and both names are to be redrawn.
    pub(crate) fn split(
        &mut self,
        (identity, moving): (IdentityId, &[FaceId]),
        [kept, moved]: [Group; 2],
        ln_weights: [f64; 2],
        target: &Target,
        rng: &mut Rng,
    ) -> IdentityId {
        let new = self.seating.open();
        self.names.open(new, Name::Unknown);
        self.weights.divide(identity, new, ln_weights);
        self.faces.put(identity, kept, &target.model().face, rng);
        self.faces.put(new, moved, &target.model().face, rng);
        self.reseat(moving, new, target.data());
        new
    }

    /// Moves all faces of an identity, `moving`, to another one; `group` is then that one's. The first leaves
    /// and gives its weight to the other, whose theta*, when it is kept, is drawn; its name is to be redrawn.
    pub(crate) fn merge(
        &mut self,
        (from, into): (IdentityId, IdentityId),
        moving: &[FaceId],
        group: Group,
        target: &Target,
        rng: &mut Rng,
    ) {
        self.reseat(moving, into, target.data());
        self.faces.put(into, group, &target.model().face, rng);
        self.faces.close(from, &target.model().face);
        self.weights.add(from, into);
        self.names.close(from);
        self.seating.close(from);
    }

    /// Moves faces with their votes; the statistics of their appearance are the caller's.
    fn reseat(&mut self, moving: &[FaceId], to: IdentityId, data: &Dataset) {
        for &face in moving {
            let from = self.seating.unseat(face, data);
            self.seating.seat(face, to, data);
            self.names.unhear(from, face, data);
            self.names.hear(to, face, data);
        }
    }
}

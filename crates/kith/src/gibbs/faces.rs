//! Appearance `theta*_i` given the faces of each identity (§C.5), when it is kept.

use crate::random::Rng;
use crate::state::State;
use crate::target::Target;

/// Redraws `theta*_i` of every identity.
pub fn step(state: &mut State, target: &Target, rng: &mut Rng) {
    for place in 0..state.seating.n_identities() {
        let identity = state.seating.identities()[place];
        state.faces.redraw(identity, &target.model().face, rng);
    }
}

//! Identity assignments `z_n`: one Gibbs scan over the faces (§C.2).
//!
//! [`step_plainly`] is the kernel as the paper has it. [`step`] makes draws of the same law and is what a
//! sweep runs: the scan of [`super::scan`], which looks at few of the seats.

use std::sync::atomic::{AtomicBool, Ordering};

use super::scan::Scan;
use crate::ids::{FaceId, IdentityId};
use crate::model::face::Centred;
use crate::random::Rng;
use crate::state::{Seat, State};
use crate::target::Target;

/// At most about so many faces are reseated before it is asked again whether to go on.
const AT_ONCE: usize = 16_384;

/// Reseats every face in turn; returns how many changed their identity.
pub fn step(state: &mut State, target: &Target, rng: &mut Rng) -> usize {
    step_unless(&AtomicBool::new(false), state, target, rng)
}

/// The same, broken off soon after being told to.
pub(super) fn step_unless(stop: &AtomicBool, state: &mut State, target: &Target, rng: &mut Rng) -> usize {
    let faces: Vec<FaceId> = target.data().faces().collect();
    let mut scan = Scan::new(target);
    let mut n_moved = 0;
    let per_pass = faces.len().div_ceil(faces.len().div_ceil(AT_ONCE).max(1)).max(1);
    for faces in faces.chunks(per_pass) {
        if !stop.load(Ordering::Relaxed) {
            n_moved += scan.pass_unless(stop, faces, state, target, rng);
        }
    }
    n_moved
}

/// The same, every seat of every face weighed.
pub fn step_plainly(state: &mut State, target: &Target, rng: &mut Rng) -> usize {
    let faces = target.data().faces();
    faces.filter(|&face| reseat(face, state, target, rng)).count()
}

/// Takes a face off its seat, if it has one, and draws its seat given all other faces; whether that is
/// another.
pub fn reseat(face: FaceId, state: &mut State, target: &Target, rng: &mut Rng) -> bool {
    let mut x = Centred::default();
    state.look(face, target, &mut x);
    // From here on every count is the paper's "-n".
    let before = state.seating.identity_of(face).map(|_| state.remove(face, &x, target));
    let seats = state.seats(face, &x, target);
    let identity = take(face, draw(face, &seats, rng), &mut x, state, target, rng);
    before != Some(identity)
}

/// ln weights of the seats of a face that is not seated: (C.3), (C.4) and, for a face of which something was
/// said, (C.5).
pub fn ln_weights(face: FaceId, x: &Centred, state: &State, target: &Target) -> Vec<f64> {
    state.seats(face, x, target).iter().map(Seat::ln_weight).collect()
}

/// Draws one of the seats of a face.
pub(crate) fn draw(face: FaceId, seats: &[Seat], rng: &mut Rng) -> Option<IdentityId> {
    let mut ln_weights: Vec<f64> = seats.iter().map(Seat::ln_weight).collect();
    if !ln_weights.iter().any(|weight| weight.is_finite()) {
        crate::unweighable::give_up(Some(face));
    }
    seats[rng.categorical_ln(&mut ln_weights)].identity
}

/// Seats a face at an identity, or at a new one, with a scale drawn given that.
pub(crate) fn take(
    face: FaceId,
    seat: Option<IdentityId>,
    x: &mut Centred,
    state: &mut State,
    target: &Target,
    rng: &mut Rng,
) -> IdentityId {
    let group = seat.map_or(target.nobody(), |identity| state.faces.group(identity));
    target.model().face.draw_scale(group, x, rng);
    let identity = seat.unwrap_or_else(|| state.open(face, x, target, rng));
    state.insert(face, x, identity, target);
    identity
}

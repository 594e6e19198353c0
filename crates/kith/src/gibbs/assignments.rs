//! Identity assignments `z_n`: one Gibbs scan over the faces (§C.2).

use crate::data::Dataset;
use crate::ids::{FaceId, IdentityId};
use crate::model::Model;
use crate::model::face::{Centred, Group};
use crate::random::Rng;
use crate::state::State;

/// Reseats every face in turn; returns how many changed their identity.
pub fn step(state: &mut State, model: &Model, data: &Dataset, rng: &mut Rng) -> usize {
    let mut scan = Scan::new(model);
    let mut moved = 0;
    for face in data.faces() {
        state.look(face, model, data, &mut scan.x);
        let before = state.remove(face, &scan.x, model, data); // from here every count is the paper's "-n"
        moved += usize::from(scan.seat(face, state, model, data, rng) != before);
    }
    moved
}

/// What a scan keeps between faces, to allocate nothing on the way.
pub struct Scan {
    x: Centred,
    nobody: Group,
    bounds: Vec<f64>,
    ln_weights: Vec<f64>,
}

impl Scan {
    /// Ready for the first face.
    pub fn new(model: &Model) -> Self {
        let nobody = model.face.group();
        Self { x: Centred::default(), nobody, bounds: Vec::new(), ln_weights: Vec::new() }
    }

    /// Seats a face that has arrived and was never seated.
    pub fn seat_new(
        &mut self,
        face: FaceId,
        state: &mut State,
        model: &Model,
        data: &Dataset,
        rng: &mut Rng,
    ) {
        state.look(face, model, data, &mut self.x);
        self.seat(face, state, model, data, rng);
    }

    /// Seats a face alone, at a new identity.
    pub(crate) fn seat_apart(
        &mut self,
        face: FaceId,
        state: &mut State,
        model: &Model,
        data: &Dataset,
        rng: &mut Rng,
    ) -> IdentityId {
        state.look(face, model, data, &mut self.x);
        let identity = state.open(face, &self.x, model, data, rng);
        state.insert(face, &self.x, identity, model, data);
        identity
    }

    /// Seats a face at a given identity.
    pub(crate) fn seat_at(
        &mut self,
        face: FaceId,
        identity: IdentityId,
        state: &mut State,
        model: &Model,
        data: &Dataset,
    ) {
        state.look(face, model, data, &mut self.x);
        state.insert(face, &self.x, identity, model, data);
    }

    fn seat(
        &mut self,
        face: FaceId,
        state: &mut State,
        model: &Model,
        data: &Dataset,
        rng: &mut Rng,
    ) -> IdentityId {
        let Self { x, nobody, bounds, ln_weights: weights } = self;
        ln_weights(face, x, nobody, state, model, data, bounds, weights);
        let drawn = rng.categorical_ln(weights);
        let seat = state.seating.identities().get(drawn).copied();
        take(face, seat, x, nobody, state, model, data, rng)
    }
}

/// Seats a face at a drawn identity, or at a new one, with a scale drawn given that.
#[allow(clippy::too_many_arguments)]
pub(crate) fn take(
    face: FaceId,
    seat: Option<IdentityId>,
    x: &mut Centred,
    nobody: &Group,
    state: &mut State,
    model: &Model,
    data: &Dataset,
    rng: &mut Rng,
) -> IdentityId {
    model.face.draw_scale(seat.map_or(nobody, |identity| state.faces.group(identity)), x, rng);
    let identity = seat.unwrap_or_else(|| state.open(face, x, model, data, rng));
    state.insert(face, x, identity, model, data);
    identity
}

/// ln weights of the seats of a face that is not seated: one per identity, in the order of
/// [`crate::state::Seating::identities`], then a new one. (C.3) and (C.4) without its guard (D1); for a named
/// face also (C.5), a new identity's name integrated out (D6); what was said of the face (MODEL.md §7); and the frame's
/// `repeat` factor. The face's scale is summed over.
#[allow(clippy::too_many_arguments)]
pub fn ln_weights(
    face: FaceId,
    x: &Centred,
    nobody: &Group,
    state: &State,
    model: &Model,
    data: &Dataset,
    bounds: &mut Vec<f64>,
    out: &mut Vec<f64>,
) {
    let frame = data.frame_of(face);
    let context = state.seating.context_of(frame);
    out.clear();
    for &identity in state.seating.identities() {
        out.push(state.ln_seat(context, identity));
    }
    out.push(state.ln_new_seat(context) + model.face.ln_predictive(nobody, x));

    state.weigh_statements(face, model, data, out);
    if model.repeat < 1.0 {
        let ln_repeat = model.repeat.ln();
        for other in data.faces_in(frame).iter().filter(|&&other| other != face) {
            if let Some(identity) = state.seating.identity_of(*other) {
                out[state.seating.place_of(identity)] += ln_repeat;
            }
        }
    }
    state.faces.weigh(state.seating.identities(), x, &model.face, bounds, out);
}

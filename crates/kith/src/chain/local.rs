//! Local moves: a few faces are looked at again, where a sweep of all would take too long.
//!
//! They are the kernels of a sweep for some faces only. Which faces does not depend on chance or on the identities that
//! the moves change, so the posterior stays as it is.

use super::Chain;
use crate::data::Dataset;
use crate::gibbs::{self, assignments};
use crate::ids::{FaceId, IdentityId};
use crate::math::ln_sum_exp;
use crate::model::Model;
use crate::model::face::Centred;
use crate::state::Name;

/// What speaks for one seat of a face, all other faces staying where they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seat {
    /// An identity of the chain, or a new one.
    pub identity: Option<IdentityId>,
    /// Its name.
    pub name: Name,
    /// ln of what the context says: how often the person is met there.
    pub ln_context: f64,
    /// ln of what the face says.
    pub ln_face: f64,
    /// ln of what people said: names, comparisons, and that nobody is twice in a frame.
    pub ln_said: f64,
    /// The probability of the seat.
    pub p: f64,
}

impl Chain {
    /// Takes a face off its seat, weighs all seats, and seats it anew; returns the weights, a new identity last.
    pub fn reseat(&mut self, face: FaceId, model: &Model, data: &Dataset) -> Vec<Seat> {
        let mut x = Centred::default();
        let nobody = model.face.group();
        let (state, rng) = (&mut self.state, &mut self.rng);
        state.look(face, model, data, &mut x);
        state.remove(face, &x, model, data);
        let mut ln_weights = Vec::new();
        assignments::ln_weights(face, &x, &nobody, state, model, data, &mut ln_weights);
        let total = ln_sum_exp(&ln_weights);
        let context = state.context_of_face(face, data);
        let identities = state.seating.identities().iter().copied().map(Some).chain([None]);
        let seats: Vec<Seat> = identities
            .zip(&ln_weights)
            .map(|(identity, &ln_weight)| {
                let (ln_context, ln_face, name) = match identity {
                    Some(i) => {
                        let ln_face = state.faces.ln_weight(i, &x, &model.face);
                        (state.ln_seat(context, i), ln_face, state.names.of(i))
                    }
                    None => {
                        (state.ln_new_seat(context), model.face.ln_predictive(&nobody, &x), Name::Unknown)
                    }
                };
                let ln_said = ln_weight - ln_context - ln_face;
                Seat { identity, name, ln_context, ln_face, ln_said, p: (ln_weight - total).exp() }
            })
            .collect();
        let drawn = rng.categorical_ln(&mut ln_weights);
        assignments::take(face, seats[drawn].identity, &mut x, &nobody, state, model, data, rng);
        seats
    }

    /// Looks at some faces again: each is reseated, pairs that people compared are parted or joined with all their
    /// identities' faces, and names are redrawn.
    pub fn settle(&mut self, faces: &[FaceId], model: &Model, data: &Dataset) {
        for &face in faces {
            self.reseat(face, model, data);
        }
        let (state, rng) = (&mut self.state, &mut self.rng);
        let links = |&face: &FaceId| data.evidence().links(face).iter().map(move |link| [face, link.0]);
        let pairs: Vec<[FaceId; 2]> = faces.iter().flat_map(links).collect();
        gibbs::split_merge::on_pairs(&pairs, state, model, data, rng);
        gibbs::names::step(state, model, rng);
        debug_assert_eq!(state.check(model, data), Ok(()));
    }

    /// Redraws the name of one identity.
    pub fn rename(&mut self, identity: IdentityId, model: &Model) {
        if self.state.names.n_known() > 0 {
            gibbs::names::redraw(identity, &mut self.state, model, &mut self.rng);
        }
    }
}

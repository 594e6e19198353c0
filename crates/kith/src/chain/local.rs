//! Local moves: a few faces are looked at again, where a sweep of all would take too long.
//!
//! They are the kernels of a sweep for some faces only. Which faces does not depend on chance or on the identities that
//! the moves change, so the posterior stays as it is.

use super::Chain;
use crate::gibbs::memo::Memo;
use crate::gibbs::{self, assignments};
use crate::ids::{FaceId, IdentityId};
use crate::math::ln_sum_exp;
use crate::model::face::Centred;
use crate::state::Name;
use crate::target::Target;

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
    pub fn reseat(&mut self, face: FaceId, target: &Target) -> Vec<Seat> {
        self.reseat_with(face, target, &mut Memo::default())
    }

    /// Takes in the frames that have arrived since, as [`Chain::absorb`] does without revisits, and then reseats their
    /// faces so many times, as [`Chain::reseat`] does, each identity getting its name anew. `told` hears every
    /// time which of the faces it was, and its seats.
    pub fn absorb_and_reseat(
        &mut self,
        rounds: usize,
        target: &Target,
        mut told: impl FnMut(usize, Vec<Seat>),
    ) {
        let n_before = self.state.seating.size().0;
        let mut memo = self.absorb_knowing(0, target);
        for _ in 0..rounds {
            for (place, face) in target.data().faces().skip(n_before).enumerate() {
                told(place, self.reseat_with(face, target, &mut memo));
                let identity = self.state.seating.identity_of(face).expect("it was seated");
                self.rename(identity, target);
            }
        }
    }

    fn reseat_with(&mut self, face: FaceId, target: &Target, memo: &mut Memo) -> Vec<Seat> {
        let model = target.model();
        let mut x = Centred::default();
        let nobody = model.face.group();
        let (state, rng) = (&mut self.state, &mut self.rng);
        state.look(face, target, &mut x);
        let left = state.remove(face, &x, target);
        // The terms of `assignments::ln_weights`, apart.
        let mut said = vec![0.0; state.seating.n_identities() + 1];
        state.weigh_statements(face, target, &mut said);
        state.weigh_frame(face, target, &mut said);
        let context = state.context_of_face(face, target.data());
        let identities = state.seating.identities().iter().copied().map(Some).chain([None]);
        let mut seats: Vec<Seat> = identities
            .zip(said)
            .map(|(identity, ln_said)| {
                let (ln_context, ln_face, name) = match identity {
                    Some(i) => {
                        let ln_face = memo.ln_face(face, i, || state.faces.ln_weight(i, &x, &model.face));
                        (state.ln_seat(context, i), ln_face, state.names.of(i))
                    }
                    None => {
                        (state.ln_new_seat(context), model.face.ln_predictive(&nobody, &x), Name::Unknown)
                    }
                };
                Seat { identity, name, ln_context, ln_face, ln_said, p: 0.0 }
            })
            .collect();
        let mut ln_weights: Vec<f64> =
            seats.iter().map(|seat| seat.ln_context + seat.ln_face + seat.ln_said).collect();
        let total = ln_sum_exp(&ln_weights);
        seats.iter_mut().zip(&ln_weights).for_each(|(seat, weight)| seat.p = (weight - total).exp());
        let drawn = rng.categorical_ln(&mut ln_weights);
        let seat = seats[drawn].identity;
        let joined = assignments::take(face, seat, &mut x, &nobody, state, target, rng);
        memo.moved(face, Some(left), joined);
        seats
    }

    /// Looks at some faces again: each is reseated, pairs that people compared are parted or joined with all their
    /// identities' faces, and names are redrawn.
    pub fn settle(&mut self, faces: &[FaceId], target: &Target) {
        for &face in faces {
            self.reseat(face, target);
        }
        let (state, rng) = (&mut self.state, &mut self.rng);
        let links =
            |&face: &FaceId| target.data().evidence().links(face).iter().map(move |link| [face, link.0]);
        let pairs: Vec<[FaceId; 2]> = faces.iter().flat_map(links).collect();
        gibbs::split_merge::on_pairs(&pairs, state, target, rng);
        gibbs::names::step(state, target, rng);
        debug_assert_eq!(state.check(target), Ok(()));
    }

    /// Redraws the name of one identity.
    pub fn rename(&mut self, identity: IdentityId, target: &Target) {
        if self.state.names.n_known() > 0 {
            gibbs::names::redraw(identity, &mut self.state, target, &mut self.rng);
        }
    }
}

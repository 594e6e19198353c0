//! The seats of a face: one per identity and one for somebody new, and what each weighs (C.3)-(C.5), terms
//! apart.

use super::{Name, State};
use crate::ids::{ContextId, FaceId, IdentityId};
use crate::math::ln_sum_exp;
use crate::model::face::{Centred, Weight};
use crate::target::Target;

/// ln of a seat's weight, (C.4) without its guard (deviation D1): N_ci + alpha_c pi_0i, of which ln of the
/// second term is given, because it may be far below the smallest number.
pub(crate) fn ln_seat(n: f64, ln_share: f64) -> f64 {
    if n == 0.0 { ln_share } else { (n + ln_share.exp()).ln() }
}

/// What speaks for one seat of a face, all other faces staying where they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seat {
    /// An identity of the state, or a new one.
    pub identity: Option<IdentityId>,
    /// Its name.
    pub name: Name,
    /// ln of what the context says (C.4): how often the person is met there.
    pub ln_context: f64,
    /// ln of what the face says (C.3), its scale summed over.
    pub ln_face: f64,
    /// ln of what people said (C.5): names, comparisons (MODEL.md §7), and that nobody is twice in a frame.
    pub ln_said: f64,
    /// The probability of the seat.
    pub p: f64,
}

impl Seat {
    /// ln of its weight: all three.
    pub fn ln_weight(&self) -> f64 {
        self.ln_context + self.ln_face + self.ln_said
    }
}

impl State {
    /// The seats of a face that is not seated: the identities in the order of [`super::Seating::identities`],
    /// then a new one, whose name is integrated out (D6). `ln_face` is [`State::ln_face`], or remembers what
    /// that said.
    pub(crate) fn seats_with(
        &self,
        face: FaceId,
        x: &Centred,
        target: &Target,
        mut ln_face: impl FnMut(IdentityId) -> f64,
    ) -> Vec<Seat> {
        let context = self.context_of_face(face, target.data());
        let identities = self.seating.identities();
        let mut said = vec![0.0; identities.len() + 1];
        self.weigh_statements(face, target, &mut said);
        self.weigh_frame(face, target, &mut said);
        let mut seats: Vec<Seat> = identities
            .iter()
            .zip(&said)
            .map(|(&i, &ln_said)| Seat {
                identity: Some(i),
                name: self.names.of(i),
                ln_context: self.ln_seat(context, i),
                ln_face: ln_face(i),
                ln_said,
                p: 0.0,
            })
            .collect();
        seats.push(Seat {
            identity: None,
            name: Name::Unknown,
            ln_context: self.ln_new_seat(context),
            ln_face: target.ln_new_face(x),
            ln_said: said[identities.len()],
            p: 0.0,
        });
        let ln_total = ln_sum_exp(&seats.iter().map(Seat::ln_weight).collect::<Vec<f64>>());
        seats.iter_mut().for_each(|seat| seat.p = (seat.ln_weight() - ln_total).exp());
        seats
    }

    /// The seats of a face that is not seated, `x` as [`State::look`] makes it: all identities, then a new
    /// one.
    pub fn seats(&self, face: FaceId, x: &Centred, target: &Target) -> Vec<Seat> {
        self.seats_with(face, x, target, |identity| self.ln_face(identity, x, target))
    }

    /// ln of what a face says of an identity.
    pub(crate) fn ln_face(&self, identity: IdentityId, x: &Centred, target: &Target) -> f64 {
        self.faces.ln_weight(identity, x, &target.model().face)
    }

    /// The same, or an upper bound of it that is below `floor`, which may take less.
    pub(crate) fn ln_face_above(
        &self,
        identity: IdentityId,
        x: &Centred,
        target: &Target,
        floor: f64,
    ) -> Weight {
        self.faces.ln_weight_above(identity, x, &target.model().face, floor)
    }

    /// ln of the weight of an identity's seat in a context (C.4).
    pub fn ln_seat(&self, context: ContextId, identity: IdentityId) -> f64 {
        let ln_share = self.weights.local_concentration(context).ln() + self.weights.ln_of(identity);
        ln_seat(f64::from(self.seating.n_at(context, identity)), ln_share)
    }

    /// ln of the weight of a new identity's seat (C.4): alpha_c pi_0'.
    pub fn ln_new_seat(&self, context: ContextId) -> f64 {
        self.weights.local_concentration(context).ln() + self.weights.ln_unseen
    }
}

//! How the faces of an identity are dealt to two, one after the other, and with what probability.
//!
//! A face goes to either side in proportion to (N_ci + alpha_c pi_0i / 2) x predictive x repeat^(faces of its
//! frame there) x what people said of it and the faces there x, for a named face, the share of its name among
//! those given there: nearly the conditional of the joint, with counts and statistics of the faces dealt so
//! far. Any positive weights would be exact; the nearer they are, the more moves are accepted.

use super::{bonds, has_bonds};
use crate::ids::{FaceId, IdentityId};
use crate::math::ln_add_exp;
use crate::model::face::{Centred, Group};
use crate::random::Rng;
use crate::state::{Name, PerContext, State, Votes, ln_seat};
use crate::target::Target;

/// One side.
pub(super) struct Part {
    pub(super) group: Group,
    /// Its faces per context.
    pub(super) n_at: PerContext,
    /// What was said about the names of its faces.
    pub(super) votes: Votes,
    n_votes: u32,
}

/// A finished deal.
pub(super) struct Deal {
    pub(super) parts: [Part; 2],
    /// Where each face of the order went: 0 to the first of the pair, 1 to the second.
    pub(super) sides: Vec<usize>,
    /// ln of its probability.
    pub(super) ln_p: f64,
    /// ln of what the faces of the two sides would weigh more together.
    pub(super) ln_between: f64,
}

/// Who decides where a face goes.
enum Dealer<'a> {
    Chance(&'a mut Rng),
    /// The seats as they are: the faces of this identity go to the second side. Given up as soon as the
    /// probability is not above `exp(at_least)`.
    Seats {
        second: IdentityId,
        at_least: f64,
    },
}

/// What is kept between deals.
pub(super) struct Deals<'a> {
    target: &'a Target,
    x: Centred,
    /// Where each face of the dataset has been dealt to, where pairs matter.
    side_of: Vec<Option<usize>>,
}

impl<'a> Deals<'a> {
    pub(super) fn new(target: &'a Target) -> Self {
        let n_faces = if has_bonds(target) { target.data().n_faces() } else { 0 };
        Self { target, x: Centred::default(), side_of: vec![None; n_faces] }
    }

    /// Deals at random. `ln_weight` is ln pi_0i of the identity that is split.
    pub(super) fn draw(
        &mut self,
        pair: [FaceId; 2],
        order: &[FaceId],
        ln_weight: f64,
        state: &State,
        rng: &mut Rng,
    ) -> Deal {
        let dealer = Dealer::Chance(rng);
        self.deal(pair, order, ln_weight, dealer, state).expect("chance never gives up")
    }

    /// Deals the faces of two identities to where they are, in the second or not; `None` when that has at most
    /// probability `exp(at_least)`. `ln_weight` is ln pi_0i of both together.
    pub(super) fn replay(
        &mut self,
        pair: [FaceId; 2],
        order: &[FaceId],
        ln_weight: f64,
        (second, at_least): (IdentityId, f64),
        state: &State,
    ) -> Option<Deal> {
        let dealer = Dealer::Seats { second, at_least };
        self.deal(pair, order, ln_weight, dealer, state)
    }

    fn deal(
        &mut self,
        pair: [FaceId; 2],
        order: &[FaceId],
        ln_weight: f64,
        mut dealer: Dealer<'_>,
        state: &State,
    ) -> Option<Deal> {
        let ln_half = ln_weight - std::f64::consts::LN_2;
        let part = || Part {
            group: self.target.model().face.group(),
            n_at: PerContext::default(),
            votes: Votes::default(),
            n_votes: 0,
        };
        let mut deal = Deal {
            parts: [part(), part()],
            sides: Vec::with_capacity(order.len()),
            ln_p: 0.0,
            ln_between: 0.0,
        };
        for (side, face) in pair.into_iter().enumerate() {
            state.look(face, self.target, &mut self.x);
            let ln_bonds = self.ln_bonds(face);
            self.put(face, side, ln_bonds, &mut deal, state);
        }
        let mut is_given_up = false;
        for &face in order {
            state.look(face, self.target, &mut self.x);
            let ln_bonds = self.ln_bonds(face);
            let [first, second] =
                [0, 1].map(|side| self.ln_weight(face, &deal.parts[side], ln_bonds[side], ln_half, state));
            let ln_odds = second - first;
            let side = match &mut dealer {
                Dealer::Chance(rng) => {
                    let u = rng.uniform();
                    usize::from(u.ln() - (-u).ln_1p() < ln_odds)
                }
                Dealer::Seats { second, .. } => usize::from(state.seating.identity_of(face) == Some(*second)),
            };
            // ln of 1 / (1 + exp(-odds)) of the side it goes to.
            deal.ln_p -= ln_add_exp(0.0, if side == 1 { -ln_odds } else { ln_odds });
            deal.sides.push(side);
            self.put(face, side, ln_bonds, &mut deal, state);
            if let Dealer::Seats { at_least, .. } = dealer
                && deal.ln_p <= at_least
            {
                is_given_up = true;
                break;
            }
        }
        if !self.side_of.is_empty() {
            pair.iter().chain(order).for_each(|face| self.side_of[face.index()] = None);
        }
        (!is_given_up).then_some(deal)
    }

    /// ln of what a face weighs more for being together with the faces of its frame, and those that people
    /// compared it with, that have been dealt to either side.
    fn ln_bonds(&self, face: FaceId) -> [f64; 2] {
        let mut ln_bonds = [0.0; 2];
        if !self.side_of.is_empty() {
            bonds(face, self.target, |other, ln_bond| {
                self.side_of[other.index()].into_iter().for_each(|side| ln_bonds[side] += ln_bond);
            });
        }
        ln_bonds
    }

    /// ln of the weight of a side for the face at `self.x`; `ln_half` is ln of half of pi_0i.
    fn ln_weight(&self, face: FaceId, part: &Part, ln_bond: f64, ln_half: f64, state: &State) -> f64 {
        let context = state.context_of_face(face, self.target.data());
        let ln_share = state.weights.local_concentration(context).ln() + ln_half;
        let ln_seat = ln_seat(f64::from(part.n_at.at(context)), ln_share);
        let mut ln_weight = ln_seat + self.target.model().face.ln_joining(&part.group, &self.x) + ln_bond;
        if let Some(given) = self.target.data().given_name(face) {
            // (votes for the name + H(name)) / (votes + 1).
            let alike = f64::from(part.votes.n_given(given));
            let ln_prior = state.names.ln_weight(Name::Known(given));
            ln_weight += ln_add_exp(alike.ln(), ln_prior) - f64::from(part.n_votes + 1).ln();
        }
        ln_weight
    }

    /// The face at `self.x` goes to a side.
    fn put(&mut self, face: FaceId, side: usize, ln_bonds: [f64; 2], deal: &mut Deal, state: &State) {
        let part = &mut deal.parts[side];
        self.target.model().face.draft(&mut part.group, &self.x);
        part.n_at.add(state.context_of_face(face, self.target.data()));
        part.votes.add_face(face, self.target.data());
        part.n_votes += u32::from(self.target.data().given_name(face).is_some());
        if !self.side_of.is_empty() {
            self.side_of[face.index()] = Some(side);
            deal.ln_between += ln_bonds[1 - side];
        }
    }
}

//! Local moves: a few faces are looked at again, where a sweep of all would take too long.
//!
//! They are the kernels of a sweep for some faces only. Which faces does not depend on chance or on the identities that
//! the moves change, so the posterior stays as it is.

use super::Chain;
use crate::gibbs::scan::Memo;
use crate::gibbs::{self, assignments};
use crate::ids::{FaceId, IdentityId};
use crate::model::face::Centred;
use crate::state::Seat;
use crate::target::Target;

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
        let mut x = Centred::default();
        let (state, rng) = (&mut self.state, &mut self.rng);
        state.look(face, target, &mut x);
        let left = state.remove(face, &x, target);
        let known = |i| memo.ln_face(face, i, || state.ln_face(i, &x, target));
        let seats = state.seats_with(face, &x, target, known);
        let joined =
            assignments::take(face, assignments::draw(face, &seats, rng), &mut x, state, target, rng);
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

//! Local moves: a few faces are looked at again, where a sweep of all would take too long.
//!
//! They are the kernels of a sweep for some faces only. Which faces does not depend on chance or on the
//! identities that the moves change, so the posterior stays as it is.

use super::Chain;
use crate::data::repeats::square;
use crate::gibbs::scan::{Memo, Scan};
use crate::gibbs::{self, assignments};
use crate::ids::{FaceId, IdentityId};
use crate::model::face::{COPY, Centred};
use crate::state::{Name, Seat};
use crate::target::Target;

impl Chain {
    /// Takes a face off its seat, weighs all seats, and seats it anew; returns the weights, a new identity
    /// last.
    pub fn reseat(&mut self, face: FaceId, target: &Target) -> Vec<Seat> {
        self.reseat_with(face, target, &mut Memo::default())
    }

    /// Takes in the frames that have arrived since, as [`Chain::absorb`] does without revisits, and then
    /// reseats their faces so many times, as [`Chain::reseat`] does, each identity getting its name anew.
    /// `told` hears every time which of the faces it was, and its seats.
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

    /// Looks at some faces again: each is reseated, pairs that people compared, and some
    /// others of them, are parted or joined with all their identities' faces, and names are redrawn.
    pub fn settle(&mut self, faces: &[FaceId], target: &Target) {
        let all: Vec<FaceId> = target.data().faces().collect();
        self.settle_among(faces, &all, target);
        gibbs::names::step(&mut self.state, target, &mut self.rng);
        debug_assert_eq!(self.state.check(target), Ok(()));
    }

    /// The same but for names; `all` are the faces that are seated.
    pub(super) fn settle_among(&mut self, faces: &[FaceId], all: &[FaceId], target: &Target) {
        let copies = self.copies(all, target);
        self.look_again(faces, all, target);
        self.put_with_theirs(&copies, target);
    }

    fn look_again(&mut self, faces: &[FaceId], all: &[FaceId], target: &Target) {
        let (state, rng) = (&mut self.state, &mut self.rng);
        // Copies stay with whoever speaks for them until the next learning.
        let moves = |face: &FaceId| state.faces.scale(*face) != COPY;
        let faces: Vec<FaceId> = faces.iter().copied().filter(moves).collect();
        let faces = &faces[..];
        Scan::new(target).pass(faces, state, target, rng);
        let links =
            |&face: &FaceId| target.data().evidence().links(face).iter().map(move |link| [face, link.0]);
        let pairs: Vec<[FaceId; 2]> = faces.iter().flat_map(links).collect();
        gibbs::split_merge::on_pairs(&pairs, all, state, target, rng);
        gibbs::split_merge::among(faces, all, state, target, rng);
    }

    /// Goes over to a state that agrees with what was said of some faces, as near as possible to where the
    /// chain is. What is sampled has just changed, so this is a starting point, not a step. No single face's
    /// move leads from a state in which the face that was called Ann is alone, and the one that was denied
    /// the name with all their people, to the more probable one in which it left.
    ///
    /// First, faces that something was said of sit where looks alone would put them, and identities whose
    /// name nobody gave them take one that was said of them; then the faces move for whom something is not as
    /// it was said: of a pair the one that was not named, the one among people whom nobody named, or the one
    /// that is bound less. So no face loses the name of its people to a word that brings another to them.
    pub fn heed(&mut self, faces: &[FaceId], target: &Target) {
        let all: Vec<FaceId> = target.data().faces().collect();
        self.heed_among(faces, &all, target);
    }

    /// The same where `all` are the faces that are seated.
    pub(super) fn heed_among(&mut self, faces: &[FaceId], all: &[FaceId], target: &Target) {
        let copies = self.copies(all, target);
        self.go_where_it_was_said(faces, target);
        self.put_with_theirs(&copies, target);
    }

    fn go_where_it_was_said(&mut self, faces: &[FaceId], target: &Target) {
        let data = target.data();
        for &face in faces.iter().filter(|&&face| target.odd(face).is_some()) {
            let seats = self.seats_by_looks(face, target);
            let ln_weight = |seat: &&Seat| seat.ln_context + seat.ln_face;
            let best = seats.iter().max_by(|a, b| ln_weight(a).total_cmp(&ln_weight(b)));
            let home = best.and_then(|seat| seat.identity);
            if home.is_some() && home != self.state.seating.identity_of(face) {
                self.sit_down(face, home, target);
            }
        }
        for &face in faces {
            let Some(label) = data.label(face).filter(|label| label.is_word) else { continue };
            let identity = self.state.seating.identity_of(face).expect("every face is seated");
            if !self.is_name_given(identity) {
                self.state.names.set(identity, Name::Known(label.name));
            }
        }
        for &face in faces {
            if !self.agrees_on_name(face, target) {
                self.reseat(face, target);
            }
        }
        for &face in faces {
            for &(other, n_same, n_different) in data.evidence().links(face) {
                let [mine, theirs] = [face, other].map(|face| self.state.seating.identity_of(face));
                let wanted = target.model().evidence.ln_bond(n_same, n_different);
                if theirs.is_none() || (mine == theirs) == (wanted > 0.0) {
                    continue;
                }
                let bound = [face, other].map(|face| {
                    let is_word = data.label(face).is_some_and(|label| label.is_word);
                    let identity = self.state.seating.identity_of(face).expect("every face is seated");
                    (is_word, self.is_name_given(identity), self.ln_staying(face, target))
                });
                let [moves, stays] = if bound[0] <= bound[1] { [face, other] } else { [other, face] };
                if wanted > 0.0 {
                    let identity = self.state.seating.identity_of(stays);
                    self.sit_down(moves, identity, target);
                } else {
                    self.reseat(moves, target);
                }
            }
        }
    }

    /// Copies among seated faces, each with the face that speaks for it: the most like it of those who speak
    /// where it is.
    fn copies(&self, all: &[FaceId], target: &Target) -> Vec<[FaceId; 2]> {
        let is_copy = |face: FaceId| self.state.faces.scale(face) == COPY;
        let copies: Vec<FaceId> = all.iter().copied().filter(|&face| is_copy(face)).collect();
        if copies.is_empty() {
            return Vec::new();
        }
        let mut speaking = vec![Vec::new(); self.state.seating.n_slots()];
        for &face in all.iter().filter(|&&face| !is_copy(face)) {
            if let Some(identity) = self.state.seating.identity_of(face) {
                speaking[identity.index()].push(face);
            }
        }
        let embedding = |face| target.data().embedding(face);
        let with_its_own = |copy: FaceId| {
            let identity = self.state.seating.identity_of(copy)?;
            let far = |face: &FaceId| square(embedding(copy), embedding(*face));
            let nearest = speaking[identity.index()].iter().min_by(|a, b| far(a).total_cmp(&far(b)));
            nearest.map(|&own| [copy, own])
        };
        copies.into_iter().filter_map(with_its_own).collect()
    }

    /// Copies follow those who speak for them.
    fn put_with_theirs(&mut self, copies: &[[FaceId; 2]], target: &Target) {
        let mut x = Centred::default();
        for &[copy, own] in copies {
            let [from, to] = [copy, own].map(|face| self.state.seating.identity_of(face));
            if let Some(to) = to.filter(|_| from != to && self.state.faces.scale(copy) == COPY) {
                self.state.look(copy, target, &mut x);
                self.state.remove(copy, &x, target);
                self.state.insert(copy, &x, to, target);
            }
        }
    }

    /// Whether an identity has a name that was given to one of its faces.
    fn is_name_given(&self, identity: IdentityId) -> bool {
        match self.state.names.of(identity) {
            Name::Known(name) => self.state.names.heard(identity).n_given(name) > 0,
            Name::Unknown => false,
        }
    }

    /// Seats a face at an identity, or a new one.
    pub(super) fn sit_down(&mut self, face: FaceId, identity: Option<IdentityId>, target: &Target) {
        let (state, rng) = (&mut self.state, &mut self.rng);
        let mut x = Centred::default();
        state.look(face, target, &mut x);
        state.remove(face, &x, target);
        assignments::take(face, identity, &mut x, state, target, rng);
    }

    /// What a face's seats weigh, usual looks taken for granted; one that it has to itself is left out.
    fn seats_by_looks(&mut self, face: FaceId, target: &Target) -> Vec<Seat> {
        let own = self.state.seating.identity_of(face).expect("every face is seated");
        let mut x = Centred::default();
        self.state.look(face, target, &mut x);
        let is_alone = self.state.seating.n_of(own) == 1;
        if !is_alone {
            self.state.remove(face, &x, target);
        }
        x.set_odd(None);
        let mut seats = self.state.seats(face, &x, target);
        match is_alone {
            true => seats.retain(|seat| seat.identity != Some(own)),
            false => self.state.insert(face, &x, own, target),
        }
        seats
    }

    /// Whether a face's identity has the name that was said, and none that was denied.
    fn agrees_on_name(&self, face: FaceId, target: &Target) -> bool {
        let data = target.data();
        let identity = self.state.seating.identity_of(face).expect("every face is seated");
        let Name::Known(name) = self.state.names.of(identity) else {
            return data.label(face).is_none_or(|label| !label.is_word);
        };
        data.label(face).is_none_or(|label| !label.is_word || label.name == name)
            && !data.evidence().denials(face).contains(&name)
    }

    /// ln of how much more a face weighs where it sits than at the best other seat, by its looks and the
    /// others who sit there.
    fn ln_staying(&mut self, face: FaceId, target: &Target) -> f64 {
        let own = self.state.seating.identity_of(face).expect("every face is seated");
        if self.state.seating.n_of(own) == 1 {
            return f64::NEG_INFINITY;
        }
        let seats = self.seats_by_looks(face, target);
        let ln_weight = |seat: &Seat| seat.ln_context + seat.ln_face;
        let at = |is_own: bool| {
            let seats = seats.iter().filter(|seat| (seat.identity == Some(own)) == is_own);
            seats.map(ln_weight).fold(f64::NEG_INFINITY, f64::max)
        };
        at(true) - at(false)
    }

    /// Redraws the name of one identity.
    pub fn rename(&mut self, identity: IdentityId, target: &Target) {
        if self.state.names.n_known() > 0 {
            gibbs::names::redraw(identity, &mut self.state, target, &mut self.rng);
        }
    }
}

//! Frames taken in at a cost that does not grow with what was seen before.
//!
//! New faces are seated, and a bounded number of earlier ones is looked at again: some that were seated with the new
//! faces' people when they arrived, some that did not stay where they were when last looked at, and some in turn, which
//! is a sweep of everything in small pieces. Which ones does not depend on where they sit now: a face's place in
//! [`Attention`] is settled when it arrives or was last looked at, so every look is a step of the Gibbs sampler.
//! Tables, weights and names are redrawn when there are a little more faces than last time, at a cost per face that
//! stays the same.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::Chain;
use crate::gibbs::assignments::Scan;
use crate::gibbs::memo::Memo;
use crate::gibbs::{contexts, names, weights};
use crate::ids::{FaceId, FrameId, IdentityId};
use crate::model::FaceUpdate;
use crate::random::Rng;
use crate::state::State;
use crate::target::Target;

/// Weights are redrawn when so many of the faces, one in this, are new.
const GROWTH: usize = 64;
/// A face that moved is looked at again until it has stayed so many times in a row.
const LOOKS: u8 = 4;
/// So many of those are remembered at most; then the oldest is left to its turn.
const MOST_DOUBTFUL: usize = 256;

/// Which earlier faces are worth another look.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Attention {
    /// Per slot of the state, the faces that first sat there.
    met: Vec<Vec<FaceId>>,
    /// How many faces are in these lists.
    n_met: usize,
    /// Faces that have moved, the longest waiting first, with how often they must stay from now on.
    doubtful: VecDeque<(FaceId, u8)>,
    /// The face whose turn is next.
    turn: usize,
    /// With so many faces weights are redrawn.
    due: usize,
}

impl Chain {
    /// Takes in frames that have arrived since, and looks at `revisits` earlier faces again for each. What was said of
    /// earlier faces must not have changed: [`Chain::extend`] is for that.
    pub fn absorb(&mut self, revisits: usize, target: &Target) {
        self.absorb_knowing(revisits, target);
    }

    /// As [`Chain::absorb`]; returns what is known of the new faces' seats then.
    pub(super) fn absorb_knowing(&mut self, revisits: usize, target: &Target) -> Memo {
        let (model, data) = target.parts();
        let (n_faces, n_frames) = self.state.seating.size();
        self.attention.meet(n_faces, &self.state);
        self.state.lay_out(target, &mut self.rng);
        let (state, rng) = (&mut self.state, &mut self.rng);
        let mut look = Look { scan: Scan::new(target), target, state, rng };
        for frame in data.frames().skip(n_frames) {
            look.absorb(frame, revisits, &mut self.attention);
        }
        let mut memo = look.scan.memo;
        if model.face.update == FaceUpdate::Explicit {
            memo.clear();
        }
        if data.n_faces() >= self.attention.due {
            self.attention.due = data.n_faces() + data.n_faces() / GROWTH + 1;
            names::step(&mut self.state, target, &mut self.rng);
            weights::step(&mut self.state, target, &mut self.rng);
        }
        debug_assert_eq!(self.state.check(target), Ok(()));
        memo
    }
}

impl Attention {
    /// Notes where the faces up to `n_faces` sit, that have come by another way.
    fn meet(&mut self, n_faces: usize, state: &State) {
        for face in (self.n_met..n_faces).map(FaceId::new) {
            self.note(face, state.seating.identity_of(face).expect("every earlier face is seated"));
        }
    }

    fn note(&mut self, face: FaceId, identity: IdentityId) {
        if self.met.len() <= identity.index() {
            self.met.resize(identity.index() + 1, Vec::new());
        }
        self.met[identity.index()].push(face);
        self.n_met += 1;
    }

    /// A face has been looked at.
    fn looked(&mut self, face: FaceId, has_moved: bool, left: u8) {
        let left = if has_moved { LOOKS } else { left };
        if left == 0 {
            return;
        }
        if self.doubtful.len() == MOST_DOUBTFUL {
            self.doubtful.pop_front();
        }
        self.doubtful.push_back((face, left));
    }
}

/// One frame's looks at faces.
struct Look<'a> {
    scan: Scan,
    target: &'a Target,
    state: &'a mut State,
    rng: &'a mut Rng,
}

impl Look<'_> {
    fn absorb(&mut self, frame: FrameId, revisits: usize, attention: &mut Attention) {
        let target = self.target;
        let new = target.data().faces_in(frame);
        let n_before = new.first().map_or(0, |face| face.index());
        self.pass(new);
        // Again, now that all of the frame have a seat.
        let moved = self.pass(new);
        for (&face, has_moved) in new.iter().zip(moved) {
            attention.note(face, self.identity_of(face));
            attention.looked(face, has_moved, 0);
        }
        let left = revisits.min(n_before);
        // Which faces, and how often those that stay are looked at again.
        let mut chosen: Vec<(FaceId, u8)> = Vec::with_capacity(left);
        for _ in 0..(left / 4).min(attention.doubtful.len()) {
            let doubtful = attention.doubtful.pop_front();
            chosen.extend(doubtful.map(|(face, times)| (face, times - 1)));
        }
        for near in 0..(left - chosen.len()) / 2 {
            let slot = self.identity_of(new[near % new.len()]).index();
            let Some(met) = attention.met.get(slot).filter(|met| !met.is_empty()) else { continue };
            let face = met[self.rng.below(met.len())];
            if face.index() < n_before {
                chosen.push((face, 0));
            }
        }
        while chosen.len() < left {
            attention.turn = if attention.turn >= n_before { 0 } else { attention.turn };
            chosen.push((FaceId::new(attention.turn), 0));
            attention.turn += 1;
        }
        let faces: Vec<FaceId> = chosen.iter().map(|&(face, _)| face).collect();
        let moved = self.pass(&faces);
        for ((face, times), has_moved) in chosen.into_iter().zip(moved) {
            attention.looked(face, has_moved, times);
        }
        contexts::redraw(frame, self.state, target, self.rng);
        for &face in new {
            let identity = self.identity_of(face);
            self.state.faces.redraw(identity, &target.model().face, self.rng);
            if self.state.names.n_known() > 0 {
                names::redraw(identity, self.state, self.target, self.rng);
            }
        }
    }

    /// Seats faces, seated before or not; whether each has moved.
    fn pass(&mut self, faces: &[FaceId]) -> Vec<bool> {
        let mut moved = vec![false; faces.len()];
        let Self { scan, target, state, rng } = self;
        scan.pass_with(faces, state, target, rng, |at| moved[at] = true);
        moved
    }

    fn identity_of(&self, face: FaceId) -> IdentityId {
        self.state.seating.identity_of(face).expect("the face is seated")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;
    use crate::data::NewFace;
    use crate::random::driver;
    use crate::simulate::prior;

    #[test]
    fn frames_are_absorbed_in_every_mode_by_a_chain_that_has_learnt_otherwise_before() {
        for case in cases::all() {
            let mut rng = driver(6);
            let (state, mut target) = prior::draw(&case.target, &mut rng);
            let n_before = target.data().n_faces();
            let mut chain = Chain::of_state(state, driver(7));
            for frame in 0..12 {
                let mut face =
                    || -> Vec<f32> { (0..target.data().dimension()).map(|_| rng.normal() as f32).collect() };
                let (a, b) = (face(), face());
                let name = target.data().names().first().filter(|_| frame % 3 == 0).cloned();
                let faces =
                    [NewFace { embedding: &a, name: name.as_deref() }, NewFace { embedding: &b, name: None }];
                let context = target.data().contexts().first().cloned();
                target.push_frame(context.as_deref(), &faces[..1 + frame % 2]).unwrap();
                chain.absorb(8, &target);
                assert_eq!(chain.state().check(&target), Ok(()), "{}", case.name);
            }
            assert_eq!(chain.attention.n_met, target.data().n_faces());
            assert!(target.data().n_faces() > n_before);
        }
    }

    /// What is remembered is what would be worked out: the draws are those of single looks.
    #[test]
    fn what_is_known_of_a_frame_changes_no_draw() {
        for case in cases::all() {
            let mut rng = driver(8);
            let (state, mut target) = prior::draw(&case.target, &mut rng);
            let mut chains = [9, 9].map(|seed| Chain::of_state(state.clone(), driver(seed)));
            for frame in 0..8 {
                let mut face =
                    || -> Vec<f32> { (0..target.data().dimension()).map(|_| rng.normal() as f32).collect() };
                let (a, b) = (face(), face());
                let faces = [&a, &b].map(|embedding| NewFace { embedding, name: None });
                let n_before = target.data().n_faces();
                let context = target.data().contexts().first().cloned();
                target.push_frame(context.as_deref(), &faces[..1 + frame % 2]).unwrap();
                let [known, plain] = &mut chains;
                let mut seats = Vec::new();
                known.absorb_and_reseat(3, &target, |place, of| seats.push((place, of)));
                plain.absorb(0, &target);
                let mut seats = seats.into_iter();
                for _ in 0..3 {
                    for (place, face) in target.data().faces().skip(n_before).enumerate() {
                        let (at, known) = seats.next().unwrap();
                        assert_eq!(at, place);
                        let worked_out = plain.reseat(face, &target);
                        assert_eq!(known.len(), worked_out.len());
                        for (known, worked_out) in known.iter().zip(&worked_out) {
                            let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
                            assert_eq!(known.identity, worked_out.identity, "{}", case.name);
                            assert!(close(known.ln_face, worked_out.ln_face), "{}", case.name);
                            assert!(close(known.p, worked_out.p), "{}", case.name);
                        }
                        let identity = plain.state().seating().identity_of(face).unwrap();
                        plain.rename(identity, &target);
                    }
                }
                assert!(seats.next().is_none());
            }
        }
    }

    #[test]
    fn a_face_that_moved_is_looked_at_until_it_stays() {
        let mut attention = Attention::default();
        let face = FaceId(3);
        attention.looked(face, true, 0);
        for left in (1..LOOKS).rev() {
            let (again, times) = attention.doubtful.pop_front().unwrap();
            assert_eq!((again, times), (face, left + 1));
            attention.looked(again, false, times - 1);
        }
        let (_, times) = attention.doubtful.pop_front().unwrap();
        attention.looked(face, false, times - 1);
        assert!(attention.doubtful.is_empty());
        (0..2 * MOST_DOUBTFUL).for_each(|face| attention.looked(FaceId::new(face), true, 0));
        assert_eq!(attention.doubtful.len(), MOST_DOUBTFUL);
    }
}

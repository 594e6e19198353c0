//! Frames taken in at a cost that does not grow with what was seen before.
//!
//! New faces are seated, and a bounded number of earlier ones is looked at again: some that were seated with
//! the new faces' people when they arrived, and some in turn, which is a sweep of everything in small pieces.
//! Which ones does not depend on where they sit now: a face's place in [`Attention`] is settled when it
//! arrives, so every look is a step of the Gibbs sampler. (To look sooner at faces that have just moved is
//! tempting and wrong: a face that has taken its less probable seat would be hurried back from it, and doubt
//! understated many times.) Tables, weights and names are redrawn when there are a little more faces than
//! last time, at a cost per face that stays the same.

use serde::{Deserialize, Serialize};

use super::Chain;
use crate::gibbs::scan::{Memo, Scan};
use crate::gibbs::{contexts, names, weights};
use crate::ids::{FaceId, FrameId, IdentityId};
use crate::model::FaceUpdate;
use crate::random::Rng;
use crate::state::State;
use crate::target::Target;

/// Weights are redrawn when so many of the faces, one in this, are new.
const GROWTH: usize = 64;

/// Which earlier faces are worth another look.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Attention {
    /// Per slot of the state, the faces that first sat there.
    met: Vec<Vec<FaceId>>,
    /// How many faces are in these lists.
    n_met: usize,
    /// The face whose turn is next.
    turn: usize,
    /// With so many faces weights are redrawn.
    due: usize,
}

impl Chain {
    /// Takes in frames that have arrived since, and looks at `revisits` earlier faces again for each. What
    /// was said of earlier faces must not have changed: [`Chain::extend`] is for that.
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
        self.pass(new);
        for &face in new {
            attention.note(face, self.identity_of(face));
        }
        self.look_back(new, n_before, revisits, attention);
        contexts::redraw(frame, self.state, target, self.rng);
        for &face in new {
            let identity = self.identity_of(face);
            self.state.faces.redraw(identity, &target.model().face, self.rng);
            if self.state.names.n_known() > 0 {
                names::redraw(identity, self.state, self.target, self.rng);
            }
        }
    }

    /// Looks at so many of the earlier faces again: half of them near the new ones, the others in turn.
    fn look_back(&mut self, new: &[FaceId], n_before: usize, revisits: usize, attention: &mut Attention) {
        let left = revisits.min(n_before);
        let mut chosen: Vec<FaceId> = Vec::with_capacity(left);
        for near in 0..left / 2 {
            let slot = self.identity_of(new[near % new.len()]).index();
            let Some(met) = attention.met.get(slot).filter(|met| !met.is_empty()) else { continue };
            let face = met[self.rng.below(met.len())];
            if face.index() < n_before {
                chosen.push(face);
            }
        }
        while chosen.len() < left {
            attention.turn = if attention.turn >= n_before { 0 } else { attention.turn };
            chosen.push(FaceId::new(attention.turn));
            attention.turn += 1;
        }
        self.pass(&chosen);
    }

    /// Seats faces, seated before or not.
    fn pass(&mut self, faces: &[FaceId]) {
        self.scan.pass(faces, self.state, self.target, self.rng);
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

    /// Over the same faces again and again, weights as they are: every face is where it is as often as with
    /// looks at all faces in turn, those in doubt too.
    #[test]
    fn faces_in_doubt_sit_where_they_do_as_often_as_in_plain_scans() {
        let case = cases::named("given");
        let mut target = case.target.clone();
        // Two people, and faces between them, nearer and nearer to the second.
        for face in target.data().faces() {
            let x = [0.0, 4.0, 0.0, 4.0, 1.2, 1.6, 2.0][face.index()];
            target.set_embedding(face, &[x, 0.3 * (face.index() % 3) as f32, 0.0]);
        }
        let mut start = crate::chain::Start::Sequential.state(&target, &mut driver(1));
        crate::gibbs::weights::step(&mut start, &target, &mut driver(2));
        let rounds = 40_000;
        let shares = |look_back: bool| -> Vec<f64> {
            let (mut state, mut rng) = (start.clone(), driver(3));
            let mut attention = Attention::default();
            attention.meet(target.data().n_faces(), &state);
            let faces: Vec<FaceId> = target.data().faces().collect();
            let (earlier, new) = faces.split_at(faces.len() - 1);
            let mut together = vec![0.0; faces.len()];
            for _ in 0..rounds {
                let mut look =
                    Look { scan: Scan::new(&target), target: &target, state: &mut state, rng: &mut rng };
                if look_back {
                    look.pass(new);
                    look.look_back(new, earlier.len(), 6, &mut attention);
                } else {
                    look.pass(&faces);
                }
                let first = state.seating.identity_of(FaceId(0));
                let is_there = faces.iter().map(|&face| state.seating.identity_of(face) == first);
                together.iter_mut().zip(is_there).for_each(|(n, is)| *n += f64::from(u8::from(is)));
            }
            together.iter().map(|n| n / f64::from(rounds)).collect()
        };
        let (wanted, found) = (shares(false), shares(true));
        assert!(wanted.iter().any(|p| (0.03..0.3).contains(p)), "nobody is in doubt: {wanted:?}");
        for (face, (wanted, found)) in wanted.iter().zip(&found).enumerate() {
            let sd = (wanted * (1.0 - wanted) / f64::from(rounds)).sqrt();
            assert!((wanted - found).abs() < 0.002 + 12.0 * sd, "face {face}: {found}, wanted {wanted}");
        }
    }
}

//! Identity assignments `z_n`: one Gibbs scan over the faces (§C.2).
//!
//! A scan looks at a block of faces at once: cheap upper bounds of all their seats' weights ([`Screen`], `seats.rs`) leave
//! a few seats per face that have to be weighed (`shortlist.rs`), and the draw is as if all had been. When a face moves,
//! the bounds of the two identities are worked out anew for the faces of the block that are still to come.

use super::memo::Memo;
use super::seats::{Seats, rounded_up};
use super::shortlist::Shortlist;
use crate::ids::{FaceId, IdentityId};
use crate::math::ln_sum_exp;
use crate::model::face::{Centred, FaceKind, Group, PerScale, Screen};
use crate::model::{FaceUpdate, Model};
use crate::random::Rng;
use crate::state::State;
use crate::target::Target;

/// So many faces are looked at together.
const BLOCK: usize = 32;
/// For fewer faces the bounds of identities with a covariance of their own cost more than they save.
const FEW: usize = 8;

/// Reseats every face in turn; returns how many changed their identity.
pub fn step(state: &mut State, target: &Target, rng: &mut Rng) -> usize {
    let faces: Vec<FaceId> = target.data().faces().collect();
    Scan::new(target).pass(&faces, state, target, rng)
}

/// What a scan keeps between faces, to allocate nothing on the way.
pub struct Scan {
    nobody: Group,
    /// The faces of the block.
    block: Vec<Centred>,
    screen: Screen,
    seats: Seats,
    /// Upper bounds of the ln weights of a face's seats.
    bounds: Vec<f32>,
    /// What was said of a face, per seat.
    said: Vec<f64>,
    shortlist: Shortlist,
    /// Rows still to come whose faces are not of an identity that changed.
    others: Vec<usize>,
    /// ln weights of all seats, where there are no bounds, and what is known of them.
    ln_weights: Vec<f64>,
    pub(crate) memo: Memo,
    #[cfg(test)]
    audit: Option<tests::Audit>,
    /// The bounds before the draw.
    #[cfg(test)]
    screen_bounds: Vec<f32>,
}

impl Scan {
    /// Ready for the first face.
    pub fn new(target: &Target) -> Self {
        let model = target.model();
        Self {
            nobody: model.face.group(),
            block: Vec::new(),
            screen: Screen::new(&model.face),
            seats: Seats::default(),
            bounds: Vec::new(),
            said: Vec::new(),
            shortlist: Shortlist::default(),
            others: Vec::new(),
            ln_weights: Vec::new(),
            memo: Memo::default(),
            #[cfg(test)]
            audit: None,
            #[cfg(test)]
            screen_bounds: Vec::new(),
        }
    }

    /// Seats a face alone, at a new identity.
    pub(crate) fn seat_apart(
        &mut self,
        face: FaceId,
        state: &mut State,
        target: &Target,
        rng: &mut Rng,
    ) -> IdentityId {
        let x = self.look(face, state, target);
        let identity = state.open(face, x, target, rng);
        state.insert(face, x, identity, target);
        identity
    }

    /// Seats a face at a given identity.
    pub(crate) fn seat_at(&mut self, face: FaceId, identity: IdentityId, state: &mut State, target: &Target) {
        let x = self.look(face, state, target);
        state.insert(face, x, identity, target);
    }

    fn look(&mut self, face: FaceId, state: &State, target: &Target) -> &Centred {
        self.block.resize_with(1, Centred::default);
        state.look(face, target, &mut self.block[0]);
        &self.block[0]
    }

    /// Seats faces one after the other, each given all others, whether it was seated before or not; returns how many
    /// have another identity than before.
    pub fn pass(&mut self, faces: &[FaceId], state: &mut State, target: &Target, rng: &mut Rng) -> usize {
        let mut n_moved = 0;
        self.pass_with(faces, state, target, rng, |_| n_moved += 1);
        n_moved
    }

    /// As [`Scan::pass`]; `moved` is told which of the faces, by their places in the list, have another identity.
    pub(crate) fn pass_with(
        &mut self,
        faces: &[FaceId],
        state: &mut State,
        target: &Target,
        rng: &mut Rng,
        mut moved: impl FnMut(usize),
    ) {
        let model = target.model();
        let is_dear = faces.len() < FEW && matches!(model.face.kind, FaceKind::Full(_));
        let is_screened = model.face.update == FaceUpdate::Collapsed && !is_dear;
        if is_screened || model.face.update == FaceUpdate::Explicit {
            self.memo.clear();
        }
        if is_screened {
            let identities = state.seating.identities().iter();
            self.screen.set_columns(identities.map(|&i| state.faces.group(i)), &model.face);
            self.seats.clear();
        }
        for (number, faces) in faces.chunks(BLOCK).enumerate() {
            let mut block = std::mem::take(&mut self.block);
            block.resize_with(faces.len(), Centred::default);
            for (x, &face) in block.iter_mut().zip(faces) {
                state.look(face, target, x);
            }
            if is_screened {
                let identities = state.seating.identities();
                self.screen.look(&block, |place| state.faces.group(identities[place]), &model.face);
            } else if is_dear {
                self.remember(faces, &block, state, model);
            }
            for (row, (x, &face)) in block.iter_mut().zip(faces).enumerate() {
                // It may have got another since, if it stands in the list twice.
                x.set_scale(state.faces.scale(face));
                let has_moved = if is_screened {
                    self.seat_screened(row, faces, x, state, target, rng)
                } else {
                    self.seat_plainly(face, x, state, target, rng)
                };
                if has_moved {
                    moved(number * BLOCK + row);
                }
            }
            self.block = block;
        }
    }

    /// Weighs faces that have no seat yet, identity by identity: one that is at hand is weighed with several faces as
    /// fast as with one.
    fn remember(&mut self, faces: &[FaceId], block: &[Centred], state: &State, model: &Model) {
        for &identity in state.seating.identities() {
            let unseated =
                faces.iter().zip(block).filter(|(face, _)| state.seating.identity_of(**face).is_none());
            for (&face, x) in unseated {
                self.memo.ln_face(face, identity, || state.faces.ln_weight(identity, x, &model.face));
            }
        }
    }

    fn seat_plainly(
        &mut self,
        face: FaceId,
        x: &mut Centred,
        state: &mut State,
        target: &Target,
        rng: &mut Rng,
    ) -> bool {
        // From here on every count is the paper's "-n".
        let before = state.seating.identity_of(face).map(|_| state.remove(face, x, target));
        weigh(face, x, &self.nobody, state, target, &mut self.memo, &mut self.ln_weights);
        let drawn = rng.categorical_ln(&mut self.ln_weights);
        let seat = state.seating.identities().get(drawn).copied();
        let identity = take(face, seat, x, &self.nobody, state, target, rng);
        self.memo.moved(face, before, identity);
        before != Some(identity)
    }

    #[allow(clippy::too_many_arguments)]
    fn seat_screened(
        &mut self,
        row: usize,
        faces: &[FaceId],
        x: &mut Centred,
        state: &mut State,
        target: &Target,
        rng: &mut Rng,
    ) -> bool {
        let (model, data) = target.parts();
        let face = faces[row];
        let (scale, context) = (x.scale(), state.context_of_face(face, data));
        let place = state.seating.identity_of(face).map(|identity| state.seating.place_of(identity));
        let n_identities = state.seating.n_identities();
        self.seats.make(context, state);
        let rejoining = state
            .seating
            .identity_of(face)
            .and_then(|identity| model.face.rejoining(state.faces.group(identity), x));
        // From here on every count is the paper's "-n". Where it is costly to take a face out of the statistics, they
        // keep it until it is known to move: few do.
        let before = place.map(|_| match rejoining {
            Some(_) => state.lift(face, data),
            None => state.remove(face, x, target),
        });
        let has_emptied = state.seating.n_identities() < n_identities;
        if let Some(place) = place.filter(|_| has_emptied) {
            self.screen.close(place, row);
            self.seats.close(place);
        }
        let left = place.filter(|_| !has_emptied);
        let drawn = self.draw(row, left, rejoining.as_ref(), face, x, state, target, rng);
        let seat = state.seating.identities().get(drawn).copied();
        let identity = match (rejoining, before) {
            (Some(mut terms), Some(own)) if seat == Some(own) => {
                let to = rng.categorical_ln(&mut terms) as u8;
                if to != scale {
                    state.faces.rescale(face, own, x, to, &model.face);
                }
                state.set_down(face, own, data);
                own
            }
            (rejoining, before) => {
                if let Some(own) = before.filter(|_| rejoining.is_some()) {
                    state.faces.forget(own, x, &model.face);
                }
                take(face, seat, x, &self.nobody, state, target, rng)
            }
        };
        // The faces still to come are to know the identities that changed, but for the faces of these: what they weigh
        // where they sit is worked out exactly when their turn comes.
        if seat.is_none() {
            self.find_others(row, faces, identity, state);
            self.screen.open(state.faces.group(identity), &model.face, &self.others);
            self.seats.open(state);
        }
        let joined = state.seating.place_of(identity);
        let has_moved = Some(joined) != left;
        if let Some(left) = left.filter(|_| has_moved) {
            let identity = state.seating.identities()[left];
            self.find_others(row, faces, identity, state);
            self.screen.refresh(left, state.faces.group(identity), &model.face, &self.others);
            self.seats.refresh(context, left, state);
        }
        if seat.is_some() && (has_moved || x.scale() != scale) {
            self.find_others(row, faces, identity, state);
            self.screen.refresh(joined, state.faces.group(identity), &model.face, &self.others);
            self.seats.refresh(context, joined, state);
        }
        before != Some(identity)
    }

    /// Finds the rows still to come whose faces are not of an identity.
    fn find_others(&mut self, row: usize, faces: &[FaceId], identity: IdentityId, state: &State) {
        let is_other = |&row: &usize| state.seating.identity_of(faces[row]) != Some(identity);
        self.others.clear();
        self.others.extend((row + 1..faces.len()).filter(is_other));
    }

    /// Draws the place of a face that is not seated, by the weights of [`ln_weights`]. The bound of the place that it
    /// left, if that is still there, is of the time when it sat there; `rejoining` is its weight there per scale, if
    /// the statistics still have the face.
    #[allow(clippy::too_many_arguments)]
    fn draw(
        &mut self,
        row: usize,
        left: Option<usize>,
        rejoining: Option<&PerScale>,
        face: FaceId,
        x: &Centred,
        state: &State,
        target: &Target,
        rng: &mut Rng,
    ) -> usize {
        let Self { nobody, screen, seats, bounds, said, shortlist, .. } = self;
        let context = state.context_of_face(face, target.data());
        let identities = state.seating.identities();
        bounds.clear();
        bounds.extend(screen.bounds(row).iter().zip(seats.row(context)).map(|(face, seat)| face + seat));
        let has_said = state.says_anything(face, target);
        if has_said {
            said.clear();
            said.resize(identities.len() + 1, 0.0);
            state.weigh_statements(face, target, said);
            state.weigh_frame(face, target, said);
            for (bound, &said) in bounds.iter_mut().zip(&*said) {
                *bound += rounded_up(said);
            }
        }
        let said = |place: usize| if has_said { said[place] } else { 0.0 };
        let exactly = |place: usize| {
            let identity = identities[place];
            let of_face = match rejoining.filter(|_| Some(place) == left) {
                Some(terms) => ln_sum_exp(terms),
                None => state.faces.ln_weight(identity, x, &target.model().face),
            };
            state.ln_seat(context, identity) + said(place) + of_face
        };
        let new = identities.len();
        let ln_new = state.ln_new_seat(context) + said(new) + target.model().face.ln_predictive(nobody, x);
        let likely = left.or_else(|| highest(bounds)).map_or((new, ln_new), |place| (place, exactly(place)));
        let known = [(new, ln_new), likely];
        let known = if likely.0 == new { &known[..1] } else { &known };
        #[cfg(test)]
        self.screen_bounds.clone_from(bounds);
        let drawn = shortlist.draw(known, bounds, exactly, rng);
        #[cfg(test)]
        self.audit(left, rejoining.is_some(), face, x, state, target);
        drawn
    }
}

fn highest(bounds: &[f32]) -> Option<usize> {
    (0..bounds.len()).max_by(|&a, &b| bounds[a].total_cmp(&bounds[b]))
}

/// Seats a face at a drawn identity, or at a new one, with a scale drawn given that.
#[allow(clippy::too_many_arguments)]
pub(crate) fn take(
    face: FaceId,
    seat: Option<IdentityId>,
    x: &mut Centred,
    nobody: &Group,
    state: &mut State,
    target: &Target,
    rng: &mut Rng,
) -> IdentityId {
    target.model().face.draw_scale(seat.map_or(nobody, |identity| state.faces.group(identity)), x, rng);
    let identity = seat.unwrap_or_else(|| state.open(face, x, target, rng));
    state.insert(face, x, identity, target);
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
    target: &Target,
    out: &mut Vec<f64>,
) {
    weigh(face, x, nobody, state, target, &mut Memo::default(), out);
}

/// [`ln_weights`], where what a face says of identities may be known already.
#[allow(clippy::too_many_arguments)]
fn weigh(
    face: FaceId,
    x: &Centred,
    nobody: &Group,
    state: &State,
    target: &Target,
    memo: &mut Memo,
    out: &mut Vec<f64>,
) {
    let frame = target.data().frame_of(face);
    let context = state.seating.context_of(frame);
    out.clear();
    for &identity in state.seating.identities() {
        out.push(state.ln_seat(context, identity));
    }
    out.push(state.ln_new_seat(context) + target.model().face.ln_predictive(nobody, x));

    state.weigh_statements(face, target, out);
    state.weigh_frame(face, target, out);
    for (weight, &identity) in out.iter_mut().zip(state.seating.identities()) {
        *weight += memo.ln_face(face, identity, || state.faces.ln_weight(identity, x, &target.model().face));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;
    use crate::data::{Dataset, Embeddings};
    use crate::gibbs::weights;
    use crate::ids::FrameId;
    use crate::model::{FaceModel, Full, FullPrior, Isotropic, LocalConcentration, Strength};
    use crate::random::driver;
    use crate::simulate::prior;

    /// How the seats that a scan weighs compare with all seats, weighed plainly.
    #[derive(Default)]
    pub(super) struct Audit {
        weighed: usize,
        all: usize,
    }

    impl Scan {
        #[allow(clippy::too_many_arguments)]
        pub(super) fn audit(
            &mut self,
            left: Option<usize>,
            is_lifted: bool,
            face: FaceId,
            x: &Centred,
            state: &State,
            target: &Target,
        ) {
            let Some(audit) = &mut self.audit else { return };
            let (mut plain, mut state) = (Vec::new(), state.clone());
            if let Some(left) = left.filter(|_| is_lifted) {
                state.faces.forget(state.seating.identities()[left], x, &target.model().face);
            }
            ln_weights(face, x, &self.nobody, &state, target, &mut plain);
            let Self { shortlist, screen_bounds, .. } = self;
            let n_seats = plain.len();
            for (place, ln_weight) in shortlist.weighed() {
                assert!((plain[place] - ln_weight).abs() < 1e-9, "{face:?}: {} {ln_weight}", plain[place]);
            }
            for (place, (bound, ln_weight)) in screen_bounds.iter().zip(&plain).enumerate() {
                let is_stale = Some(place) == left;
                assert!(
                    is_stale || f64::from(*bound) >= *ln_weight,
                    "{face:?}: {bound} is below {ln_weight}"
                );
            }
            audit.weighed += shortlist.weighed().count();
            audit.all += n_seats;
        }
    }

    /// Scans with an audit; how many faces moved.
    fn audited(state: &mut State, target: &Target, rng: &mut Rng) -> (usize, Audit) {
        let faces: Vec<FaceId> = target.data().faces().collect();
        let mut scan = Scan::new(target);
        scan.audit = Some(Audit::default());
        let moved = scan.pass(&faces, state, target, rng);
        (moved, scan.audit.expect("it was put there"))
    }

    #[test]
    fn bounds_are_above_the_weights_in_any_mode() {
        for case in cases::all() {
            for seed in 0..4 {
                let mut rng = driver(700 + seed);
                let (mut state, target) = prior::draw(&case.target, &mut rng);
                for _ in 0..4 {
                    audited(&mut state, &target, &mut rng);
                    state.check(&target).unwrap();
                }
            }
        }
    }

    /// 40 dimensions, 240 faces in frames of one to three, two contexts.
    fn crowd(face: FaceModel) -> Target {
        let mut model = Model::new(face);
        model.identity.global_concentration = Strength::Fixed(30.0);
        model.identity.local_concentration = LocalConcentration::Shared(Strength::Fixed(20.0));
        let frames: Vec<FrameId> = (0..120).flat_map(|m| vec![FrameId(m); 1 + m as usize % 3]).collect();
        let context = |m: usize| Some(["home", "work"][m % 2].to_owned());
        let contexts: Vec<_> = (0..120).map(context).collect();
        let names = vec![None; frames.len()];
        let embeddings = Embeddings::new(vec![0.0; 40 * frames.len()], 40).unwrap();
        model.repeat = 1.0;
        Target::new(model, Dataset::new(embeddings, frames, &contexts, &names).unwrap()).unwrap()
    }

    #[test]
    fn few_seats_of_a_crowd_are_weighed() {
        let isotropic = Isotropic { mean: vec![0.01; 40], kappa: 0.2, shape: 40.0, rate: 40.0 * 1e-3 };
        let unit = |r: usize, c: usize| f64::from(u8::from(r == c)) + if r == c + 1 { 0.3 } else { 0.0 };
        let full = FullPrior {
            mean: vec![0.2; 40],
            transform: (0..1600).map(|cell| unit(cell / 40, cell % 40)).collect(),
            between: [[40.0; 16], [20.0; 16]].concat().into_iter().chain([10.0; 8]).collect(),
            freedom: 122.0,
            power: 0.5,
            spread: 0.367,
        };
        for face in [FaceModel::isotropic(isotropic), FaceModel::full(Full::new(full))] {
            let mut rng = driver(71);
            let (mut state, target) = prior::draw(&crowd(face), &mut rng);
            let mut model = target.model().clone();
            model.repeat = 0.01;
            let target = target.with_model(model).unwrap();
            // Everybody apart: identities empty, arrive and grow.
            let mut scan = Scan::new(&target);
            let faces: Vec<FaceId> = target.data().faces().collect();
            for &face in &faces {
                let x = scan.look(face, &state, &target).clone();
                state.remove(face, &x, &target);
                scan.seat_apart(face, &mut state, &target, &mut rng);
            }
            let mut all = Audit::default();
            for sweep in 0..5 {
                let (moved, audit) = audited(&mut state, &target, &mut rng);
                assert!(sweep > 0 || moved > 100, "{moved} moved");
                all.weighed += audit.weighed;
                all.all += audit.all;
                weights::step(&mut state, &target, &mut rng);
                state.check(&target).unwrap();
            }
            assert!(5 * all.weighed < all.all, "{} weighed of {}", all.weighed, all.all);
        }
    }

    /// Enough work that idle threads help with it.
    #[test]
    fn threads_change_no_draw() {
        let (n_people, each, d) = (64, 24, 64);
        let mut rng = driver(72);
        let prior = FullPrior {
            mean: vec![0.0; d],
            transform: (0..d * d).map(|cell| f64::from(u8::from(cell / d == cell % d))).collect(),
            between: vec![1.0; d],
            freedom: 3.0 * d as f64,
            power: 0.5,
            spread: 0.367,
        };
        let model = Model::new(FaceModel::full(Full::new(prior)));
        let people: Vec<f32> = (0..n_people * d).map(|_| rng.normal() as f32).collect();
        let person = |face: usize| &people[face % n_people * d..][..d];
        let faces = (0..n_people * each).flat_map(person).map(|x| x + rng.normal() as f32).collect();
        let frames = (0..n_people * each).map(FrameId::new).collect();
        let nothing = vec![None; n_people * each];
        let embeddings = Embeddings::new(faces, d).unwrap();
        let data = Dataset::new(embeddings, frames, &nothing, &nothing).unwrap();
        let target = Target::new(model, data).unwrap();
        let chain = |n_threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| {
                let mut rng = driver(73);
                let mut state = State::empty(&target);
                state.extend(&target, &mut rng);
                let faces: Vec<FaceId> = target.data().faces().collect();
                Scan::new(&target).pass(&faces, &mut state, &target, &mut rng);
                for _ in 0..2 {
                    step(&mut state, &target, &mut rng);
                }
                state
            })
        };
        let alone = chain(1);
        assert!(alone.seating().n_identities() < 2 * n_people, "{}", alone.seating().n_identities());
        assert_eq!(alone, chain(3));
    }
}

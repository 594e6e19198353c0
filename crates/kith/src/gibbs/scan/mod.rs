//! The scan over the faces, fast: the draws of [`super::assignments::step_plainly`], a few seats of each face
//! weighed.
//!
//! This is all that a scan does:
//!
//! ```text
//! for face in faces {
//!     state.remove(face);                                // counts are the paper's "-n"
//!     let ln_weights = seats.map(|seat| ln_context(seat) + ln_said(seat) + ln_face(seat));
//!     let seat = categorical(ln_weights);
//!     state.insert(face, seat);
//! }
//! ```
//!
//! and the trouble is `ln_face`: with N faces, I identities and D dimensions a scan takes N I D
//! multiplications where an identity has one variance, and N I D^2 where it has a covariance. Nearly all of
//! them are spent on seats that weigh exp(-100) of the best. The scan here differs from those lines by six
//! steps, none of which changes the law of a draw:
//!
//! 1. **Upper bounds for a block of faces** (`screen.rs`). The predictive density is a Student t: a constant,
//!    less a multiple of ln (1 + a), a the squared distance to the identity's mean. Of 32 faces at once the
//!    distances to all means are one product of matrices in `f32`, and a rational function stands for the
//!    logarithm. The result is not the density, but never below it: distances are rounded down, constants up,
//!    by more than `f32` can lose. It buys a factor of ten to thirty over a dot product in `f64` per seat.
//! 2. **One number for a covariance.** Where an identity has a covariance of its own, a distance says how
//!    far, but not in which direction. The quadratic form is at least the squared distance over the largest
//!    eigenvalue, and the Frobenius norm of the scatter, kept up to date by every move, is an upper bound of
//!    that. Beside it every residual counts under the common covariance too, which distances give exactly.
//!    Together they leave few identities to weigh by their D^2 numbers; before, all were.
//! 3. **Seats' weights in a table** (`seats.rs`). ln (N_ci + alpha_c pi_0i) costs a logarithm per seat. A
//!    table per context keeps it in `f32`, rounded up, and only the one or two entries that a move changes
//!    are worked out anew. A face's own place is out of date by one while the face is lifted, and is never
//!    bounded: it is weighed exactly (step 5).
//! 4. **Rejection** (`shortlist.rs`). From upper bounds a draw can be exact: a seat is proposed in proportion
//!    to its bound, weighed in `f64`, and taken with the probability weight / bound; otherwise its weight
//!    stands for its bound from now on, and the next is proposed. No bound is ever taken for a weight, so a
//!    loose bound costs time and not truth: a seat is weighed as seldom as its bound is small. Of 5,000 seats
//!    some ten are weighed. Most of these need not be weighed to the end: a few axes bound a weight more
//!    closely than one number does, and where the closer bound is below what the seat would be taken for, the
//!    proposal is refused and the closer bound stands.
//! 5. **Faces that stay are not taken out** (`seat_screened`). To remove a face from a covariance and put it
//!    back is two updates of D^2. What the other faces say of it follows in closed form from the statistics
//!    that still have it (`rejoining`), so they are only touched when the face moves, and few do.
//! 6. **Refreshing what changed.** When a face moves, two identities change. Their bounds are worked out anew
//!    for the faces of the block that are still to come, except for their own members, whose seat there is
//!    weighed exactly in any case. The bounds of all others stay true, since nobody left or joined them.
//!
//! A handful of faces with covariances (a frame of a stream) is seated without bounds, which would cost more
//! than they save; what each says of an identity that nobody left or joined is remembered between looks
//! (`memo.rs`).
//!
//! The tests scan with an `Observer` that compares every bound and every weight of whole scans with
//! [`super::assignments::ln_weights`].

mod memo;
mod screen;
mod seats;
mod shortlist;
#[cfg(test)]
mod tests;

pub(crate) use memo::Memo;
pub(crate) use screen::Screen;

use std::sync::atomic::{AtomicBool, Ordering};

use self::seats::{Seats, rounded_up};
use self::shortlist::Shortlist;
use super::assignments;
use crate::ids::{ContextId, FaceId, IdentityId};
use crate::math::ln_sum_exp;
use crate::model::FaceUpdate;
use crate::model::face::{Centred, PerScale, Weight};
use crate::random::Rng;
use crate::state::State;
use crate::target::Target;

/// So many faces are looked at together.
const BLOCK: usize = 32;

/// Whoever watches a scan: which faces moved and, for tests, how they were drawn.
pub(crate) trait Observer {
    /// A face has another identity than before; `at` is its place in the list.
    fn moved(&mut self, at: usize);
    /// Whether the faces that follow are to stay where they are.
    fn is_stopped(&self) -> bool {
        false
    }
    /// The upper bounds of a face's seats, before its draw.
    fn bounded(&mut self, _upper_bounds: &[f32]) {}
    /// A seat was drawn for a face: the places of the seats that were weighed for it, and their ln weights.
    fn drew(&mut self, _lifted: &Lifted, _x: &Centred, _state: &State, _weighed: (&[usize], &[f64])) {}
}

/// Counts moves, and breaks off when it is told to.
struct Stoppable<'a> {
    stop: &'a AtomicBool,
    n_moved: &'a mut usize,
}

impl Observer for Stoppable<'_> {
    fn moved(&mut self, _: usize) {
        *self.n_moved += 1;
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// What a scan keeps between faces, to allocate nothing on the way.
pub(crate) struct Scan {
    /// The faces of the block.
    block: Vec<Centred>,
    screen: Screen,
    seats: Seats,
    /// Upper bounds of the ln weights of a face's seats.
    upper_bounds: Vec<f32>,
    /// What was said of a face, per seat.
    said: Vec<f64>,
    shortlist: Shortlist,
    /// Rows still to come whose faces are not of an identity that changed.
    others: Vec<usize>,
    /// What is known of a few faces that are seated without bounds.
    pub(crate) memo: Memo,
}

/// A face off its seat.
pub(crate) struct Lifted {
    face: FaceId,
    /// Its row in the block.
    row: usize,
    context: ContextId,
    /// The identity that it left.
    before: Option<IdentityId>,
    /// Where that is, if others are still there: its bound is of the time when the face sat there.
    left: Option<usize>,
    /// The weight there per scale, if the statistics still have the face.
    rejoining: Option<PerScale>,
}

/// Where a lifted face was set down.
struct Joined {
    identity: IdentityId,
    is_new: bool,
    is_rescaled: bool,
}

impl Scan {
    /// Ready for the first face.
    pub fn new(target: &Target) -> Self {
        Self {
            block: Vec::new(),
            screen: Screen::new(&target.model().face),
            seats: Seats::default(),
            upper_bounds: Vec::new(),
            said: Vec::new(),
            shortlist: Shortlist::default(),
            others: Vec::new(),
            memo: Memo::default(),
        }
    }

    /// Seats faces one after the other, each given all others, whether it was seated before or not; returns
    /// how many have another identity than before.
    pub fn pass(&mut self, faces: &[FaceId], state: &mut State, target: &Target, rng: &mut Rng) -> usize {
        self.pass_unless(&AtomicBool::new(false), faces, state, target, rng)
    }

    /// The same, broken off soon after being told to: faces that follow stay where they are.
    pub fn pass_unless(
        &mut self,
        stop: &AtomicBool,
        faces: &[FaceId],
        state: &mut State,
        target: &Target,
        rng: &mut Rng,
    ) -> usize {
        let mut n_moved = 0;
        let mut observer = Stoppable { stop, n_moved: &mut n_moved };
        self.pass_with(faces, state, target, rng, &mut observer);
        n_moved
    }

    /// As [`Scan::pass`], watched.
    pub fn pass_with(
        &mut self,
        faces: &[FaceId],
        state: &mut State,
        target: &Target,
        rng: &mut Rng,
        observer: &mut impl Observer,
    ) {
        let face_model = &target.model().face;
        let is_collapsed = face_model.update == FaceUpdate::Collapsed;
        let is_screened = is_collapsed && faces.len() >= face_model.fewest_to_bound();
        if is_screened || !is_collapsed {
            self.memo.clear();
        }
        if is_screened {
            let identities = state.seating.identities().iter();
            self.screen.set_columns(identities.map(|&i| state.faces.group(i)), face_model);
            self.seats.clear();
        }
        for (number, faces) in faces.chunks(BLOCK).enumerate() {
            if observer.is_stopped() {
                break;
            }
            let mut block = std::mem::take(&mut self.block);
            block.resize_with(faces.len(), Centred::default);
            for (x, &face) in block.iter_mut().zip(faces) {
                state.look(face, target, x);
            }
            if is_screened {
                self.screen.look(&block);
            } else if is_collapsed {
                self.remember(faces, &block, state, target);
            }
            for (row, (x, &face)) in block.iter_mut().zip(faces).enumerate() {
                // It may have got another since, if it stands in the list twice.
                x.set_scale(state.faces.scale(face));
                let has_moved = if is_screened {
                    let lifted = self.lift(row, face, x, state, target);
                    let seat = self.draw((&lifted, x), state, target, rng, observer);
                    let joined = set_down(&lifted, seat, x, state, target, rng);
                    self.refresh(&lifted, &joined, faces, state, target);
                    lifted.before != Some(joined.identity)
                } else {
                    self.seat_plainly(face, x, state, target, rng)
                };
                if has_moved {
                    observer.moved(number * BLOCK + row);
                }
            }
            self.block = block;
        }
    }

    /// Weighs faces that have no seat yet, identity by identity: one that is at hand is weighed with several
    /// faces as fast as with one.
    fn remember(&mut self, faces: &[FaceId], block: &[Centred], state: &State, target: &Target) {
        for &identity in state.seating.identities() {
            let unseated =
                faces.iter().zip(block).filter(|(face, _)| state.seating.identity_of(**face).is_none());
            for (&face, x) in unseated {
                self.memo.ln_face(face, identity, || state.ln_face(identity, x, target));
            }
        }
    }

    /// [`assignments::reseat`], where what a face says of identities may be known already.
    fn seat_plainly(
        &mut self,
        face: FaceId,
        x: &mut Centred,
        state: &mut State,
        target: &Target,
        rng: &mut Rng,
    ) -> bool {
        let before = state.seating.identity_of(face).map(|_| state.remove(face, x, target));
        let memo = &mut self.memo;
        let known = |i| memo.ln_face(face, i, || state.ln_face(i, x, target));
        let seats = state.seats_with(face, x, target, known);
        let identity = assignments::take(face, assignments::draw(face, &seats, rng), x, state, target, rng);
        self.memo.moved(face, before, identity);
        before != Some(identity)
    }

    /// Takes a face off its seat, if it has one; from here on every count is the paper's "-n".
    fn lift(&mut self, row: usize, face: FaceId, x: &Centred, state: &mut State, target: &Target) -> Lifted {
        let context = state.context_of_face(face, target.data());
        // Of the counts as they are: what the face leaves is refreshed, or weighed exactly.
        self.seats.make(context, state);
        let Some(own) = state.seating.identity_of(face) else {
            return Lifted { face, row, context, before: None, left: None, rejoining: None };
        };
        let place = state.seating.place_of(own);
        let is_alone = state.seating.n_of(own) == 1;
        let rejoining = target.model().face.rejoining(state.faces.group(own), x);
        // Where it is costly to take a face out of the statistics, they keep it until it is known to move:
        // few do.
        match rejoining {
            Some(_) => state.lift(face, target.data()),
            None => state.remove(face, x, target),
        };
        if is_alone {
            self.screen.close(place, row);
            self.seats.close(place);
        }
        let left = (!is_alone).then_some(place);
        Lifted { face, row, context, before: Some(own), left, rejoining }
    }

    /// Draws a seat by the weights of [`assignments::ln_weights`].
    fn draw(
        &mut self,
        (lifted, x): (&Lifted, &Centred),
        state: &State,
        target: &Target,
        rng: &mut Rng,
        observer: &mut impl Observer,
    ) -> Option<IdentityId> {
        let Self { screen, seats, upper_bounds, said, shortlist, .. } = self;
        let Lifted { face, context, left, rejoining, .. } = lifted;
        let identities = state.seating.identities();
        upper_bounds.clear();
        let of_seats = screen.upper_bounds(lifted.row).iter().zip(seats.row(*context));
        upper_bounds.extend(of_seats.map(|(face, seat)| x.bound(*face) + seat));
        let has_said = state.says_anything(*face, target);
        if has_said {
            said.clear();
            said.resize(identities.len() + 1, 0.0);
            state.weigh_statements(*face, target, said);
            state.weigh_frame(*face, target, said);
            for (upper_bound, &said) in upper_bounds.iter_mut().zip(&*said) {
                *upper_bound += rounded_up(said);
            }
        }
        let said = |place: usize| if has_said { said[place] } else { 0.0 };
        let weigh = |place: usize, floor: f64| {
            let identity = identities[place];
            let beside = state.ln_seat(*context, identity) + said(place);
            let of_face = match rejoining.filter(|_| Some(place) == *left) {
                Some(terms) => Weight::Exactly(ln_sum_exp(&terms)),
                None => state.ln_face_above(identity, x, target, floor - beside),
            };
            of_face.plus(beside)
        };
        let new = identities.len();
        let ln_new = state.ln_new_seat(*context) + said(new) + target.ln_new_face(x);
        // The seat that it left, whose bound is out of date, or else the likeliest: both are to be weighed
        // anyway.
        let likely = left.or_else(|| highest(upper_bounds)).map(|at| (at, weigh(at, f64::NEG_INFINITY)));
        let likely = match likely {
            Some((at, Weight::Exactly(ln))) => (at, ln),
            _ => (new, ln_new),
        };
        let known = [(new, ln_new), likely];
        let known = if likely.0 == new { &known[..1] } else { &known };
        observer.bounded(upper_bounds);
        let Some(drawn) = shortlist.draw(known, upper_bounds, weigh, rng) else {
            crate::unweighable::give_up(Some(*face))
        };
        observer.drew(lifted, x, state, shortlist.weighed());
        identities.get(drawn).copied()
    }

    /// The faces still to come are to know the identities that changed, but for the faces of these: what they
    /// weigh where they sit is worked out exactly when their turn comes.
    fn refresh(
        &mut self,
        lifted: &Lifted,
        joined: &Joined,
        faces: &[FaceId],
        state: &State,
        target: &Target,
    ) {
        if joined.is_new {
            self.find_others(lifted.row, faces, joined.identity, state);
            self.screen.open(state.faces.group(joined.identity), &target.model().face, &self.others);
            self.seats.open(state);
        }
        let place = state.seating.place_of(joined.identity);
        let has_moved = Some(place) != lifted.left;
        if let Some(left) = lifted.left.filter(|_| has_moved) {
            self.refresh_place(left, lifted, faces, state, target);
        }
        if !joined.is_new && (has_moved || joined.is_rescaled) {
            self.refresh_place(place, lifted, faces, state, target);
        }
    }

    fn refresh_place(
        &mut self,
        place: usize,
        lifted: &Lifted,
        faces: &[FaceId],
        state: &State,
        target: &Target,
    ) {
        let identity = state.seating.identities()[place];
        self.find_others(lifted.row, faces, identity, state);
        self.screen.refresh(place, state.faces.group(identity), &target.model().face, &self.others);
        self.seats.refresh(lifted.context, place, state);
    }

    /// Finds the rows still to come whose faces are not of an identity.
    fn find_others(&mut self, row: usize, faces: &[FaceId], identity: IdentityId, state: &State) {
        let is_other = |&row: &usize| state.seating.identity_of(faces[row]) != Some(identity);
        self.others.clear();
        self.others.extend((row + 1..faces.len()).filter(is_other));
    }
}

/// Seats a lifted face.
fn set_down(
    lifted: &Lifted,
    seat: Option<IdentityId>,
    x: &mut Centred,
    state: &mut State,
    target: &Target,
    rng: &mut Rng,
) -> Joined {
    let (face, scale) = (lifted.face, x.scale());
    let identity = match (lifted.rejoining, lifted.before) {
        (Some(mut terms), Some(own)) if seat == Some(own) => {
            // The statistics have it, but perhaps with another scale.
            let to = rng.categorical_ln(&mut terms) as u8;
            if to != scale {
                state.faces.rescale(face, own, x, to, &target.model().face);
            }
            state.set_down(face, own, target.data());
            own
        }
        (rejoining, before) => {
            if let Some(own) = before.filter(|_| rejoining.is_some()) {
                state.faces.forget(own, x, &target.model().face);
            }
            assignments::take(face, seat, x, state, target, rng)
        }
    };
    Joined { identity, is_new: seat.is_none(), is_rescaled: x.scale() != scale }
}

fn highest(upper_bounds: &[f32]) -> Option<usize> {
    (0..upper_bounds.len()).max_by(|&a, &b| upper_bounds[a].total_cmp(&upper_bounds[b]))
}

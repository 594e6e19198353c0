//! Starting points of chains: dispersed, so that chains that agree in the end mean something.

use crate::gibbs::scan::Scan;
use crate::gibbs::{Sweep, names, weights};
use crate::ids::{FaceId, IdentityId};
use crate::random::Rng;
use crate::state::State;
use crate::target::Target;

/// Where a chain starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Faces are seated one by one, in random order, each given those before it.
    Sequential,
    /// Everyone is the same person; with covariances, loosened.
    Together,
    /// Everyone is a person of their own.
    Apart,
    /// Everyone is one of about sqrt(N) people, at random; with covariances, loosened.
    Random,
}

impl Start {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Sequential, Self::Together, Self::Apart, Self::Random];

    /// A first state: faces seated, then names and weights drawn given the seats.
    pub fn state(self, target: &Target, rng: &mut Rng) -> State {
        let mut state = State::empty(target);
        state.extend(target, rng);
        let mut scan = Scan::new(target);
        let mut order: Vec<FaceId> = target.data().faces().collect();
        rng.shuffle(&mut order);
        // A face that was said to be somebody is met before those that look like it: its name stays with its
        // people when one of them was denied it, and who was denied it is met last.
        let said = |face: &FaceId| {
            let data = target.data();
            let is_word = data.label(*face).is_some_and(|label| label.is_word);
            (!is_word, !data.evidence().denials(*face).is_empty())
        };
        order.sort_by_key(said);
        match self {
            Self::Sequential => {
                let mut n_seated = 0;
                while n_seated < order.len() {
                    // Every new identity takes its share of what is left for the next: without fresh weights
                    // the people who come late would find no seat of their own.
                    let next = order.len().min(n_seated + n_seated / 8 + 1);
                    scan.pass(&order[n_seated..next], &mut state, target, rng);
                    weights::step(&mut state, target, rng);
                    n_seated = next;
                }
            }
            Self::Apart => order.iter().for_each(|&face| {
                state.seat_apart(face, target, rng);
            }),
            Self::Together => seat_in_groups(1, &order, &mut state, target, rng),
            Self::Random => {
                let n_groups = (target.data().n_faces() as f64).sqrt().ceil() as usize;
                seat_in_groups(n_groups, &order, &mut state, target, rng);
            }
        }
        names::step(&mut state, target, rng);
        weights::step(&mut state, target, rng);
        if matches!(self, Self::Together | Self::Random) {
            loosen(&mut state, target, rng);
        }
        state
    }
}

/// By how much somebody new is favoured at first, as a logarithm, and from where on that is as good as nothing.
const FAVOUR: f64 = 12.0;
const LITTLE: f64 = 0.5;
/// While each sweep finds so many times as many people, they are favoured as much in the next; at most so
/// many sweeps.
const GROWING: f64 = 1.05;
const MOST_SWEEPS: usize = 24;

/// Lets strangers who were put together come apart: sweeps in which every identity counts more than the model
/// says, less and less (MODEL.md §8). Thousands seen once who begin in few identities come out of them by ten
/// a sweep otherwise: alone each of them is likelier by a few nats, but only when there are many of them, and
/// their own other photos are free to be joined.
fn loosen(state: &mut State, target: &Target, rng: &mut Rng) {
    if !target.model().face.has_covariances() {
        return;
    }
    let mut favour = FAVOUR;
    for _ in 0..MOST_SWEEPS {
        let n_before = state.seating().n_identities() as f64;
        Sweep::default().run(state, &target.favouring(favour), rng);
        if (state.seating().n_identities() as f64) < GROWING * n_before {
            favour *= 0.5;
        }
        if favour < LITTLE {
            break;
        }
    }
}

/// Seats every face in one of so many groups, at random.
fn seat_in_groups(n_groups: usize, faces: &[FaceId], state: &mut State, target: &Target, rng: &mut Rng) {
    let mut groups: Vec<Option<IdentityId>> = vec![None; n_groups];
    for &face in faces {
        let group = &mut groups[rng.below(n_groups)];
        match *group {
            Some(identity) => state.seat_at(face, identity, target),
            None => *group = Some(state.seat_apart(face, target, rng)),
        }
    }
}

impl std::str::FromStr for Start {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "sequential" => Self::Sequential,
            "together" => Self::Together,
            "apart" => Self::Apart,
            "random" => Self::Random,
            other => return Err(format!("found \"{other}\", wanted sequential, together, apart or random")),
        })
    }
}

//! HOW BELIEF MOVES: one kernel per conditional of Appendix C, and the sweep: which kernels, in which order.

pub mod assignments;
pub mod colours;
pub mod contexts;
pub mod faces;
pub mod names;
pub mod scan;
pub mod split_merge;
pub mod weights;

pub(crate) mod concentration;
#[cfg(test)]
mod geweke;
#[cfg(test)]
mod joint_ratio;

pub use split_merge::Moves;

use std::sync::atomic::{AtomicBool, Ordering};

use crate::random::Rng;
use crate::state::State;
use crate::target::Target;

/// A kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Identities `z_n` of all faces (§C.2).
    Assignments,
    /// Splits and merges of whole identities, with their weights, names and appearance.
    SplitMerge,
    /// Both, in so many rounds by so many colours, which cores may share (MODEL.md §10).
    Colours(u8),
    /// Contexts `c*_m` of all frames, and gamma_0 (§C.3).
    Contexts,
    /// Names `y*_i`, H, epsilon and lambda (§C.4).
    Names,
    /// Appearance `theta*_i`, when it is kept (§C.5).
    Faces,
    /// Tables, alpha_c, alpha_0 and global weights (§C.1).
    Weights,
}

/// The kernels of one sweep, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep(pub Vec<Step>);

impl Default for Sweep {
    fn default() -> Self {
        Self(vec![
            Step::Assignments,
            Step::SplitMerge,
            Step::Contexts,
            Step::Names,
            Step::Faces,
            Step::Weights,
        ])
    }
}

/// Given where everybody sits, concentrations and weights hold each other back, the more so the more
/// faces there are: they are redrawn once more for so many, which costs next to nothing, and at most so
/// often.
const CROWD: usize = 100;
const MOST_REDRAWS: usize = 8;

/// What a sweep noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// How many faces changed their identity.
    pub moved_faces: usize,
    /// Identities that were split in two, or might have been.
    pub splits: Moves,
    /// Identities that were merged, or might have been.
    pub merges: Moves,
    /// How many frames changed their context.
    pub moved_frames: usize,
}

impl std::ops::AddAssign for Info {
    fn add_assign(&mut self, more: Self) {
        self.moved_faces += more.moved_faces;
        self.splits += more.splits;
        self.merges += more.merges;
        self.moved_frames += more.moved_frames;
    }
}

impl Sweep {
    /// As the default, where seats are moved by `n` colours; one is the default itself.
    pub fn coloured(n: u8) -> Self {
        if n <= 1 {
            return Self::default();
        }
        Self(vec![Step::Colours(n), Step::Contexts, Step::Names, Step::Faces, Step::Weights])
    }

    /// As the default, with twice as many splits and merges: where a few sweeps have to find people.
    pub fn thorough() -> Self {
        let mut steps = Self::default().0;
        steps.insert(1, Step::SplitMerge);
        Self(steps)
    }

    /// The paper's kernels: faces move one at a time alone.
    pub fn as_printed() -> Self {
        Self(vec![Step::Assignments, Step::Contexts, Step::Names, Step::Faces, Step::Weights])
    }

    /// Runs the kernels once.
    pub fn run(&self, state: &mut State, target: &Target, rng: &mut Rng) -> Info {
        self.run_unless(&AtomicBool::new(false), state, target, rng)
    }

    /// Runs the kernels once, or breaks off soon after being told to: of many faces those that were looked at
    /// have moved, each by a step of its own.
    pub fn run_unless(&self, stop: &AtomicBool, state: &mut State, target: &Target, rng: &mut Rng) -> Info {
        let mut info = Info::default();
        for step in self.0.iter().take_while(|_| !stop.load(Ordering::Relaxed)) {
            match step {
                Step::Assignments => info.moved_faces += assignments::step_unless(stop, state, target, rng),
                Step::SplitMerge => {
                    let [splits, merges] = split_merge::step_unless(stop, state, target, rng);
                    info.splits += splits;
                    info.merges += merges;
                }
                Step::Colours(n) => info += colours::step((*n).into(), state, target, rng),
                Step::Contexts => info.moved_frames += contexts::step(state, target, rng),
                Step::Names => names::step(state, target, rng),
                Step::Faces => faces::step(state, target, rng),
                Step::Weights => {
                    let times = 1 + (target.data().n_faces() / CROWD).min(MOST_REDRAWS - 1);
                    (0..times).for_each(|_| weights::step(state, target, rng));
                }
            }
        }
        debug_assert_eq!(state.check(target), Ok(()));
        info
    }
}

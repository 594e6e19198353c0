//! One chain: a state, its generator, and how many sweeps it has made. Stored, it is a checkpoint.

use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::absorb::Attention;
use super::{Draw, Start};
use crate::gibbs::scan::Scan;
use crate::gibbs::{Info, Sweep, weights};
use crate::ids::FaceId;
use crate::random::{self, Rng};
use crate::state::State;
use crate::target::Target;

/// A running chain. Serialised and read back it goes on bit for bit as if it had not been interrupted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chain {
    pub(super) state: State,
    pub(super) rng: Rng,
    pub(super) number: u32,
    pub(super) n_sweeps: u64,
    #[serde(default)]
    pub(super) attention: Attention,
}

impl Chain {
    /// Starts chain `number` of a seed.
    pub fn start(start: Start, number: u32, seed: u64, target: &Target) -> Self {
        let mut rng = random::stream(seed, u64::from(number));
        let state = start.state(target, &mut rng);
        Self { state, rng, number, n_sweeps: 0, attention: Attention::default() }
    }

    /// A chain that is at a state, for tests.
    #[cfg(test)]
    pub(crate) fn of_state(state: State, rng: Rng) -> Self {
        Self { state, rng, number: 0, n_sweeps: 0, attention: Attention::default() }
    }

    /// Its state and generator, for tests.
    #[cfg(test)]
    pub(crate) fn into_parts(self) -> (State, Rng) {
        (self.state, self.rng)
    }

    /// What the chain believes now.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Which chain of its ensemble it is.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// How many sweeps it has made.
    pub fn n_sweeps(&self) -> u64 {
        self.n_sweeps
    }

    /// One sweep.
    pub fn sweep(&mut self, sweep: &Sweep, target: &Target) -> Info {
        self.sweep_unless(&AtomicBool::new(false), sweep, target)
    }

    /// One sweep, which is broken off soon after being told to.
    pub fn sweep_unless(&mut self, stop: &AtomicBool, sweep: &Sweep, target: &Target) -> Info {
        self.n_sweeps += 1;
        sweep.run_unless(stop, &mut self.state, target, &mut self.rng)
    }

    /// Redraws the concentrations and the global weights so many times, everybody staying where they are;
    /// returns alpha_0 and the mean alpha_c after each redraw, which is a state of the chain.
    pub fn redraw(&mut self, times: usize, target: &Target) -> Vec<[f64; 2]> {
        let redrawn = |_| {
            weights::step(&mut self.state, target, &mut self.rng);
            let weights = self.state.weights();
            let local = self.state.seating().contexts().map(|context| weights.local_concentration(context));
            [weights.global_concentration(), local.sum::<f64>() / self.state.seating().n_contexts() as f64]
        };
        (0..times).map(redrawn).collect()
    }

    /// Takes in frames, contexts and names that have arrived since: newcomers are seated one by one.
    pub fn extend(&mut self, target: &Target) {
        self.state.extend(target, &mut self.rng);
        let seating = self.state.seating();
        let newcomers: Vec<FaceId> =
            target.data().faces().filter(|&face| seating.identity_of(face).is_none()).collect();
        Scan::new(target).pass(&newcomers, &mut self.state, target, &mut self.rng);
    }

    /// The state as a draw of the posterior.
    pub fn draw(&self, target: &Target) -> Draw {
        Draw::of(&self.state, self.number, self.n_sweeps, target)
    }
}

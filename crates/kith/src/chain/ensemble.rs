//! Many chains of one posterior, run side by side; their draws do not depend on the number of threads.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Chain, Draw, Start};
use crate::gibbs::Sweep;
use crate::target::Target;

/// Chains with one random stream each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ensemble {
    chains: Vec<Chain>,
}

/// How long to run and what to keep: sweeps are counted from 1, and those after `burn_in` kept by `thin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The last sweep.
    pub sweeps: u64,
    /// Sweeps that are not kept.
    pub burn_in: u64,
    /// Every how many sweeps a draw is kept.
    pub thin: u64,
}

/// How a long run is watched, and stopped.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Set, it makes every chain stop, soon; what is left of its present sweep is not made.
    pub stop: &'a AtomicBool,
    /// Called after every sweep of every chain.
    pub swept: &'a (dyn Fn() + Sync),
}

impl Watch<'_> {
    /// Nobody watches, and nobody stops it.
    pub fn nobody() -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Self { stop: &NEVER, swept: &|| () }
    }
}

impl Run {
    /// §4.1: 500 steps, the first 100 discarded, thinned by 10.
    pub const PAPER: Self = Self { sweeps: 500, burn_in: 100, thin: 10 };

    /// Whether a draw is kept after this sweep.
    pub fn keeps(&self, sweep: u64) -> bool {
        sweep > self.burn_in && (sweep - self.burn_in).is_multiple_of(self.thin)
    }

    /// How many draws each chain keeps.
    pub fn n_kept(&self) -> u64 {
        self.sweeps.saturating_sub(self.burn_in) / self.thin
    }
}

impl Ensemble {
    /// Starts `n_chains` chains, the starting points dealt over them in turn.
    pub fn start(starts: &[Start], n_chains: usize, seed: u64, target: &Target) -> Self {
        assert!(!starts.is_empty(), "there is at least one starting point");
        let chains = (0..n_chains)
            .into_par_iter()
            .map(|number| Chain::start(starts[number % starts.len()], number as u32, seed, target))
            .collect();
        Self { chains }
    }

    /// Chains from elsewhere.
    pub fn of(chains: Vec<Chain>) -> Self {
        Self { chains }
    }

    /// The chains.
    pub fn chains(&self) -> &[Chain] {
        &self.chains
    }

    pub(crate) fn chains_mut(&mut self) -> &mut [Chain] {
        &mut self.chains
    }

    /// Takes in what has arrived since (see [`Chain::extend`]).
    pub fn extend(&mut self, target: &Target) {
        self.chains.par_iter_mut().for_each(|chain| chain.extend(target));
    }

    /// Takes in frames that have arrived since, in constant time (see [`Chain::absorb`]).
    pub fn absorb(&mut self, revisits: usize, target: &Target) {
        // A frame takes a chain about a millisecond: waking another thread for one chain could take longer.
        if self.chains.len() == 1 || rayon::current_num_threads() == 1 {
            self.chains.iter_mut().for_each(|chain| chain.absorb(revisits, target));
        } else {
            self.chains.par_iter_mut().for_each(|chain| chain.absorb(revisits, target));
        }
    }

    /// Sweeps every chain `times` times.
    pub fn sweep(&mut self, times: u64, sweep: &Sweep, target: &Target) {
        self.chains.par_iter_mut().for_each(|chain| {
            for _ in 0..times {
                chain.sweep(sweep, target);
            }
        });
    }

    /// Runs on to sweep `until` (at most `run.sweeps`), or until told to stop; returns the kept draws ordered
    /// by sweep, then chain. Called again it goes on from there.
    pub fn run(
        &mut self,
        run: &Run,
        until: u64,
        sweep: &Sweep,
        target: &Target,
        watch: &Watch<'_>,
    ) -> Vec<Draw> {
        let of_chain = |chain: &mut Chain| {
            let mut kept = Vec::new();
            while chain.n_sweeps() < until.min(run.sweeps) && !watch.stop.load(Ordering::Relaxed) {
                chain.sweep_unless(watch.stop, sweep, target);
                if watch.stop.load(Ordering::Relaxed) {
                    break;
                }
                if run.keeps(chain.n_sweeps()) {
                    kept.push(chain.draw(target));
                }
                (watch.swept)();
            }
            kept
        };
        let mut draws: Vec<Draw> = self.chains.par_iter_mut().flat_map_iter(of_chain).collect();
        draws.sort_by_key(|draw| (draw.sweep, draw.chain));
        draws
    }

    /// What all chains believe now.
    pub fn draws(&self, target: &Target) -> Vec<Draw> {
        self.chains.iter().map(|chain| chain.draw(target)).collect()
    }
}

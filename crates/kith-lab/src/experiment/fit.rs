//! One fit: chains from a sequential start, run to the end or until told to stop.

use std::sync::atomic::Ordering;

use kith::chain::{Draw, Ensemble, Run, Start, Watch};
use kith::gibbs::Sweep;
use kith::target::Target;

/// The draws of all chains; `None` when told to stop.
pub(super) fn fit(
    target: &Target,
    run: &Run,
    n_chains: usize,
    seed: u64,
    watch: &Watch<'_>,
) -> Option<Vec<Draw>> {
    let mut ensemble = Ensemble::start(&[Start::Sequential], n_chains, seed, target);
    let draws = ensemble.run(run, run.sweeps, &Sweep::default(), target, watch);
    (!watch.stop.load(Ordering::Relaxed)).then_some(draws)
}

/// A run as long as asked for, or else the usual one; shorter ones keep its proportions.
pub(super) fn run_of(sweeps: Option<u64>, usual: Run) -> Run {
    let Some(sweeps) = sweeps else { return usual };
    let burn_in = sweeps * usual.burn_in / usual.sweeps;
    Run { sweeps, burn_in, thin: usual.thin.min((sweeps - burn_in).max(1)) }
}

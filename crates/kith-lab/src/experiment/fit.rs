//! One fit: chains from an arm's start, run to the end or until told to stop.

use std::sync::atomic::Ordering;

use kith::belief::{Belief, Chains};
use kith::chain::{Draw, Run, Watch};
use kith::target::Target;

use super::Sampler;

/// What is believed, and the draws of all chains; `None` when told to stop.
pub(super) fn fit(
    target: Target,
    sampler: Sampler,
    run: &Run,
    chains: Chains,
    watch: &Watch<'_>,
) -> Option<(Belief, Vec<Draw>)> {
    let mut belief = Belief::start(target, &[sampler.start()], chains).with_sweep(sampler.sweep());
    let draws = belief.run(run, run.sweeps, watch);
    (!watch.stop.load(Ordering::Relaxed)).then_some((belief, draws))
}

/// A run as long as asked for, or else the usual one; shorter ones keep its proportions.
pub(super) fn run_of(sweeps: Option<u64>, usual: Run) -> Run {
    let Some(sweeps) = sweeps else { return usual };
    let burn_in = sweeps * usual.burn_in / usual.sweeps;
    Run { sweeps, burn_in, thin: usual.thin.min((sweeps - burn_in).max(1)) }
}

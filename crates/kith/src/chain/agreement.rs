//! Running on until the chains agree: how long a fit takes when nobody says how long.

use std::sync::atomic::Ordering;

use super::diagnostics::r_hat;
use super::{Chain, Draw, Ensemble, Run, Watch};
use crate::gibbs::Sweep;
use crate::model::FaceModel;
use crate::model::face::FaceKind;
use crate::target::Target;

/// Chains agree when split R-hat of ln joint and of the number of identities is below this.
pub const AGREED: f64 = 1.05;
/// They are asked every so many sweeps, and not before they have made a few ([`FEWEST`]).
pub const BLOCK: u64 = 8;
/// They go on for at least so many.
pub const FEWEST: u64 = 24;
/// At most so many sweeps, fewer where they are dear: about this many multiplications per chain, some minutes' work.
const MOST: u64 = 500;
const WORK: f64 = 3e11;
/// At most so many draws of a chain are kept.
const MOST_DRAWS: u64 = 100;

/// What a run that stops by itself came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// The draws of the second half of all sweeps, ordered by sweep, then chain.
    pub draws: Vec<Draw>,
    /// How many sweeps each chain made.
    pub sweeps: u64,
    /// The larger split R-hat of the two, over the second half of all sweeps.
    pub r_hat: f64,
}

impl Agreement {
    /// Whether the chains agree.
    pub fn is_reached(&self) -> bool {
        self.r_hat < AGREED
    }
}

impl Ensemble {
    /// How many sweeps [`Ensemble::run_until_agreed`] makes at most; the same for the same states, on any machine.
    pub fn most_sweeps(&self, target: &Target) -> u64 {
        most_sweeps(self.chains(), target)
    }

    /// Sweeps all chains until they agree, or have made as many sweeps as is sensible, or are told to stop. The first
    /// half of all sweeps is not kept.
    pub fn run_until_agreed(&mut self, sweep: &Sweep, target: &Target, watch: &Watch<'_>) -> Agreement {
        let most = self.most_sweeps(target);
        let run = Run { sweeps: most, burn_in: 0, thin: 1 };
        let mut found = Agreement { draws: Vec::new(), sweeps: 0, r_hat: f64::INFINITY };
        while found.sweeps < most && !watch.stop.load(Ordering::Relaxed) {
            let until = (found.sweeps + BLOCK).min(most);
            found.draws.extend(self.run(&run, until, sweep, target, watch));
            found.sweeps = self.chains().iter().map(|chain| chain.n_sweeps()).min().unwrap_or(until);
            found.draws.retain(|draw| draw.sweep > found.sweeps / 2);
            found.r_hat = disagreement(&found.draws, self.chains().len());
            if found.sweeps >= FEWEST && found.is_reached() {
                break;
            }
        }
        let thin = (found.sweeps / 2).div_ceil(MOST_DRAWS).max(1);
        let last = found.sweeps;
        // An interrupted chain may have gone a sweep further than another.
        found.draws.retain(|draw| draw.sweep <= last && (last - draw.sweep).is_multiple_of(thin));
        found
    }
}

/// How many sweeps are sensible for chains as they are.
pub fn most_sweeps(chains: &[Chain], target: &Target) -> u64 {
    let dearest = chains.iter().map(|chain| {
        let state = chain.state();
        let identities = state.seating().identities().iter();
        let per_face: f64 = identities.map(|&i| work(&target.model().face, state.seating().n_of(i))).sum();
        per_face * state.seating().size().0 as f64
    });
    let most = WORK / dearest.fold(1.0, f64::max);
    (most as u64 / BLOCK * BLOCK).clamp(FEWEST, MOST)
}

/// Multiplications to weigh one face against an identity of so many faces.
fn work(model: &FaceModel, n_faces: u32) -> f64 {
    match &model.kind {
        FaceKind::Isotropic(prior) => prior.mean.len() as f64,
        FaceKind::Full(full) => {
            let d = full.n_axes();
            (d + 64) as f64 + if n_faces as usize > d / 4 { (d * d) as f64 } else { 0.0 }
        }
    }
}

/// The larger split R-hat of ln joint and of the number of identities, over as many draws of each of the chains 0, 1, ...
pub fn disagreement(draws: &[Draw], n_chains: usize) -> f64 {
    let of = |value: &dyn Fn(&Draw) -> f64| {
        let mut chains = vec![Vec::new(); n_chains];
        draws.iter().for_each(|draw| chains[draw.chain as usize].push(value(draw)));
        let is_constant = draws.iter().all(|draw| value(draw) == value(&draws[0]));
        // Chains that say the same in every draw agree; one that cannot be judged does not.
        if is_constant {
            return 1.0;
        }
        let found = r_hat(&chains);
        if found.is_nan() { f64::INFINITY } else { found }
    };
    of(&|draw| draw.globals.ln_joint).max(of(&|draw| draw.n_identities() as f64))
}

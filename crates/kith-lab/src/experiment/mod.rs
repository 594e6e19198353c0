//! The paper's experiments: what is run, piece by piece so that it can be resumed, and what was found.

mod arm;
mod discovery;
mod fit;
mod gallery;
mod naming;
mod toy;
mod unknown;

pub use arm::{Arm, ModelMaker, Sampler};
pub use discovery::Discovery;
pub use gallery::{Gallery, Person};
pub use naming::Naming;
pub use unknown::Unknown;

use kith::chain::Watch;
use kith::model::ModelError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::report::Findings;

/// How often, from which seed, with how many chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Repeat r has the seed `seed + r`, for splits and chains.
    pub seed: u64,
    /// How many splits, or simulations.
    pub repeats: usize,
    /// Independent chains of each fit.
    pub n_chains: usize,
    /// Sweeps of each fit, where not the experiment's own.
    pub sweeps: Option<u64>,
}

impl Plan {
    /// The seed of a repeat.
    pub fn seed_of(&self, repeat: usize) -> u64 {
        self.seed.wrapping_add(repeat as u64)
    }
}

/// A piece of an experiment that is run, and kept, as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Job<T> {
    /// Names it among all pieces; fit for a file name.
    pub key: String,
    /// How many sweeps of single chains it makes: what progress is counted in.
    pub sweeps: u64,
    /// What is to be done.
    pub task: T,
}

/// An experiment in pieces.
pub trait Experiment {
    /// What a piece does.
    type Task;
    /// What a piece found.
    type Outcome: Serialize + DeserializeOwned;

    /// Everything that the outcomes depend on, but for data and models.
    fn settings(&self) -> Value;
    /// The pieces, in the order in which they are run.
    fn jobs(&self) -> Vec<Job<Self::Task>>;
    /// Runs one piece; `None` when it was told to stop.
    fn run(&self, task: &Self::Task, watch: &Watch<'_>) -> Result<Option<Self::Outcome>, ModelError>;
    /// Puts the outcomes of all pieces together, in the order of the jobs.
    fn findings(&self, outcomes: &[Self::Outcome]) -> Findings;
}

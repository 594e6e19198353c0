//! A model under test.

use kith::chain::Start;
use kith::data::Dataset;
use kith::gibbs::Sweep;
use kith::model::{Model, ModelError};

/// A model, and what it is called. Its face prior may depend on the faces that it learns from, never on who
/// they are.
pub struct Arm<'a> {
    /// Its keys in summaries, `kith` for the model asked for and `isotropic` for the paper's; both where they
    /// are one.
    pub labels: Vec<&'static str>,
    /// What a reader calls it.
    pub title: String,
    /// The model for some faces to learn from.
    pub model: ModelMaker<'a>,
    /// How its chains move.
    pub sampler: Sampler,
}

/// How chains start and move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampler {
    /// Seated one by one; whole identities split and merge.
    Ours,
    /// As the paper has it: from random assignments, faces moving one at a time.
    AsPrinted,
}

impl Sampler {
    /// Where chains start.
    pub fn start(self) -> Start {
        match self {
            Self::Ours => Start::Sequential,
            Self::AsPrinted => Start::Random,
        }
    }

    /// What a sweep is.
    pub fn sweep(self) -> Sweep {
        match self {
            Self::Ours => Sweep::default(),
            Self::AsPrinted => Sweep::as_printed(),
        }
    }
}

/// Makes a model for some faces.
pub type ModelMaker<'a> = Box<dyn Fn(&Dataset) -> Result<Model, ModelError> + Sync + 'a>;

impl Arm<'_> {
    /// The key that figures use.
    pub fn label(&self) -> &'static str {
        self.labels[0]
    }
}

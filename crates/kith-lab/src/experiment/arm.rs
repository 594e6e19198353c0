//! A model under test.

use kith::data::Dataset;
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
}

/// Makes a model for some faces.
pub type ModelMaker<'a> = Box<dyn Fn(&Dataset) -> Result<Model, ModelError> + Sync + 'a>;

impl Arm<'_> {
    /// The key that figures use.
    pub fn label(&self) -> &'static str {
        self.labels[0]
    }
}

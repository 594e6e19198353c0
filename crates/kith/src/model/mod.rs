//! WHAT IS ASSUMED: the model in its parts (contexts, identities, faces, names, what people say), checked
//! when built.

mod context;
mod evidence;
pub mod face;
mod identity;
mod name;
mod strength;

pub use context::{ContextMode, ContextModel};
pub use evidence::EvidenceModel;
pub(crate) use evidence::ln_odds;
pub use face::{FaceModel, FaceUpdate, Full, FullPrior, Isotropic};
pub use identity::{IdentityModel, LocalConcentration, Strangers};
pub use name::{ErrorRate, NameBase, NameModel, NameUpdate};
pub use strength::Strength;

use crate::data::Dataset;

/// How much less likely the joint is for every pair of faces of one frame with the same identity, unless told
/// otherwise: mirrors, pictures on walls and collages are about one pair in a hundred.
const REPEAT: f64 = 0.01;

/// The whole model: hyperparameters and densities, immutable once a chain runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// §2.1.
    pub context: ContextModel,
    /// §2.2.
    pub identity: IdentityModel,
    /// MODEL.md §7: every pair of faces of one frame with the same identity multiplies the joint by this;
    /// 1 = off, as in the paper.
    pub repeat: f64,
    /// §2.3.
    pub face: FaceModel,
    /// §3.
    pub name: NameModel,
    /// MODEL.md §7: how often "same", "different" and "not this name" are wrong.
    pub evidence: EvidenceModel,
}

impl Model {
    /// The defaults for everything but the face model, which depends on the embeddings.
    pub fn new(face: FaceModel) -> Self {
        Self {
            context: ContextModel::default(),
            identity: IdentityModel::default(),
            repeat: REPEAT,
            face,
            name: NameModel::default(),
            evidence: EvidenceModel::default(),
        }
    }

    /// Refuses values outside their ranges, and a model that does not fit the data.
    pub fn check(&self, data: &Dataset) -> Result<(), ModelError> {
        self.context.check()?;
        self.identity.check(&self.context, data)?;
        if !(self.repeat > 0.0 && self.repeat <= 1.0) {
            return Err(ModelError::value("frame.repeat", self.repeat, "a number above 0, at most 1"));
        }
        self.evidence.check()?;
        self.face.check(data.dimension())?;
        self.name.check()
    }
}

/// What is wrong with a model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A value out of its range.
    #[error("{key}: found {found}, wanted {wanted}")]
    Value {
        /// The key, as MODEL.toml spells it.
        key: String,
        /// The value.
        found: String,
        /// What would be right.
        wanted: String,
    },
}

impl ModelError {
    pub(crate) fn value(key: &str, found: impl ToString, wanted: &str) -> Self {
        Self::Value { key: key.to_owned(), found: found.to_string(), wanted: wanted.to_owned() }
    }
}

/// A number as somebody would write it: "1e-301", not three hundred zeros.
fn in_short(value: f64) -> String {
    let is_plain = value == 0.0 || !value.is_finite() || (1e-6..1e15).contains(&value.abs());
    if is_plain { value.to_string() } else { format!("{value:e}") }
}

/// Refuses what is not a positive number with which can still be reckoned.
fn check_positive(key: &str, value: f64) -> Result<(), ModelError> {
    if (1e-300..=1e100).contains(&value) {
        return Ok(());
    }
    Err(ModelError::value(key, in_short(value), "a positive number (from 1e-300 to 1e100)"))
}

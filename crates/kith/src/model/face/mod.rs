//! Faces (§2.3): what an identity looks like. The one place that knows which face models exist.
//!
//! Kernels see a [`FaceModel`] and, per identity, a [`Group`] of sufficient statistics (observe, forget) and,
//! when appearance is kept explicitly, a [`Face`]. A further face model is a further arm here and nowhere else.

mod empirical;
mod isotropic;

pub use isotropic::{Face, Isotropic, IsotropicGroup};

use serde::{Deserialize, Serialize};

use super::ModelError;
use crate::random::Rng;

/// The face model: a conjugate family, and whether appearance is integrated out.
#[derive(Clone, Debug, PartialEq)]
pub struct FaceModel {
    /// The family with its prior.
    pub kind: FaceKind,
    /// Collapsed or explicit.
    pub update: FaceUpdate,
}

/// The families of face models.
#[derive(Clone, Debug, PartialEq)]
pub enum FaceKind {
    /// The paper's.
    Isotropic(Isotropic),
}

/// How appearance is treated; both samplers have the same posterior.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaceUpdate {
    /// theta* integrated out: seats are weighed by the predictive of the other faces.
    Collapsed,
    /// theta* kept and redrawn, as in the paper's §C.5.
    Explicit,
}

/// Sufficient statistics of the faces of one identity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Group {
    /// Under [`FaceKind::Isotropic`].
    Isotropic(IsotropicGroup),
}

/// An embedding made ready for a face model: centred, in `f64`, with its squared length.
#[derive(Clone, Debug, Default)]
pub struct Centred {
    values: Vec<f64>,
    square: f64,
}

impl FaceModel {
    /// An isotropic model with theta* integrated out.
    pub fn isotropic(prior: Isotropic) -> Self {
        Self { kind: FaceKind::Isotropic(prior), update: FaceUpdate::Collapsed }
    }

    /// D.
    pub fn dimension(&self) -> usize {
        let FaceKind::Isotropic(prior) = &self.kind;
        prior.mean.len()
    }

    /// Makes an embedding ready; `centred` is overwritten.
    pub fn centre(&self, embedding: &[f32], centred: &mut Centred) {
        let FaceKind::Isotropic(prior) = &self.kind;
        centred.values.clear();
        centred.values.extend(embedding.iter().zip(&prior.mean).map(|(&x, m_0)| f64::from(x) - m_0));
        centred.square = isotropic::dot(&centred.values, &centred.values);
    }

    /// An identity without faces.
    pub fn group(&self) -> Group {
        let FaceKind::Isotropic(prior) = &self.kind;
        Group::Isotropic(IsotropicGroup::new(prior))
    }

    /// A face joins.
    pub fn observe(&self, group: &mut Group, x: &Centred) {
        let (FaceKind::Isotropic(prior), Group::Isotropic(group)) = (&self.kind, group);
        group.observe(prior, &x.values, x.square);
    }

    /// A face leaves.
    pub fn forget(&self, group: &mut Group, x: &Centred) {
        let (FaceKind::Isotropic(prior), Group::Isotropic(group)) = (&self.kind, group);
        group.forget(prior, &x.values, x.square);
    }

    /// ln p(x | the group's faces), theta* integrated out; with an empty group the prior predictive.
    pub fn ln_predictive(&self, group: &Group, x: &Centred) -> f64 {
        let Group::Isotropic(group) = group;
        group.ln_predictive(&x.values, x.square)
    }

    /// ln p(all faces of the group), theta* integrated out.
    pub fn ln_marginal(&self, group: &Group) -> f64 {
        let (FaceKind::Isotropic(prior), Group::Isotropic(group)) = (&self.kind, group);
        group.ln_marginal(prior)
    }

    /// ln p(x | theta*).
    pub fn ln_likelihood(&self, face: &Face, x: &Centred) -> f64 {
        face.ln_likelihood(&x.values)
    }

    /// theta* given the group's faces (C.15).
    pub fn draw(&self, group: &Group, rng: &mut Rng) -> Face {
        let Group::Isotropic(group) = group;
        group.draw(rng)
    }

    /// A new face of somebody who looks like theta*.
    pub fn simulate(&self, theta: &Face, rng: &mut Rng) -> Vec<f32> {
        let FaceKind::Isotropic(prior) = &self.kind;
        let spread = theta.variance.sqrt();
        let mean = prior.mean.iter().zip(&theta.mean);
        mean.map(|(m_0, mu)| (m_0 + mu + spread * rng.normal()) as f32).collect()
    }

    pub(super) fn check(&self, dimension: usize) -> Result<(), ModelError> {
        let FaceKind::Isotropic(prior) = &self.kind;
        prior.check(dimension)
    }
}

impl Group {
    /// How many faces.
    pub fn n_faces(&self) -> u32 {
        let Self::Isotropic(group) = self;
        group.n_faces()
    }

    /// The largest difference to another group's statistics, relative to their size.
    pub(crate) fn difference(&self, other: &Self) -> f64 {
        let (Self::Isotropic(a), Self::Isotropic(b)) = (self, other);
        a.difference(b)
    }
}

impl Centred {
    /// x - m_0.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

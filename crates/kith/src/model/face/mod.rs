//! Faces (§2.3): what an identity looks like. The one place that knows which face models exist.
//!
//! Kernels see a [`FaceModel`] and, per identity, a [`Group`] of sufficient statistics (observe, forget) and,
//! when appearance is kept explicitly, a [`Face`]. A further face model is a further arm here and nowhere else.

mod empirical;
mod full;
mod isotropic;
mod scatter;
mod two_covariance;

pub use full::{Full, FullGroup};
pub use isotropic::{Face, Isotropic, IsotropicGroup};

use serde::{Deserialize, Serialize};

use super::ModelError;
use crate::math::vectors;
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
    /// A covariance of its own per identity; collapsed only.
    Full(Full),
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
    /// Under [`FaceKind::Full`].
    Full(FullGroup),
}

const ONE_KIND: &str = "all groups of a state are of its model's kind";
const ONLY_COLLAPSED: &str = "a full covariance is always integrated out";

/// An embedding made ready for a face model: centred (and transformed), in `f64`, with its squared length.
#[derive(Clone, Debug, Default)]
pub struct Centred {
    values: Vec<f64>,
    /// Between centring and the face model's transform.
    before: Vec<f64>,
    square: f64,
}

impl FaceModel {
    /// An isotropic model with theta* integrated out.
    pub fn isotropic(prior: Isotropic) -> Self {
        Self { kind: FaceKind::Isotropic(prior), update: FaceUpdate::Collapsed }
    }

    /// A covariance of its own per identity.
    pub fn full(prior: Full) -> Self {
        Self { kind: FaceKind::Full(prior), update: FaceUpdate::Collapsed }
    }

    /// D.
    pub fn dimension(&self) -> usize {
        match &self.kind {
            FaceKind::Isotropic(prior) => prior.mean.len(),
            FaceKind::Full(prior) => prior.mean.len(),
        }
    }

    /// Makes an embedding ready; `centred` is overwritten.
    pub fn centre(&self, embedding: &[f32], centred: &mut Centred) {
        let centre = |mean: &[f64], out: &mut Vec<f64>| {
            out.clear();
            out.extend(embedding.iter().zip(mean).map(|(&x, m_0)| f64::from(x) - m_0));
        };
        match &self.kind {
            FaceKind::Isotropic(prior) => centre(&prior.mean, &mut centred.values),
            FaceKind::Full(prior) => {
                centre(&prior.mean, &mut centred.before);
                vectors::product(&prior.transform, &centred.before, &mut centred.values);
            }
        }
        centred.square = vectors::dot(&centred.values, &centred.values);
    }

    /// An identity without faces.
    pub fn group(&self) -> Group {
        match &self.kind {
            FaceKind::Isotropic(prior) => Group::Isotropic(IsotropicGroup::new(prior)),
            FaceKind::Full(prior) => Group::Full(FullGroup::new(prior)),
        }
    }

    /// A face joins.
    pub fn observe(&self, group: &mut Group, x: &Centred) {
        match (&self.kind, group) {
            (FaceKind::Isotropic(prior), Group::Isotropic(group)) => {
                group.observe(prior, &x.values, x.square)
            }
            (FaceKind::Full(prior), Group::Full(group)) => group.observe(prior, &x.values),
            _ => unreachable!("{ONE_KIND}"),
        }
    }

    /// A face leaves.
    pub fn forget(&self, group: &mut Group, x: &Centred) {
        match (&self.kind, group) {
            (FaceKind::Isotropic(prior), Group::Isotropic(group)) => group.forget(prior, &x.values, x.square),
            (FaceKind::Full(prior), Group::Full(group)) => group.forget(prior, &x.values),
            _ => unreachable!("{ONE_KIND}"),
        }
    }

    /// ln p(x | the group's faces), theta* integrated out; with an empty group the prior predictive.
    pub fn ln_predictive(&self, group: &Group, x: &Centred) -> f64 {
        match (&self.kind, group) {
            (FaceKind::Isotropic(_), Group::Isotropic(group)) => group.ln_predictive(&x.values, x.square),
            (FaceKind::Full(prior), Group::Full(group)) => group.ln_predictive(prior, &x.values, x.square),
            _ => unreachable!("{ONE_KIND}"),
        }
    }

    /// ln p(all faces of the group), theta* integrated out.
    pub fn ln_marginal(&self, group: &Group) -> f64 {
        match (&self.kind, group) {
            (FaceKind::Isotropic(prior), Group::Isotropic(group)) => group.ln_marginal(prior),
            (FaceKind::Full(prior), Group::Full(group)) => group.ln_marginal(prior),
            _ => unreachable!("{ONE_KIND}"),
        }
    }

    /// ln p(x | theta*).
    pub fn ln_likelihood(&self, face: &Face, x: &Centred) -> f64 {
        face.ln_likelihood(&x.values)
    }

    /// theta* given the group's faces (C.15).
    pub fn draw(&self, group: &Group, rng: &mut Rng) -> Face {
        match group {
            Group::Isotropic(group) => group.draw(rng),
            Group::Full(_) => unreachable!("{ONLY_COLLAPSED}"),
        }
    }

    /// ln density of theta* under the prior.
    pub(crate) fn ln_prior(&self, theta: &Face) -> f64 {
        match &self.kind {
            FaceKind::Isotropic(prior) => theta.ln_prior(prior),
            FaceKind::Full(_) => unreachable!("{ONLY_COLLAPSED}"),
        }
    }

    /// n new faces of somebody who looks like theta*, or, without it, of somebody new.
    pub fn simulate(&self, theta: Option<&Face>, n: usize, rng: &mut Rng) -> Vec<Vec<f32>> {
        match &self.kind {
            FaceKind::Isotropic(prior) => {
                let drawn = theta.is_none().then(|| self.draw(&self.group(), rng));
                let theta = theta.or(drawn.as_ref()).expect("one of the two is there");
                let spread = theta.variance.sqrt();
                let mean: Vec<f64> = prior.mean.iter().zip(&theta.mean).map(|(m_0, mu)| m_0 + mu).collect();
                let mut face = || mean.iter().map(|m| (m + spread * rng.normal()) as f32).collect();
                (0..n).map(|_| face()).collect()
            }
            FaceKind::Full(prior) => prior.simulate(n, rng).iter().map(|y| prior.undo(y)).collect(),
        }
    }

    pub(super) fn check(&self, dimension: usize) -> Result<(), ModelError> {
        match &self.kind {
            FaceKind::Isotropic(prior) => prior.check(dimension),
            FaceKind::Full(_) if self.update == FaceUpdate::Explicit => {
                Err(ModelError::value("face.update", "explicit", "collapsed with kind = \"full\""))
            }
            FaceKind::Full(prior) => prior.check(dimension),
        }
    }
}

impl Group {
    /// How many faces.
    pub fn n_faces(&self) -> u32 {
        match self {
            Self::Isotropic(group) => group.n_faces(),
            Self::Full(group) => group.n_faces(),
        }
    }

    /// The largest difference to another group's statistics, relative to their size.
    pub(crate) fn difference(&self, other: &Self) -> f64 {
        match (self, other) {
            (Self::Isotropic(a), Self::Isotropic(b)) => a.difference(b),
            (Self::Full(a), Self::Full(b)) => a.difference(b),
            _ => f64::INFINITY,
        }
    }
}

impl Centred {
    /// x - m_0.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

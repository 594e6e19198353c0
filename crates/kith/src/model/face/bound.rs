//! What an upper bound of an identity's predictive density is made of: few numbers per identity.
//!
//! The arithmetic on blocks of faces is in `gibbs/scan/screen.rs`; what each face model gives to it is here.

use std::ops::Range;

use super::{FaceKind, FaceModel, Group, ONE_KIND};

/// The most levels that psi has.
pub(crate) const MOST_LEVELS: usize = super::full::MOST_LEVELS;

/// How many scales there are, where there is more than one.
pub(crate) const MOST_SCALES: usize = super::scales::MOST;

/// What all bounds of a face model share.
pub(crate) struct Axes {
    /// How many coordinates a face has.
    pub n_axes: usize,
    /// The axes of each level of psi.
    pub levels: Vec<Range<usize>>,
    /// lambda per scale.
    pub lambdas: Vec<f64>,
    /// F: what the mean's part of the predictive is multiplied by, where it has one of its own.
    pub of_means: Option<f64>,
    /// What coordinates are multiplied by, so that a person's faces are about 1 apart.
    pub unit: f64,
}

/// The numbers of the bound in `gibbs/scan/screen.rs` for one identity.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coefficients {
    /// v, m squared, H.
    pub pull: f64,
    pub square: f64,
    pub half: f64,
    /// C and G per scale.
    pub constants: Vec<f64>,
    pub gains: Vec<f64>,
    /// E, A, M and T per scale, V and U per level; nothing where the mean has no part of its own.
    pub commons: Vec<f64>,
    pub of_sums: Vec<f64>,
    pub of_products: Vec<f64>,
    pub of_squares: Vec<f64>,
    pub level_products: Vec<f64>,
    pub level_squares: Vec<f64>,
}

impl FaceModel {
    /// The axes that faces are compared along.
    pub(crate) fn axes(&self) -> Axes {
        match &self.kind {
            FaceKind::Isotropic(prior) => {
                let n_axes = prior.mean.len();
                let levels = std::iter::once(0..n_axes).collect();
                let unit = (prior.shape / prior.rate).sqrt();
                Axes { n_axes, levels, lambdas: vec![1.0], of_means: None, unit }
            }
            FaceKind::Full(model) => {
                let lambdas = model.scales.lambda[..model.scales.n].to_vec();
                let levels = model.axes_of_levels().collect();
                Axes { n_axes: model.n_axes(), levels, lambdas, of_means: Some(model.far()), unit: 1.0 }
            }
        }
    }

    /// From so many faces on their bounds save more than they cost: those of identities with a covariance of
    /// their own are dear.
    pub(crate) fn fewest_to_bound(&self) -> usize {
        match &self.kind {
            FaceKind::Isotropic(_) => 0,
            FaceKind::Full(_) => 8,
        }
    }

    /// The coefficients of a group's bound, and the sum of its faces. Coordinates are multiplied by `unit`;
    /// squares are taken a little too small, by the factor `safe`.
    pub(crate) fn bound<'g>(
        &self,
        group: &'g Group,
        unit: f64,
        safe: f64,
        out: &mut Coefficients,
    ) -> &'g [f64] {
        out.constants.clear();
        out.gains.clear();
        out.commons.clear();
        out.of_sums.clear();
        out.of_products.clear();
        out.of_squares.clear();
        out.level_products.clear();
        out.level_squares.clear();
        match (&self.kind, group) {
            (FaceKind::Isotropic(_), Group::Isotropic(group)) => group.bound(unit, safe, out),
            (FaceKind::Full(model), Group::Full(group)) => group.bound(model, safe, out),
            _ => unreachable!("{ONE_KIND}"),
        }
    }
}

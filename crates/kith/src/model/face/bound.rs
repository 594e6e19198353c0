//! What an upper bound of an identity's predictive density is made of: few numbers per identity, and a matrix.
//!
//! The arithmetic on blocks of faces is in `gibbs/scan/screen.rs`; what each face model gives to it is here.

use std::ops::Range;

use super::{FaceKind, FaceModel, Group, ONE_KIND};

/// The most levels that psi has.
pub(crate) const MOST_LEVELS: usize = super::full::MOST_LEVELS;
/// So many rows of a triangle make a band, whose columns end with its last row's.
const BAND: usize = 32;

/// What all bounds of a face model share.
pub(crate) struct Axes {
    /// How many coordinates a face has.
    pub n_axes: usize,
    /// The axes of each level of psi.
    pub levels: Vec<Range<usize>>,
    /// lambda per scale.
    pub lambdas: Vec<f64>,
    /// Whether the mean has a part of its own in the predictive.
    pub has_means: bool,
    /// What coordinates are multiplied by, so that a person's faces are about 1 apart.
    pub unit: f64,
}

/// The numbers v, m squared, H, C, G and W of the bound in `gibbs/scan/screen.rs` for one identity.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coefficients {
    /// v, m squared, H.
    pub pull: f64,
    pub square: f64,
    pub half: f64,
    /// C and G per scale.
    pub constants: Vec<f64>,
    pub gains: Vec<f64>,
    /// W per level and scale; nothing where the mean has no part of its own.
    pub weights: Vec<f64>,
}

/// A matrix that gives the quadratic form `e^T (P I + S)^-1 e`, `e = y - ybar`, of an identity with several faces.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuadraticForm {
    /// Nothing where there is no form. Otherwise G with `(P I + S)^-1 = G^T G`, band after band, or R with
    /// `(P I + S)^-1 = (I - R^T R) / P`: a band, or all of R, column after column.
    pub matrix: Vec<f32>,
    /// Whether it is G.
    pub is_root: bool,
    /// P and L.
    pub scale: f64,
    pub total: f64,
}

impl QuadraticForm {
    pub fn clear(&mut self) {
        self.matrix.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.matrix.is_empty()
    }

    /// How many numbers a face is multiplied with.
    pub fn size(&self) -> usize {
        self.matrix.len()
    }

    /// G, given row by row.
    pub fn set_root<'a>(&mut self, rows: impl Iterator<Item = &'a [f64]>, n_axes: usize) {
        self.is_root = true;
        self.matrix.clear();
        self.matrix.resize(bands(n_axes).map(|(first, end)| (end - first) * end).sum(), 0.0);
        let mut rows = rows.enumerate();
        let mut rest = &mut self.matrix[..];
        for (first, end) in bands(n_axes) {
            let height = end - first;
            let (band, next) = rest.split_at_mut(height * end);
            for (r, row) in rows.by_ref().take(height) {
                let cells = band[r - first..].iter_mut().step_by(height);
                cells.zip(row).for_each(|(to, &from)| *to = from as f32);
            }
            rest = next;
        }
    }

    /// R, one row after the other.
    pub fn set_rows(&mut self, rows: &[f64], n_axes: usize) {
        self.is_root = false;
        self.matrix.clear();
        let columns = (0..n_axes).flat_map(|c| rows[c..].iter().step_by(n_axes));
        self.matrix.extend(columns.map(|&cell| cell as f32));
    }
}

/// The bands of a triangle: first row, and end.
pub(crate) fn bands(n_axes: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n_axes).step_by(BAND).map(move |first| (first, n_axes.min(first + BAND)))
}

impl FaceModel {
    /// The axes that faces are compared along.
    pub(crate) fn axes(&self) -> Axes {
        match &self.kind {
            FaceKind::Isotropic(prior) => {
                let n_axes = prior.mean.len();
                let levels = std::iter::once(0..n_axes).collect();
                let unit = (prior.shape / prior.rate).sqrt();
                Axes { n_axes, levels, lambdas: vec![1.0], has_means: false, unit }
            }
            FaceKind::Full(model) => {
                let lambdas = model.scales.lambda[..model.scales.n].to_vec();
                let levels = model.axes_of_levels().collect();
                Axes { n_axes: model.n_axes(), levels, lambdas, has_means: true, unit: 1.0 }
            }
        }
    }

    /// From so many faces on their bounds save more than they cost: those of identities with a covariance of their own
    /// are dear.
    pub(crate) fn fewest_to_bound(&self) -> usize {
        match &self.kind {
            FaceKind::Isotropic(_) => 0,
            FaceKind::Full(_) => 8,
        }
    }

    /// The coefficients of a group's bound, and the sum of its faces. Coordinates are multiplied by `unit`; squares are
    /// taken a little too small, by the factor `safe`.
    pub(crate) fn bound<'g>(
        &self,
        group: &'g Group,
        unit: f64,
        safe: f64,
        out: &mut Coefficients,
    ) -> &'g [f64] {
        out.constants.clear();
        out.gains.clear();
        out.weights.clear();
        match (&self.kind, group) {
            (FaceKind::Isotropic(_), Group::Isotropic(group)) => group.bound(unit, safe, out),
            (FaceKind::Full(model), Group::Full(group)) => group.bound(model, safe, out),
            _ => unreachable!("{ONE_KIND}"),
        }
    }
}

impl Group {
    /// Whether a quadratic form is worth having.
    pub(crate) fn has_form(&self) -> bool {
        match self {
            Self::Isotropic(_) => false,
            Self::Full(group) => group.has_form(),
        }
    }

    /// The quadratic form, where there are several faces and it is worth having.
    pub(crate) fn form(&self, model: &FaceModel, out: &mut QuadraticForm) {
        out.clear();
        if let (FaceKind::Full(model), Self::Full(group)) = (&model.kind, self) {
            group.form(model, out);
        }
    }
}

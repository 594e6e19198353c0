//! Faces (§2.3): what an identity looks like. The one place that knows which face models exist.
//!
//! Kernels see a [`FaceModel`] and, per identity, a [`Group`] of sufficient statistics (observe, forget) and,
//! when appearance is kept explicitly, a [`Face`]. A further face model is a further arm here and nowhere
//! else.

mod after;
mod bound;
mod empirical;
mod envelope;
mod few;
mod full;
mod full_group;
mod isotropic;
mod odd;
mod one_gaussian;
mod scales;
mod scatter;
mod two_covariance;
mod whitened;

pub(crate) use bound::{Axes, Coefficients, MOST_LEVELS, MOST_SCALES};
pub(crate) use envelope::Envelope;
pub(crate) use full::factor_to;
pub use full::{Full, FullPrior};
pub use full_group::FullGroup;
pub use isotropic::{Face, Isotropic, IsotropicGroup};
pub(crate) use odd::ln_look_alikes;
pub use odd::{COPY, ODD, Odd};
pub(crate) use one_gaussian::ln_gaussian;
pub(crate) use scales::PerScale;
pub(crate) use two_covariance::{DIRECTIONS, at_one_length};
pub(crate) use whitened::{Portrait, Whitened};

use serde::{Deserialize, Serialize};

use super::ModelError;
use crate::ids::FaceId;
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
#[allow(clippy::large_enum_variant)] // There is one per model.
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
#[allow(clippy::large_enum_variant)] // All groups of a state are of one kind.
pub enum Group {
    /// Under [`FaceKind::Isotropic`].
    Isotropic(IsotropicGroup),
    /// Under [`FaceKind::Full`].
    Full(FullGroup),
}

const ONE_KIND: &str = "all groups of a state are of its model's kind";
const ONLY_COLLAPSED: &str = "a full covariance is always integrated out";

/// What is known of a weight, as a logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Weight {
    Exactly(f64),
    AtMost(f64),
}

impl Weight {
    /// The weight, or the bound, times e^more.
    pub fn plus(self, more: f64) -> Self {
        match self {
            Self::Exactly(ln) => Self::Exactly(ln + more),
            Self::AtMost(ln) => Self::AtMost(ln + more),
        }
    }
}

/// An embedding made ready for a face model: centred (and transformed), in `f64`, with its squared length,
/// and the number of its scale.
#[derive(Clone, Debug, Default)]
pub struct Centred {
    values: Vec<f64>,
    square: f64,
    /// Of [`Full`]: the values once more, to be shared, and their squares per level of psi.
    portrait: Portrait,
    squares: Vec<f64>,
    /// [`ODD`], [`COPY`], or one of the model's.
    scale: u8,
    odd: Option<Odd>,
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

    /// Whether every identity has a covariance of its own.
    pub fn has_covariances(&self) -> bool {
        matches!(self.kind, FaceKind::Full(_))
    }

    /// D.
    pub fn dimension(&self) -> usize {
        match &self.kind {
            FaceKind::Isotropic(prior) => prior.mean.len(),
            FaceKind::Full(model) => model.prior().mean.len(),
        }
    }

    /// Makes an embedding ready, at the scale of an ordinary face; `centred` is overwritten.
    pub fn centre(&self, embedding: &[f32], centred: &mut Centred) {
        match &self.kind {
            FaceKind::Isotropic(prior) => {
                let values = embedding.iter().zip(&prior.mean).map(|(&x, m_0)| f64::from(x) - m_0);
                centred.values.clear();
                centred.values.extend(values);
                centred.square = vectors::dot(&centred.values, &centred.values);
                centred.scale = 0;
                centred.odd = None;
            }
            FaceKind::Full(model) => centred.recall(model.portray(embedding), model),
        }
    }

    /// As [`FaceModel::centre`], for a face of a dataset, of which what is costly is kept.
    pub(crate) fn look(&self, face: FaceId, embedding: &[f32], whitened: &Whitened, centred: &mut Centred) {
        match &self.kind {
            FaceKind::Isotropic(_) => self.centre(embedding, centred),
            FaceKind::Full(model) => {
                centred.recall(whitened.of(face, || model.portray(embedding)), model);
            }
        }
    }

    /// An identity without faces.
    pub fn group(&self) -> Group {
        match &self.kind {
            FaceKind::Isotropic(prior) => Group::Isotropic(IsotropicGroup::new(prior)),
            FaceKind::Full(model) => Group::Full(FullGroup::new(model)),
        }
    }

    /// A face joins; one with odd looks, or a copy, leaves no trace.
    pub fn observe(&self, group: &mut Group, x: &Centred) {
        if x.leaves_no_trace() {
            return;
        }
        match (&self.kind, group) {
            (FaceKind::Isotropic(prior), Group::Isotropic(group)) => {
                group.observe(prior, &x.values, x.square)
            }
            (FaceKind::Full(model), Group::Full(group)) => group.observe(model, x),
            _ => unreachable!("{ONE_KIND}"),
        }
    }

    /// As [`FaceModel::observe`] for a group that may come to nothing: less is known of it before it is
    /// finished.
    pub(crate) fn draft(&self, group: &mut Group, x: &Centred) {
        match (&self.kind, group) {
            (FaceKind::Full(model), Group::Full(group)) if !x.leaves_no_trace() => group.draft(model, x),
            (_, group) => self.observe(group, x),
        }
    }

    /// What a draft is good for is known of it too.
    pub(crate) fn finish(&self, group: &mut Group) {
        if let Group::Full(group) = group {
            group.finish();
        }
    }

    /// Faces join.
    pub fn observe_all(&self, group: &mut Group, xs: &[Centred]) {
        match (&self.kind, group) {
            (FaceKind::Full(model), Group::Full(group)) if !xs.iter().any(Centred::leaves_no_trace) => {
                group.observe_all(model, xs);
            }
            (_, group) => xs.iter().for_each(|x| self.observe(group, x)),
        }
    }

    /// A face leaves.
    pub fn forget(&self, group: &mut Group, x: &Centred) {
        if x.leaves_no_trace() {
            return;
        }
        match (&self.kind, group) {
            (FaceKind::Isotropic(prior), Group::Isotropic(group)) => group.forget(prior, &x.values, x.square),
            (FaceKind::Full(model), Group::Full(group)) => group.forget(model, x),
            _ => unreachable!("{ONE_KIND}"),
        }
    }

    /// ln p(x | the group's faces), theta* integrated out, x's scale and whether its looks are odd summed
    /// over; with an empty group the prior predictive.
    pub fn ln_predictive(&self, group: &Group, x: &Centred) -> f64 {
        let usual = self.ln_usual(group, x);
        x.odd.map_or(usual, |odd| odd.ln_mixed(usual))
    }

    /// The same, or an upper bound of it that is below `floor`, which may take less.
    pub(crate) fn ln_predictive_above(&self, group: &Group, x: &Centred, floor: f64) -> Weight {
        match (&self.kind, group) {
            (FaceKind::Full(model), Group::Full(group)) if x.odd.is_none() => {
                group.ln_predictive_above(model, x, floor)
            }
            _ => Weight::Exactly(self.ln_predictive(group, x)),
        }
    }

    /// The same of usual looks.
    fn ln_usual(&self, group: &Group, x: &Centred) -> f64 {
        match (&self.kind, group) {
            (FaceKind::Isotropic(_), Group::Isotropic(group)) => group.ln_predictive(&x.values, x.square),
            (FaceKind::Full(model), Group::Full(group)) => group.ln_predictive(model, x),
            _ => unreachable!("{ONE_KIND}"),
        }
    }

    /// ln p(x | the group's faces, x's own scale).
    pub fn ln_joining(&self, group: &Group, x: &Centred) -> f64 {
        if x.leaves_no_trace() {
            return x.odd.map_or(0.0, |odd| odd.ln_density);
        }
        match (&self.kind, group) {
            (FaceKind::Full(model), Group::Full(group)) => group.ln_joining(model, x),
            _ => self.ln_usual(group, x),
        }
    }

    /// Per scale of a face that is one of a group of several: ln p(x, scale | the group's other faces).
    /// Nothing where faces are taken out of their group to be weighed, which costs little there, or is seldom
    /// done.
    pub(crate) fn rejoining(&self, group: &Group, x: &Centred) -> Option<PerScale> {
        if x.odd.is_some() || x.leaves_no_trace() {
            return None;
        }
        match (&self.kind, group) {
            (FaceKind::Full(model), Group::Full(group)) if group.n_faces() > 1 => {
                Some(group.rejoining(model, x))
            }
            _ => None,
        }
    }

    /// Gives a face of a group another scale.
    pub(crate) fn rescale(&self, group: &mut Group, x: &mut Centred, scale: u8) {
        if let (FaceKind::Full(model), Group::Full(group)) = (&self.kind, group) {
            group.rescale(model, x, scale);
        }
        x.scale = scale;
    }

    /// Draws the scale of a face that joins a group, or that its looks are odd.
    pub fn draw_scale(&self, group: &Group, x: &mut Centred, rng: &mut Rng) {
        if let Some(odd) = x.odd
            && rng.bernoulli(odd.p_given(self.ln_usual(group, x)))
        {
            x.scale = ODD;
            return;
        }
        x.scale = match (&self.kind, group) {
            (FaceKind::Full(model), Group::Full(group)) => group.draw_scale(model, x, rng),
            _ => self.middle_scale(),
        };
    }

    /// A scale from its prior.
    pub fn draw_prior_scale(&self, rng: &mut Rng) -> u8 {
        match &self.kind {
            FaceKind::Isotropic(_) => 0,
            FaceKind::Full(model) => model.scales.draw(rng),
        }
    }

    /// The scale of an ordinary face.
    pub fn middle_scale(&self) -> u8 {
        match &self.kind {
            FaceKind::Isotropic(_) => 0,
            FaceKind::Full(model) => model.scales.middle(),
        }
    }

    /// How many scales there are; one means that faces have none.
    pub fn n_scales(&self) -> usize {
        match &self.kind {
            FaceKind::Isotropic(_) => 1,
            FaceKind::Full(model) => model.scales.n,
        }
    }

    /// ln of a scale's prior probability.
    pub fn ln_scale(&self, scale: u8) -> f64 {
        match &self.kind {
            FaceKind::Isotropic(_) => 0.0,
            FaceKind::Full(model) => model.scales.ln_p[usize::from(scale)],
        }
    }

    /// ln p(all faces of the group), theta* integrated out.
    pub fn ln_marginal(&self, group: &Group) -> f64 {
        match (&self.kind, group) {
            (FaceKind::Isotropic(prior), Group::Isotropic(group)) => group.ln_marginal(prior),
            (FaceKind::Full(model), Group::Full(group)) => group.ln_marginal(model),
            _ => unreachable!("{ONE_KIND}"),
        }
    }

    /// Where W is the identity, or within-person variance 1: the mean of a group's faces, and the variance
    /// that it has because they are few.
    pub(crate) fn mean(&self, group: &Group) -> (Vec<f64>, f64) {
        match (&self.kind, group) {
            (FaceKind::Isotropic(prior), Group::Isotropic(group)) => group.mean(prior),
            (_, Group::Full(group)) => group.mean(),
            _ => panic!("{ONE_KIND}"),
        }
    }

    /// Where a face is on the same axes.
    pub(crate) fn place(&self, x: &Centred) -> Vec<f64> {
        match &self.kind {
            FaceKind::Isotropic(prior) => x.values.iter().map(|x| x / prior.within().sqrt()).collect(),
            FaceKind::Full(_) => x.values.clone(),
        }
    }

    /// ln p(all faces of both groups), for less than it takes to put them together.
    pub(crate) fn ln_marginal_together(&self, larger: &Group, smaller: &Group) -> f64 {
        match (&self.kind, larger, smaller) {
            (FaceKind::Isotropic(prior), Group::Isotropic(larger), Group::Isotropic(smaller)) => {
                larger.with(prior, smaller).ln_marginal(prior)
            }
            (FaceKind::Full(model), Group::Full(larger), Group::Full(smaller)) => {
                larger.ln_marginal_together(model, smaller)
            }
            _ => unreachable!("{ONE_KIND}"),
        }
    }

    /// An upper bound of the same, for less still.
    pub(crate) fn ln_marginal_at_most(&self, larger: &Group, smaller: &Group) -> f64 {
        match (&self.kind, larger, smaller) {
            (FaceKind::Full(model), Group::Full(larger), Group::Full(smaller)) => {
                larger.ln_marginal_with(model, smaller)
            }
            // There it takes next to nothing.
            _ => f64::INFINITY,
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

    /// New faces of somebody who looks like theta*, or, without it, of somebody new, one for each scale.
    pub fn simulate(&self, theta: Option<&Face>, scales: &[u8], rng: &mut Rng) -> Vec<Vec<f32>> {
        match &self.kind {
            FaceKind::Isotropic(prior) => {
                let drawn = theta.is_none().then(|| self.draw(&self.group(), rng));
                let theta = theta.or(drawn.as_ref()).expect("one of the two is there");
                let spread = theta.variance.sqrt();
                let mean: Vec<f64> = prior.mean.iter().zip(&theta.mean).map(|(m_0, mu)| m_0 + mu).collect();
                let mut face = || mean.iter().map(|m| (m + spread * rng.normal()) as f32).collect();
                scales.iter().map(|_| face()).collect()
            }
            FaceKind::Full(model) => {
                let lambda: Vec<f64> =
                    scales.iter().map(|&scale| model.scales.lambda[usize::from(scale)]).collect();
                model.simulate(&lambda, rng).iter().map(|y| model.undo(y)).collect()
            }
        }
    }

    pub(super) fn check(&self, dimension: usize) -> Result<(), ModelError> {
        match &self.kind {
            FaceKind::Isotropic(prior) => prior.check(dimension),
            FaceKind::Full(_) if self.update == FaceUpdate::Explicit => {
                Err(ModelError::value("face.update", "explicit", "collapsed with kind = \"full\""))
            }
            FaceKind::Full(model) => model.check(dimension),
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

    /// Moves the statistics out; what is left is of no use.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::Isotropic(IsotropicGroup::default()))
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
    fn recall(&mut self, portrait: Portrait, model: &Full) {
        self.values.clear();
        self.values.extend(portrait.iter().map(|&y| f64::from(y)));
        model.squares(&self.values, &mut self.squares);
        self.square = self.squares.iter().sum();
        self.scale = model.scales.middle();
        self.odd = None;
        self.portrait = portrait;
    }

    /// x - m_0.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Its squared length.
    pub(crate) fn square(&self) -> f64 {
        self.square
    }

    /// Its squared length per level of psi; none where there are no levels.
    pub(crate) fn squares(&self) -> &[f64] {
        &self.squares
    }

    /// The number of its scale.
    pub fn scale(&self) -> u8 {
        self.scale
    }

    /// Gives it another scale.
    pub fn set_scale(&mut self, scale: u8) {
        self.scale = scale;
    }

    fn lambda(&self, model: &Full) -> f64 {
        model.scales.lambda[usize::from(self.scale)]
    }
}

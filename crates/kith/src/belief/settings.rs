//! A model whose face prior may still have to be learnt: from people who are known, or from the faces
//! themselves.

use super::stages::{FEW_DIMENSIONS, NEIGHBOURS};
use crate::chain::{learn_full_prior, learn_isotropic_prior};
use crate::data::{Dataset, Embeddings};
use crate::model::face::FaceKind;
use crate::model::{
    ContextMode, ErrorRate, FaceModel, FaceUpdate, Isotropic, LocalConcentration, Model, ModelError,
    NameUpdate, Strangers, Strength,
};

/// What was said of the model; the rest is decided when the faces are known.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Everything but the face prior, in whose place something stands until [`Settings::resolve`].
    pub model: Model,
    /// Where it is not said: full covariances, unless there are too few faces or dimensions for them.
    pub kind: Option<Kind>,
    /// The face prior, where it is given in full, so that nothing is to be learnt for it.
    pub prior: Option<FaceKind>,
    /// Where it is not said: learnt with full covariances, as the paper has it with its own face model.
    pub strangers: Option<Strangers>,
}

/// The families of face models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The paper's: one variance per person.
    Isotropic,
    /// A covariance per person.
    Full,
}

/// People of the same network who are known: faces, and the rows of each person.
pub type Background<'a> = (&'a Embeddings, &'a [Vec<usize>]);

impl Default for Settings {
    fn default() -> Self {
        let nothing = Isotropic { mean: Vec::new(), kappa: f64::NAN, shape: f64::NAN, rate: f64::NAN };
        let model = Model::new(FaceModel::isotropic(nothing));
        Self { model, kind: None, prior: None, strangers: None }
    }
}

impl Settings {
    /// The paper's model, whatever the defaults are: isotropic faces, nothing said of two faces in a frame.
    /// The paper does not give its concentrations: alpha_0 and alpha_c are learnt. lambda is 100, picked on
    /// the first naming split: learnt, it falls as more of the many pieces into which this model cuts people
    /// get names, and in the end nobody is "unknown" (measured: 16 % of the familiar at 15 names, against 77
    /// %). The face prior is learnt from the faces themselves: the paper had no background.
    pub fn paper() -> Self {
        let mut settings = Self { kind: Some(Kind::Isotropic), ..Self::default() };
        settings.strangers = Some(Strangers::Expected);
        let (model, learnt) = (&mut settings.model, Strength::Learnt { shape: 1.0, rate: 0.1 });
        model.context.mode = ContextMode::Given;
        model.identity.global_concentration = learnt;
        model.identity.local_concentration = LocalConcentration::Shared(learnt);
        model.repeat = 1.0;
        model.face.update = FaceUpdate::Collapsed;
        model.name.concentration = Strength::Fixed(100.0);
        model.name.error_rate = ErrorRate::Fixed(0.05);
        model.name.update = NameUpdate::Exact;
        settings
    }

    /// The same with the paper's face model where no other is asked for: for whoever cannot wait until
    /// covariances are learnt.
    pub fn or_isotropic(self) -> Self {
        let kind = self.kind.or(Some(Kind::Isotropic));
        Self { kind, ..self }
    }

    /// The same for points that nobody says are faces: many of them in a few dimensions are clouds with
    /// covariances of their own, unless a kind is asked for.
    pub fn for_points(self, n_points: usize, dimension: usize) -> Self {
        let are_clouds = dimension < FEW_DIMENSIONS && n_points >= NEIGHBOURS && self.prior.is_none();
        Self { kind: self.kind.or(are_clouds.then_some(Kind::Full)), ..self }
    }

    /// Whether [`Settings::resolve`] takes full covariances for so many faces of so many dimensions.
    pub fn is_full(&self, n_faces: usize, dimension: usize, has_background: bool) -> bool {
        let is_small = (n_faces < NEIGHBOURS && !has_background) || dimension < FEW_DIMENSIONS;
        self.kind.map_or(!is_small, |kind| kind == Kind::Full)
    }

    /// The model, its face prior given, or learnt from `background` people, or else from the data themselves.
    /// `progress` is told the share of the latter that is done.
    pub fn resolve(
        self,
        data: &Dataset,
        background: Option<Background<'_>>,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Model, ModelError> {
        let is_full = self.is_full(data.n_faces(), data.dimension(), background.is_some());
        let kind = match (self.prior, is_full, background) {
            (Some(prior), _, _) => prior,
            (None, false, background) => {
                let of_people = background.and_then(|(faces, people)| Isotropic::from_people(faces, people));
                FaceKind::Isotropic(match of_people {
                    Some(prior) => prior,
                    None if may_be_strangers(data) => learn_isotropic_prior(&self.model, data, progress)?,
                    None => Isotropic::from_unlabelled(&data.embeddings().usual()),
                })
            }
            (None, true, known) => FaceKind::Full(learn_full_prior(&self.model, data, known, progress)?),
        };
        let mut model = self.model;
        model.identity.strangers = self.strangers.unwrap_or(match kind {
            FaceKind::Isotropic(_) => Strangers::Expected,
            FaceKind::Full(_) => Strangers::Learnt,
        });
        model.face.kind = kind;
        Ok(model)
    }

    /// As [`Settings::resolve`], for a collection that has only begun: its first faces are not taken for one
    /// person ([`Isotropic::from_few`]).
    pub fn resolve_growing(
        self,
        data: &Dataset,
        background: Option<Background<'_>>,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Model, ModelError> {
        let has_prior = self.prior.is_some() || background.is_some();
        let mut model = self.resolve(data, background, progress)?;
        if let FaceKind::Isotropic(prior) = &mut model.face.kind
            && !has_prior
            && data.n_faces() < NEIGHBOURS
        {
            *prior = Isotropic::from_few(&data.embeddings().usual(), NEIGHBOURS);
        }
        Ok(model)
    }
}

/// Whether it is asked if anybody was seen twice: where there are faces enough to tell, in so few dimensions
/// that the nearest of many strangers look like one person, and nobody's name was given twice.
fn may_be_strangers(data: &Dataset) -> bool {
    let mut names: Vec<_> = data.faces().filter_map(|face| data.given_name(face)).collect();
    let n_named = names.len();
    names.sort_unstable();
    names.dedup();
    data.n_faces() >= NEIGHBOURS && data.dimension() < FEW_DIMENSIONS && names.len() == n_named
}

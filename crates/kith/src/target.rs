//! What chains sample: a model that has been checked against a dataset, and the faces as that model sees
//! them.

use std::collections::{BTreeMap, BTreeSet};

use crate::data::{DataError, Dataset, NewFace, Statement};
use crate::ids::{FaceId, FrameId, LabelId};
use crate::model::face::{Centred, Group, Odd, Whitened};
use crate::model::{Model, ModelError};
use crate::odd;

/// A model and the data it is about. A target is only made of a model that fits its data, and grows only by
/// what still fits, so that whoever is given one need not check.
#[derive(Clone, Debug)]
pub struct Target {
    model: Model,
    data: Dataset,
    whitened: Whitened,
    /// An identity without faces.
    nobody: Group,
    /// The faces that may have odd looks.
    odd: BTreeMap<FaceId, Odd>,
}

/// Why something new was refused.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// A face, a frame or a statement is bad.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The model does not fit the data.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl Target {
    /// Checks the model ([`Model::check`]) and puts both together.
    pub fn new(model: Model, data: Dataset) -> Result<Self, ModelError> {
        let mut target = Self::with_odd(model, data, BTreeMap::new())?;
        target.look_for_odd(odd::spoken_of(&target.data));
        Ok(target)
    }

    /// As [`Target::new`], where it is known what may be odd about faces ([`Target::all_odd`]).
    pub fn with_odd(model: Model, data: Dataset, odd: BTreeMap<FaceId, Odd>) -> Result<Self, ModelError> {
        model.check(&data)?;
        let (whitened, nobody) = (Whitened::new(data.n_faces()), model.face.group());
        Ok(Self { model, data, whitened, nobody, odd })
    }

    /// Nobody has been seen yet.
    pub fn empty(model: Model) -> Result<Self, TargetError> {
        let data = Dataset::empty(model.face.dimension())?;
        Ok(Self::new(model, data)?)
    }

    /// The same data under another model.
    pub fn with_model(self, model: Model) -> Result<Self, ModelError> {
        Self::new(model, self.data)
    }

    /// The same, every identity counting e to the power of `more` more than the model says.
    pub(crate) fn favouring(&self, more: f64) -> Self {
        let mut favouring = self.clone();
        if let crate::model::face::FaceKind::Full(full) = &mut favouring.model.face.kind {
            *full = full.favouring(more);
        }
        favouring.nobody = favouring.model.face.group();
        favouring
    }

    /// The data alone.
    pub fn into_data(self) -> Dataset {
        self.data
    }

    /// What is assumed.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// What was seen.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// Both.
    pub fn parts(&self) -> (&Model, &Dataset) {
        (&self.model, &self.data)
    }

    /// Makes a face ready for the face model; the costly part is done once. `x` is overwritten.
    pub fn look(&self, face: FaceId, x: &mut Centred) {
        self.model.face.look(face, self.data.embedding(face), &self.whitened, x);
        x.set_odd(self.odd(face));
    }

    /// How probable odd looks of a face are, and what they are then, where something was said that makes them
    /// possible.
    pub fn odd(&self, face: FaceId) -> Option<Odd> {
        self.odd.get(&face).copied()
    }

    /// The faces that may have odd looks.
    pub fn all_odd(&self) -> &BTreeMap<FaceId, Odd> {
        &self.odd
    }

    /// Something was said of faces before the target was made of what was known before.
    pub fn look_again(&mut self, faces: &BTreeSet<FaceId>) {
        self.look_for_odd(faces.iter().copied());
    }

    /// Works out anew what may be odd about faces. Their look-alikes are those that there are now.
    fn look_for_odd(&mut self, faces: impl IntoIterator<Item = FaceId>) {
        for (face, odd) in odd::of(&BTreeSet::from_iter(faces), self) {
            match odd {
                Some(odd) => self.odd.insert(face, odd),
                None => self.odd.remove(&face),
            };
        }
    }

    /// The statistics of an identity without faces.
    pub fn nobody(&self) -> &Group {
        &self.nobody
    }

    /// ln of what a face says of somebody never seen: the prior predictive.
    pub fn ln_new_face(&self, x: &Centred) -> f64 {
        self.model.face.ln_predictive(&self.nobody, x)
    }

    /// Adds one frame with all its faces; nothing is added when anything about it is refused.
    pub fn push_frame(
        &mut self,
        context: Option<&str>,
        faces: &[NewFace<'_>],
    ) -> Result<FrameId, TargetError> {
        self.model.identity.check_context(context, self.data.contexts().is_empty())?;
        let frame = self.data.push_frame(context, faces)?;
        self.whitened.extend(self.data.n_faces());
        Ok(frame)
    }

    /// Gives a face the name that came with it, or takes any name away. Returns the name's id.
    pub fn set_name(&mut self, face: FaceId, name: Option<&str>) -> Option<LabelId> {
        let label = self.data.set_name(face, name);
        self.look_for_odd([face]);
        label
    }

    /// The owner says whose face this is, as [`Dataset::say_name`].
    pub fn say_name(&mut self, face: FaceId, name: &str) -> LabelId {
        let label = self.data.say_name(face, name);
        self.look_for_odd([face]);
        label
    }

    /// The owner says something in place of what was said before, as [`Dataset::correct`].
    pub fn correct(&mut self, statement: Statement) -> Result<(), DataError> {
        self.data.correct(statement)?;
        self.look_for_odd(statement.faces());
        Ok(())
    }

    /// The id of a name, which counts as known from now on.
    pub fn know_name(&mut self, name: &str) -> LabelId {
        self.data.know_name(name)
    }

    /// Somebody said something about faces; it counts beside all that was said before.
    pub fn say(&mut self, statement: Statement) -> Result<(), DataError> {
        self.data.say(statement)?;
        self.look_for_odd(statement.faces());
        Ok(())
    }

    /// Replaces the embedding of a face, for simulations.
    pub(crate) fn set_embedding(&mut self, face: FaceId, embedding: &[f32]) {
        self.data.set_embedding(face, embedding);
        self.whitened.forget(face);
        self.look_for_odd(self.odd.keys().copied().collect::<Vec<_>>());
    }

    /// Replaces the given name of a face by another known one, for simulations.
    pub(crate) fn set_label(&mut self, face: FaceId, label: LabelId) {
        self.data.set_label(face, label);
    }

    /// The same faces, as if nobody had said anything; the known names stay known.
    pub(crate) fn unsaid(&self) -> Self {
        let mut unsaid = self.clone();
        unsaid.data.unsay_all();
        for face in self.data.faces() {
            unsaid.data.set_name(face, None);
        }
        unsaid.odd.clear();
        unsaid
    }
}

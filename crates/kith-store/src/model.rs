//! The model of a library: its settings, and what faces look like in general, learnt from its own faces.
//!
//! A library begins with the paper's face model, which a handful of faces is enough to learn, and goes over
//! to full covariances as soon as there are enough faces for them: at once while that takes a moment,
//! otherwise with `learn`. When the kind of face model changes, chains and draws are started anew, since
//! seats that one kind found are a bad start for another; people keep their ids by the faces that they have
//! in common, and what was said stands. When only the prior changes, chains go on under the new one.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use kith::belief::{Background, Settings, stages};
use kith::chain::shots;
use kith::data::Dataset;
use kith::ids::FaceId;
use kith::model::{FaceModel, Full, Model};
use kith_io::model_file::{from_tree, to_tree};
use serde_json::{Value, json};

use crate::ids::PersonId;
use crate::meta::{BACKGROUND, BELIEVED, MODEL, MODEL_FACES, SETTINGS};
use crate::{Library, StoreError};

/// The model, learnt anew where that is due ([`stages::due`]); `learning` is told the share of that which is
/// done, and `None` is somebody who cannot wait for it.
pub(crate) fn model(
    library: &Library,
    data: &Dataset,
    learning: Option<&mut dyn FnMut(f64)>,
) -> Result<Model, StoreError> {
    let settings = library.settings()?;
    let stored = library.stored_model(data)?;
    let known = match &stored {
        Some(model) => Some(stages::Known {
            model,
            n_faces: library.get(MODEL_FACES)?.unwrap_or(0),
            has_background: library.get(BACKGROUND)?.is_some(),
        }),
        None => None,
    };
    let Some(settings) = stages::due(settings, data, known, learning.is_some()) else {
        return Ok(stored.expect("what is not to be worked out is known"));
    };
    let model = settings.resolve_growing(data, None, learning.unwrap_or(&mut |_| ()))?;
    match library.keep_model(&model, data.n_faces(), |_| Ok(())) {
        Ok(()) | Err(StoreError::Busy { .. }) => Ok(model),
        Err(error) => Err(error),
    }
}

fn parsed(text: &str) -> Result<Settings, StoreError> {
    from_tree(&tree(text)?).map_err(wrong)
}

fn tree(text: &str) -> Result<Value, StoreError> {
    serde_json::from_str(text).map_err(|error| wrong(error.to_string()))
}

fn wrong(message: String) -> StoreError {
    StoreError::refused(format!("the library's model: {message}"))
}

impl Library {
    /// Sets the model: the tree of keys of a MODEL.toml, and people of the same network to learn from what
    /// faces look like in general. Where neither is given, `progress` is told the share of learning it that
    /// is done.
    pub fn set_model(
        &self,
        settings: &Value,
        background: Option<Background<'_>>,
        progress: &mut dyn FnMut(f64),
    ) -> Result<(), StoreError> {
        let wrong = |message| StoreError::refused(format!("the model: {message}"));
        let parsed = from_tree(settings).map_err(wrong)?;
        let snapshot = self.snapshot()?;
        let model = parsed.resolve_growing(&snapshot.data, background, progress)?;
        model.check(&snapshot.data)?;
        self.keep_model(&model, snapshot.data.n_faces(), |library| {
            library.set(SETTINGS, settings.to_string())?;
            match background {
                Some(_) => library.set(BACKGROUND, 1),
                None => library.unset(BACKGROUND),
            }
        })
    }

    /// MODEL.toml as it was given.
    pub(crate) fn settings(&self) -> Result<Settings, StoreError> {
        let text = self.get(SETTINGS)?;
        text.map_or(Ok(Settings::default()), |text| parsed(&text))
    }

    /// The model that was kept.
    pub(crate) fn stored_model(&self, data: &Dataset) -> Result<Option<Model>, StoreError> {
        let Some(text) = self.get(MODEL)? else { return Ok(None) };
        let mut model = parsed(&text)?.resolve(data, None, &mut |_| ())?;
        // How sure a word is follows the settings: libraries from before words decided faces keep nothing of
        // that.
        model.evidence = self.settings()?.model.evidence;
        Ok(Some(model))
    }

    /// Keeps a model, and whatever goes with it; what was learnt under another kind of face model is dropped
    /// with it.
    fn keep_model(
        &self,
        model: &Model,
        n_faces: usize,
        with: impl FnOnce(&Self) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.write(|connection| {
            let tree = to_tree(model);
            if self.kind()?.is_some_and(|kind| kind != tree["face"]["kind"]) {
                self.run(|| connection.execute_batch("DELETE FROM chains; DELETE FROM draws"))?;
                self.unset(BELIEVED)?;
            }
            self.set(MODEL, tree.to_string())?;
            self.set(MODEL_FACES, n_faces)?;
            with(self)
        })
    }

    /// The kind of face model that chains and draws are about.
    fn kind(&self) -> Result<Option<Value>, StoreError> {
        Ok(self.get(MODEL)?.map(|text| tree(&text)).transpose()?.map(|tree| tree["face"]["kind"].clone()))
    }

    /// After some were forgotten: a prior that was learnt from all faces remembers those that are gone. It is
    /// worked out anew from those who are left, or learnt anew where they are too few. Inside the caller's
    /// transaction.
    pub(crate) fn unlearn_prior(&self) -> Result<(), StoreError> {
        if self.get(BACKGROUND)?.is_some() || self.settings()?.prior.is_some() {
            return Ok(());
        }
        let was_full = self.kind()? == Some(json!("full"));
        let text = self.get(MODEL)?;
        self.unset(MODEL)?;
        self.unset(MODEL_FACES)?;
        let Some(text) = text.filter(|_| was_full && self.n_faces().is_ok_and(|n| n > 0)) else {
            return Ok(());
        };
        let snapshot = self.snapshot_inside()?;
        let data = &snapshot.data;
        if data.n_faces() < 2 || !self.settings()?.is_full(data.n_faces(), data.dimension(), false) {
            self.run(|| self.connection.execute_batch("DELETE FROM chains; DELETE FROM draws"))?;
            return Ok(());
        }
        let mut model = parsed(&text)?.resolve(data, None, &mut |_| ())?;
        let mut people: BTreeMap<(Option<PersonId>, Reverse<usize>), Vec<usize>> = BTreeMap::new();
        let shots = shots::find(&model, data);
        for (face, person) in self.person_of_faces(&snapshot.rows)?.into_iter().enumerate() {
            if shots.as_ref().is_some_and(|shots| shots.is_copy(FaceId::new(face))) {
                continue;
            }
            // A face of whom nothing is known yet is alone.
            let alone = if person.is_none() { face } else { 0 };
            people.entry((person, Reverse(alone))).or_default().push(face);
        }
        let people: Vec<Vec<usize>> = people.into_values().collect();
        model.face = FaceModel::full(Full::from_found(data.embeddings(), &people));
        self.set(MODEL, to_tree(&model).to_string())?;
        self.set(MODEL_FACES, data.n_faces())
    }
}

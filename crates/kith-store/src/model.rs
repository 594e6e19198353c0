//! The model of a library: its settings, and what faces look like in general, learnt from its own faces.
//!
//! A library begins with the paper's face model, which a handful of faces is enough to learn, and goes over to full
//! covariances as soon as there are enough faces for them: at once while that takes a moment, otherwise with `learn`.
//! When the kind of face model changes, chains and draws are started anew, since seats that one kind found are a bad
//! start for another; people keep their ids by the faces that they have in common, and what was said stands. When only
//! the prior changes, chains go on under the new one.

use kith::data::{Dataset, Embeddings};
use kith::model::face::FaceKind;
use kith::model::{FaceModel, Full, Model};
use kith_io::model_file::{ModelSettings, to_tree};
use serde_json::{Value, json};

use crate::{Library, StoreError, few};

/// While there are fewer faces, an isotropic prior is learnt anew without `learn` too, with every doubling.
pub(crate) const FEW: usize = 1000;
/// And while there are fewer than this, full covariances are.
const FEW_FULL: usize = 300;

/// The model. It is learnt anew when there are twice as many faces as when it was learnt, or when there are enough for
/// the better kind; `learning` is told the share of that which is done, and `None` is somebody who cannot wait for it.
pub(crate) fn model(
    library: &Library,
    data: &Dataset,
    learning: Option<&mut dyn FnMut(f64)>,
) -> Result<Model, StoreError> {
    let n_faces = data.n_faces();
    let n_when_learnt: usize = library.meta("model_faces")?.and_then(|n| n.parse().ok()).unwrap_or(0);
    let settings = settings(library)?;
    let has_background = library.meta("background")?.is_some();
    let may_be_full = learning.is_some() || n_faces <= FEW_FULL;
    let wanted_full = may_be_full && settings.is_full(n_faces, data.dimension(), has_background);
    if let Some(text) = library.meta("model")? {
        let stored = ModelSettings::from_tree(&tree(&text)?).map_err(wrong)?;
        let model = stored.resolve(data, None, &mut |_| ())?;
        let is_full = matches!(model.face.kind, FaceKind::Full(_));
        let few = if is_full { FEW_FULL } else { FEW };
        let is_stale = n_faces >= 2 * n_when_learnt && (learning.is_some() || n_faces < few);
        if has_background || !(is_stale || wanted_full && !is_full) {
            return Ok(model);
        }
    }
    let settings = if may_be_full { settings } else { settings.or_isotropic() };
    let model = resolved(settings, data, None, learning.unwrap_or(&mut |_| ()))?;
    match library.keep_model(&model, n_faces, |_| Ok(())) {
        Ok(()) | Err(StoreError::Busy { .. }) => Ok(model),
        Err(error) => Err(error),
    }
}

/// The model that settings come to.
fn resolved(
    settings: ModelSettings,
    data: &Dataset,
    background: Option<(&Embeddings, &[Vec<usize>])>,
    progress: &mut dyn FnMut(f64),
) -> Result<Model, StoreError> {
    let has_prior = settings.has_prior() || background.is_some();
    let mut model = settings.resolve(data, background, progress)?;
    if let FaceKind::Isotropic(prior) = &mut model.face.kind
        && !has_prior
        && data.n_faces() < few::MANY
    {
        *prior = few::prior(data.embeddings(), prior.clone());
    }
    Ok(model)
}

/// MODEL.toml as it was given.
fn settings(library: &Library) -> Result<ModelSettings, StoreError> {
    let text = library.meta("settings")?;
    text.map_or(Ok(ModelSettings::default()), |text| ModelSettings::from_tree(&tree(&text)?).map_err(wrong))
}

fn tree(text: &str) -> Result<Value, StoreError> {
    serde_json::from_str(text).map_err(|error| wrong(error.to_string()))
}

fn wrong(message: String) -> StoreError {
    StoreError::refused(format!("the library's model: {message}"))
}

impl Library {
    /// Sets the model: the tree of keys of a MODEL.toml, and people of the same network to learn from what faces look
    /// like in general. Where neither is given, `progress` is told the share of learning it that is done.
    pub fn set_model(
        &self,
        settings: &Value,
        background: Option<(&Embeddings, &[Vec<usize>])>,
        progress: &mut dyn FnMut(f64),
    ) -> Result<(), StoreError> {
        let wrong = |message| StoreError::refused(format!("the model: {message}"));
        let parsed = ModelSettings::from_tree(settings).map_err(wrong)?;
        let snapshot = self.snapshot()?;
        let model = resolved(parsed, &snapshot.data, background, progress)?;
        model.check(&snapshot.data)?;
        self.keep_model(&model, snapshot.data.n_faces(), |library| {
            library.set_meta("settings", &settings.to_string())?;
            match background {
                Some(_) => library.set_meta("background", "1"),
                None => library.unset_meta("background"),
            }
        })
    }

    /// Keeps a model, and whatever goes with it; what was learnt under another kind of face model is dropped with it.
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
                self.unset_meta("believed")?;
            }
            self.set_meta("model", &tree.to_string())?;
            self.set_meta("model_faces", &n_faces.to_string())?;
            with(self)
        })
    }

    /// The kind of face model that chains and draws are about.
    fn kind(&self) -> Result<Option<Value>, StoreError> {
        Ok(self.meta("model")?.map(|text| tree(&text)).transpose()?.map(|tree| tree["face"]["kind"].clone()))
    }

    /// After some were forgotten: a prior that was learnt from all faces remembers those that are gone. It is worked out
    /// anew from those who are left, or learnt anew where they are too few. Inside the caller's transaction.
    pub(crate) fn unlearn_prior(&self) -> Result<(), StoreError> {
        if self.meta("background")?.is_some() || settings(self)?.has_prior() {
            return Ok(());
        }
        let was_full = self.kind()? == Some(json!("full"));
        let text = self.meta("model")?;
        self.unset_meta("model")?;
        self.unset_meta("model_faces")?;
        let Some(text) = text.filter(|_| was_full && self.n_faces().is_ok_and(|n| n > 0)) else {
            return Ok(());
        };
        let snapshot = self.snapshot_inside()?;
        let data = &snapshot.data;
        if data.n_faces() < 2 || !settings(self)?.is_full(data.n_faces(), data.dimension(), false) {
            self.run(|| self.connection.execute_batch("DELETE FROM chains; DELETE FROM draws"))?;
            return Ok(());
        }
        let mut model =
            ModelSettings::from_tree(&tree(&text)?).map_err(wrong)?.resolve(data, None, &mut |_| ())?;
        let mut people = std::collections::BTreeMap::<i64, Vec<usize>>::new();
        for (face, person) in self.person_of_faces(&snapshot.rows)?.into_iter().enumerate() {
            // A face of whom nothing is known yet is alone.
            people.entry(person.unwrap_or(-1 - face as i64)).or_default().push(face);
        }
        let people: Vec<Vec<usize>> = people.into_values().collect();
        model.face = FaceModel::full(Full::from_supposed(data.embeddings(), &people));
        self.set_meta("model", &to_tree(&model).to_string())?;
        self.set_meta("model_faces", &data.n_faces().to_string())
    }
}

//! The models of an experiment: the one asked for, and the paper's beside it.

use std::path::Path;
use std::sync::Mutex;

use anyhow::Context;
use kith::belief::Settings;
use kith::data::Dataset;
use kith::model::{FaceUpdate, Model};
use kith_io::model_file;
use kith_lab::experiment::{Arm, ModelMaker, Sampler};
use serde_json::{Value, json};

use crate::args::{ExperimentOptions, Face};
use crate::background::Background;

/// What "our default" is: the default of `kith fit`.
fn default() -> Settings {
    Settings::default()
}

/// Settings before any face is seen.
pub struct Models<'b> {
    asked: Option<Settings>,
    paper: Settings,
    background: Option<&'b Background>,
    /// Whether the paper's model runs with the paper's sampler too.
    is_as_printed: bool,
}

impl<'b> Models<'b> {
    /// What the options ask for. `--face isotropic` alone is the paper's model, and is run once.
    pub fn read(options: &ExperimentOptions, background: Option<&'b Background>) -> anyhow::Result<Self> {
        let paper = Settings::paper();
        let asked = match (&options.model, options.face) {
            (None, Some(Face::Isotropic)) if background.is_none() => None,
            (Some(path), Some(face)) => Some(read_with_face(path, face)?),
            (Some(path), None) => Some(model_file::read(path)?),
            (None, Some(face)) => {
                let tree = with_face(json!({}), face);
                Some(model_file::from_tree(&tree).expect("a kind alone is well-formed"))
            }
            (None, None) => Some(default()),
        };
        Ok(Self { asked, paper, background, is_as_printed: options.as_printed })
    }

    /// The models by name, the one asked for last, so that figures show it on top.
    pub fn arms(&self) -> Vec<Arm<'_>> {
        let mut paper = Arm {
            labels: vec!["isotropic"],
            title: "isotropic (the paper's)".to_owned(),
            model: maker(&self.paper, None),
            sampler: Sampler::Ours,
        };
        let printed = self.is_as_printed.then(|| Arm {
            labels: vec!["printed"],
            title: "as printed (the paper's model and sampler)".to_owned(),
            model: explicit(maker(&self.paper, None)),
            sampler: Sampler::AsPrinted,
        });
        let Some(asked) = &self.asked else {
            paper.labels.push("kith");
            return printed.into_iter().chain([paper]).collect();
        };
        let model = maker(asked, self.background);
        let (labels, title) = (vec!["kith"], "kith".to_owned());
        let kith = Arm { labels, title, model, sampler: Sampler::Ours };
        printed.into_iter().chain([paper, kith]).collect()
    }

    /// Differs where the models do.
    pub fn fingerprint(&self) -> String {
        let mut text = format!("{} {:?} {:?}", env!("CARGO_PKG_VERSION"), self.asked, self.paper);
        if self.is_as_printed {
            text += " as printed";
        }
        if let Some(background) = self.background {
            let (faces, people) = background.known();
            let sum: f64 = faces.values().iter().map(|value| f64::from(*value)).sum();
            text += &format!(" {} {sum} {people:?}", faces.len());
        }
        text
    }
}

/// Resolves settings for the data at hand; the last answer is kept, because several fits are of the same
/// data. Names count: an experiment that is resumed must learn the same prior as one that was not
/// interrupted.
fn maker<'a>(settings: &'a Settings, background: Option<&'a Background>) -> ModelMaker<'a> {
    let last: Mutex<Option<(Dataset, Model)>> = Mutex::new(None);
    Box::new(move |data| {
        let mut last = last.lock().expect("no thread fails while it holds the last model");
        if let Some((_, model)) = last.as_ref().filter(|(known, _)| known == data) {
            return Ok(model.clone());
        }
        let known = background.map(Background::known);
        let model = settings.clone().resolve_growing(data, known, &mut |_| ())?;
        *last = Some((data.clone(), model.clone()));
        Ok(model)
    })
}

/// The same with appearance kept and redrawn, as in the paper's appendix.
fn explicit(maker: ModelMaker<'_>) -> ModelMaker<'_> {
    Box::new(move |data| {
        let mut model = maker(data)?;
        model.face.update = FaceUpdate::Explicit;
        Ok(model)
    })
}

/// A model file, with another kind of face model.
fn read_with_face(path: &Path, face: Face) -> anyhow::Result<Settings> {
    // Mistakes in the file are told apart from mistakes that the other kind makes.
    model_file::read(path)?;
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let table: toml::Table = text.parse().with_context(|| path.display().to_string())?;
    let tree = with_face(serde_json::to_value(table)?, face);
    model_file::from_tree(&tree).map_err(anyhow::Error::msg).with_context(|| path.display().to_string())
}

fn with_face(mut tree: Value, face: Face) -> Value {
    tree["face"]["kind"] = json!(match face {
        Face::Isotropic => "isotropic",
        Face::Full => "full",
    });
    tree
}

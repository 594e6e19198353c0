//! The models of an experiment: the one asked for, and the paper's beside it.

use std::path::Path;
use std::sync::Mutex;

use anyhow::Context;
use kith::data::Dataset;
use kith::model::Model;
use kith_io::model_file::ModelSettings;
use kith_lab::experiment::{Arm, ModelMaker};
use serde_json::{Value, json};

use crate::args::{ExperimentOptions, Face};
use crate::background::Background;

/// The paper's model, whatever the defaults are: isotropic faces, nothing said of two faces in a frame. The paper does
/// not give its concentrations: alpha_0 and alpha_c are learnt. lambda is 100, picked on the first naming split: learnt, it
/// falls as more of the many pieces into which this model cuts people get names, and in the end nobody is "unknown"
/// (measured: 16 % of the familiar at 15 names, against 77 %). The face prior is learnt from the faces themselves: the
/// paper had no background.
fn paper() -> Value {
    json!({
        "context": {"mode": "given"},
        "identity": {
            "global_concentration": {"shape": 1.0, "rate": 0.1},
            "local_concentration": {"shape": 1.0, "rate": 0.1, "shared": true},
            "strangers": "expected",
        },
        "frame": {"repeat": 1.0},
        "face": {"kind": "isotropic", "update": "collapsed"},
        "name": {"concentration": 100.0, "error_rate": 0.05, "update": "exact"},
    })
}

/// What "our default" is: the default of `kith fit`.
fn default() -> ModelSettings {
    ModelSettings::default()
}

/// Settings before any face is seen.
pub struct Models<'b> {
    asked: Option<ModelSettings>,
    paper: ModelSettings,
    background: Option<&'b Background>,
}

impl<'b> Models<'b> {
    /// What the options ask for. `--face isotropic` alone is the paper's model, and is run once.
    pub fn read(options: &ExperimentOptions, background: Option<&'b Background>) -> anyhow::Result<Self> {
        let paper = ModelSettings::from_tree(&paper()).expect("the paper's model is well-formed");
        let asked = match (&options.model, options.face) {
            (None, Some(Face::Isotropic)) if background.is_none() => None,
            (Some(path), Some(face)) => Some(read_with_face(path, face)?),
            (Some(path), None) => Some(ModelSettings::read(path)?),
            (None, Some(face)) => {
                let tree = with_face(json!({}), face);
                Some(ModelSettings::from_tree(&tree).expect("a kind alone is well-formed"))
            }
            (None, None) => Some(default()),
        };
        Ok(Self { asked, paper, background })
    }

    /// The models by name, the one asked for last, so that figures show it on top.
    pub fn arms(&self) -> Vec<Arm<'_>> {
        let mut paper = Arm {
            labels: vec!["isotropic"],
            title: "isotropic (the paper's)".to_owned(),
            model: maker(&self.paper, None),
        };
        let Some(asked) = &self.asked else {
            paper.labels.push("kith");
            return vec![paper];
        };
        let model = maker(asked, self.background);
        vec![paper, Arm { labels: vec!["kith"], title: "kith".to_owned(), model }]
    }

    /// Differs where the models do.
    pub fn fingerprint(&self) -> String {
        let mut text = format!("{} {:?} {:?}", env!("CARGO_PKG_VERSION"), self.asked, self.paper);
        if let Some(background) = self.background {
            let (faces, people) = background.known();
            let sum: f64 = faces.values().iter().map(|value| f64::from(*value)).sum();
            text += &format!(" {} {sum} {people:?}", faces.len());
        }
        text
    }
}

/// Resolves settings for the data at hand; the last answer is kept, because several fits are of the same data. Names count:
/// an experiment that is resumed must learn the same prior as one that was not interrupted.
fn maker<'a>(settings: &'a ModelSettings, background: Option<&'a Background>) -> ModelMaker<'a> {
    let last: Mutex<Option<(Dataset, Model)>> = Mutex::new(None);
    Box::new(move |data| {
        let mut last = last.lock().expect("no thread fails while it holds the last model");
        if let Some((_, model)) = last.as_ref().filter(|(known, _)| known == data) {
            return Ok(model.clone());
        }
        let model = settings.clone().resolve(data, background.map(Background::known), &mut |_| ())?;
        *last = Some((data.clone(), model.clone()));
        Ok(model)
    })
}

/// A model file, with another kind of face model.
fn read_with_face(path: &Path, face: Face) -> anyhow::Result<ModelSettings> {
    // Mistakes in the file are told apart from mistakes that the other kind makes.
    ModelSettings::read(path)?;
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let table: toml::Table = text.parse().with_context(|| path.display().to_string())?;
    let tree = with_face(serde_json::to_value(table)?, face);
    ModelSettings::from_tree(&tree).map_err(anyhow::Error::msg).with_context(|| path.display().to_string())
}

fn with_face(mut tree: Value, face: Face) -> Value {
    tree["face"]["kind"] = json!(match face {
        Face::Isotropic => "isotropic",
        Face::Full => "full",
    });
    tree
}

//! Networks as files: where they are looked for, how they are recognised, and their settings.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::VisionError;
use crate::align::ARCFACE;
use crate::detect;
use crate::net::Net;

/// A network that somebody publishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// What it is called.
    pub name: &'static str,
    /// How its file is called.
    pub file: &'static str,
    /// The SHA-256 of the file.
    pub digest: &'static str,
    /// Bytes.
    pub size: u64,
    /// Under which terms.
    pub licence: &'static str,
    /// Where its makers offer it; not all do.
    pub address: Option<&'static str>,
    /// Settings, for an embedder.
    pub settings: Option<&'static str>,
}

/// Networks that are known by their digests. The first detector and the first embedder are those that `kith
/// models get` brings; their digests are those in their makers' repository.
pub const PUBLISHED: [Published; 4] = [
    Published {
        name: "YuNet 2023mar",
        file: "face_detection_yunet_2023mar.onnx",
        digest: "8f2383e4dd3cfbb4553ea8718107fc0423210dc964f9f4280604804ed2552fa4",
        size: 232_589,
        licence: "MIT",
        address: Some(
            "https://media.githubusercontent.com/media/opencv/opencv_zoo/main/models/face_detection_yunet/face_detection_yunet_2023mar.onnx",
        ),
        settings: None,
    },
    Published {
        name: "SFace 2021dec",
        file: "face_recognition_sface_2021dec.onnx",
        digest: "0ba9fbfa01b5270c96627c4ef784da859931e02f04419c829e83484087c34e79",
        size: 38_696_353,
        licence: "Apache-2.0",
        address: Some(
            "https://media.githubusercontent.com/media/opencv/opencv_zoo/main/models/face_recognition_sface/face_recognition_sface_2021dec.onnx",
        ),
        settings: Some("name = \"SFace 2021dec\"\nlicence = \"Apache-2.0\"\n"),
    },
    Published {
        name: "YuNet",
        file: "face_detector_yunet.onnx",
        digest: "104ee26c71d5c270ce79a6b3dced91c91013260d29a6bf18f9296c5b8c4c2b12",
        size: 322_906,
        licence: "Apache-2.0",
        address: None,
        settings: None,
    },
    Published {
        name: "MobileFace V2",
        file: "face_embedder_mobileface_v2.onnx",
        digest: "4b631eee5a1756438276515a9c58dab238f6a961dd56ef6fe05a3e24b5b998c3",
        size: 3_591_702,
        licence: "MIT",
        address: None,
        settings: Some("name = \"MobileFace V2\"\nlicence = \"MIT\"\n"),
    },
];

/// The settings of an embedder: how its input is made and which of its outputs counts.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// What it is called.
    pub name: String,
    /// Under which terms.
    #[serde(default)]
    pub licence: String,
    /// Width and height of its input.
    #[serde(default = "default_size")]
    pub size: usize,
    /// The order of the channels.
    #[serde(default)]
    pub channels: Channels,
    /// The input is (value - mean) / scale, value 0 to 255.
    #[serde(default)]
    pub mean: f32,
    /// See `mean`.
    #[serde(default = "default_scale")]
    pub scale: f32,
    /// Eyes, nose and corners of the mouth in the input; ArcFace's where it is left out.
    pub template: Option<[[f32; 2]; 5]>,
    /// The output that is the embedding; the only one where it is left out.
    pub output: Option<String>,
}

/// The order of the channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channels {
    /// Red, green, blue.
    #[default]
    Rgb,
    /// Blue, green, red.
    Bgr,
}

fn default_size() -> usize {
    112
}

fn default_scale() -> f32 {
    1.0
}

impl Settings {
    /// Reads settings; `path` is for messages.
    pub fn parse(path: &Path, text: &str) -> Result<Self, VisionError> {
        let wrong = |reason: String| VisionError::Model { path: path.to_owned(), reason };
        let settings: Self = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
            wrong(format!("line {line}: {}", error.message().replace('\n', "; ")))
        })?;
        if !(8..=1024).contains(&settings.size) {
            return Err(wrong(format!("found size = {}, wanted 8 to 1024", settings.size)));
        }
        if !settings.scale.is_normal() || !settings.mean.is_finite() {
            return Err(wrong(format!(
                "found mean = {}, scale = {}, wanted finite numbers and a scale other than zero",
                settings.mean, settings.scale
            )));
        }
        Ok(settings)
    }

    /// The template in pixels of the input.
    pub fn points(&self) -> [[f32; 2]; 5] {
        let factor = self.size as f32 / 112.0;
        self.template.unwrap_or_else(|| ARCFACE.map(|point| point.map(|value| value * factor)))
    }
}

/// What a file of a model folder is.
#[derive(Clone, Debug, PartialEq)]
pub enum Role {
    /// Finds faces.
    Detector,
    /// Turns a face into numbers.
    Embedder(Settings),
    /// Neither, or without settings; why.
    Unknown(String),
}

/// A network file.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The file.
    pub path: PathBuf,
    /// Its SHA-256.
    pub digest: String,
    /// What it is.
    pub role: Role,
    /// What is known of it, by its digest.
    pub published: Option<Published>,
}

/// Folders in which networks are looked for, first the one that was given; a folder that is given is the only
/// one.
pub fn folders(given: Option<&Path>) -> Vec<PathBuf> {
    if let Some(given) = given {
        return vec![given.to_owned()];
    }
    let chosen = std::env::var_os("KITH_MODELS").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    chosen.into_iter().chain(data_folder()).collect()
}

/// The platform's folder for the data of programs, and kith's models in it.
pub fn data_folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        variable("XDG_DATA_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/share")))
    };
    base.map(|base| base.join("kith").join("models"))
}

/// The networks of a folder, by name; a folder that is not there has none.
pub fn list(folder: &Path) -> Result<Vec<Found>, VisionError> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(VisionError::file(folder))?,
    };
    let is_network =
        |path: &PathBuf| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("onnx"));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_network).collect();
    paths.sort();
    paths.iter().map(|path| Ok(recognised(path)?.0)).collect()
}

/// What a file is, and the network in it.
pub(crate) fn recognised(path: &Path) -> Result<(Found, Option<Net>), VisionError> {
    let bytes = std::fs::read(path).map_err(VisionError::file(path))?;
    let digest = digest(&bytes);
    let published = PUBLISHED.into_iter().find(|known| known.digest == digest);
    let (role, net) = match Net::load(path, bytes) {
        Err(VisionError::Model { reason, .. }) => (Role::Unknown(reason), None),
        Err(error) => return Err(error),
        Ok(mut net) => match net.choose(&detect::OUTPUTS) {
            true => (Role::Detector, Some(net)),
            false => embedder(path, net, published.as_ref())?,
        },
    };
    Ok((Found { path: path.to_owned(), digest, role, published }, net))
}

/// An embedder by its settings, which lie beside it or are known.
fn embedder(
    path: &Path,
    mut net: Net,
    known: Option<&Published>,
) -> Result<(Role, Option<Net>), VisionError> {
    let beside = path.with_extension("toml");
    let text = match std::fs::read_to_string(&beside) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            known.and_then(|known| known.settings).map(str::to_owned)
        }
        Err(error) => return Err(VisionError::File { path: beside, source: error }),
    };
    let Some(text) = text else {
        let name = beside.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return Ok((Role::Unknown(format!("found no settings for it, wanted {name} beside it")), None));
    };
    let settings = Settings::parse(&beside, &text)?;
    let outputs = net.output_names();
    let output = match (&settings.output, &outputs[..]) {
        (Some(output), _) => output.clone(),
        (None, [only]) => only.clone(),
        (None, _) => {
            return Ok((
                Role::Unknown(format!("found the outputs {outputs:?}, wanted `output` in its settings")),
                None,
            ));
        }
    };
    if !net.choose(&[&output]) {
        return Ok((Role::Unknown(format!("found the outputs {outputs:?}, wanted \"{output}\"")), None));
    }
    match net.size {
        Some(found) if found != (settings.size, settings.size) => Ok((
            Role::Unknown(format!("found an input of {} x {}, wanted {}", found.0, found.1, settings.size)),
            None,
        )),
        _ => Ok((Role::Embedder(settings), Some(net))),
    }
}

/// The SHA-256 of bytes, as text.
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes as text.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

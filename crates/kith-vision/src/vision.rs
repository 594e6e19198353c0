//! From the bytes of a photo to its faces: the networks that are loaded, and the steps in their order.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::about::About;
use crate::align::crop;
use crate::decode::is_whole;
use crate::detect::{self, Detection};
use crate::models::{self, Channels, Found, PUBLISHED, Role, Settings, hex};
use crate::names::{Region, matched};
use crate::net::Net;
use crate::quality::Quality;
use crate::{Kind, Pixels, VisionError, decode};

/// Changes whenever the same photo and networks give other embeddings: faces of two versions are not
/// compared.
const VERSION: u32 = 1;

/// Faces that the detector is less sure of are left out.
const THRESHOLD: f32 = 0.7;

/// The same for a face that another program says is there.
const TOLD_THRESHOLD: f32 = 0.3;

/// Smaller faces, in pixels of the whole picture, are left out: their embeddings are mostly wrong.
const LEAST_SIZE: f32 = 16.0;

/// The longer side of a thumbnail, and its quality as JPEG.
const THUMBNAIL: (f32, u8) = (160.0, 82);

/// A face of a photo.
#[derive(Clone, Debug, PartialEq)]
pub struct Face {
    /// Left, top, width and height, as parts of the upright picture.
    pub bounds: [f32; 4],
    /// How well it is seen.
    pub quality: Quality,
    /// Of length 1.
    pub embedding: Vec<f32>,
    /// A small upright JPEG of it, without EXIF.
    pub thumbnail: Vec<u8>,
    /// The name that another program left, and which.
    pub name: Option<(String, &'static str)>,
}

/// What was seen on a photo.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// What its file says of it.
    pub about: About,
    /// Width and height of the upright picture.
    pub size: (usize, usize),
    /// Its faces, from left to right.
    pub faces: Vec<Face>,
    /// Names that other programs left and that fit no face.
    pub unplaced: usize,
    /// Whether its end is missing.
    pub is_cut_off: bool,
}

/// A detector and an embedder, ready to look at photos from several threads.
#[derive(Debug)]
pub struct Vision {
    detector: Net,
    embedder: Net,
    settings: Settings,
    pipeline: String,
}

impl Vision {
    /// Loads the first detector and the first embedder that are found. Where a library was made with a
    /// pipeline, the networks of that pipeline are `wanted`, and others are taken only where those are
    /// missing.
    pub fn load(folders: &[PathBuf], wanted: Option<&str>) -> Result<Self, VisionError> {
        let (mut detectors, mut embedders, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for folder in folders {
            for found in models::list(folder)? {
                match &found.role {
                    Role::Detector => detectors.push(found),
                    Role::Embedder(settings) => embedders.push((found.clone(), settings.clone())),
                    Role::Unknown(reason) => others.push(format!("{}: {reason}", found.path.display())),
                }
            }
        }
        let pairs = || detectors.iter().flat_map(|d| embedders.iter().map(move |(e, s)| (d, e, s)));
        let is_wanted = |&(d, e, s): &(&Found, &Found, &Settings)| Some(&pipeline_of(d, e, s)[..]) == wanted;
        let chosen = pairs().find(is_wanted).or_else(|| pairs().next());
        let Some((detector, embedder, settings)) = chosen else {
            return Err(missing(folders, detectors.is_empty(), embedders.is_empty(), &others));
        };
        let pipeline = pipeline_of(detector, embedder, settings);
        let load = |path: &Path| {
            let net = models::recognised(path)?.1;
            let gone = "found another file than a moment ago, wanted the same".to_owned();
            net.ok_or(VisionError::Model { path: path.to_owned(), reason: gone })
        };
        let (detector, embedder) = (load(&detector.path)?, load(&embedder.path)?);
        Ok(Self { detector, embedder, settings: settings.clone(), pipeline })
    }

    /// What the embeddings depend on: the networks, the settings and the version of these steps, in short.
    pub fn pipeline(&self) -> &str {
        &self.pipeline
    }

    /// Looks at a photo. `is_raw` says that its file is called like a RAW file; `regions` are what others
    /// left.
    pub fn look(&self, bytes: &[u8], is_raw: bool, regions: &[Region]) -> Result<Seen, VisionError> {
        let image = decode(bytes, is_raw)?;
        let about = About::of(bytes);
        let size = about.orientation.upright_size((image.width, image.height));
        let mut found = self.detect(&image, &about)?;
        let scale = |bounds: [f32; 4]| {
            let (w, h) = (size.0 as f32, size.1 as f32);
            [bounds[0] * w, bounds[1] * h, bounds[2] * w, bounds[3] * h]
        };
        let parts = |face: &Detection| {
            let ([x, y, w, h], width, height) = (face.bounds, size.0 as f32, size.1 as f32);
            [x / width, y / height, w / width, h / height]
        };
        // A face that another program knows and that was not found is looked for where it is said to be.
        let boxes: Vec<[f32; 4]> = found.iter().map(parts).collect();
        let told = matched(regions, &boxes, about.stored_orientation);
        for bounds in told.missing {
            let there = (scale(bounds), TOLD_THRESHOLD);
            let face = detect::detect_under(&self.detector, &image, about.orientation, there.0, there.1)?;
            found.extend(
                face.filter(|face| {
                    found.iter().all(|other| detect::overlap(&other.bounds, &face.bounds) < 0.3)
                }),
            );
        }
        found.sort_by(|a, b| a.bounds[0].total_cmp(&b.bounds[0]));
        let boxes: Vec<[f32; 4]> = found.iter().map(parts).collect();
        let told = matched(regions, &boxes, about.stored_orientation);
        let faces = found
            .iter()
            .zip(told.names)
            .map(|(face, name)| self.face(&image, &about, face, parts(face), name))
            .collect::<Result<_, _>>()?;
        let is_cut_off = Kind::of(bytes) == Kind::Jpeg && !is_whole(bytes);
        Ok(Seen { about, size, faces, unplaced: told.unplaced, is_cut_off })
    }

    fn detect(&self, image: &Pixels, about: &About) -> Result<Vec<Detection>, VisionError> {
        let mut found = detect::detect(&self.detector, image, about.orientation, THRESHOLD)?;
        found.retain(|face| face.bounds[2].max(face.bounds[3]) >= LEAST_SIZE);
        Ok(found)
    }

    fn face(
        &self,
        image: &Pixels,
        about: &About,
        face: &Detection,
        bounds: [f32; 4],
        name: Option<(String, &'static str)>,
    ) -> Result<Face, VisionError> {
        let side = self.settings.size;
        let crop = crop(image, about.orientation, face, &self.settings.points(), side);
        let (embedding, norm) = self.embed(&crop)?;
        let (longest, fineness) = THUMBNAIL;
        let thumbnail = image.thumbnail(about.orientation, face.bounds, longest);
        let outside = || VisionError::photo("found a face outside the picture, wanted it within");
        let thumbnail = thumbnail.ok_or_else(outside)?.to_jpeg(fineness)?;
        let picture = about.orientation.upright_size((image.width, image.height));
        let quality = Quality::of(face, picture, &crop, side, norm);
        Ok(Face { bounds, quality, embedding, thumbnail, name })
    }

    /// The embedding of a crop (planes of red, green and blue, 0 to 255) at length 1, and its length before.
    fn embed(&self, crop: &[f32]) -> Result<(Vec<f32>, f32), VisionError> {
        let (side, mean, scale) = (self.settings.size, self.settings.mean, self.settings.scale);
        let planes = crop.chunks_exact(side * side);
        let input: Vec<f32> = match self.settings.channels {
            Channels::Rgb => planes.flatten().map(|value| (value - mean) / scale).collect(),
            Channels::Bgr => planes.rev().flatten().map(|value| (value - mean) / scale).collect(),
        };
        let embedding = self.embedder.run(side, side, &input)?.swap_remove(0);
        let norm = embedding.iter().map(|value| value * value).sum::<f32>().sqrt();
        if !norm.is_normal() {
            return Err(VisionError::photo(format!(
                "found an embedding of length {norm}, wanted a number above 0"
            )));
        }
        Ok((embedding.iter().map(|value| value / norm).collect(), norm))
    }
}

/// The embedder's name and a digest of everything that embeddings depend on.
fn pipeline_of(detector: &Found, embedder: &Found, settings: &Settings) -> String {
    let Settings { name, size, channels, mean, scale, output, .. } = settings;
    let what = format!(
        "{VERSION} {} {} {size} {channels:?} {mean} {scale} {:?} {output:?}",
        detector.digest,
        embedder.digest,
        settings.points()
    );
    format!("{name} ({})", &hex(&Sha256::digest(what))[..16])
}

fn missing(folders: &[PathBuf], no_detector: bool, no_embedder: bool, others: &[String]) -> VisionError {
    let which = match (no_detector, no_embedder) {
        (true, true) => "neither a face detector nor an embedder",
        (true, false) => "no face detector",
        _ => "no embedder",
    };
    let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    let wanted: Vec<String> = PUBLISHED[..2]
        .iter()
        .zip([no_detector, no_embedder])
        .filter(|(_, is_missing)| *is_missing)
        .map(|(known, _)| format!("{} (sha256 {})", known.file, known.digest))
        .collect();
    let others = if others.is_empty() { String::new() } else { format!(" ({})", others.join("; ")) };
    VisionError::NoModel(format!(
        "found {which} in {}{others}, wanted {}; `kith models get` brings them, `kith models add` takes your \
         own, --models DIR says where they are",
        folders.join(", "),
        wanted.join(" and ")
    ))
}

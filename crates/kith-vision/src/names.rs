//! Names that other programs left with photos, and which of our faces they belong to.

mod picasa;
mod takeout;
pub(crate) mod xml;
pub(crate) mod xmp;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::Orientation;
use crate::detect::overlap;

/// A box and a face that overlap less than this are two things.
const LEAST_OVERLAP: f32 = 0.3;

/// More bytes than this in a sidecar are not names.
const MOST_BYTES: u64 = 16 << 20;

/// A name that another program left.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Who.
    pub name: String,
    /// Where, as parts of the picture; without it the name is said of the photo.
    pub bounds: Option<[f32; 4]>,
    /// Whether the box is relative to the picture as stored, before EXIF's orientation, or upright.
    pub is_stored: bool,
    /// What kind of file or field it comes from.
    pub source: &'static str,
}

/// Which face has which name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matched {
    /// Per face its name and where it comes from.
    pub names: Vec<Option<(String, &'static str)>>,
    /// Upright boxes with a name, and no face that fits.
    pub missing: Vec<[f32; 4]>,
    /// Names that were left without a face.
    pub unplaced: usize,
}

/// Gives names to faces, whose boxes are parts of the upright picture: the best overlap first. Some programs
/// write boxes relative to the upright picture where the standard wants the stored one; so where the other
/// reading fits more faces, it is taken. A name without a box belongs to the face when there is one of each.
pub fn matched(regions: &[Region], faces: &[[f32; 4]], orientation: Orientation) -> Matched {
    let regions = without_repeats(regions);
    let view = |is_swapped: bool| -> Vec<Option<[f32; 4]>> {
        let upright = |region: &&Region| {
            let is_stored = region.is_stored != is_swapped;
            region.bounds.map(|bounds| if is_stored { orientation.upright_box(bounds) } else { bounds })
        };
        regions.iter().map(upright).collect()
    };
    let (as_said, swapped) = (view(false), view(true));
    let (mut boxes, mut pairs) = (as_said, Vec::new());
    pairs.extend(best_pairs(&boxes, faces));
    if orientation != Orientation::UPRIGHT {
        let other = best_pairs(&swapped, faces);
        if other.len() > pairs.len() {
            (boxes, pairs) = (swapped, other);
        }
    }
    let mut matched = Matched { names: vec![None; faces.len()], ..Matched::default() };
    let mut is_placed = vec![false; regions.len()];
    for (region, face) in pairs {
        matched.names[face] = Some((regions[region].name.clone(), regions[region].source));
        is_placed[region] = true;
    }
    let is_named = |name: &str| matched.names.iter().flatten().any(|(other, _)| other == name);
    let left: Vec<usize> =
        (0..regions.len()).filter(|&k| !is_placed[k] && !is_named(&regions[k].name)).collect();
    matched.missing = left.iter().filter_map(|&k| boxes[k]).collect();
    matched.unplaced = left.len();
    if let ([only], [None]) = (&left[..], &matched.names[..])
        && boxes[*only].is_none()
    {
        matched.names[0] = Some((regions[*only].name.clone(), regions[*only].source));
        matched.unplaced = 0;
    }
    matched
}

/// Pairs of boxes and faces, each in one pair at most, the best overlap first.
fn best_pairs(boxes: &[Option<[f32; 4]>], faces: &[[f32; 4]]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (region, bounds) in boxes.iter().enumerate() {
        for (face, other) in faces.iter().enumerate() {
            let share = bounds.map_or(0.0, |bounds| overlap(&bounds, other));
            if share > LEAST_OVERLAP {
                pairs.push((region, face, share));
            }
        }
    }
    pairs.sort_by(|a, b| b.2.total_cmp(&a.2));
    let mut kept: Vec<(usize, usize)> = Vec::new();
    for (region, face, _) in pairs {
        if kept.iter().all(|&(a, b)| a != region && b != face) {
            kept.push((region, face));
        }
    }
    kept
}

/// The same name at the same place, or without one, is said once, however many programs say it.
fn without_repeats(regions: &[Region]) -> Vec<&Region> {
    let mut kept: Vec<&Region> = Vec::new();
    let (mut with, without): (Vec<&Region>, Vec<&Region>) =
        regions.iter().partition(|region| region.bounds.is_some());
    with.extend(without);
    for region in with {
        let says_it = |other: &&Region| {
            other.name == region.name
                && match (other.bounds, region.bounds) {
                    (Some(a), Some(b)) => overlap(&a, &b) > 0.5,
                    _ => true,
                }
        };
        if !kept.iter().any(says_it) {
            kept.push(region);
        }
    }
    kept
}

/// The sidecars that a photo may have: as digiKam and darktable call them, and as Adobe does.
pub fn sidecars(path: &Path) -> [PathBuf; 2] {
    let mut longer = path.to_owned().into_os_string();
    longer.push(".xmp");
    [longer.into(), path.with_extension("xmp")]
}

/// Sidecars that kith wrote itself: by their paths what was written, and what was there before.
pub type Written = HashMap<PathBuf, (String, Option<String>)>;

/// Reads the names of photos; what lies in their folders is read once.
#[derive(Debug, Default)]
pub struct Reader {
    written: Written,
    folders: Mutex<HashMap<PathBuf, Arc<Folder>>>,
}

/// What a folder says of the photos in it.
#[derive(Debug, Default)]
struct Folder {
    picasa: picasa::Faces,
    takeout: takeout::People,
}

impl Reader {
    /// A reader that takes sidecars that kith wrote and nobody touched since as they were before.
    pub fn new(written: Written) -> Self {
        Self { written, folders: Mutex::default() }
    }

    /// What others say in a sidecar.
    fn sidecar(&self, path: &Path) -> Option<Vec<u8>> {
        let text = small_file(path)?;
        match self.written.get(path) {
            Some((after, before)) if text == after.as_bytes() => {
                before.as_ref().map(|before| before.clone().into_bytes())
            }
            _ => Some(text),
        }
    }

    /// The names that were left with a photo: beside it, in it, and in its folder.
    pub fn read(&self, path: &Path, bytes: &[u8]) -> Vec<Region> {
        let mut regions = Vec::new();
        for sidecar in sidecars(path) {
            if let Some(text) = self.sidecar(&sidecar) {
                regions.extend(xmp::regions(&text));
            }
        }
        if let Some(packet) = xmp::packet(bytes) {
            regions.extend(xmp::regions(packet));
        }
        let guesses: Vec<String> = regions
            .iter()
            .filter(|region| region.source == xmp::OWN)
            .map(|region| region.name.clone())
            .collect();
        regions.retain(|region| {
            region.source != xmp::OWN && (region.bounds.is_some() || !guesses.contains(&region.name))
        });
        let (Some(parent), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str()))
        else {
            return regions;
        };
        let folder = self.folder(parent);
        regions.extend(folder.picasa.of(name));
        regions.extend(folder.takeout.of(name));
        regions
    }

    fn folder(&self, path: &Path) -> Arc<Folder> {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = folders.get(path) {
            return Arc::clone(folder);
        }
        // Photos come folder by folder.
        if folders.len() > 8 {
            folders.clear();
        }
        let folder =
            Arc::new(Folder { picasa: picasa::Faces::read(path), takeout: takeout::People::read(path) });
        folders.insert(path.to_owned(), Arc::clone(&folder));
        folder
    }
}

/// The content of a file that is there and not too large.
fn small_file(path: &Path) -> Option<Vec<u8>> {
    let size = path.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
    if size > MOST_BYTES { None } else { std::fs::read(path).ok() }
}

#[cfg(test)]
mod tests;

//! Names that files and folders of photos carry: offered where somebody's photos have one in common that few
//! others have, and never taken for said.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kith_store::{FrameRow, Person, Photo};

use crate::view::View;

/// What somebody's photos are to have in common stands on at least so many of them.
const LEAST: usize = 2;
/// So many are offered.
const MOST: usize = 2;

/// What cameras and programs call files.
const CAMERAS: &str = "cimg dcim dsc dscf dscn dji gopr image img imgp mvimg photo pict picture pxl sam scan \
                       screenshot whatsapp";

/// How many photos there are, and how many carry each name.
#[derive(Debug, Default)]
pub struct Filed {
    n_photos: usize,
    counts: HashMap<String, usize>,
}

impl Filed {
    /// Of all photos of a library.
    pub fn of(photos: &[Photo]) -> Self {
        let mut counts = HashMap::new();
        for name in photos.iter().flat_map(|photo| carried(&photo.key)) {
            *counts.entry(name).or_default() += 1;
        }
        Self { n_photos: photos.len(), counts }
    }
}

/// What most photos of somebody carry, and fewer of all others: "Holidays" is on everybody's.
pub fn names_of(view: &View, person: &Person) -> Vec<String> {
    let frames: BTreeSet<FrameRow> = person.faces.iter().map(|face| face.frame).collect();
    let photos: Vec<&Photo> = frames.iter().filter_map(|&frame| view.photo_of_frame(frame)).collect();
    if photos.len() < LEAST {
        return Vec::new();
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in photos.iter().flat_map(|photo| carried(&photo.key)) {
        *counts.entry(name).or_default() += 1;
    }
    let filed = view.filed();
    let is_theirs = |(name, n): &(String, usize)| {
        let of_all = filed.counts.get(name).copied().unwrap_or_default();
        *n >= LEAST && 2 * n >= photos.len() && of_all < 2 * n && 2 * of_all <= filed.n_photos
    };
    let mut names: Vec<(String, usize)> = counts.into_iter().filter(is_theirs).collect();
    names.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    names.into_iter().take(MOST).map(|(name, _)| name).collect()
}

/// The folders and the file's name of a path, each without numbers: "scans/Aunt_Rose_1954.jpg" carries
/// "scans" and "Aunt Rose".
fn carried(key: &str) -> BTreeSet<String> {
    let is_between = |c: char| c.is_whitespace() || "_.,;()[]+#~".contains(c);
    let is_word = |word: &&str| !word.is_empty() && !word.chars().any(char::is_numeric);
    let name = |part: &str| part.split(is_between).filter(is_word).collect::<Vec<_>>().join(" ");
    let path = key.rsplit_once('.').map_or(key, |(path, _)| path);
    let is_camera = |word: &str| CAMERAS.split(' ').any(|camera| camera == word);
    let is_name = |name: &String| {
        name.chars().filter(|c| c.is_alphabetic()).count() > 1
            && !name.chars().any(char::is_control)
            && !name.to_lowercase().split(' ').all(is_camera)
    };
    path.split(['/', '\\']).map(name).filter(is_name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_carry_words_without_numbers() {
        let names = |key: &str| carried(key).into_iter().collect::<Vec<_>>();
        assert_eq!(names("scans/Aunt_Rose_1954.jpg"), ["Aunt Rose", "scans"]);
        assert_eq!(names("2019-05 Oslo (2)/IMG_0042.HEIC"), ["Oslo"]);
        assert_eq!(names("x/7.jpg"), [""; 0]);
        assert_eq!(names("Zo\u{eb} Kim-Lee"), ["Zo\u{eb} Kim-Lee"]);
        assert_eq!(names(""), [""; 0]);
    }
}

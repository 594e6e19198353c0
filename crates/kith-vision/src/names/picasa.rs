//! Names in Picasa's `.picasa.ini`: one section per photo, one for the people.

use std::collections::HashMap;
use std::path::Path;

use super::{Region, small_file};

/// Faces by the names of photos.
#[derive(Debug, Default)]
pub struct Faces {
    of_photo: HashMap<String, Vec<Region>>,
}

impl Faces {
    /// Reads the file of a folder, where there is one.
    pub fn read(folder: &Path) -> Self {
        let file = [".picasa.ini", "Picasa.ini"].iter().find_map(|name| small_file(&folder.join(name)));
        file.map(|bytes| Self::parse(&String::from_utf8_lossy(&bytes))).unwrap_or_default()
    }

    fn parse(text: &str) -> Self {
        let (mut section, mut people, mut faces) = (String::new(), HashMap::new(), Vec::new());
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                section = name.to_owned();
            } else if let Some((key, value)) = line.split_once('=') {
                match (&section[..], key) {
                    ("Contacts" | "Contacts2", id) => {
                        let name = value.split(';').next().unwrap_or_default().trim();
                        people.insert(id.to_owned(), name.to_owned());
                    }
                    (photo, "faces") => faces.push((photo.to_lowercase(), value.to_owned())),
                    _ => {}
                }
            }
        }
        let mut of_photo: HashMap<String, Vec<Region>> = HashMap::new();
        for (photo, list) in faces {
            of_photo
                .entry(photo)
                .or_default()
                .extend(list.split(';').filter_map(|face| region(face, &people)));
        }
        Self { of_photo }
    }

    /// The faces of a photo.
    pub fn of(&self, photo: &str) -> Vec<Region> {
        self.of_photo.get(&photo.to_lowercase()).cloned().unwrap_or_default()
    }
}

/// "rect64(3f845bcb59418507),8e62398ebda8c1a5": left, top, right and bottom in 16 bits each, leading zeros
/// left out.
fn region(face: &str, people: &HashMap<String, String>) -> Option<Region> {
    let (place, person) = face.split_once(',')?;
    let digits = place.trim().strip_prefix("rect64(")?.strip_suffix(')')?;
    let number = u64::from_str_radix(digits, 16).ok()?;
    let part = |shift: u32| (number >> shift & 0xffff) as f32 / 65535.0;
    let [left, top, right, bottom] = [part(48), part(32), part(16), part(0)];
    let name = people.get(person.trim()).filter(|name| !name.is_empty())?.clone();
    let bounds = Some([left, top, right - left, bottom - top]);
    Some(Region { name, bounds, is_stored: false, source: "picasa" })
}

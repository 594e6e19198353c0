//! Names in the JSON files of Google Takeout, which say who is on a photo and not where.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use super::{Region, small_file};

/// A folder with more files than this is not asked for them.
const MOST_FILES: usize = 100_000;

#[derive(Deserialize)]
struct About {
    title: String,
    #[serde(default)]
    people: Vec<Person>,
}

#[derive(Deserialize)]
struct Person {
    name: String,
}

/// People by the titles of photos.
#[derive(Debug, Default)]
pub struct People {
    of_title: HashMap<String, Vec<String>>,
}

impl People {
    /// Reads the files of a folder. Their names are cut in odd ways, so the title in them counts; one title
    /// in two files could mean either photo, and counts for none.
    pub fn read(folder: &Path) -> Self {
        let mut of_title: HashMap<String, Vec<String>> = HashMap::new();
        let mut is_double = Vec::new();
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_FILES);
        for path in entries.map(|entry| entry.path()) {
            if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("json")) {
                continue;
            }
            let about = small_file(&path).and_then(|bytes| serde_json::from_slice::<About>(&bytes).ok());
            let Some(about) = about else { continue };
            let names: Vec<String> =
                about.people.into_iter().map(|person| person.name.trim().to_owned()).collect();
            if of_title.insert(about.title.clone(), names).is_some() {
                is_double.push(about.title);
            }
        }
        is_double.iter().for_each(|title| drop(of_title.remove(title)));
        Self { of_title }
    }

    /// The people of a photo.
    pub fn of(&self, photo: &str) -> Vec<Region> {
        let names = self.of_title.get(photo).into_iter().flatten().filter(|name| !name.is_empty());
        let region =
            |name: &String| Region { name: name.clone(), bounds: None, is_stored: false, source: "takeout" };
        names.map(region).collect()
    }
}

//! Photos by person, as the truth has them: to split and to measure, never for the model.

use std::collections::BTreeMap;

use kith::data::{Dataset, Embeddings, NewFace};
use kith::random::Rng;

/// Who is on which photo.
#[derive(Clone, Debug)]
pub struct Gallery<'a> {
    /// All photos.
    pub embeddings: &'a Embeddings,
    people: Vec<Person>,
}

/// A person and their photos.
#[derive(Clone, Debug, PartialEq)]
pub struct Person {
    /// The name.
    pub name: String,
    /// Rows of the embeddings.
    pub rows: Vec<usize>,
}

impl<'a> Gallery<'a> {
    /// People by name; photos of nobody known are left out.
    pub fn new(embeddings: &'a Embeddings, truth: &[Option<String>]) -> Self {
        let mut people: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (row, name) in truth.iter().enumerate() {
            if let Some(name) = name {
                people.entry(name).or_default().push(row);
            }
        }
        let people = people.into_iter().map(|(name, rows)| Person { name: name.to_owned(), rows }).collect();
        Self { embeddings, people }
    }

    /// People with at least so many photos.
    pub fn with_photos(&self, at_least: usize) -> Vec<Person> {
        self.people.iter().filter(|person| person.rows.len() >= at_least).cloned().collect()
    }

    /// People with at least so many photos, they and their photos in random order.
    pub fn dealt(&self, at_least: usize, rng: &mut Rng) -> Vec<Person> {
        let mut people = self.with_photos(at_least);
        rng.shuffle(&mut people);
        people.iter_mut().for_each(|person| rng.shuffle(&mut person.rows));
        people
    }

    /// A photo.
    pub fn photo(&self, row: usize) -> &'a [f32] {
        self.embeddings.row(row)
    }

    /// A dataset of photos, each in a frame of its own, some of them named.
    pub fn dataset(&self, photos: &[(usize, Option<&str>)]) -> Dataset {
        let mut data = Dataset::empty(self.embeddings.dimension()).expect("embeddings have a dimension");
        for &(row, name) in photos {
            let face = NewFace { embedding: self.photo(row), name };
            data.push_frame(None, &[face]).expect("embeddings of one dataset are alike and finite");
        }
        data
    }
}

//! People who are known, to learn from what faces look like in general.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::ensure;
use kith::data::Embeddings;
use kith_io::dataset::{self, FaceTable};

/// A background dataset, by person.
pub struct Background {
    table: FaceTable,
    people: Vec<Vec<usize>>,
}

impl Background {
    /// Reads it; it must have the dimension of the dataset (or library: `of`), and two people with two faces
    /// each.
    pub fn read(path: &Path, dimension: usize, of: &str) -> anyhow::Result<Self> {
        let table = dataset::read(path)?;
        let found = table.dataset.dimension();
        let place = path.display();
        ensure!(found == dimension, "{place}: found dimension {found}, wanted {dimension} as in the {of}");
        let people = people(&table);
        ensure!(
            people.iter().filter(|faces| faces.len() > 1).count() >= 2,
            "{place}: found fewer than two people with two faces or more, wanted people with `truth` or \
             `name`"
        );
        Ok(Self { table, people })
    }

    /// As a model is learnt from it.
    pub fn known(&self) -> (&Embeddings, &[Vec<usize>]) {
        (self.table.dataset.embeddings(), &self.people)
    }
}

/// The rows of each person, by `truth` where there is one, otherwise by name.
fn people(table: &FaceTable) -> Vec<Vec<usize>> {
    let mut people: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let data = &table.dataset;
    for face in data.faces() {
        let name = data.given_name(face).map(|label| data.names()[label.index()].as_str());
        let truth = table.truth.as_ref().and_then(|truth| truth[face.index()].as_deref());
        if let Some(person) = truth.or(name) {
            people.entry(person).or_default().push(face.index());
        }
    }
    people.into_values().collect()
}

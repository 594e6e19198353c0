//! The ids of faces that people use: there with the faces, or read when somebody asks for one.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::Library;
use crate::ids::FaceRow;

/// The id of each of some faces, in their order.
#[derive(Clone, Debug, Default)]
pub struct Keys(Stored);

#[derive(Clone, Debug)]
enum Stored {
    Here(Vec<String>),
    /// Few who ask a large library need any.
    Elsewhere(Arc<Elsewhere>),
}

impl Default for Stored {
    fn default() -> Self {
        Self::Here(Vec::new())
    }
}

#[derive(Debug)]
struct Elsewhere {
    library: Arc<Mutex<Library>>,
    rows: Vec<FaceRow>,
    read: OnceLock<Vec<String>>,
}

impl Elsewhere {
    /// All of them; what cannot be read has no id.
    fn read(&self) -> Vec<String> {
        let library = self.library.lock().unwrap_or_else(PoisonError::into_inner);
        let keys: HashMap<FaceRow, String> =
            library.pairs("SELECT id, key FROM faces").unwrap_or_default().into_iter().collect();
        self.rows.iter().map(|row| keys.get(row).cloned().unwrap_or_default()).collect()
    }
}

impl Keys {
    /// Those of some faces, as another connection sees them.
    pub(crate) fn elsewhere(library: Arc<Mutex<Library>>, rows: &[FaceRow]) -> Self {
        Self(Stored::Elsewhere(Arc::new(Elsewhere { library, rows: rows.to_vec(), read: OnceLock::new() })))
    }

    /// One more face.
    pub(crate) fn push(&mut self, key: String) {
        let mut keys = match std::mem::take(&mut self.0) {
            Stored::Here(keys) => keys,
            Stored::Elsewhere(keys) => keys.read.get_or_init(|| keys.read()).clone(),
        };
        keys.push(key);
        self.0 = Stored::Here(keys);
    }
}

impl From<Vec<String>> for Keys {
    fn from(keys: Vec<String>) -> Self {
        Self(Stored::Here(keys))
    }
}

impl Deref for Keys {
    type Target = [String];

    fn deref(&self) -> &[String] {
        match &self.0 {
            Stored::Here(keys) => keys,
            Stored::Elsewhere(keys) => keys.read.get_or_init(|| keys.read()),
        }
    }
}

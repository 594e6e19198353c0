//! What a library has one of, by name and type: a value that cannot be read is damage, not a default.

use std::marker::PhantomData;
use std::str::FromStr;

use rusqlite::OptionalExtension;

use crate::ids::EntryId;
use crate::{Library, StoreError};

/// The name of a value, and its type.
pub struct Meta<T>(&'static str, PhantomData<T>);

impl<T> Clone for Meta<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Meta<T> {}

impl<T> Meta<T> {
    const fn named(name: &'static str) -> Self {
        Self(name, PhantomData)
    }
}

/// D, once a face is there.
pub const DIMENSION: Meta<usize> = Meta::named("dimension");
/// Which network the embeddings come from.
pub const EMBEDDING: Meta<String> = Meta::named("embedding");
/// The seed of all chains.
pub const SEED: Meta<u64> = Meta::named("seed");
/// The last entry of the log that draws and people know of.
pub const BELIEVED: Meta<EntryId> = Meta::named("believed");
/// MODEL.toml as it was given.
pub const SETTINGS: Meta<String> = Meta::named("settings");
/// The model that it came to.
pub const MODEL: Meta<String> = Meta::named("model");
/// How many faces that was learnt from.
pub const MODEL_FACES: Meta<usize> = Meta::named("model_faces");
/// How photos get their contexts.
pub const PHOTO_CONTEXT: Meta<String> = Meta::named("photo_context");
/// There when the model was learnt from other people.
pub const BACKGROUND: Meta<u8> = Meta::named("background");

/// There while the file may hold bytes of what was forgotten.
pub const UNWIPED: Meta<u8> = Meta::named("unwiped");

impl Library {
    /// A value that was set.
    pub fn get<T: FromStr>(&self, meta: Meta<T>) -> Result<Option<T>, StoreError> {
        let query = "SELECT value FROM meta WHERE key = ?1";
        let text: Option<String> =
            self.run(|| self.connection.query_row(query, [meta.0], |row| row.get(0)).optional())?;
        let read = |text: String| {
            let wrong = |_| self.damaged(format!("found the value \"{text}\" for {}", meta.0));
            text.parse().map_err(wrong)
        };
        text.map(read).transpose()
    }

    /// Sets a value.
    pub fn set<T: ToString>(&self, meta: Meta<T>, value: T) -> Result<(), StoreError> {
        let insert =
            "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
        self.run(|| self.connection.execute(insert, [meta.0, &value.to_string()]).map(|_| ()))
    }

    /// Forgets a value.
    pub(crate) fn unset<T>(&self, meta: Meta<T>) -> Result<(), StoreError> {
        self.run(|| self.connection.execute("DELETE FROM meta WHERE key = ?1", [meta.0]).map(|_| ()))
    }
}

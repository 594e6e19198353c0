//! The verbs over a library file, one file per verb or family of verbs.

pub mod add;
pub mod args;
pub mod ask;
pub mod check;
mod embed_again;
pub mod export;
pub mod forget;
pub mod import;
pub mod learn;
pub mod log;
mod look;
pub mod people;
mod photos;
pub mod say;
mod sheet;
mod sidecars;
pub mod watch;
pub mod who;

use std::collections::BTreeMap;

use kith_store::{Library, PersonId, StoreError};

/// Who speaks: the user of this machine.
fn speaker() -> String {
    let name = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|key| std::env::var(key).ok());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "me".to_owned())
}

/// What people are called, by their ids.
fn titles(library: &Library) -> Result<BTreeMap<PersonId, Option<String>>, StoreError> {
    Ok(library.people()?.into_iter().map(|person| (person.id, person.name)).collect())
}

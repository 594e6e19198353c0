//! The verbs over a library file, one file per verb or family of verbs.

pub mod add;
pub mod args;
pub mod ask;
pub mod check;
mod embed_again;
pub mod export;
pub mod forget;
#[cfg(test)]
mod fuzz;
pub mod import;
pub mod learn;
pub mod log;
mod look;
pub mod people;
mod photos;
pub mod say;
pub mod serve;
mod sheet;
mod sidecars;
pub mod watch;
pub mod who;

use kith_store::{Believed, Library, StoreError};

use crate::progress::note;

/// Who speaks: the user of this machine.
pub fn speaker() -> String {
    let name = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|key| std::env::var(key).ok());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "me".to_owned())
}

/// What is believed of a library, with a line for every face that it leaves out.
fn believed(library: &Library) -> Result<Believed, StoreError> {
    let believed = Believed::open(library)?;
    library.take_notes().into_iter().for_each(note);
    Ok(believed)
}

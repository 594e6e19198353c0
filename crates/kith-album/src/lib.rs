//! Photos into a library: looks at what is new or changed, follows what moved, marks what is gone, and takes
//! in the names that other programs left.
//!
//! ```no_run
//! use kith_album::Album;
//! use std::sync::atomic::AtomicBool;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let library = kith_store::Library::open_or_create("family.kith".as_ref())?;
//! let vision = kith_vision::Vision::load(&kith_vision::models::folders(None), None)?;
//! let stop = AtomicBool::new(false);
//! let mut album = Album::new(&library, &vision, 2, &stop)?;
//! let tally = album.look(&["photos".into()], None, &mut |_| ())?;
//! println!("{} new faces", tally.faces);
//! # Ok(())
//! # }
//! ```

mod album;
mod faces;

pub use album::{Album, Glance, Tally, rule_of};
pub use faces::{new_face, new_photo};

/// Why photos cannot be added.
#[derive(Debug, thiserror::Error)]
pub enum AlbumError {
    /// The library cannot be read or written, or refuses them.
    #[error(transparent)]
    Store(#[from] kith_store::StoreError),
    /// The networks.
    #[error(transparent)]
    Vision(#[from] kith_vision::VisionError),
    /// Photos and library do not belong together.
    #[error("{0}")]
    Refused(String),
}

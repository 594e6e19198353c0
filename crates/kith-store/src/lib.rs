//! The library file: one SQLite database with faces, what people said of them, and what is believed.
//!
//! Hand work is evidence: it is appended to a [`log`] that only grows, and taken back by saying so. What is
//! believed ([`belief`]) can be thrown away and learnt again; what was seen and said cannot. FORMAT.md
//! describes the tables.
//!
//! ```
//! use kith_store::{Believed, Kind, Library, NewFace, NewFrame, Saying};
//!
//! let folder = tempfile::tempdir()?;
//! let library = Library::open_or_create(&folder.path().join("family.kith"))?;
//! let face = |key: &str, x: f32| NewFace { key: key.into(), embedding: vec![x, 1.0 - x], ..NewFace::default() };
//! let frame = |face| NewFrame { faces: vec![face], ..NewFrame::default() };
//! let frames = [("a", 5.0), ("b", 5.1), ("c", 5.2), ("d", -5.0), ("e", -5.1)];
//! library.add(&frames.map(|(key, x)| frame(face(key, x))), Some("made up"))?;
//!
//! let ann = library.face("a")?;
//! library.say("me", &[Saying { kind: Kind::Name, face: ann, other: None, name: Some("Ann") }])?;
//! let believed = Believed::open(&library)?;
//! assert_eq!(believed.belief.target().data().names(), ["Ann"]);
//! assert_eq!(library.people()?[0].name.as_deref(), Some("Ann"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod belief;
mod bounds;
mod check;
mod codec;
mod create;
mod differences;
mod error;
pub mod faces;
mod forget;
mod ids;
mod import;
mod keys;
mod learn;
mod library;
mod lists;
pub mod log;
mod memory;
pub mod meta;
mod model;
pub mod people;
mod photos;
mod places;
mod read_only;
mod schema;
pub mod snapshot;
mod sums;
mod watch;
pub mod who;
mod words;

pub use belief::Believed;
pub use check::Checked;
pub use error::StoreError;
pub use faces::{Added, NewFace, NewFrame, frames_of};
pub use forget::{Forget, Forgotten};
pub use ids::{ActId, EntryId, FaceRow, FrameRow, NameRow, PersonId, PhotoRow};
pub use import::{Columns, Import, Imported};
pub use keys::Keys;
pub use learn::{Changes, Plan, Progress, Told};
pub use library::{Claim, Library};
pub use log::{Entry, IMPORT, Kind, OTHERS, Saying};
pub use people::{Member, Person};
pub use photos::{Embedded, NewPhoto, Photo, PhotoFace, Sidecar, Told as ToldName};
pub use places::ContextRule;
pub use snapshot::{Rows, Snapshot};
pub use watch::{Seen, Watcher};
pub use who::{Asked, Who, Why};

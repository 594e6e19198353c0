//! Photos to faces: decoding, detection, alignment and embeddings, and the names that other programs left.
//!
//! The networks are files that the user has ([`models`]); nothing of theirs is in this crate. [`Vision`]
//! looks at one photo, [`pipeline`] at many. What is wrong with a photo is a value with one line, never a
//! panic.

mod about;
pub mod align;
mod decode;
pub mod detect;
mod error;
pub mod models;
pub mod names;
mod net;
mod orientation;
pub mod pipeline;
mod pixels;
mod quality;
pub mod sidecar;
mod vision;
mod walk;

pub use about::About;
pub use decode::{Kind, decode};
pub use error::VisionError;
pub use names::Region;
pub use net::Net;
pub use orientation::Orientation;
pub use pixels::Pixels;
pub use quality::Quality;
pub use vision::{Face, Seen, Vision};
pub use walk::{BadPhoto, File, Walked, is_photo, is_raw, walk};

//! Photos: which files faces come from, whether they are still there, what they look like, and who others say
//! they are.

mod read;
mod sidecars;
#[cfg(test)]
mod tests;
mod told;
mod write;

pub use read::{Photo, PhotoFace};
pub use sidecars::Sidecar;
pub use told::Told;
pub use write::{Embedded, NewPhoto};

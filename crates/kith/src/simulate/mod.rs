//! Made-up people: draws from the model itself, and a person's days before a camera.

mod camera;
pub mod prior;
mod source;

pub use camera::{Camera, Encounters, Frame};
pub use source::{Cycled, Drawn, Source};

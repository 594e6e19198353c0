//! WHAT CAN BE ASKED: answers from pooled draws, on an immutable [`Posterior`].

mod frame;
pub mod partition;
mod posterior;
mod prediction;
mod representative;

pub use posterior::Posterior;
pub use prediction::{Identity, NamePrediction, Prediction};
pub use representative::{Representative, representative};

//! WHAT CAN BE ASKED: answers from pooled draws, on an immutable [`Posterior`].

mod alone;
mod candidates;
mod descent;
mod each_draw;
mod frame;
mod jointly;
mod occasion;
pub mod partition;
mod posterior;
mod prediction;
pub mod representative;
mod seats;
mod shortlist;
mod together;

pub use each_draw::ByDraw;
pub use occasion::{NewPhoto, Occasion};
pub use posterior::Posterior;
pub use prediction::{Identity, NamePrediction, Prediction};

//! WHAT CAN BE ASKED: answers from pooled draws, on an immutable [`Posterior`].
//!
//! By question: a face that was learnt from (`seen_face`), one new face (`one_face`), the faces of one new
//! frame (`one_frame`), all new photos together (`all_photos`), each draw by itself (`by_draw`). What draws
//! say becomes an [`Answer`] in one place (`answer`), whatever was asked.

mod all_photos;
mod among;
mod answer;
mod average;
mod bounds;
mod by_draw;
mod contexts;
mod descent;
mod explain;
mod kept;
mod near;
mod new_frame;
mod one_face;
mod one_frame;
mod overlap;
pub mod partition;
mod posterior;
pub mod representative;
mod seat_weights;
mod seen_face;

pub use all_photos::{NewPhoto, Occasion};
pub use among::Parts;
pub use answer::{Answer, Explained, Identity, NameShare, Tally};
pub use by_draw::ByDraw;
pub use kept::{Bounded, Envelopes, KeptBounds, NO_ENVELOPE};
pub(crate) use overlap::Overlap;
pub use posterior::Posterior;

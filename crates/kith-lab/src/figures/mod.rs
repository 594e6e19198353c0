//! Figures: one style for all, as SVG text and as PNG.

mod association;
mod chart;
mod drawing;
mod png;
mod regions;
mod sign;
mod style;
mod svg;
mod timeline;

pub use association::association;
pub use chart::{Chart, Series, panels};
pub use drawing::Drawing;
pub use regions::{Regions, Spot, regions};
pub use sign::sign;
pub use style::{Look, look};
pub use timeline::{Timeline, timeline};

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its file name without ending.
    pub name: &'static str,
    /// What it shows.
    pub caption: String,
    /// The picture.
    pub drawing: Drawing,
}

//! A text on a bright ground: a label on a photo.

use super::drawing::{Anchor, Drawing};

/// A sign with letters of a size.
pub fn sign(text: &str, size: f64) -> Drawing {
    let (width, height) = (text.chars().count() as f64 * size * 0.6 + size / 2.0, size * 1.25);
    let mut drawing = Drawing::new(width, height);
    drawing.rect([0.0, 0.0], [width, height], "#ffc400", 1.0);
    drawing.coloured_text([size / 4.0, size * 0.95], size, Anchor::Start, "#000000", text);
    drawing
}

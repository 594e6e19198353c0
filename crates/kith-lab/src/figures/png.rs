//! PNG from SVG, with a font of our own: the same picture on every machine.

use std::sync::Arc;

use epaint_default_fonts::UBUNTU_LIGHT;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

/// Pixels per unit of the drawing.
const SCALE: f32 = 2.0;

/// Rasterises a figure.
///
/// # Panics
/// If the text is no SVG: figures come from this crate.
pub fn to_png(svg: &str) -> Vec<u8> {
    let mut fonts = Database::new();
    fonts.load_font_data(UBUNTU_LIGHT.to_vec());
    fonts.set_sans_serif_family("Ubuntu");
    let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).expect("our figures are well-formed");
    let size = tree.size();
    let (width, height) = ((size.width() * SCALE).ceil() as u32, (size.height() * SCALE).ceil() as u32);
    let mut pixels = Pixmap::new(width, height).expect("figures have a size");
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().expect("pixels can be encoded")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_leaves_ink() {
        let picture = |text: &str| {
            to_png(&format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"20\"><text y=\"15\" font-family=\"Ubuntu, sans-serif\">{text}</text></svg>"
            ))
        };
        assert_eq!(&picture("")[1..4], b"PNG");
        assert_ne!(picture(""), picture("kith"), "the font was not found");
    }
}

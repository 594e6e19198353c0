//! PNG, painted shape by shape, with a font of our own: the same picture on every machine.

use epaint_default_fonts::UBUNTU_LIGHT;
use tiny_skia::{
    Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform,
};
use ttf_parser::{Face, OutlineBuilder};

use super::drawing::{Anchor, Drawing, Shape, Text};

/// Pixels per unit of the drawing.
const SCALE: f32 = 2.0;

impl Drawing {
    /// The picture as a PNG file.
    pub fn to_png(&self) -> Vec<u8> {
        let side = |length: f64| (length as f32 * SCALE).ceil() as u32;
        let mut pixels = Pixmap::new(side(self.width), side(self.height)).expect("a drawing has a size");
        pixels.fill(Color::WHITE);
        let font = Face::parse(UBUNTU_LIGHT, 0).expect("the font is sound");
        for shape in &self.shapes {
            paint(&mut pixels, &font, shape);
        }
        pixels.encode_png().expect("pixels can be encoded")
    }
}

fn paint(pixels: &mut Pixmap, font: &Face<'_>, shape: &Shape) {
    let to_pixels = Transform::from_scale(SCALE, SCALE);
    match shape {
        Shape::Text(text) => {
            if let Some(outline) = outline(font, text) {
                let [x, y] = text.at.map(|place| place as f32);
                let turned = to_pixels.pre_concat(Transform::from_rotate_at(text.degrees as f32, x, y));
                pixels.fill_path(&outline, &ink(text.colour, 1.0), FillRule::Winding, turned, None);
            }
        }
        Shape::Line { points, colour, width, dashes } => {
            let lengths = dashes.split_whitespace().map(|dash| dash.parse().expect("dashes are numbers"));
            let stroke = Stroke {
                width: *width as f32,
                line_join: LineJoin::Round,
                dash: StrokeDash::new(lengths.collect(), 0.0),
                ..Stroke::default()
            };
            if let Some(path) = joined(points, false) {
                pixels.stroke_path(&path, &ink(colour, 1.0), &stroke, to_pixels, None);
            }
        }
        Shape::Area { points, colour, opacity } => {
            if let Some(path) = joined(points, true) {
                pixels.fill_path(&path, &ink(colour, *opacity), FillRule::Winding, to_pixels, None);
            }
        }
        Shape::Rect { at: [x, y], size: [width, height], colour, opacity } => {
            let paint = Paint { anti_alias: false, ..ink(colour, *opacity) };
            if let Some(rect) = Rect::from_xywh(*x as f32, *y as f32, *width as f32, *height as f32) {
                pixels.fill_rect(rect, &paint, to_pixels, None);
            }
        }
        Shape::Dot { at: [x, y], radius, fill, edge } => {
            if let Some(circle) = PathBuilder::from_circle(*x as f32, *y as f32, *radius as f32) {
                pixels.fill_path(&circle, &ink(fill, 1.0), FillRule::Winding, to_pixels, None);
                pixels.stroke_path(&circle, &ink(edge, 1.0), &Stroke::default(), to_pixels, None);
            }
        }
    }
}

/// A colour written `#rrggbb`, so opaque.
fn ink(colour: &str, opacity: f64) -> Paint<'static> {
    let part = |at: usize| u8::from_str_radix(&colour[at..at + 2], 16).expect("colours are #rrggbb");
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(part(1), part(3), part(5), (255.0 * opacity).round() as u8);
    paint
}

/// The points, joined by lines; `None` where there is nothing to see.
fn joined(points: &[[f64; 2]], is_closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (place, [x, y]) in points.iter().enumerate() {
        let (x, y) = (*x as f32, *y as f32);
        if place == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    if is_closed {
        path.close();
    }
    path.finish()
}

/// The letters of a text side by side, where it stands before it is turned.
fn outline(font: &Face<'_>, text: &Text) -> Option<Path> {
    let scale = text.size as f32 / f32::from(font.units_per_em());
    let letters: Vec<_> =
        text.text.chars().map(|letter| font.glyph_index(letter).unwrap_or_default()).collect();
    let advance = |letter| scale * f32::from(font.glyph_hor_advance(letter).unwrap_or(0));
    let length: f32 = letters.iter().map(|&letter| advance(letter)).sum();
    let before = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => 0.5 * length,
        Anchor::End => length,
    };
    let [x, y] = text.at.map(|place| place as f32);
    let mut pen = Pen { path: PathBuilder::new(), at: [x - before, y], scale };
    for letter in letters {
        font.outline_glyph(letter, &mut pen);
        pen.at[0] += advance(letter);
    }
    pen.path.finish()
}

/// Draws a letter of the font, whose y grows upwards, into a path.
struct Pen {
    path: PathBuilder,
    at: [f32; 2],
    scale: f32,
}

impl Pen {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        (self.at[0] + self.scale * x, self.at[1] - self.scale * y)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(draw: impl Fn(&mut Drawing)) -> Pixmap {
        let mut drawing = Drawing::new(40.0, 20.0);
        draw(&mut drawing);
        Pixmap::decode_png(&drawing.to_png()).unwrap()
    }

    /// Dark pixels in the left and in the right half.
    fn inked(pixels: &Pixmap) -> [usize; 2] {
        let mut sides = [0; 2];
        for (place, pixel) in pixels.pixels().iter().enumerate() {
            let x = place % pixels.width() as usize;
            sides[2 * x / pixels.width() as usize] += usize::from(pixel.red() < 128);
        }
        sides
    }

    #[test]
    fn a_text_ends_or_begins_at_its_place() {
        let write = |anchor| inked(&drawn(|drawing| drawing.text([20.0, 15.0], 13.0, anchor, "il")));
        let [[left, none], [nothing, right]] = [write(Anchor::End), write(Anchor::Start)];
        assert!(left > 20 && right > 20, "the font leaves no ink: {left}, {right}");
        assert_eq!((none, nothing), (0, 0));
    }

    #[test]
    fn shapes_are_where_they_were_put() {
        let rect = drawn(|drawing| drawing.rect([0.0, 0.0], [20.0, 10.0], "#000000", 1.0));
        assert_eq!(inked(&rect), [40 * 20, 0], "two pixels for a unit");
        let faint = drawn(|drawing| drawing.area(&[[20.0, 0.0], [40.0, 0.0], [40.0, 20.0]], "#000000", 0.4));
        assert_eq!(inked(&faint), [0, 0]);
        assert_eq!(faint.pixel(78, 2).unwrap().red(), 153);
        let dashed = inked(&drawn(|drawing| drawing.path(&[[0.0, 5.0], [40.0, 5.0]], "#000000", 2.0, "5 5")));
        let whole = inked(&drawn(|drawing| drawing.path(&[[0.0, 5.0], [40.0, 5.0]], "#000000", 2.0, "")));
        assert_eq!([dashed[0] * 2, dashed[1] * 2], whole);
    }
}

//! Drawn stand-ins for faces and photos that came without pictures: the same looks give the same drawing.
//!
//! They are JPEGs, as thumbnails are: a browser makes a document of every SVG that it shows, and a tab in
//! which thousands had been scrolled by came to half a gigabyte.

use kith_vision::Pixels;
use tiny_skia::{Color, FillRule, LineCap, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, Transform};

/// Width and height of a drawn face.
const SIDE: usize = 160;
/// What a face of a drawn photo takes.
const CELL: (usize, usize) = (240, 300);
/// Pixels of the widest drawn photo.
const WIDEST: f32 = 4096.0;
const QUALITY: u8 = 85;

/// A face, by its embedding; a silhouette where it is not known.
pub fn face(looks: Option<&[f32]>) -> Vec<u8> {
    let mut canvas = Canvas::new(SIDE, SIDE);
    canvas.head(looks);
    canvas.to_jpeg()
}

/// A photo, its faces side by side.
pub fn scene(faces: &[Option<&[f32]>]) -> Vec<u8> {
    let (width, height) = scene_size(faces.len());
    // Hundreds of faces side by side are drawn small.
    let factor = (WIDEST / width as f32).min(1.0);
    let (wide, high) = (factor * width as f32, (factor * height as f32).max(1.0));
    let mut canvas = Canvas::new(wide as usize, high as usize);
    canvas.rectangle([0.0, 0.0, wide, high], hsl(158.0, 0.12, 0.89));
    canvas.rectangle([0.0, 0.75 * high, wide, 0.25 * high], hsl(145.0, 0.11, 0.82));
    for (looks, [x, y, w, _]) in faces.iter().zip(places(faces.len())) {
        let scale = w * wide / SIDE as f32;
        canvas.place = Transform::from_row(scale, 0.0, 0.0, scale, x * wide, y * high);
        canvas.head(*looks);
    }
    canvas.to_jpeg()
}

/// Width and height of a drawn photo of so many faces.
pub fn scene_size(n_faces: usize) -> (usize, usize) {
    (CELL.0 * n_faces.max(2), CELL.1)
}

/// Where faces of a drawn photo are: left, top, width and height as parts of it.
pub fn places(n_faces: usize) -> Vec<[f32; 4]> {
    let (width, height) = scene_size(n_faces);
    let (width, height) = (width as f32, height as f32);
    let side = SIDE as f32;
    let left = |k: usize| {
        (width - (n_faces * CELL.0) as f32) / 2.0 + (k * CELL.0) as f32 + (CELL.0 as f32 - side) / 2.0
    };
    let top = |k: usize| if k.is_multiple_of(2) { 70.0 } else { 95.0 };
    (0..n_faces).map(|k| [left(k) / width, top(k) / height, side / width, side / height]).collect()
}

/// Numbers between 0 and 1, each a fixed random direction of the looks.
fn traits(looks: &[f32]) -> [f32; 8] {
    let length = looks.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    std::array::from_fn(|k| {
        let sign = |i: usize| {
            let mixed = (i as u64 * 8 + k as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            if (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 63 == 0 { 1.0 } else { -1.0 }
        };
        let along: f32 = looks.iter().enumerate().map(|(i, x)| sign(i) * x).sum();
        0.5 + 0.5 * (along / length).tanh()
    })
}

fn hsl(hue: f32, saturation: f32, light: f32) -> Color {
    let channel = |shift: f32| {
        let k = (shift + hue / 30.0) % 12.0;
        let reach = saturation * light.min(1.0 - light);
        (light - reach * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0)).clamp(0.0, 1.0)
    };
    Color::from_rgba(channel(0.0), channel(8.0), channel(4.0), 1.0).unwrap_or(Color::BLACK)
}

fn paint(colour: Color) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(colour);
    paint
}

/// A closed shape of a start and curves, each by two points and its end.
fn curves((x, y): (f32, f32), curves: &[[f32; 6]]) -> Option<Path> {
    let mut path = PathBuilder::new();
    path.move_to(x, y);
    curves.iter().for_each(|&[ax, ay, bx, by, x, y]| path.cubic_to(ax, ay, bx, by, x, y));
    path.close();
    path.finish()
}

/// Where shapes are drawn, and how they get there.
struct Canvas {
    pixels: Pixmap,
    place: Transform,
}

impl Canvas {
    fn new(width: usize, height: usize) -> Self {
        let pixels = Pixmap::new(width as u32, height as u32);
        let pixels = pixels.expect("a drawing is some hundred pixels wide and high");
        Self { pixels, place: Transform::identity() }
    }

    fn fill(&mut self, path: Option<Path>, colour: Color) {
        let Some(path) = path else { return };
        self.pixels.fill_path(&path, &paint(colour), FillRule::Winding, self.place, None);
    }

    fn rectangle(&mut self, [x, y, w, h]: [f32; 4], colour: Color) {
        self.fill(Rect::from_xywh(x, y, w, h).map(PathBuilder::from_rect), colour);
    }

    fn ellipse(&mut self, (x, y): (f32, f32), (rx, ry): (f32, f32), colour: Color) {
        let bounds = Rect::from_xywh(x - rx, y - ry, 2.0 * rx, 2.0 * ry);
        self.fill(bounds.and_then(PathBuilder::from_oval), colour);
    }

    /// A head of `SIDE` by `SIDE`.
    fn head(&mut self, looks: Option<&[f32]>) {
        let side = SIDE as f32;
        let Some(looks) = looks else {
            let grey = hsl(210.0, 0.1, 0.69);
            self.rectangle([0.0, 0.0, side, side], hsl(210.0, 0.12, 0.87));
            self.ellipse((80.0, 68.0), (32.0, 32.0), grey);
            let shoulders =
                [[26.0, 124.0, 50.0, 110.0, 80.0, 110.0], [110.0, 110.0, 134.0, 124.0, 138.0, 160.0]];
            self.fill(curves((22.0, 160.0), &shoulders), grey);
            return;
        };
        let [ground, skin, hair, length, eyes, mouth, cloth, round] = traits(looks);
        let light = 0.38 + 0.42 * skin;
        let (skin, hair) = (hsl(26.0, 0.52, light), hsl(28.0, 0.35, 0.12 + 0.5 * hair));
        self.rectangle([0.0, 0.0, side, side], hsl(360.0 * ground, 0.28, 0.86));
        // Behind: hair, shoulders, neck.
        self.ellipse((80.0, 62.0), (36.0, 38.0), hair);
        self.rectangle([44.0, 62.0, 72.0, 8.0 + 50.0 * length], hair);
        let shoulders = [[24.0, 128.0, 50.0, 118.0, 80.0, 118.0], [110.0, 118.0, 136.0, 128.0, 140.0, 160.0]];
        self.fill(curves((20.0, 160.0), &shoulders), hsl(360.0 * cloth, 0.35, 0.48));
        self.rectangle([70.0, 96.0, 20.0, 30.0], hsl(26.0, 0.48, light - 0.06));
        self.ellipse((80.0, 74.0), (28.0 + 8.0 * round, 38.0 - 4.0 * round), skin);
        let fringe = [
            [52.0, 40.0, 62.0, 36.0, 80.0, 36.0],
            [98.0, 36.0, 110.0, 42.0, 114.0, 64.0],
            [98.0, 56.0, 80.0, 48.0, 46.0, 64.0],
        ];
        self.fill(curves((46.0, 64.0), &fringe), hair);
        let apart = 9.0 + 7.0 * eyes;
        for x in [80.0 - apart, 80.0 + apart] {
            self.ellipse((x, 74.0), (3.2, 3.2), hsl(210.0, 0.06, 0.16));
        }
        let mut smile = PathBuilder::new();
        smile.move_to(68.0, 91.0);
        smile.quad_to(80.0, 82.0 + 18.0 * mouth, 92.0, 91.0);
        let stroke = Stroke { width: 2.6, line_cap: LineCap::Round, ..Stroke::default() };
        if let Some(smile) = smile.finish() {
            self.pixels.stroke_path(&smile, &paint(hsl(6.0, 0.41, 0.35)), &stroke, self.place, None);
        }
    }

    fn to_jpeg(&self) -> Vec<u8> {
        let (width, height) = (self.pixels.width() as usize, self.pixels.height() as usize);
        let data = self.pixels.pixels().iter().flat_map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]);
        let jpeg = Pixels::new(width, height, data.collect()).and_then(|pixels| pixels.to_jpeg(QUALITY));
        jpeg.expect("three bytes for each of at most 65535 pixels in a row")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_faces_with_any_looks_is_drawn() {
        let looks = [[0.0; 3], [1.0, -2.0, 3.0], [f32::MAX; 3], [f32::MIN_POSITIVE; 3]];
        for n in [0, 1, 2, 30, 3000] {
            let faces: Vec<Option<&[f32]>> = (0..n).map(|k| (k % 5 > 0).then(|| &looks[k % 4][..])).collect();
            let drawn = scene(&faces);
            assert!(drawn.starts_with(b"\xff\xd8"), "{n}");
            let size = kith_vision::decode(&drawn, false).unwrap();
            assert!(size.width <= WIDEST as usize && size.height > 0);
        }
        assert_ne!(face(Some(&looks[1])), face(Some(&looks[0])));
        assert_eq!(face(Some(&looks[1])), face(Some(&looks[1])));
    }
}

//! Faces of a picture: YuNet's outputs as boxes with five points, as OpenCV decodes them.

use crate::net::Net;
use crate::{Orientation, Pixels, VisionError};

/// What YuNet's outputs are called; a network that has them all is one.
pub const OUTPUTS: [&str; 12] = [
    "cls_8", "cls_16", "cls_32", "obj_8", "obj_16", "obj_32", "bbox_8", "bbox_16", "bbox_32", "kps_8",
    "kps_16", "kps_32",
];

/// The longer side of what the detector sees.
const SIDE: usize = 640;

/// Faces that overlap more than this are one face.
const OVERLAP: f32 = 0.3;

/// A face as detected, in pixels of the upright picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Detection {
    /// Left, top, width, height.
    pub bounds: [f32; 4],
    /// The eyes, the nose, the corners of the mouth; those at the left of the picture first.
    pub points: [[f32; 2]; 5],
    /// How sure the detector is, 0 to 1.
    pub score: f32,
}

impl Detection {
    /// In a picture that is larger by a factor and reaches further to the left and the top.
    fn placed(&self, factor: f32, (dx, dy): (f32, f32)) -> Self {
        let [x, y, w, h] = self.bounds.map(|value| value * factor);
        let points = self.points.map(|[x, y]| [x * factor + dx, y * factor + dy]);
        Self { bounds: [x + dx, y + dy, w, h], points, score: self.score }
    }
}

/// Faces with at least this score, from left to right. Only a small copy of the picture is turned upright.
pub fn detect(
    net: &Net,
    image: &Pixels,
    orientation: Orientation,
    threshold: f32,
) -> Result<Vec<Detection>, VisionError> {
    let side = net.size.map_or(SIDE, |(height, width)| height.min(width));
    let (small, factor) = image.fitted(side)?;
    let faces = in_small(net, &small.upright(orientation), threshold)?;
    let mut faces: Vec<Detection> = faces.iter().map(|face| face.placed(factor, (0.0, 0.0))).collect();
    faces.sort_by(|a, b| a.bounds[0].total_cmp(&b.bounds[0]));
    Ok(faces)
}

/// The face that best fills an upright box (in pixels), where another program says that there is one.
pub fn detect_under(
    net: &Net,
    image: &Pixels,
    orientation: Orientation,
    bounds: [f32; 4],
    threshold: f32,
) -> Result<Option<Detection>, VisionError> {
    let [x, y, w, h] = bounds;
    let (left, top) = (x - w / 2.0, y - h / 2.0);
    let a = image.stored(orientation, left, top);
    let b = image.stored(orientation, x + 1.5 * w, y + 1.5 * h);
    let part = [a.0.min(b.0), a.1.min(b.1), (a.0 - b.0).abs(), (a.1 - b.1).abs()];
    let Some(part) = image.reduced(part, (part[2].max(part[3]) / 320.0).max(1.0)) else { return Ok(None) };
    let (factor, pixels) = (part.factor.0, part.pixels.upright(orientation));
    // Where the part begins in the upright picture, which is where it was not cut off at an edge.
    let origin = (left.max(0.0), top.max(0.0));
    let faces = in_small(net, &pixels, threshold)?;
    let placed = faces.iter().map(|face| face.placed(factor, origin));
    let best = placed.max_by(|a, b| overlap(&a.bounds, &bounds).total_cmp(&overlap(&b.bounds, &bounds)));
    Ok(best.filter(|face| overlap(&face.bounds, &bounds) > OVERLAP))
}

/// Faces of an upright picture that the network can take whole, the surest first.
fn in_small(net: &Net, image: &Pixels, threshold: f32) -> Result<Vec<Detection>, VisionError> {
    let (height, width) = net.size.unwrap_or((image.height.div_ceil(32) * 32, image.width.div_ceil(32) * 32));
    // Planes of blue, green and red, black to the right and below.
    let mut planes = vec![0.0; 3 * width * height];
    for y in 0..image.height {
        for (x, pixel) in image.row(y).chunks_exact(3).enumerate() {
            for (plane, &value) in pixel.iter().rev().enumerate() {
                planes[(plane * height + y) * width + x] = f32::from(value);
            }
        }
    }
    let outputs = net.run(height, width, &planes)?;
    let mut faces = Vec::new();
    for (level, stride) in [8, 16, 32].into_iter().enumerate() {
        let output = |k: usize| &outputs[3 * k + level][..];
        let (class, object, bounds, points) = (output(0), output(1), output(2), output(3));
        let n = (width / stride) * (height / stride);
        if [class.len(), object.len(), bounds.len() / 4, points.len() / 10] != [n; 4] {
            let found = class.len();
            return Err(VisionError::photo(format!(
                "found {found} numbers from the detector, wanted {n} at stride {stride}"
            )));
        }
        for cell in 0..n {
            let score = (class[cell].clamp(0.0, 1.0) * object[cell].clamp(0.0, 1.0)).sqrt();
            if score >= threshold {
                let (bounds, points) = (&bounds[4 * cell..4 * cell + 4], &points[10 * cell..10 * cell + 10]);
                let at = ((cell % (width / stride)) as f32, (cell / (width / stride)) as f32);
                faces.push(of_cell(at, stride as f32, bounds, points, score));
            }
        }
    }
    faces.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut kept: Vec<Detection> = Vec::new();
    for face in faces {
        if kept.iter().all(|other| overlap(&other.bounds, &face.bounds) <= OVERLAP) {
            kept.push(face);
        }
    }
    Ok(kept)
}

fn of_cell((column, row): (f32, f32), stride: f32, bounds: &[f32], points: &[f32], score: f32) -> Detection {
    let (w, h) = (bounds[2].exp() * stride, bounds[3].exp() * stride);
    let (x, y) = ((column + bounds[0]) * stride, (row + bounds[1]) * stride);
    let point = |k: usize| [(points[2 * k] + column) * stride, (points[2 * k + 1] + row) * stride];
    Detection { bounds: [x - w / 2.0, y - h / 2.0, w, h], points: std::array::from_fn(point), score }
}

/// Intersection over union of two boxes.
pub fn overlap(a: &[f32; 4], b: &[f32; 4]) -> f32 {
    let w = (a[0] + a[2]).min(b[0] + b[2]) - a[0].max(b[0]);
    let h = (a[1] + a[3]).min(b[1] + b[3]) - a[1].max(b[1]);
    if w <= 0.0 || h <= 0.0 {
        return 0.0;
    }
    w * h / (a[2] * a[3] + b[2] * b[3] - w * h)
}

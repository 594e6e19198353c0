//! The crop that an embedder wants: five points brought onto its template, at any size and turn.

use crate::detect::Detection;
use crate::{Orientation, Pixels};

/// Where eyes, nose and corners of the mouth lie in a crop of 112 x 112 pixels, as ArcFace and its kin were
/// trained.
pub const ARCFACE: [[f32; 2]; 5] =
    [[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]];

/// A scale, a turn and a shift: x' = a x - b y + tx, y' = b x + a y + ty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Similarity {
    a: f32,
    b: f32,
    tx: f32,
    ty: f32,
}

impl Similarity {
    /// The one that takes points nearest to others in squared distance (Umeyama 1991). In the plane, with
    /// points as complex numbers, it is the regression q = z p + t.
    pub fn between(from: &[[f32; 2]; 5], to: &[[f32; 2]; 5]) -> Self {
        let mean = |points: &[[f32; 2]; 5], axis: usize| {
            points.iter().map(|point| f64::from(point[axis])).sum::<f64>() / 5.0
        };
        let (px, py, qx, qy) = (mean(from, 0), mean(from, 1), mean(to, 0), mean(to, 1));
        let (mut real, mut imaginary, mut norm) = (0.0, 0.0, 0.0);
        for (p, q) in from.iter().zip(to) {
            let (p, q) =
                ([f64::from(p[0]) - px, f64::from(p[1]) - py], [f64::from(q[0]) - qx, f64::from(q[1]) - qy]);
            real += p[0] * q[0] + p[1] * q[1];
            imaginary += p[0] * q[1] - p[1] * q[0];
            norm += p[0] * p[0] + p[1] * p[1];
        }
        // Points that fall together say nothing of scale and turn.
        let norm = norm.max(f64::MIN_POSITIVE);
        let (a, b) = (real / norm, imaginary / norm);
        let (tx, ty) = (qx - a * px + b * py, qy - b * px - a * py);
        Self { a: a as f32, b: b as f32, tx: tx as f32, ty: ty as f32 }
    }

    /// How many times larger things become.
    pub fn scale(self) -> f32 {
        self.a.hypot(self.b)
    }

    fn inverted(self, u: f32, v: f32) -> (f32, f32) {
        let norm = self.a * self.a + self.b * self.b;
        let (x, y) = (u - self.tx, v - self.ty);
        ((self.a * x + self.b * y) / norm, (self.a * y - self.b * x) / norm)
    }
}

/// The crop of a face, `side` x `side` pixels in planes of red, green and blue, 0 to 255; black outside the
/// picture.
///
/// The face is in upright coordinates and the picture as stored: the turn is part of the map, so that a large
/// picture is never turned. A face more than twice as large as the crop is reduced first, so that no pixel of
/// it is left out.
pub fn crop(
    image: &Pixels,
    orientation: Orientation,
    face: &Detection,
    template: &[[f32; 2]; 5],
    side: usize,
) -> Vec<f32> {
    let map = Similarity::between(&face.points, template);
    let stored = |u: f32, v: f32| {
        let (x, y) = map.inverted(u, v);
        image.stored(orientation, x, y)
    };
    let (origin, right, down) = (stored(0.0, 0.0), stored(1.0, 0.0), stored(0.0, 1.0));
    let affine = Affine {
        origin,
        right: (right.0 - origin.0, right.1 - origin.1),
        down: (down.0 - origin.0, down.1 - origin.1),
    };
    let factor = (1.0 / map.scale()).floor();
    if factor >= 2.0 {
        let end = side as f32;
        let corners = [origin, stored(end, 0.0), stored(0.0, end), stored(end, end)];
        let least = corners.iter().fold((f32::MAX, f32::MAX), |m, c| (m.0.min(c.0), m.1.min(c.1)));
        let most = corners.iter().fold((f32::MIN, f32::MIN), |m, c| (m.0.max(c.0), m.1.max(c.1)));
        // A pixel more on each side, to interpolate with.
        let part = [
            least.0 - factor,
            least.1 - factor,
            most.0 - least.0 + 2.0 * factor,
            most.1 - least.1 + 2.0 * factor,
        ];
        if let Some(part) = image.reduced(part, factor) {
            return sampled(&part.pixels, affine.within(part.origin, part.factor), side);
        }
    }
    sampled(image, affine, side)
}

/// From pixels of a crop to those of a picture.
#[derive(Clone, Copy)]
struct Affine {
    origin: (f32, f32),
    right: (f32, f32),
    down: (f32, f32),
}

impl Affine {
    /// The same map to a reduced part of the picture. Pixels have their coordinates at their centres.
    fn within(self, origin: (f32, f32), factor: (f32, f32)) -> Self {
        let place = |value: f32, origin: f32, factor: f32| (value - origin + 0.5) / factor - 0.5;
        Self {
            origin: (place(self.origin.0, origin.0, factor.0), place(self.origin.1, origin.1, factor.1)),
            right: (self.right.0 / factor.0, self.right.1 / factor.1),
            down: (self.down.0 / factor.0, self.down.1 / factor.1),
        }
    }
}

/// Bilinear interpolation at every pixel of the crop.
fn sampled(image: &Pixels, map: Affine, side: usize) -> Vec<f32> {
    let plane = side * side;
    let mut out = vec![0.0; 3 * plane];
    for v in 0..side {
        for u in 0..side {
            let (fu, fv) = (u as f32, v as f32);
            let x = map.origin.0 + map.right.0 * fu + map.down.0 * fv;
            let y = map.origin.1 + map.right.1 * fu + map.down.1 * fv;
            let (left, top) = (x.floor(), y.floor());
            let (fx, fy) = (x - left, y - top);
            let (left, top) = (left as i32, top as i32);
            let corners = [
                (0, 0, (1.0 - fx) * (1.0 - fy)),
                (1, 0, fx * (1.0 - fy)),
                (0, 1, (1.0 - fx) * fy),
                (1, 1, fx * fy),
            ];
            for (dx, dy, weight) in corners {
                let Some(pixel) = image.at(left.saturating_add(dx), top.saturating_add(dy)) else { continue };
                for (channel, value) in pixel.into_iter().enumerate() {
                    out[channel * plane + v * side + u] += weight * f32::from(value);
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of the template, turned, enlarged and shifted.
    fn seen(scale: f32, angle: f32, shift: (f32, f32)) -> [[f32; 2]; 5] {
        let (sine, cosine) = angle.sin_cos();
        ARCFACE.map(|[x, y]| {
            [scale * (cosine * x - sine * y) + shift.0, scale * (sine * x + cosine * y) + shift.1]
        })
    }

    #[test]
    fn the_similarity_takes_turned_points_back_to_the_template() {
        let from = seen(2.5, 0.4, (30.0, -12.0));
        let map = Similarity::between(&from, &ARCFACE);
        assert!((map.scale() - 0.4).abs() < 1e-5);
        for (p, q) in from.iter().zip(&ARCFACE) {
            let (x, y) = map.inverted(q[0], q[1]);
            assert!((x - p[0]).abs() < 1e-3 && (y - p[1]).abs() < 1e-3);
        }
        // Five points in one place are no face, and no crash.
        let none = Similarity::between(&[[3.0, 3.0]; 5], &ARCFACE);
        assert_eq!(none.scale(), 0.0);
    }

    /// A smooth picture, so that interpolation is nearly exact.
    fn smooth(width: usize, height: usize) -> Pixels {
        let value = |k: usize| {
            let (x, y) = ((k % width) as f32 / width as f32, (k / width) as f32 / height as f32);
            [(250.0 * x) as u8, (250.0 * y) as u8, (125.0 * (x + y)) as u8]
        };
        Pixels::new(width, height, (0..width * height).flat_map(value).collect()).unwrap()
    }

    #[test]
    fn a_crop_shows_the_same_from_every_orientation_and_from_a_reduced_picture() {
        for scale in [1.2, 3.4] {
            let upright = smooth(600, 500);
            let points = seen(scale, 0.1, (40.0, 20.0));
            let face = Detection { bounds: [40.0, 20.0, 100.0, 100.0], points, score: 1.0 };
            let plain = crop(&upright, Orientation::UPRIGHT, &face, &ARCFACE, 112);
            // At the left eye the crop has the picture's colour at the left eye.
            let eye = points[0];
            let wanted = [250.0 * eye[0] / 600.0, 250.0 * eye[1] / 500.0];
            let at = 52 * 112 + 38;
            assert!((plain[at] - wanted[0]).abs() < 3.0 && (plain[112 * 112 + at] - wanted[1]).abs() < 3.0);
            for number in 2..=8 {
                let orientation = Orientation::new(number);
                let stored = upright.clone().upright(orientation.inverse());
                let turned = crop(&stored, orientation, &face, &ARCFACE, 112);
                let worst = plain.iter().zip(&turned).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(worst < 2.5, "orientation {number}, scale {scale}: {worst}");
            }
        }
    }
}

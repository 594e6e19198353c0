//! How well a face is seen: what predicts that its embedding is wrong, measured while the pixels are there.

use crate::detect::Detection;

/// Measures of a face. Only the detector's score and the sharpness were found to predict mistakes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// How sure the detector is, 0 to 1.
    pub score: f32,
    /// The variance of the Laplacian within the crop; blurred faces are below about 100.
    pub sharpness: f32,
    /// The side of the box in pixels of the whole picture.
    pub size: f32,
    /// How far the nose is off the middle of the eyes, in widths of the box: 0 from the front.
    pub yaw: f32,
    /// The embedding's length before it was made 1.
    pub norm: f32,
}

impl Quality {
    /// Of a face with its crop of `side` x `side` pixels.
    pub fn of(face: &Detection, crop: &[f32], side: usize, norm: f32) -> Self {
        Self {
            score: face.score,
            sharpness: sharpness(crop, side),
            size: (face.bounds[2] * face.bounds[3]).max(0.0).sqrt(),
            yaw: yaw(face),
            norm,
        }
    }
}

fn sharpness(crop: &[f32], side: usize) -> f32 {
    let plane = side * side;
    let grey = |k: usize| 0.299 * crop[k] + 0.587 * crop[plane + k] + 0.114 * crop[2 * plane + k];
    // The face without what is beside it.
    let (top, bottom, left, right) = (side * 24 / 112, side * 104 / 112, side * 24 / 112, side * 88 / 112);
    let mut laplacian = Vec::with_capacity(plane);
    for y in top.max(1)..bottom.min(side - 1) {
        for x in left.max(1)..right.min(side - 1) {
            let k = y * side + x;
            laplacian.push(grey(k - 1) + grey(k + 1) + grey(k - side) + grey(k + side) - 4.0 * grey(k));
        }
    }
    let n = laplacian.len().max(1) as f32;
    let mean = laplacian.iter().sum::<f32>() / n;
    laplacian.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / n
}

fn yaw(face: &Detection) -> f32 {
    let [a, b, nose, ..] = face.points;
    let (ex, ey) = (b[0] - a[0], b[1] - a[1]);
    // In widths of the box: in a profile the eyes fall together.
    let eyes = ex.hypot(ey).max(1e-3) * face.bounds[2].max(1e-3);
    let (dx, dy) = (nose[0] - (a[0] + b[0]) / 2.0, nose[1] - (a[1] + b[1]) / 2.0);
    ((dx * ex + dy * ey) / eyes).abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::ARCFACE;

    #[test]
    fn a_blurred_face_is_less_sharp_and_a_turned_one_has_yaw() {
        let side = 112;
        let checks = |cell: usize| -> Vec<f32> {
            let plane = (0..side * side)
                .map(|k| if (k % side / cell + k / side / cell).is_multiple_of(2) { 200.0 } else { 50.0 });
            let plane: Vec<f32> = plane.collect();
            plane.repeat(3)
        };
        assert!(sharpness(&checks(2), side) > 2.0 * sharpness(&checks(16), side));
        assert_eq!(sharpness(&vec![90.0; 3 * side * side], side), 0.0);
        let mut face = Detection { bounds: [20.0, 20.0, 70.0, 90.0], points: ARCFACE, score: 0.9 };
        let front = Quality::of(&face, &checks(4), side, 3.0);
        assert!(front.yaw < 0.02 && (front.size - 79.37).abs() < 0.1 && front.norm == 3.0);
        face.points[2][0] += 14.0;
        assert!((Quality::of(&face, &checks(4), side, 3.0).yaw - front.yaw - 0.2).abs() < 0.02);
    }
}

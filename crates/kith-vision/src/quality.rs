//! How well a face is seen: what predicts that its embedding is wrong, measured while the pixels are there.

use crate::detect::Detection;

/// Faces on which the detector is less sure are half covered or cut by the picture's edge: profiles and dark
/// glasses are at 0.9 and above.
const LEAST_SCORE: f32 = 0.83;
/// From 32 pixels downwards an embedding begins to show the blur instead of the person, and so does one of a
/// crop with as little detail (docs/NOTEBOOK.md has the table).
const LEAST_SIZE: f32 = 32.0;
const LEAST_SHARPNESS: f32 = 8.0;

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
    /// Whether both eyes are on the picture.
    pub has_eyes: bool,
}

impl Quality {
    /// Whether it can be told whose face it is. Faces that are not clear look like each other, whoever they
    /// are, and would become a person.
    pub fn is_clear(&self) -> bool {
        let is_large = self.size >= LEAST_SIZE && self.sharpness >= LEAST_SHARPNESS;
        is_large && self.score >= LEAST_SCORE && self.has_eyes
    }

    /// Of a face of a picture of some width and height, with its crop of `side` x `side` pixels.
    pub fn of(face: &Detection, picture: (usize, usize), crop: &[f32], side: usize, norm: f32) -> Self {
        let is_within =
            |[x, y]: [f32; 2]| (0.0..=picture.0 as f32).contains(&x) && (0.0..=picture.1 as f32).contains(&y);
        Self {
            has_eyes: is_within(face.points[0]) && is_within(face.points[1]),
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
        let picture = (112, 112);
        let mut face = Detection { bounds: [20.0, 20.0, 70.0, 90.0], points: ARCFACE, score: 0.9 };
        let front = Quality::of(&face, picture, &checks(4), side, 3.0);
        assert!(front.yaw < 0.02 && (front.size - 79.37).abs() < 0.1 && front.norm == 3.0);
        face.points[2][0] += 14.0;
        assert!((Quality::of(&face, picture, &checks(4), side, 3.0).yaw - front.yaw - 0.2).abs() < 0.02);
    }

    #[test]
    fn a_face_that_cannot_be_told_is_small_blurred_covered_or_cut_off() {
        let clear = Quality { score: 0.9, sharpness: 40.0, size: 60.0, yaw: 0.2, norm: 70.0, has_eyes: true };
        assert!(clear.is_clear());
        let unclear = [
            Quality { score: 0.8, ..clear },
            Quality { sharpness: 5.0, ..clear },
            Quality { size: 25.0, ..clear },
            Quality { has_eyes: false, ..clear },
            Quality { sharpness: f32::NAN, ..clear },
        ];
        assert!(unclear.iter().all(|quality| !quality.is_clear()));
        // The eyes are above the picture.
        let mut face = Detection { bounds: [20.0, -30.0, 70.0, 90.0], points: ARCFACE, score: 0.9 };
        face.points.iter_mut().for_each(|point| point[1] -= 60.0);
        assert!(!Quality::of(&face, (112, 112), &vec![90.0; 3 * 112 * 112], 112, 3.0).has_eyes);
    }
}

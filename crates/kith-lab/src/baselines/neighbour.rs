//! The nearest neighbour: how far away it is, and which one.

use super::squared_distance;

/// The nearest of some points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Its place among the points.
    pub at: usize,
    /// How far away it is.
    pub distance: f64,
}

/// The nearest of at least one point; the first of several.
pub fn nearest(x: &[f32], points: &[&[f32]]) -> Nearest {
    let mut best = Nearest { at: 0, distance: f64::INFINITY };
    for (at, point) in points.iter().enumerate() {
        let distance = squared_distance(x, point);
        if distance < best.distance {
            best = Nearest { at, distance };
        }
    }
    Nearest { distance: best.distance.sqrt(), ..best }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_is_found_with_its_distance() {
        let points: [&[f32]; 3] = [&[0.0, 0.0], &[3.0, 4.0], &[3.0, 5.0]];
        assert_eq!(nearest(&[3.0, 4.25], &points), Nearest { at: 1, distance: 0.25 });
        assert_eq!(nearest(&[-3.0, 4.0], &points), Nearest { at: 0, distance: 5.0 });
    }
}

//! The eight ways in which EXIF says that a picture is turned or mirrored, and the maps between both views.

/// EXIF's orientation, 1 to 8; 1 is upright.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orientation(u8);

impl Orientation {
    /// As it should be looked at.
    pub const UPRIGHT: Self = Self(1);

    /// From EXIF's number; one that means nothing is upright.
    pub fn new(number: u32) -> Self {
        match number {
            2..=8 => Self(number as u8),
            _ => Self::UPRIGHT,
        }
    }

    /// EXIF's number.
    pub fn number(self) -> u8 {
        self.0
    }

    /// Whether width and height change places.
    pub fn swaps_sides(self) -> bool {
        self.0 >= 5
    }

    /// The size as looked at of a picture that is stored with this size.
    pub fn upright_size(self, (width, height): (usize, usize)) -> (usize, usize) {
        if self.swaps_sides() { (height, width) } else { (width, height) }
    }

    /// The orientation that undoes this one: a quarter turn the other way; all others undo themselves.
    pub fn inverse(self) -> Self {
        match self.0 {
            6 => Self(8),
            8 => Self(6),
            other => Self(other),
        }
    }

    /// Where a point of the upright picture is stored, when the stored picture reaches from 0 to `right` and
    /// `bottom`.
    pub fn stored(self, (x, y): (f32, f32), (right, bottom): (f32, f32)) -> (f32, f32) {
        match self.0 {
            2 => (right - x, y),
            3 => (right - x, bottom - y),
            4 => (x, bottom - y),
            5 => (y, x),
            6 => (y, bottom - x),
            7 => (right - y, bottom - x),
            8 => (right - y, x),
            _ => (x, y),
        }
    }

    /// A box (left, top, width, height, as parts of the upright picture) as parts of the stored one.
    pub fn stored_box(self, [x, y, w, h]: [f32; 4]) -> [f32; 4] {
        let (a, b) = (self.stored((x, y), (1.0, 1.0)), self.stored((x + w, y + h), (1.0, 1.0)));
        [a.0.min(b.0), a.1.min(b.1), (a.0 - b.0).abs(), (a.1 - b.1).abs()]
    }

    /// A box of the stored picture as parts of the upright one.
    pub fn upright_box(self, bounds: [f32; 4]) -> [f32; 4] {
        self.inverse().stored_box(bounds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_comes_back_from_every_orientation() {
        let upright = [0.1, 0.2, 0.3, 0.15];
        for number in 1..=8 {
            let orientation = Orientation::new(number);
            let stored = orientation.stored_box(upright);
            let back = orientation.upright_box(stored);
            upright.iter().zip(back).for_each(|(a, b)| assert!((a - b).abs() < 1e-6, "{number}: {back:?}"));
            if number > 1 {
                assert_ne!(stored, upright);
            }
        }
        // EXIF 6: the top of what is seen lies at the left of what is stored, its left at the bottom.
        let near = Orientation::new(6).stored_box([0.0, 0.0, 0.2, 0.1]);
        near.iter().zip([0.0, 0.8, 0.1, 0.2]).for_each(|(a, b)| assert!((a - b).abs() < 1e-6, "{near:?}"));
        assert_eq!(Orientation::new(0), Orientation::UPRIGHT);
        assert_eq!(Orientation::new(9), Orientation::UPRIGHT);
    }
}

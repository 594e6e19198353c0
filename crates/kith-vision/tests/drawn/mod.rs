//! Drawn photos: faces that the toy networks see, and no real person.
#![allow(dead_code, reason = "each test uses some of it")]

use std::path::PathBuf;

use kith_vision::{Pixels, Vision};

/// Where the toy networks are.
pub fn toy() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../kith-vision/tests/toy")
}

/// The toy networks.
pub fn vision() -> Vision {
    Vision::load(&[toy()], None).unwrap()
}

/// A photo with faces: column and row (in cells of 32 pixels) of each one's middle, and who it is.
pub fn photo(width: usize, height: usize, faces: &[(usize, usize, u32)]) -> Pixels {
    let colour = |x: usize, y: usize| {
        let (column, row) = (x / 32, y / 32);
        let over = |&&(c, r, _): &&(usize, usize, u32)| column.abs_diff(c) <= 1 && row.abs_diff(r) <= 1;
        match faces.iter().find(over) {
            None => [110, 120, 130 + ((x + y) / 8 % 2) as u8],
            Some(&(c, r, _)) if (column, row) == (c, r) => [255, 0, 0],
            Some(&(c, r, who)) => {
                let cell = (3 * (row + 1 - r) + column + 1 - c) as u32;
                // A colour of one's own for each cell of the ring; never redder than green.
                let mut mixed = (who * 97 + cell * 31 + 7).wrapping_mul(2_654_435_761);
                mixed ^= mixed >> 15;
                let part = |shift: u32| (mixed >> shift & 0xff) as u8;
                [part(0) / 2, 128 + part(8) / 2, part(16)]
            }
        }
    };
    let data = (0..width * height).flat_map(|k| colour(k % width, k / width)).collect();
    Pixels::new(width, height, data).unwrap()
}

/// The cosine of two embeddings.
pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(p, q)| f64::from(*p) * f64::from(*q)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

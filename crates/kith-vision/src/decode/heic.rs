//! HEIC, by a decoder in pure Rust; it turns the picture itself, so that EXIF's orientation does not count.

use heic_rs::DecodeOptions;

use super::{broken, within_limits};
use crate::{Pixels, VisionError};

pub fn decode(bytes: &[u8]) -> Result<Pixels, VisionError> {
    let wrong = |error: heic_rs::Error| broken("HEIC", &error.to_string());
    let info = heic_rs::probe(bytes).map_err(wrong)?;
    let _turn = within_limits(u64::from(info.coded_width), u64::from(info.coded_height))?;
    let options =
        DecodeOptions { threads: Some(1), max_pixels: Some(super::MOST_PIXELS), ..Default::default() };
    let image = heic_rs::decode(bytes, &options).map_err(wrong)?;
    Pixels::new(image.width as usize, image.height as usize, image.data)
}

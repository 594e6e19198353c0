//! PNG, WebP and TIFF: any depth and colour becomes 8 bits of red, green and blue; transparency is left out.

use std::io::Cursor;

use tiff::ColorType;
use tiff::decoder::{Decoder, DecodingResult, Limits};

use super::{MOST_PIXELS, broken, within_limits};
use crate::{Pixels, VisionError};

pub fn png(bytes: &[u8]) -> Result<Pixels, VisionError> {
    let wrong = |error: png::DecodingError| broken("PNG", &error.to_string());
    let limits = png::Limits { bytes: 8 * MOST_PIXELS as usize };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
    let mut reader = decoder.read_info().map_err(wrong)?;
    let info = reader.info();
    let (width, height) = (info.width as usize, info.height as usize);
    let _turn = within_limits(width as u64, height as u64)?;
    let size = reader.output_buffer_size().ok_or_else(|| broken("PNG", "too large"))?;
    let mut data = vec![0; size];
    let frame = reader.next_frame(&mut data).map_err(wrong)?;
    data.truncate(frame.buffer_size());
    let channels = frame.color_type.samples();
    Pixels::new(width, height, rgb(data, channels))
}

pub fn webp(bytes: &[u8]) -> Result<Pixels, VisionError> {
    let wrong = |error: image_webp::DecodingError| broken("WebP", &error.to_string());
    let mut decoder = image_webp::WebPDecoder::new(Cursor::new(bytes)).map_err(wrong)?;
    let (width, height) = decoder.dimensions();
    let _turn = within_limits(u64::from(width), u64::from(height))?;
    let size = decoder.output_buffer_size().ok_or_else(|| broken("WebP", "too large"))?;
    let mut data = vec![0; size];
    decoder.read_image(&mut data).map_err(wrong)?;
    let channels = if decoder.has_alpha() { 4 } else { 3 };
    Pixels::new(width as usize, height as usize, rgb(data, channels))
}

pub fn tiff(bytes: &[u8]) -> Result<Pixels, VisionError> {
    let wrong = |error: tiff::TiffError| broken("TIFF", &error.to_string());
    let mut limits = Limits::default();
    limits.decoding_buffer_size = 8 * MOST_PIXELS as usize;
    limits.intermediate_buffer_size = limits.decoding_buffer_size;
    let mut decoder = Decoder::new(Cursor::new(bytes)).map_err(wrong)?.with_limits(limits);
    let (width, height) = decoder.dimensions().map_err(wrong)?;
    let _turn = within_limits(u64::from(width), u64::from(height))?;
    let color = decoder.colortype().map_err(wrong)?;
    // Signed and wider numbers are measurements, not photos.
    let data: Vec<u8> = match decoder.read_image().map_err(wrong)? {
        DecodingResult::U8(data) => data,
        DecodingResult::U16(data) => data.into_iter().map(|value| (value >> 8) as u8).collect(),
        DecodingResult::F32(data) => data.into_iter().map(|value| (value * 255.0) as u8).collect(),
        _ => return Err(broken("TIFF", &format!("{color:?}"))),
    };
    let data = match color {
        ColorType::Gray(8..) => rgb(data, 1),
        ColorType::GrayA(8..) => rgb(data, 2),
        ColorType::RGB(8..) => data,
        ColorType::RGBA(8..) => rgb(data, 4),
        ColorType::CMYK(8..) => without_black(&data, 4),
        ColorType::CMYKA(8..) => without_black(&data, 5),
        _ => return Err(broken("TIFF", &format!("{color:?}"))),
    };
    Pixels::new(width as usize, height as usize, data)
}

/// Red, green and blue of pixels with 1 (grey), 2 (grey, alpha), 3 or 4 (and alpha) channels.
fn rgb(data: Vec<u8>, channels: usize) -> Vec<u8> {
    match channels {
        1 => data.iter().flat_map(|&grey| [grey; 3]).collect(),
        2 => data.chunks_exact(2).flat_map(|pixel| [pixel[0]; 3]).collect(),
        4 => data.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect(),
        _ => data,
    }
}

/// Red, green and blue of cyan, magenta, yellow and black.
fn without_black(data: &[u8], channels: usize) -> Vec<u8> {
    let light = |ink: u8, black: u8| ((255 - u32::from(ink)) * (255 - u32::from(black)) / 255) as u8;
    data.chunks_exact(channels)
        .flat_map(|pixel| [light(pixel[0], pixel[3]), light(pixel[1], pixel[3]), light(pixel[2], pixel[3])])
        .collect()
}

//! Pixels: red, green and blue of a picture as stored, reductions of it, and small upright copies.

use fast_image_resize::images::{TypedImage, TypedImageRef};
use fast_image_resize::pixels::U8x3;
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};

use crate::{Orientation, VisionError};

/// A picture, 8 bits of red, green and blue per pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Row by row.
    pub data: Vec<u8>,
}

/// A reduced part of a picture, and how to get from the whole to it.
pub(crate) struct Reduced {
    pub pixels: Pixels,
    /// The part's left top corner in the whole.
    pub origin: (f32, f32),
    /// Pixels of the whole per pixel of the part.
    pub factor: (f32, f32),
}

impl Pixels {
    /// A picture from its bytes.
    pub fn new(width: usize, height: usize, data: Vec<u8>) -> Result<Self, VisionError> {
        if width == 0 || height == 0 || Some(data.len()) != width.checked_mul(height).map(|n| n * 3) {
            let found = data.len();
            return Err(VisionError::photo(format!(
                "found {found} bytes for {width} x {height} pixels, wanted three per pixel"
            )));
        }
        Ok(Self { width, height, data })
    }

    /// One row.
    pub fn row(&self, y: usize) -> &[u8] {
        &self.data[y * self.width * 3..(y + 1) * self.width * 3]
    }

    pub(crate) fn at(&self, x: i32, y: i32) -> Option<[u8; 3]> {
        let (x, y) = (usize::try_from(x).ok()?, usize::try_from(y).ok()?);
        if x >= self.width || y >= self.height {
            return None;
        }
        let i = (y * self.width + x) * 3;
        Some([self.data[i], self.data[i + 1], self.data[i + 2]])
    }

    /// Where the centre of an upright pixel is stored.
    pub(crate) fn stored(&self, orientation: Orientation, x: f32, y: f32) -> (f32, f32) {
        orientation.stored((x, y), (self.width as f32 - 1.0, self.height as f32 - 1.0))
    }

    /// Within a square of `side`, never enlarged; and how many pixels of this picture make one of the result.
    pub fn fitted(&self, side: usize) -> Result<(Self, f32), VisionError> {
        let long = self.width.max(self.height);
        if long <= side {
            return Ok((self.clone(), 1.0));
        }
        let short = |n: usize| ((n * side) as f32 / long as f32).round().max(1.0) as usize;
        let (width, height) = (short(self.width), short(self.height));
        let whole = (0.0, 0.0, self.width as f64, self.height as f64);
        let pixels = self.resized(whole, width, height)?;
        Ok((pixels, long as f32 / side as f32))
    }

    /// The part under a box, smaller by about `factor`; `None` where nothing of it is on the picture.
    pub(crate) fn reduced(&self, [x, y, w, h]: [f32; 4], factor: f32) -> Option<Reduced> {
        let (left, top) = (x.floor().max(0.0), y.floor().max(0.0));
        let (right, bottom) = ((x + w).ceil().min(self.width as f32), (y + h).ceil().min(self.height as f32));
        let (width, height) = (right - left, bottom - top);
        let is_finite = [x, y, w, h, factor].iter().all(|value| value.is_finite());
        if !is_finite || width < 1.0 || height < 1.0 || factor < 1.0 {
            return None;
        }
        let (to_w, to_h) = ((width / factor).round().max(1.0), (height / factor).round().max(1.0));
        let part = (f64::from(left), f64::from(top), f64::from(width), f64::from(height));
        let pixels = self.resized(part, to_w as usize, to_h as usize).ok()?;
        Some(Reduced { pixels, origin: (left, top), factor: (width / to_w, height / to_h) })
    }

    /// A part (left, top, width, height), averaged into another size.
    fn resized(
        &self,
        (x, y, w, h): (f64, f64, f64, f64),
        width: usize,
        height: usize,
    ) -> Result<Self, VisionError> {
        let wrong = |error: &dyn std::fmt::Display| VisionError::photo(format!("cannot be reduced: {error}"));
        let from = TypedImageRef::<U8x3>::from_buffer(self.width as u32, self.height as u32, &self.data)
            .map_err(|error| wrong(&error))?;
        let mut data = vec![0; 3 * width * height];
        let mut to = TypedImage::<U8x3>::from_buffer(width as u32, height as u32, &mut data)
            .map_err(|error| wrong(&error))?;
        let options =
            ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Bilinear)).crop(x, y, w, h);
        Resizer::new().resize_typed(&from, &mut to, &options).map_err(|error| wrong(&error))?;
        Self::new(width, height, data)
    }

    /// The picture as it should be looked at. For small pictures: turning a large one takes longer than
    /// decoding it.
    pub fn upright(self, orientation: Orientation) -> Self {
        if orientation == Orientation::UPRIGHT {
            return self;
        }
        let (width, height) = orientation.upright_size((self.width, self.height));
        let mut data = Vec::with_capacity(self.data.len());
        for y in 0..height {
            for x in 0..width {
                let (sx, sy) = self.stored(orientation, x as f32, y as f32);
                data.extend(self.at(sx as i32, sy as i32).expect("the maps keep a picture within itself"));
            }
        }
        Self { width, height, data }
    }

    /// An upright copy of what is under an upright box (in pixels) and a margin around it, at most `side`
    /// pixels long.
    pub fn thumbnail(&self, orientation: Orientation, [x, y, w, h]: [f32; 4], side: f32) -> Option<Self> {
        let (dx, dy) = (w * MARGIN, h * MARGIN);
        let a = self.stored(orientation, x - dx, y - dy);
        let b = self.stored(orientation, x + w + dx, y + h + dy);
        let part = [a.0.min(b.0), a.1.min(b.1), (a.0 - b.0).abs(), (a.1 - b.1).abs()];
        // The part is taken in whole pixels, up to two more.
        let factor = ((part[2].max(part[3]) + 2.0) / side).max(1.0);
        Some(self.reduced(part, factor)?.pixels.upright(orientation))
    }

    /// As a JPEG file that says nothing but what is seen.
    pub fn to_jpeg(&self, quality: u8) -> Result<Vec<u8>, VisionError> {
        let mut out = Vec::new();
        let side = |n: usize| {
            let found = || VisionError::photo(format!("found {n} pixels in a row, wanted at most 65535"));
            u16::try_from(n).map_err(|_| found())
        };
        let (width, height) = (side(self.width)?, side(self.height)?);
        jpeg_encoder::Encoder::new(&mut out, quality)
            .encode(&self.data, width, height, jpeg_encoder::ColorType::Rgb)
            .map_err(|error| VisionError::photo(format!("cannot be written as JPEG: {error}")))?;
        Ok(out)
    }
}

/// What a thumbnail shows around a face, in parts of its box.
const MARGIN: f32 = 0.35;

#[cfg(test)]
mod tests {
    use super::*;

    /// 3 x 2 pixels with their numbers in red.
    fn numbered() -> Pixels {
        Pixels::new(3, 2, (0..6).flat_map(|k| [k, 0, 0]).collect()).unwrap()
    }

    fn reds(pixels: &Pixels) -> Vec<u8> {
        pixels.data.chunks(3).map(|pixel| pixel[0]).collect()
    }

    #[test]
    fn every_orientation_is_undone() {
        // As EXIF draws them; rows of three become rows of two from 5 on.
        let wanted: [[u8; 6]; 8] = [
            [0, 1, 2, 3, 4, 5],
            [2, 1, 0, 5, 4, 3],
            [5, 4, 3, 2, 1, 0],
            [3, 4, 5, 0, 1, 2],
            [0, 3, 1, 4, 2, 5],
            [3, 0, 4, 1, 5, 2],
            [5, 2, 4, 1, 3, 0],
            [2, 5, 1, 4, 0, 3],
        ];
        for (number, wanted) in (1..).zip(wanted) {
            let upright = numbered().upright(Orientation::new(number));
            assert_eq!(reds(&upright), wanted, "orientation {number}");
            assert_eq!(upright.width, if number < 5 { 3 } else { 2 });
        }
    }

    #[test]
    fn a_reduced_part_says_where_it_came_from() {
        let picture =
            Pixels::new(40, 20, (0..800).flat_map(|k| [(k % 40) as u8 * 4, 0, 0]).collect()).unwrap();
        let part = picture.reduced([10.0, 4.0, 20.0, 10.0], 2.0).unwrap();
        assert_eq!((part.pixels.width, part.pixels.height), (10, 5));
        assert_eq!((part.origin, part.factor), ((10.0, 4.0), (2.0, 2.0)));
        // The middle of the part shows the middle of what it was made from.
        let middle = part.pixels.at(5, 2).unwrap()[0];
        assert!((i32::from(middle) - 20 * 4).abs() <= 6, "{middle}");
        assert!(picture.reduced([50.0, 0.0, 5.0, 5.0], 1.0).is_none());
        assert!(picture.reduced([f32::NAN, 0.0, 5.0, 5.0], 1.0).is_none());
        let (small, factor) = picture.fitted(10).unwrap();
        assert_eq!((small.width, small.height, factor), (10, 5, 4.0));
        assert_eq!(picture.fitted(64).unwrap().0, picture);
    }

    #[test]
    fn a_thumbnail_is_upright_and_at_most_as_long_as_asked() {
        // Bright where the upright picture has its right half.
        for number in 1..=8 {
            let orientation = Orientation::new(number);
            let (width, height) = (64, 48);
            let upright: Vec<u8> =
                (0..width * height).flat_map(|k| [if k % width >= 32 { 250 } else { 5 }; 3]).collect();
            let stored = Pixels::new(width, height, upright).unwrap().upright(orientation.inverse());
            let seen = stored.thumbnail(orientation, [16.0, 12.0, 32.0, 24.0], 20.0).unwrap();
            assert!(seen.width <= 20 && seen.height <= 20 && seen.width > seen.height);
            assert!(seen.at(1, 5).unwrap()[0] < 30, "orientation {number}");
            assert!(seen.at(seen.width as i32 - 2, 5).unwrap()[0] > 200, "orientation {number}");
            let jpeg = seen.to_jpeg(82).unwrap();
            assert!(jpeg.starts_with(&[0xff, 0xd8]) && !jpeg.windows(4).any(|part| part == b"Exif"));
        }
    }
}

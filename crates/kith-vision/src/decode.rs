//! Decoding: the bytes of a photo into pixels as stored, whatever the file is called, within limits.

#[cfg(feature = "heic")]
mod heic;
mod preview;
mod simple;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, Once};

use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

use crate::{Pixels, VisionError};

pub use preview::{is_whole, preview};

/// More pixels than this are refused before any of them is decoded.
pub const MOST_PIXELS: u64 = 160_000_000;

/// More bytes than this are not read.
pub const MOST_BYTES: u64 = 512 << 20;

/// From here on photos are decoded one at a time, so that memory stays bounded whatever the number of
/// workers.
const LARGE: u64 = 30_000_000;

/// What a file is, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// JPEG.
    Jpeg,
    /// PNG.
    Png,
    /// WebP.
    Webp,
    /// HEIF with HEVC pictures.
    Heic,
    /// HEIF with AV1 pictures, which is not read.
    Avif,
    /// TIFF, or a RAW file that is one.
    Tiff,
    /// Something else, perhaps RAW.
    Other,
}

impl Kind {
    /// By the first bytes.
    pub fn of(bytes: &[u8]) -> Self {
        match bytes {
            [0xff, 0xd8, 0xff, ..] => Self::Jpeg,
            [0x89, b'P', b'N', b'G', ..] => Self::Png,
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Self::Webp,
            [_, _, _, _, b'f', b't', b'y', b'p', b'a', b'v', b'i', b'f' | b's', ..] => Self::Avif,
            [_, _, _, _, b'f', b't', b'y', b'p', b'c', b'r', b'x', ..] => Self::Other,
            [_, _, _, _, b'f', b't', b'y', b'p', ..] => Self::Heic,
            [b'I', b'I', 42, 0, ..] | [b'M', b'M', 0, 42, ..] => Self::Tiff,
            _ => Self::Other,
        }
    }
}

/// Decodes a photo. `is_raw` says that the file is called like a RAW file: its preview is what is looked at.
pub fn decode(bytes: &[u8], is_raw: bool) -> Result<Pixels, VisionError> {
    if bytes.is_empty() {
        return Err(VisionError::photo("found an empty file, wanted a photo"));
    }
    guarded(|| match Kind::of(bytes) {
        Kind::Jpeg => jpeg(bytes),
        Kind::Png => simple::png(bytes),
        Kind::Webp => simple::webp(bytes),
        Kind::Tiff if !is_raw => simple::tiff(bytes),
        Kind::Heic => heic(bytes),
        Kind::Avif => {
            Err(VisionError::photo("found AVIF, which is not read; wanted JPEG, PNG, WebP, TIFF or HEIC"))
        }
        Kind::Tiff | Kind::Other => match preview(bytes) {
            Some(preview) => jpeg(preview),
            None if is_raw => Err(VisionError::photo("found no preview in it, wanted a RAW file with one")),
            None => Err(VisionError::photo(
                "found something else, wanted JPEG, PNG, WebP, TIFF, HEIC or a RAW file with a preview",
            )),
        },
    })
}

#[cfg(feature = "heic")]
fn heic(bytes: &[u8]) -> Result<Pixels, VisionError> {
    heic::decode(bytes)
}

#[cfg(not(feature = "heic"))]
fn heic(_: &[u8]) -> Result<Pixels, VisionError> {
    Err(VisionError::photo("found HEIC, which this kith was built without; wanted JPEG, PNG, WebP or TIFF"))
}

fn jpeg(bytes: &[u8]) -> Result<Pixels, VisionError> {
    let options = DecoderOptions::new_fast()
        .jpeg_set_out_colorspace(ColorSpace::RGB)
        .set_max_width(usize::from(u16::MAX))
        .set_max_height(usize::from(u16::MAX))
        .set_strict_mode(false);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    let wrong = |error: zune_jpeg::errors::DecodeErrors| broken("JPEG", &format!("{error:?}"));
    decoder.decode_headers().map_err(wrong)?;
    let (width, height) = decoder.dimensions().ok_or_else(|| broken("JPEG", "no size"))?;
    let _turn = within_limits(width as u64, height as u64)?;
    let data = decoder.decode().map_err(wrong)?;
    Pixels::new(width, height, data)
}

/// Refuses a bomb before it is unpacked; while the answer lives no other large photo is decoded.
fn within_limits(width: u64, height: u64) -> Result<Option<std::sync::MutexGuard<'static, ()>>, VisionError> {
    static TURN: Mutex<()> = Mutex::new(());
    let n = width.saturating_mul(height);
    if n > MOST_PIXELS {
        return Err(VisionError::photo(format!(
            "found {width} x {height} pixels, wanted at most {} million",
            MOST_PIXELS / 1_000_000
        )));
    }
    // A decoder that panicked left nothing behind that matters.
    Ok((n > LARGE).then(|| TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)))
}

/// A decoder's complaint, in one line.
fn broken(format: &str, error: &str) -> VisionError {
    let short: String = error.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(160).collect();
    VisionError::photo(format!("found a {format} that cannot be decoded ({short}), wanted a whole one"))
}

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs code of others on bytes of others: a panic in it is one more way for a file to be bad.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, VisionError>) -> Result<T, VisionError> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                before(panic);
            }
        }));
    });
    let was_guarded = IS_GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(was_guarded);
    done.unwrap_or_else(|_| {
        Err(VisionError::photo("found a file that its decoder fails on, wanted a sound one"))
    })
}

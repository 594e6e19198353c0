//! What is done with any bytes: decoded or refused, never a crash, a hang or a runaway allocation. The tests
//! and cargo-fuzz call it.

use std::path::Path;

use kith_vision::names::Reader;
use kith_vision::sidecar::{Named, Picture, with_names};
use kith_vision::{About, Orientation, decode};

/// Bytes as a photo: whether they could be decoded.
pub fn photo(bytes: &[u8]) -> bool {
    let is_raw = bytes.len() % 2 == 1;
    let _ = Reader::default().read(Path::new("nowhere/photo.jpg"), bytes);
    let about = About::of(bytes);
    let pixels = match decode(bytes, is_raw) {
        Ok(pixels) => pixels,
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "{error}");
            return false;
        }
    };
    let (small, _) = pixels.fitted(64).expect("a picture can be reduced");
    let _ = small.upright(about.orientation).to_jpeg(80).expect("a small picture can be written");
    true
}

/// Bytes as a sidecar: whether names could be put into it. What is written is read, and a second run changes
/// nothing.
pub fn sidecar(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let named = Named { name: "A & <B>".to_owned(), bounds: [0.1, 0.2, 0.3, 0.4], certainty: None };
    let picture = Picture { size: (640, 480), orientation: Orientation::new(6) };
    let Ok(after) = with_names(Some(text), std::slice::from_ref(&named), picture) else { return false };
    let again = with_names(Some(&after), &[named], picture).expect("what was written is read");
    assert_eq!(again, after, "a second run changes nothing");
    true
}

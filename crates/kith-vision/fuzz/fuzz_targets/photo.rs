//! Any bytes as a photo and as a sidecar: decoded or refused, never a crash, a hang or a runaway allocation.
#![no_main]

use std::path::Path;

use kith_vision::names::Reader;
use kith_vision::sidecar::{Named, Picture, with_names};
use kith_vision::{About, Orientation, decode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let is_raw = bytes.len() % 2 == 1;
    if let Ok(pixels) = decode(bytes, is_raw) {
        let about = About::of(bytes);
        let (small, _) = pixels.fitted(64).expect("a picture can be reduced");
        let _ = small.upright(about.orientation).to_jpeg(80).expect("a small picture can be written");
    }
    let _ = Reader::default().read(Path::new("nowhere/photo.jpg"), bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        let named = Named { name: "A & <B>".to_owned(), bounds: [0.1, 0.2, 0.3, 0.4], certainty: None };
        let picture = Picture { size: (640, 480), orientation: Orientation::new(6) };
        if let Ok(after) = with_names(Some(text), std::slice::from_ref(&named), picture) {
            let again = with_names(Some(&after), &[named], picture).expect("what was written is read");
            assert_eq!(again, after, "a second run changes nothing");
        }
    }
});

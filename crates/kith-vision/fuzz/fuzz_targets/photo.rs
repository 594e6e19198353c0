//! Any bytes as a photo and as a sidecar, found by coverage.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/fuzz/target.rs"]
mod target;

fuzz_target!(|bytes: &[u8]| {
    target::photo(bytes);
    target::sidecar(bytes);
});

//! Photos and sidecars that are nearly what they should be: every one is read or refused, none breaks
//! anything.

#[path = "../../../kith-io/tests/common/mutate.rs"]
mod mutate;
mod target;

use crate::drawn::vision;
use mutate::{corpus, fuzz};

/// So many photos are decoded for one that goes through the networks too.
const LOOKED_AT: usize = 16;

#[test]
fn photos() {
    let words = [
        "\u{0}\u{0}\u{0}\u{8}IDAT",
        "ftypheic",
        "ispe",
        "irot",
        "VP8L",
        "VP8X",
        "II*\u{0}",
        "Exif\u{0}\u{0}",
        "MM\u{0}*",
        "<x:xmpmeta",
    ];
    let (vision, mut n) = (vision(), 0);
    fuzz("photo", &corpus("corpus/photos"), &words, |bytes| {
        n += 1;
        if n % LOOKED_AT == 0 {
            let seen = vision.look(bytes, false, &[]);
            assert!(seen.err().is_none_or(|error| !error.to_string().contains('\n')));
        }
        target::photo(bytes)
    });
}

#[test]
fn sidecars() {
    let words = [
        "<rdf:li>",
        "</rdf:Bag>",
        "rdf:parseType=\"Resource\"",
        "mwg-rs:Name=\"Ann\"",
        "&amp;",
        "<!--",
        "]]>",
        "<?",
    ];
    fuzz("sidecar", &corpus("corpus/sidecars"), &words, target::sidecar);
}

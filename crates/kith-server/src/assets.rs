//! The page's files, inside the program.

use crate::call::{Call, Reply};
use crate::failure::Failure;

macro_rules! assets {
    ($(($name:literal, $kind:literal)),* $(,)?) => {
        const ASSETS: &[(&str, &str, &[u8])] =
            &[$(($name, $kind, include_bytes!(concat!("../assets/", $name)))),*];
    };
}

assets![
    ("app.js", "text/javascript; charset=utf-8"),
    ("base.js", "text/javascript; charset=utf-8"),
    ("doubt.js", "text/javascript; charset=utf-8"),
    ("history.js", "text/javascript; charset=utf-8"),
    ("icon.svg", "image/svg+xml"),
    ("people.js", "text/javascript; charset=utf-8"),
    ("person.js", "text/javascript; charset=utf-8"),
    ("photos.js", "text/javascript; charset=utf-8"),
    ("questions.js", "text/javascript; charset=utf-8"),
    ("style.css", "text/css; charset=utf-8"),
    ("texts.js", "text/javascript; charset=utf-8"),
    ("widgets.js", "text/javascript; charset=utf-8"),
];

/// A file of the page.
pub fn asset(call: &Call) -> Result<Reply, Failure> {
    let name = call.places.first().map_or("", String::as_str);
    let (_, kind, bytes) = ASSETS
        .iter()
        .find(|(known, ..)| *known == name)
        .ok_or_else(|| Failure::missing(format!("found no file \"{name}\"")))?;
    Ok(Reply { keeps: "no-cache", ..Reply::of(kind, *bytes) })
}

//! `kith people --sheet`: one page with a row of faces per person, self-contained.

use std::fmt::Write;
use std::path::Path;

use anyhow::Context;
use kith_store::{Library, Person};

use crate::answer::percent;
use crate::progress::{count, note};

/// As many faces of a person are shown.
const MOST: usize = 40;

/// Writes the page.
pub fn write(library: &Library, people: &[Person], path: &Path) -> anyhow::Result<()> {
    let mut page = HEAD.to_owned();
    let sections = [("named", "Named"), ("familiar", "Familiar, without a name"), ("stranger", "Seen once")];
    for (standing, title) in sections {
        let people: Vec<&Person> = people.iter().filter(|person| person.standing() == standing).collect();
        if people.is_empty() {
            continue;
        }
        writeln!(page, "<h2>{title} ({})</h2>", people.len())?;
        if standing == "stranger" {
            writeln!(page, "<div class=\"faces\">")?;
            for person in people {
                page += &faces(library, person)?;
            }
            writeln!(page, "</div>")?;
            continue;
        }
        for person in people {
            let n = count(person.faces.len(), "face");
            let id = if person.name.is_some() { format!("person {}, ", person.id) } else { String::new() };
            let title = escaped(&person.title());
            writeln!(page, "<section><h3>{title} <small>{id}{n}</small></h3><div class=\"faces\">")?;
            page += &faces(library, person)?;
            writeln!(page, "</div></section>")?;
        }
    }
    page += "</body></html>\n";
    kith_io::atomic::replace(path, page.as_bytes()).with_context(|| path.display().to_string())?;
    note(format!("{}: {}", path.display(), count(people.len(), "person")));
    Ok(())
}

/// The surest faces of a person; one without a picture by its id.
fn faces(library: &Library, person: &Person) -> anyhow::Result<String> {
    let mut text = String::new();
    for face in person.faces.iter().take(MOST) {
        let (key, p) = (escaped(&face.key), percent(face.p));
        match library.thumbnail(face.row)? {
            Some(jpeg) => writeln!(
                text,
                "<img title=\"{key}: {p}\" alt=\"{key}\" src=\"data:image/jpeg;base64,{}\">",
                base64(&jpeg)
            )?,
            None => writeln!(text, "<span title=\"{p}\">{key}</span>")?,
        }
    }
    if person.faces.len() > MOST {
        writeln!(text, "<span>and {} more</span>", person.faces.len() - MOST)?;
    }
    Ok(text)
}

const HEAD: &str = "<!doctype html>
<html lang=\"en\"><head><meta charset=\"utf-8\"><title>People</title>
<meta name=\"viewport\" content=\"width=device-width\"><style>
body { font: 15px/1.4 system-ui, sans-serif; margin: 1.5rem; color: #222; background: #fff }
h3 { margin: 1rem 0 .3rem } small { font-weight: normal; color: #666 }
.faces { display: flex; flex-wrap: wrap; gap: 4px; align-items: center }
.faces img { height: 96px; border-radius: 6px }
.faces span { padding: .3rem .5rem; color: #666 }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } \
small, .faces span { color: #999 } }
</style></head><body><h1>People</h1>
";

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

/// RFC 4648, for pictures within a page.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let number = (0..3).fold(0, |number, k| number << 8 | u32::from(three.get(k).copied().unwrap_or(0)));
        for k in 0..4 {
            let digit = DIGITS[(number >> (18 - 6 * k) & 63) as usize];
            text.push(if k > three.len() { '=' } else { digit as char });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_as_in_the_standard() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(super::base64(bytes.as_bytes()), text);
        }
    }
}

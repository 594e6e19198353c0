//! `kith who`: who a face is, of the library or new, and why.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, ensure};
use kith_io::dataset::{self, FaceTable};
use kith_store::{Believed, Library, PersonId, Who};
use kith_vision::Seen;
use serde_json::{Value, json};

use super::args::WhoOptions;
use super::look;
use crate::Outcome;
use crate::answer::{self, percent};
use crate::predict::{by_face, photos};
use crate::progress::{bar, note};

/// Faces by the ids that people use, with what is believed of each.
type Found = Vec<(String, Who)>;

/// Runs the verb.
pub fn run(options: &WhoOptions) -> anyhow::Result<Outcome> {
    Library::read(&options.lib, |library| answer(library, options))
}

fn answer(library: &Library, options: &WhoOptions) -> anyhow::Result<Outcome> {
    let mut picture = None;
    let (row, new) = match (&options.face, &options.dataset) {
        (Some(key), _) => (Some((key, library.face(key)?)), None),
        (None, Some(path)) => {
            let (table, photo) = read(library, path, options)?;
            picture = photo.map(|photo| (path, photo));
            (None, Some((path, table)))
        }
        (None, None) => unreachable!("one of them is required"),
    };
    let (found, names) = library.asked(|believed| -> anyhow::Result<(Found, Vec<String>)> {
        let found = match (&row, &new) {
            (Some((key, row)), _) => {
                let ignored = || {
                    format!("found the face \"{key}\" ignored or unclear, wanted one that is not; a name takes it in")
                };
                let face = believed.rows.face_of(*row).with_context(ignored)?;
                vec![(key.to_string(), believed.who(library, face)?)]
            }
            (None, Some((path, new))) => who_is_new(path, new, (library, believed), options)?,
            (None, None) => unreachable!("one of them is required"),
        };
        Ok((found, believed.belief.target().data().names().to_vec()))
    })?;
    library.take_notes().into_iter().for_each(note);
    let (names, titles) = (&names[..], library.titles()?);
    let mut out = std::io::BufWriter::new(crate::progress::stdout());
    for (k, (face, who)) in found.iter().enumerate() {
        let is_unclear = picture.as_ref().is_some_and(|(_, seen)| !seen.faces[k].quality.is_clear());
        if options.json {
            let mut object = to_json(face, who, names, &titles, options.top);
            if is_unclear {
                object["unclear"] = json!(true);
            }
            writeln!(out, "{object}")?;
        } else {
            write!(out, "{}", in_words(face, who, names, &titles, options.top))?;
            if is_unclear {
                writeln!(out, "  it is too small, blurred or covered to tell")?;
            }
        }
    }
    out.flush()?;
    if let Some(path) = &options.draw {
        let (photo, seen) = picture.context("found a dataset, wanted a photo to draw on")?;
        let labels: Vec<String> = found.iter().map(|(_, who)| label(who, names, &titles)).collect();
        look::draw(photo, &seen, &labels, path)?;
    }
    Ok(Outcome::Done)
}

/// Who is on photos that are not in the library.
fn who_is_new(
    path: &Path,
    new: &FaceTable,
    (library, believed): (&Library, &Believed),
    options: &WhoOptions,
) -> anyhow::Result<Found> {
    let known = believed.belief.target().data();
    let (found, wanted) = (new.dataset.dimension(), known.dimension());
    ensure!(
        found == wanted,
        "{}: found dimension {found}, wanted {wanted} as in the library",
        path.display()
    );
    dataset::check_lengths(path, new, Some(known))?;
    let photos = photos(&new.dataset, options.context.as_deref());
    let bar = bar(photos.len() as u64, "frames");
    let found = believed.who_is_on(library, &photos, &|| bar.inc(1))?;
    bar.finish_and_clear();
    Ok(new.faces.iter().cloned().zip(by_face(&new.dataset, found)).collect())
}

/// New faces, of a photo or of a dataset.
fn read(library: &Library, path: &Path, options: &WhoOptions) -> anyhow::Result<(FaceTable, Option<Seen>)> {
    if path.is_file() && kith_vision::is_photo(path) {
        let (table, seen) = look::look(library, path, options.models.as_deref())?;
        return Ok((table, Some(seen)));
    }
    Ok((dataset::read(path)?, None))
}

/// A name and how sure it is, or the person, or a stranger.
fn label(who: &Who, names: &[String], titles: &BTreeMap<PersonId, Option<String>>) -> String {
    let answer = &who.answer;
    if let Some(name) = answer.names.first().filter(|name| name.p >= 0.5) {
        return format!("{} {}", names[name.label.index()], percent(name.p));
    }
    match who.person.filter(|(id, p)| *p >= 0.5 && titles.contains_key(id)) {
        Some((id, p)) => format!("person {id} {}", percent(p)),
        None => format!("stranger {}", percent(answer.stranger)),
    }
}

fn to_json(
    face: &str,
    who: &Who,
    names: &[String],
    titles: &BTreeMap<PersonId, Option<String>>,
    top: usize,
) -> Value {
    let name = |person: Option<PersonId>| person.and_then(|person| titles.get(&person).cloned().flatten());
    let why = who.why.iter().take(top).map(|why| {
        json!({
            "person": why.person, "name": name(why.person), "p": why.p,
            "face": why.face, "context": why.context, "said": why.said,
        })
    });
    let mut object = answer::to_json(face, &who.answer, names, top);
    let person = who.person.map(|(id, p)| json!({"id": id, "p": p}));
    object.insert("person".to_owned(), json!(person));
    object.insert("why".to_owned(), why.collect());
    Value::Object(object)
}

fn in_words(
    face: &str,
    who: &Who,
    names: &[String],
    titles: &BTreeMap<PersonId, Option<String>>,
    top: usize,
) -> String {
    let mut text = answer::in_words(face, &who.answer, names, top) + "\n";
    for why in who.why.iter().take(top).filter(|why| why.p >= 0.01) {
        let who = match why.person {
            None => "somebody never seen".to_owned(),
            Some(id) => titles.get(&id).cloned().flatten().unwrap_or_else(|| format!("person {id}")),
        };
        text += &format!("  {} {who}", percent(why.p));
        if why.person.is_some() {
            let (face, context, said) = (times(why.face), times(why.context), times(why.said));
            text += &format!(": the face {face}, the context {context}, what people said {said}");
        }
        text += "\n";
    }
    text
}

/// "x 20" or "/ 3": how many times more or less probable than somebody never seen.
fn times(ln: f64) -> String {
    let factor = ln.abs().exp();
    let shown = if factor >= 1e6 { format!("1e{:.0}", factor.log10()) } else { format!("{factor:.1}") };
    if ln >= 0.0 { format!("x {shown}") } else { format!("/ {shown}") }
}

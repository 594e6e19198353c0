//! `kith who`: who a face is, of the library or new, and why.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::{Context, ensure};
use kith_io::dataset;
use kith_store::{Belief, Library, Why};
use serde_json::{Value, json};

use super::args::WhoOptions;
use super::{percent, titles};
use crate::Outcome;

/// An answer, whichever way it was found.
struct Answer {
    face: String,
    shares: [f64; 3],
    names: Vec<(String, f64, [f64; 2])>,
    unknown_name: f64,
    why: Vec<Why>,
}

/// Runs the verb.
pub fn run(options: &WhoOptions) -> anyhow::Result<Outcome> {
    let library = Library::open_to_read(&options.lib)?;
    let answers = match (&options.face, &options.dataset) {
        (Some(key), _) => of_library(&library, key)?,
        (None, Some(path)) => of_dataset(&library, path, options.context.as_deref())?,
        (None, None) => unreachable!("one of them is required"),
    };
    let titles = titles(&library)?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for mut answer in answers {
        answer.names.truncate(options.top);
        answer.why.truncate(options.top);
        if options.json {
            writeln!(out, "{}", to_json(&answer, &titles))?;
        } else {
            write!(out, "{}", in_words(&answer, &titles))?;
        }
    }
    out.flush()?;
    Ok(Outcome::Done)
}

fn of_library(library: &Library, key: &str) -> anyhow::Result<Vec<Answer>> {
    let row = library.face(key)?;
    let mut belief = Belief::open(library)?;
    let face = belief.rows.face_of(row);
    let face = face.with_context(|| format!("found the face \"{key}\" ignored, wanted one that is not"))?;
    let who = belief.who(library, face)?;
    Ok(vec![Answer {
        face: key.to_owned(),
        shares: [who.acquainted, who.familiar, who.stranger],
        names: who.names,
        unknown_name: who.unknown_name,
        why: who.why,
    }])
}

fn of_dataset(library: &Library, path: &std::path::Path, given: Option<&str>) -> anyhow::Result<Vec<Answer>> {
    let new = dataset::read(path)?;
    let mut belief = Belief::open(library)?;
    let (found, wanted) = (new.dataset.dimension(), belief.target.data().dimension());
    ensure!(
        found == wanted,
        "{}: found dimension {found}, wanted {wanted} as in the library",
        path.display()
    );
    let posterior = belief.posterior();
    let data = &new.dataset;
    let mut answers: Vec<Option<Answer>> = (0..data.n_faces()).map(|_| None).collect();
    for frame in data.frames() {
        let own = data.given_context(frame).map(|context| data.contexts()[context.index()].as_str());
        let faces: Vec<&[f32]> = data.faces_in(frame).iter().map(|&face| data.embedding(face)).collect();
        let found = belief.who_is_new(library, &posterior, given.or(own), &faces)?;
        for (face, (prediction, why)) in data.faces_in(frame).iter().zip(found) {
            let name = |name: &kith::predict::NamePrediction| {
                (posterior.names()[name.label.index()].clone(), name.p, name.hdi)
            };
            answers[face.index()] = Some(Answer {
                face: new.faces[face.index()].clone(),
                shares: [prediction.acquainted, prediction.familiar, prediction.stranger],
                names: prediction.names.iter().map(name).collect(),
                unknown_name: prediction.unknown_name,
                why,
            });
        }
    }
    Ok(answers.into_iter().map(|answer| answer.expect("every face is in a frame")).collect())
}

fn to_json(answer: &Answer, titles: &BTreeMap<i64, Option<String>>) -> Value {
    let [acquainted, familiar, stranger] = answer.shares;
    let names: Vec<Value> =
        answer.names.iter().map(|(name, p, hdi)| json!({"name": name, "p": p, "hdi": hdi})).collect();
    let name = |person: Option<i64>| person.and_then(|person| titles.get(&person).cloned().flatten());
    let why: Vec<Value> = answer
        .why
        .iter()
        .map(|why| {
            json!({
                "person": why.person, "name": name(why.person), "p": why.p,
                "face": why.face, "context": why.context, "said": why.said,
            })
        })
        .collect();
    json!({
        "face": answer.face, "acquainted": acquainted, "familiar": familiar, "stranger": stranger,
        "names": names, "unknown_name": answer.unknown_name, "why": why,
    })
}

fn in_words(answer: &Answer, titles: &BTreeMap<i64, Option<String>>) -> String {
    let [acquainted, familiar, stranger] = answer.shares.map(percent);
    let mut text =
        format!("{}: acquainted {acquainted}, familiar {familiar}, stranger {stranger}", answer.face);
    for (name, p, [low, high]) in answer.names.iter().filter(|name| name.1 >= 0.01) {
        text += &format!("; {name} {} [{}, {}]", percent(*p), percent(*low), percent(*high));
    }
    text += "\n";
    for why in answer.why.iter().filter(|why| why.p >= 0.01) {
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

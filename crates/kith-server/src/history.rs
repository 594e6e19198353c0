//! Everything that was said, act by act, and what of it looks like a slip.

use std::collections::BTreeSet;

use kith_store::log::QUALITY;
use kith_store::{ActId, Entry, FaceRow, Person};
use serde_json::{Value, json};

use crate::call::{Call, Reply};
use crate::failure::Failure;
use crate::scribe::{self, Job};
use crate::shapes;
use crate::view::View;
use crate::words;

/// All acts, the latest first.
pub fn history(call: &Call) -> Result<Reply, Failure> {
    Ok(Reply::json(&list(call)?))
}

/// The same as a value.
pub fn list(call: &Call) -> Result<Value, Failure> {
    let view = call.view();
    let (from, n) = (call.count("from", 0, usize::MAX)?, call.count("n", 100, 1000)?);
    let acts = acts(&view);
    let list: Vec<Value> = acts.iter().rev().skip(from).take(n).map(|entries| act(&view, entries)).collect();
    Ok(json!({"total": acts.len(), "from": from, "view": view.number, "acts": list}))
}

/// Entries by act, but for those that undo others.
fn acts(view: &View) -> Vec<&[Entry]> {
    let groups = view.log.chunk_by(|a, b| a.act == b.act);
    groups.filter(|entries| entries[0].undoes.is_none()).collect()
}

fn act(view: &View, entries: &[Entry]) -> Value {
    const MOST: usize = 12;
    let first = &entries[0];
    let rows: Vec<FaceRow> = entries.iter().filter_map(|entry| entry.face).collect();
    let faces: Vec<Value> = rows.iter().take(MOST).map(|&row| shapes::face_of(view, row)).collect();
    json!({
        "act": first.act, "at": first.at, "by": first.by, "kind": first.kind.as_str(), "stands": first.stands,
        "n_entries": entries.len(), "text": text(view, entries), "faces": faces,
        "other": first.other.map(|row| shapes::face_of(view, row)), "name": name(view, first),
        "by_others": kith_store::OTHERS.contains(&first.by.as_str()),
    })
}

fn name<'v>(view: &'v View, entry: &Entry) -> Option<&'v str> {
    entry.name.and_then(|name| view.names.get(&name)).map(String::as_str)
}

fn key(view: &View, row: Option<FaceRow>) -> &str {
    row.and_then(|row| view.face(row)).map_or("a face", |(_, face)| &face.key)
}

fn text(view: &View, entries: &[Entry]) -> String {
    let first = &entries[0];
    let whom = match entries.len() {
        1 => key(view, first.face).to_owned(),
        n => words::count(n, "face"),
    };
    if first.by == QUALITY {
        return format!("{whom}: too small, blurred or covered to tell");
    }
    let text = words::said(first.kind, &whom, key(view, first.other), name(view, first).unwrap_or("?"));
    if entries.len() > 1 { text.replacen(" is ", " are ", 1) } else { text }
}

/// What was said of some faces, the latest first.
pub fn of_faces(view: &View, rows: &[FaceRow]) -> Value {
    const MOST: usize = 100;
    let rows: BTreeSet<FaceRow> = rows.iter().copied().collect();
    let is_about = |entry: &&Entry| [entry.face, entry.other].iter().flatten().any(|row| rows.contains(row));
    let line = |entry: &Entry| {
        let text = words::said(
            entry.kind,
            key(view, entry.face),
            key(view, entry.other),
            name(view, entry).unwrap_or("?"),
        );
        json!({"act": entry.act, "at": entry.at, "by": entry.by, "stands": entry.stands, "text": text})
    };
    view.log.iter().rev().filter(is_about).take(MOST).map(line).collect()
}

/// What was said of a person.
pub fn about(view: &View, person: &Person) -> Value {
    of_faces(view, &Vec::from_iter(person.faces.iter().map(|face| face.row)))
}

/// What looks like a slip.
pub fn slips(view: &View) -> Value {
    let slip = |doubt: &crate::view::Doubt| {
        let place = view.log.binary_search_by_key(&doubt.entry, |entry| entry.id).ok()?;
        let entry = view.log.get(place).filter(|entry| entry.stands && view.meant(entry).is_none())?;
        let mut object = act(view, std::slice::from_ref(entry));
        object["entry"] = json!(entry.id);
        object["p"] = json!(doubt.p);
        object["looks_like"] = json!(doubt.looks_like.map(|row| shapes::face_of(view, row)));
        Some(object)
    };
    view.doubtful.iter().filter_map(slip).collect()
}

/// The number of an act, or nothing for the last one.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Which {
    act: Option<i64>,
}

/// Takes back an act, or the last one.
pub fn undo(call: &Call) -> Result<Reply, Failure> {
    let which: Which = call.read()?;
    Ok(Reply::json(&scribe::ask(&call.desk, Job::Undo(which.act.map(ActId)))?))
}

/// Restores an act, or the one that was taken back last.
pub fn redo(call: &Call) -> Result<Reply, Failure> {
    let which: Which = call.read()?;
    Ok(Reply::json(&scribe::ask(&call.desk, Job::Redo(which.act.map(ActId)))?))
}

/// Something is said.
pub fn say(call: &Call) -> Result<Reply, Failure> {
    let act: crate::acts::Act = call.read()?;
    Ok(Reply::json(&scribe::ask(&call.desk, Job::Say(act))?))
}

/// Which entry, and whether it was meant so.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct MeantSo {
    entry: i64,
    meant: bool,
}

/// An entry that looks like a slip was meant so.
pub fn mean(call: &Call) -> Result<Reply, Failure> {
    let so: MeantSo = call.read()?;
    Ok(Reply::json(&scribe::ask(&call.desk, Job::Meant(so.entry.into(), so.meant))?))
}

/// Which face shows a person.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Chosen {
    face: i64,
}

/// A person is shown by another face.
pub fn choose_picture(call: &Call) -> Result<Reply, Failure> {
    let chosen: Chosen = call.read()?;
    let job = Job::Picture(call.number(0)?.into(), FaceRow(chosen.face));
    Ok(Reply::json(&scribe::ask(&call.desk, job)?))
}

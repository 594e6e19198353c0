//! `kith log`, `undo`, `redo`: what people said, what the model takes for mistakes, and taking it back.

use std::io::Write;

use kith_store::log::QUALITY;
use kith_store::{Believed, Entry, Kind, Library};
use serde_json::{Value, json};

use super::args::{LogOptions, ReadOptions, UndoOptions};
use super::say::in_words;
use super::speaker;
use crate::Outcome;
use crate::answer::percent;
use crate::progress::count;

/// Below this probability an entry is listed as doubtful.
const DOUBTFUL: f64 = 0.5;

/// Runs `kith log`.
pub fn log(options: &LogOptions) -> anyhow::Result<Outcome> {
    let library = Library::open_to_read(&options.lib)?;
    let entries = library.log()?;
    let belief = if entries.is_empty() { None } else { Believed::open(&library).ok() };
    let mut out = std::io::BufWriter::new(crate::progress::stdout());
    let mut n_shown = 0;
    let agreements = belief.as_ref().map_or(vec![None; entries.len()], |belief| belief.agreements(&entries));
    for (entry, agreement) in entries.iter().zip(agreements) {
        let agreement = agreement.filter(|_| entry.stands);
        let is_doubtful = agreement.is_some_and(|p| p < DOUBTFUL);
        if options.doubtful && !is_doubtful {
            continue;
        }
        n_shown += 1;
        let mut object = to_json(&library, entry)?;
        if options.json {
            object["agreement"] = json!(agreement);
            object["doubtful"] = json!(is_doubtful);
            if is_doubtful {
                object["looks_like"] = json!(looks_like(&library, belief.as_ref(), entry)?);
            }
            writeln!(out, "{object}")?;
            continue;
        }
        let text = |key: &str| object[key].as_str().map(str::to_owned);
        let face = text("face").unwrap_or_default();
        let mut line = match entry.undoes {
            Some(act) => format!("act {act} is {}", in_words(entry.kind, "", None, None)),
            None if entry.by == QUALITY => format!("{face} is too small, blurred or covered to tell"),
            None => in_words(entry.kind, &face, text("other").as_deref(), text("name").as_deref()),
        };
        line += if entry.stands { "" } else { " (taken back)" };
        if let Some(p) = agreement.filter(|_| is_doubtful) {
            let looks = looks_like(&library, belief.as_ref(), entry)?;
            let looks = looks.map_or(String::new(), |other| format!(", {face} looks like {other}"));
            line += &format!(" (doubtful: {} probable{looks})", percent(p));
        }
        writeln!(out, "{:>5}  {}  {line}", entry.act, entry.by)?;
    }
    out.flush()?;
    Ok(if n_shown == 0 { Outcome::Negative } else { Outcome::Done })
}

/// The face that the one looks most like that an entry is about.
fn looks_like(library: &Library, belief: Option<&Believed>, entry: &Entry) -> anyhow::Result<Option<String>> {
    let other = belief.zip(entry.face).and_then(|(belief, face)| belief.look_alike(face));
    Ok(other.map(|face| library.key_of(face)).transpose()?)
}

/// An entry as an object; `kith import` reads it.
pub fn to_json(library: &Library, entry: &Entry) -> anyhow::Result<Value> {
    let face = entry.face.map(|face| library.key_of(face)).transpose()?;
    let other = entry.other.map(|other| library.key_of(other)).transpose()?;
    let name = entry.name.map(|name| library.name_of(name)).transpose()?;
    Ok(json!({
        "id": entry.id, "act": entry.act, "at": entry.at, "by": entry.by, "kind": entry.kind.as_str(),
        "face": face, "other": other, "name": name, "undoes": entry.undoes, "stands": entry.stands,
    }))
}

/// Runs `kith undo`.
pub fn undo(options: &UndoOptions) -> anyhow::Result<Outcome> {
    let library = Library::open(&options.lib)?;
    let acts = library.undo(&speaker(), options.n)?;
    let mut out = crate::progress::stdout();
    if options.json {
        writeln!(out, "{}", json!({"undone": acts}))?;
    } else if acts.is_empty() {
        writeln!(out, "there is nothing to take back")?;
    } else {
        writeln!(out, "{} taken back; `kith redo` restores", count(acts.len(), "act"))?;
    }
    Ok(if acts.is_empty() { Outcome::Negative } else { Outcome::Done })
}

/// Runs `kith redo`.
pub fn redo(options: &ReadOptions) -> anyhow::Result<Outcome> {
    let library = Library::open(&options.lib)?;
    let act = library.redo(&speaker())?;
    let mut out = crate::progress::stdout();
    if options.json {
        writeln!(out, "{}", json!({"redone": act}))?;
    } else if let Some(act) = act {
        writeln!(out, "act {act} stands again")?;
    } else {
        writeln!(out, "there is nothing to restore")?;
    }
    Ok(if act.is_none() { Outcome::Negative } else { Outcome::Done })
}

/// Whether an entry says something of faces, rather than of other entries.
pub fn is_statement(entry: &Entry) -> bool {
    !matches!(entry.kind, Kind::Undo | Kind::Redo)
}

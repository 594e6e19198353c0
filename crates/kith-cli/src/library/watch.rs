//! `kith watch`: frames and commands as NDJSON on stdin, one answer line each on stdout, stored before it is
//! answered.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::atomic::Ordering;

use anyhow::{Context, bail};
use kith_store::{FaceRow, Kind, Library, NewFace, NewFrame, Saying, Seen, StoreError, Watcher};
use serde_json::{Map, Value, json};

use super::args::WatchOptions;
use super::speaker;
use crate::answer;
use crate::fit::set_threads;
use crate::progress::note;
use crate::{Outcome, interrupt};

/// Runs the verb.
pub fn run(options: &WatchOptions) -> anyhow::Result<Outcome> {
    set_threads(options.threads)?;
    let mut watcher = Watcher::new(Library::open_or_create(&options.lib)?)?;
    watcher.library().take_notes().into_iter().for_each(note);
    let stop = interrupt::listen()?;
    // Lines are read on a thread of their own, so that a polite kill is heard while none comes.
    let (send, lines) = std::sync::mpsc::sync_channel::<std::io::Result<Vec<u8>>>(16);
    std::thread::spawn(move || {
        for line in crate::lines::lines(std::io::stdin().lock()) {
            if send.send(line).is_err() {
                break;
            }
        }
    });
    let mut out = crate::progress::stdout();
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        let line = match lines.recv_timeout(std::time::Duration::from_millis(100)) {
            Ok(line) => line.context("stdin")?,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => continue,
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
        };
        number += 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let answer = match answer(&line, &mut watcher, options.embedding.as_deref()) {
            Ok(answer) => answer,
            // The disk is full, the file is gone: going on would answer what is not stored.
            Err(error) if is_fatal(&error) => {
                watcher.save().ok();
                return Err(error);
            }
            Err(error) => json!({"error": crate::in_one_line(&error), "line": number}),
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    watcher.save()?;
    Ok(Outcome::Done)
}

fn is_fatal(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref::<StoreError>(),
        Some(
            StoreError::Database { .. }
                | StoreError::ReadOnly { .. }
                | StoreError::Damaged { .. }
                | StoreError::Missing { .. }
        )
    )
}

pub(super) fn answer(line: &[u8], watcher: &mut Watcher, embedding: Option<&str>) -> anyhow::Result<Value> {
    let value: Value = serde_json::from_slice(line).context("found something else than JSON")?;
    let Value::Object(object) = value else { bail!("found {value}, wanted an object") };
    if object.contains_key("faces") {
        let frame = frame(&object)?;
        let seen = watcher.see(&frame, embedding)?;
        let faces: Vec<Value> = seen.iter().map(|seen| to_json(seen, watcher.names())).collect();
        return Ok(json!({"frame": frame.key, "faces": faces}));
    }
    command(&object, watcher)
}

fn to_json(seen: &Seen, names: &[String]) -> Value {
    let mut object = answer::to_json(&seen.key, &seen.answer, names, usize::MAX);
    let person = json!({"id": seen.person, "p": seen.person_p, "new": seen.is_new});
    object.insert("person".to_owned(), person);
    Value::Object(object)
}

/// A frame as it comes: `{"frame","time","context","faces":[{"face","embedding",...}]}`.
fn frame(object: &Map<String, Value>) -> anyhow::Result<NewFrame> {
    let text = |key: &str| -> anyhow::Result<Option<String>> {
        Ok(match object.get(key) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) if text.is_empty() => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Number(number)) => Some(number.to_string()),
            Some(other) => bail!("{key}: found {other}, wanted text"),
        })
    };
    let time = text("time")?;
    if let Some(time) = &time
        && kith_io::time::seconds(time).is_none()
    {
        bail!("time: found \"{time}\", wanted RFC 3339 (2024-05-01T12:30:00Z) or seconds");
    }
    let key = text("frame")?;
    let Some(Value::Array(list)) = object.get("faces") else { bail!("faces: wanted a list") };
    if list.is_empty() {
        bail!("faces: found an empty list, wanted at least one face");
    }
    let mut faces = Vec::new();
    for (number, value) in list.iter().enumerate() {
        faces.push(
            face(value, key.as_deref(), number).with_context(|| format!("face {number} of the frame"))?,
        );
    }
    let mut keys = BTreeSet::new();
    if let Some(twice) = faces.iter().find(|face| !keys.insert(&face.key)) {
        bail!("found the face \"{}\" twice in one frame, wanted an id of its own for each", twice.key);
    }
    Ok(NewFrame { key, time, context: text("context")?, source: text("source")?, faces })
}

fn face(value: &Value, frame: Option<&str>, number: usize) -> anyhow::Result<NewFace> {
    let Value::Object(object) = value else { bail!("found {value}, wanted an object") };
    let Some(Value::Array(numbers)) = object.get("embedding") else {
        bail!("embedding: wanted a list of numbers")
    };
    let number_of =
        |value: &Value| value.as_f64().map(|value| value as f32).filter(|value| value.is_finite());
    let embedding: Option<Vec<f32>> = numbers.iter().map(number_of).collect();
    let embedding = embedding.context("embedding: wanted finite numbers only")?;
    let text = |key: &str| match object.get(key) {
        Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        Some(other @ (Value::Array(_) | Value::Object(_))) => Some(other.to_string()),
        _ => None,
    };
    let key = match (text("face"), frame) {
        (Some(key), _) => key,
        (None, Some(frame)) => format!("{frame}#{number}"),
        (None, None) => bail!("face: missing, wanted an id of the face or of the frame"),
    };
    let known = ["face", "embedding", "name", "box", "quality"];
    let other = object.iter().filter(|(key, _)| !known.contains(&key.as_str()));
    let other = other.map(|(key, value)| (key.clone(), value.clone())).collect();
    let (name, place, quality) = (text("name"), text("box"), text("quality"));
    Ok(NewFace { key, embedding, name, place, quality, other, ..NewFace::default() })
}

/// `{"name": "Ann", "face": "f1"}`, `{"not": "Ann", "face": "f1"}`, `{"same": ["f1", "f2"]}`,
/// `{"different": [..]}`, `{"ignore": "f1"}`, `{"undo": 1}`, `{"redo": true}`.
fn command(object: &Map<String, Value>, watcher: &mut Watcher) -> anyhow::Result<Value> {
    let by = object.get("by").and_then(Value::as_str).map_or_else(speaker, str::to_owned);
    if let Some(n) = object.get("undo") {
        let n = match n {
            Value::Bool(true) => 1,
            n => n.as_u64().with_context(|| format!("undo: found {n}, wanted how many acts"))?,
        };
        return Ok(json!({"undone": watcher.undo(&by, n as usize)?}));
    }
    if object.contains_key("redo") {
        return Ok(json!({"redone": watcher.redo(&by)?}));
    }
    let face = |value: Option<&Value>| -> anyhow::Result<FaceRow> {
        let key = value.and_then(Value::as_str).context("face: wanted the id of a face")?;
        Ok(watcher.library().face(key)?)
    };
    let kinds = [Kind::Name, Kind::Not, Kind::Same, Kind::Different, Kind::Ignore];
    if kinds.iter().filter(|kind| object.contains_key(kind.as_str())).count() > 1 {
        bail!("found several things said in one line, wanted one");
    }
    for kind in kinds {
        let Some(value) = object.get(kind.as_str()) else { continue };
        let (face, other) = match (kind, value) {
            (Kind::Name | Kind::Not, _) => (face(object.get("face"))?, None),
            (Kind::Same | Kind::Different, Value::Array(pair)) if pair.len() == 2 => {
                (face(pair.first())?, Some(face(pair.last())?))
            }
            (Kind::Ignore, value) => (face(Some(value))?, None),
            (_, other) => bail!("{}: found {other}, wanted two faces", kind.as_str()),
        };
        let name = match kind {
            Kind::Name | Kind::Not => Some(value.as_str().context("wanted a name")?),
            _ => None,
        };
        let act = watcher.say(&by, &Saying { kind, face, other, name })?;
        return Ok(json!({"act": act, "kind": kind.as_str()}));
    }
    let keys: Vec<&str> = object.keys().map(String::as_str).collect();
    bail!(
        "found the keys {}, wanted faces, name, not, same, different, ignore, undo or redo",
        keys.join(", ")
    )
}

//! The JSON of people, faces, photos and questions: as the verbs print it, with rows to ask for more.

use std::collections::BTreeMap;

use kith_store::log::QUALITY;
use kith_store::{FaceRow, FrameRow, Member, Person, Photo};
use serde_json::{Value, json};

use crate::view::{Asking, View};

/// Faces that are less sure than this are doubtful.
pub const SURE: f64 = 0.9;

/// A person in a list.
pub fn summary(view: &View, person: &Person) -> Value {
    let n_doubtful = person.faces.iter().filter(|face| face.p < SURE).count();
    let (first, last) = person.seen.clone().unzip();
    json!({
        "person": person.id, "name": person.name, "p": person.name_p, "standing": person.standing(),
        "title": person.title(), "n_faces": person.faces.len(), "n_doubtful": n_doubtful,
        "picture": view.picture(person),
        "first_seen": first, "last_seen": last, "n_conflicts": person.conflicts.len(),
    })
}

/// A face that somebody has.
pub fn face(view: &View, person: &Person, face: &Member) -> Value {
    json!({
        "row": face.row, "face": face.key, "p": face.p, "person": person.id, "name": person.name,
        "title": person.title(), "person_picture": view.picture(person),
        "photo": view.photo_number(face.frame), "time": face.time, "context": face.context,
    })
}

/// A face by its row; ignored ones have no person, nor do those that have just come.
pub fn face_of(view: &View, row: FaceRow) -> Value {
    let nobody = || {
        let mut ignoring = view.log.iter().filter(|entry| entry.ignores() == Some(row)).peekable();
        let is_ignored = ignoring.peek().is_some();
        let is_unclear = is_ignored && ignoring.all(|entry| entry.by == QUALITY);
        json!({"row": row, "person": null, "ignored": is_ignored, "unclear": is_unclear})
    };
    view.face(row).map_or_else(nobody, |(person, member)| face(view, person, member))
}

/// A person's own page, but for the faces.
pub fn person(view: &View, person: &Person) -> Value {
    let mut object = summary(view, person);
    object["contexts"] = json!(person.contexts);
    object["conflicts"] = json!(person.conflicts);
    object["twice"] = twice(view, person);
    object["timeline"] = timeline(person);
    object["together"] = together(view, person);
    let alike = view.look_alikes(person.id, 6).into_iter().filter_map(|alike| {
        let mut other = summary(view, view.person(alike.person)?);
        other["near"] = json!(alike.near);
        Some(other)
    });
    object["alike"] = alike.collect();
    object
}

/// The photos that somebody is twice on, with the faces.
fn twice(view: &View, person: &Person) -> Value {
    const MOST: usize = 20;
    let mut on: BTreeMap<FrameRow, Vec<FaceRow>> = BTreeMap::new();
    person.faces.iter().for_each(|face| on.entry(face.frame).or_default().push(face.row));
    let on = on.into_iter().filter(|(_, rows)| rows.len() > 1).take(MOST);
    on.map(|(frame, rows)| json!({"photo": view.photo_number(frame), "faces": rows})).collect()
}

/// How often somebody was seen in each of at most 60 equal parts of the time between first and last.
fn timeline(person: &Person) -> Value {
    const MOST: usize = 60;
    let seconds = |face: &Member| kith_store::people::seconds(face.time.as_deref()?);
    let times: Vec<f64> = person.faces.iter().filter_map(seconds).collect();
    let first = times.iter().copied().fold(f64::INFINITY, f64::min);
    let last = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if times.is_empty() {
        return Value::Null;
    }
    let width = ((last - first) / MOST as f64).max(60.0);
    let mut bars = vec![0_usize; MOST];
    times.iter().for_each(|time| bars[(((time - first) / width) as usize).min(MOST - 1)] += 1);
    json!({"first": first, "last": last, "width": width, "bars": bars})
}

/// With whom somebody is on photos, most often first.
fn together(view: &View, person: &Person) -> Value {
    const MOST: usize = 8;
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    for face in &person.faces {
        let company = view.frames.get(&face.frame).into_iter().flatten();
        for (other, _) in company.filter_map(|&row| view.face(row)).filter(|(other, _)| other.id != person.id)
        {
            *counts.entry(other.id.0).or_default() += 1;
        }
    }
    let mut counts: Vec<(i64, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|&(id, n)| (std::cmp::Reverse(n), id));
    let with = counts.into_iter().take(MOST).filter_map(|(id, n)| {
        let mut other = summary(view, view.person(id.into())?);
        other["photos"] = json!(n);
        Some(other)
    });
    with.collect()
}

/// A photo in a list.
pub fn photo(view: &View, photo: &Photo) -> Value {
    let faces = photo.frame.and_then(|frame| view.frames.get(&frame)).map_or(0, Vec::len);
    json!({
        "photo": photo.row, "id": photo.key, "width": photo.pixels.0, "height": photo.pixels.1,
        "time": photo.time, "gone": photo.is_gone, "n_faces": faces, "drawn": false,
    })
}

/// A question, with other faces of whom it is about: one picture may be a bad one.
pub fn question(view: &View, asking: &Asking) -> Value {
    let kind = if asking.other.is_some() { "same" } else { "who" };
    let title = |row: FaceRow| view.face(row).map(|(person, _)| summary(view, person));
    let other = asking.other.map(|(row, _)| face_of(view, row));
    let more = view.face(asking.face).map(|(person, _)| others_of(person, asking.face));
    json!({
        "ask": kind, "face": face_of(view, asking.face), "person": title(asking.face), "other": other,
        "other_person": asking.other.and_then(|(row, _)| title(row)),
        "more": more.unwrap_or_default(),
        "p": asking.other.map(|(_, p)| p), "gain": asking.gain, "settles": asking.settles,
    })
}

/// Some other faces of somebody, spread evenly over all, the surest first.
fn others_of(person: &Person, face: FaceRow) -> Vec<FaceRow> {
    const MOST: usize = 6;
    let rows: Vec<FaceRow> = person.faces.iter().map(|face| face.row).filter(|&row| row != face).collect();
    let n = rows.len().min(MOST);
    (0..n).map(|k| rows[k * rows.len() / n]).collect()
}

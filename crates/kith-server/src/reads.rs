//! What can be asked through the API, each a look at the view.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use kith_store::{Entry, EntryId, FaceRow, FrameRow, Kind, Person, PersonId, Photo, PhotoRow, Who, Why};
use serde_json::{Value, json};

use crate::call::{Call, Reply};
use crate::drawn;
use crate::failure::Failure;
use crate::shapes::{self, SURE};
use crate::view::{Asking, View};

type Answered = Result<Reply, Failure>;

/// How the library is, and what is being done.
pub fn status(call: &Call) -> Answered {
    let (view, desk) = (call.view(), &call.desk);
    let of = |standing: &str| view.people.iter().filter(|person| person.standing() == standing).count();
    let (n_faces, n_named) = (view.n_faces(), view.n_named());
    let name = desk.options.lib.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(Reply::json(&json!({
        "library": name, "view": view.number, "n_faces": n_faces, "n_named": n_named,
        "n_people": view.people.len(), "named": of("named"), "familiar": of("familiar"),
        "strangers": of("stranger"),
        "n_photos": if view.photos.is_empty() { view.frames.len() } else { view.photos.len() },
        "has_photos": !view.photos.is_empty(), "read_only": desk.options.is_read_only,
        "doing": *desk.doing.lock().expect("nobody panics while holding it"),
        "contacts": desk.contacts.read().expect("nobody panics while holding it").len(),
        "believes": view.asked.is_some(), "by": desk.by, "version": env!("CARGO_PKG_VERSION"),
    })))
}

/// People: `q` searches, `standing` and `sort` choose, `from` and `n` page.
pub fn people(call: &Call) -> Answered {
    let view = call.view();
    let chosen = chosen(&view, call)?;
    let (from, n) = (call.count("from", 0, usize::MAX)?, call.count("n", 100, 1000)?);
    let list: Vec<Value> =
        chosen.iter().skip(from).take(n).map(|person| shapes::summary(&view, person)).collect();
    Ok(Reply::json(&json!({"total": chosen.len(), "from": from, "view": view.number, "people": list})))
}

/// The people that are asked for, in the order that is.
pub fn chosen<'v>(view: &'v View, call: &Call) -> Result<Vec<&'v Person>, Failure> {
    let query = call.word("q").map(str::to_lowercase);
    let standing = call.word("standing");
    if standing.is_some_and(|word| !["named", "familiar", "stranger"].contains(&word)) {
        return Err(Failure::malformed("standing: wanted named, familiar or stranger"));
    }
    let is_chosen = |person: &&Person| {
        standing.is_none_or(|standing| person.standing() == standing)
            && query.as_ref().is_none_or(|query| person.title().to_lowercase().contains(query))
    };
    let mut chosen: Vec<&Person> = view.people.iter().map(|person| &**person).filter(is_chosen).collect();
    let doubt =
        |person: &&Person| person.faces.iter().map(|face| 1.0 - face.p).sum::<f64>() + 1.0 - person.name_p;
    match call.word("sort") {
        None | Some("size") => chosen.sort_by_key(|person| (Reverse(person.faces.len()), person.id)),
        Some("doubt") => {
            let mut by_doubt: Vec<(f64, &Person)> =
                chosen.iter().map(|person| (doubt(person), *person)).collect();
            by_doubt.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.id.cmp(&b.1.id)));
            chosen = by_doubt.into_iter().map(|(_, person)| person).collect();
        }
        Some("name") => chosen.sort_by_key(|person| (person.name.is_none(), person.title().to_lowercase())),
        Some("lately") => {
            let said = last_named(view);
            chosen.sort_by_key(|person| Reverse((said.get(&person.id).copied(), person.id)));
        }
        Some(_) => return Err(Failure::malformed("sort: wanted size, doubt, name or lately")),
    }
    Ok(chosen)
}

/// When people were last given a name, by entries of the log.
fn last_named(view: &View) -> BTreeMap<PersonId, EntryId> {
    let names = view.log.iter().filter(|entry| entry.stands && entry.kind == Kind::Name);
    names.filter_map(|entry| Some((view.face(entry.face?)?.0.id, entry.id))).collect()
}

/// A person of the address.
pub fn known<'v>(view: &'v View, call: &Call) -> Result<&'v Person, Failure> {
    let id = call.number(0)?;
    view.person(PersonId(id)).ok_or_else(|| Failure::missing(format!("found no person {id}")))
}

/// A person: when, where and with whom, who looks alike, what was said.
pub fn person(call: &Call) -> Answered {
    let view = call.view();
    let person = known(&view, call)?;
    let mut object = shapes::person(&view, person);
    object["said"] = crate::history::about(&view, person);
    object["view"] = json!(view.number);
    Ok(Reply::json(&object))
}

/// The faces of a person, the least sure first.
pub fn faces(call: &Call) -> Answered {
    let view = call.view();
    let person = known(&view, call)?;
    let (from, n) = (call.count("from", 0, usize::MAX)?, call.count("n", 200, 1000)?);
    let list = person.faces.iter().rev().skip(from).take(n);
    let list: Vec<Value> = list.map(|face| shapes::face(&view, person, face)).collect();
    Ok(Reply::json(&json!({"total": person.faces.len(), "from": from, "view": view.number, "faces": list})))
}

/// A face: whose it is, how sure that is, why, and what would change that.
pub fn face(call: &Call) -> Answered {
    let (view, row) = (call.view(), FaceRow(call.number(0)?));
    let Some((person, member)) = view.face(row) else {
        return Err(Failure::missing(format!("found no face {row}, or one that is nobody's")));
    };
    let mut object = shapes::face(&view, person, member);
    object["said"] = crate::history::of_faces(&view, &[row]);
    let asked = view.reasons.as_ref().and_then(|asked| Some((asked, asked.believed.rows.face_of(row)?)));
    if let Some((asked, face)) = asked {
        let who = asked.who(face);
        explain(&mut object, &view, &who, asked.believed.belief.target().data().names());
    }
    Ok(Reply::json(&object))
}

/// The answer in its one shape, and the three factors of everybody who is in question.
fn explain(object: &mut Value, view: &View, who: &Who, names: &[String]) {
    const MOST: usize = 5;
    let answer = &who.answer;
    let told = answer.names.iter().take(MOST).filter(|name| name.p > 1e-4);
    let told: Vec<Value> =
        told.map(|name| json!({"name": names[name.label.index()], "p": name.p, "hdi": name.hdi})).collect();
    let title = |id: Option<PersonId>| id.and_then(|id| view.person(id)).map(Person::title);
    let why = who.why.iter().take(MOST).map(|why| {
        let picture = why.person.and_then(|id| view.person(id)).map(|person| view.picture(person));
        json!({
            "person": why.person, "title": title(why.person), "picture": picture, "p": why.p,
            "face": why.face,
            "context": why.context, "said": why.said,
        })
    });
    object["acquainted"] = json!(answer.acquainted);
    object["familiar"] = json!(answer.familiar);
    object["stranger"] = json!(answer.stranger);
    object["names"] = json!(told);
    object["unknown_name"] = json!(answer.unknown_name);
    object["why"] = why.collect();
    object["without"] = without(view, who);
}

/// What is left of the probability of a candidate without one of the factors.
type Score = fn(&Why) -> f64;

/// Who it would be without what one of the factors says.
fn without(view: &View, who: &Who) -> Value {
    let best = |score: Score| {
        let near = who.why.iter().filter(|why| why.p > 1e-12);
        near.max_by(|a, b| score(a).total_cmp(&score(b))).map(|why| why.person)
    };
    let factors: [(&str, Score); 3] = [
        ("looks", |why| why.p.ln() - why.face),
        ("context", |why| why.p.ln() - why.context),
        ("words", |why| why.p.ln() - why.said),
    ];
    let now = best(|why| why.p);
    let other = |(factor, score): (&str, Score)| {
        let then = best(score);
        let title = then.flatten().and_then(|id| view.person(id)).map(Person::title);
        (then != now).then(|| json!({"factor": factor, "person": then.flatten(), "title": title}))
    };
    factors.into_iter().filter_map(other).collect()
}

/// The small picture of a face, or a drawn one.
pub fn face_picture(call: &Call) -> Answered {
    let row = FaceRow(call.number(0)?);
    let jpeg = call.desk.reader.lock().expect("nobody panics while holding it").thumbnail(row)?;
    if let Some(jpeg) = jpeg {
        return Ok(Reply::of("image/jpeg", jpeg).kept());
    }
    let view = call.view();
    let asked = view.asked.as_ref();
    let looks = asked.and_then(|asked| {
        let face = asked.believed.rows.face_of(row)?;
        Some(asked.believed.belief.target().data().embedding(face))
    });
    let drawn = Reply::of("image/jpeg", drawn::face(looks));
    // A silhouette is there until looks are known.
    Ok(if looks.is_some() { drawn.kept() } else { drawn })
}

/// Photos, the latest first; frames, where a library has no photos.
pub fn photos(call: &Call) -> Answered {
    let view = call.view();
    let (from, n) = (call.count("from", 0, usize::MAX)?, call.count("n", 100, 1000)?);
    let total = if view.photos.is_empty() { view.frames.len() } else { view.photos.len() };
    let list: Vec<Value> = if view.photos.is_empty() {
        view.frames.keys().rev().skip(from).take(n).map(|&frame| of_frame(&view, frame)).collect()
    } else {
        view.photos.iter().rev().skip(from).take(n).map(|photo| shapes::photo(&view, photo)).collect()
    };
    Ok(Reply::json(&json!({"total": total, "from": from, "view": view.number, "photos": list})))
}

/// A frame that came without a photo, as a drawn one.
fn of_frame(view: &View, frame: FrameRow) -> Value {
    let faces = &view.frames[&frame];
    let first = faces.first().and_then(|&row| view.face(row)).map(|(_, face)| face);
    let (width, height) = drawn::scene_size(faces.len());
    json!({
        "photo": frame, "id": first.map(|face| &face.key), "width": width, "height": height,
        "time": first.and_then(|face| face.time.clone()), "gone": false, "n_faces": faces.len(),
        "drawn": true,
    })
}

/// A photo with its faces: where they are, who they are, and how sure that is.
pub fn photo(call: &Call) -> Answered {
    let view = call.view();
    let (mut object, faces) = match found(&view, call)? {
        Found::Photo(photo) => {
            let faces =
                call.desk.reader.lock().expect("nobody panics while holding it").faces_of_photo(photo.row)?;
            let faces: Vec<(FaceRow, [f32; 4], Option<f32>)> =
                faces.into_iter().map(|face| (face.row, face.bounds, face.quality)).collect();
            let mut object = shapes::photo(&view, photo);
            object["place"] = json!(photo.place);
            object["camera"] = json!(photo.camera);
            (object, faces)
        }
        Found::Frame(frame) => {
            let rows = &view.frames[&frame];
            let places = drawn::places(rows.len());
            (
                of_frame(&view, frame),
                rows.iter().zip(places).map(|(&row, place)| (row, place, None)).collect(),
            )
        }
    };
    let first = faces.iter().find_map(|(row, ..)| view.face(*row)).map(|(_, face)| face);
    object["context"] = json!(first.and_then(|face| face.context.clone()));
    let faces = faces.into_iter().map(|(row, bounds, quality)| {
        let mut object = shapes::face_of(&view, row);
        object["box"] = json!(bounds);
        object["quality"] = json!(quality);
        object
    });
    object["faces"] = faces.collect();
    (object["earlier"], object["later"]) = neighbours(&view, call.number(0)?);
    object["view"] = json!(view.number);
    Ok(Reply::json(&object))
}

/// The photos before and after one, as they are listed.
fn neighbours(view: &View, number: i64) -> (Value, Value) {
    if view.photos.is_empty() {
        let before = view.frames.range(..FrameRow(number)).next_back().map(|(frame, _)| frame.0);
        let after = view.frames.range(FrameRow(number + 1)..).next().map(|(frame, _)| frame.0);
        return (json!(before), json!(after));
    }
    let place = view.photos.partition_point(|photo| photo.row.0 < number);
    let row = |place: usize| view.photos.get(place).map(|photo| photo.row);
    (json!(place.checked_sub(1).and_then(row)), json!(row(place + 1)))
}

/// What a photo's number stands for.
pub enum Found<'v> {
    Photo(&'v Photo),
    Frame(FrameRow),
}

/// The photo, or where there are none the frame, of the address.
pub fn found<'v>(view: &'v View, call: &Call) -> Result<Found<'v>, Failure> {
    let number = call.number(0)?;
    let missing = || Failure::missing(format!("found no photo {number}"));
    if view.photos.is_empty() {
        let frame = FrameRow(number);
        return view.frames.contains_key(&frame).then_some(Found::Frame(frame)).ok_or_else(missing);
    }
    let place =
        view.photos.binary_search_by_key(&PhotoRow(number), |photo| photo.row).map_err(|_| missing())?;
    Ok(Found::Photo(&view.photos[place]))
}

/// Questions that would settle most, asked ahead, and groups that may be pieces of others; `without` those
/// about faces that were passed over.
pub fn questions(call: &Call) -> Answered {
    const MOST_PIECES: usize = 9;
    let view = call.view();
    let n = call.count("n", 6, 100)?;
    let row = |text: &str| text.parse().map(FaceRow);
    let without = call.word("without").unwrap_or_default().split(',').filter(|text| !text.is_empty());
    let without: BTreeSet<FaceRow> = without
        .map(row)
        .collect::<Result<_, _>>()
        .map_err(|_| Failure::malformed("without: wanted rows of faces, with commas between them"))?;
    let is_open = |asking: &&Asking| !without.contains(&asking.face);
    let list = view.questions.iter().filter(is_open).take(n).map(|asking| shapes::question(&view, asking));
    let list: Vec<Value> = list.collect();
    let pieces = view.pieces.iter().filter_map(|piece| {
        let (person, of) = (view.person(piece.person)?, view.person(piece.of.person)?);
        let is_open = person.name.is_none() && of.name.is_some() && !without.contains(&view.picture(person));
        is_open.then(|| {
            json!({
                "piece": shapes::summary(&view, person), "of": shapes::summary(&view, of),
                "near": piece.of.near, "picked": piece.of.is_near, "worth": piece.worth(),
            })
        })
    });
    let pieces: Vec<Value> = pieces.take(MOST_PIECES).collect();
    let (n_faces, n_named) = (view.n_faces(), view.n_named());
    Ok(Reply::json(&json!({
        "view": view.number, "believes": view.asked.is_some(), "n_faces": n_faces, "n_named": n_named,
        "questions": list, "pieces": pieces,
    })))
}

/// What is doubtful: faces, statements that look like slips, and conflicts.
pub fn doubt(call: &Call) -> Answered {
    const MOST: usize = 200;
    let view = call.view();
    let mut unsure: Vec<(&Person, &kith_store::Member)> = Vec::new();
    for person in view.people.iter().filter(|person| person.faces.len() > 1) {
        unsure.extend(person.faces.iter().filter(|face| face.p < SURE).map(|face| (&**person, face)));
    }
    unsure.sort_by(|a, b| a.1.p.total_cmp(&b.1.p).then(a.1.row.cmp(&b.1.row)));
    let n_unsure = unsure.len();
    let faces: Vec<Value> =
        unsure.iter().take(MOST).map(|(person, face)| shapes::face(&view, person, face)).collect();
    Ok(Reply::json(&json!({
        "view": view.number, "n_unsure": n_unsure, "faces": faces, "slips": crate::history::slips(&view),
        "conflicts": conflicts(&view),
    })))
}

/// Who is twice on a photo, and who was given two names.
fn conflicts(view: &View) -> Value {
    const MOST: usize = 200;
    // Whom the owner called the same: a mirror, a photo on the wall.
    let is_same = |entry: &&Entry| entry.stands && entry.kind == Kind::Same;
    let meant: BTreeSet<(FaceRow, FaceRow)> = (view.log.iter().filter(is_same))
        .filter_map(|entry| Some((entry.face?.min(entry.other?), entry.face?.max(entry.other?))))
        .collect();
    let is_meant = |rows: &[FaceRow]| rows.windows(2).all(|pair| meant.contains(&(pair[0], pair[1])));
    let mut list = Vec::new();
    for (&frame, rows) in view.frames.iter().filter(|(_, rows)| rows.len() > 1) {
        let mut of_person: BTreeMap<PersonId, Vec<FaceRow>> = BTreeMap::new();
        for &row in rows {
            view.face(row)
                .into_iter()
                .for_each(|(person, _)| of_person.entry(person.id).or_default().push(row));
        }
        for (id, rows) in of_person.into_iter().filter(|(_, rows)| rows.len() > 1 && !is_meant(rows)) {
            let faces: Vec<Value> = rows.iter().map(|&row| shapes::face_of(view, row)).collect();
            let person = view.person(id).map(|person| shapes::summary(view, person));
            list.push(json!({
                "kind": "twice", "person": person, "photo": view.photo_number(frame), "faces": faces,
            }));
        }
    }
    for person in &view.people {
        for conflict in person.conflicts.iter().filter(|conflict| conflict.starts_with("given two names")) {
            let summary = shapes::summary(view, person);
            list.push(json!({"kind": "names", "person": summary, "text": conflict}));
        }
    }
    list.truncate(MOST);
    json!(list)
}

//! What the owner can say through the page, and what that comes to in the log.

use std::collections::{BTreeMap, BTreeSet};

use kith_store::{FaceRow, FrameRow, Kind, Person, PersonId, Saying};
use serde::Deserialize;

use crate::failure::Failure;
use crate::view::{Effect, View};
use crate::words;

/// So many faces of somebody, spread evenly, are said to be another's when two people are joined.
const MOST_JOINED: usize = 200;
/// A face that is taken out of somebody without a name is said to differ from so many others of theirs.
const ANCHORS: usize = 5;
/// So many people may be joined at once.
const MOST_PAIRS: usize = 200;
/// So many faces may be spoken of at once.
const MOST_FACES: usize = 10_000;

/// Something that the owner says.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Act {
    /// Faces, or a person, have this name.
    Name {
        #[serde(default)]
        faces: Vec<i64>,
        person: Option<i64>,
        name: String,
    },
    /// Faces do not have this name.
    Not { faces: Vec<i64>, name: String },
    /// Two faces are the same person.
    Same { face: i64, other: i64 },
    /// Two faces are different people.
    Different { face: i64, other: i64 },
    /// Faces, or all faces of a person, are nobody's.
    Ignore {
        #[serde(default)]
        faces: Vec<i64>,
        person: Option<i64>,
    },
    /// Two people are one, who is called as the second.
    Join { person: i64, into: i64 },
    /// Several such pairs: the first is the second.
    JoinAll { pairs: Vec<[i64; 2]> },
    /// Faces are not of the person that they are taken for.
    TakeOut { faces: Vec<i64> },
    /// Faces are of the person that they are taken for.
    Confirm { faces: Vec<i64> },
}

/// Entries for the log, what they change at once, and in words.
pub struct Meant {
    pub entries: Vec<Said>,
    pub effect: Effect,
    pub text: String,
}

/// An entry for the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    pub kind: Kind,
    pub face: FaceRow,
    pub other: Option<FaceRow>,
    pub name: Option<String>,
}

impl Said {
    /// As the library takes it.
    pub fn saying(&self) -> Saying<'_> {
        Saying { kind: self.kind, face: self.face, other: self.other, name: self.name.as_deref() }
    }
}

impl Act {
    /// What it comes to, as things are shown.
    pub fn meant(&self, view: &View) -> Result<Meant, Failure> {
        match self {
            Self::Name { faces, person: Some(id), name } if faces.is_empty() => name_person(view, *id, name),
            Self::Name { faces, person: None, name } => name_faces(view, faces, name),
            Self::Name { .. } => Err(Failure::malformed("found faces and a person, wanted one or the other")),
            Self::Not { faces, name } => {
                let rows = known(view, faces)?;
                let entries = rows.iter().map(|&face| named(Kind::Not, face, name)).collect();
                let text = format!("{} not {}", are(view, &rows), name.trim());
                Ok(Meant { entries, text, effect: Effect::Settled(rows) })
            }
            Self::Same { face, other } => pair(view, Kind::Same, *face, *other),
            Self::Different { face, other } => pair(view, Kind::Different, *face, *other),
            Self::Ignore { faces, person } => {
                let rows = match person {
                    Some(id) if faces.is_empty() => {
                        known_person(view, *id)?.faces.iter().map(|face| face.row).collect()
                    }
                    Some(_) => {
                        return Err(Failure::malformed("found faces and a person, wanted one or the other"));
                    }
                    None => known(view, faces)?,
                };
                let entry = |&face: &FaceRow| Said { kind: Kind::Ignore, face, other: None, name: None };
                let text = format!("{} nobody", are(view, &rows));
                Ok(Meant { entries: rows.iter().map(entry).collect(), text, effect: Effect::Gone(rows) })
            }
            Self::Join { person, into } => join(view, *person, *into),
            Self::JoinAll { pairs } => join_all(view, pairs),
            Self::TakeOut { faces } => whether(view, faces, false),
            Self::Confirm { faces } => whether(view, faces, true),
        }
    }
}

fn named(kind: Kind, face: FaceRow, name: &str) -> Said {
    Said { kind, face, other: None, name: Some(name.to_owned()) }
}

/// Rows of faces that are shown.
fn known(view: &View, faces: &[i64]) -> Result<Vec<FaceRow>, Failure> {
    if faces.is_empty() || faces.len() > MOST_FACES {
        return Err(Failure::malformed(format!("found {} faces, wanted 1 to {MOST_FACES}", faces.len())));
    }
    let row = |&face: &i64| {
        let is_there = view.face(FaceRow(face)).is_some();
        is_there.then_some(FaceRow(face)).ok_or_else(|| Failure::missing(format!("found no face {face}")))
    };
    let mut rows: Vec<FaceRow> = faces.iter().map(row).collect::<Result<_, _>>()?;
    rows.sort_unstable();
    rows.dedup();
    Ok(rows)
}

fn known_person(view: &View, id: i64) -> Result<&Person, Failure> {
    view.person(PersonId(id)).ok_or_else(|| Failure::missing(format!("found no person {id}")))
}

/// "img_7 is", "3 faces are".
fn are(view: &View, rows: &[FaceRow]) -> String {
    match rows {
        [row] => format!("{} is", view.face(*row).map_or("a face", |(_, face)| &face.key)),
        rows => format!("{} faces are", rows.len()),
    }
}

/// A person is called something: said of the face that shows them, and of every face that was called
/// something else.
fn name_person(view: &View, id: i64, name: &str) -> Result<Meant, Failure> {
    let person = known_person(view, id)?;
    let picture = view.picture(person);
    let mut called: BTreeMap<FaceRow, &str> = BTreeMap::new();
    for entry in view.log.iter().filter(|entry| entry.stands && entry.kind == Kind::Name) {
        if let (Some(face), Some(name)) = (entry.face, entry.name.and_then(|name| view.names.get(&name))) {
            called.insert(face, name);
        }
    }
    let mut rows: Vec<FaceRow> = person.faces.iter().map(|face| face.row).collect();
    rows.retain(|row| *row == picture || called.get(row).is_some_and(|other| *other != name.trim()));
    let entries = rows.iter().map(|&face| named(Kind::Name, face, name)).collect();
    let text = match &person.name {
        Some(before) if before != name.trim() => format!("{before} is now {}", name.trim()),
        _ => format!("person {id} is {}", name.trim()),
    };
    Ok(Meant { entries, text, effect: Effect::Named(person.id, name.trim().to_owned()) })
}

fn name_faces(view: &View, faces: &[i64], name: &str) -> Result<Meant, Failure> {
    let rows = known(view, faces)?;
    let entries = rows.iter().map(|&face| named(Kind::Name, face, name)).collect();
    let text = format!("{} {}", are(view, &rows), name.trim());
    let person = view.face(rows[0]).map(|(person, _)| person);
    let effect = match (person, &rows[..]) {
        // Who has no name gets it with the first face that is named.
        (Some(person), [_]) if person.name.is_none() => Effect::Named(person.id, name.trim().to_owned()),
        _ => Effect::Settled(rows),
    };
    Ok(Meant { entries, text, effect })
}

fn pair(view: &View, kind: Kind, face: i64, other: i64) -> Result<Meant, Failure> {
    if face == other {
        return Err(Failure::refused("found one face twice, wanted two faces"));
    }
    let rows = known(view, &[face, other])?;
    let entries = vec![Said { kind, face: FaceRow(face), other: Some(FaceRow(other)), name: None }];
    let key = |row: i64| view.face(FaceRow(row)).map_or("a face", |(_, face)| &face.key);
    let what = if kind == Kind::Same { "the same person" } else { "different people" };
    let text = format!("{} and {} are {what}", key(face), key(other));
    Ok(Meant { entries, text, effect: Effect::Settled(rows) })
}

/// Two people are one: both get the name, where there is one, and faces of the first are said to be the
/// second's. Not where they are on a photo together: nobody is twice on a photo, and belief would tear such a
/// join apart.
fn join(view: &View, id: i64, into: i64) -> Result<Meant, Failure> {
    if id == into {
        return Err(Failure::refused("found one person twice, wanted two people"));
    }
    let (from, into) = (known_person(view, id)?, known_person(view, into)?);
    let frames: BTreeSet<FrameRow> = into.faces.iter().map(|face| face.frame).collect();
    let n_together = from.faces.iter().filter(|face| frames.contains(&face.frame)).count();
    if n_together > 0 {
        let (a, b, n) = (from.title(), into.title(), words::count(n_together, "photo"));
        let wanted = "wanted two who are not, for nobody is twice on a photo: take the wrong faces out \
                      first, or give both one name";
        return Err(Failure::refused(format!("found {a} and {b} together on {n}, {wanted}")));
    }
    let name = into.name.clone().or_else(|| from.name.clone());
    let anchor = view.picture(into);
    let step = from.faces.len().div_ceil(MOST_JOINED).max(1);
    let same = |face, other| Said { kind: Kind::Same, face, other: Some(other), name: None };
    let mut entries = Vec::new();
    if let Some(name) = &name {
        entries.extend(from.faces.iter().step_by(step).map(|face| named(Kind::Name, face.row, name)));
        entries.push(named(Kind::Name, anchor, name));
        entries.push(same(from.faces[0].row, anchor));
    } else {
        // As many faces of both as there may be: compared with a single one, that one would rather go to the
        // others.
        let n = from.faces.len().max(into.faces.len()).min(MOST_JOINED);
        let pair = |k: usize| [from, into].map(|person| person.faces[k % person.faces.len()].row);
        entries.extend((0..n).map(pair).map(|[face, other]| same(face, other)));
    }
    let text = format!("{} and {} are the same person", from.title(), into.title());
    Ok(Meant { entries, text, effect: Effect::Joined(from.id, into.id) })
}

/// Several people are others, said as one act.
fn join_all(view: &View, pairs: &[[i64; 2]]) -> Result<Meant, Failure> {
    if pairs.is_empty() || pairs.len() > MOST_PAIRS {
        return Err(Failure::malformed(format!("found {} pairs, wanted 1 to {MOST_PAIRS}", pairs.len())));
    }
    let firsts: BTreeSet<i64> = pairs.iter().map(|pair| pair[0]).collect();
    if firsts.len() < pairs.len() || pairs.iter().any(|pair| firsts.contains(&pair[1])) {
        return Err(Failure::malformed("found somebody in two pairs, wanted each joined once"));
    }
    let all: Vec<Meant> = pairs.iter().map(|&[id, into]| join(view, id, into)).collect::<Result<_, _>>()?;
    let text = match &all[..] {
        [one] => one.text.clone(),
        all => format!("{} people are others", all.len()),
    };
    let (entries, effects): (Vec<_>, Vec<_>) = all.into_iter().map(|one| (one.entries, one.effect)).unzip();
    Ok(Meant { entries: entries.concat(), effect: Effect::Several(effects), text })
}

/// Faces are, or are not, of the people that they are taken for.
fn whether(view: &View, faces: &[i64], is_so: bool) -> Result<Meant, Failure> {
    let rows = known(view, faces)?;
    let mut entries = Vec::new();
    for &row in &rows {
        let Some((person, _)) = view.face(row) else { continue };
        // Others of the same person, who are not spoken of: against several of them it is this face that
        // leaves.
        let others = person.faces.iter().map(|face| face.row).filter(|other| !rows.contains(other));
        let anchors: Vec<FaceRow> = others.take(if is_so { 1 } else { ANCHORS }).collect();
        let (kind, pair) = if is_so { (Kind::Name, Kind::Same) } else { (Kind::Not, Kind::Different) };
        let said = |&anchor: &FaceRow| Said { kind: pair, face: row, other: Some(anchor), name: None };
        match (&person.name, &anchors[..]) {
            (Some(name), _) => entries.push(named(kind, row, name)),
            (None, []) => return Err(Failure::refused("found all faces of a person, wanted some to stay")),
            (None, anchors) => entries.extend(anchors.iter().map(said)),
        }
    }
    let title = view.face(rows[0]).map(|(person, _)| person.title()).unwrap_or_default();
    let text = format!("{}{} {title}", are(view, &rows), if is_so { "" } else { " not" });
    Ok(Meant { entries, text, effect: Effect::Settled(rows) })
}

//! `kith people`: who is in a library; named people, familiar ones and strangers apart.

use std::cmp::Reverse;
use std::io::Write;

use kith_store::{Library, Person, StoreError};
use serde_json::{Value, json};

use super::args::PeopleOptions;
use super::believed;
use crate::Outcome;
use crate::answer::percent;
use crate::progress::{count, note};

/// Runs the verb.
pub fn run(options: &PeopleOptions) -> anyhow::Result<Outcome> {
    Library::read(&options.lib, |library| show(library, options))
}

fn show(library: &Library, options: &PeopleOptions) -> anyhow::Result<Outcome> {
    let people = people(library)?;
    if let Some(path) = &options.sheet {
        super::sheet::write(library, &people, path)?;
        return Ok(if people.is_empty() { Outcome::Negative } else { Outcome::Done });
    }
    let mut out = std::io::BufWriter::new(crate::progress::stdout());
    let mut standing = "";
    for person in &people {
        if options.json {
            writeln!(out, "{}", to_json(person))?;
            continue;
        }
        if person.standing() != standing {
            standing = person.standing();
            let n = people.iter().filter(|other| other.standing() == standing).count();
            let title = match standing {
                "named" => "NAMED",
                "familiar" => "FAMILIAR, without a name",
                _ => "STRANGERS, seen once",
            };
            writeln!(out, "{title} ({n})")?;
        }
        writeln!(out, "  {}", in_words(person))?;
    }
    out.flush()?;
    Ok(if people.is_empty() { Outcome::Negative } else { Outcome::Done })
}

/// Everybody who is there, after what was seen and said since was taken in; why there is nobody is said.
fn people(library: &Library) -> Result<Vec<Person>, StoreError> {
    let nobody = |why: &str| {
        note(format!("there is nobody: {why}"));
        Ok(Vec::new())
    };
    if library.n_faces()? == 0 {
        return nobody("the library has no faces");
    }
    library.take_in_news()?;
    if !library.is_believed()? {
        match believed(library) {
            // The people who are stored are those of before.
            Err(StoreError::Nobody { .. }) => return nobody("all faces are ignored or set aside"),
            opened => opened.map(drop)?,
        }
    }
    library.people()
}

/// A person as an object.
pub fn to_json(person: &Person) -> Value {
    let faces: Vec<Value> = person.faces.iter().map(|face| json!({"face": face.key, "p": face.p})).collect();
    let (first, last) = person.seen.clone().unzip();
    json!({
        "person": person.id, "name": person.name, "p": person.name_p, "standing": person.standing(),
        "n_faces": person.faces.len(), "faces": faces, "contexts": person.contexts,
        "first_seen": first, "last_seen": last, "conflicts": person.conflicts,
    })
}

/// At most so many contexts of a person are shown.
const MOST_PLACES: usize = 12;

fn in_words(person: &Person) -> String {
    let mut text = format!("{:>5}  {}: {}", person.id, person.title(), count(person.faces.len(), "face"));
    if person.name.is_some() && person.name_p < 0.995 {
        text += &format!(" ({} sure of the name)", percent(person.name_p));
    }
    if !person.contexts.is_empty() {
        let mut places: Vec<(&String, usize)> =
            person.contexts.iter().map(|(place, &n)| (place, n)).collect();
        // Where there are many, the most frequent.
        let n_others = places.len().saturating_sub(MOST_PLACES);
        if n_others > 0 {
            places.sort_by_key(|&(_, n)| Reverse(n));
        }
        let told = places.iter().take(MOST_PLACES).map(|(place, n)| format!("{place} {n}"));
        let others = (n_others > 0).then(|| format!("{} more", n_others));
        text += &format!("; {}", told.chain(others).collect::<Vec<_>>().join(", "));
    }
    if let Some((first, last)) = &person.seen {
        text += &if first == last { format!("; {first}") } else { format!("; {first} to {last}") };
    }
    text += &format!("; as on {}", person.faces[0].key);
    for conflict in &person.conflicts {
        text += &format!("; ! {conflict}");
    }
    text
}

#[cfg(test)]
mod tests {
    use kith_store::people::Member;
    use kith_store::{FaceRow, FrameRow, PersonId};

    use super::*;

    #[test]
    fn of_many_contexts_the_most_frequent_are_shown() {
        let face = Member {
            row: FaceRow(1),
            key: "a".to_owned(),
            p: 1.0,
            frame: FrameRow(1),
            time: None,
            context: None,
        };
        let contexts = |n: usize| (0..n).map(|k| (format!("c{k:02}"), 1 + k % 14)).collect();
        let person = |n| Person {
            id: PersonId(3),
            name: None,
            name_p: 0.0,
            faces: vec![face.clone()],
            contexts: contexts(n),
            seen: None,
            conflicts: Vec::new(),
        };
        assert!(in_words(&person(3)).contains("; c00 1, c01 2, c02 3; as on a"), "all, by name");
        let many = in_words(&person(20));
        assert!(many.contains("; c13 14, c12 13,") && many.contains("8 more; as on a"), "{many}");
    }
}

//! Every door takes the same names and ids, any number of them, and nothing that comes in does anything to a
//! terminal.

use kith_io::terminal::is_hidden;
use serde_json::{Value, json};

use crate::common::{Place, photos, stream};

#[test]
fn any_number_of_names_of_one_character_are_names_like_others() {
    let place = Place::empty();
    let mut table = photos(70, 1, "p");
    for face in table.dataset.faces() {
        let name = char::from_u32(0x4e00 + face.index() as u32).unwrap().to_string();
        table.dataset.set_name(face, Some(&name));
    }
    place.dataset("photos", &table);
    place.run(&["add", "lib", "photos"]).done();
    let verbs: [&[&str]; 5] = [
        &["people", "lib", "--json"],
        &["learn", "lib", "--sweeps", "2"],
        &["who", "lib", "--face", "p0_0"],
        &["export", "lib", "draws", "--out", "draws"],
        &["check", "lib"],
    ];
    verbs.iter().for_each(|verb| drop(place.run(verb).done()));
    // One more, by every other door.
    place.run(&["name", "lib", "p0_1", "\u{e000}"]).done();
    let mut lines = stream(&[0, 1], 3, "w");
    lines.push(json!({"name": "\u{e001}", "face": "w0"}).to_string());
    let answers = place.fed(&["watch", "lib"], &lines).done().objects();
    assert!(answers.iter().all(|answer| answer["error"].is_null()), "{answers:?}");
    place.run(&["people", "lib"]).done();
}

const TITLE: &str = "\u{1b}]0;mine\u{7}";
const TURNED: &str = "\u{202e}nnA\u{9b}2J";

/// A library as an earlier kith made it, with escapes in names, ids, contexts and speakers.
fn hostile() -> Place {
    let place = Place::new();
    place.learnt();
    place.run(&["name", "lib", "p0_0", "Ann"]).done();
    let library = rusqlite::Connection::open(place.path("lib")).unwrap();
    library.execute("UPDATE names SET name = ?1", [TURNED]).unwrap();
    library.execute("UPDATE contexts SET name = name || ?1", [TITLE]).unwrap();
    library.execute("UPDATE faces SET key = key || ?1", [TITLE]).unwrap();
    library.execute("UPDATE evidence SET by = ?1", [TITLE]).unwrap();
    place
}

#[test]
fn nothing_in_a_library_reaches_the_terminal_but_letters() {
    let place = hostile();
    let face = format!("p0_0{TITLE}");
    let verbs: [&[&str]; 12] = [
        &["people", "lib"],
        &["people", "lib", "--json"],
        &["log", "lib"],
        &["log", "lib", "--json"],
        &["who", "lib", "--face", &face],
        &["who", "lib", "--face", &face, "--json"],
        &["who", "lib", "--face", &format!("none{TITLE}")],
        &["ask", "lib", "--n", "9"],
        &["name", "lib", &face, "Ben"],
        &["name", "lib", &face, &format!("Cy{TITLE}")],
        &["export", "lib", "people"],
        &["people", &format!("no{TITLE}lib")],
    ];
    for verb in verbs {
        let ran = place.run(verb);
        for text in [&ran.out, &ran.err] {
            assert!(!text.contains(is_hidden), "{verb:?}: {text:?}");
            let is_told = text.is_empty()
                || text.contains("\\u001b]0;mine\\u0007")
                || text.contains("202e")
                || text.contains("\\u{1b}");
            assert!(is_told, "{verb:?}: {text:?}");
        }
    }
    // As JSON it is the same text.
    let log = place.run(&["log", "lib", "--json"]).done().objects();
    let names: Vec<&Value> = log.iter().map(|entry| &entry["name"]).collect();
    assert_eq!(names, [&json!(TURNED), &json!("Ben")]);
}

#[test]
fn names_and_ids_obey_one_rule_at_every_door() {
    let place = Place::new();
    place.learnt();
    for bad in ["a\u{1b}[31mb", "two\nlines", "\u{7f}"] {
        let told = ["without control characters"];
        let table = |change: &dyn Fn(&mut kith_io::dataset::FaceTable)| {
            let mut table = photos(2, 5, "d");
            change(&mut table);
            std::fs::remove_dir_all(place.path("bad")).ok();
            place.dataset("bad", &table);
        };
        table(&|table| {
            table.dataset.set_name(kith::ids::FaceId(1), Some(bad));
        });
        place.run(&["add", "lib", "bad"]).refused(&told);
        table(&|table| table.faces[1] = bad.to_owned());
        place.run(&["add", "lib", "bad"]).refused(&told);
        table(&|table| table.frames[1] = bad.to_owned());
        place.run(&["add", "lib", "bad"]).refused(&told);
        place.run(&["name", "lib", "p0_0", bad]).refused(&told);
        let line = json!({"kind": "name", "face": "p0_0", "name": bad, "by": "me"}).to_string();
        std::fs::write(place.path("said.ndjson"), &line).unwrap();
        place.run(&["import", "lib", "said.ndjson"]).refused(&told);
        let line = json!({"kind": "name", "face": "p0_0", "name": "Ann", "by": bad}).to_string();
        std::fs::write(place.path("said.ndjson"), &line).unwrap();
        place.run(&["import", "lib", "said.ndjson"]).refused(&told);
        let look = [1.0, 0.0, 0.0, 0.0, 0.0];
        let lines = [
            json!({"frame": "f", "faces": [{"face": bad, "embedding": look}]}),
            json!({"frame": bad, "faces": [{"face": "x", "embedding": look}]}),
            json!({"frame": "f", "context": bad, "faces": [{"face": "x", "embedding": look}]}),
            json!({"frame": "f", "faces": [{"face": "x", "embedding": look, "name": bad}]}),
            json!({"name": bad, "face": "p0_0"}),
        ];
        let answers = place.fed(&["watch", "lib"], &lines.map(|line| line.to_string())).done().objects();
        for answer in &answers {
            assert!(answer["error"].as_str().is_some_and(|error| error.contains(told[0])), "{answer}");
        }
    }
    assert_eq!(place.run(&["check", "lib", "--json"]).done().object()["faces"], 60);
    // What is written in other scripts, joined or long, is a name.
    for good in ["\u{5d0}\u{5d1}", "\u{1f469}\u{200d}\u{1f680}", "Ng\u{169}g\u{129}", &"x".repeat(1000)] {
        place.run(&["name", "lib", "p0_0", good]).done();
    }
    place.run(&["name", "lib", "p0_0", &"x".repeat(1001)]).refused(&["1001 characters"]);
}

/// Stdout has one door, which shows what is hidden: no verb may print beside it.
#[test]
fn no_verb_prints_beside_the_one_door() {
    let mut folders = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            // The door itself; shell scripts; CSV, which is data, where nobody looks at it.
            let n = match path.file_name().unwrap().to_str().unwrap() {
                "progress.rs" => 2,
                "manual.rs" => 1,
                "export.rs" => 2,
                _ => 0,
            };
            let found = code.matches("io::stdout()").count() + code.matches("io::Stdout").count();
            let found = found + code.matches("println!").count();
            assert_eq!(found, n, "{}", path.display());
        }
    }
}

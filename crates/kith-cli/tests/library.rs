//! The verbs over a library file as a person runs them.

use std::collections::BTreeSet;
use std::fs;

use crate::common;
use crate::common::{PEOPLE, Place, faces_of, photos, stream};
use kith_io::dataset;
use serde_json::{Value, json};

fn person_of<'p>(people: &'p [Value], face: &str) -> &'p Value {
    let has = |person: &&Value| person["faces"].as_array().unwrap().iter().any(|f| f["face"] == face);
    people.iter().find(has).unwrap()
}

#[test]
fn adding_is_idempotent_and_refuses_another_network_or_dimension() {
    let place = Place::new();
    let first = place.run(&["add", "lib", "photos", "--embedding", "toy", "--json"]).done().object();
    assert_eq!(
        first,
        json!({"added": 60, "known": 0, "elsewhere": 0, "frames": 30, "names": 0, "n_faces": 60})
    );
    let again = place.run(&["add", "lib", "photos", "--json"]).done().object();
    assert_eq!(
        again,
        json!({"added": 0, "known": 60, "elsewhere": 0, "frames": 0, "names": 0, "n_faces": 60})
    );
    place.run(&["add", "lib", "photos", "--embedding", "other"]).refused(&["\"other\"", "\"toy\""]);
    // The same faces on other frames: they stay where they are, and that is said.
    let mut moved = photos(30, 1, "p");
    moved.frames[3] = "elsewhere".to_owned();
    place.dataset("moved", &moved);
    let ran = place.run(&["add", "lib", "moved"]).done();
    let told = "2 known faces came with another frame or context than the library has, which stays\n";
    assert_eq!(ran.err, told);

    let mut flat = kith::data::Dataset::empty(3).unwrap();
    flat.push_frame(None, &[kith::data::NewFace { embedding: &[1.0, 2.0, 3.0], name: None }]).unwrap();
    place.dataset("flat", &dataset::FaceTable::new(flat));
    place.run(&["add", "lib", "flat"]).refused(&["flat", "dimension 3", "wanted 5"]);
    // The same ids with other embeddings: nothing of the good half is added either.
    let mut other = photos(31, 2, "p");
    other.faces.reverse();
    place.dataset("other", &other);
    place.run(&["add", "lib", "other"]).refused(&["another embedding"]);
    assert_eq!(place.run(&["check", "lib", "--json"]).done().object()["faces"], 60);
}

#[test]
fn what_is_no_library_is_refused_in_one_line() {
    let place = Place::new();
    place.run(&["people", "lib"]).refused(&["lib", "found nothing there"]);
    fs::write(place.path("text"), "this is no database, and long enough to be read as one".repeat(40))
        .unwrap();
    place.run(&["people", "text"]).refused(&["text", "wanted a library of kith"]);
    place.run(&["people", "photos"]).refused(&["photos", "found a folder"]);
    let other = rusqlite::Connection::open(place.path("other")).unwrap();
    other.execute_batch("CREATE TABLE t (x); PRAGMA application_id = 7").unwrap();
    place.run(&["people", "other"]).refused(&["a database of another program"]);
    place.run(&["add", "other", "photos"]).refused(&["a database of another program"]);
    place.run(&["add", "lib", "photos"]).done();
    let newer = rusqlite::Connection::open(place.path("lib")).unwrap();
    newer.execute_batch("PRAGMA user_version = 99").unwrap();
    drop(newer);
    let before = fs::read(place.path("lib")).unwrap();
    place.run(&["add", "lib", "photos"]).refused(&["schema version 99", "newer kith"]);
    assert_eq!(fs::read(place.path("lib")).unwrap(), before);
    place.run(&["add", "no/such/folder/lib", "photos"]).refused(&["no folder"]);
}

/// A file that may not grow is a disk that is full.
#[cfg(unix)]
fn with_room(place: &Place, kilobytes: usize, arguments: &str) -> common::Ran {
    let kith = env!("CARGO_BIN_EXE_kith");
    let script = format!("trap '' XFSZ; ulimit -f {kilobytes}; exec {kith} {arguments}");
    let mut command = std::process::Command::new("bash");
    common::Ran::of(command.args(["-c", &script]).current_dir(place.folder.path()).output().unwrap())
}

#[test]
#[cfg(unix)]
fn a_full_disk_leaves_no_new_library_and_an_old_one_as_it_was() {
    let place = Place::new();
    let full = |kilobytes: usize, lib: &str, dataset: &str| {
        with_room(&place, kilobytes, &format!("add {lib} {dataset}"))
    };
    for kilobytes in [0, 8, 40, 80] {
        full(kilobytes, "lib", "photos").refused(&["lib", "disk is full"]);
        let mut left: Vec<String> = fs::read_dir(place.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["photos"], "with {kilobytes} kB");
    }
    place.run(&["add", "lib", "photos"]).done();
    place.dataset("more", &photos(2000, 5, "q"));
    full(100, "lib", "more").refused(&["lib", "disk is full", "nothing was changed"]);
    assert_eq!(place.run(&["check", "lib", "--json"]).done().object()["faces"], 60);
}

/// What is worked out in order to answer need not be kept.
#[test]
#[cfg(unix)]
fn whoever_asks_is_answered_on_a_disk_that_is_nearly_full() {
    let place = Place::new();
    place.run(&["add", "new", "photos"]).done();
    let before = fs::read(place.path("new")).unwrap();
    let size = before.len() / 1024;
    for arguments in
        ["ask lib --json", "people lib --json", "who lib --face p1_0 --json", "export lib people"]
    {
        fs::write(place.path("lib"), &before).unwrap();
        let wanted = place.run(&Vec::from_iter(arguments.split(' '))).done();
        for kilobytes in [0, 8, 32, 40, 64, size, size + 8] {
            fs::write(place.path("lib"), &before).unwrap();
            let ran = with_room(&place, kilobytes, arguments).done();
            assert_eq!(ran.out, wanted.out, "{arguments} with {kilobytes} kB");
            place.run(&["check", "lib"]).done();
        }
    }
}

#[test]
fn learning_finds_people_and_says_what_changed() {
    let place = Place::new();
    place.run(&["add", "lib", "photos"]).done();
    let run = place.run(&["learn", "lib", "--sweeps", "40", "--json"]).done();
    let events: Vec<Value> = run.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rounds: Vec<&Value> = events.iter().filter(|event| event["event"] == "learning").collect();
    let sweeps = rounds.iter().map(|round| round["sweeps"].as_u64().unwrap());
    assert!(sweeps.clone().is_sorted() && sweeps.min() == Some(1), "{}", run.err);
    assert!(rounds.iter().all(|round| round["most_sweeps"] == 40 && round["people"].as_u64() > Some(0)));
    let learnt = run.object();
    assert_eq!(learnt["n_faces"], 60);
    assert_eq!(learnt["n_people"], 4);
    assert_eq!(learnt["new_people"], 4);
    assert_eq!(learnt["sweeps"], 40);
    let people = place.run(&["people", "lib", "--json"]).done().objects();
    assert_eq!(people.len(), 4);
    for name in PEOPLE {
        let faces = faces_of(name);
        let person = person_of(&people, &faces[0]);
        assert_eq!(person["n_faces"], faces.len(), "{name}");
        assert_eq!(person["standing"], "familiar");
        assert!(person["first_seen"].as_str().unwrap().starts_with("2024-05-"));
    }
    // More of the same: everybody keeps their id and gains faces.
    place.dataset("more", &photos(8, 5, "q"));
    place.run(&["add", "lib", "more"]).done();
    let learnt = place.run(&["learn", "lib", "--sweeps", "20", "--json"]).done().object();
    assert_eq!(learnt["new_people"], 0, "{learnt}");
    assert_eq!(learnt["sweeps"], 60, "chains went on where they stopped");
    assert_eq!(learnt["gained"].as_array().unwrap().len(), 4);
    let ids = |people: &[Value]| {
        let mut ids: Vec<i64> = people.iter().map(|person| person["person"].as_i64().unwrap()).collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(ids(&people), ids(&place.run(&["people", "lib", "--json"]).done().objects()));
}

#[test]
fn a_name_counts_at_once_and_is_taken_back() {
    let place = Place::new();
    place.learnt();
    let ann = faces_of("Ann");
    let named = place.run(&["name", "lib", &ann[0], "Ann", "--json"]).done().object();
    assert_eq!(named["kind"], "name");
    // Another face of hers, which nobody named.
    let acquainted = |face: &str| {
        let who = place.run(&["who", "lib", "--face", face, "--json"]).done().object();
        let sum =
            ["acquainted", "familiar", "stranger"].map(|key| who[key].as_f64().unwrap()).iter().sum::<f64>();
        assert!((sum - 1.0).abs() < 1e-9, "{who}");
        who["acquainted"].as_f64().unwrap()
    };
    assert!(acquainted(&ann[5]) > 0.8);
    assert_eq!(place.run(&["undo", "lib", "--json"]).done().object()["undone"], json!([1]));
    assert!(acquainted(&ann[5]) < 0.2);
    assert_eq!(place.run(&["redo", "lib", "--json"]).done().object()["redone"], 1);
    assert!(acquainted(&ann[5]) > 0.8);
    assert_eq!(place.run(&["redo", "lib"]).status, 1);
    // By person, and new photos of her.
    let people = place.run(&["people", "lib", "--json"]).done().objects();
    let ben = person_of(&people, &faces_of("Ben")[0])["person"].to_string();
    place.run(&["name", "lib", "--person", &ben, "Ben"]).done();
    place.dataset("new", &photos(4, 9, "n"));
    let answers = place.run(&["who", "lib", "new", "--top", "1", "--json"]).done().objects();
    let truth = photos(4, 9, "n").truth.unwrap();
    for (answer, truth) in answers.iter().zip(truth) {
        let name = truth.unwrap();
        if ["Ann", "Ben"].contains(&&*name) {
            assert_eq!(answer["names"][0]["name"], *name, "{answer}");
            assert!(answer["why"][0]["face"].as_f64().unwrap() > 2.0, "{answer}");
        } else {
            assert!(answer["familiar"].as_f64().unwrap() > 0.8, "{answer}");
        }
    }
    let people = place.run(&["people", "lib", "--json"]).done().objects();
    assert_eq!(people[0]["name"], "Ann");
    assert_eq!(people[1]["name"], "Ben");
    place.run(&["name", "lib", "nobody", "Ann"]).refused(&["no face \"nobody\""]);
    place.run(&["name", "lib", &ann[0], " "]).refused(&["empty name"]);
    place.run(&["name", "lib", &ann[0], "two\nlines"]).refused(&["one line"]);
    place.run(&["name", "lib", &ann[0], &"N".repeat(1001)]).refused(&["1001 characters", "at most 1000"]);
    place.run(&["same", "lib", &ann[0], &ann[0]]).refused(&["two faces"]);
}

#[test]
fn a_wrong_name_is_the_face_s_own_and_listed_as_is_what_contradicts_two_names() {
    let place = Place::new();
    place.learnt();
    let (ann, ben) = (faces_of("Ann"), faces_of("Ben"));
    for face in &ann[..5] {
        place.run(&["name", "lib", face, "Ann"]).done();
    }
    place.run(&["name", "lib", &ann[5], "Ben"]).done();
    for face in &ben[..5] {
        place.run(&["name", "lib", face, "Ben"]).done();
    }
    place.run(&["same", "lib", &ann[0], &ben[0]]).done();
    place.run(&["learn", "lib", "--sweeps", "20"]).done();
    let doubtful = place.run(&["log", "lib", "--doubtful", "--json"]).done().objects();
    let told: Vec<(&Value, &Value)> = doubtful.iter().map(|entry| (&entry["kind"], &entry["face"])).collect();
    assert_eq!(told, [(&json!("name"), &json!(ann[5])), (&json!("same"), &json!(ann[0]))]);
    for (face, name) in [(&ann[5], "Ben"), (&ann[6], "Ann"), (&ben[6], "Ben")] {
        let who = place.run(&["who", "lib", "--face", face, "--json"]).done().object();
        assert_eq!(who["names"][0]["name"], name, "{who}");
    }
}

#[test]
fn a_hundred_answers_in_conflict_break_nothing() {
    let place = Place::new();
    place.learnt();
    let faces = photos(30, 1, "p").faces;
    let library = kith_store::Library::open(&place.path("lib")).unwrap();
    let kinds =
        [kith_store::Kind::Name, kith_store::Kind::Not, kith_store::Kind::Same, kith_store::Kind::Different];
    let mut rng = kith::random::driver(4);
    for number in 0..100 {
        let kind = kinds[number % 4];
        let a = rng.below(faces.len());
        let b = (a + 1 + rng.below(faces.len() - 1)) % faces.len();
        let is_pair = number % 4 > 1;
        let name = PEOPLE[rng.below(4)];
        let saying = kith_store::Saying {
            kind,
            face: library.face(&faces[a]).unwrap(),
            other: is_pair.then(|| library.face(&faces[b]).unwrap()),
            name: (!is_pair).then_some(name),
        };
        library.say("test", &[saying]).unwrap();
    }
    drop(library);
    place.run(&["people", "lib"]).done();
    place.run(&["learn", "lib", "--sweeps", "20"]).done();
    assert_eq!(place.run(&["check", "lib", "--json"]).done().object()["ok"], true);
    assert_eq!(place.run(&["log", "lib", "--json"]).done().objects().len(), 100);
}

#[test]
fn what_people_said_survives_learning_from_scratch() {
    let place = Place::new();
    place.learnt();
    let (ann, cy) = (faces_of("Ann"), faces_of("Cy"));
    place.run(&["name", "lib", &ann[0], "Ann"]).done();
    place.run(&["different", "lib", &ann[0], &cy[0]]).done();
    place.run(&["not", "lib", &cy[1], "Ann"]).done();
    place.run(&["ignore", "lib", &cy[2]]).done();
    let log = place.run(&["export", "lib", "evidence"]).done().out;
    let raw = rusqlite::Connection::open(place.path("lib")).unwrap();
    raw.execute_batch("DELETE FROM draws; DELETE FROM chains; DELETE FROM members; DELETE FROM people")
        .unwrap();
    drop(raw);
    place.run(&["learn", "lib", "--sweeps", "30"]).done();
    assert_eq!(place.run(&["export", "lib", "evidence"]).done().out, log);
    let people = place.run(&["people", "lib", "--json"]).done().objects();
    assert_eq!(person_of(&people, &ann[3])["name"], "Ann");
    assert_ne!(person_of(&people, &ann[0])["person"], person_of(&people, &cy[0])["person"]);
    assert!(place.run(&["log", "lib", "--doubtful"]).status == 1, "nothing is doubtful");
    let is_left_out =
        people.iter().all(|person| !person["faces"].to_string().contains(&format!("\"{}\"", cy[2])));
    assert!(is_left_out, "an ignored face is nobody's");
    place.run(&["who", "lib", "--face", &cy[2]]).refused(&["ignored"]);
}

#[test]
fn people_of_a_library_with_nobody_says_so() {
    let place = Place::new();
    place.learnt();
    let faces = listed(&place);
    faces.iter().for_each(|face| drop(place.run(&["ignore", "lib", face]).done()));
    for verb in [&["people", "lib"][..], &["people", "lib", "--json"]] {
        let ran = place.run(verb);
        let said = "there is nobody: all faces are ignored or set aside\n";
        assert_eq!((ran.status, &*ran.out, &*ran.err), (1, "", said));
    }
    place.run(&["undo", "lib"]).done();
    assert_eq!(listed(&place).len(), 1, "who is not ignored is there again");
    for face in &faces {
        place.run(&["forget", "lib", "--face", face]).done();
    }
    let ran = place.run(&["people", "lib"]);
    assert_eq!((ran.status, &*ran.out, &*ran.err), (1, "", "there is nobody: the library has no faces\n"));
}

/// Whether the library, anything beside it or anything in the folder for temporary files holds these bytes.
fn holds(place: &Place, bytes: &[u8]) -> bool {
    let files =
        [place.path(""), place.path("tmp")].into_iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut files = files.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    files.any(|path| fs::read(path).unwrap().windows(bytes.len()).any(|window| window == bytes))
}

/// The faces of everybody that `kith people` lists.
fn listed(place: &Place) -> BTreeSet<String> {
    let people = place.run(&["people", "lib", "--json"]).done().objects();
    let faces = people.iter().flat_map(|person| person["faces"].as_array().unwrap());
    faces.map(|face| face["face"].as_str().unwrap().to_owned()).collect()
}

/// That nothing which is asked or exported says a word of somebody who was forgotten.
fn says_nothing_of(dot: &[String], place: &Place) {
    let readers: [&[&str]; 8] = [
        &["people", "lib", "--json"],
        &["log", "lib", "--json"],
        &["ask", "lib", "--n", "100", "--json"],
        &["who", "lib", "photos", "--json"],
        &["export", "lib", "people"],
        &["export", "lib", "evidence"],
        &["export", "lib", "draws", "--out", "after.ndjson"],
        &["export", "lib", "dataset", "--out", "after"],
    ];
    for reader in readers {
        let said = place.run(reader).done().out;
        assert!(!said.contains("Dorothea"), "{reader:?}: {said}");
        // `who` was asked about photos of hers.
        assert!(
            reader[0] == "who" || dot.iter().all(|face| !said.contains(&format!("\"{face}\""))),
            "{said}"
        );
    }
    let exported = fs::read_to_string(place.path("after/faces.csv")).unwrap();
    assert!(dot.iter().all(|face| !exported.contains(&format!("{face},"))), "{exported}");
    fs::remove_file(place.path("after.ndjson")).unwrap();
}

#[test]
fn what_is_forgotten_is_in_no_byte_of_the_file() {
    let place = Place::new();
    fs::create_dir(place.path("tmp")).unwrap();
    place.learnt();
    let (ann, dot) = (faces_of("Ann"), faces_of("Dot"));
    // Every photo of hers, so that whom she is taken for does not matter; and one of somebody who stays.
    for face in &dot {
        place.run(&["name", "lib", face, "Dorothea Q. Unmistakable"]).done();
    }
    place.run(&["same", "lib", &dot[0], &dot[1]]).done();
    place.run(&["not", "lib", &ann[1], "Dorothea Q. Unmistakable"]).done();
    place.run(&["name", "lib", &ann[0], "Annabel R. Lasting"]).done();
    place.run(&["learn", "lib", "--sweeps", "20"]).done();
    let table = photos(30, 1, "p");
    let everybody: BTreeSet<String> = table.faces.iter().cloned().collect();
    let bytes_of = |key: &str| -> Vec<u8> {
        let row = table.faces.iter().position(|face| face == key).unwrap();
        let embedding = table.dataset.embedding(kith::ids::FaceId::new(row));
        embedding.iter().flat_map(|value| value.to_le_bytes()).collect()
    };
    let is_kept = |face: &String| holds(&place, &bytes_of(face));
    assert!(holds(&place, b"Dorothea Q. Unmistakable") && everybody.iter().all(is_kept));
    let would = place
        .run(&["forget", "lib", "--name", "Dorothea Q. Unmistakable", "--dry-run", "--json"])
        .done()
        .object();
    let named = would["faces"].as_array().unwrap().iter().map(|face| face.as_str().unwrap());
    let hers: BTreeSet<&str> = dot.iter().map(String::as_str).collect();
    assert_eq!(named.collect::<BTreeSet<&str>>(), hers, "all of hers and nobody else's");
    assert!(holds(&place, b"Dorothea Q. Unmistakable") && everybody.iter().all(is_kept), "a dry run");
    assert_eq!(listed(&place), everybody);

    place.run(&["forget", "lib", "--name", "Dorothea Q. Unmistakable"]).done();
    assert!(!holds(&place, b"Dorothea"), "the name is gone");
    for face in &dot {
        assert!(!is_kept(face), "the embedding of {face} is gone");
        assert!(!holds(&place, format!("{face}\"").as_bytes()), "no draw names {face}");
        place.run(&["who", "lib", "--face", face]).refused(&["no face"]);
    }
    says_nothing_of(&dot, &place);
    // The others are there, every one of them, with what was said of them.
    let others: BTreeSet<String> = everybody.iter().filter(|face| !dot.contains(face)).cloned().collect();
    assert_eq!(place.run(&["check", "lib", "--json"]).done().object()["faces"], others.len());
    assert_eq!(listed(&place), others);
    assert!(others.iter().all(is_kept));
    let log = place.run(&["log", "lib", "--json"]).done().objects();
    let said: Vec<(&Value, &Value)> = log.iter().map(|entry| (&entry["face"], &entry["name"])).collect();
    assert_eq!(said, [(&json!(ann[0]), &json!("Annabel R. Lasting"))], "nothing is left to say of her");
    // One face, and a person.
    place.run(&["forget", "lib", "--face", &ann[0]]).done();
    assert!(!is_kept(&ann[0]) && !holds(&place, b"Annabel"));
    let people = place.run(&["people", "lib", "--json"]).done().objects();
    let ben = person_of(&people, &faces_of("Ben")[0]);
    let of_ben = ben["faces"].as_array().unwrap().iter().map(|face| face["face"].as_str().unwrap());
    let (of_ben, id) = (of_ben.collect::<BTreeSet<&str>>(), ben["person"].to_string());
    place.run(&["forget", "lib", "--person", &id]).done();
    for face in others.iter().filter(|face| **face != ann[0]) {
        assert_eq!(is_kept(face), !of_ben.contains(face.as_str()), "{face}");
    }
    place.run(&["forget", "lib", "--person", &id]).refused(&["no person"]);
    place.run(&["learn", "lib", "--sweeps", "10"]).done();
}

#[test]
fn questions_are_about_what_would_settle_most() {
    let place = Place::new();
    place.learnt();
    let questions = place.run(&["ask", "lib", "--n", "10", "--json"]).done().objects();
    assert_eq!(questions[0]["ask"], "who");
    assert!(questions[0]["settles"].as_f64().unwrap() >= 10.0, "{questions:?}");
    let gains: Vec<f64> = questions.iter().map(|question| question["gain"].as_f64().unwrap()).collect();
    assert!(gains.is_sorted_by(|a, b| a >= b));
    // Four answers, a slip that is taken back, a question skipped.
    let truth = photos(30, 1, "p");
    let name = |face: &Value| {
        let row = truth.faces.iter().position(|known| face == known).unwrap();
        truth.truth.as_ref().unwrap()[row].clone().unwrap()
    };
    let first = name(&questions[0]["face"]);
    let ran = place.fed(
        &["ask", "lib", "--interactive"],
        &["Wrong".into(), "u".into(), first.clone(), "s".into(), "q".into()],
    );
    assert_eq!(ran.out, "2 answers\n", "{}", ran.err);
    let people = place.run(&["people", "lib", "--json"]).done().objects();
    assert_eq!(people[0]["name"], first);
    for _ in 0..3 {
        let question = place.run(&["ask", "lib", "--json"]).done().object();
        let face = question["face"].as_str().unwrap().to_owned();
        place.run(&["name", "lib", &face, &name(&question["face"])]).done();
    }
    let people = place.run(&["people", "lib", "--json"]).done().objects();
    let named: Vec<&str> = people.iter().filter_map(|person| person["name"].as_str()).collect();
    assert_eq!(named, PEOPLE, "four answers named everybody");
}

#[test]
fn a_stream_is_answered_line_by_line_and_people_keep_their_ids() {
    let place = Place::new();
    let people: Vec<usize> = (0..60).map(|k| [0, 1, 0, 2, 1, 0][k % 6]).collect();
    let mut lines = stream(&people, 3, "w");
    lines.insert(3, "{\"faces\": [".into());
    lines.insert(10, json!({"name": "Ann", "face": "w0"}).to_string());
    lines.insert(11, json!({"faces": [{"face": "bad", "embedding": [1.0, 2.0]}]}).to_string());
    lines.insert(12, String::new());
    let ran = place.fed(&["watch", "lib"], &lines).done();
    let answers = ran.objects();
    assert_eq!(answers.len(), lines.len() - 1, "one line each, but for the empty one");
    assert_eq!(answers[3]["line"], 4);
    assert!(answers[3]["error"].as_str().unwrap().contains("JSON"));
    assert_eq!(answers[10]["kind"], "name");
    assert!(answers[11]["error"].as_str().unwrap().contains("dimension 2"));
    let faces: Vec<&Value> = answers
        .iter()
        .filter(|answer| answer["faces"].is_array())
        .map(|answer| &answer["faces"][0])
        .collect();
    assert_eq!(faces.len(), 60);
    let ids: Vec<i64> = faces.iter().map(|face| face["person"]["id"].as_i64().unwrap()).collect();
    // Nothing was known of what faces look like; after some twenty frames ids stay.
    for (k, person) in people.iter().enumerate().skip(30) {
        let before = (20..k).rev().find(|&j| people[j] == *person).unwrap();
        assert_eq!(ids[k], ids[before], "face {k}");
    }
    assert!(faces[59]["acquainted"].as_f64().unwrap() > 0.8, "{}", faces[59]);
    assert_eq!(faces[59]["names"][0]["name"], "Ann");
    // The stream goes on another day, and a frame that comes again is not added again.
    let more = [stream(&[0, 1], 8, "later"), vec![lines[0].clone()]].concat();
    let answers = place.fed(&["watch", "lib"], &more).done().objects();
    assert_eq!(answers[0]["faces"][0]["person"]["id"], ids[59]);
    assert_eq!(answers[2]["faces"][0]["person"]["id"], ids[0]);
    assert_eq!(place.run(&["check", "lib", "--json"]).done().object()["faces"], 62);
}

#[test]
fn a_stranger_seen_twice_is_familiar_under_the_same_id() {
    let place = Place::new();
    place.learnt();
    let lines = stream(&[0, 4, 1, 4, 2, 4], 6, "w");
    let answers = place.fed(&["watch", "lib"], &lines).done().objects();
    let person = |k: usize| &answers[k]["faces"][0]["person"];
    let share = |k: usize, of: &str| answers[k]["faces"][0][of].as_f64().unwrap();
    assert_eq!(person(1)["new"], true);
    assert!(share(1, "stranger") > 0.5 && share(0, "familiar") > 0.9, "{answers:?}");
    for k in [3, 5] {
        assert_eq!((&person(k)["id"], &person(k)["new"]), (&person(1)["id"], &json!(false)));
        assert!(share(k, "familiar") > 0.5, "{answers:?}");
    }
    // And after learning.
    let id = person(1)["id"].clone();
    place.run(&["learn", "lib", "--sweeps", "20"]).done();
    let people = place.run(&["people", "lib", "--json"]).done().objects();
    assert_eq!(person_of(&people, "w5")["person"], id);
    assert_eq!(person_of(&people, "w5")["n_faces"], 3);
}

#[test]
fn a_second_learner_is_told_to_wait() {
    let place = Place::new();
    place.learnt();
    let library = kith_store::Library::open(&place.path("lib")).unwrap();
    let claim = library.claim().unwrap();
    place.run(&["learn", "lib"]).refused(&["another kith is learning"]);
    place.run(&["forget", "lib", "--face", "p0_0"]).refused(&["another kith is learning"]);
    assert_eq!(place.run(&["watch", "lib"]).status, 2);
    // Reading and saying go on.
    place.run(&["people", "lib"]).done();
    place.run(&["name", "lib", "p0_0", "Ann"]).done();
    drop(claim);
    place.run(&["learn", "lib", "--sweeps", "5"]).done();
}

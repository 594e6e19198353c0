//! What a library believes faces look like: it goes over to full covariances, and people outlive that.

use crate::common;
use crate::common::Place;
use kith::data::{Dataset, NewFace};
use kith::random::driver;
use kith_io::dataset::FaceTable;
use serde_json::Value;

const D: usize = 40;

/// Photos of four people in turn, one on each; everybody varies along a direction of their own.
fn faces(range: std::ops::Range<usize>) -> FaceTable {
    let mut data = Dataset::empty(D).unwrap();
    for number in range.clone() {
        let mut rng = driver(1000 + number as u64);
        let person = number % 4;
        let mut x = [0.0_f32; D].map(|_| 0.25 * rng.normal() as f32);
        x[person] += 4.0;
        x[10 + person] += 0.75 * rng.normal() as f32;
        data.push_frame(Some("home"), &[NewFace { embedding: &x, name: None }]).unwrap();
    }
    let mut table = FaceTable::new(data);
    table.faces = range.clone().map(|number| format!("x{number}")).collect();
    table.frames = range.map(|number| format!("f{number}")).collect();
    table
}

fn meta(place: &Place, key: &str) -> String {
    let library = rusqlite::Connection::open(place.path("lib")).unwrap();
    library.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0)).unwrap()
}

fn kind(place: &Place) -> String {
    let model: Value = serde_json::from_str(&meta(place, "model")).unwrap();
    model["face"]["kind"].as_str().unwrap().to_owned()
}

/// The person of a face, with the name.
fn person(people: &[Value], face: &str) -> (i64, Value) {
    let has = |person: &&Value| person["faces"].as_array().unwrap().iter().any(|f| f["face"] == face);
    let found = people.iter().find(has).unwrap();
    (found["person"].as_i64().unwrap(), found["name"].clone())
}

#[test]
fn a_library_goes_over_to_full_covariances_and_everybody_keeps_their_id() {
    let place = Place::new();
    place.dataset("first", &faces(0..40));
    place.dataset("more", &faces(40..120));
    place.run(&["add", "lib", "first"]).done();
    place.run(&["learn", "lib", "--sweeps", "20"]).done();
    assert_eq!(kind(&place), "isotropic");
    place.run(&["name", "lib", "x0", "Ann"]).done();
    place.run(&["different", "lib", "x1", "x2"]).done();
    let before = place.run(&["people", "lib", "--json"]).done().objects();
    place.run(&["add", "lib", "more"]).done();
    let learnt = place.run(&["learn", "lib", "--json"]).done().object();
    assert_eq!(kind(&place), "full");
    assert_eq!(learnt["n_people"], 4, "{learnt}");
    assert!(learnt["sweeps"].as_u64().unwrap() >= 24, "the chains began anew: {learnt}");
    let after = place.run(&["people", "lib", "--json"]).done().objects();
    for number in 0..4 {
        // The isotropic model may have had somebody in parts: the part with most faces keeps its id.
        let faces: Vec<String> = (number..40).step_by(4).map(|face| format!("x{face}")).collect();
        let mut parts = std::collections::BTreeMap::<i64, usize>::new();
        faces.iter().for_each(|face| *parts.entry(person(&before, face).0).or_default() += 1);
        let (id, most) = (person(&after, &faces[0]).0, parts.values().max());
        assert_eq!(parts.get(&id), most, "{id} of {parts:?}");
        for face in (number..120).step_by(4) {
            assert_eq!(person(&after, &format!("x{face}")).0, id, "x{face}");
        }
    }
    assert_eq!(person(&after, "x100").1, "Ann");
    assert_eq!(place.run(&["log", "lib", "--json"]).done().objects().len(), 2);

    // A prior that was learnt from all faces is not kept when some are forgotten, but full covariances are.
    let all = meta(&place, "model");
    place.run(&["forget", "lib", "--face", "x3"]).done();
    assert_eq!((kind(&place).as_str(), meta(&place, "model_faces").as_str()), ("full", "119"));
    assert_ne!(meta(&place, "model"), all);
    let left = place.run(&["people", "lib", "--json"]).done().objects();
    assert_eq!(left.len(), 4);
    assert_eq!(person(&left, "x7").0, person(&after, "x3").0);
    assert_eq!(person(&left, "x100"), person(&after, "x100"));
}

#[test]
fn a_library_from_before_full_covariances_goes_over_with_the_next_learning() {
    let place = Place::new();
    place.dataset("first", &faces(0..100));
    place.run(&["add", "lib", "first"]).done();
    // As it was learnt then: isotropic, and nothing in the settings.
    let isotropic = "[face]\nkind = \"isotropic\"\n";
    std::fs::write(place.path("old.toml"), isotropic).unwrap();
    place.run(&["learn", "lib", "--sweeps", "5", "--model", "old.toml"]).done();
    place.run(&["name", "lib", "x2", "Cy"]).done();
    let library = rusqlite::Connection::open(place.path("lib")).unwrap();
    library.execute("DELETE FROM meta WHERE key = 'settings'", []).unwrap();
    drop(library);
    let before = place.run(&["people", "lib", "--json"]).done().objects();
    place.run(&["learn", "lib"]).done();
    assert_eq!(kind(&place), "full");
    let after = place.run(&["people", "lib", "--json"]).done().objects();
    assert_eq!(after.len(), 4);
    assert_eq!(person(&after, "x2"), (person(&before, "x2").0, "Cy".into()));
    // What somebody asked for stays.
    place.run(&["learn", "lib", "--sweeps", "5", "--model", "old.toml"]).done();
    place.run(&["learn", "lib", "--sweeps", "5"]).done();
    assert_eq!(kind(&place), "isotropic");
}

#[test]
fn in_an_empty_library_everybody_keeps_the_id_of_their_first_frame() {
    for seed in 1..5 {
        let place = Place::new();
        let mut rng = driver(seed);
        let people: Vec<usize> = (0..40).map(|_| rng.below(4)).collect();
        let answers = place.fed(&["watch", "lib"], &common::stream(&people, seed, "x")).done().objects();
        let id = |answer: &Value| answer["faces"][0]["person"]["id"].as_i64().unwrap();
        let mut first = [None; 4];
        for (number, (answer, &person)) in answers.iter().zip(&people).enumerate() {
            let known = *first[person].get_or_insert(id(answer));
            assert_eq!(id(answer), known, "seed {seed}, frame {number}: {answer}");
        }
        let now = place.run(&["people", "lib", "--json"]).done().objects();
        for (number, &who) in people.iter().enumerate() {
            assert_eq!(
                Some(person(&now, &format!("x{number}")).0),
                first[who],
                "seed {seed}, frame {number}"
            );
        }
    }
}

//! What a person says about a face decides that face, and no other (MODEL.md §9, the third promise).

use kith::data::{Dataset, NewFace};
use kith::random::driver;
use kith_io::dataset::FaceTable;
use serde_json::Value;

use crate::common::Place;

/// Who is on how many photos.
const PEOPLE: [(&str, usize); 14] = [
    ("ann", 40),
    ("bea", 24),
    ("cy", 12),
    ("dot", 12),
    ("eva", 6),
    ("fay", 6),
    ("gus", 6),
    ("hal", 6),
    ("ida", 6),
    ("joe", 6),
    ("kim", 6),
    ("lee", 6),
    ("mia", 6),
    ("ned", 6),
];
/// Of every embedding.
const D: usize = 32;

/// A library of them, learnt: photos of one person lie about 1 from their mean on every axis, people 3.5 from
/// each other.
fn learnt() -> Place {
    let (place, mut rng) = (Place::empty(), driver(3));
    let mut data = Dataset::empty(D).unwrap();
    let mut faces = Vec::new();
    for (name, n_photos) in PEOPLE {
        let mean: [f64; D] = std::array::from_fn(|_| 2.5 * rng.normal());
        for photo in 0..n_photos {
            let x = mean.map(|mean| (mean + rng.normal()) as f32);
            data.push_frame(None, &[NewFace { embedding: &x, name: None }]).unwrap();
            faces.push(format!("{name}{photo}"));
        }
    }
    let mut table = FaceTable::new(data);
    table.faces = faces;
    place.dataset("faces", &table);
    place.run(&["add", "lib", "faces"]).done();
    place.run(&["learn", "lib", "--sweeps", "24", "--seed", "2"]).done();
    place
}

/// How many photos there are of somebody.
fn n_of(person: &str) -> usize {
    PEOPLE.iter().find(|(name, _)| *name == person).unwrap().1
}

fn say(place: &Place, words: &[&str]) {
    place.run(&[&[words[0], "lib"], &words[1..]].concat()).done();
}

/// How probable it is that a face has a name.
fn p_name(place: &Place, face: &str, name: &str) -> f64 {
    let who = place.run(&["who", "lib", "--face", face, "--top", "9", "--json"]).done().object();
    let names = who["names"].as_array().unwrap();
    names.iter().find(|entry| entry["name"] == name).map_or(0.0, |entry| entry["p"].as_f64().unwrap())
}

/// Faces with the number of their person.
fn persons(place: &Place) -> Vec<(String, i64)> {
    let people = place.run(&["people", "lib", "--json"]).done().objects();
    let faces = |person: &Value| {
        let id = person["person"].as_i64().unwrap();
        let faces = person["faces"].as_array().unwrap().clone();
        faces.into_iter().map(move |face| (face["face"].as_str().unwrap().to_owned(), id))
    };
    people.iter().flat_map(faces).collect()
}

fn person_of(persons: &[(String, i64)], face: &str) -> i64 {
    persons.iter().find(|(other, _)| other == face).unwrap().1
}

/// Everybody of many photos is with their own, but for these.
fn assert_whole(place: &Place, but: &[&str]) {
    let persons = persons(place);
    let of = |name: &str, k: usize| (format!("{name}{k}"), person_of(&persons, &format!("{name}{k}")));
    for (name, n_photos) in PEOPLE.into_iter().take(4) {
        let own: Vec<(String, i64)> = (0..n_photos).map(|k| of(name, k)).collect();
        let rest: Vec<_> = own.iter().filter(|(face, _)| !but.contains(&&**face)).collect();
        assert!(rest.iter().all(|(_, person)| *person == rest[0].1), "{name}: {own:?}");
        let others = persons.iter().filter(|(face, _)| !face.starts_with(name) && !but.contains(&&**face));
        assert!(others.into_iter().all(|(_, person)| *person != rest[0].1), "{name}");
    }
}

/// At once, and after learning again.
fn now_and_learnt(place: &Place, holds: impl Fn(&str)) {
    holds("at once");
    place.run(&["learn", "lib", "--sweeps", "16"]).done();
    holds("learnt");
}

#[test]
fn not_this_person_takes_one_face_away_and_the_name_from_nobody() {
    let place = learnt();
    assert_whole(&place, &[]);
    say(&place, &["name", "ann0", "Annabella Alexandrovna"]);
    assert!(p_name(&place, "ann3", "Annabella Alexandrovna") > 0.9);
    say(&place, &["not", "ann3", "Annabella Alexandrovna"]);
    let holds = |when: &str| {
        for k in 0..n_of("ann") {
            let p = p_name(&place, &format!("ann{k}"), "Annabella Alexandrovna");
            assert!(if k == 3 { p < 0.05 } else { p > 0.9 }, "{when}: ann{k} {p}");
        }
        assert_whole(&place, &["ann3"]);
    };
    now_and_learnt(&place, holds);
    // The latest word about a face counts, and undoing gives the former answers back.
    say(&place, &["name", "ann3", "Annabella Alexandrovna"]);
    assert!(p_name(&place, "ann3", "Annabella Alexandrovna") > 0.9);
    say(&place, &["undo"]);
    holds("undone");
    say(&place, &["undo"]);
    assert!(p_name(&place, "ann3", "Annabella Alexandrovna") > 0.9);
}

#[test]
fn different_people_are_apart_and_the_name_stays_with_the_named() {
    let place = learnt();
    say(&place, &["different", "ann3", "ann7"]);
    let are_apart = |when: &str| {
        let persons = persons(&place);
        let [a, b] = ["ann3", "ann7"].map(|face| person_of(&persons, face));
        assert_ne!(a, b, "{when}");
        assert_whole(&place, &["ann3", "ann7"]);
    };
    now_and_learnt(&place, are_apart);
    say(&place, &["undo"]);
    say(&place, &["name", "ann3", "Ann"]);
    say(&place, &["different", "ann3", "ann7"]);
    now_and_learnt(&place, |when| {
        for k in 0..n_of("ann") {
            let p = p_name(&place, &format!("ann{k}"), "Ann");
            assert!(if k == 7 { p < 0.05 } else { p > 0.9 }, "{when}: ann{k} {p}");
        }
        are_apart(when);
    });
}

#[test]
fn the_same_person_moves_the_odd_face_alone() {
    let place = learnt();
    for other in ["bea4", "dot4"] {
        say(&place, &["same", "ann2", other]);
        now_and_learnt(&place, |when| {
            let persons = persons(&place);
            let [a, b] = ["ann2", other].map(|face| person_of(&persons, face));
            assert_eq!(a, b, "{when}: {other}");
            assert_whole(&place, &["ann2", other]);
        });
        say(&place, &["undo"]);
        place.run(&["learn", "lib", "--sweeps", "16"]).done();
        assert_whole(&place, &[]);
    }
}

/// Said of two pairs of faces it is about everybody who looks like them, until one of the words is taken back.
#[test]
fn the_same_person_said_twice_joins_two_groups() {
    let place = learnt();
    for k in [2, 5] {
        say(&place, &["same", &format!("ann{k}"), &format!("bea{k}")]);
    }
    now_and_learnt(&place, |when| {
        let persons = persons(&place);
        let of = |person: &str, k: usize| person_of(&persons, &format!("{person}{k}"));
        let both = (0..n_of("ann")).map(|k| of("ann", k)).chain((0..n_of("bea")).map(|k| of("bea", k)));
        let n_one = both.filter(|&person| person == of("ann", 0)).count();
        assert_eq!(n_one, n_of("ann") + n_of("bea"), "{when}");
        assert_ne!(of("cy", 0), of("ann", 0), "{when}");
    });
    say(&place, &["undo"]);
    say(&place, &["undo"]);
    now_and_learnt(&place, |_| assert_whole(&place, &[]));
}

#[test]
fn the_same_person_takes_the_name_from_nobody() {
    let place = learnt();
    say(&place, &["name", "cy0", "Cy"]);
    for k in [1, 2] {
        say(&place, &["same", &format!("cy{k}"), "bea4"]);
        now_and_learnt(&place, |when| {
            for face in (0..n_of("cy")).map(|k| format!("cy{k}")).chain(["bea4".to_owned()]) {
                let p = p_name(&place, &face, "Cy");
                assert!(p > 0.9, "{when}, cy{k}: {face} {p}");
            }
            assert_whole(&place, &["bea4"]);
        });
        say(&place, &["undo"]);
    }
}

#[test]
fn a_wrong_name_costs_the_face_that_it_was_said_of() {
    let place = learnt();
    for (face, name) in [("ann0", "Ann"), ("bea0", "Bea"), ("cy0", "Cy"), ("cy5", "Ann")] {
        say(&place, &["name", face, name]);
    }
    now_and_learnt(&place, |when| {
        for (person, name) in [("ann", "Ann"), ("bea", "Bea"), ("cy", "Cy")] {
            for face in (0..n_of(person)).map(|k| format!("{person}{k}")).filter(|face| face != "cy5") {
                let p = p_name(&place, &face, name);
                assert!(p > 0.9, "{when}: {face} {p}");
            }
        }
        assert!(p_name(&place, "cy5", "Ann") > 0.9, "{when}");
        assert_whole(&place, &["cy5"]);
        // It is listed with what it looks like, and is the only one of them.
        let doubtful = place.run(&["log", "lib", "--doubtful", "--json"]).done().objects();
        let told: Vec<&Value> = doubtful.iter().map(|entry| &entry["face"]).collect();
        assert_eq!(told, ["cy5"], "{when}");
        let looks = doubtful[0]["looks_like"].as_str().unwrap();
        assert!(looks.starts_with("cy"), "{when}: {looks}");
    });
    say(&place, &["undo"]);
    now_and_learnt(&place, |when| {
        assert!(p_name(&place, "cy5", "Cy") > 0.9, "{when}");
        assert_whole(&place, &[]);
    });
}

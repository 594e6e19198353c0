//! What the tests of the library file share: a folder, made-up people, and short ways to ask.

#![allow(dead_code)] // every test file uses its own part

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use kith::chain::Watch;
use kith::predict::Answer;
use kith::random::driver;
use kith_store::{Believed, Changes, Kind, Library, NewFace, NewFrame, Plan, Saying, Told, Who};
use tempfile::TempDir;

pub const PEOPLE: [&str; 3] = ["Ann", "Bo", "Cy"];

/// A folder with a library `lib` in it.
pub struct Place {
    pub folder: TempDir,
}

impl Place {
    /// With a library of 24 frames, learnt a little.
    pub fn learnt() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        Library::open_and_add(&place.path(), &frames(0..24), Some("made up")).unwrap();
        learn(&place.open(), 20);
        place
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("lib")
    }

    pub fn open(&self) -> Library {
        Library::open(&self.path()).unwrap()
    }
}

/// Frames with one of three people each, in turn; face k is called `face-k` and is `PEOPLE[k % 3]`.
pub fn frames(numbers: std::ops::Range<usize>) -> Vec<NewFrame> {
    let frame = |number: usize| {
        let mut rng = driver(number as u64);
        let mut embedding: Vec<f32> = (0..4).map(|_| 0.3 * rng.normal() as f32).collect();
        embedding[number % 3] += 4.0;
        NewFrame {
            key: Some(format!("frame-{number}")),
            context: Some(["home", "work"][number / 3 % 2].to_owned()),
            faces: vec![NewFace { key: format!("face-{number}"), embedding, ..NewFace::default() }],
            ..NewFrame::default()
        }
    };
    numbers.map(frame).collect()
}

pub fn learn(library: &Library, sweeps: u64) -> Changes {
    let watch = Watch { stop: &AtomicBool::new(false), swept: &|| () };
    let mut told = Told { prior: &mut |_| (), begins: &mut |_| (), goes_on: &mut |_| () };
    let plan = Plan { sweeps: Some(sweeps), chains: Some(2), seed: Some(3), least: 0 };
    Believed::learn(library, &plan, &watch, &mut told).unwrap().1
}

pub fn say(library: &Library, kind: Kind, face: &str, other: Option<&str>, name: Option<&str>) {
    let row = |key: &str| library.face(key).unwrap();
    let saying = Saying { kind, face: row(face), other: other.map(row), name };
    library.say("me", &[saying]).unwrap();
}

pub fn who(library: &Library, key: &str) -> Answer {
    let belief = Believed::open(library).unwrap();
    let face = belief.rows.face_of(library.face(key).unwrap()).unwrap();
    let Who { answer, .. } = belief.who(library, face).unwrap();
    let total = answer.acquainted + answer.familiar + answer.stranger;
    assert!((total - 1.0).abs() < 1e-9, "{answer:?}");
    let all = answer.names.iter().map(|name| name.p).sum::<f64>() + answer.unknown_name;
    assert!((all - 1.0).abs() < 1e-9, "{answer:?}");
    answer
}

/// How probable it is that a face has a name.
pub fn p_of(library: &Library, key: &str, name: &str) -> f64 {
    let snapshot = library.snapshot().unwrap();
    let label = snapshot.data.names().iter().position(|known| known == name);
    let names = who(library, key).names;
    names.iter().find(|known| Some(known.label.index()) == label).map_or(0.0, |known| known.p)
}

/// Everybody's name, where there is one, and faces.
pub fn people(library: &Library) -> Vec<(Option<String>, Vec<String>)> {
    let people = library.people().unwrap().into_iter().map(|person| {
        let mut faces: Vec<String> = person.faces.into_iter().map(|face| face.key).collect();
        faces.sort();
        (person.name, faces)
    });
    people.collect()
}

//! Lines that are nearly what they should be: every one is answered or refused, none breaks anything.

#[path = "../../../kith-io/tests/common/mutate.rs"]
mod mutate;

use kith::random::{Rng, driver};
use kith_store::{Library, Watcher};
use mutate::{corpus, fuzz, number, tell};
use serde_json::{Value, json};

use super::{import, watch};

const WORDS: [&str; 14] = [
    "\"faces\"",
    "\"face\"",
    "\"embedding\"",
    "[1, 2]",
    "\"name\"",
    "\"not\"",
    "\"same\"",
    "\"undo\"",
    "\"redo\": true",
    "null",
    "\"ignore\"",
    "\"context\"",
    "\"time\"",
    "\\u0000",
];

#[test]
fn imports() {
    for (name, is_csv) in [("import", false), ("import-csv", true)] {
        fuzz(name, &corpus(&format!("corpus/{name}")), &WORDS, |bytes| {
            import::statements(bytes, is_csv, "said").is_ok_and(|said| !said.is_empty())
        });
    }
}

/// Every line goes to a library that has seen the corpus before it.
#[test]
fn streams() {
    let folder = tempfile::tempdir().unwrap();
    let open = |number: usize| {
        let path = folder.path().join(number.to_string());
        let mut watcher = Watcher::new(Library::open_or_create(&path).unwrap()).unwrap();
        for line in corpus("corpus/watch") {
            watch::answer(&line, &mut watcher, None).unwrap();
        }
        watcher
    };
    let (mut watcher, mut n) = (open(0), 0);
    fuzz("watch", &corpus("corpus/watch"), &WORDS, |line| {
        n += 1;
        // Small, so that most of the time goes to lines.
        if n % 500 == 0 {
            watcher = open(n);
        }
        watch::answer(line, &mut watcher, None).is_ok()
    });
    assert_eq!(watcher.library().check().unwrap().faults, [""; 0]);
}

const TEXTS: [&str; 12] = [
    "home",
    "Ann",
    "Zo\u{eb}",
    "\u{5f20}\u{4f1f}",
    "a b",
    "1",
    "-",
    "--json",
    "'; DROP TABLE faces",
    "\u{1f600}",
    "#0",
    "null",
];
const TIMES: [&str; 5] = ["2024-05-01T12:30:00Z", "1714566600", "0", "-1", "1999-12-31T23:59:59+14:00"];

/// A camera's lines with values of any kind that may come, as a function of the seed.
struct Camera {
    rng: Rng,
    /// Faces that were answered.
    known: Vec<String>,
    n_frames: usize,
}

impl Camera {
    fn line(&mut self) -> Value {
        match self.rng.below(20) {
            _ if self.known.is_empty() => self.frame(),
            0..=12 => self.frame(),
            13..=15 => json!({"name": self.text(), "face": self.face(), "by": self.text()}),
            16 => json!({"not": self.text(), "face": self.face()}),
            17 => json!({["same", "different"][self.rng.below(2)]: [self.face(), self.face()]}),
            18 => json!({"undo": 1 + self.rng.below(3)}),
            _ => [json!({"redo": true}), json!({"ignore": self.face()})][self.rng.below(2)].clone(),
        }
    }

    fn frame(&mut self) -> Value {
        self.n_frames += 1;
        let faces = Vec::from_iter((0..1 + self.rng.below(3)).map(|k| self.look(k)));
        let mut frame = json!({"faces": faces});
        let values = [
            ("frame", json!(self.n_frames)),
            ("context", json!(self.text())),
            ("time", json!(TIMES[self.rng.below(TIMES.len())])),
            ("source", json!(self.text())),
        ];
        values.into_iter().filter(|_| self.rng.below(3) > 0).for_each(|(key, value)| frame[key] = value);
        frame
    }

    /// A face of somebody; now and then one that is all zeros, tiny, long, equal to another or known already.
    fn look(&mut self, number: usize) -> Value {
        let person = self.rng.below(6);
        let times = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1e-3, 3.0, 0.0, 1e-30, 50.0, 1e6][self.rng.below(12)];
        let noise = [0.3, 0.3, 0.0][self.rng.below(3)];
        let mut at = driver(person as u64);
        let embedding = Vec::from_iter((0..8).map(|_| times * (at.normal() + noise * self.rng.normal())));
        let key = match self.rng.below(12) {
            0 if !self.known.is_empty() => self.face(),
            _ => format!("{} {}-{number}", self.text(), self.n_frames),
        };
        let mut face = json!({"face": key, "embedding": embedding});
        if self.rng.below(8) == 0 {
            face["name"] = json!(self.text());
        }
        face
    }

    fn face(&mut self) -> String {
        self.known[self.rng.below(self.known.len())].clone()
    }

    fn text(&mut self) -> String {
        TEXTS[self.rng.below(TEXTS.len())].to_owned()
    }
}

/// Lines that can be read: whatever their values are, each is answered with probabilities, or refused.
#[test]
fn streams_of_any_values() {
    const A_LIBRARY: usize = 200;
    let folder = tempfile::tempdir().unwrap();
    let n = number("KITH_FUZZ").map_or(A_LIBRARY, |n| n as usize);
    let seed = number("KITH_FUZZ_SEED").unwrap_or(1);
    let mut n_taken = 0;
    for first in (0..n).step_by(A_LIBRARY) {
        let path = folder.path().join("lib");
        let mut watcher = Watcher::new(Library::open_or_create(&path).unwrap()).unwrap();
        let rng = driver(seed + first as u64);
        let mut camera = Camera { rng, known: Vec::new(), n_frames: 0 };
        for number in first..n.min(first + A_LIBRARY) {
            let line = camera.line();
            let Ok(answer) = watch::answer(line.to_string().as_bytes(), &mut watcher, None) else { continue };
            n_taken += 1;
            for face in answer["faces"].as_array().into_iter().flatten() {
                camera.known.push(face["face"].as_str().unwrap().to_owned());
                let shares = ["stranger", "familiar", "acquainted", "unknown_name"].map(|key| &face[key]);
                let is_share = |p: &&Value| p.as_f64().is_some_and(|p| (0.0..=1.0).contains(&p));
                assert!(shares.iter().all(is_share), "line {number}: {line}: {answer}");
            }
        }
        watcher.save().unwrap();
        // Some that came before there were enough to compare them with are named, and set aside.
        let faults = watcher.library().check().unwrap().faults;
        assert!(faults.iter().all(|fault| fault.contains("times as long")), "lines from {first}: {faults:?}");
        drop(watcher);
        std::fs::remove_file(&path).unwrap();
    }
    tell("watch with any values", n, n_taken);
    assert!(n_taken < n && n_taken * 3 > n * 2, "{n_taken} of {n} taken");
}

//! Datasets of a few encounters, for the tests of the verbs without a library.

use std::fs;

use kith::data::{Dataset, NewFace};
use kith::random::driver;
use kith_io::dataset::FaceTable;
use serde_json::Value;

use super::{Place, Ran};

impl Place {
    /// With datasets to learn from (`seen`) and to ask about (`new`).
    pub fn with_encounters() -> Self {
        let place = Self::empty();
        place.dataset("seen", &encounters(8, 1));
        place.dataset("new", &encounters(3, 2));
        place
    }

    /// A short fit with further options.
    pub fn fit(&self, draws: &str, more: &[&str]) -> Ran {
        let short = ["fit", "seen", "--draws", draws, "--chains", "3", "--sweeps", "60"];
        self.run(&[&short[..], more].concat())
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub fn lines(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.path(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// One line that says all of these, status 2, nothing on stdout.
pub fn assert_refused(what: &str, ran: &Ran, said: &[&str]) {
    assert_eq!(ran.status, 2, "{what}: {}", ran.err);
    assert_eq!(ran.out, "", "{what}");
    assert_eq!(ran.err.lines().count(), 1, "{what}: {}", ran.err);
    assert!(ran.err.starts_with("kith: "), "{what}: {}", ran.err);
    for text in said {
        assert!(ran.err.contains(text), "{what}: {:?} does not say {text:?}", ran.err);
    }
    assert!(ran.err.matches("os error").count() < 2, "{what}: a cause is said once: {}", ran.err);
}

/// Photos of two people each, out of three, with two names, two places (now and then not given) and the
/// truth.
pub fn encounters(n_frames: usize, seed: u64) -> FaceTable {
    let mut rng = driver(seed);
    let mut data = Dataset::empty(4).unwrap();
    let mut truth = Vec::new();
    for frame in 0..n_frames {
        let people = [frame % 3, (frame + 1) % 3];
        let faces = people.map(|person| {
            truth.push(Some(["Ann", "Ben", "Cy"][person].to_owned()));
            let mut face = [0.0_f32; 4].map(|_| 0.3 * rng.normal() as f32);
            face[person] += 4.0;
            face
        });
        let name = |number: usize| (frame == number).then_some(["Ann", "Ben"][number]);
        let named = [NewFace { embedding: &faces[0], name: name(0).or(name(1)) }];
        let other = [NewFace { embedding: &faces[1], name: None }];
        let context = ["home", "work"][frame % 2];
        data.push_frame((frame % 5 != 4).then_some(context), &[named, other].concat()).unwrap();
    }
    let mut table = FaceTable::new(data);
    table.truth = Some(truth);
    table
}

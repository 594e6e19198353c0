//! What the tests of the program share: a folder, made-up people, and the program run there.

pub mod encounters;

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use kith::data::{Dataset, NewFace};
use kith::random::driver;
use kith_io::dataset::{self, FaceTable};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder, and the program run inside it.
pub struct Place {
    pub folder: TempDir,
}

/// How a run ended.
pub struct Ran {
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl Place {
    pub fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// With a dataset `photos` of 30 frames.
    pub fn new() -> Self {
        let place = Self::empty();
        place.dataset("photos", &photos(30, 1, "p"));
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What lies beside a file while it is being written.
    pub fn partial_of(&self, name: &str) -> Option<PathBuf> {
        let is_it = |path: &PathBuf| {
            let found = path.file_name().unwrap_or_default().to_string_lossy();
            found.starts_with(&format!(".{name}.")) && found.ends_with(".partial")
        };
        std::fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path()).find(is_it)
    }

    pub fn dataset(&self, name: &str, table: &FaceTable) {
        dataset::write(&self.path(name), table).unwrap();
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kith"));
        command.current_dir(self.folder.path()).args(arguments).stdin(Stdio::null());
        // Where it is made, what anything sets aside for a while would be found there.
        if self.path("tmp").is_dir() {
            command.env("TMPDIR", self.path("tmp")).env("SQLITE_TMPDIR", self.path("tmp"));
        }
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    /// A library `lib` with the photos, learnt a little.
    pub fn learnt(&self) {
        self.run(&["add", "lib", "photos", "--embedding", "toy"]).done();
        self.run(&["learn", "lib", "--sweeps", "40"]).done();
    }

    /// The program with these lines on its stdin.
    pub fn fed(&self, arguments: &[&str], lines: &[String]) -> Ran {
        use std::io::Write;
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let mut stdin = child.stdin.take().unwrap();
        let writer = std::thread::spawn(move || drop(stdin.write_all(text.as_bytes())));
        let ran = Ran::of(child.wait_with_output().unwrap());
        writer.join().unwrap();
        ran
    }
}

impl Ran {
    pub fn of(output: Output) -> Self {
        Self {
            status: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub fn done(self) -> Self {
        assert_eq!(self.status, 0, "{}{}", self.out, self.err);
        self
    }

    /// The objects on stdout, one per line.
    pub fn objects(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub fn object(&self) -> Value {
        let objects = self.objects();
        assert_eq!(objects.len(), 1, "{}", self.out);
        objects[0].clone()
    }

    /// It failed with exactly one line that says all of this.
    pub fn refused(&self, parts: &[&str]) {
        assert_eq!(self.status, 2, "{}{}", self.out, self.err);
        assert_eq!(self.err.lines().count(), 1, "{}", self.err);
        assert_eq!(self.out, "");
        parts.iter().for_each(|part| assert!(self.err.contains(part), "{} in {}", part, self.err));
    }
}

pub const PEOPLE: [&str; 4] = ["Ann", "Ben", "Cy", "Dot"];

/// The look of a person's photo.
fn look(person: usize, rng: &mut kith::random::Rng) -> [f32; 5] {
    let mut face = [0.0_f32; 5].map(|_| 0.3 * rng.normal() as f32);
    face[person] += 4.0;
    face
}

/// Frames of two people each, out of four, at home and at work, without names; `truth` says who.
pub fn photos(n_frames: usize, seed: u64, prefix: &str) -> FaceTable {
    let mut rng = driver(seed);
    let mut data = Dataset::empty(5).unwrap();
    let (mut truth, mut faces, mut frames, mut times) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for frame in 0..n_frames {
        let people = [frame % 4, (frame + 1 + frame / 4 % 3) % 4];
        let looks = people.map(|person| look(person, &mut rng));
        let new = looks.each_ref().map(|look| NewFace { embedding: look, name: None });
        data.push_frame(Some(["home", "work"][frame % 2]), &new).unwrap();
        frames.push(format!("{prefix}{frame}"));
        for (k, person) in people.into_iter().enumerate() {
            faces.push(format!("{prefix}{frame}_{k}"));
            truth.push(Some(PEOPLE[person].to_owned()));
            times.push(format!("2024-05-{:02}T12:00:00Z", 1 + frame % 28));
        }
    }
    let mut table = FaceTable::new(data);
    (table.faces, table.frames, table.truth) = (faces, frames, Some(truth));
    table.other = vec![("time".to_owned(), times)];
    table
}

/// The faces of `photos` that are really somebody.
pub fn faces_of(person: &str) -> Vec<String> {
    let table = photos(30, 1, "p");
    let truth = table.truth.unwrap();
    let is = |row: &usize| truth[*row].as_deref() == Some(person);
    (0..truth.len()).filter(is).map(|row| table.faces[row].clone()).collect()
}

/// Lines for `kith watch`: frames of one person each.
pub fn stream(people: &[usize], seed: u64, prefix: &str) -> Vec<String> {
    let mut rng = driver(seed);
    let line = |(number, &person): (usize, &usize)| {
        let face = json!({"face": format!("{prefix}{number}"), "embedding": look(person, &mut rng)});
        json!({"frame": format!("f-{prefix}{number}"), "context": "home", "faces": [face]}).to_string()
    };
    people.iter().enumerate().map(line).collect()
}

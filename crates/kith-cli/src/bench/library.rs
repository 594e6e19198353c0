//! `kith bench library`: what a person with a library of made-up people waits for, and what it takes on the
//! disk.

use std::path::Path;
use std::time::Instant;

use kith::chain::Watch;
use kith::data::{Dataset, NewFace as Face};
use kith_store::{
    Believed, FaceRow, Kind, Library, NewFace, NewFrame, Plan, Progress, Saying, Told, Watcher,
};
use serde_json::{Value, json};

use super::args::LibraryOptions;
use super::crowd::{Crowd, Settings};
use super::memory::peak_bytes;
use super::{Figures, median, timed};
use crate::fit::set_threads;
use crate::predict::photos;
use crate::progress::note;

/// How often each question is asked; the median counts.
const ASKED: usize = 5;

/// Measures.
pub fn run(options: &LibraryOptions) -> anyhow::Result<Figures> {
    set_threads(options.threads)?;
    let mut crowd = Crowd::new(&Settings {
        faces: options.faces as usize,
        people: options.identities as usize,
        dimension: options.crowd.dim as usize,
        spread: options.crowd.spread,
        evenness: 0.5,
        most_in_frame: 1,
        seed: options.crowd.seed,
    })?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("bench.kith");
    let frames: Vec<NewFrame> = (0..crowd.truth.len()).map(|face| frame(&crowd, face)).collect();
    let (add, added) = timed(|| Library::open_and_add(&path, &frames, None));
    let (library, _) = added?;
    drop(frames);
    note(format!("added in {add:.1} s"));
    let mut figures = vec![
        ("faces", json!(options.faces), format!("{} faces of {} people", options.faces, options.identities)),
        ("identities", json!(options.identities), String::new()),
        ("dimension", json!(options.crowd.dim), String::new()),
        seconds("add_seconds", "to add them", add),
    ];
    figures.extend(learn(&library, &crowd, options)?);
    drop(library);
    figures.extend(ask(&path, &mut crowd)?);
    let bytes = std::fs::metadata(&path)?.len();
    figures.push(("file_bytes", json!(bytes), format!("{:.1} MB of file", bytes as f64 / 1e6)));
    if let Some(peak) = peak_bytes() {
        figures.push(("peak_bytes", json!(peak), format!("{:.0} MB of memory at most", peak as f64 / 1e6)));
    }
    Ok(Figures(figures))
}

type Figure = (&'static str, Value, String);

fn seconds(key: &'static str, what: &str, seconds: f64) -> Figure {
    (key, json!(seconds), format!("{seconds:.3} s {what}"))
}

/// One of the crowd's faces, in a frame of its own.
fn frame(crowd: &Crowd, face: usize) -> NewFrame {
    let embedding = crowd.data.embeddings().row(face).to_vec();
    let face = NewFace { key: format!("f{face}"), embedding, ..NewFace::default() };
    NewFrame { faces: vec![face], ..NewFrame::default() }
}

/// Learns to its own end, or for some sweeps: when the first people are there, when it ends, and how right
/// they are.
fn learn(library: &Library, crowd: &Crowd, options: &LibraryOptions) -> anyhow::Result<Vec<Figure>> {
    let (started, mut first) = (Instant::now(), None);
    let mut goes_on = |now: &Progress| {
        let passed = started.elapsed().as_secs_f64();
        first.get_or_insert(passed);
        note(format!("{passed:.1} s: {} people after {} sweeps", now.n_people, now.sweeps.0));
    };
    let mut told = Told { prior: &mut |_| (), begins: &mut |_| (), goes_on: &mut goes_on };
    let sweeps = options.sweeps.map(u64::from);
    let plan = Plan { sweeps, chains: None, seed: Some(options.crowd.seed), least: 0 };
    let (believed, changes) = Believed::learn(library, &plan, &Watch::nobody(), &mut told)?;
    believed.keep_bounds(library)?;
    let passed = started.elapsed().as_secs_f64();
    let mut found = vec![0; crowd.truth.len()];
    for (number, person) in library.people()?.iter().enumerate() {
        for face in &person.faces {
            found[face.key[1..].parse::<usize>()?] = number as u32;
        }
    }
    let ari = crowd.ari_of(&found);
    let is_agreed = changes.r_hat.is_some_and(|r_hat| r_hat < kith::belief::AGREED);
    let verdict = if is_agreed { "the chains agree" } else { "the chains do not agree yet" };
    Ok(vec![
        seconds("first_people_seconds", "until the first people", first.unwrap_or(passed)),
        seconds("learn_seconds", "to learn", passed),
        ("sweeps", json!(changes.sweeps), String::new()),
        ("agreed", json!(is_agreed), format!("{verdict} after {} sweeps", changes.sweeps)),
        ("people", json!(library.people()?.len()), String::new()),
        ("ari", json!(ari), format!("ARI {ari:.4}")),
    ])
}

/// What every question costs a process that has just been started.
fn ask(path: &Path, crowd: &mut Crowd) -> anyhow::Result<Vec<Figure>> {
    let keys: Vec<String> = (0..ASKED).map(|k| format!("f{}", k * crowd.truth.len() / ASKED)).collect();
    let people = repeated(|_| {
        let library = Library::open_to_read(path)?;
        if !library.is_believed()? {
            Believed::open(&library)?;
        }
        Ok(library.people().map(drop)?)
    })?;
    let who = |library: &Library, face: FaceRow| -> anyhow::Result<()> {
        let of = |believed: &Believed| {
            believed.who(library, believed.rows.face_of(face).expect("nobody is ignored"))
        };
        Ok(library.asked(|believed| of(believed).map(drop))?)
    };
    let who_seen = repeated(|k| {
        let library = Library::open_to_read(path)?;
        who(&library, library.face(&keys[k])?)
    })?;
    let new: Vec<Vec<f32>> = (0..ASKED).map(|person| crowd.photo(person)).collect();
    let who_new = repeated(|k| {
        let library = Library::open_to_read(path)?;
        let mut data = Dataset::empty(new[k].len())?;
        data.push_frame(None, &[Face { embedding: &new[k], name: None }])?;
        Ok(library.asked(|believed| believed.who_is_on(&library, &photos(&data, None), &|| ()).map(drop))?)
    })?;
    let questions = repeated(|_| {
        let library = Library::open_to_read(path)?;
        Believed::open(&library)?.belief.ask(1);
        Ok(())
    })?;
    let said = repeated(|k| {
        let library = Library::open(path)?;
        let (face, name) = (library.face(&keys[k])?, format!("Person {k}"));
        library.say("me", &[Saying { kind: Kind::Name, face, other: None, name: Some(&name) }])?;
        who(&library, face)
    })?;
    let mut watcher = Watcher::new(Library::open(path)?)?;
    let (start, first) = timed(|| watcher.see(&watched(0, &new), None));
    first?;
    let watch = repeated(|k| Ok(watcher.see(&watched(1 + k, &new), None).map(drop)?))?;
    watcher.save()?;
    Ok(vec![
        seconds("people_seconds", "for the people", people),
        seconds("who_seconds", "for who a face is", who_seen),
        seconds("who_new_seconds", "for who a new face is", who_new),
        seconds("ask_seconds", "for a question", questions),
        seconds("statement_seconds", "for a statement and the next answer", said),
        seconds("watch_start_seconds", "until a stream's first answer", start),
        seconds("watch_seconds", "for each of the next", watch),
    ])
}

/// The frame of a stream with one of some faces.
fn watched(number: usize, faces: &[Vec<f32>]) -> NewFrame {
    let embedding = faces[number % faces.len()].clone();
    let face = NewFace { key: format!("w{number}"), embedding, ..NewFace::default() };
    NewFrame { key: Some(format!("w{number}")), faces: vec![face], ..NewFrame::default() }
}

/// The median of what something takes, done several times.
fn repeated(mut work: impl FnMut(usize) -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let once = |k| {
        let (seconds, done) = timed(|| work(k));
        done.map(|()| seconds)
    };
    Ok(median(&(0..ASKED).map(once).collect::<anyhow::Result<Vec<f64>>>()?))
}

//! Killed at any moment, a library opens again and has everything that was acknowledged.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::common::{Place, photos, stream};
use kith::random::{Rng, driver};
use serde_json::Value;

/// What has been acknowledged so far.
#[derive(Default)]
struct Acknowledged {
    faces: Vec<String>,
    acts: usize,
    n_streams: usize,
    n_datasets: usize,
}

/// Kills a process after a while, if it still runs.
fn kill(mut child: Child, rng: &mut Rng, most_ms: f64) {
    std::thread::sleep(Duration::from_micros((rng.uniform() * most_ms * 1000.0) as u64));
    child.kill().ok();
    child.wait().unwrap();
}

fn quiet(place: &Place, arguments: &[&str]) -> Child {
    place.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Feeds frames and kills at a random one of them, or between two.
fn kill_watch(place: &Place, rng: &mut Rng, known: &mut Acknowledged) {
    known.n_streams += 1;
    let people: Vec<usize> = (0..30).map(|_| rng.below(4)).collect();
    let prefix = format!("w{}-", known.n_streams);
    let lines = stream(&people, 100 + known.n_streams as u64, &prefix);
    let mut child = place
        .command(&["watch", "lib"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let n_before = rng.below(lines.len());
    for line in &lines[..n_before] {
        writeln!(stdin, "{line}").unwrap();
        let Some(Ok(answer)) = answers.next() else { break };
        let answer: Value = serde_json::from_str(&answer).unwrap();
        known.faces.push(answer["faces"][0]["face"].as_str().unwrap().to_owned());
    }
    writeln!(stdin, "{}", lines[n_before]).ok();
    kill(child, rng, 12.0);
    // What was answered before the end counts too.
    if let Some(Ok(answer)) = answers.next()
        && let Ok(answer) = serde_json::from_str::<Value>(&answer)
    {
        known.faces.push(answer["faces"][0]["face"].as_str().unwrap().to_owned());
    }
}

/// Says something, kills now and then; what was said with exit status 0 counts.
fn kill_statement(place: &Place, rng: &mut Rng, known: &mut Acknowledged) {
    let (face, other) = (format!("p{}_0", rng.below(30)), format!("p{}_1", rng.below(30)));
    let said =
        [&["name", "Ann"][..], &["not", "Ben"], &["same", &other], &["different", &other], &["ignore"]];
    let said = said[rng.below(said.len())];
    let mut child = quiet(place, &[&[said[0], "lib", &face], &said[1..]].concat());
    std::thread::sleep(Duration::from_micros((rng.uniform() * 40_000.0) as u64));
    child.kill().ok();
    known.acts += usize::from(child.wait().unwrap().success());
}

fn kill_many(n_kills: usize, seed: u64) {
    let place = Place::new();
    place.learnt();
    let mut known = Acknowledged { faces: photos(30, 1, "p").faces, ..Acknowledged::default() };
    let mut rng = driver(seed);
    for number in 0..n_kills {
        match number % 4 {
            0 => {
                known.n_datasets += 1;
                let name = format!("d{}-", known.n_datasets);
                place.dataset(&name, &photos(20, 50 + number as u64, &name));
                kill(quiet(&place, &["add", "lib", &name]), &mut rng, 40.0);
            }
            1 => kill(quiet(&place, &["learn", "lib", "--sweeps", "30"]), &mut rng, 120.0),
            2 => kill_statement(&place, &mut rng, &mut known),
            _ => kill_watch(&place, &mut rng, &mut known),
        }
        let checked = place.run(&["check", "lib", "--json"]);
        assert_eq!(checked.status, 0, "kill {number}: {}{}", checked.out, checked.err);
        let n_faces = checked.object()["faces"].as_u64().unwrap() as usize;
        assert!(n_faces >= known.faces.len(), "kill {number}: {n_faces} faces, {} known", known.faces.len());
    }
    // Every face and every act that was acknowledged is there; datasets are there whole or not at all.
    let library = kith_store::Library::open(&place.path("lib")).unwrap();
    known.faces.iter().for_each(|face| assert!(library.face(face).is_ok(), "{face} is lost"));
    let acts = library.log().unwrap().len();
    assert!(acts >= known.acts, "{acts} acts, {} acknowledged", known.acts);
    for number in 1..=known.n_datasets {
        let count = (0..20).flat_map(|frame| [0, 1].map(|k| format!("d{number}-{frame}_{k}")));
        let count = count.filter(|face| library.face(face).is_ok()).count();
        assert!(count == 0 || count == 40, "dataset {number}: {count} of 40 faces");
    }
    drop(library);
    place.run(&["learn", "lib", "--sweeps", "5"]).done();
    println!(
        "{n_kills} kills: {} faces and {} answers acknowledged, none lost",
        known.faces.len(),
        known.acts
    );
}

#[test]
fn twelve_kills_lose_nothing() {
    kill_many(12, 1);
}

/// About 25 seconds.
#[test]
#[ignore = "the long form of twelve_kills_lose_nothing"]
fn two_hundred_kills_lose_nothing() {
    kill_many(200, 2);
}

#[test]
fn a_polite_kill_keeps_what_was_learnt() {
    let place = Place::new();
    place.run(&["add", "lib", "photos"]).done();
    let child = quiet(&place, &["learn", "lib", "--sweeps", "100000"]);
    std::thread::sleep(Duration::from_millis(700));
    std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    let mut child = child;
    assert_eq!(child.wait().unwrap().code(), Some(1), "interrupted, and said so");
    let people = place.run(&["people", "lib", "--json"]).done().objects();
    assert_eq!(people.len(), 4);
    let learnt = place.run(&["learn", "lib", "--sweeps", "1", "--json"]).done().object();
    assert!(learnt["sweeps"].as_u64().unwrap() > 1, "{learnt}");
}

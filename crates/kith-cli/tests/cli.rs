//! The program as a person runs it: files in, files and text out, exit statuses, and one line for every mistake.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use kith::data::{Dataset, NewFace};
use kith::random::driver;
use kith_io::dataset::{self, FaceTable};
use serde_json::Value;
use tempfile::TempDir;

/// A folder with datasets to learn from (`seen`) and to ask about (`new`), and the program run inside it.
struct Place {
    folder: TempDir,
}

/// How a run ended.
struct Ran {
    status: i32,
    out: String,
    err: String,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        dataset::write(&folder.path().join("seen"), &encounters(8, 1)).unwrap();
        dataset::write(&folder.path().join("new"), &encounters(3, 2)).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kith"));
        command.current_dir(self.folder.path()).args(arguments).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    /// A short fit with further options.
    fn fit(&self, draws: &str, more: &[&str]) -> Ran {
        let short = ["fit", "seen", "--draws", draws, "--chains", "3", "--sweeps", "60"];
        self.run(&[&short[..], more].concat())
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn lines(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.path(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Ran {
    fn of(output: Output) -> Self {
        Self {
            status: output.status.code().expect("not ended by a signal"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn done(self) -> Self {
        assert_eq!(self.status, 0, "{}", self.err);
        self
    }
}

/// Photos of two people each, out of three, with two names, two places (now and then not given) and the truth.
fn encounters(n_frames: usize, seed: u64) -> FaceTable {
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

fn keys(object: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// An array as numpy writes it, with this header.
fn npy(descr: &str, fortran: &str, shape: &str, values: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values);
    bytes
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn a_fit_writes_a_header_and_complete_draws() {
    let place = Place::new();
    let ran = place.fit("draws.ndjson", &[]).done();
    assert_eq!(ran.out, "", "without --json there is no data for stdout");
    assert!(ran.err.starts_with("draws.ndjson: 12 draws of 3 chains\n16 faces, shown as "), "{}", ran.err);
    let lines = place.lines("draws.ndjson");
    assert_eq!(keys(&lines[0]), ["contexts", "dimension", "kith", "model", "n_faces", "names"]);
    assert_eq!(lines[0]["names"], serde_json::json!(["Ann", "Ben"]));
    assert_eq!(keys(&lines[0]["model"]), ["context", "evidence", "face", "frame", "identity", "name"]);
    assert_eq!(lines.len(), 1 + 12);
    for draw in &lines[1..] {
        let wanted = [
            "chain",
            "context_concentration",
            "contexts",
            "error_rate",
            "global_concentration",
            "identities",
            "ln_joint",
            "local_concentration",
            "name_concentration",
            "name_weights",
            "names",
            "sweep",
            "unseen",
            "weights",
        ];
        assert_eq!(keys(draw), wanted);
        assert_eq!(draw["identities"].as_array().unwrap().len(), 16);
        assert_eq!(draw["contexts"].as_array().unwrap().len(), 8);
        let weights = draw["weights"].as_array().unwrap();
        assert_eq!(weights.len(), draw["names"].as_array().unwrap().len());
        let total: f64 = weights.iter().chain([&draw["unseen"]]).map(|w| w.as_f64().unwrap()).sum();
        assert!((total - 1.0).abs() < 1e-9, "{total}");
    }
}

#[test]
fn a_summary_in_json_has_its_keys() {
    let place = Place::new();
    place.write("m.toml", "[face]\nmean = [1, 1, 1, 0]\nkappa = 0.05\nshape = 5\nrate = 0.4\n");
    let ran = place.fit("draws.ndjson", &["--json", "--model", "m.toml"]).done();
    assert_eq!(ran.out.lines().count(), 1);
    let summary: Value = serde_json::from_str(&ran.out).unwrap();
    let wanted =
        ["ari", "certainty", "ess", "ln_joint", "n_faces", "n_identities", "partition", "r_hat", "seconds"];
    assert_eq!(keys(&summary), wanted);
    assert_eq!(keys(&summary["n_identities"]), ["hdi", "mean"]);
    assert_eq!(keys(&summary["ari"]), ["draws", "partition"]);
    assert_eq!(keys(&summary["ari"]["draws"]), ["hdi", "mean"]);
    for key in ["ln_joint", "n_identities"] {
        assert!(keys(&summary["r_hat"]).contains(&key) && keys(&summary["ess"]).contains(&key));
    }
    assert_eq!(summary["ari"]["partition"], 1.0, "three people far apart are told apart");
}

#[test]
fn answers_have_their_keys_and_sum_to_one() {
    let place = Place::new();
    place.fit("draws.ndjson", &[]).done();
    for more in [&[][..], &["--weighted"]] {
        let ask = ["predict", "seen", "--draws", "draws.ndjson", "--new", "new", "--json"];
        let ran = place.run(&[&ask[..], more].concat()).done();
        assert_eq!(ran.err, "");
        let answers: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(answers.len(), 6);
        for (number, answer) in answers.iter().enumerate() {
            let wanted = [
                "acquainted",
                "context",
                "face",
                "familiar",
                "identity",
                "names",
                "stranger",
                "unknown_name",
            ];
            assert_eq!(keys(answer), wanted);
            assert_eq!(answer["face"], number.to_string());
            let sum = |values: &[&Value]| values.iter().map(|value| value.as_f64().unwrap()).sum::<f64>();
            let kinds = sum(&[&answer["acquainted"], &answer["familiar"], &answer["stranger"]]);
            assert!((kinds - 1.0).abs() < 1e-9, "{answer}");
            let names: Vec<&Value> =
                answer["names"].as_array().unwrap().iter().map(|name| &name["p"]).collect();
            let names = sum(&names) + sum(&[&answer["unknown_name"]]);
            assert!((names - 1.0).abs() < 1e-9, "{answer}");
            let places: Vec<&Value> = answer["context"].as_object().unwrap().values().collect();
            assert!((sum(&places) - 1.0).abs() < 1e-9, "{answer}");
            for name in answer["names"].as_array().unwrap() {
                assert_eq!(keys(name), ["hdi", "name", "p"]);
            }
            assert_eq!(keys(&answer["identity"]), ["faces", "p"]);
        }
        assert!(answers[0]["acquainted"].as_f64().unwrap() > 0.5, "Ann is known by name: {}", answers[0]);
        assert_eq!(answers[0]["names"][0]["name"], "Ann");
    }
    let ran = place.run(&["predict", "seen", "--draws", "draws.ndjson", "--new", "new"]).done();
    assert_eq!(ran.out.lines().count(), 6);
    assert!(ran.out.starts_with("0: acquainted "), "{}", ran.out);
}

#[test]
fn a_seed_repeats_bytes_whatever_the_threads() {
    let place = Place::new();
    let fit = |name: &str, more: &[&str]| {
        place.fit(name, more).done();
        fs::read(place.path(name)).unwrap()
    };
    let first = fit("first", &["--threads", "1"]);
    assert_eq!(first, fit("again", &["--threads", "1"]));
    assert_eq!(first, fit("two", &["--threads", "2"]));
    assert_eq!(first, fit("two-again", &["--threads", "2"]));
    assert_eq!(first, fit("as-many-as-cores", &[]));
    assert_ne!(first, fit("another-seed", &["--seed", "2"]));
    let ask = |threads| {
        let ask = ["predict", "seen", "--draws", "first", "--new", "new", "--json", "--threads", threads];
        place.run(&ask).done().out
    };
    assert_eq!(ask("1"), ask("2"));
}

#[test]
fn starts_are_dealt_and_few_sweeps_are_enough() {
    let place = Place::new();
    place.fit("draws.ndjson", &["--start", "together,apart"]).done();
    let ran = place.run(&["fit", "seen", "--draws", "few.ndjson", "--sweeps", "50"]).done();
    assert!(ran.err.starts_with("few.ndjson: 32 draws of 8 chains\n"), "{}", ran.err);
    let ran = place.fit("x", &["--start", "together,sideways"]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("\"sideways\""), "{}", ran.err);
    let ran = place.run(&["fit", "seen", "--draws", "x", "--sweeps", "20", "--burn-in", "20"]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("keeps no draw") && ran.err.lines().count() == 1, "{}", ran.err);
}

/// One line that says all of these, status 2, nothing on stdout.
fn assert_refused(what: &str, ran: &Ran, said: &[&str]) {
    assert_eq!(ran.status, 2, "{what}: {}", ran.err);
    assert_eq!(ran.out, "", "{what}");
    assert_eq!(ran.err.lines().count(), 1, "{what}: {}", ran.err);
    assert!(ran.err.starts_with("kith: "), "{what}: {}", ran.err);
    for text in said {
        assert!(ran.err.contains(text), "{what}: {:?} does not say {text:?}", ran.err);
    }
    assert!(ran.err.matches("os error").count() < 2, "{what}: a cause is said once: {}", ran.err);
}

#[test]
fn bad_datasets_are_refused_in_one_line_and_leave_no_draws() {
    let place = Place::new();
    let two = npy("<f4", "False", "(2, 2)", &floats(&[0.0, 1.0, 2.0, 3.0]));
    let nan = npy("<f4", "False", "(2, 2)", &floats(&[0.0, 1.0, f32::NAN, 3.0]));
    let infinite = npy("<f4", "False", "(2, 2)", &floats(&[0.0, 1.0, 2.0, f32::INFINITY]));
    let faces = "face,frame,context\na,1,home\nb,2,work\n";
    type Case<'a> = (&'a str, &'a [u8], &'a str, &'a [&'a str]);
    let integers = npy("<i4", "False", "(2, 2)", &[0; 16]);
    let fortran = npy("<f4", "True", "(2, 2)", &[0; 16]);
    let flat = npy("<f4", "False", "(4,)", &[0; 16]);
    let nobody = npy("<f4", "False", "(0, 2)", &[]);
    let cases: [Case<'_>; 13] = [
        ("nan", &nan, faces, &["nan/embeddings.npy", "row 1", "column 0", "NaN"]),
        ("infinite", &infinite, faces, &["infinite/embeddings.npy", "row 1", "column 1", "inf"]),
        ("cut", &two[..two.len() - 3], faces, &["cut/embeddings.npy"]),
        ("integers", &integers, faces, &["integers/embeddings.npy", "i4"]),
        ("fortran", &fortran, faces, &["fortran/embeddings.npy"]),
        ("flat", &flat, faces, &["flat/embeddings.npy", "(4,)"]),
        ("nobody", &nobody, "face\n", &["nobody/embeddings.npy"]),
        ("no-array", b"", faces, &["no-array/embeddings.npy"]),
        ("rows", &two, "face\na\n", &["rows/faces.csv", "1 rows", "2"]),
        ("ragged", &two, "face,name\na,x\nb\n", &["ragged/faces.csv", "3"]),
        ("repeated", &two, "face\na\na\n", &["repeated/faces.csv", "\"a\""]),
        (
            "contexts",
            &two,
            "frame,context\n1,home\n1,work\n",
            &["contexts/faces.csv", "\"home\"", "\"work\""],
        ),
        ("time", &two, "time\nnoon\n1\n", &["time/faces.csv", "\"noon\""]),
    ];
    for (name, embeddings, faces, said) in cases {
        place.write(&format!("{name}/embeddings.npy"), embeddings);
        place.write(&format!("{name}/faces.csv"), faces);
        let ran = place.run(&["fit", name, "--draws", "refused.ndjson"]);
        assert_refused(name, &ran, said);
    }
    place.write("only/embeddings.npy", &two);
    place.write("note.txt", "hello");
    let others: [(&str, &[&str]); 4] = [
        ("nowhere", &["nowhere", "nothing there"]),
        ("only", &["only/faces.csv"]),
        ("note.txt", &["note.txt", "wanted a dataset"]),
        ("seen/faces.csv", &["seen/faces.csv", "hint: give the folder"]),
    ];
    for (name, said) in others {
        let ran = place.run(&["fit", name, "--draws", "refused.ndjson"]);
        assert_refused(name, &ran, said);
    }
    assert!(!place.path("refused.ndjson").exists() && !place.path("refused.ndjson.partial").exists());
}

#[test]
fn bad_settings_are_refused_in_one_line_and_an_older_file_survives() {
    let place = Place::new();
    place.write("draws.ndjson", "an older file");
    let models: [(&str, &[&str]); 6] = [
        ("[face]\nkapa = 1\n", &["m.toml", "face.kapa", "unknown key"]),
        ("[faces]\n", &["m.toml", "faces"]),
        ("[face\n", &["m.toml", "line 1"]),
        ("[identity]\nglobal_concentration = -1\n", &["m.toml", "identity.global_concentration", "-1"]),
        ("[face]\nmean = [0.0]\nkappa = 1\nshape = 2\nrate = 1\n", &["m.toml", "face.mean", "4"]),
        ("[identity]\nlocal_concentration = {home = 1.0}\n", &["m.toml", "local_concentration", "\"work\""]),
    ];
    for (text, said) in models {
        place.write("m.toml", text);
        assert_refused(text, &place.fit("draws.ndjson", &["--model", "m.toml"]), said);
    }
    let missing = place.fit("draws.ndjson", &["--model", "none.toml"]);
    assert_refused("no settings", &missing, &["none.toml: cannot be read"]);

    place.write("thin/embeddings.npy", npy("<f4", "False", "(2, 2)", &floats(&[0.0, 1.0, 2.0, 3.0])));
    place.write("thin/faces.csv", "truth\nAnn\nBen\n");
    let background = place.fit("draws.ndjson", &["--background", "thin"]);
    assert_refused("another dimension", &background, &["thin: found dimension 2, wanted 4"]);
    place.write("few/embeddings.npy", npy("<f4", "False", "(2, 4)", &floats(&[0.0; 8])));
    place.write("few/faces.csv", "truth\nAnn\nBen\n");
    let background = place.fit("draws.ndjson", &["--background", "few"]);
    assert_refused("nobody twice", &background, &["few: found fewer than two people"]);

    assert_eq!(fs::read_to_string(place.path("draws.ndjson")).unwrap(), "an older file");
    assert!(!place.path("draws.ndjson.partial").exists());
    place.fit("draws.ndjson", &[]).done();
    assert_eq!(place.lines("draws.ndjson").len(), 13, "a fit that is done replaces it");
}

#[test]
fn draws_go_nowhere_that_is_no_place_for_them() {
    let place = Place::new();
    let before = fs::read(place.path("seen/faces.csv")).unwrap();
    assert_refused("no folder", &place.fit("none/x.ndjson", &[]), &["none/x.ndjson: cannot be created"]);
    assert_refused("a folder", &place.fit("seen", &[]), &["seen: found a folder"]);
    assert_refused(
        "the data",
        &place.fit("seen/faces.csv", &[]),
        &["seen/faces.csv: found a file that the fit reads"],
    );
    assert_eq!(fs::read(place.path("seen/faces.csv")).unwrap(), before);
}

#[test]
fn draws_that_do_not_fit_are_refused() {
    let place = Place::new();
    place.fit("draws.ndjson", &[]).done();
    let text = fs::read_to_string(place.path("draws.ndjson")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    place.write("empty", "");
    place.write("header", format!("{}\n", lines[0]));
    place.write("cut", &text[..text.len() - 40]);
    place.write("other", "hello\n");
    place.write("thin/embeddings.npy", npy("<f4", "False", "(1, 2)", &floats(&[0.0, 1.0])));
    place.write("thin/faces.csv", "face\na\n");
    let ask =
        |seen: &str, draws: &str, new: &str| place.run(&["predict", seen, "--draws", draws, "--new", new]);
    assert_refused("none", &ask("seen", "none", "new"), &["none: cannot be read"]);
    assert_refused("empty", &ask("seen", "empty", "new"), &["empty line 1"]);
    assert_refused("header alone", &ask("seen", "header", "new"), &["header line 2", "no draw"]);
    assert_refused("cut", &ask("seen", "cut", "new"), &["cut line 13"]);
    assert_refused("something else", &ask("seen", "other", "new"), &["other line 1"]);
    assert_refused(
        "another dataset",
        &ask("new", "draws.ndjson", "new"),
        &["draws.ndjson line 1", "16 faces"],
    );
    assert_refused(
        "another dimension",
        &ask("seen", "draws.ndjson", "thin"),
        &["thin: found dimension 2, wanted 4"],
    );
}

#[test]
fn odd_data_are_learnt_from() {
    let place = Place::new();
    let d1: Vec<f32> = (0..9).map(|n| (n % 3) as f32 + 0.01 * n as f32).collect();
    let cases: [(&str, Vec<u8>, usize); 5] = [
        ("one face", npy("<f4", "False", "(1, 2)", &floats(&[1.0, 2.0])), 1),
        ("equal faces", npy("<f4", "False", "(2, 2)", &floats(&[1.0, 2.0, 1.0, 2.0])), 2),
        ("huge", npy("<f4", "False", "(2, 2)", &floats(&[3e38, -3e38, 3e38, 3e38])), 2),
        ("tiny", npy("<f4", "False", "(2, 2)", &floats(&[1e-40, 0.0, 0.0, 1e-40])), 2),
        ("one dimension", npy("<f4", "False", "(9, 1)", &floats(&d1)), 9),
    ];
    for (name, embeddings, n_faces) in cases {
        place.write(&format!("{name}/embeddings.npy"), embeddings);
        let faces: String = (0..n_faces).map(|face| format!("{face}\n")).collect();
        place.write(&format!("{name}/faces.csv"), format!("face\n{faces}"));
        let fit = ["fit", name, "--draws", "draws", "--chains", "2", "--sweeps", "50", "--json"];
        let ran = place.run(&fit).done();
        let summary: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(summary["n_faces"], n_faces, "{name}");
        let ran = place.run(&["predict", name, "--draws", "draws", "--new", name, "--json"]).done();
        for line in ran.out.lines() {
            let answer: Value = serde_json::from_str(line).unwrap();
            let stranger = answer["stranger"].as_f64();
            assert!(stranger.is_some_and(|p| (0.0..=1.0).contains(&p)), "{name}: {line}");
        }
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let place = Place::new();
    place.fit("draws.ndjson", &[]).done();
    let runs: [&[&str]; 3] = [
        &["fit", "seen", "--draws", "other.ndjson", "--sweeps", "50", "--json"],
        &["predict", "seen", "--draws", "draws.ndjson", "--new", "new"],
        &["help"],
    ];
    for arguments in runs {
        let mut child =
            place.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let ran = Ran::of(output);
        assert_eq!(ran.status, 0, "{arguments:?}: {}", ran.err);
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
    }
    // Nor is one of stderr.
    let mut child = place
        .command(&["fit", "seen", "--draws", "third.ndjson", "--sweeps", "50"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(place.path("third.ndjson").exists());
}

#[cfg(unix)]
mod interrupted {
    use super::*;
    use std::time::{Duration, Instant};

    /// Starts a fit that would take days, waits until its file is so far, and presses Ctrl-C.
    fn interrupt(place: &Place, more: &[&str], is_far_enough: impl Fn(&Path) -> bool) -> Ran {
        let fit = ["fit", "seen", "--draws", "draws.ndjson", "--chains", "2", "--sweeps", "100000000"];
        let mut command = place.command(&[&fit[..], more].concat());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let patience = Instant::now();
        while !is_far_enough(&place.path("draws.ndjson.partial")) {
            assert!(patience.elapsed() < Duration::from_secs(120), "the fit does not get on");
            std::thread::sleep(Duration::from_millis(20));
        }
        let pressed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(pressed.success());
        Ran::of(child.wait_with_output().unwrap())
    }

    #[test]
    fn complete_draws_are_left() {
        let place = Place::new();
        let has_draws = |path: &Path| fs::read_to_string(path).is_ok_and(|text| text.lines().count() > 3);
        let ran = interrupt(&place, &["--thin", "500", "--burn-in", "500"], has_draws);
        assert_eq!(ran.status, 1, "{}", ran.err);
        assert!(ran.err.starts_with("interrupted: draws.ndjson has the "), "{}", ran.err);
        assert!(ran.err.contains("all complete"), "{}", ran.err);
        assert!(place.lines("draws.ndjson").len() > 2);
        assert!(!place.path("draws.ndjson.partial").exists());
        place.run(&["predict", "seen", "--draws", "draws.ndjson", "--new", "new"]).done();
    }

    #[test]
    fn before_the_first_draw_there_is_no_file() {
        let place = Place::new();
        let ran = interrupt(&place, &["--burn-in", "99999999", "--thin", "1"], Path::exists);
        assert_eq!(ran.status, 1, "{}", ran.err);
        assert!(ran.err.contains("no draws were written"), "{}", ran.err);
        assert!(!place.path("draws.ndjson").exists() && !place.path("draws.ndjson.partial").exists());
    }
}

#[test]
fn help_lists_the_verbs_in_the_order_a_person_needs_them() {
    let place = Place::new();
    let ran = place.run(&["help"]).done();
    let places: Vec<usize> = ["\n  demo ", "\n  fit ", "\n  predict ", "\n  help "]
        .iter()
        .map(|verb| ran.out.find(verb).unwrap_or_else(|| panic!("no {verb:?} in {}", ran.out)))
        .collect();
    assert!(places.is_sorted(), "{}", ran.out);
    assert_eq!(place.run(&["frobnicate"]).status, 2);
    assert_eq!(place.run(&["fit", "seen"]).status, 2);
}

#[test]
fn the_demo_tells_its_day_and_writes_nothing_unless_asked() {
    let place = Place::new();
    let files = || fs::read_dir(place.folder.path()).unwrap().count();
    let before = files();
    let ran = place.run(&["demo", "--days", "1"]).done();
    assert_eq!(ran.err, "");
    assert_eq!(files(), before);
    let sections = [
        "A DAY WITH KITH",
        "FROM THE DIARY",
        "WHO YOU MET",
        "STRANGERS",
        "WHERE ARE YOU?",
        "A WRONG NAME",
        "HOW SURE IS SURE?",
        "DAY BY DAY",
    ];
    let titles: Vec<&str> = ran.out.lines().filter(|line| line.starts_with(char::is_uppercase)).collect();
    for (title, section) in titles.iter().zip(sections) {
        assert!(title.starts_with(section), "{title:?}, wanted {section:?}");
    }
    assert_eq!(titles.len(), sections.len() + 1, "{titles:?}");
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80), "{}", ran.out);
    assert!(ran.out.ends_with("kith demo --report week.html\n"), "{}", ran.out);

    let again = place.run(&["demo", "--days", "1", "--report", "day.html"]).done();
    let told = |out: &str| out.rsplit_once("\n\n").unwrap().0.to_owned();
    assert_eq!(told(&ran.out), told(&again.out), "the same seed tells the same day");
    assert!(again.out.ends_with("pictures: day.html\n"), "{}", again.out);
    let page = fs::read_to_string(place.path("day.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("<svg"));
    assert!(!page.contains("http"), "the page needs nothing from elsewhere");

    assert_refused("no folder", &place.run(&["demo", "--report", "none/day.html"]), &["none/day.html"]);
}

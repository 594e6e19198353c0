//! The program as a person runs it: files in, files and text out, exit statuses.

use std::fs;
use std::process::Stdio;

use crate::common::encounters::assert_refused;
use crate::common::{Place, Ran};
use serde_json::Value;

fn keys(object: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn a_fit_writes_a_header_and_complete_draws() {
    let place = Place::with_encounters();
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
    let place = Place::with_encounters();
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
    let place = Place::with_encounters();
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
    let place = Place::with_encounters();
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
    let place = Place::with_encounters();
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

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let place = Place::with_encounters();
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
    use std::path::Path;
    use std::process::Command;
    use std::time::{Duration, Instant};

    /// Starts a fit that would take days, waits until its file is so far, and presses Ctrl-C.
    fn interrupt(place: &Place, more: &[&str], is_far_enough: impl Fn(&Path) -> bool) -> Ran {
        let fit = ["fit", "seen", "--draws", "draws.ndjson", "--chains", "2", "--sweeps", "100000000"];
        let mut command = place.command(&[&fit[..], more].concat());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let patience = Instant::now();
        while !place.partial_of("draws.ndjson").is_some_and(|partial| is_far_enough(&partial)) {
            assert!(patience.elapsed() < Duration::from_secs(120), "the fit does not get on");
            std::thread::sleep(Duration::from_millis(20));
        }
        let pressed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(pressed.success());
        Ran::of(child.wait_with_output().unwrap())
    }

    #[test]
    fn complete_draws_are_left() {
        let place = Place::with_encounters();
        let has_draws = |path: &Path| fs::read_to_string(path).is_ok_and(|text| text.lines().count() > 3);
        let ran = interrupt(&place, &["--thin", "500", "--burn-in", "500"], has_draws);
        assert_eq!(ran.status, 1, "{}", ran.err);
        assert!(ran.err.starts_with("interrupted: draws.ndjson has the "), "{}", ran.err);
        assert!(ran.err.contains("all complete"), "{}", ran.err);
        assert!(place.lines("draws.ndjson").len() > 2);
        assert_eq!(place.partial_of("draws.ndjson"), None);
        place.run(&["predict", "seen", "--draws", "draws.ndjson", "--new", "new"]).done();
    }

    #[test]
    fn before_the_first_draw_there_is_no_file() {
        let place = Place::with_encounters();
        let ran = interrupt(&place, &["--burn-in", "99999999", "--thin", "1"], Path::exists);
        assert_eq!(ran.status, 1, "{}", ran.err);
        assert!(ran.err.contains("no draws were written"), "{}", ran.err);
        assert!(!place.path("draws.ndjson").exists());
        assert_eq!(place.partial_of("draws.ndjson"), None);
    }
}

#[test]
fn help_lists_the_verbs_in_the_order_a_person_needs_them() {
    let place = Place::with_encounters();
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
fn shells_and_man_are_told_every_verb() {
    let place = Place::empty();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = place.run(&["completions", shell]).done().out;
        for part in ["kith", "predict", "forget", "burn-in"] {
            assert!(script.contains(part), "no {part} for {shell}");
        }
    }
    assert_eq!(place.run(&["completions", "cmd"]).status, 2);
    place.run(&["man", "pages/man1"]).done();
    let page = |name: &str| fs::read_to_string(place.path("pages/man1").join(name)).unwrap();
    assert!(page("kith.1").contains("kith\\-who"), "the page of the program names its verbs");
    assert!(page("kith-who.1").contains("\\-\\-face"));
    fs::write(place.path("file"), "").unwrap();
    place.run(&["man", "file"]).refused(&["file: cannot be made"]);
}

#[test]
fn the_demo_tells_its_day_and_writes_nothing_unless_asked() {
    let place = Place::with_encounters();
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

//! The laboratory in miniature: all three experiments on made-up people, their files, and going on after a
//! stop.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

fn kith(folder: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kith"));
    command.current_dir(folder.path()).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn done(output: Output) -> (String, String) {
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(output.status.code(), Some(0), "{err}");
    (out, err)
}

/// A folder with a gallery of 12 people, 40 photos each, in six dimensions.
fn gallery() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let people = ["simulate", "--kind", "gallery", "--people", "12", "--dimension", "6", "--spread", "20"];
    let (_, err) = done(kith(&folder, &[&people[..], &["--out", "people"]].concat()));
    assert_eq!(err, "people: 480 faces of 12 people on 480 frames\n");
    folder
}

fn experiment(folder: &TempDir, which: &str, more: &[&str]) -> (Value, String) {
    let usual = ["experiment", which, "--data", "people", "--out", which, "--json", "--chains", "2"];
    let (out, err) = done(kith(folder, &[&usual[..], more].concat()));
    let file = fs::read_to_string(folder.path().join(which).join("summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(summary, serde_json::from_str::<Value>(&file).unwrap());
    (summary, err)
}

/// Every figure twice, and a page that needs nothing else.
fn check_files(folder: &Path, figures: &[&str], tables: &[&str]) {
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert_eq!(page.matches("<svg").count(), figures.len());
    assert!(!page.contains("src=") && !page.contains("href="), "the page needs other files");
    for figure in figures {
        assert!(fs::read_to_string(folder.join(format!("{figure}.svg"))).unwrap().starts_with("<svg"));
        assert!(fs::read(folder.join(format!("{figure}.png"))).unwrap().starts_with(b"\x89PNG"));
    }
    for table in tables {
        let csv = fs::read_to_string(folder.join(format!("{table}.csv"))).unwrap();
        assert!(csv.lines().count() > 1, "{table}");
    }
    serde_json::from_str::<Value>(&fs::read_to_string(folder.join("outcomes.json")).unwrap()).unwrap();
}

/// A mean within its interval, both shares.
fn check_interval(interval: &Value) -> f64 {
    let mean = interval["mean"].as_f64().unwrap();
    let [low, high] = [0, 1].map(|end| interval["hdi"][end].as_f64().unwrap());
    assert!(-1.0 <= low && low <= high && high <= 1.0, "{interval}");
    assert!(low - 1e-9 <= mean && mean <= high + 1e-9, "{interval}");
    mean
}

#[test]
fn unknown_people_are_found_in_miniature() {
    let folder = gallery();
    let short = ["--repeats", "2", "--sweeps", "60", "--face", "isotropic"];
    let (summary, _) = experiment(&folder, "unknown", &short);
    assert_eq!(summary["repeats"], 2);
    let methods = &summary["methods"];
    for model in ["kith", "isotropic"] {
        // People are 20 times as far apart as their photos: hardly anybody is mistaken.
        assert!(check_interval(&methods[model]["auc"]) > 0.95, "{summary}");
        assert!(check_interval(&methods[model]["accuracy"]) > 0.9, "{summary}");
        assert!(methods[model]["brier"].as_f64().unwrap() < 0.1);
        assert!(methods[model]["ece"].as_f64().unwrap() < 0.1);
    }
    for baseline in ["nearest_neighbour", "one_class_svm"] {
        assert!(methods[baseline]["auc"].as_f64().unwrap() > 0.9, "{summary}");
    }
    assert!(methods["one_class_svm"]["gamma"].as_f64().unwrap() > 0.0);
    let tables = ["comparison", "methods", "repeats", "draws", "roc"];
    check_files(&folder.path().join("unknown"), &["roc", "association-isotropic"], &tables);

    // Again, nothing is run; with more repeats, only those.
    let (again, err) = experiment(&folder, "unknown", &short);
    assert_eq!(again, summary);
    assert!(err.starts_with("4 of 4 pieces done before\nunknown: "), "{err}");
    let (_, err) =
        experiment(&folder, "unknown", &["--repeats", "3", "--sweeps", "60", "--face", "isotropic"]);
    assert!(err.starts_with("4 of 6 pieces done before\n5 of 6: repeat-2-baselines in "), "{err}");
    // Another seed is another run.
    let (other, err) = experiment(&folder, "unknown", &[&short[..], &["--seed", "2"]].concat());
    assert!(err.starts_with("1 of 4: "), "{err}");
    assert_ne!(other, summary);
}

#[test]
fn identities_are_discovered_in_miniature() {
    let folder = gallery();
    let short = ["--frames", "60", "--sweeps", "100", "--as-printed"];
    let (summary, _) = experiment(&folder, "discovery", &short);
    let curves = summary["curves"].as_array().unwrap();
    // From random starts, faces moving one at a time, chains are where they are after so few sweeps.
    let least = |model: &str| if model == "printed" { 0.0 } else { 0.8 };
    for model in ["kith", "isotropic", "printed"] {
        for protocol in ["online", "batch", "offline"] {
            for contexts in [true, false] {
                let of: Vec<&Value> = curves
                    .iter()
                    .filter(|c| c["model"] == model && c["protocol"] == protocol && c["contexts"] == contexts)
                    .collect();
                let n_points = if protocol == "online" { 60 } else { 3 };
                assert_eq!(of.len(), n_points, "{model} {protocol} {contexts}");
                assert_eq!(of[n_points - 1]["frame"], 60);
                assert!(check_interval(&of[n_points - 1]["ari"]) > least(model), "{}", of[n_points - 1]);
            }
        }
    }
    let accuracy = summary["context_accuracy"].as_f64().unwrap();
    assert!((0.5..=1.0).contains(&accuracy), "{accuracy}");
    check_files(&folder.path().join("discovery"), &["timeline", "ari"], &["comparison", "ends", "curves"]);
}

#[test]
fn names_spread_in_miniature() {
    let folder = gallery();
    let (summary, _) = experiment(&folder, "naming", &["--sweeps", "40", "--face", "isotropic"]);
    let curves = summary["curves"].as_array().unwrap();
    let accuracy = |method: &str, group: &str, names: u64, wrong: f64| {
        let is = |c: &&Value| {
            c["method"] == method && c["group"] == group && c["names"] == names && c["wrong"] == wrong
        };
        let found: Vec<&Value> = curves.iter().filter(is).collect();
        assert_eq!(found.len(), 1, "{method} {group} {names} {wrong}");
        check_interval(&found[0]["accuracy"])
    };
    for group in ["acquainted", "familiar", "stranger"] {
        for names in [1, 15] {
            assert!(accuracy("kith", group, names, 0.0) > 0.8, "{group} {names}");
        }
    }
    // As in the paper the baselines cannot say "unknown"; given a threshold they can.
    for method in ["nearest_neighbour", "label_propagation"] {
        assert_eq!(accuracy(method, "stranger", 15, 0.0), 0.0);
        assert!(accuracy(&format!("{method}_threshold"), "stranger", 15, 0.0) > 0.5);
    }
    // Wrong names mislead the neighbour more than the model.
    let lost = |method| accuracy(method, "acquainted", 15, 0.0) - accuracy(method, "acquainted", 15, 0.3);
    assert!(lost("kith") < 0.5 * lost("nearest_neighbour"));
    let figures = ["naming", "robustness", "toy"];
    check_files(&folder.path().join("naming"), &figures, &["comparison", "curves"]);
}

#[test]
fn mistakes_are_told_in_one_line() {
    let folder = gallery();
    fs::write(folder.path().join("file"), "").unwrap();
    let few = ["simulate", "--kind", "gallery", "--people", "1", "--out", "one"];
    done(kith(&folder, &few));
    let [unknown, naming] =
        ["unknown", "naming"].map(|which| ["experiment", which, "--out", "out", "--data"]);
    let cases: [(Vec<&str>, &str); 7] = [
        (
            [&unknown[..], &["one"]].concat(),
            "kith: one: found 1 people with 40 photos or more, wanted at least 2\n",
        ),
        (
            [&naming[..], &["one"]].concat(),
            "kith: one: found 1 people with 30 photos or more, wanted at least 6\n",
        ),
        (
            [&unknown[..], &["people", "--frames", "9"]].concat(),
            "kith: --frames is for the discovery alone\n",
        ),
        (
            vec!["experiment", "unknown", "--data", "people", "--out", "file"],
            "kith: file: found a file, wanted a folder for the results\n",
        ),
        (
            [&unknown[..], &["people", "--face", "full", "--model", "none.toml"]].concat(),
            "kith: none.toml: cannot be read",
        ),
        (
            vec!["simulate", "--out", "x", "--named", "2"],
            "kith: --named: found 2, wanted a share from 0 to 1\n",
        ),
        (vec!["simulate", "--out", "people"], "kith: people: "),
    ];
    for (arguments, wanted) in cases {
        let output = kith(&folder, &arguments);
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {err}");
        assert!(err.starts_with(wanted) && err.lines().count() == 1, "{arguments:?}: {err}");
        assert!(!folder.path().join("out").join("summary.json").exists());
    }
}

#[test]
fn simulated_people_have_frames_contexts_names_and_truth() {
    let folder = tempfile::tempdir().unwrap();
    let camera = ["simulate", "--out", "camera", "--people", "9", "--frames", "80", "--named", "0.5"];
    let (_, err) = done(kith(&folder, &[&camera[..], &["--wrong", "0.25", "--seed", "3"]].concat()));
    assert!(err.ends_with("people on 80 frames\n"), "{err}");
    let rows = fs::read_to_string(folder.path().join("camera/faces.csv")).unwrap();
    let rows: Vec<Vec<&str>> = rows.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["face", "frame", "context", "name", "truth"]);
    let named = rows[1..].iter().filter(|row| !row[3].is_empty()).count() as f64;
    let wrong = rows[1..].iter().filter(|row| !row[3].is_empty() && row[3] != row[4]).count() as f64;
    // Four standard errors of a share of n.
    let near = |share: f64, p: f64, n: f64| (share - p).abs() < 4.0 * (p * (1.0 - p) / n).sqrt();
    let n = (rows.len() - 1) as f64;
    assert!(near(named / n, 0.5, n) && near(wrong / named, 0.25, named), "{named} {wrong} of {n}");
    assert!(rows[1..].iter().all(|row| ["home", "work", "gym"].contains(&row[2])));

    // Photos that exist are dealt again; a seed repeats.
    for (out, seed) in [("again", "5"), ("same", "5"), ("other", "6")] {
        let deal = ["simulate", "--data", "camera", "--least", "3", "--frames", "20", "--out", out];
        done(kith(&folder, &[&deal[..], &["--seed", seed]].concat()));
    }
    let read = |name: &str| fs::read(folder.path().join(name).join("faces.csv")).unwrap();
    assert_eq!(read("again"), read("same"));
    assert_ne!(read("again"), read("other"));

    let (_, err) = done(kith(&folder, &["simulate", "--kind", "model", "--frames", "30", "--out", "drawn"]));
    assert!(err.starts_with("drawn: ") && err.ends_with("people on 30 frames\n"), "{err}");
    // Somebody is twice in some frame of so many, whatever is drawn.
    let refused = kith(&folder, &["simulate", "--kind", "model", "--frames", "3000", "--out", "never"]);
    let err = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && err.contains("wanted fewer --frames"), "{err}");
    assert!(!folder.path().join("never").exists());
}

#[cfg(unix)]
#[test]
fn an_interrupted_experiment_keeps_what_is_done() {
    let folder = gallery();
    let run = ["experiment", "unknown", "--data", "people", "--out", "out", "--sweeps", "100000000"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_kith"));
    command.current_dir(folder.path()).args(run).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let has_piece = || {
        let digests = fs::read_dir(folder.path().join("out/pieces")).into_iter().flatten().flatten();
        digests.map(|digest| digest.path().join("repeat-0-baselines.json")).any(|piece| piece.exists())
    };
    let patience = std::time::Instant::now();
    while !has_piece() {
        assert!(patience.elapsed().as_secs() < 120, "the baselines do not get done");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let pressed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(pressed.success());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.ends_with("interrupted: out keeps what is done; the same command goes on\n"), "{err}");
    assert!(has_piece() && !folder.path().join("out/summary.json").exists());
}

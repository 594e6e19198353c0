//! `kith bench` in miniature: the figures that programs read, and answers that are right.

use crate::common::Place;

#[test]
fn a_sweep_is_measured_against_a_product() {
    let place = Place::new();
    let small = ["bench", "sweep", "--faces", "600", "--identities", "20", "--dim", "24", "--spread", "3"];
    let found = place.run(&[&small[..], &["--json"]].concat()).done().object();
    for (key, wanted) in [("faces", 600), ("identities", 20), ("dimension", 24), ("threads", 1)] {
        assert_eq!(found[key], wanted, "{found}");
    }
    for key in ["seconds_per_sweep", "faces_per_second", "product_seconds", "ratio"] {
        assert!(found[key].as_f64().unwrap() > 0.0, "{found}");
    }
    assert!(found["ari"].as_f64().unwrap() > 0.99, "{found}");
    let is_linux = cfg!(target_os = "linux");
    assert_eq!(found["peak_bytes"].as_u64().is_some(), is_linux, "{found}");
    assert!(found.get("scaling").is_none());

    let two =
        place.run(&[&small[..], &["--json", "--threads", "2", "--chains", "4"]].concat()).done().object();
    assert_eq!(two["chains"], 4);
    assert!(two["scaling"].as_f64().unwrap() > 0.0, "{two}");
    assert!(two["ari"].as_f64().unwrap() > 0.99, "{two}");

    let full = place.run(&[&small[..], &["--json", "--face", "full"]].concat()).done().object();
    assert!(full["ari"].as_f64().unwrap() > 0.98, "{full}");

    let text = place.run(&small).done().out;
    assert!(text.contains("products a sweep") && text.contains("600 faces of 20 people"), "{text}");
}

#[test]
fn chains_that_cannot_be_dealt_evenly_are_refused() {
    let place = Place::new();
    place.run(&["bench", "sweep", "--threads", "2", "--chains", "3"]).refused(&["--chains", "3", "2"]);
    place
        .run(&["bench", "sweep", "--faces", "5", "--identities", "6"])
        .refused(&["found 6 people and 5 faces"]);
}

#[test]
fn answers_are_timed_and_agree_with_the_slow_path() {
    let place = Place::new();
    let options = ["--faces", "400", "--identities", "40", "--dim", "24", "--draws", "12", "--queries", "50"];
    let command = [&["bench", "predict", "--json", "--spread", "3"][..], &options].concat();
    let found = place.run(&command).done().object();
    let (p50, p99) = (found["p50_ms"].as_f64().unwrap(), found["p99_ms"].as_f64().unwrap());
    assert!(0.0 < p50 && p50 <= p99, "{found}");
    assert_eq!(found["draws"], 12);
    assert!(found["right"].as_f64().unwrap() > 0.9, "{found}");
    assert!(found["off_slow_path"].as_f64().unwrap() < 1e-9, "{found}");
}

#[test]
fn a_stream_is_absorbed_about_as_well_as_all_at_once() {
    let place = Place::new();
    let options = ["--frames", "600", "--identities", "12", "--dim", "24", "--chains", "2", "--spread", "3"];
    let found = place.run(&[&["bench", "stream", "--json"][..], &options].concat()).done().object();
    for key in ["first_ms", "last_ms", "ratio"] {
        assert!(found[key].as_f64().unwrap() > 0.0, "{found}");
    }
    assert!(found["ari"].as_f64().unwrap() > 0.99, "{found}");
    assert!(found["offline_ari"].as_f64().unwrap() > 0.99, "{found}");
}

#[test]
fn a_library_is_made_learnt_and_asked() {
    let place = Place::new();
    let options = ["--faces", "300", "--identities", "12", "--dim", "40", "--spread", "3"];
    let run = place.run(&[&["bench", "library", "--json"][..], &options].concat()).done();
    let found = run.object();
    for key in [
        "add_seconds",
        "first_people_seconds",
        "learn_seconds",
        "people_seconds",
        "who_seconds",
        "who_new_seconds",
        "ask_seconds",
        "statement_seconds",
        "watch_start_seconds",
        "watch_seconds",
        "file_bytes",
    ] {
        assert!(found[key].as_f64().unwrap() > 0.0, "{key}: {found}");
    }
    let [first, learnt] = ["first_people_seconds", "learn_seconds"].map(|key| found[key].as_f64().unwrap());
    assert!(first <= learnt, "{found}");
    assert!(found["ari"].as_f64().unwrap() > 0.98, "{found}");
}

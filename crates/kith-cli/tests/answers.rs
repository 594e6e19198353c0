//! One law, one answer: whichever verb is asked, the same draws say the same of the same faces, in the same
//! form.

use crate::common::{Place, faces_of, photos, stream};
use serde_json::Value;

const SHARES: [&str; 3] = ["acquainted", "familiar", "stranger"];

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// What every answer keeps to: three shares that sum to one, names that do, and intervals that hold what they
/// are of.
fn assert_sound(answer: &Value) {
    let share = |p: &Value| {
        assert!((0.0..=1.0).contains(&number(p)), "{answer}");
        number(p)
    };
    let total: f64 = SHARES.iter().map(|key| share(&answer[key])).sum();
    assert!((total - 1.0).abs() < 1e-9, "{answer}");
    let names = answer["names"].as_array().unwrap();
    for name in names {
        let [low, high] = [0, 1].map(|end| share(&name["hdi"][end]));
        assert!(
            name["name"].is_string() && low <= share(&name["p"]) && number(&name["p"]) <= high,
            "{answer}"
        );
    }
    let named: f64 = names.iter().map(|name| number(&name["p"])).sum();
    assert!((named + share(&answer["unknown_name"]) - 1.0).abs() < 1e-9, "{answer}");
    let who = if answer["person"].is_null() { &answer["identity"] } else { &answer["person"] };
    share(&who["p"]);
}

fn assert_same(a: &Value, b: &Value, what: &str) {
    let near = |x: &Value, y: &Value| assert!((number(x) - number(y)).abs() < 1e-6, "{what}: {a}\n{b}");
    assert_eq!(a["face"], b["face"]);
    SHARES.iter().for_each(|key| near(&a[key], &b[key]));
    near(&a["unknown_name"], &b["unknown_name"]);
    let names = b["names"].as_array().unwrap();
    assert_eq!(a["names"].as_array().unwrap().len(), names.len(), "{what}: {a}\n{b}");
    for name in a["names"].as_array().unwrap() {
        let same = names.iter().find(|other| other["name"] == name["name"]).unwrap();
        near(&name["p"], &same["p"]);
        [0, 1].iter().for_each(|&end| near(&name["hdi"][end], &same["hdi"][end]));
    }
}

#[test]
fn predict_on_exported_draws_and_who_say_the_same_of_new_photos() {
    let models = [
        ("contexts", ""),
        ("one context", "[context]\nmode = \"none\"\n"),
        ("one context, expected", "[context]\nmode = \"none\"\n[identity]\nstrangers = \"expected\"\n"),
        ("contexts, expected", "[identity]\nstrangers = \"expected\"\n"),
    ];
    for (what, model) in models {
        let place = Place::new();
        place.dataset("today", &photos(7, 11, "new"));
        std::fs::write(place.path("model.toml"), model).unwrap();
        place.run(&["add", "lib", "photos"]).done();
        place.run(&["name", "lib", &faces_of("Ann")[0], "Ann"]).done();
        place.run(&["name", "lib", &faces_of("Ben")[0], "Ben"]).done();
        place.run(&["learn", "lib", "--sweeps", "20", "--model", "model.toml"]).done();
        // A name after learning: the draws go on from where they were.
        place.run(&["name", "lib", &faces_of("Cy")[1], "Cy"]).done();
        place.run(&["export", "lib", "dataset", "--out", "exported"]).done();
        place.run(&["export", "lib", "draws", "--out", "draws.ndjson"]).done();
        let predict = ["predict", "exported", "--draws", "draws.ndjson", "--new", "today", "--json"];
        let predicted = place.run(&predict).done().objects();
        let asked = place.run(&["who", "lib", "today", "--json", "--top", "9"]).done().objects();
        assert_eq!((predicted.len(), asked.len()), (14, 14));
        for (predicted, asked) in predicted.iter().zip(&asked) {
            assert_sound(predicted);
            assert_sound(asked);
            assert_same(predicted, asked, what);
        }
        assert!(asked.iter().any(|answer| number(&answer["acquainted"]) > 0.8), "{what}");
    }
}

#[test]
fn a_face_of_the_library_and_one_of_a_stream_are_answered_in_the_same_form() {
    let place = Place::new();
    place.learnt();
    let ann = faces_of("Ann");
    place.run(&["name", "lib", &ann[0], "Ann"]).done();
    for person in ["Ann", "Dot"] {
        for face in &faces_of(person)[..3] {
            let who = place.run(&["who", "lib", "--face", face, "--json"]).done().object();
            assert_sound(&who);
            let p = number(&who["names"][0]["p"]);
            assert_eq!(p > 0.5, person == "Ann", "{who}");
            let why = who["why"].as_array().unwrap();
            assert!((number(&why[0]["p"]) - number(&who["person"]["p"])).abs() < 1e-9, "{who}");
        }
    }
    // Asking changes nothing: the same question twice has the same answer, and so have the draws.
    let before = std::fs::read(place.path("lib")).unwrap();
    let twice = [0, 1].map(|_| place.run(&["who", "lib", "--face", &ann[3], "--json"]).done().out);
    assert_eq!(twice[0], twice[1]);
    assert_eq!(std::fs::read(place.path("lib")).unwrap(), before);

    let lines = place.fed(&["watch", "lib"], &stream(&[0, 3], 21, "s")).done().objects();
    for (line, is_ann) in lines.iter().zip([true, false]) {
        let answer = &line["faces"][0];
        assert_sound(answer);
        assert_eq!(number(&answer["acquainted"]) > 0.5, is_ann, "{answer}");
        // Whose face it is now was said when it came.
        let key = answer["face"].as_str().unwrap();
        let who = place.run(&["who", "lib", "--face", key, "--json"]).done().object();
        assert_eq!(who["person"]["id"], answer["person"]["id"]);
        assert!((number(&who["stranger"]) - number(&answer["stranger"])).abs() < 0.1, "{who}\n{answer}");
    }
}

#[test]
fn whoever_is_on_the_first_frame_of_a_stream_is_new() {
    let place = Place::empty();
    let lines = place.fed(&["watch", "lib"], &stream(&[0, 0, 1], 5, "s")).done().objects();
    let new: Vec<bool> =
        lines.iter().map(|line| line["faces"][0]["person"]["new"].as_bool().unwrap()).collect();
    assert_eq!(new, [true, false, true]);
}

#[test]
fn a_line_of_a_stream_says_one_thing_and_names_each_face_once() {
    let place = Place::empty();
    let face = r#"{"face":"a","embedding":[1.0,2.0]}"#;
    let lines = [
        format!(r#"{{"frame":"f","faces":[{face},{face}]}}"#),
        format!(r#"{{"frame":"f","faces":[{face}]}}"#),
        r#"{"name":"Ann","not":"Ben","face":"a"}"#.to_owned(),
    ];
    let answers = place.fed(&["watch", "lib"], &lines).done().objects();
    assert!(answers[0]["error"].as_str().unwrap().contains("\"a\" twice"), "{}", answers[0]);
    assert_sound(&answers[1]["faces"][0]);
    assert!(answers[2]["error"].as_str().unwrap().contains("several things"), "{}", answers[2]);
    assert_eq!(place.run(&["check", "lib", "--json"]).done().object()["evidence"], 0);
}

//! Numbers of any size: no panic, no missing probability, and no certainty that is wrong.

use std::collections::BTreeMap;

use kith::random::driver;
use serde_json::{Value, json};

use crate::common::{Place, Ran};

/// What is done to which rows of a dataset.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Which {
    One,
    Five,
    Half,
    All,
    /// All rows become one and the same.
    Constant,
    /// One number of one row.
    Cell,
}

const ALL: [Which; 6] = [Which::One, Which::Five, Which::Half, Which::All, Which::Constant, Which::Cell];

struct Made {
    rows: Vec<Vec<f64>>,
    truth: Vec<usize>,
    /// Rows whose looks were left as they are, if in other units.
    is_plain: Vec<bool>,
}

/// Ten photos each of some people, some rows times a factor.
fn made(n_people: usize, dimension: usize, which: Which, times: f64) -> Made {
    let mut rng = driver(7);
    let (mut rows, mut truth): (Vec<Vec<f64>>, Vec<usize>) = Default::default();
    let looks: Vec<Vec<f64>> =
        (0..n_people).map(|_| (0..dimension).map(|_| rng.normal()).collect()).collect();
    for photo in 0..10 * n_people {
        truth.push(photo % n_people);
        rows.push(looks[photo % n_people].iter().map(|x| x + 0.3 * rng.normal()).collect());
    }
    let n = rows.len();
    let mut is_plain = vec![true; n];
    for row in 0..n {
        let is_changed = match which {
            Which::One | Which::Cell => row == 11,
            Which::Five => [3, 14, 25, 36, 47].contains(&row),
            Which::Half => row % 2 == 0,
            Which::All | Which::Constant => true,
        };
        if which == Which::Constant {
            rows[row] = rows[0].clone();
        }
        if is_changed {
            // All of one look, with one number of another size or with none left have no truth; in other
            // units they have.
            is_plain[row] = times > 1e-36 && !matches!(which, Which::Constant | Which::Cell);
            let n_cells = if which == Which::Cell { 1 } else { dimension };
            rows[row][..n_cells].iter_mut().for_each(|x| *x *= times);
        }
    }
    Made { rows, truth, is_plain }
}

impl Made {
    fn write(&self, place: &Place, name: &str, prefix: &str) {
        let (n, d) = (self.rows.len(), self.rows[0].len());
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({n}, {d}), }}");
        let header = format!("{header:<117}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(self.rows.iter().flatten().flat_map(|value| value.to_le_bytes()));
        place.write(&format!("{name}/embeddings.npy"), bytes);
        let lines: String = (0..n).map(|row| format!("{prefix}{row},{}\n", self.truth[row])).collect();
        place.write(&format!("{name}/faces.csv"), format!("face,truth\n{lines}"));
    }

    /// Faces whose looks were left as they are that are called somebody's with certainty, and are not of that
    /// person.
    fn n_wrong(&self, people: &[Value]) -> usize {
        let mut n_wrong = 0;
        for person in people {
            let faces = person["faces"].as_array().unwrap();
            let sure = faces.iter().filter(|face| face["p"].as_f64().unwrap() >= 0.99);
            let rows = sure.map(|face| face["face"].as_str().unwrap()[1..].parse::<usize>().unwrap());
            let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
            rows.filter(|&row| self.is_plain[row])
                .for_each(|row| *counts.entry(self.truth[row]).or_default() += 1);
            n_wrong += counts.values().sum::<usize>() - counts.values().max().unwrap_or(&0);
        }
        n_wrong
    }
}

/// Whether everything that is a number is one, however deep, and every probability is one.
fn has_numbers(value: &Value) -> bool {
    let is_share = |value: &Value| value.as_f64().is_some_and(|p| (0.0..=1.0).contains(&p));
    let is_number = |key: &str, value: &Value| match key {
        "stranger" | "familiar" | "acquainted" | "unknown_name" | "p" => is_share(value),
        "context" => value.as_object().is_none_or(|shares| shares.values().all(is_share)),
        "gain" => value.is_number(),
        "hdi" => value.as_array().is_some_and(|pair| pair.iter().all(Value::is_number)),
        _ => has_numbers(value),
    };
    match value {
        Value::Object(object) => object.iter().all(|(key, value)| is_number(key, value)),
        Value::Array(list) => list.iter().all(has_numbers),
        _ => true,
    }
}

/// It ended well or was refused in one line that says of whom, and whatever it said has all its numbers.
fn is_told(what: &str, ran: &Ran) -> bool {
    assert!([0, 1, 2].contains(&ran.status), "{what}: {} {}", ran.status, ran.err);
    assert!(!ran.err.contains("panicked"), "{what}: {}", ran.err);
    for line in ran.out.lines().filter(|line| line.starts_with('{')) {
        let object: Value = serde_json::from_str(line).unwrap();
        assert!(has_numbers(&object), "{what}: {line}");
    }
    if ran.status == 2 {
        assert_eq!(ran.err.lines().count(), 1, "{what}: {}", ran.err);
        let names = ["(face ", "face f", "row", "wanted"];
        assert!(names.iter().any(|name| ran.err.contains(name)), "{what}: {}", ran.err);
    }
    ran.status != 2
}

/// All verbs over one dataset; how many runs that were, and how many of them were refused.
fn live(made: &Made, what: &str) -> (usize, usize) {
    let place = Place::empty();
    made.write(&place, "data", "f");
    let plain = self::made(made.rows.len() / 10, made.rows[0].len(), Which::One, 1.0);
    plain.write(&place, "plain", "n");
    let (mut n, mut n_refused) = (0, 0);
    let mut run = |arguments: &[&str]| {
        let ran = place.run(arguments);
        n += 1;
        let went = is_told(&format!("{what}: {arguments:?}"), &ran);
        n_refused += usize::from(!went);
        (went, ran)
    };
    if run(&["fit", "data", "--draws", "draws", "--chains", "2", "--sweeps", "6"]).0 {
        run(&["predict", "data", "--draws", "draws", "--new", "plain", "--weighted", "--json"]);
    }
    if run(&["add", "lib", "data"]).0 {
        run(&["learn", "lib", "--sweeps", "12"]);
        let (_, ran) = run(&["people", "lib", "--json"]);
        let n_wrong = made.n_wrong(&ran.objects());
        assert!(n_wrong * 50 <= made.rows.len(), "{what}: {n_wrong} faces are somebody else's for certain");
        run(&["who", "lib", "--face", "f11", "--json"]);
        run(&["who", "lib", "plain", "--json"]);
        run(&["ask", "lib", "--n", "3", "--json"]);
        run(&["check", "lib", "--json"]);
    }
    // A library of usual faces that such a dataset, and such frames, come to.
    run(&["add", "usual", "plain"]);
    run(&["add", "usual", "data"]);
    let lines: Vec<String> = [11, 3, 4, 12]
        .map(|row: usize| {
            let look: Vec<f64> = made.rows[row].clone();
            json!({"frame": row, "faces": [{"face": format!("w{row}"), "embedding": look}]}).to_string()
        })
        .to_vec();
    let ran = place.fed(&["watch", "usual"], &lines);
    assert!(is_told(&format!("{what}: watch"), &ran), "{what}: {}", ran.err);
    assert_eq!(ran.out.lines().count(), 4, "{what}: every line is answered: {}", ran.out);
    (n + 1, n_refused)
}

const SIZES: [f64; 21] = [
    1e-300, 1e-45, 1e-38, 1e-30, 1e-20, 1e-12, 1e-6, 1e-3, 0.0, 20.0, 50.0, 90.0, 1e3, 1e4, 1e6, 1e8, 1e10,
    1e15, 1e20, 1e30, 1e38,
];

fn try_all(cases: impl Iterator<Item = ((usize, usize), Which, f64)>) {
    let (mut n, mut n_refused, mut n_cases, mut n_faults) = (0, 0, 0, 0);
    for ((n_people, dimension), which, times) in cases {
        let what = format!("{n_people} people in {dimension} dimensions, {which:?} times {times:e}");
        // All of them are tried; what went wrong is told by each.
        let lived = std::panic::catch_unwind(|| live(&made(n_people, dimension, which, times), &what));
        let (runs, refused) = lived.unwrap_or_default();
        (n, n_refused, n_cases) = (n + runs, n_refused + refused, n_cases + 1);
        n_faults += usize::from(runs == 0);
    }
    println!(
        "{n_cases} datasets, {n} runs, {n_refused} refused in one line, {n_faults} datasets with faults"
    );
    assert!(n_refused > 0 && n_refused < n && n_faults == 0);
}

#[test]
fn some_numbers_of_any_size_break_nothing() {
    let few = [(8, 64), (3, 8)];
    let cases = [
        (Which::One, 50.0),
        (Which::One, 1e10),
        (Which::Cell, 1e38),
        (Which::All, 1e-6),
        (Which::All, 1e-30),
        (Which::Constant, 0.0),
        (Which::Five, 1e4),
        (Which::Half, 1e8),
        (Which::Constant, 1.0),
        (Which::Half, 50.0),
        (Which::All, 1e-300),
        (Which::All, 1e-300),
    ];
    let cases =
        cases.into_iter().zip([0, 1].into_iter().cycle()).map(|((which, times), k)| (few[k], which, times));
    try_all(cases);
}

/// Nearly 4,000 runs.
#[test]
#[ignore = "the long form of some_numbers_of_any_size_break_nothing"]
fn numbers_of_any_size_break_nothing() {
    let cases = [(8, 64), (3, 8), (3, 64)].into_iter().flat_map(|few| {
        ALL.into_iter().flat_map(move |which| SIZES.into_iter().map(move |times| (few, which, times)))
    });
    try_all(cases);
}

#[test]
fn a_library_that_holds_such_a_face_opens_names_it_and_goes_on_without_it() {
    let place = Place::empty();
    let usual = made(8, 64, Which::One, 1.0);
    usual.write(&place, "data", "f");
    place.run(&["add", "lib", "data"]).done();
    place.run(&["learn", "lib", "--sweeps", "10"]).done();
    // As an earlier kith took it.
    let far: Vec<u8> = usual.rows[11].iter().flat_map(|x| ((x * 1e10) as f32).to_le_bytes()).collect();
    let library = rusqlite::Connection::open(place.path("lib")).unwrap();
    library.execute("UPDATE faces SET embedding = ?1 WHERE key = 'f11'", [far]).unwrap();
    library.execute("DELETE FROM sums", []).unwrap();
    drop(library);
    for verb in [&["people", "lib", "--json"][..], &["learn", "lib", "--sweeps", "5"], &["ask", "lib"]] {
        let ran = place.run(verb).done();
        assert!(
            ran.err.contains("face f11: found an embedding 1.1e10 times as long"),
            "{verb:?}: {}",
            ran.err
        );
    }
    let people = place.run(&["people", "lib", "--json"]).done().objects();
    let n_faces: usize = people.iter().map(|person| person["faces"].as_array().unwrap().len()).sum();
    assert_eq!((n_faces, usual.n_wrong(&people)), (79, 0));
    let checked = place.run(&["check", "lib"]);
    assert_eq!(checked.status, 1);
    assert!(checked.out.contains("face f11: found an embedding 1.1e10 times as long"), "{}", checked.out);
    let line = json!({"frame": "x", "faces": [{"face": "x", "embedding": usual.rows[3]}]}).to_string();
    let ran = place.fed(&["watch", "lib"], &[line]).done();
    assert!(ran.out.contains("\"stranger\"") && ran.err.contains("f11"), "{}{}", ran.out, ran.err);
    place.run(&["forget", "lib", "--face", "f11"]).done();
    assert_eq!(place.run(&["people", "lib"]).done().err, "");
}

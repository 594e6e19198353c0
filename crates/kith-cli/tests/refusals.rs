//! What cannot be done is refused in one line and leaves nothing behind; what is merely odd is done.

use std::fs;

use crate::common::Place;
use crate::common::encounters::assert_refused;
use serde_json::Value;

#[test]
fn bad_datasets_are_refused_in_one_line_and_leave_no_draws() {
    let place = Place::with_encounters();
    let two = npy("<f4", "False", "(2, 2)", &floats(&[0.0, 1.0, 2.0, 3.0]));
    let nan = npy("<f4", "False", "(2, 2)", &floats(&[0.0, 1.0, f32::NAN, 3.0]));
    let infinite = npy("<f4", "False", "(2, 2)", &floats(&[0.0, 1.0, 2.0, f32::INFINITY]));
    let huge = npy("<f4", "False", "(2, 2)", &floats(&[3e38, -3e38, 3e38, 3e38]));
    let tiny = npy("<f4", "False", "(2, 2)", &floats(&[1e-40, 0.0, 0.0, 1e-40]));
    let faces = "face,frame,context\na,1,home\nb,2,work\n";
    type Case<'a> = (&'a str, &'a [u8], &'a str, &'a [&'a str]);
    let integers = npy("<i4", "False", "(2, 2)", &[0; 16]);
    let fortran = npy("<f4", "True", "(2, 2)", &[0; 16]);
    let flat = npy("<f4", "False", "(4,)", &[0; 16]);
    let nobody = npy("<f4", "False", "(0, 2)", &[]);
    let cases: [Case<'_>; 15] = [
        ("nan", &nan, faces, &["nan/embeddings.npy", "row 1", "column 0", "NaN"]),
        ("infinite", &infinite, faces, &["infinite/embeddings.npy", "row 1", "column 1", "inf"]),
        ("huge", &huge, faces, &["huge row 0 (face a)", "of length 4.2e38", "wanted 1e-15 to 1e15"]),
        ("tiny", &tiny, faces, &["tiny row 0 (face a)", "of length 1.0e-40"]),
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
    assert!(!place.path("refused.ndjson").exists());
    assert_eq!(place.partial_of("refused.ndjson"), None);
}

#[test]
fn bad_settings_are_refused_in_one_line_and_an_older_file_survives() {
    let place = Place::with_encounters();
    place.write("draws.ndjson", "an older file");
    let models: [(&str, &[&str]); 7] = [
        ("[face]\nkapa = 1\n", &["m.toml", "face.kapa", "unknown key"]),
        ("[faces]\n", &["m.toml", "faces"]),
        ("[face\n", &["m.toml", "line 1"]),
        (
            "[identity]\nglobal_concentration = {shape = 1e-300, rate = 1e-300}\n",
            &["m.toml", "identity.global_concentration.shape", "found 1e-300,"],
        ),
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

    // As many would not end.
    let many = place.run(&["fit", "seen", "--draws", "draws.ndjson", "--chains", "1000000"]);
    assert!(many.status == 2 && many.err.contains("1000000 is not in 1..=1000"), "{}", many.err);

    assert_eq!(fs::read_to_string(place.path("draws.ndjson")).unwrap(), "an older file");
    assert_eq!(place.partial_of("draws.ndjson"), None);
    place.fit("draws.ndjson", &[]).done();
    assert_eq!(place.lines("draws.ndjson").len(), 13, "a fit that is done replaces it");
}

#[test]
fn draws_go_nowhere_that_is_no_place_for_them() {
    let place = Place::with_encounters();
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
    let place = Place::with_encounters();
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
    let place = Place::with_encounters();
    let d1: Vec<f32> = (0..9).map(|n| (n % 3) as f32 + 0.01 * n as f32).collect();
    let cases: [(&str, Vec<u8>, usize); 5] = [
        ("one face", npy("<f4", "False", "(1, 2)", &floats(&[1.0, 2.0])), 1),
        ("equal faces", npy("<f4", "False", "(2, 2)", &floats(&[1.0, 2.0, 1.0, 2.0])), 2),
        ("huge", npy("<f4", "False", "(2, 2)", &floats(&[3e14, -3e14, 3e14, 3e14])), 2),
        ("tiny", npy("<f4", "False", "(2, 2)", &floats(&[1e-14, 0.0, 0.0, 1e-14])), 2),
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

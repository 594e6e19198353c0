//! What kith writes is for its owner alone, and nothing that it cannot own is taken for a library.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use crate::common::Place;

#[test]
fn libraries_draws_and_exports_are_made_for_their_owner_alone() {
    let place = Place::new();
    place.learnt();
    place.run(&["fit", "photos", "--draws", "draws.ndjson", "--sweeps", "2"]).done();
    place.run(&["export", "lib", "people", "--out", "people.csv"]).done();
    place.run(&["export", "lib", "dataset", "--out", "faces"]).done();
    place.run(&["export", "lib", "draws", "--format", "parquet", "--out", "draws.parquet"]).done();
    let mode = |name: &str| std::fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777;
    for name in ["lib", "draws.ndjson", "people.csv", "faces/embeddings.npy", "draws.parquet"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    assert_eq!(mode("faces"), 0o700);
    // Whoever lets others read a library is left to it.
    std::fs::set_permissions(place.path("lib"), PermissionsExt::from_mode(0o640)).unwrap();
    place.run(&["forget", "lib", "--face", "p0_0"]).done();
    assert_eq!(mode("lib"), 0o640);
}

#[test]
fn a_pipe_is_no_library_and_nobody_waits_for_it() {
    let place = Place::empty();
    assert!(std::process::Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    for library in ["pipe", "/dev/null"] {
        for verb in ["check", "people", "learn", "watch"] {
            place.run(&[verb, library]).refused(&["found a pipe or a device, wanted a library"]);
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_dies_leaves_no_core_dump() {
    let place = Place::new();
    let mut child =
        place.command(&["watch", "lib"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, b"{\"frame\": 1}\n").unwrap();
    let mut line = String::new();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut out, &mut line).unwrap();
    assert!(line.contains("error"), "it has begun: {line}");
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", child.id())).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    let numbers: Vec<&str> = core.split_whitespace().skip(4).take(2).collect();
    assert_eq!(numbers, ["0", "0"], "{core}");
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

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

/// Files may grow to a size and no more, as on a disk that is full: whatever is said of it is so.
#[test]
fn what_is_said_of_forgetting_where_there_is_no_room_is_so() {
    let place = Place::new();
    place.learnt();
    place.run(&["name", "lib", "p0_0", "Zephyrine Unmistakable"]).done();
    let library = std::fs::read(place.path("lib")).unwrap();
    let holds = |bytes: &[u8]| {
        let of = |name| std::fs::read(place.path(name)).unwrap_or_default();
        ["lib", "lib-wal"].into_iter().any(|name| of(name).windows(bytes.len()).any(|window| window == bytes))
    };
    let mut statuses = std::collections::BTreeSet::new();
    for eighths in 0..24 {
        std::fs::write(place.path("lib"), &library).unwrap();
        // In blocks of 512 bytes, or of 1024.
        let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", eighths * library.len() / 8 / 512);
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_kith"), "forget", "lib"]);
        let output = command.args(["--face", "p0_0"]).current_dir(place.folder.path()).output().unwrap();
        let (told, status) = (String::from_utf8_lossy(&output.stderr), output.status.code().unwrap());
        let what = format!("{eighths} eighths: {status} {told}");
        statuses.insert(status);
        match status {
            // Where nothing can be written, not even why.
            2 => assert!(eighths == 0 || told.contains("nothing was changed"), "{what}"),
            1 => assert!(told.contains("removed, but the file could not be cleaned"), "{what}"),
            _ => assert!(status == 0 && !holds(b"Zephyrine"), "{what}"),
        }
        let is_there = place.run(&["who", "lib", "--face", "p0_0"]).status == 0;
        assert_eq!(is_there, status == 2, "{what}");
        assert_eq!(holds(b"Zephyrine"), is_there, "cleaned by whoever opens it next: {what}");
        place.run(&["check", "lib"]).done();
    }
    assert_eq!(statuses.into_iter().collect::<Vec<_>>(), [0, 1, 2]);
}

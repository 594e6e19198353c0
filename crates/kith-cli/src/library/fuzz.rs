//! Lines that are nearly what they should be: every one is answered or refused, none breaks anything.

#[path = "../../../kith-io/tests/common/mutate.rs"]
mod mutate;

use kith_store::{Library, Watcher};
use mutate::{corpus, fuzz};

use super::{import, watch};

const WORDS: [&str; 14] = [
    "\"faces\"",
    "\"face\"",
    "\"embedding\"",
    "[1, 2]",
    "\"name\"",
    "\"not\"",
    "\"same\"",
    "\"undo\"",
    "\"redo\": true",
    "null",
    "\"ignore\"",
    "\"context\"",
    "\"time\"",
    "\\u0000",
];

#[test]
fn imports() {
    for (name, is_csv) in [("import", false), ("import-csv", true)] {
        fuzz(name, &corpus(&format!("corpus/{name}")), &WORDS, |bytes| {
            import::statements(bytes, is_csv, "said").is_ok_and(|said| !said.is_empty())
        });
    }
}

/// Every line goes to a library that has seen the corpus before it.
#[test]
fn streams() {
    let folder = tempfile::tempdir().unwrap();
    let open = |number: usize| {
        let path = folder.path().join(number.to_string());
        let mut watcher = Watcher::new(Library::open_or_create(&path).unwrap()).unwrap();
        for line in corpus("corpus/watch") {
            watch::answer(&line, &mut watcher, None).unwrap();
        }
        watcher
    };
    let (mut watcher, mut n) = (open(0), 0);
    fuzz("watch", &corpus("corpus/watch"), &WORDS, |line| {
        n += 1;
        // Small, so that most of the time goes to lines.
        if n % 500 == 0 {
            watcher = open(n);
        }
        watch::answer(line, &mut watcher, None).is_ok()
    });
    assert_eq!(watcher.library().check().unwrap().faults, [""; 0]);
}

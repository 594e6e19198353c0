//! Libraries that earlier versions made open, and say what they said (`golden/make.sh` says how they were
//! made).

mod common;

use std::path::Path;

use common::{learn, p_of, people, say, who};
use kith_store::{Believed, Kind, Library};

/// A copy of a golden library, to be written to.
fn copy(name: &str, folder: &tempfile::TempDir) -> Library {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let path = folder.path().join(name);
    std::fs::copy(golden, &path).unwrap();
    Library::open(&path).unwrap()
}

/// Faces by their numbers.
fn faces(numbers: &[usize]) -> Vec<String> {
    let mut keys: Vec<String> = numbers.iter().map(usize::to_string).collect();
    keys.sort();
    keys
}

#[test]
fn a_library_of_version_1_with_full_covariances_opens_and_says_what_it_said() {
    let folder = tempfile::tempdir().unwrap();
    let library = copy("full.kith", &folder);
    assert_eq!(library.check().unwrap().faults, [""; 0]);
    assert_eq!(library.n_faces().unwrap(), 56);
    assert_eq!(library.get(kith_store::meta::EMBEDDING).unwrap().as_deref(), Some("made-up"));

    let log = library.log().unwrap();
    use Kind::{Different, Ignore, Name, Not, Same, Undo};
    let kinds: Vec<Kind> = log.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [Name, Name, Name, Not, Same, Different, Ignore, Name, Undo]);
    let stands: Vec<bool> = log.iter().map(|entry| entry.stands).collect();
    assert_eq!(stands, [true, true, true, true, true, true, true, false, true]);
    assert_eq!(library.key_of(log[5].face.unwrap()).unwrap(), "0");
    assert_eq!(library.key_of(log[5].other.unwrap()).unwrap(), "4");
    assert_eq!(library.name_of(log[7].name.unwrap()).unwrap(), "Mistake");
    assert!(log.iter().all(|entry| entry.by == "recorder" && entry.at > 1.6e9));

    let before = people(&library);
    let names: Vec<Option<&str>> = before.iter().map(|person| person.0.as_deref()).collect();
    assert_eq!(names, [Some("Ann"), Some("Bo"), Some("Cy"), None, None, None]);
    assert_eq!(before[0].1, faces(&[0, 2, 5, 9, 12, 14, 16, 17]));
    assert_eq!(before[5].1, faces(&[7, 10]));
    let ids: Vec<i64> = library.people().unwrap().iter().map(|person| person.id.0).collect();
    assert_eq!(ids, [6, 4, 1, 2, 5, 3]);

    // The draws are about the library as it is: none is made anew.
    let snapshot = library.snapshot().unwrap();
    let draws = library.draws(&snapshot.rows).unwrap().expect("the draws are current");
    assert_eq!(draws.len(), 18);
    let last = draws.last().unwrap();
    assert_eq!((last.chain, last.sweep, last.identities.len(), last.scales.len()), (1, 10, 55, 55));
    assert_eq!((last.contexts.len(), last.globals.name_weights.len()), (45, 5));
    let total: f64 = last.globals.weights.iter().sum::<f64>() + last.globals.unseen;
    assert!((total - 1.0).abs() < 1e-9, "{total}");
    assert_eq!(Believed::open(&library).unwrap().belief.draws(), draws);

    for (face, name) in [("0", "Ann"), ("5", "Ann"), ("4", "Bo"), ("22", "Cy"), ("25", "Cy")] {
        let p = p_of(&library, face, name);
        assert!(p > 0.8, "{face} is {name} with {p}");
    }
    for face in ["18", "1", "7"] {
        assert!(who(&library, face).familiar > 0.8, "{face}");
    }

    // Chains go on from where they were; what was said can be taken back; people keep their ids.
    let changes = learn(&library, 4);
    assert_eq!((changes.sweeps, changes.new_people, changes.gone_people), (14, 0, 0));
    assert_eq!(library.redo("me").unwrap(), Some(kith_store::ActId(8)));
    assert!(p_of(&library, "1", "Mistake") > 0.8);
    assert_eq!(library.check().unwrap().faults, [""; 0]);
}

#[test]
fn a_library_of_version_1_with_the_papers_face_model_takes_in_what_was_said_since() {
    let folder = tempfile::tempdir().unwrap();
    let library = copy("isotropic.kith", &folder);
    let snapshot = library.snapshot().unwrap();
    assert_eq!(library.draws(&snapshot.rows).unwrap(), None, "a name was given since");
    assert_eq!(library.memories(&snapshot.rows).unwrap().len(), 2);
    assert_eq!(people(&library).iter().filter(|person| person.0.is_some()).count(), 0);
    assert!(p_of(&library, "5", "Ann") > 0.8);
    let after = people(&library);
    assert_eq!(after.len(), 7);
    assert_eq!((after[0].0.as_deref(), after[0].1.len()), (Some("Ann"), 8));
    say(&library, Kind::Not, "5", None, Some("Ann"));
    assert_eq!(learn(&library, 2).sweeps, 8);
    assert_eq!(library.check().unwrap().faults, [""; 0]);
}

#[test]
fn an_older_library_gets_a_checksum_for_everything_that_has_one() {
    for name in ["full.kith", "isotropic.kith"] {
        let folder = tempfile::tempdir().unwrap();
        let library = copy(name, &folder);
        assert_eq!(library.check().unwrap().faults, [""; 0], "{name}");
        drop(library);
        let file = rusqlite::Connection::open(folder.path().join(name)).unwrap();
        let n = |query: &str| -> i64 { file.query_row(query, [], |row| row.get(0)).unwrap() };
        assert_eq!(n("PRAGMA user_version"), 6);
        for table in ["faces", "chains", "draws"] {
            let wanted = n(&format!("SELECT count(*) FROM {table}"));
            assert!(
                wanted > 0 && n(&format!("SELECT count(*) FROM sums WHERE of = '{table}'")) == wanted,
                "{table}"
            );
        }
        // Any bit of any face is noticed from now on.
        file.execute("UPDATE faces SET embedding = zeroblob(length(embedding)) WHERE key = '3'", []).unwrap();
        drop(file);
        let faults = Library::open(&folder.path().join(name)).unwrap().check().unwrap().faults;
        assert_eq!(faults, ["face 3: found an embedding that is not the one that was stored"]);
    }
}

/// Before version 4 the picture that somebody chose and what was meant so were values beside the log.
#[test]
fn chosen_pictures_of_an_older_library_come_into_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("full.kith");
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/full.kith"), &path).unwrap();
    let file = rusqlite::Connection::open(&path).unwrap();
    file.execute_batch(
        "INSERT INTO meta VALUES ('pictures', '{\"6\":3,\"77\":9999}'), ('meant', '[1,5,9999]')",
    )
    .unwrap();
    drop(file);
    let library = Library::open(&path).unwrap();
    let log = library.log().unwrap();
    let came: Vec<_> =
        log[9..].iter().map(|entry| (entry.kind, entry.face, entry.other, entry.name)).collect();
    let of = |place: usize| (Kind::Meant, log[place].face, log[place].other, log[place].name);
    assert_eq!(came, [(Kind::Picture, Some(3.into()), None, None), of(0), of(4)]);
    assert!(log[9].act < log[10].act && log[10].act < log[11].act && log[8].act < log[9].act);
    // They say nothing of who is who: the draws are those that were there.
    let snapshot = library.snapshot().unwrap();
    let draws = library.draws(&snapshot.rows).unwrap().expect("the draws are current");
    assert_eq!(Believed::open(&library).unwrap().belief.draws(), draws);
    library.undo("me", 1).unwrap();
    assert_eq!(Believed::open(&library).unwrap().belief.draws(), draws, "nor does taking that back");
    assert_eq!(library.check().unwrap().faults, [""; 0]);
}

#[test]
fn a_golden_library_that_cannot_be_written_is_read_all_the_same() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/full.kith");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lib");
    std::fs::copy(golden, &path).unwrap();
    let mut permissions = std::fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).unwrap();
    let library = Library::open_to_read(&path).unwrap();
    assert_eq!(people(&library).len(), 6);
    assert!(p_of(&library, "5", "Ann") > 0.8);
}

/// What no table would admit, written past its rules: an error for whoever reads it, and a fault for whoever
/// checks.
#[test]
fn what_was_written_past_the_rules_of_the_tables_is_told() {
    let changes = [
        ("UPDATE evidence SET kind = 'zzz'", "found an entry of the kind \"zzz\" in the log"),
        ("UPDATE sqlite_sequence SET seq = 9223372036854775807", "found no ids left to give"),
        ("UPDATE evidence SET id = 9223372036854775807 WHERE id = 1", "evidence: found no ids left to give"),
        ("UPDATE evidence SET act = 9223372036854775807", "evidence: found no ids left to give"),
        (
            "UPDATE meta SET value = 9223372036854775807 WHERE key = 'dimension'",
            "found no face of 9223372036854775807",
        ),
        (
            "UPDATE meta SET value = 99999999999 WHERE key = 'dimension'",
            "found no face of 99999999999 numbers",
        ),
    ];
    for (change, told) in changes {
        let folder = tempfile::tempdir().unwrap();
        let library = copy("isotropic.kith", &folder);
        let face = library.face("3").unwrap();
        let said = kith_store::Saying { kind: Kind::Ignore, face, other: None, name: None };
        library.say("me", &[said]).unwrap();
        drop(library);
        let path = folder.path().join("isotropic.kith");
        let file = rusqlite::Connection::open(&path).unwrap();
        file.execute_batch(&format!("PRAGMA ignore_check_constraints = 1; {change}")).unwrap();
        drop(file);
        let faults = Library::open(&path).unwrap().check().unwrap().faults;
        assert!(faults.iter().any(|fault| fault.contains(told)), "{change}: {faults:?}");
    }
}

//! What is believed goes on where it stopped, and follows what is said, taken back, forgotten and imported.

mod common;

use common::{Place, frames, learn, p_of, people, say, who};
use kith_store::{Believed, Forget, Imported, Kind, Library, Watcher};

#[test]
fn belief_is_resumed_as_it_was_and_chains_go_on_from_there() {
    let place = Place::learnt();
    let (before, seen) = {
        let library = place.open();
        (Believed::open(&library).unwrap().belief.draws().to_vec(), people(&library))
    };
    assert_eq!(seen.len(), 3);
    let library = place.open();
    let belief = Believed::open(&library).unwrap();
    assert_eq!(belief.belief.draws(), before, "nothing was seen or said since");
    let sweeps = before.iter().map(|draw| draw.sweep).max().unwrap();
    let changes = learn(&library, 5);
    assert_eq!(changes.sweeps, sweeps + 5);
    assert_eq!((changes.new_people, changes.gone_people), (0, 0));
    assert_eq!(people(&library), seen);
}

#[test]
fn faces_that_were_added_are_taken_in_before_the_next_answer() {
    let place = Place::learnt();
    let library = place.open();
    let ids = |library: &Library| {
        let mut ids: Vec<i64> = library.people().unwrap().iter().map(|person| person.id.0).collect();
        ids.sort_unstable();
        ids
    };
    let before = ids(&library);
    library.add(&frames(24..30), None).unwrap();
    assert!(who(&library, "face-27").familiar > 0.9);
    let with_it = people(&library);
    assert_eq!(with_it.iter().map(|person| person.1.len()).sum::<usize>(), 30);
    assert_eq!(ids(&library), before, "everybody keeps their id");
    let of = |key: &str| with_it.iter().position(|person| person.1.iter().any(|face| face == key));
    assert_eq!(of("face-27"), of("face-0"));
}

#[test]
fn a_name_spreads_and_is_taken_back_and_restored() {
    let place = Place::learnt();
    let library = place.open();
    assert_eq!(p_of(&library, "face-3", "Ann"), 0.0);
    say(&library, Kind::Name, "face-0", None, Some("Ann"));
    assert!(p_of(&library, "face-3", "Ann") > 0.8);
    assert_eq!(library.undo("me", 1).unwrap(), [kith_store::ActId(1)]);
    assert!(p_of(&library, "face-3", "Ann") < 0.2);
    assert_eq!(library.redo("me").unwrap(), Some(kith_store::ActId(1)));
    assert!(p_of(&library, "face-3", "Ann") > 0.8);
    assert_eq!(library.redo("me").unwrap(), None, "there is nothing left to restore");
    let log = library.log().unwrap();
    let kinds: Vec<Kind> = log.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [Kind::Name, Kind::Undo, Kind::Redo], "the log only grows");
    assert!(log[0].stands);
    // A new act closes the way back.
    library.undo("me", 1).unwrap();
    say(&library, Kind::Different, "face-0", Some("face-1"), None);
    assert_eq!(library.redo("me").unwrap(), None);
}

#[test]
fn two_who_are_said_to_differ_are_parted_and_an_ignored_face_is_nobody() {
    let place = Place::learnt();
    let library = place.open();
    for _ in 0..6 {
        say(&library, Kind::Different, "face-0", Some("face-3"), None);
    }
    let belief = Believed::open(&library).unwrap();
    let agreed = belief.agreements(&belief.rows.log[..1])[0].unwrap();
    assert!(agreed > 0.9, "{agreed}");
    say(&library, Kind::Ignore, "face-0", None, None);
    let snapshot = library.snapshot().unwrap();
    assert_eq!(snapshot.rows.faces.len(), 23);
    assert_eq!(snapshot.rows.face_of(library.face("face-0").unwrap()), None);
    Believed::open(&library).unwrap();
    assert!(people(&library).iter().all(|person| !person.1.contains(&"face-0".to_owned())));
}

#[test]
fn who_is_forgotten_is_gone_and_the_others_stay_who_they_were() {
    let place = Place::learnt();
    let library = place.open();
    say(&library, Kind::Name, "face-0", None, Some("Zephyrine"));
    say(&library, Kind::Name, "face-1", None, Some("Bo"));
    Believed::open(&library).unwrap();
    let before = people(&library);
    let claim = library.claim().unwrap();
    let whom = Forget::Name("Zephyrine".to_owned());
    let would = library.forget(&whom, true).unwrap();
    assert_eq!(people(&library), before, "a dry run changes nothing");
    let done = library.forget(&whom, false).unwrap();
    drop(claim);
    assert_eq!(would, done);
    assert_eq!((done.faces.len(), done.names.clone()), (8, vec!["Zephyrine".to_owned()]));
    assert!(library.face("face-0").is_err());
    assert!(p_of(&library, "face-4", "Bo") > 0.8);
    assert!(who(&library, "face-2").familiar > 0.8);
    learn(&library, 3);
    assert_eq!(library.check().unwrap().faults, [""; 0]);
    drop(library);
    let bytes = std::fs::read(place.path()).unwrap();
    for gone in ["Zephyrine", "frame-0", "face-3"] {
        let is_there = bytes.windows(gone.len() + 1).any(|window| {
            // face-3 is not face-31: what follows is no digit.
            window.starts_with(gone.as_bytes()) && !window[gone.len()].is_ascii_digit()
        });
        assert!(!is_there, "{gone} is still in the file");
    }
}

#[test]
fn what_was_said_elsewhere_counts_once() {
    let place = Place::learnt();
    let library = place.open();
    let statement = |face: &str, name: &str| Imported {
        kind: Kind::Name,
        face: face.to_owned(),
        other: None,
        name: Some(name.to_owned()),
        at: 1.5e9,
        by: "elsewhere".to_owned(),
    };
    let same = Imported {
        kind: Kind::Same,
        other: Some("face-5".to_owned()),
        name: None,
        ..statement("face-2", "nobody")
    };
    let statements =
        [statement("face-0", "Ann"), statement("face-0", "Ann"), statement("nowhere", "Ann"), same];
    let done = library.import(&statements).unwrap();
    assert_eq!((done.added, done.known, done.missing), (2, 1, 1));
    let again = library.import(&statements).unwrap();
    assert_eq!((again.added, again.known, again.missing), (0, 3, 1));
    let log = library.log().unwrap();
    assert!(log.iter().all(|entry| entry.at == 1.5e9 && entry.by == "elsewhere" && entry.act == log[0].act));
    assert!(p_of(&library, "face-3", "Ann") > 0.8);
    // One act: all of it is taken back at once.
    library.undo("me", 1).unwrap();
    assert!(p_of(&library, "face-3", "Ann") < 0.2);
    // A name that cannot be is refused, and nothing of the import is kept.
    let n_before = library.log().unwrap().len();
    let refused = library.import(&[statement("face-1", "Bo"), statement("face-1", "B\u{7}")]).unwrap_err();
    assert!(refused.to_string().contains("control characters"), "{refused}");
    assert_eq!(library.log().unwrap().len(), n_before);
}

#[test]
fn a_stream_is_stored_and_answered_and_goes_on_after_a_restart() {
    let place = Place::learnt();
    say(&place.open(), Kind::Name, "face-0", None, Some("Ann"));
    let mut watcher = Watcher::new(place.open()).unwrap();
    let [frame, next] = [24, 27].map(|number| frames(number..number + 1).remove(0));
    let seen = watcher.see(&frame, None).unwrap().remove(0);
    assert_eq!(seen.key, "face-24");
    assert!(seen.answer.acquainted > 0.8 && !seen.is_new, "{seen:?}");
    // Without a word: what is stored is stored.
    drop(watcher);
    let library = place.open();
    assert_eq!(library.n_faces().unwrap(), 25);
    let mut watcher = Watcher::new(library).unwrap();
    let again = watcher.see(&frame, None).unwrap().remove(0);
    assert_eq!((again.person, again.is_new), (seen.person, false), "it is there already");
    let other = watcher.see(&next, None).unwrap().remove(0);
    assert_eq!(other.person, seen.person);
    watcher.save().unwrap();
    assert!(Watcher::new(place.open()).is_err(), "one watches at a time");
}

/// Whoever keeps what is believed in memory hears what was said, and comes to the same draws and people as
/// somebody who reads the whole library.
#[test]
fn an_act_is_applied_as_if_everything_were_read_anew() {
    let place = Place::learnt();
    say(&place.open(), Kind::Name, "face-1", None, Some("Bo"));
    let (library, copy) = (place.open(), place.folder.path().join("copy"));
    let mut kept = Believed::open(&library).unwrap();
    let acts = [
        (Kind::Name, "face-0", None, Some("Ann")),
        (Kind::Not, "face-4", None, Some("Ann")),
        (Kind::Same, "face-5", Some("face-8"), None),
        (Kind::Different, "face-1", Some("face-2"), None),
    ];
    for (kind, face, other, name) in acts {
        say(&library, kind, face, other, name);
        std::fs::remove_file(&copy).ok();
        rusqlite::Connection::open(place.path()).unwrap().execute("VACUUM INTO ?1", [copy.to_str()]).unwrap();
        let read = Library::open(&copy).unwrap();
        let anew = Believed::open(&read).unwrap();
        kept = kept.after_news(&library).unwrap().expect("it can be applied");
        assert!(kept.belief.draws() == anew.belief.draws(), "{kind:?}: other draws");
        assert_eq!(people(&library), people(&read), "{kind:?}");
        assert_eq!(kept.rows.last_evidence(), anew.rows.last_evidence());
    }
    let last = library.last_evidence().unwrap();
    say(&library, Kind::Picture, "face-3", None, None);
    assert_eq!(library.last_evidence().unwrap(), last, "which picture is shown says nothing of who is who");
    assert!(Believed::open(&library).unwrap().belief.draws() == kept.belief.draws());
    assert_eq!(library.check().unwrap().faults, [""; 0]);
    // What takes away is not: the library is read.
    library.undo("me", 2).unwrap();
    assert!(kept.after_news(&library).unwrap().is_none());
    let kept = Believed::open(&library).unwrap();
    library.add(&frames(24..25), None).unwrap();
    assert!(kept.after_news(&library).unwrap().is_none());
}

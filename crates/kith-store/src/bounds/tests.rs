//! Answers by bounds against those of all faces; words in place; what goes with the draws.

use kith::predict::NewPhoto;

use super::*;
use crate::meta::SETTINGS;
use crate::{Forget, Kind, NewFace, NewFrame, Saying, Who};

const DIMENSION: usize = 32;

/// Twelve people, six photos of each, that lie apart but not far; learnt from, and taken for large.
fn library(folder: &tempfile::TempDir) -> Library {
    let library = Library::open_or_create(&folder.path().join("lib")).unwrap();
    let face = |k: usize| NewFace { key: format!("f{k}"), embedding: look(k), ..NewFace::default() };
    let frame = |k: usize| NewFrame {
        key: Some(format!("m{k}")),
        context: (!k.is_multiple_of(5)).then(|| ["home", "work"][k % 2].to_owned()),
        faces: vec![face(2 * k), face(2 * k + 1)],
        ..NewFrame::default()
    };
    library.add(&(0..36).map(frame).collect::<Vec<_>>(), None).unwrap();
    library.many_numbers.set(0);
    Believed::open(&library).unwrap().keep_bounds(&library).unwrap();
    library
}

/// The looks of photo k: those of person k % 12, and some of its own.
fn look(k: usize) -> Vec<f32> {
    let part = |seed: usize, d: usize| {
        let x = (seed * 7919 + d * 104_729 + 13) as f64;
        (((x * 12.9898).sin() * 43758.5453).fract() * 2.0) as f32
    };
    (0..DIMENSION).map(|d| part(k % 12, d) + 0.45 * part(100 + k, d)).collect()
}

fn say(library: &Library, kind: Kind, face: &str, other: Option<&str>, name: Option<&str>) {
    let [face, other] = [Some(face), other].map(|key| key.map(|key| library.face(key).unwrap()));
    library.say("me", &[Saying { kind, face: face.unwrap(), other, name }]).unwrap();
}

fn who(library: &Library, key: &str) -> Who {
    let row = library.face(key).unwrap();
    library.asked(|believed| believed.who(library, believed.rows.face_of(row).unwrap())).unwrap()
}

fn n_bounds(library: &Library) -> i64 {
    library.connection.query_row("SELECT count(*) FROM bounds", [], |row| row.get(0)).unwrap()
}

/// Whether the next question reads few faces.
fn is_outlined(library: &Library) -> bool {
    library.outlined().unwrap().is_some()
}

fn assert_near(a: &Who, b: &Who, what: &str) {
    let kinds = |who: &Who| [who.answer.acquainted, who.answer.familiar, who.answer.stranger];
    for (a, b) in kinds(a).into_iter().zip(kinds(b)) {
        assert!((a - b).abs() < 1e-5, "{what}: {a} {b}");
    }
    let (p, q) = (a.person.map(|of| of.1), b.person.map(|of| of.1));
    assert!(a.person.map(|of| of.0) == b.person.map(|of| of.0), "{what}: {:?} {:?}", a.person, b.person);
    assert!((p.unwrap_or(0.0) - q.unwrap_or(0.0)).abs() < 1e-5, "{what}: {p:?} {q:?}");
}

#[test]
fn answers_by_bounds_are_those_of_all_faces_whoever_is_asked_about() {
    let folder = tempfile::tempdir().unwrap();
    let library = library(&folder);
    assert!(n_bounds(&library) == 1 && is_outlined(&library));
    let whole = Believed::open(&library).unwrap();
    for (face, key) in whole.belief.faces().zip(whole.rows.keys.iter()).step_by(5) {
        assert_near(&who(&library, key), &whole.who(&library, face).unwrap(), key);
    }
    // Somebody known, somebody between two people, and somebody far from all.
    let between: Vec<f32> = look(3).iter().zip(look(4)).map(|(a, b)| 0.5 * (a + b)).collect();
    let far: Vec<f32> = look(500).iter().map(|x| -3.0 * x).collect();
    for (k, embedding) in [look(12 * 50 + 3), between, far].iter().enumerate() {
        let photos = [NewPhoto { context: None, faces: vec![embedding] }];
        let answer = |believed: &Believed| {
            believed.who_is_on(&library, &photos, &|| ()).map(|mut all| all.remove(0).remove(0))
        };
        assert_near(&library.asked(answer).unwrap(), &answer(&whole).unwrap(), &k.to_string());
    }
}

#[test]
fn a_word_that_moves_nobody_is_taken_in_where_everybody_is() {
    let folder = tempfile::tempdir().unwrap();
    let library = library(&folder);
    let seats = |library: &Library| -> Vec<Vec<u32>> {
        let believed = Believed::open(library).unwrap();
        believed.belief.draws().iter().map(|draw| draw.identities.clone()).collect()
    };
    let before = seats(&library);
    let first = |table: &str| -> (i64, Vec<u8>) {
        let query = format!("SELECT id, body FROM {table} ORDER BY id LIMIT 1");
        library.connection.query_row(&query, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    };
    let kept = [first("bases"), first("bounds")];
    say(&library, Kind::Name, "f3", None, Some("Ann"));
    assert!(!library.is_believed().unwrap() && is_outlined(&library) && library.is_believed().unwrap());
    let p = |who: Who| who.answer.names.first().map_or(0.0, |name| name.p);
    assert!(p(who(&library, "f3")) > 0.99 && p(who(&library, "f15")) > 0.9, "another photo of them");
    assert!(p(who(&library, "f4")) < 0.1, "somebody else");
    let ann = library.people().unwrap().remove(0);
    assert_eq!((ann.name.as_deref(), ann.faces.len()), (Some("Ann"), 6));
    assert!(seats(&library) == before, "nobody moved");
    assert!([first("bases"), first("bounds")] == kept, "nothing of it was written anew");
    assert_eq!(library.check().unwrap().faults, [""; 0]);
    // What agrees with where faces are moves nobody either; and it counts.
    say(&library, Kind::Same, "f3", Some("f27"), None);
    say(&library, Kind::Not, "f4", None, Some("Ann"));
    assert!(is_outlined(&library) && library.is_believed().unwrap());
    assert!(seats(&library) == before);
    let learnt = Believed::open(&library).unwrap();
    assert_eq!(learnt.belief.target().data().evidence().statements().len(), 2);
    assert_eq!(learnt.belief.target().all_odd().len(), library.kept_bounds().unwrap().unwrap().0.odd.len());
}

/// That what was kept nearby is what it would be of all faces, and that every face is somebody's.
fn assert_kept(library: &Library, what: &str) {
    assert!(is_outlined(library) && library.is_believed().unwrap(), "{what}");
    assert_eq!(library.check().unwrap().faults, [""; 0], "{what}");
    let whole = Believed::open_whole(library).unwrap();
    let bounds =
        |believed: &Believed| believed.belief.posterior().bounds(&believed.rows.keys_of_faces(), &[]);
    let kept: Vec<u64> =
        library.kept_bounds().unwrap().unwrap().1.into_iter().flat_map(|part| part.groups).collect();
    assert!(bounds(&whole).groups.iter().all(|group| kept.contains(group)), "{what}");
    assert_eq!(kept.iter().collect::<BTreeSet<_>>().len(), kept.len(), "{what}: none is there twice");
    for (face, key) in whole.belief.faces().zip(whole.rows.keys.iter()).step_by(7) {
        assert_near(&who(library, key), &whole.who(library, face).unwrap(), &format!("{what}, {key}"));
    }
    let n_faces: usize = library.people().unwrap().iter().map(|person| person.faces.len()).sum();
    assert_eq!(n_faces, whole.rows.faces.len(), "{what}");
}

fn person(library: &Library, key: &str) -> PersonId {
    let row = library.face(key).unwrap();
    let people = library.people().unwrap();
    people.iter().find(|person| person.faces.iter().any(|face| face.row == row)).unwrap().id
}

#[test]
fn words_that_move_somebody_and_those_taken_back_move_the_people_concerned() {
    let folder = tempfile::tempdir().unwrap();
    let library = library(&folder);
    let of_all = || -> Vec<PersonId> { (0..72).map(|k| person(&library, &format!("f{k}"))).collect() };
    let before = of_all();
    assert_eq!(before[3], before[15]);
    say(&library, Kind::Different, "f3", Some("f15"), None);
    assert!(!library.is_believed().unwrap() && is_outlined(&library));
    assert_kept(&library, "different");
    assert_ne!(person(&library, "f3"), person(&library, "f15"));
    let n_others = of_all().iter().zip(&before).filter(|(now, before)| now != before).count();
    assert!(n_others <= 6, "{n_others} of the 6 faces of one person moved");
    library.undo("me", 1).unwrap();
    assert_kept(&library, "taken back");
    assert_eq!(of_all(), before);
    // Whoever has read all faces takes it in nearby, too: bounds stay.
    let open = Believed::open(&library).unwrap();
    say(&library, Kind::Different, "f3", Some("f15"), None);
    let after = open.after_news(&library).unwrap().unwrap();
    assert!(n_bounds(&library) > 0 && library.is_believed().unwrap());
    let stored = library.draws(&after.rows).unwrap().unwrap();
    assert!(stored.iter().zip(after.belief.draws()).all(|(a, b)| a.identities == b.identities));
    assert_kept(&library, "different once more");
    library.undo("me", 1).unwrap();
    assert_kept(&library, "taken back once more");
    // A face that is somebody else by its looks, and one that was said not to be who it is.
    say(&library, Kind::Same, "f3", Some("f4"), None);
    assert_kept(&library, "the same");
    assert_eq!(person(&library, "f3"), person(&library, "f4"));
    say(&library, Kind::Name, "f6", None, Some("Ann"));
    assert_kept(&library, "a name");
    say(&library, Kind::Not, "f18", None, Some("Ann"));
    assert_kept(&library, "a name denied");
    let p = |key: &str| who(&library, key).answer.names.iter().map(|name| name.p).fold(0.0, f64::max);
    assert!(p("f18") < 0.05 && p("f30") > 0.9 && p("f6") > 0.9, "{} {} {}", p("f18"), p("f30"), p("f6"));
}

#[test]
fn new_faces_and_ignored_ones_are_taken_in_nearby() {
    let folder = tempfile::tempdir().unwrap();
    let library = library(&folder);
    let face = |k: usize| NewFace { key: format!("g{k}"), embedding: look(k), ..NewFace::default() };
    let frame = |k: usize, context: Option<&str>| NewFrame {
        key: Some(format!("n{k}")),
        context: context.map(str::to_owned),
        faces: vec![face(k), face(k + 1)],
        ..NewFrame::default()
    };
    // Of two who are known, of two in a frame whose context nobody gave, and of nobody known.
    library.add(&[frame(75, Some("home")), frame(79, None)], None).unwrap();
    let far = |sign: f32| look(500).iter().map(|x| sign * x).collect();
    let nobody = NewFace { key: "far".to_owned(), embedding: far(-3.0), ..NewFace::default() };
    let frame = NewFrame { key: Some("n0".to_owned()), faces: vec![nobody], ..NewFrame::default() };
    library.add(&[frame], None).unwrap();
    assert!(!library.is_believed().unwrap());
    assert_kept(&library, "new faces");
    for k in [3, 4, 7, 8] {
        assert_eq!(person(&library, &format!("g{}", 72 + k)), person(&library, &format!("f{k}")));
    }
    let far = library.people().unwrap().into_iter().find(|person| person.faces[0].key == "far").unwrap();
    assert_eq!(far.faces.len(), 1);
    say(&library, Kind::Ignore, "f70", None, None);
    say(&library, Kind::Ignore, "far", None, None);
    assert!(!library.is_believed().unwrap());
    assert_kept(&library, "ignored");
    let is_there =
        |person: &crate::Person| person.faces.iter().any(|face| ["f70", "far"].contains(&&face.key[..]));
    assert!(!library.people().unwrap().iter().any(is_there));
    // What was ignored and is not any more is for chains; then all is as before.
    library.undo("me", 2).unwrap();
    assert!(!is_outlined(&library));
    who(&library, "far");
    assert_kept(&library, "no longer ignored");
}

#[test]
fn bounds_under_a_model_that_was_replaced_meanwhile_are_not_kept_for_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let library = library(&folder);
    let believed = Believed::open(&library).unwrap();
    let set_another =
        |library: &Library| library.set(SETTINGS, "{\"evidence\": {\"odd\": 0.002}}".to_owned()).unwrap();
    library.connection.execute("DELETE FROM bounds", []).unwrap();
    set_another(&library);
    believed.keep_bounds(&library).unwrap();
    assert_eq!(n_bounds(&library), 0, "they were of the former model");
    Believed::open(&library).unwrap().keep_bounds(&library).unwrap();
    assert!(n_bounds(&library) == 1 && is_outlined(&library));
    // What was said and moved nobody, taken in while another model is set.
    let folder = tempfile::tempdir().unwrap();
    let library = self::library(&folder);
    say(&library, Kind::Name, "f3", None, Some("Ann"));
    let outlined = {
        let beside = Library::open(library.path()).unwrap();
        library.outlined_inside(beside).unwrap().unwrap()
    };
    set_another(&library);
    outlined.keep(&library).unwrap();
    assert!(library.kept_bounds().unwrap().is_none() && !library.is_believed().unwrap());
}

#[test]
fn bounds_go_with_draws_and_are_of_one_model_and_a_face_that_was_changed_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let library = library(&folder);
    let flip =
        "UPDATE faces SET embedding = CAST(x'0000a03f' || substr(embedding, 5) AS BLOB) WHERE key = 'f3'";
    library.connection.execute(flip, []).unwrap();
    assert!(is_outlined(&library), "nothing of it was read");
    who(&library, "f15");
    let notes = library.take_notes();
    assert!(notes.iter().any(|note| note.contains("face f3: found an embedding that is not")), "{notes:?}");
    let folder = tempfile::tempdir().unwrap();
    let library = self::library(&folder);
    library.set(SETTINGS, "{\"evidence\": {\"odd\": 0.002}}".to_owned()).unwrap();
    assert!(!is_outlined(&library), "of another model");
    let n = |what: &str| -> i64 {
        library.connection.query_row(&format!("SELECT count(*) FROM {what}"), [], |row| row.get(0)).unwrap()
    };
    let sums = "sums WHERE of IN ('bounds', 'envelopes')";
    assert!(n("envelopes") > 5 && n(sums) == 1 + n("envelopes"), "{}", n("envelopes"));
    library
        .connection
        .execute("UPDATE envelopes SET body = zeroblob(length(body)) WHERE number % 2 = 0", [])
        .unwrap();
    let faults = library.check().unwrap().faults;
    assert!(faults.len() == 1 && faults[0].contains("of the bounds that cannot be read"), "{faults:?}");
    library.forget(&Forget::Face("f0".to_owned()), false).unwrap();
    assert_eq!([n("bounds"), n("envelopes"), n(sums)], [0; 3]);
}

#[test]
fn draws_by_a_base_that_is_not_as_it_was_stored_are_learnt_again() {
    let changes = [
        "UPDATE bases SET body = zeroblob(length(body)) WHERE id = (SELECT min(id) FROM bases)",
        "UPDATE bases SET body = 'words'",
        "DELETE FROM bases",
        "DELETE FROM sums WHERE of = 'bases'",
    ];
    for change in changes {
        let folder = tempfile::tempdir().unwrap();
        let library = library(&folder);
        let n_people = library.people().unwrap().len();
        library.connection.execute(change, []).unwrap();
        let faults = library.check().unwrap().faults;
        assert!(
            faults.iter().any(|fault| fault.contains("draws that cannot be read")),
            "{change}: {faults:?}"
        );
        library.take_notes();
        who(&library, "f15");
        assert!(library.take_notes().iter().any(|note| note.contains("are thrown away")), "{change}");
        assert_eq!(library.check().unwrap().faults, [""; 0], "{change}");
        assert_eq!(library.people().unwrap().len(), n_people, "{change}");
    }
}

/// Whatever became of them: they are noticed, everything is answered as before, and they are made again.
#[test]
fn bounds_that_are_not_as_they_were_stored_are_made_again_with_a_word() {
    let changes = [
        "UPDATE bounds SET body = zeroblob(length(body))",
        "UPDATE bounds SET body = substr(body, 1, length(body) - 3)",
        "UPDATE bounds SET body = 'words'",
        "UPDATE bounds SET body = 7",
        "UPDATE bounds SET body = x''",
        "DELETE FROM sums WHERE of = 'bounds'",
        "UPDATE sums SET sum = 'words' WHERE of = 'bounds'",
        "UPDATE sums SET sum = -1 WHERE of = 'bounds'",
    ];
    let folder = tempfile::tempdir().unwrap();
    let library = library(&folder);
    let before = who(&library, "f15");
    for change in changes {
        assert!(is_outlined(&library) && library.take_notes().is_empty(), "{change}");
        library.connection.execute(change, []).unwrap();
        let faults = library.check().unwrap().faults;
        assert!(faults.len() == 1 && faults[0].contains("of the bounds that cannot be read"), "{faults:?}");
        assert_near(&who(&library, "f15"), &before, change);
        let notes = library.take_notes();
        assert!(notes.len() == 1 && notes[0].contains("bounds cannot be read"), "{change}: {notes:?}");
        assert_eq!(library.check().unwrap().faults, [""; 0], "{change}");
    }
    // Envelopes are closer bounds: without them more faces are read.
    for change in ["DELETE FROM sums WHERE of = 'envelopes'", "UPDATE envelopes SET body = 'words'"] {
        library.connection.execute(change, []).unwrap();
        assert_near(&who(&library, "f15"), &before, change);
        assert!(library.check().unwrap().faults[0].contains("of the bounds that cannot be read"), "{change}");
    }
}

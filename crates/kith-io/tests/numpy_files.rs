//! Files that numpy wrote are read as numpy means them.

use crate::common;
use crate::common::{dataset, fixture};
use kith::ids::{FaceId, FrameId};
use kith_io::{dataset, npy};

const X: [f32; 6] = [-0.5, -0.25, 0.0, 0.25, 0.5, 0.75];

#[test]
fn floats_of_both_widths_orders_and_all_versions_are_the_same_numbers() {
    for name in ["f4", "f4_big_endian", "f8", "f8_big_endian", "version_2", "version_3"] {
        let x = npy::read(&fixture(&format!("{name}.npy"))).unwrap();
        assert_eq!((x.len(), x.dimension(), x.values()), (3, 2, X.as_slice()), "{name}");
    }
}

#[test]
fn an_npz_file_holds_embeddings_and_columns() {
    for name in ["stored.npz", "deflated.npz"] {
        let table = dataset::read(&fixture(name)).unwrap();
        let data = &table.dataset;
        assert_eq!(data.embeddings().values(), X, "{name}");
        assert_eq!(table.faces, ["a", "b", "Zo\u{eb}"]);
        assert_eq!(table.frames, ["7", "8"]);
        assert_eq!(data.faces_in(FrameId(0)), [FaceId(0), FaceId(1)]);
        assert_eq!(data.contexts(), ["home", "work"]);
        assert_eq!(data.names(), ["Ann"]);
        assert_eq!(table.truth, Some(vec![Some("Ann".into()), Some("Bob".into()), None]));
        assert_eq!(table.column("time").unwrap(), ["1.5", "", "3"]);
        assert_eq!(table.column("quality").unwrap(), ["0.1", "0.2", "1e-7"]);
        assert_eq!(table.column("checked").unwrap(), ["True", "False", "True"]);
    }
}

#[test]
fn an_npz_file_without_columns_is_faces_in_frames_of_their_own() {
    let table = dataset::read(&fixture("only_x.npz")).unwrap();
    assert_eq!(table.faces, ["0", "1", "2"]);
    assert_eq!((table.dataset.n_frames(), table.truth, table.other), (3, None, vec![]));
}

#[test]
fn a_folder_holds_embeddings_and_faces() {
    let faces = "\u{feff}frame,camera,name,context,face\r\nf,front,Ann,,a\r\n,,,work,\r\nf,back,,home,c\r\n";
    let table = dataset::read(dataset("f8.npy", faces).path()).unwrap();
    let data = &table.dataset;
    assert_eq!(data.embedding(FaceId(2)), [0.5, 0.75]);
    assert_eq!(table.faces, ["a", "1", "c"]);
    assert_eq!(table.frames, ["f", ""]);
    assert_eq!(data.faces_in(FrameId(0)), [FaceId(0), FaceId(2)]);
    assert_eq!(data.contexts(), ["home", "work"]);
    assert_eq!(data.names(), ["Ann"]);
    assert_eq!(table.truth, None);
    assert_eq!(table.other, [("camera".to_owned(), vec!["front".to_owned(), "".into(), "back".into()])]);
}

#[test]
fn openface_folders_say_who_is_who() {
    let folder = common::folder(&[
        ("reps.csv", b"0.5,-1.0\n0.25,1e-3\n"),
        ("labels.csv", b"1,./aligned/Ann_Lee/Ann_Lee_0001.png\n2,./aligned/Bob/Bob_0003.png\n"),
    ]);
    let table = dataset::read(folder.path()).unwrap();
    assert_eq!(table.dataset.embeddings().values(), [0.5, -1.0, 0.25, 1e-3]);
    assert_eq!(table.faces, ["Ann_Lee_0001", "Bob_0003"]);
    assert_eq!(table.truth, Some(vec![Some("Ann_Lee".into()), Some("Bob".into())]));
    assert_eq!(table.column("label").unwrap(), ["1", "2"]);
    assert_eq!((table.dataset.n_frames(), table.dataset.names().len()), (2, 0));
}

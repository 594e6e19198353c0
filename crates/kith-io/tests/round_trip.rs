//! What is written is read back, and a refusal leaves nothing behind.

use kith::data::{Dataset, Embeddings, NewFace};
use kith::ids::FrameId;
use kith_io::dataset::{self, FaceTable};
use std::path::Path;

fn texts(cells: [&str; 4]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

fn table() -> FaceTable {
    let values = vec![0.1, -2.5, 123.456_79, f32::MIN_POSITIVE, 1e-45, -0.0, 1.0, 3.0];
    let frames = [0, 1, 0, 2].map(FrameId).to_vec();
    let contexts = [Some("at home, upstairs".to_owned()), None, Some("work".to_owned())];
    let names = [Some("Ann \"A\" Lee".to_owned()), None, None, Some("Zo\u{eb}\n\u{1f600}".to_owned())];
    let embeddings = Embeddings::new(values, 2).unwrap();
    FaceTable {
        dataset: Dataset::new(embeddings, frames, &contexts, &names).unwrap(),
        faces: texts(["a", "b c", " d", "e,f"]),
        frames: vec!["photo 1".into(), String::new(), "photo 2".into()],
        truth: Some(vec![Some("Ann".into()), None, None, Some("Zo\u{eb}".into())]),
        other: vec![
            ("time".into(), texts(["2024-05-01T12:30:00Z", "12.5", "", ""])),
            ("camera".into(), texts(["", "", "front", ""])),
            ("box".into(), texts(["1,2,3,4", "", "", ""])),
        ],
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let names =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn a_folder_is_read_back_as_it_was_written() {
    let (folder, table) = (tempfile::tempdir().unwrap(), table());
    let path = folder.path().join("data");
    dataset::write(&path, &table).unwrap();
    let read = dataset::read(&path).unwrap();
    assert_eq!(read, table);
    let bits = |table: &FaceTable| {
        table.dataset.embeddings().values().iter().map(|v| v.to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(bits(&read), bits(&table));
    assert_eq!(names_in(&path), ["embeddings.npy", "faces.csv"]);
    assert_eq!(names_in(folder.path()), ["data"]);
}

#[test]
fn an_npz_file_is_read_back_as_it_was_written() {
    let (folder, table) = (tempfile::tempdir().unwrap(), table());
    let path = folder.path().join("data.npz");
    dataset::write_npz(&path, &table).unwrap();
    assert_eq!(dataset::read(&path).unwrap(), table);
    assert_eq!(names_in(folder.path()), ["data.npz"]);
}

#[test]
fn a_dataset_from_elsewhere_gets_numbers_for_ids() {
    let mut data = Dataset::empty(1).unwrap();
    let somebody = NewFace { embedding: &[1.0], name: None };
    data.push_frame(None, &[somebody, somebody]).unwrap();
    data.push_frame(None, &[somebody]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    dataset::write(&path, &FaceTable::new(data.clone())).unwrap();
    assert_eq!(std::fs::read_to_string(path.join("faces.csv")).unwrap(), "face,frame\n0,0\n1,0\n2,1\n");
    assert_eq!(dataset::read(&path).unwrap().dataset, data);
}

#[test]
fn something_that_exists_is_never_overwritten() {
    let (folder, table) = (tempfile::tempdir().unwrap(), table());
    for (name, is_folder) in [("file", false), ("folder", true)] {
        let path = folder.path().join(name);
        match is_folder {
            true => std::fs::create_dir(&path).unwrap(),
            false => std::fs::write(&path, "precious").unwrap(),
        }
        for error in
            [dataset::write(&path, &table).unwrap_err(), dataset::write_npz(&path, &table).unwrap_err()]
        {
            let wanted = format!("{}: found something there already, wanted a new path", path.display());
            assert_eq!(error.to_string(), wanted);
        }
    }
    assert_eq!(std::fs::read(folder.path().join("file")).unwrap(), b"precious");
    assert_eq!(names_in(folder.path()), ["file", "folder"]);
}

#[test]
fn a_folder_that_is_not_there_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let error = dataset::write(&folder.path().join("none/data"), &table()).unwrap_err().to_string();
    assert!(error.contains("none/data: cannot be written"), "{error}");
    assert_eq!(names_in(folder.path()), Vec::<String>::new());
}

#[test]
fn a_table_that_would_not_be_read_back_is_not_written() {
    type Change = fn(&mut FaceTable);
    let cases: [(Change, &str); 10] = [
        (|t| t.faces[3] = "a".into(), "found the id \"a\" for faces 0 and 3, wanted an id for each"),
        (
            |t| t.faces[3].clear(),
            "found an empty text for a face id, name, context or truth, wanted some text, or none given",
        ),
        (|t| t.faces.truncate(3), "found 3 face ids, wanted 4"),
        (
            |t| t.frames[2] = "photo 1".into(),
            "found the id \"photo 1\" for two frames, wanted an id for each",
        ),
        (|t| t.frames[0].clear(), "found no id for frame 0, which holds several faces, wanted an id"),
        (|t| t.truth = Some(vec![None; 3]), "found 3 cells of truth, wanted 4"),
        (|t| t.truth = Some(vec![Some(String::new()); 4]), "found an empty text"),
        (|t| t.other[1].1.truncate(1), "found 1 cells of \"camera\", wanted 4"),
        (|t| t.other[1].0 = "name".into(), "found the column \"name\" twice"),
        (|t| t.other[0].1[2] = "noon".into(), "found time \"noon\" at face 2, wanted RFC 3339 or seconds"),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (change, wanted) in cases {
        let mut table = table();
        change(&mut table);
        for error in [
            dataset::write(&folder.path().join("data"), &table).unwrap_err(),
            dataset::write_npz(&folder.path().join("data.npz"), &table).unwrap_err(),
        ] {
            assert!(error.to_string().contains(wanted), "{error}");
        }
    }
    let empty = FaceTable::new(Dataset::empty(2).unwrap());
    let error = dataset::write(&folder.path().join("data"), &empty).unwrap_err().to_string();
    assert!(error.contains("found zero faces, wanted at least one"), "{error}");
    assert_eq!(names_in(folder.path()), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn what_is_written_is_for_its_owner_alone_and_keeps_what_others_were_let() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = tempfile::tempdir().unwrap();
    let (data, npz) = (folder.path().join("data"), folder.path().join("data.npz"));
    dataset::write(&data, &table()).unwrap();
    dataset::write_npz(&npz, &table()).unwrap();
    assert_eq!([mode(&npz), mode(&data.join("faces.csv")), mode(&data)], [0o600, 0o600, 0o700]);
    let shared = folder.path().join("shared");
    for wanted in [0o600, 0o640] {
        kith_io::atomic::replace(&shared, b"draws").unwrap();
        assert_eq!(mode(&shared), wanted);
        std::fs::set_permissions(&shared, PermissionsExt::from_mode(0o640)).unwrap();
    }
}

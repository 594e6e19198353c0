//! Every kind of bad data is refused with one line: file, row, what was found, what was wanted.

use crate::common::{dataset, fixture, folder, refusal, refusal_of};

const THREE: &str = "face\na\nb\nc\n";

#[test]
fn arrays_of_another_type_order_or_shape_are_refused() {
    for (npy, wanted) in [
        ("int", "found values of type int64 (<i8), wanted float32 or float64"),
        ("bool", "found values of type bool (|b1), wanted float32 or float64"),
        ("complex", "found values of type complex128 (<c16), wanted float32 or float64"),
        ("half", "found values of type float16 (<f2), wanted float32 or float64"),
        (
            "structure",
            "found values of type structure ([('a', '<f4'), ('b', '<f4')]), wanted float32 or float64",
        ),
        ("fortran", "found Fortran order, wanted C order"),
        ("one_dimension", "found shape (6,), wanted two dimensions, (faces, values of each)"),
        ("three_dimensions", "found shape (3, 2, 1), wanted two dimensions, (faces, values of each)"),
        ("no_values", "found shape (3, 0), wanted at least one value for each face"),
    ] {
        assert_eq!(refusal_of(&format!("{npy}.npy"), THREE), format!("embeddings.npy: {wanted}"));
    }
}

#[test]
fn numbers_that_are_not_finite_or_too_large_are_refused_naming_the_face() {
    for (npy, wanted) in [
        ("nan.npy", "embeddings.npy row 1 (face b), column 1: found NaN, wanted a finite number"),
        ("infinite.npy", "embeddings.npy row 2 (face c), column 0: found -inf, wanted a finite number"),
        (
            "too_large.npy",
            "embeddings.npy row 1 (face b), column 0: found 1e39, \
             wanted a number that float32 can hold (below 3.4e38)",
        ),
    ] {
        assert_eq!(refusal_of(npy, THREE), wanted);
    }
}

#[test]
fn a_truncated_array_is_refused_wherever_it_ends() {
    let whole = std::fs::read(fixture("f4.npy")).unwrap();
    let header = whole.len() - 24;
    for (length, wanted) in [
        (0, "found an empty file, wanted an .npy file, which begins with \\x93NUMPY".to_owned()),
        (
            3,
            "found a file that begins with \\x93NU, wanted an .npy file, which begins with \\x93NUMPY"
                .to_owned(),
        ),
        (
            7,
            "found a header that ends 1 bytes too early, wanted a whole one; the file is truncated"
                .to_owned(),
        ),
        (
            header - 1,
            "found a header that ends 1 bytes too early, wanted a whole one; the file is truncated"
                .to_owned(),
        ),
        (
            header,
            "found 0 bytes of data (0 whole rows), wanted 24 bytes (3 rows); the file is truncated"
                .to_owned(),
        ),
        (
            header + 23,
            "found 23 bytes of data (2 whole rows), wanted 24 bytes (3 rows); the file is truncated"
                .to_owned(),
        ),
    ] {
        let folder = folder(&[("embeddings.npy", &whole[..length]), ("faces.csv", THREE.as_bytes())]);
        assert_eq!(refusal(folder.path()), format!("embeddings.npy: {wanted}"));
    }
}

#[test]
fn an_array_that_claims_to_be_huge_is_refused_before_memory_is_taken() {
    let mut huge = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let text =
        "{'descr': '<f8', 'fortran_order': False, 'shape': (18446744073709551615, 18446744073709551615), }";
    huge.extend(format!("{text:<117}\n").bytes());
    let folder = folder(&[("embeddings.npy", &huge), ("faces.csv", THREE.as_bytes())]);
    let message = refusal(folder.path());
    assert!(
        message.starts_with("embeddings.npy: found 0 bytes of data (0 whole rows), wanted "),
        "{message}"
    );
}

#[test]
fn bytes_after_the_array_and_other_files_are_refused() {
    let mut long = std::fs::read(fixture("f4.npy")).unwrap();
    long.extend(b"more");
    for (bytes, wanted) in [
        (long.as_slice(), "found 4 bytes after the last row, wanted none"),
        (
            b"version https://",
            "found a file that begins with versio, wanted an .npy file, which begins with \\x93NUMPY",
        ),
        (b"\x93NUMPY\x09\x00....", "found a header of version 9.0, wanted version 1, 2 or 3"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "found a header of 4294967295 bytes, wanted a shorter one"),
        (
            b"\x93NUMPY\x01\x00\x05\x00{'a'}",
            "found a header that reads {'a'}, wanted {'descr': ..., 'fortran_order': ..., 'shape': ...}",
        ),
    ] {
        let folder = folder(&[("embeddings.npy", bytes), ("faces.csv", THREE.as_bytes())]);
        assert_eq!(refusal(folder.path()), format!("embeddings.npy: {wanted}"));
    }
}

#[test]
fn rows_that_do_not_match_the_array_are_refused() {
    let message = refusal_of("f4.npy", "face,name\na,\nb,\n");
    assert_eq!(message, "faces.csv: found 2 rows, wanted 3 as in embeddings.npy");
    // A blank line is no row, not even in a file of one column.
    let folder = dataset("f4.npy", "name\nAnn\n\nBob\n");
    let message = kith_io::dataset::read(folder.path()).unwrap_err().to_string();
    assert!(message.contains("found 2 rows, wanted 3"), "{message}");
    assert!(message.contains("\nhint: blank lines are skipped"), "{message}");
}

#[test]
fn bad_rows_are_refused_with_their_lines() {
    for (faces, wanted) in [
        ("face,name\na,Ann\nb\nc,\n", "faces.csv line 3: found 1 cells, wanted 2 as in line 1"),
        (
            "face,face\na,b\n",
            "faces.csv: found the column \"face\" twice, as columns 1 and 2, wanted it once",
        ),
        (
            "face,name\na,\r\nb,\"two\nlines\"\na,\n",
            "faces.csv line 5: found the face id \"a\" again, wanted an id of its own; it is already at line \
             2",
        ),
        (
            "face,frame,context\na,1,home\nb,1,\nc,1,work\n",
            "faces.csv line 4 (face c): found context \"work\" in frame \"1\", wanted \"home\" as at line 2 \
             (face a)",
        ),
        (
            "frame,time\n1,12\n1,noon\n1,\n",
            "faces.csv line 3 (face 1): found time \"noon\", wanted RFC 3339 (2024-05-01T12:30:00Z) or \
             seconds",
        ),
        ("", "faces.csv: found no header line, wanted one with the names of the columns"),
    ] {
        assert_eq!(refusal_of("f4.npy", faces), wanted);
    }
}

#[test]
fn zero_faces_are_refused() {
    assert_eq!(refusal_of("no_faces.npy", "face\n"), "embeddings.npy: found zero faces, wanted at least one");
    assert_eq!(refusal_of("no_faces.npy", THREE), "embeddings.npy: found zero faces, wanted at least one");
    let folder = folder(&[("reps.csv", b""), ("labels.csv", b"")]);
    assert_eq!(refusal(folder.path()), "reps.csv: found zero faces, wanted at least one");
}

#[test]
fn a_missing_file_is_named() {
    let x = std::fs::read(fixture("f4.npy")).unwrap();
    for (name, bytes, wanted) in [
        (
            "embeddings.npy",
            x.as_slice(),
            "faces.csv: found no such file, wanted a header and one row per face, beside embeddings.npy",
        ),
        (
            "faces.csv",
            b"face\n",
            "embeddings.npy: found no such file, wanted one row of numbers per face, beside faces.csv",
        ),
        (
            "reps.csv",
            b"1\n",
            "labels.csv: found no such file, wanted one line NUMBER,PATH per face, beside reps.csv",
        ),
        (
            "labels.csv",
            b"1,a/b\n",
            "reps.csv: found no such file, wanted one line of numbers per face, beside labels.csv",
        ),
    ] {
        assert_eq!(refusal(folder(&[(name, bytes)]).path()), wanted);
    }
}

#[test]
fn what_is_no_dataset_is_refused_with_what_was_found() {
    let folder = folder(&[("a.parquet", b""), ("b.npy", b""), ("c.txt", b""), ("d", b"")]);
    let wanted = "wanted a dataset: a folder with embeddings.npy and faces.csv, \
                  a folder with reps.csv and labels.csv, or an .npz file";
    let name = folder.path().file_name().unwrap().to_str().unwrap();
    let found = "found a folder with \"a.parquet\", \"b.npy\", \"c.txt\" and 1 more";
    assert_eq!(refusal(folder.path()), format!("{name}: {found}, {wanted}"));
    assert_eq!(refusal(&folder.path().join("none")), format!("none: found nothing there, {wanted}"));
    assert_eq!(refusal(&folder.path().join("c.txt")), format!("c.txt: found a file \"c.txt\", {wanted}"));
    assert_eq!(
        refusal(&folder.path().join("b.npy")),
        format!("b.npy: found a single file \"b.npy\", {wanted}")
    );
    let message = refusal(&folder.path().join("a.parquet"));
    assert!(message.starts_with("a.parquet: found a Parquet file, which is not supported yet"), "{message}");
}

#[test]
fn bad_archives_are_refused_naming_the_array() {
    for (name, wanted) in [
        (
            "object",
            "object.npz array name: found values of type Python object (|O), \
             wanted text, bytes, bool, int8 to int64, float32 or float64",
        ),
        (
            "datetime",
            "datetime.npz array time: found values of type datetime64 (<M8[s]), \
             wanted text, bytes, bool, int8 to int64, float32 or float64",
        ),
        (
            "no_x",
            "no_x.npz: found arrays \"y\", \"face\", wanted the embeddings as an array \"x\": np.savez(FILE, \
             x=embeddings)",
        ),
        ("boxes", "boxes.npz array box: found shape (3, 4), wanted (3,), one cell for each row of x"),
        (
            "short_column",
            "short_column.npz array face: found shape (2,), wanted (3,), one cell for each row of x",
        ),
        ("latin_1", "latin_1.npz array name row 1: found bytes that are not UTF-8, wanted UTF-8"),
        (
            "repeated",
            "repeated.npz array face row 2: found the face id \"4\" again, \
             wanted an id of its own; it is already at row 0",
        ),
        ("nan", "nan.npz array x row 2 (face c), column 0: found NaN, wanted a finite number"),
    ] {
        assert_eq!(refusal(&fixture(&format!("{name}.npz"))), wanted);
    }
}

#[test]
fn a_broken_archive_is_refused_wherever_it_ends_and_whichever_byte_is_wrong() {
    let whole = std::fs::read(fixture("only_x.npz")).unwrap();
    let folder = folder(&[]);
    let path = folder.path().join("a.npz");
    for length in 0..whole.len() {
        std::fs::write(&path, &whole[..length]).unwrap();
        let message = refusal(&path);
        assert!(message.starts_with("a.npz"), "{message}");
    }
    // The last value's lowest byte: only the archive's check sum can tell.
    let at = whole.windows(4).rposition(|bytes| bytes == 0.75_f32.to_le_bytes()).unwrap();
    let mut wrong = whole.clone();
    wrong[at] ^= 1;
    std::fs::write(&path, &wrong).unwrap();
    assert_eq!(
        refusal(&path),
        "a.npz array x: found an error on reading (Invalid checksum), wanted a readable file"
    );
}

#[test]
fn bad_openface_files_are_refused_with_their_lines() {
    let labels = "1,a/Ann/1.png\n2,a/Bob/2.png\n";
    for (reps, labels, wanted) in [
        ("1,2\n3\n", labels, "reps.csv line 2: found 1 cells, wanted 2 as in line 1"),
        ("1,2\n3,nan\n", labels, "reps.csv line 2, column 2: found \"nan\", wanted a finite number"),
        ("1,2\n", labels, "labels.csv: found 2 rows, wanted 1 as in reps.csv"),
        (
            "1\n2\n",
            "1,a/Ann/1.png\n2,Bob.png\n",
            "labels.csv line 2: found path \"Bob.png\", wanted PERSON/FILE at its end",
        ),
        ("1\n2\n", "1;a\n2;b\n", "labels.csv line 1: found 1 cells, wanted 2, NUMBER,PATH"),
        (
            "1\n2\n",
            "1,a/Ann/1.png\n2,a/Bob/1.png\n",
            "labels.csv line 2: found the face id \"1\" again, wanted an id of its own; it is already at \
             line 1",
        ),
    ] {
        let folder = folder(&[("reps.csv", reps.as_bytes()), ("labels.csv", labels.as_bytes())]);
        assert_eq!(refusal(folder.path()), wanted);
    }
}

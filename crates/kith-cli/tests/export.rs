//! What a library gives to other programs, and takes from other libraries.

use std::fs::{self, File};

use crate::common::{Place, faces_of, photos};
use kith_io::dataset;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Value, json};

#[test]
fn evidence_goes_to_a_library_of_another_network() {
    let place = Place::new();
    place.learnt();
    let (ann, ben) = (faces_of("Ann"), faces_of("Ben"));
    place.run(&["name", "lib", &ann[0], "Ann"]).done();
    place.run(&["different", "lib", &ann[1], &ben[1]]).done();
    place.run(&["not", "lib", &ben[0], "Ann"]).done();
    place.run(&["name", "lib", &ben[2], "Oops"]).done();
    place.run(&["undo", "lib"]).done();
    for (format, file) in [("csv", "said.csv"), ("ndjson", "said.ndjson")] {
        place.run(&["export", "lib", "evidence", "--format", format, "--out", file]).done();
    }
    // The same photos under another network: 2 numbers per face, one photo missing.
    let old = photos(30, 1, "p");
    let mut data = kith::data::Dataset::empty(2).unwrap();
    for frame in old.dataset.frames().take(29) {
        let looks: Vec<[f32; 2]> =
            old.dataset.faces_in(frame).iter().map(|&f| [old.dataset.embedding(f)[0], 1.0]).collect();
        let new: Vec<_> =
            looks.iter().map(|look| kith::data::NewFace { embedding: look, name: None }).collect();
        data.push_frame(None, &new).unwrap();
    }
    let mut table = dataset::FaceTable::new(data);
    (table.faces, table.frames) = (old.faces[..58].to_vec(), old.frames[..29].to_vec());
    place.dataset("again", &table);
    place.run(&["add", "lib2", "again", "--embedding", "other"]).done();
    let done = place.run(&["import", "lib2", "said.csv", "--json"]).done().object();
    assert_eq!(done, json!({"read": 3, "added": 3, "known": 0, "missing": 0}));
    let again = place.run(&["import", "lib2", "said.ndjson", "--json"]).done().object();
    assert_eq!(again, json!({"read": 3, "added": 0, "known": 3, "missing": 0}));
    assert_eq!(place.run(&["undo", "lib2", "--json"]).done().object()["undone"].as_array().unwrap().len(), 1);
    fs::write(place.path("bad.ndjson"), "{\"kind\":\"sane\",\"face\":\"p0_0\"}\n").unwrap();
    place.run(&["import", "lib2", "bad.ndjson"]).refused(&["bad.ndjson line 1", "\"sane\""]);
}

#[test]
fn exports_are_read_by_the_other_verbs() {
    let place = Place::new();
    place.learnt();
    place.run(&["name", "lib", &faces_of("Ben")[0], "Ben"]).done();
    place.run(&["not", "lib", &faces_of("Ann")[0], "Zed"]).done();
    place.run(&["export", "lib", "dataset", "--out", "out"]).done();
    place.run(&["export", "lib", "draws", "--out", "draws.ndjson"]).done();
    let table = dataset::read(&place.path("out")).unwrap();
    let original = photos(30, 1, "p");
    assert_eq!(table.faces, original.faces);
    assert_eq!(table.truth, original.truth);
    assert_eq!(table.dataset.embeddings(), original.dataset.embeddings());
    assert_eq!(table.column("time"), original.column("time"));
    place.dataset("new", &photos(4, 9, "n"));
    let answers =
        place.run(&["predict", "out", "--draws", "draws.ndjson", "--new", "new", "--json"]).done().objects();
    assert_eq!(answers.len(), 8);
    let csv = place.run(&["export", "lib", "people", "--format", "csv"]).done().out;
    assert_eq!(csv.lines().next().unwrap(), "person,name,p,standing,face,face_p");
    assert_eq!(csv.lines().count(), 61);
    assert_eq!(place.run(&["export", "lib", "people"]).done().objects().len(), 4);
    place.run(&["export", "lib", "dataset"]).refused(&["--out"]);
    place.run(&["export", "lib", "dataset", "--out", "out"]).refused(&["found something there"]);
}

/// The rows of a Parquet file as objects.
fn parquet(place: &Place, name: &str) -> Vec<Value> {
    let reader = SerializedFileReader::new(File::open(place.path(name)).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().into_columns());
    rows.map(|row| row.iter().map(|(name, field)| (name.clone(), in_json(field))).collect()).collect()
}

fn in_json(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Bool(flag) => json!(flag),
        Field::Long(number) => json!(number),
        Field::Float(number) => json!(number),
        Field::Double(number) => json!(number),
        Field::Str(text) => json!(text),
        Field::ListInternal(list) => list.elements().iter().map(in_json).collect(),
        other => panic!("found {other}, which nothing here is written as"),
    }
}

/// The rows of a CSV file as objects of texts.
fn csv_rows(text: &str) -> Vec<Value> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let row = |record: csv::StringRecord| {
        header.iter().zip(&record).map(|(key, cell)| (key.to_owned(), json!(cell))).collect()
    };
    reader.records().map(|record| row(record.unwrap())).collect()
}

/// An object as CSV has it: texts, empty where there is nothing.
fn as_texts(object: &Value) -> Value {
    let text = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    object.as_object().unwrap().iter().map(|(key, value)| (key.clone(), json!(text(value)))).collect()
}

#[test]
fn parquet_says_what_csv_and_ndjson_say() {
    let place = Place::new();
    place.learnt();
    let (ann, ben) = (faces_of("Ann"), faces_of("Ben"));
    place.run(&["name", "lib", &ben[0], "Ben, \"B\""]).done();
    place.run(&["different", "lib", &ann[1], &ben[1]]).done();
    place.run(&["not", "lib", &ann[0], "Zed"]).done();
    place.run(&["name", "lib", &ann[2], "Oops"]).done();
    place.run(&["undo", "lib"]).done();
    for what in ["people", "evidence", "dataset", "draws"] {
        let file = format!("{what}.parquet");
        place.run(&["export", "lib", what, "--format", "parquet", "--out", &file]).done();
        place
            .run(&["export", "lib", what, "--format", "parquet", "--out", &file])
            .refused(&["found something there"]);
        place.run(&["export", "lib", what, "--format", "parquet"]).refused(&["--out", "wanted a new file"]);
    }

    let people = parquet(&place, "people.parquet");
    let csv = csv_rows(&place.run(&["export", "lib", "people", "--format", "csv"]).done().out);
    assert_eq!(people.len(), 60);
    assert_eq!(people.iter().map(as_texts).collect::<Vec<Value>>(), csv);
    assert!(people[0]["person"].is_i64() && people[0]["face_p"].is_f64());

    let evidence = parquet(&place, "evidence.parquet");
    assert_eq!(evidence, place.run(&["export", "lib", "evidence"]).done().objects());
    assert_eq!(evidence.len(), 4);
    assert_eq!((&evidence[3]["stands"], &evidence[3]["undoes"]), (&json!(false), &Value::Null));

    place.run(&["export", "lib", "dataset", "--out", "folder"]).done();
    let table = dataset::read(&place.path("folder")).unwrap();
    let mut faces = parquet(&place, "dataset.parquet");
    assert_eq!(faces.len(), 60);
    for (face, row) in table.dataset.faces().zip(&mut faces) {
        let embedding = row.as_object_mut().unwrap().remove("embedding").unwrap();
        assert_eq!(embedding, json!(table.dataset.embedding(face)));
    }
    let csv = csv_rows(&fs::read_to_string(place.path("folder/faces.csv")).unwrap());
    assert_eq!(faces.iter().map(as_texts).collect::<Vec<Value>>(), csv);
    assert_eq!(faces.iter().filter(|face| face["name"] == "Ben, \"B\"").count(), 1);
    assert!(faces.iter().any(|face| face["name"].is_null()));

    place.run(&["export", "lib", "draws", "--out", "draws.ndjson"]).done();
    let text = fs::read_to_string(place.path("draws.ndjson")).unwrap();
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let header = lines.remove(0);
    // What there is none of has no key there, and an empty list here.
    lines.iter_mut().for_each(|line| *line = with_all_keys(line));
    assert_eq!(parquet(&place, "draws.parquet"), lines);
    let reader = SerializedFileReader::new(File::open(place.path("draws.parquet")).unwrap()).unwrap();
    let about = reader.metadata().file_metadata().key_value_metadata().unwrap();
    let kept = about.iter().find(|pair| pair.key == "kith").and_then(|pair| pair.value.as_deref()).unwrap();
    assert_eq!(serde_json::from_str::<Value>(kept).unwrap(), header);
}

fn with_all_keys(line: &Value) -> Value {
    let mut line = line.clone();
    for key in ["scales", "people"] {
        if line.get(key).is_none() {
            line[key] = json!([]);
        }
    }
    line
}

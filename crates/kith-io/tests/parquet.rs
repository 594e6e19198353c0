//! Parquet files are read back by the crate that others read them with.

use kith_io::parquet_table::{Cells, Column, write};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::fs::File;
use std::path::Path;

/// All rows of a file, as `name: value` texts.
fn rows(path: &Path) -> Vec<Vec<(String, Field)>> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    reader.get_row_iter(None).unwrap().map(|row| row.unwrap().into_columns()).collect()
}

fn elements(field: &Field) -> &[Field] {
    let Field::ListInternal(list) = field else { panic!("found {field}, wanted a list") };
    list.elements()
}

#[test]
fn every_kind_of_cell_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.parquet");
    let (pair, ladder) = ([1.5, -2.0], [0.1]);
    let floats: [&[f32]; 3] = [&[0.1, f32::MAX], &[1e-45, -0.0], &[2.0, 3.0]];
    let columns = [
        Column::new("a flag", Cells::Flag(vec![Some(true), None, Some(false)])),
        Column::new("integer", Cells::Integer(vec![Some(i64::MAX), None, Some(-7)])),
        Column::new("real", Cells::Real(vec![None, Some(0.1), Some(-1e300)])),
        Column::new("text", Cells::Text(vec![Some("Zo\u{eb}, \"Z\"\n"), Some(""), None])),
        Column::new("integers", Cells::Integers(vec![vec![1, 2, 3], vec![], vec![-4]])),
        Column::new("reals", Cells::Reals(vec![&[], &pair, &ladder])),
        Column::new("floats", Cells::Floats(floats.to_vec())),
        Column::new("texts", Cells::Texts(vec![vec![Some("a"), None], vec![], vec![None, None]])),
    ];
    write(&path, &columns, Some("{}")).unwrap();
    let rows = rows(&path);
    assert_eq!(rows.len(), 3);
    for row in &rows {
        let names: Vec<&str> = row.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a flag", "integer", "real", "text", "integers", "reals", "floats", "texts"]);
    }
    let column = |place: usize| rows.iter().map(|row| row[place].1.clone()).collect::<Vec<Field>>();
    let text = |text: &str| Field::Str(text.to_owned());
    assert_eq!(column(0), [Field::Bool(true), Field::Null, Field::Bool(false)]);
    assert_eq!(column(1), [Field::Long(i64::MAX), Field::Null, Field::Long(-7)]);
    assert_eq!(column(2), [Field::Null, Field::Double(0.1), Field::Double(-1e300)]);
    assert_eq!(column(3), [text("Zo\u{eb}, \"Z\"\n"), text(""), Field::Null]);
    let lists = |place: usize| column(place).iter().map(|list| elements(list).to_vec()).collect::<Vec<_>>();
    assert_eq!(
        lists(4),
        [vec![1, 2, 3], vec![], vec![-4]].map(|list| list.into_iter().map(Field::Long).collect::<Vec<_>>())
    );
    assert_eq!(
        lists(5),
        [vec![], pair.to_vec(), ladder.to_vec()]
            .map(|list| list.into_iter().map(Field::Double).collect::<Vec<_>>())
    );
    assert_eq!(lists(6), floats.map(|list| list.iter().copied().map(Field::Float).collect::<Vec<_>>()));
    assert_eq!(lists(7), [vec![text("a"), Field::Null], vec![], vec![Field::Null, Field::Null]]);

    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    let about = reader.metadata().file_metadata().key_value_metadata().unwrap();
    assert!(about.iter().any(|pair| pair.key == "kith" && pair.value.as_deref() == Some("{}")));
}

#[test]
fn more_rows_than_a_group_holds_stay_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.parquet");
    let n_rows = 20_000;
    let embeddings: Vec<[f32; 2]> = (0..n_rows).map(|row| [row as f32, 0.5]).collect();
    let columns = [
        Column::new("row", Cells::Integer((0..n_rows).map(Some).collect())),
        Column::new("embedding", Cells::Floats(embeddings.iter().map(<[f32; 2]>::as_slice).collect())),
    ];
    write(&path, &columns, None).unwrap();
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    assert!(reader.num_row_groups() > 1);
    let rows = rows(&path);
    assert_eq!(rows.len(), n_rows as usize);
    for (number, row) in (0..).zip(&rows) {
        assert_eq!(row[0].1, Field::Long(number));
        assert_eq!(elements(&row[1].1), [Field::Float(number as f32), Field::Float(0.5)]);
    }
}

#[test]
fn nothing_is_overwritten_and_nothing_half_written_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("there.parquet");
    std::fs::write(&path, "mine").unwrap();
    let columns = [Column::new("a", Cells::Integer(vec![Some(1)]))];
    let refused = write(&path, &columns, None).unwrap_err().to_string();
    assert!(refused.contains("found something there already"), "{refused}");
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    let nowhere = folder.path().join("no/such/folder/a.parquet");
    assert!(write(&nowhere, &columns, None).unwrap_err().to_string().contains("cannot be written"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

//! Parquet: a table of typed columns, lists among them, that appears whole or not at all.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};

use crate::atomic::{self, WholeFile};
use crate::error::IoError;

/// So many rows are held in memory at once.
const ROWS_PER_GROUP: usize = 8192;

/// A named column; all of a table have as many cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Column<'a> {
    /// What it is called.
    pub name: String,
    /// One cell per row.
    pub cells: Cells<'a>,
}

/// What a column holds. Single cells may be missing; a list may be empty, and of texts only may elements be
/// missing.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells<'a> {
    /// BOOLEAN.
    Flag(Vec<Option<bool>>),
    /// INT64.
    Integer(Vec<Option<i64>>),
    /// DOUBLE.
    Real(Vec<Option<f64>>),
    /// UTF-8.
    Text(Vec<Option<&'a str>>),
    /// Lists of INT64.
    Integers(Vec<Vec<i64>>),
    /// Lists of DOUBLE.
    Reals(Vec<&'a [f64]>),
    /// Lists of FLOAT.
    Floats(Vec<&'a [f32]>),
    /// Lists of UTF-8.
    Texts(Vec<Vec<Option<&'a str>>>),
}

impl<'a> Column<'a> {
    /// A column.
    pub fn new(name: &str, cells: Cells<'a>) -> Self {
        Self { name: name.to_owned(), cells }
    }
}

/// Writes a new file; `about` is kept in it under the key `kith`.
///
/// # Panics
/// If columns differ in length, or two have one name.
pub fn write(path: &Path, columns: &[Column<'_>], about: Option<&str>) -> std::result::Result<(), IoError> {
    let n_rows = columns.first().map_or(0, |column| column.cells.len());
    assert!(columns.iter().all(|column| column.cells.len() == n_rows), "columns of one length");
    let is_repeated = |place: usize| columns[..place].iter().any(|before| before.name == columns[place].name);
    assert!(!(0..columns.len()).any(is_repeated), "every column has a name of its own");
    atomic::new_file(path, |out| write_to(out, columns, n_rows, about).map_err(plain))
}

fn write_to(out: &mut WholeFile, columns: &[Column<'_>], n_rows: usize, about: Option<&str>) -> Result<()> {
    let fields = columns.iter().map(|column| column.field().map(Arc::new)).collect::<Result<_>>()?;
    let schema = Type::group_type_builder("schema").with_fields(fields).build()?;
    let about = about.map(|about| vec![KeyValue::new("kith".to_owned(), about.to_owned())]);
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("kith version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(about);
    // Numbers of an embedding hardly ever repeat.
    for column in columns.iter().filter(|column| matches!(column.cells, Cells::Floats(_))) {
        let path = ["list", "element"].map(str::to_owned);
        let path = ColumnPath::new([&[column.name.clone()][..], &path].concat());
        properties = properties.set_column_dictionary_enabled(path, false);
    }
    let mut writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties.build()))?;
    for first in (0..n_rows).step_by(ROWS_PER_GROUP) {
        let rows = first..(first + ROWS_PER_GROUP).min(n_rows);
        let mut group = writer.next_row_group()?;
        for column in columns {
            let mut out = group.next_column()?.expect("as many columns as the schema has");
            column.cells.write(&mut out, rows.clone())?;
            out.close()?;
        }
        group.close()?;
    }
    writer.close().map(drop)
}

impl Column<'_> {
    fn field(&self) -> Result<Type> {
        let (of, is_list) = match &self.cells {
            Cells::Flag(_) => (Physical::BOOLEAN, false),
            Cells::Integer(_) => (Physical::INT64, false),
            Cells::Real(_) => (Physical::DOUBLE, false),
            Cells::Text(_) => (Physical::BYTE_ARRAY, false),
            Cells::Integers(_) => (Physical::INT64, true),
            Cells::Reals(_) => (Physical::DOUBLE, true),
            Cells::Floats(_) => (Physical::FLOAT, true),
            Cells::Texts(_) => (Physical::BYTE_ARRAY, true),
        };
        let is_text = of == Physical::BYTE_ARRAY;
        let may_miss = !is_list || is_text;
        let single = |name: &str| {
            let repetition = if may_miss { Repetition::OPTIONAL } else { Repetition::REQUIRED };
            let builder = Type::primitive_type_builder(name, of).with_repetition(repetition);
            let text = builder.with_logical_type(is_text.then_some(LogicalType::String));
            text.build()
        };
        if !is_list {
            return single(&self.name);
        }
        // Three levels, as the format wants lists to be.
        let element = Arc::new(single("element")?);
        let list = Type::group_type_builder("list").with_repetition(Repetition::REPEATED);
        let list = Arc::new(list.with_fields(vec![element]).build()?);
        Type::group_type_builder(&self.name)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(Some(LogicalType::List))
            .with_converted_type(ConvertedType::LIST)
            .with_fields(vec![list])
            .build()
    }
}

impl Cells<'_> {
    fn len(&self) -> usize {
        match self {
            Cells::Flag(cells) => cells.len(),
            Cells::Integer(cells) => cells.len(),
            Cells::Real(cells) => cells.len(),
            Cells::Text(cells) => cells.len(),
            Cells::Integers(cells) => cells.len(),
            Cells::Reals(cells) => cells.len(),
            Cells::Floats(cells) => cells.len(),
            Cells::Texts(cells) => cells.len(),
        }
    }

    fn write(&self, out: &mut SerializedColumnWriter<'_>, rows: Range<usize>) -> Result<()> {
        let bytes = |text: &Option<&str>| text.map(ByteArray::from);
        match self {
            Cells::Flag(cells) => singles::<BoolType, _>(out, &cells[rows], |cell| *cell),
            Cells::Integer(cells) => singles::<Int64Type, _>(out, &cells[rows], |cell| *cell),
            Cells::Real(cells) => singles::<DoubleType, _>(out, &cells[rows], |cell| *cell),
            Cells::Text(cells) => singles::<ByteArrayType, _>(out, &cells[rows], bytes),
            Cells::Integers(cells) => lists::<Int64Type, _, _>(out, &cells[rows], 1, |cell| Some(*cell)),
            Cells::Reals(cells) => lists::<DoubleType, _, _>(out, &cells[rows], 1, |cell| Some(*cell)),
            Cells::Floats(cells) => lists::<FloatType, _, _>(out, &cells[rows], 1, |cell| Some(*cell)),
            Cells::Texts(cells) => lists::<ByteArrayType, _, _>(out, &cells[rows], 2, bytes),
        }
    }
}

/// Cells that are there have definition level 1, the others 0 and no value.
fn singles<T: DataType, C>(
    out: &mut SerializedColumnWriter<'_>,
    cells: &[C],
    value: impl Fn(&C) -> Option<T::T>,
) -> Result<()> {
    let cells: Vec<Option<T::T>> = cells.iter().map(value).collect();
    let defined: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<T::T> = cells.into_iter().flatten().collect();
    out.typed::<T>().write_batch(&values, Some(&defined), None).map(drop)
}

/// The first element of a list has repetition level 0, the others 1. An empty list has definition level 0, an
/// element that is there `deepest`, one that is missing 1.
fn lists<T: DataType, C, L: AsRef<[C]>>(
    out: &mut SerializedColumnWriter<'_>,
    cells: &[L],
    deepest: i16,
    value: impl Fn(&C) -> Option<T::T>,
) -> Result<()> {
    let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    for list in cells.iter().map(AsRef::as_ref) {
        if list.is_empty() {
            defined.push(0);
            repeated.push(0);
        }
        for (place, cell) in list.iter().enumerate() {
            let value = value(cell);
            defined.push(if value.is_some() { deepest } else { 1 });
            repeated.push(i16::from(place > 0));
            values.extend(value);
        }
    }
    out.typed::<T>().write_batch(&values, Some(&defined), Some(&repeated)).map(drop)
}

/// What the file system refused, as it said it.
fn plain(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(inner) => *inner,
            Err(inner) => io::Error::other(inner),
        },
        other => io::Error::other(other),
    }
}

//! Datasets, model files and draws on disk.
//!
//! A dataset is a folder with `embeddings.npy` (N x D numbers) and `faces.csv` (one row per face); `.npz`
//! files and OpenFace's `reps.csv` + `labels.csv` are read too, and Parquet is written. Bad data are refused
//! with one line that names file, row, what was found and what was wanted ([`error`]); [`place`] says how
//! rows are counted. What is written appears whole or not at all, and never in the place of something else.
//!
//! ```
//! use kith::data::{Dataset, NewFace};
//! use kith_io::dataset::{self, FaceTable};
//!
//! let mut seen = Dataset::empty(2)?;
//! let ann = NewFace { embedding: &[0.5, 1.0], name: Some("Ann") };
//! let somebody = NewFace { embedding: &[-1.0, 0.25], name: None };
//! seen.push_frame(Some("home"), &[ann, somebody])?;
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("seen");
//! dataset::write(&path, &FaceTable::new(seen.clone()))?;
//! let table = dataset::read(&path)?;
//! assert_eq!(table.dataset, seen);
//! assert_eq!(table.faces, ["0", "1"]);
//!
//! std::fs::write(path.join("faces.csv"), "face,name\n0,Ann\n")?;
//! let error = dataset::read(&path).unwrap_err().to_string();
//! assert!(error.contains("faces.csv: found 1 rows, wanted 2"), "{error}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod atomic;
mod columns;
mod csv_lines;
pub mod dataset;
pub mod draws;
pub mod error;
mod faces_csv;
pub mod model_file;
mod model_keys;
pub mod npy;
mod npy_header;
mod npy_text;
mod npy_type;
pub mod npz;
pub mod openface;
pub mod parquet_table;
pub mod place;
mod rows;
mod table;
pub mod terminal;
pub mod time;

pub use error::IoError;

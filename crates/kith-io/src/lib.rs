//! Datasets, model files and draws on disk.

mod atomic;
pub mod error;
pub mod npy;
mod npy_header;
mod npy_type;
pub mod place;

pub use error::IoError;

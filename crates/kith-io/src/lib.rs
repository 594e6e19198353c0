//! Datasets, model files and draws on disk.
pub mod draws;
pub mod model_file;
mod model_keys;

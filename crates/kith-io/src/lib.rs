//! Datasets, model files and draws on disk.

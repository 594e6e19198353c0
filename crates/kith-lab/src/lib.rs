//! The laboratory: how good and how calibrated answers are.

pub mod metrics;

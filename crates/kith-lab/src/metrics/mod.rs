//! Measures of probabilities against what was true.

mod calibration;
mod ranking;

pub use calibration::{Bin, brier, expected_calibration_error, reliability};
pub use ranking::auc;

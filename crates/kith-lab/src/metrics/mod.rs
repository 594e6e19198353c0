//! Measures of answers against what was true.

mod calibration;
mod interval;
mod pairs;
mod ranking;

pub use calibration::{Bin, brier, expected_calibration_error, reliability};
pub use interval::Interval;
pub use kith::predict::partition::{adjusted_rand_index, variation_of_information};
pub use pairs::{Pairs, pairwise};
pub use ranking::{RocPoint, auc, roc, true_positive_rate};

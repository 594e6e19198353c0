//! A number with its spread: mean, median, and highest-density intervals.

use kith::chain::diagnostics::highest_density_interval;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Where values lie.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Their mean.
    pub mean: f64,
    /// Their median.
    pub median: f64,
    /// The shortest interval with half of them.
    pub half: [f64; 2],
    /// The shortest interval with 95 % of them.
    pub hdi: [f64; 2],
}

impl Interval {
    /// Of at least one value.
    pub fn of(values: &[f64]) -> Self {
        assert!(!values.is_empty(), "an interval is of at least one value");
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let median =
            if sorted.len() % 2 == 1 { sorted[middle] } else { 0.5 * (sorted[middle - 1] + sorted[middle]) };
        Self {
            mean: values.iter().sum::<f64>() / values.len() as f64,
            median,
            half: highest_density_interval(values, 0.5),
            hdi: highest_density_interval(values, 0.95),
        }
    }

    /// Whether two 95 % intervals have a point in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.hdi[0] <= other.hdi[1] && other.hdi[0] <= self.hdi[1]
    }

    /// `{"mean", "hdi", "median", "half"}`.
    pub fn to_json(&self) -> Value {
        json!({"mean": self.mean, "hdi": self.hdi, "median": self.median, "half": self.half})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hand_computed_case() {
        let interval = Interval::of(&[5.0, 1.0, 2.0, 4.0]);
        assert_eq!((interval.mean, interval.median), (3.0, 3.0));
        // Two of four: 1 to 2 and 4 to 5 are as short, the first is taken. All four for 95 %.
        assert_eq!((interval.half, interval.hdi), ([1.0, 2.0], [1.0, 5.0]));
        assert_eq!(Interval::of(&[1.0, 7.0, 2.0]).median, 2.0);
    }

    #[test]
    fn intervals_overlap_or_not() {
        let [low, middle, high] = [[0.0, 1.0], [1.0, 2.0], [1.5, 3.0]].map(|pair| Interval::of(&pair));
        assert!(low.overlaps(&middle) && middle.overlaps(&high) && !low.overlaps(&high));
    }
}

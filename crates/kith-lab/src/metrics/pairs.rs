//! Pairs of faces: which of those put together belong together, and which of those that do were put together.

use std::collections::HashMap;

/// Agreement of a partition with the true one, by pairs of faces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pairs {
    /// Of the pairs put together, the share that belongs together; 1 where none was.
    pub precision: f64,
    /// Of the pairs that belong together, the share that was put together; 1 where there is none.
    pub recall: f64,
}

/// Compares a partition with the truth; labels are arbitrary numbers.
///
/// # Panics
/// If the two do not partition the same faces.
pub fn pairwise(found: &[u32], truth: &[u32]) -> Pairs {
    assert_eq!(found.len(), truth.len(), "two partitions of the same faces");
    let share = |part: u64, whole: u64| if whole == 0 { 1.0 } else { part as f64 / whole as f64 };
    let both = n_pairs(found.iter().zip(truth));
    Pairs { precision: share(both, n_pairs(found.iter())), recall: share(both, n_pairs(truth.iter())) }
}

/// How many pairs have the same label.
fn n_pairs<L: std::hash::Hash + Eq>(labels: impl Iterator<Item = L>) -> u64 {
    let mut sizes: HashMap<L, u64> = HashMap::new();
    labels.for_each(|label| *sizes.entry(label).or_default() += 1);
    sizes.values().map(|n| n * (n - 1) / 2).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{adjusted_rand_index, variation_of_information};

    #[test]
    fn a_hand_computed_case() {
        // {0 1 2} {3 4 5} against {0 1} {2 3} {4 5}: 6 pairs together, 3 belong together, 2 of them are both.
        let (found, truth) = ([7, 7, 7, 1, 1, 1], [0, 0, 1, 1, 2, 2]);
        assert_eq!(pairwise(&found, &truth), Pairs { precision: 2.0 / 6.0, recall: 2.0 / 3.0 });
        // Of 15 pairs: both 2, expected 6 * 3 / 15 = 1.2, at most (6 + 3) / 2 = 4.5.
        assert!((adjusted_rand_index(&found, &truth) - (2.0 - 1.2) / (4.5 - 1.2)).abs() < 1e-12);
        // H(found) = ln 2, H(truth) = ln 3, and parts of 2, 1, 1, 2 of six: H(both) = ln 6 - (2/3) ln 2.
        let joint = 6f64.ln() - 2.0 / 3.0 * 2f64.ln();
        let vi = 2.0 * joint - 2f64.ln() - 3f64.ln();
        assert!((variation_of_information(&found, &truth) - vi).abs() < 1e-12);
    }

    #[test]
    fn everybody_alone_has_no_wrong_pair() {
        assert_eq!(pairwise(&[0, 1, 2], &[5, 5, 6]), Pairs { precision: 1.0, recall: 0.0 });
        assert_eq!(pairwise(&[0, 0, 0], &[1, 2, 3]), Pairs { precision: 0.0, recall: 1.0 });
    }
}

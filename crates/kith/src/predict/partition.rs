//! How alike two partitions are: adjusted Rand index and variation of information.
//!
//! A partition is one label per face; which numbers serve as labels does not matter.

use std::collections::HashMap;

/// The same partition with labels 0, 1, ... in order of first appearance: equal for equal partitions.
///
/// ```
/// # use kith::predict::partition::canonical;
/// assert_eq!(canonical(&[7, 7, 2, 7, 9]), [0, 0, 1, 0, 2]);
/// ```
pub fn canonical(labels: &[u32]) -> Vec<u32> {
    let mut numbers = HashMap::new();
    let number = |label| {
        let next = numbers.len() as u32;
        *numbers.entry(label).or_insert(next)
    };
    labels.iter().map(number).collect()
}

/// Agreement on pairs of faces, corrected for chance (Hubert & Arabie 1985): 1 for equal partitions, 0 on
/// average for unrelated ones.
///
/// Partitions that agree on every pair have 1, also where chance could do no other (one face, nobody, all
/// alone, all together), as in scikit-learn.
///
/// # Panics
/// If the two do not partition the same faces.
pub fn adjusted_rand_index(a: &[u32], b: &[u32]) -> f64 {
    let overlap = Overlap::of(a, b);
    let square_sum = |sizes: &[u32]| sizes.iter().map(|&n| i128::from(n) * i128::from(n)).sum::<i128>();
    let (in_a, in_b, in_both) = (square_sum(&overlap.a), square_sum(&overlap.b), square_sum(&overlap.both));
    let n_faces = a.len() as i128;
    // Ordered pairs of faces, by whether a and b have them together; integers, so nothing is lost.
    let both = in_both - n_faces;
    let (only_a, only_b) = (in_a - in_both, in_b - in_both);
    let neither = n_faces * n_faces - in_a - in_b + in_both;
    if only_a == 0 && only_b == 0 {
        return 1.0;
    }
    let above_chance = 2 * (both * neither - only_a * only_b);
    let possible = (both + only_a) * (only_a + neither) + (both + only_b) * (only_b + neither);
    above_chance as f64 / possible as f64
}

/// Distance in nats (Meila 2007): what either partition leaves unsaid about the other, `H(a | b) + H(b | a)`.
///
/// # Panics
/// If the two do not partition the same faces.
pub fn variation_of_information(a: &[u32], b: &[u32]) -> f64 {
    let overlap = Overlap::of(a, b);
    let sum = |sizes: &[u32]| sizes.iter().map(|&n| n_ln_n(n)).sum::<f64>();
    let distance = sum(&overlap.a) + sum(&overlap.b) - 2.0 * sum(&overlap.both);
    if a.is_empty() { 0.0 } else { (distance / a.len() as f64).max(0.0) }
}

/// `n ln n`, 0 at 0.
pub(super) fn n_ln_n(n: u32) -> f64 {
    if n < 2 { 0.0 } else { f64::from(n) * libm::log(f64::from(n)) }
}

/// Sizes of the clusters of two partitions and of their non-empty intersections.
struct Overlap {
    a: Vec<u32>,
    b: Vec<u32>,
    both: Vec<u32>,
}

impl Overlap {
    fn of(a: &[u32], b: &[u32]) -> Self {
        assert_eq!(a.len(), b.len(), "two partitions of the same faces");
        let pairs = a.iter().zip(b).map(|(&a, &b)| u64::from(a) << 32 | u64::from(b));
        let widened = |labels: &[u32]| run_lengths(labels.iter().map(|&label| u64::from(label)).collect());
        Self { a: widened(a), b: widened(b), both: run_lengths(pairs.collect()) }
    }
}

/// How often each value occurs, in order of size so that relabelling changes no rounding.
fn run_lengths(mut values: Vec<u64>) -> Vec<u32> {
    values.sort_unstable();
    let mut lengths: Vec<u32> = values.chunk_by(u64::eq).map(|run| run.len() as u32).collect();
    lengths.sort_unstable();
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A deterministic stream of partitions of `n_faces` faces into at most `n_labels`.
    fn partitions(n_faces: usize, n_labels: u64, count: usize) -> Vec<Vec<u32>> {
        let mut bits = 17_u64;
        let mut label = || {
            bits = bits.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((bits >> 33) % n_labels) as u32
        };
        (0..count).map(|_| (0..n_faces).map(|_| label()).collect()).collect()
    }

    #[test]
    fn the_adjusted_rand_index_agrees_with_scikit_learn() {
        let cases: [(&[u32], &[u32], f64); 9] = [
            (&[0, 0, 1, 1], &[0, 0, 1, 2], 0.5714285714285714),
            (&[0, 0, 1, 1], &[0, 1, 0, 1], -0.5),
            (&[0, 0, 0, 1, 1, 1], &[0, 0, 1, 1, 2, 2], 0.24242424242424243),
            (&[0, 0, 0, 0], &[0, 1, 2, 3], 0.0),
            (&[5, 5, 9, 9], &[1, 1, 0, 0], 1.0),
            (&[0, 0, 0], &[4, 4, 4], 1.0),
            (&[0, 1, 2], &[2, 1, 0], 1.0),
            (&[3], &[8], 1.0),
            (&[], &[], 1.0),
        ];
        for (a, b, wanted) in cases {
            assert!((adjusted_rand_index(a, b) - wanted).abs() < 1e-15, "{a:?} {b:?}");
            assert_eq!(adjusted_rand_index(a, b), adjusted_rand_index(b, a));
        }
    }

    #[test]
    fn the_adjusted_rand_index_counts_pairs_of_many_faces_exactly() {
        // 200,000 faces: pair counts near 4e10, products beyond 64 bits. Halves against quarters, by hand:
        // with N faces 2 * both / (pairs in a + pairs in b), corrected for chance.
        let n = 200_000_u32;
        let halves: Vec<u32> = (0..n).map(|face| face % 2).collect();
        let quarters: Vec<u32> = (0..n).map(|face| face % 4).collect();
        let pairs = |size: f64| size * (size - 1.0) / 2.0;
        let (a, b) = (2.0 * pairs(1e5), 4.0 * pairs(5e4));
        let chance = a * b / pairs(2e5);
        let wanted = (b - chance) / ((a + b) / 2.0 - chance);
        assert!((adjusted_rand_index(&halves, &quarters) - wanted).abs() < 1e-12);
    }

    #[test]
    fn the_variation_of_information_agrees_with_entropies_by_hand() {
        let ln_2 = std::f64::consts::LN_2;
        // All together against two halves: one bit is left unsaid. Crossed halves: one bit each way.
        assert!((variation_of_information(&[0, 0, 0, 0], &[0, 0, 1, 1]) - ln_2).abs() < 1e-15);
        assert!((variation_of_information(&[0, 0, 1, 1], &[0, 1, 0, 1]) - 2.0 * ln_2).abs() < 1e-15);
        // All alone against all together: ln N.
        assert!((variation_of_information(&[0, 1, 2, 3, 4], &[9; 5]) - 5_f64.ln()).abs() < 1e-15);
        // One pair of six faces parted: (2 ln 2) / 6.
        let parted = variation_of_information(&[0, 0, 1, 1, 1, 2], &[0, 3, 1, 1, 1, 2]);
        assert!((parted - ln_2 / 3.0).abs() < 1e-15);
        assert_eq!(variation_of_information(&[], &[]), 0.0);
    }

    #[test]
    fn the_variation_of_information_is_a_metric() {
        let all = partitions(7, 4, 40);
        for a in &all {
            for b in &all {
                let distance = variation_of_information(a, b);
                assert_eq!(distance == 0.0, canonical(a) == canonical(b), "{a:?} {b:?}");
                assert_eq!(distance, variation_of_information(b, a));
                assert_eq!(distance, variation_of_information(&canonical(a), &canonical(b)));
                for c in &all {
                    let detour = variation_of_information(a, c) + variation_of_information(c, b);
                    assert!(distance <= detour + 1e-14, "{a:?} {b:?} {c:?}");
                }
            }
        }
    }

    #[test]
    fn relabelling_and_swapping_change_no_adjusted_rand_index() {
        let all = partitions(9, 3, 30);
        for a in &all {
            for b in &all {
                let relabelled: Vec<u32> = a.iter().map(|label| 1000 - 7 * label).collect();
                assert_eq!(adjusted_rand_index(a, b), adjusted_rand_index(b, a));
                assert_eq!(adjusted_rand_index(a, b), adjusted_rand_index(&relabelled, b));
                assert_eq!(adjusted_rand_index(a, b) == 1.0, canonical(a) == canonical(b));
            }
        }
    }
}

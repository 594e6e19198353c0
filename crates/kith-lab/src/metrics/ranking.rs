//! How well scores rank: the ROC curve and the area under it.

use serde::{Deserialize, Serialize};

/// The probability that a positive scores above a negative, ties counted half. `None` without both kinds.
pub fn auc(scores: &[f64], is_positive: &[bool]) -> Option<f64> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let n_positive = is_positive.iter().filter(|&&is| is).count();
    let n_negative = scores.len() - n_positive;
    if n_positive == 0 || n_negative == 0 {
        return None;
    }
    // The sum of the positives' ranks, tied scores sharing their mean rank.
    let mut rank_sum = 0.0;
    let mut first = 0;
    while first < order.len() {
        let tied = order[first..].iter().take_while(|&&k| scores[k] == scores[order[first]]).count();
        let mean_rank = first as f64 + 0.5 * (tied as f64 + 1.0);
        let positives = order[first..first + tied].iter().filter(|&&k| is_positive[k]).count();
        rank_sum += mean_rank * positives as f64;
        first += tied;
    }
    let (p, n) = (n_positive as f64, n_negative as f64);
    Some((rank_sum - 0.5 * p * (p + 1.0)) / (p * n))
}

/// One threshold of a ROC curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RocPoint {
    /// The share of negatives that score above the threshold.
    pub false_positives: f64,
    /// The share of positives that do.
    pub true_positives: f64,
}

/// The curve from (0, 0) to (1, 1), a point per distinct score. Empty without both kinds.
pub fn roc(scores: &[f64], is_positive: &[bool]) -> Vec<RocPoint> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let n_positive = is_positive.iter().filter(|&&is| is).count();
    let n_negative = scores.len() - n_positive;
    if n_positive == 0 || n_negative == 0 {
        return Vec::new();
    }
    let (mut hits, mut alarms) = (0, 0);
    let mut curve = vec![RocPoint { false_positives: 0.0, true_positives: 0.0 }];
    for (place, &k) in order.iter().enumerate() {
        if is_positive[k] {
            hits += 1
        } else {
            alarms += 1
        }
        if order.get(place + 1).is_none_or(|&next| scores[next] != scores[k]) {
            curve.push(RocPoint {
                false_positives: alarms as f64 / n_negative as f64,
                true_positives: hits as f64 / n_positive as f64,
            });
        }
    }
    curve
}

/// The height of a curve at a share of false positives: straight between points, the top where it is
/// vertical.
pub fn true_positive_rate(curve: &[RocPoint], false_positives: f64) -> f64 {
    let after = curve.partition_point(|point| point.false_positives <= false_positives);
    let Some(left) = curve[..after].last() else { return 0.0 };
    let Some(right) = curve.get(after) else { return left.true_positives };
    let share = (false_positives - left.false_positives) / (right.false_positives - left.false_positives);
    left.true_positives + share * (right.true_positives - left.true_positives)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_of_a_hand_computed_case() {
        // By falling score: + - (+ -) -, the two in brackets tied.
        let (scores, is) = ([0.9, 0.8, 0.5, 0.5, 0.1], [true, false, true, false, false]);
        let curve = roc(&scores, &is);
        let points: Vec<(f64, f64)> = curve.iter().map(|p| (p.false_positives, p.true_positives)).collect();
        assert_eq!(points, [(0.0, 0.0), (0.0, 0.5), (1.0 / 3.0, 0.5), (2.0 / 3.0, 1.0), (1.0, 1.0)]);
        assert_eq!(true_positive_rate(&curve, 0.0), 0.5);
        assert!((true_positive_rate(&curve, 0.5) - 0.75).abs() < 1e-12);
        assert_eq!(true_positive_rate(&curve, 1.0), 1.0);
        // The area by trapezoids is the share of pairs in order.
        let area: f64 = curve
            .windows(2)
            .map(|p| {
                (p[1].false_positives - p[0].false_positives)
                    * 0.5
                    * (p[0].true_positives + p[1].true_positives)
            })
            .sum();
        assert!((area - auc(&scores, &is).unwrap()).abs() < 1e-12);
        assert!(roc(&[0.5], &[true]).is_empty());
    }

    #[test]
    fn it_counts_pairs_in_the_right_order() {
        // Positives 0.9, 0.4; negatives 0.5, 0.1: three of four pairs are in order.
        assert_eq!(auc(&[0.9, 0.5, 0.4, 0.1], &[true, false, true, false]), Some(0.75));
        assert_eq!(auc(&[0.9, 0.1], &[true, false]), Some(1.0));
        assert_eq!(auc(&[0.3, 0.3, 0.3], &[true, false, false]), Some(0.5));
        assert_eq!(auc(&[0.3, 0.3, 0.1], &[true, false, false]), Some(0.75));
        assert_eq!(auc(&[0.3, 0.2], &[true, true]), None);
        assert_eq!(auc(&[], &[]), None);
    }
}

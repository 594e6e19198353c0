//! How well scores rank: the area under the ROC curve.

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

#[cfg(test)]
mod tests {
    use super::*;

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

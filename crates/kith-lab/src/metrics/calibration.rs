//! Whether probabilities mean what they say: Brier score, reliability table, expected calibration error.

/// Faces of like probability: how many, what was said on average, and how often it was so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// How many.
    pub n: usize,
    /// The mean probability.
    pub said: f64,
    /// The share that was true.
    pub was: f64,
}

/// The mean squared difference between a probability and what was true.
pub fn brier(p: &[f64], was: &[bool]) -> f64 {
    p.iter().zip(was).map(|(p, &was)| (p - f64::from(u8::from(was))).powi(2)).sum::<f64>() / p.len() as f64
}

/// At most `n_bins` bins with as equal numbers as possible, by rising probability.
pub fn reliability(p: &[f64], was: &[bool], n_bins: usize) -> Vec<Bin> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let edge = |bin: usize| bin * p.len() / n_bins;
    let bins = (0..n_bins).map(|bin| &order[edge(bin)..edge(bin + 1)]).filter(|members| !members.is_empty());
    bins.map(|members| {
        let n = members.len() as f64;
        Bin {
            n: members.len(),
            said: members.iter().map(|&k| p[k]).sum::<f64>() / n,
            was: members.iter().filter(|&&k| was[k]).count() as f64 / n,
        }
    })
    .collect()
}

/// The mean over faces of the difference between what was said and what was so in their bin.
pub fn expected_calibration_error(bins: &[Bin]) -> f64 {
    let total: usize = bins.iter().map(|bin| bin.n).sum();
    bins.iter().map(|bin| bin.n as f64 * (bin.said - bin.was).abs()).sum::<f64>() / total as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hand_computed_case() {
        let p = [0.1, 0.2, 0.8, 0.6];
        let was = [false, true, true, false];
        // (0.01 + 0.64 + 0.04 + 0.36) / 4
        assert!((brier(&p, &was) - 0.2625).abs() < 1e-12);
        let bins = reliability(&p, &was, 2);
        assert_eq!(bins.len(), 2);
        assert_eq!((bins[0].n, bins[1].n), (2, 2));
        assert!((bins[0].said - 0.15).abs() < 1e-12 && bins[0].was == 0.5);
        assert!((bins[1].said - 0.7).abs() < 1e-12 && bins[1].was == 0.5);
        assert!((expected_calibration_error(&bins) - 0.275).abs() < 1e-12);
    }

    #[test]
    fn more_bins_than_faces_leave_no_empty_bin() {
        let bins = reliability(&[0.5, 0.9], &[true, true], 15);
        assert_eq!(bins.iter().map(|bin| bin.n).collect::<Vec<_>>(), [1, 1]);
    }
}

//! The share of strangers that photos make probable, each by what all others say (deviation D11).

use crate::predict::posterior::Pooled;

/// Rounds at most, and the change of a probability that ends them.
const ROUNDS: usize = 500;
const STILL: f64 = 1e-6;

/// Pseudo-counts of strangers and of people seen: alpha_c pi_0' and alpha_c (1 - pi_0'), alpha_c the mean of
/// all contexts.
pub(super) fn prior(draw: &Pooled) -> [f64; 2] {
    let total: f64 = draw.contexts.iter().map(|context| context.concentration).sum();
    let alpha_c = total / draw.contexts.len() as f64;
    let of_seen: f64 = draw.ln_weight.iter().map(|ln| ln.exp()).sum();
    [alpha_c * draw.ln_unseen.exp(), alpha_c * of_seen].map(|count| count.max(1e-12))
}

/// For photos of these sizes, whose faces have these ln ratios: the share of strangers that each photo's
/// others make probable, then that of all.
pub(super) fn shares(ln_ratios: &[f64], sizes: &[usize], prior: [f64; 2]) -> Vec<f64> {
    let n = ln_ratios.len() as f64;
    let [a, b] = prior;
    let mut p = vec![a / (a + b); ln_ratios.len()];
    for _ in 0..ROUNDS {
        let mut sum: f64 = p.iter().sum();
        let mut change = 0.0f64;
        for (p, ln_ratio) in p.iter_mut().zip(ln_ratios) {
            let others = sum - *p;
            let ln_odds = ln_ratio + (a + others).ln() - (b + n - 1.0 - others).ln();
            let next = 1.0 / (1.0 + (-ln_odds).exp());
            change = change.max((next - *p).abs());
            *p = next;
            sum = others + next;
        }
        if change < STILL {
            break;
        }
    }
    let total: f64 = p.iter().sum();
    let mut first = 0;
    let mut found: Vec<f64> = sizes
        .iter()
        .map(|&size| {
            let own: f64 = p[first..first + size].iter().sum();
            first += size;
            (a + total - own) / (a + b + n - size as f64)
        })
        .collect();
    found.push((a + total) / (a + b + n));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_faces_leave_no_doubt_the_share_is_that_of_the_counts() {
        let [a, b] = [0.7, 2.5];
        let ln_ratios = [50.0, 60.0, -50.0, 80.0, -70.0];
        let found = shares(&ln_ratios, &[2, 1, 2], [a, b]);
        let wanted = [
            (a + 1.0) / (a + b + 3.0),
            (a + 3.0) / (a + b + 4.0),
            (a + 2.0) / (a + b + 3.0),
            (a + 3.0) / (a + b + 5.0),
        ];
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-9, "{found} {wanted}");
        }
    }

    #[test]
    fn one_face_alone_has_the_prior_share_and_many_have_their_own() {
        assert!((shares(&[1.3], &[1], [1.0, 3.0])[0] - 0.25).abs() < 1e-12);
        // Faces with normal ln ratios of mean +-2 and variance 4 are calibrated evidence; 600 of 2,000 are
        // strangers.
        let mut rng = crate::random::driver(3);
        let ln_ratios: Vec<f64> =
            (0..2_000).map(|n| if n < 600 { 2.0 } else { -2.0 } + 2.0 * rng.normal()).collect();
        let found = shares(&ln_ratios, &[1; 2_000], [1.0, 3.0]);
        // The share is known to about sqrt(0.3 0.7 / 2,000) = 0.01, and half as much again for the overlap.
        assert!((found[2_000] - 0.3).abs() < 0.06, "{}", found[2_000]);
    }
}

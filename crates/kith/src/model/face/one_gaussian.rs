//! Faces as draws of one Gaussian: what they look like where nobody is seen twice.

use faer::Mat;

use super::two_covariance::eigen;
use crate::data::Embeddings;

/// A variance below this share of the average counts as this: no model of people has axes without any.
const FLAT: f64 = 0.1;

/// ln density of the faces under the likeliest Gaussian, less the number of its parameters (Akaike), of two:
/// equal variances, or any covariance.
pub(crate) fn ln_gaussian(embeddings: &Embeddings) -> f64 {
    let (n, d) = (embeddings.len() as f64, embeddings.dimension());
    let mut mean = vec![0.0; d];
    for row in embeddings.rows() {
        mean.iter_mut().zip(row).for_each(|(mean, &x)| *mean += f64::from(x) / n);
    }
    let centred = Mat::from_fn(embeddings.len(), d, |r, c| f64::from(embeddings.row(r)[c]) - mean[c]);
    let (scatter, _) = eigen(&(centred.transpose() * &centred));
    let average = (scatter.iter().sum::<f64>() / (n * d as f64)).max(f64::MIN_POSITIVE);
    let ln = |variance: f64, sum_of_squares: f64| {
        -0.5 * (n * (2.0 * std::f64::consts::PI * variance).ln() + sum_of_squares / variance)
    };
    let round: f64 = scatter.iter().map(|&sum| ln(average, sum)).sum();
    let any: f64 = scatter.iter().map(|&sum| ln((sum / n).max(FLAT * average), sum)).sum();
    let n_parameters = |covariance: usize| (d + covariance) as f64;
    (round - n_parameters(1)).max(any - n_parameters(d * (d + 1) / 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::driver;

    #[test]
    fn a_covariance_is_taken_where_it_is_likelier_and_not_for_noise() {
        let faces = |widths: [f64; 2], n: usize| {
            let mut rng = driver(9);
            let x = (0..n).flat_map(|_| widths.map(|width| (width * rng.normal()) as f32));
            Embeddings::new(x.collect(), 2).unwrap()
        };
        // 1,000 draws: -n (1 + ln 2 pi) in the units of a standard deviation, which adds ln 4 a draw; the
        // standard error is sqrt n = 32.
        let plain = -1000.0 * (1.0 + (2.0 * std::f64::consts::PI).ln());
        assert!((ln_gaussian(&faces([1.0, 1.0], 1000)) - plain).abs() < 120.0);
        let wide = ln_gaussian(&faces([2.0, 2.0], 1000));
        assert!((wide - (plain - 1000.0 * 4.0_f64.ln())).abs() < 120.0, "{wide}");
        let long = ln_gaussian(&faces([4.0, 1.0], 1000));
        assert!((long - (plain - 1000.0 * 4.0_f64.ln())).abs() < 120.0, "{long}");
        // Equal faces have no variance; the density is finite all the same.
        assert!(ln_gaussian(&Embeddings::new(vec![1.0; 20], 2).unwrap()).is_finite());
    }
}

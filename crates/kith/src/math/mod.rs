//! Numerics that several parts need: logarithms of sums, of Gamma functions and of rising factorials.

pub mod normal;
pub mod triangle;
pub mod vectors;

/// ln Gamma(x), for x > 0.
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// ln (exp(a) + exp(b)).
pub fn ln_add_exp(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if high == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

/// ln of the sum of the exponentials.
pub fn ln_sum_exp(values: &[f64]) -> f64 {
    let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if highest == f64::NEG_INFINITY {
        return highest;
    }
    highest + values.iter().map(|value| (value - highest).exp()).sum::<f64>().ln()
}

/// The probabilities that have these ln weights.
pub(crate) fn shares(ln_weights: &[f64]) -> Vec<f64> {
    let ln_total = ln_sum_exp(ln_weights);
    ln_weights.iter().map(|ln| (ln - ln_total).exp()).collect()
}

/// ln (1 - exp(x)), for x < 0, accurate near both ends (Maechler 2012).
pub fn ln_1m_exp(x: f64) -> f64 {
    if x > -std::f64::consts::LN_2 { (-x.exp_m1()).ln() } else { (-x.exp()).ln_1p() }
}

/// ln of the rising factorial x (x + 1) ... (x + n - 1) with x = exp(ln_x), which may underflow.
pub fn ln_rising(ln_x: f64, n: f64) -> f64 {
    if n == 0.0 {
        return 0.0;
    }
    // Gamma(x) is 1/x to double precision here, and x itself may be zero.
    if ln_x < -40.0 {
        return ln_x + ln_gamma(n);
    }
    let x = ln_x.exp();
    ln_gamma(x + n) - ln_gamma(x)
}

/// ln of the Gamma(shape, rate) density.
pub fn ln_gamma_density(x: f64, shape: f64, rate: f64) -> f64 {
    shape * rate.ln() - ln_gamma(shape) + (shape - 1.0) * x.ln() - rate * x
}

/// ln of the Beta(a, b) density.
pub fn ln_beta_density(x: f64, a: f64, b: f64) -> f64 {
    ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + (a - 1.0) * x.ln() + (b - 1.0) * (-x).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_of_sums_keep_their_digits() {
        assert!((ln_add_exp(-1000.0, -1000.0) - (-1000.0 + 2f64.ln())).abs() < 1e-12);
        assert_eq!(ln_add_exp(f64::NEG_INFINITY, -3.0), -3.0);
        assert!((ln_sum_exp(&[0.0, 3f64.ln(), f64::NEG_INFINITY]) - 4f64.ln()).abs() < 1e-14);
        assert!((ln_1m_exp(-1e-20) - (1e-20f64).ln()).abs() < 1e-12);
        assert!((ln_1m_exp(-50.0) + (-50f64).exp()).abs() < 1e-30);
    }

    #[test]
    fn a_rising_factorial_is_a_product() {
        for x in [1e-3, 0.7, 12.5] {
            let product: f64 = (0..5).map(|k| x + k as f64).product();
            assert!((ln_rising(f64::ln(x), 5.0) - product.ln()).abs() < 1e-12);
        }
        let (below, above) = (ln_rising(-40.0 - 1e-9, 3.0), ln_rising(-40.0 + 1e-9, 3.0));
        assert!((below - above).abs() < 1e-7);
        assert!((ln_rising(-5000.0, 3.0) - (-5000.0 + 2f64.ln())).abs() < 1e-12);
    }
}

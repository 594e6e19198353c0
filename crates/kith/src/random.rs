//! Every draw the project makes: one generator, one stream per chain, all distributions written out.
//!
//! Distributions are ours rather than a library's because a run is promised to repeat bit for bit, and
//! libraries change their algorithms between versions.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng};
use serde::{Deserialize, Serialize};

/// The generator: ChaCha with 8 rounds. It is part of a checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rng(ChaCha8Rng);

/// The stream of a chain: chains of one seed never overlap. Stream 0 is the driver's, see [`driver`].
pub fn stream(seed: u64, chain: u64) -> Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(chain + 1);
    Rng(generator)
}

/// The stream for everything that belongs to no chain.
pub fn driver(seed: u64) -> Rng {
    Rng(ChaCha8Rng::seed_from_u64(seed))
}

impl Rng {
    /// Uniform on the open interval (0, 1), so that its logarithm is finite.
    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) * (1.0 / (1u64 << 53) as f64)
    }

    /// A seed for streams of their own.
    pub fn seed(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform on 0, 1, ..., n - 1.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "there is nothing to choose from");
        // The high half of a 128-bit product; its bias is below n / 2^64.
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }

    /// True with probability `p`.
    pub fn bernoulli(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// Standard normal (Marsaglia's polar method; the second value is not kept, so that the generator's
    /// position is the whole of its state).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (u, v) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let s = u * u + v * v;
            if s < 1.0 && s > 0.0 {
                return u * (-2.0 * s.ln() / s).sqrt();
            }
        }
    }

    /// The logarithm of a Gamma(shape, 1) draw (Marsaglia & Tsang 2000). Shapes near zero put almost all
    /// their mass below the smallest positive `f64`, hence the logarithm.
    pub fn ln_gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let boost = self.uniform().ln() / shape;
            return self.ln_gamma(shape + 1.0) + boost;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = 1.0 + c * x;
            if v <= 0.0 {
                continue;
            }
            let ln_v = 3.0 * v.ln();
            if self.uniform().ln() < 0.5 * x * x + d - d * ln_v.exp() + d * ln_v {
                return d.ln() + ln_v;
            }
        }
    }

    /// Gamma(shape, rate).
    pub fn gamma(&mut self, shape: f64, rate: f64) -> f64 {
        (self.ln_gamma(shape) - rate.ln()).exp()
    }

    /// The logarithms of a Beta(a, b) draw and of its complement.
    pub fn ln_beta(&mut self, a: f64, b: f64) -> (f64, f64) {
        let (x, y) = (self.ln_gamma(a), self.ln_gamma(b));
        let total = crate::math::ln_add_exp(x, y);
        (x - total, y - total)
    }

    /// Beta(a, b).
    pub fn beta(&mut self, a: f64, b: f64) -> f64 {
        self.ln_beta(a, b).0.exp()
    }

    /// The logarithms of a Dirichlet draw, in place of its parameters.
    pub fn ln_dirichlet(&mut self, parameters: &mut [f64]) {
        for parameter in parameters.iter_mut() {
            *parameter = self.ln_gamma(*parameter);
        }
        let total = crate::math::ln_sum_exp(parameters);
        parameters.iter_mut().for_each(|ln| *ln -= total);
    }

    /// How often something that fails with probability `exp(ln_failure)` fails before it first succeeds.
    pub fn geometric(&mut self, ln_failure: f64) -> f64 {
        (self.uniform().ln() / ln_failure).floor()
    }

    /// An index drawn with the given log weights, which need not be normalised and are overwritten.
    pub fn categorical_ln(&mut self, ln_weights: &mut [f64]) -> usize {
        let highest = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !highest.is_finite() {
            crate::unweighable::give_up(None);
        }
        let mut total = 0.0;
        for weight in ln_weights.iter_mut() {
            // exp of less than -745 is zero; most seats are that far away and need no exponential.
            let below = *weight - highest;
            total += if below > -745.0 { below.exp() } else { 0.0 };
            *weight = total;
        }
        let u = self.uniform() * total;
        ln_weights.iter().position(|&up_to| u < up_to).unwrap_or(ln_weights.len() - 1)
    }

    /// Puts a list in random order (Fisher & Yates).
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks mean and variance of `n` draws against exact values, within 4.5 standard errors.
    fn moments(name: &str, exact_mean: f64, exact_var: f64, mut draw: impl FnMut() -> f64) {
        let n = 200_000;
        let values: Vec<f64> = (0..n).map(|_| draw()).collect();
        let mean = values.iter().sum::<f64>() / n as f64;
        let squares: Vec<f64> = values.iter().map(|v| (v - exact_mean).powi(2)).collect();
        let var = squares.iter().sum::<f64>() / n as f64;
        let var_of_square = squares.iter().map(|s| (s - var).powi(2)).sum::<f64>() / n as f64;
        let (se_mean, se_var) = ((exact_var / n as f64).sqrt(), (var_of_square / n as f64).sqrt());
        assert!((mean - exact_mean).abs() < 4.5 * se_mean, "{name}: mean {mean}, exact {exact_mean}");
        assert!((var - exact_var).abs() < 4.5 * se_var, "{name}: variance {var}, exact {exact_var}");
    }

    #[test]
    fn draws_have_the_moments_of_their_distributions() {
        let mut rng = driver(1);
        moments("uniform", 0.5, 1.0 / 12.0, || rng.uniform());
        moments("normal", 0.0, 1.0, || rng.normal());
        for (shape, rate) in [(0.2, 1.0), (1.0, 3.0), (4.5, 0.5), (300.0, 2.0)] {
            moments("gamma", shape / rate, shape / (rate * rate), || rng.gamma(shape, rate));
        }
        let (a, b): (f64, f64) = (0.7, 2.5);
        moments("beta", a / (a + b), a * b / ((a + b).powi(2) * (a + b + 1.0)), || rng.beta(a, b));
        let h = 0.6_f64;
        moments("geometric", h / (1.0 - h), h / (1.0 - h).powi(2), || rng.geometric(h.ln()));
        moments("below", 2.0, 2.0, || rng.below(5) as f64);
        moments("categorical", 0.75 + 2.0 * 0.125, 1.25 - 1.0, || {
            rng.categorical_ln(&mut [0.125_f64.ln(), 0.75_f64.ln(), 0.125_f64.ln()]) as f64
        });
    }

    #[test]
    fn a_gamma_of_tiny_shape_has_a_finite_logarithm() {
        let mut rng = driver(2);
        // ln X is close to ln(U) / shape, so its mean is close to -1 / shape.
        let mean = (0..10_000).map(|_| rng.ln_gamma(1e-24)).sum::<f64>() / 1e4;
        assert!((mean * 1e-24 + 1.0).abs() < 0.05, "{mean}");
    }

    #[test]
    fn streams_of_one_seed_differ_and_repeat() {
        let first: Vec<f64> = (0..4).map(|chain| stream(7, chain).uniform()).collect();
        let again: Vec<f64> = (0..4).map(|chain| stream(7, chain).uniform()).collect();
        assert_eq!(first, again);
        assert!(first.windows(2).all(|pair| pair[0] != pair[1]));
    }
}

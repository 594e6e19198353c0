//! How far a face lies from its person's others in general: a scale lambda per face, on a grid.
//!
//! A blurred or turned face spreads wider than a sharp frontal one. Face n has covariance Sigma_i / lambda_n,
//! where ln lambda has about a normal prior: `lambda_k = exp(-STEP spread k)`, k = FIRST..=LAST,
//! `p_k ~ exp(-(STEP k)^2 / 2)`. The wider tail (k > 0) has one point more: bad photos are commoner than
//! perfect ones.

use crate::random::Rng;

const FIRST: i32 = -3;
const LAST: i32 = 4;
/// The distance of two points of the grid, in standard deviations of ln lambda.
const STEP: f64 = 0.816_496_580_927_726;
/// How many points a grid has at most.
pub(super) const MOST: usize = (LAST - FIRST + 1) as usize;

/// The grid with its prior, in whole lanes: points that a shorter grid lacks are impossible.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scales {
    pub n: usize,
    pub lambda: PerScale,
    pub ln_p: PerScale,
}

/// One number per scale.
pub(crate) type PerScale = [f64; MOST];

impl Scales {
    /// `spread` is the standard deviation of ln lambda; with zero every face has lambda = 1.
    pub fn new(spread: f64) -> Self {
        let mut scales = Self { n: 1, lambda: [1.0; MOST], ln_p: [f64::NEG_INFINITY; MOST] };
        if spread == 0.0 {
            scales.ln_p[0] = 0.0;
            return scales;
        }
        let steps = || (FIRST..=LAST).map(|k| STEP * f64::from(k));
        let total: f64 = steps().map(|step| (-0.5 * step * step).exp()).sum();
        for (scale, step) in steps().enumerate() {
            scales.lambda[scale] = (-spread * step).exp();
            scales.ln_p[scale] = -0.5 * step * step - total.ln();
        }
        scales.n = MOST;
        scales
    }

    /// Where lambda is 1.
    pub fn middle(&self) -> u8 {
        if self.n == 1 { 0 } else { -FIRST as u8 }
    }

    /// A draw from the prior.
    pub fn draw(&self, rng: &mut Rng) -> u8 {
        rng.categorical_ln(&mut self.ln_p.clone()) as u8
    }
}

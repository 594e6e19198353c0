//! A positive hyperparameter: a number, or a Gamma prior under which it is learnt.

use super::{ModelError, check_positive, in_short};
use crate::math::ln_gamma_density;

/// A concentration, fixed or learnt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Strength {
    /// This number.
    Fixed(f64),
    /// Learnt under a Gamma(shape, rate) prior.
    Learnt {
        /// Shape.
        shape: f64,
        /// Rate (1 / scale).
        rate: f64,
    },
}

impl Strength {
    /// Where a chain starts: the number, or the prior's mean.
    pub fn start(self) -> f64 {
        match self {
            Self::Fixed(value) => value,
            Self::Learnt { shape, rate } => shape / rate,
        }
    }

    /// ln prior density; zero for a fixed number.
    pub fn ln_density(self, value: f64) -> f64 {
        match self {
            Self::Fixed(_) => 0.0,
            Self::Learnt { shape, rate } => ln_gamma_density(value, shape, rate),
        }
    }

    pub(super) fn check(self, key: &str) -> Result<(), ModelError> {
        match self {
            Self::Fixed(value) => check_positive(key, value),
            Self::Learnt { shape, rate } => {
                // Smaller shapes draw numbers below the smallest, larger ones are fixed numbers.
                for (part, value) in [("shape", shape), ("rate", rate)] {
                    if !(1e-3..=1e9).contains(&value) {
                        return Err(ModelError::value(
                            &format!("{key}.{part}"),
                            in_short(value),
                            "a number from 1e-3 to 1e9",
                        ));
                    }
                }
                Ok(())
            }
        }
    }
}

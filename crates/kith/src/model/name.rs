//! Names (§3): `H ~ DP(lambda, L)`, `y*_i ~ H`, an observed name is `y*_i` or, with probability epsilon, another.

use super::{ModelError, Strength, check_positive};

/// The name model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NameModel {
    /// lambda.
    pub concentration: Strength,
    /// epsilon.
    pub error_rate: ErrorRate,
    /// L.
    pub base: NameBase,
    /// Which conditional is sampled.
    pub update: NameUpdate,
}

/// epsilon: how often a given name is wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ErrorRate {
    /// This number.
    Fixed(f64),
    /// Learnt under a Beta(alpha, beta) prior.
    Learnt {
        /// Pseudo-count of wrong names.
        alpha: f64,
        /// Pseudo-count of right names.
        beta: f64,
    },
}

/// The base measure over strings (15): a geometric length of mean `phi`, characters uniform out of K.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NameBase {
    /// phi.
    pub mean_length: f64,
    /// K.
    pub alphabet_size: f64,
}

/// Which conditional the names are sampled from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameUpdate {
    /// H kept (deviation D5): the exact conditional of the joint.
    Exact,
    /// The paper's marginal form (C.14) with J_unknown restored (D4); not the conditional of any joint.
    Paper,
}

/// lambda, unless it is set: two people share a name, as people write names into a photo library, once in a thousand
/// pairs. It is not learnt: nobody observes the names of the unnamed, so that all its evidence is how many of the named
/// identities share a name, and those are mostly one person in pieces. Learnt, it falls with every piece, which gives
/// names to unnamed identities, which makes it fall further.
const CONCENTRATION: f64 = 1000.0;

impl Default for NameModel {
    fn default() -> Self {
        Self {
            concentration: Strength::Fixed(CONCENTRATION),
            error_rate: ErrorRate::Fixed(0.05),
            base: NameBase { mean_length: 5.0, alphabet_size: 26.0 },
            update: NameUpdate::Exact,
        }
    }
}

impl ErrorRate {
    /// Where a chain starts.
    pub fn start(self) -> f64 {
        match self {
            Self::Fixed(value) => value,
            Self::Learnt { alpha, beta } => alpha / (alpha + beta),
        }
    }
}

impl NameBase {
    /// ln L(l) (15), with |l| counted in Unicode characters.
    pub fn ln_mass(&self, name: &str) -> f64 {
        let (phi, k) = (self.mean_length, self.alphabet_size);
        let length = name.chars().count() as f64;
        -(phi - 1.0).ln() + length * ((phi - 1.0).ln() - phi.ln() - k.ln())
    }

    /// ln (1 - L(Y)): the base mass of all names that nobody has given.
    pub fn ln_unknown_mass(&self, names: &[String]) -> f64 {
        let known: f64 = names.iter().map(|name| self.ln_mass(name).exp()).sum();
        (-known).ln_1p()
    }
}

impl NameModel {
    /// Refuses values outside their ranges, and names that leave no room for others.
    pub fn check(&self, names: &[String]) -> Result<(), ModelError> {
        self.concentration.check("name.concentration")?;
        match self.error_rate {
            ErrorRate::Fixed(value) if !(value > 0.0 && value < 1.0) => {
                return Err(ModelError::value("name.error_rate", value, "a number between 0 and 1"));
            }
            ErrorRate::Fixed(_) => {}
            ErrorRate::Learnt { alpha, beta } => {
                check_positive("name.error_rate.alpha", alpha)?;
                check_positive("name.error_rate.beta", beta)?;
            }
        }
        if !(self.base.mean_length > 1.0 && self.base.mean_length <= 1e100) {
            return Err(ModelError::value("name.mean_length", self.base.mean_length, "a number above 1"));
        }
        if !(self.base.alphabet_size >= 1.0 && self.base.alphabet_size <= 1e100) {
            let found = self.base.alphabet_size;
            return Err(ModelError::value("name.alphabet_size", found, "a number of at least 1"));
        }
        let known: f64 = names.iter().map(|name| self.base.ln_mass(name).exp()).sum();
        if known >= 1.0 {
            let wanted = "more characters: the given names alone would have all the probability";
            return Err(ModelError::value("name.alphabet_size", self.base.alphabet_size, wanted));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_masses_of_all_strings_sum_to_one() {
        let base = NameBase { mean_length: 3.0, alphabet_size: 2.0 };
        // K^l strings of length l = 1, 2, ...
        let total: f64 = (1..200).map(|l| 2f64.powi(l) * base.ln_mass(&"x".repeat(l as usize)).exp()).sum();
        assert!((total - 1.0).abs() < 1e-12, "{total}");
        let mean: f64 =
            (1..200).map(|l| l as f64 * 2f64.powi(l) * base.ln_mass(&"x".repeat(l as usize)).exp()).sum();
        assert!((mean - 3.0).abs() < 1e-10, "{mean}");
    }

    #[test]
    fn length_counts_characters_not_bytes() {
        let base = NameBase { mean_length: 5.0, alphabet_size: 26.0 };
        assert_eq!(base.ln_mass("Zoë"), base.ln_mass("Zoe"));
    }
}

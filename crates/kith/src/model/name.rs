//! Names (§3): `H ~ DP(lambda, L)`, `y*_i ~ H`, an observed name is `y*_i` or, with probability epsilon,
//! another.

use std::collections::BTreeSet;

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

/// The base measure over strings (15): a geometric length of mean `phi`, characters uniform out of K. An
/// alphabet has every character that a given name has ([`NameBase::of`]): it is a measure whatever names are
/// given, in any script.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NameBase {
    /// phi.
    pub mean_length: f64,
    /// K, where fewer characters occur.
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

/// lambda, unless it is set: two people share a name, as people write names into a photo library, once in a
/// thousand pairs. It is not learnt: nobody observes the names of the unnamed, so that all its evidence is
/// how many of the named identities share a name, and those are mostly one person in pieces. Learnt, it falls
/// with every piece, which gives names to unnamed identities, which makes it fall further.
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

/// A difference from one that is no larger may be rounding alone.
const NO_DIGITS: f64 = 1e-9;

impl NameBase {
    /// The measure once these names are given: K is at least the number of characters that occur in them.
    pub fn of(self, names: &[String]) -> Self {
        let letters: BTreeSet<char> = names.iter().flat_map(|name| name.chars()).collect();
        Self { alphabet_size: self.alphabet_size.max(letters.len() as f64), ..self }
    }

    /// ln L(l) (15), with |l| counted in Unicode characters.
    pub fn ln_mass(&self, name: &str) -> f64 {
        let (phi, k) = (self.mean_length, self.alphabet_size);
        let length = name.chars().count() as f64;
        -(phi - 1.0).ln() + length * ((phi - 1.0).ln() - phi.ln() - k.ln())
    }

    /// ln (1 - L(Y)): the base mass of all names that nobody has given, where the alphabet has all their
    /// characters. All names longer than theirs are among them, which is what is left when the difference has
    /// no digits. One value per name: when it and those before it have been given.
    pub fn ln_unknown_masses(&self, names: &[String]) -> Vec<f64> {
        let (mut known, mut longest) = (0.0, 0);
        let left = |name: &String| {
            known += self.ln_mass(name).exp();
            longest = longest.max(name.chars().count());
            let longer = longest as f64 * (-1.0 / self.mean_length).ln_1p();
            if 1.0 - known > NO_DIGITS { f64::ln_1p(-known).max(longer) } else { longer }
        };
        names.iter().map(left).collect()
    }
}

impl NameModel {
    /// Refuses values outside their ranges.
    pub fn check(&self) -> Result<(), ModelError> {
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
    fn any_names_in_any_script_leave_room_for_others() {
        let every = |n: u32| char::from_u32(0x4e00 + n).unwrap().to_string();
        let base = NameModel::default().base;
        let few: Vec<String> = ["Ann", "Zo\u{eb}"].map(str::to_owned).to_vec();
        assert_eq!(base.of(&few), base, "as it is set where that is enough");
        let hanzi: Vec<String> = (0..5000).map(every).collect();
        assert_eq!(base.of(&hanzi).alphabet_size, 5000.0);
        // 5,000 names of one character have the mass of all names of one character.
        let left = base.of(&hanzi).ln_unknown_masses(&hanzi)[4999].exp();
        assert!((left - 0.8).abs() < 1e-9, "{left}");
        // Every name up to a length, where what is left has no digits as a difference.
        let one = NameBase { mean_length: 2.0, alphabet_size: 1.0 };
        let long: Vec<String> = (1..200).map(|n| "x".repeat(n)).collect();
        let left = one.of(&long).ln_unknown_masses(&long)[198];
        assert!((left - 199.0 * 0.5_f64.ln()).abs() < 1e-9, "{left}");
    }

    #[test]
    fn length_counts_characters_not_bytes() {
        let base = NameBase { mean_length: 5.0, alphabet_size: 26.0 };
        assert_eq!(base.ln_mass("Zoë"), base.ln_mass("Zoe"));
    }
}

//! How often what the owner says of a face is wrong (MODEL.md §7), for each kind of statement.

use super::ModelError;
use crate::data::Statement;

/// e of each kind of statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvidenceModel {
    /// How often "the same person" is said of two people.
    pub same: f64,
    /// How often "different people" is said of one.
    pub different: f64,
    /// How often a name is denied to somebody who has it.
    pub not: f64,
    /// How often a name is said of a face of somebody else. Names that come with data have `name.error_rate`.
    pub is: f64,
    /// How often the looks of a face are somebody else's, when something was said of it; the cube for the
    /// first of a name. Zero: never.
    pub odd: f64,
}

impl Default for EvidenceModel {
    /// Nobody errs so rarely; these are not how often people err but what makes a word decide the face that
    /// it is about. The odds that a face model gives to looks are overstated (tens of nats where a few photos
    /// in a hundred are answered wrongly), and a word that weighs less than they do is taken for a mistake,
    /// or strikes others. A wrong word costs the face that it is about, and can be taken back.
    fn default() -> Self {
        Self::all(1e-100)
    }
}

impl EvidenceModel {
    /// All kinds of statements alike.
    pub fn all(e: f64) -> Self {
        Self { same: e, different: e, not: e, is: e, odd: 1e-3 }
    }

    /// e of a statement.
    pub fn error_rate(&self, statement: Statement) -> f64 {
        match statement {
            Statement::Same(..) => self.same,
            Statement::Different(..) => self.different,
            Statement::Not(..) => self.not,
        }
    }

    /// ln of how much more two faces weigh together than apart, when so many people said that they are the
    /// same person and that they are different ones.
    pub fn ln_bond(&self, n_same: u32, n_different: u32) -> f64 {
        f64::from(n_same) * ln_odds(self.same) - f64::from(n_different) * ln_odds(self.different)
    }

    /// What a denied name weighs: ln ((1 - e) / e).
    pub fn ln_denial(&self) -> f64 {
        ln_odds(self.not)
    }

    pub(super) fn check(&self) -> Result<(), ModelError> {
        let keys = [("same", self.same), ("different", self.different), ("not", self.not), ("is", self.is)];
        for (key, e) in keys {
            if !(1e-300..0.5).contains(&e) {
                let key = format!("evidence.{key}");
                return Err(ModelError::value(&key, e, "a number above 0 and below 0.5"));
            }
        }
        if !(0.0..0.5).contains(&self.odd) {
            return Err(ModelError::value("evidence.odd", self.odd, "0, or a number below 0.5"));
        }
        Ok(())
    }
}

/// ln ((1 - e) / e).
pub(crate) fn ln_odds(e: f64) -> f64 {
    (-e).ln_1p() - e.ln()
}

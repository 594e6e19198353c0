//! Global weights `pi_0 = (pi_01, ..., pi_0I, pi_0')` and the concentrations alpha_0, alpha_c, gamma_0.

use serde::{Deserialize, Serialize};

use crate::ids::{ContextId, IdentityId};
use crate::math::ln_add_exp;

/// pi_0 by its logarithms (with a small alpha_0, pi_0' is often below the smallest `f64`) and concentrations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    /// ln pi_0i per slot; minus infinity for a free slot.
    #[serde(with = "slots")]
    pub(crate) ln_of: Vec<f64>,
    /// ln pi_0'.
    pub(crate) ln_unseen: f64,
    /// alpha_0.
    pub(crate) global_concentration: f64,
    /// alpha_c per context.
    pub(crate) local_concentration: Vec<f64>,
    /// gamma_0.
    pub(crate) context_concentration: f64,
}

impl Weights {
    /// ln pi_0i.
    pub fn ln_of(&self, identity: IdentityId) -> f64 {
        self.ln_of[identity.index()]
    }

    /// ln pi_0'.
    pub fn ln_unseen(&self) -> f64 {
        self.ln_unseen
    }

    /// alpha_0.
    pub fn global_concentration(&self) -> f64 {
        self.global_concentration
    }

    /// alpha_c.
    pub fn local_concentration(&self, context: ContextId) -> f64 {
        self.local_concentration[context.index()]
    }

    /// gamma_0.
    pub fn context_concentration(&self) -> f64 {
        self.context_concentration
    }

    /// A new identity takes the share b of pi_0': pi_new = b pi_0', pi_0' = (1 - b) pi_0'.
    pub(super) fn split(&mut self, identity: IdentityId, (ln_b, ln_rest): (f64, f64)) {
        if self.ln_of.len() <= identity.index() {
            self.ln_of.resize(identity.index() + 1, f64::NEG_INFINITY);
        }
        self.ln_of[identity.index()] = self.ln_unseen + ln_b;
        self.ln_unseen += ln_rest;
    }

    /// Deviation D2: an identity that empties gives its weight back, pi_0' += pi_0i.
    pub(super) fn give_back(&mut self, identity: IdentityId) {
        let weight = std::mem::replace(&mut self.ln_of[identity.index()], f64::NEG_INFINITY);
        self.ln_unseen = ln_add_exp(self.ln_unseen, weight);
    }
}

/// Stores a free slot as nothing: JSON has no infinity.
mod slots {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(ln_of: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        let slots: Vec<Option<f64>> = ln_of.iter().map(|ln| ln.is_finite().then_some(*ln)).collect();
        slots.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        let slots = Vec::<Option<f64>>::deserialize(deserializer)?;
        Ok(slots.into_iter().map(|ln| ln.unwrap_or(f64::NEG_INFINITY)).collect())
    }
}

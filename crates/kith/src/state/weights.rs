//! Global weights `pi_0 = (pi_01, ..., pi_0I, pi_0')` and the concentrations alpha_0, alpha_c, gamma_0.

use serde::{Deserialize, Serialize};

use crate::ids::{ContextId, IdentityId};
use crate::math::ln_add_exp;

/// ln of the weight of a free slot: none. Finite, because a checkpoint may be JSON, which has no infinity.
const FREE: f64 = f64::MIN;

/// pi_0 by its logarithms (with a small alpha_0, pi_0' is often below the smallest `f64`) and concentrations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    /// ln pi_0i per slot; [`FREE`] for a free slot.
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

    /// Multiplies all of pi_0 by e to the power of something.
    pub(crate) fn scale(&mut self, ln_factor: f64) {
        self.ln_of.iter_mut().for_each(|weight| *weight += ln_factor);
        self.ln_unseen += ln_factor;
    }

    /// A new identity takes the share b of pi_0': pi_new = b pi_0', pi_0' = (1 - b) pi_0'.
    pub(super) fn split(&mut self, identity: IdentityId, (ln_b, ln_rest): (f64, f64)) {
        if self.ln_of.len() <= identity.index() {
            self.ln_of.resize(identity.index() + 1, FREE);
        }
        self.ln_of[identity.index()] = self.ln_unseen + ln_b;
        self.ln_unseen += ln_rest;
    }

    /// An identity is split: its weight is divided between itself and a new one.
    pub(super) fn divide(&mut self, identity: IdentityId, new: IdentityId, [ln_kept, ln_moved]: [f64; 2]) {
        if self.ln_of.len() <= new.index() {
            self.ln_of.resize(new.index() + 1, FREE);
        }
        self.ln_of[identity.index()] = ln_kept;
        self.ln_of[new.index()] = ln_moved;
    }

    /// An identity is merged into another: their weights are added.
    pub(super) fn add(&mut self, from: IdentityId, into: IdentityId) {
        let weight = std::mem::replace(&mut self.ln_of[from.index()], FREE);
        self.ln_of[into.index()] = ln_add_exp(self.ln_of[into.index()], weight);
    }

    /// Deviation D2: an identity that empties gives its weight back, pi_0' += pi_0i.
    pub(super) fn give_back(&mut self, identity: IdentityId) {
        let weight = std::mem::replace(&mut self.ln_of[identity.index()], FREE);
        self.ln_unseen = ln_add_exp(self.ln_unseen, weight);
    }
}

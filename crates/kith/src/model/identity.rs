//! Identities (§2.2): `pi_0 ~ GEM(alpha_0)`, `pi_c ~ DP(alpha_c, pi_0)`, `z_n ~ Cat(pi_c)`.

use std::collections::BTreeMap;

use super::{ContextMode, ContextModel, ModelError, Strength};
use crate::data::Dataset;

const KEY: &str = "identity.local_concentration";

/// The identity model.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentityModel {
    /// alpha_0.
    pub global_concentration: Strength,
    /// alpha_c.
    pub local_concentration: LocalConcentration,
    /// How many strangers are expected among new faces.
    pub strangers: Strangers,
}

/// How many strangers prediction expects among new faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strangers {
    /// As many as the context's next face: alpha_c pi_0' / (N_c. + alpha_c), (7).
    Expected,
    /// As many as all faces asked about together tell (deviation D11).
    Learnt,
}

/// alpha_c: one for all contexts, or one each.
#[derive(Clone, Debug, PartialEq)]
pub enum LocalConcentration {
    /// One number for all contexts.
    Shared(Strength),
    /// Every context its own number under the same prior.
    Own(Strength),
    /// Every named context its own, fixed or learnt.
    Named(BTreeMap<String, Strength>),
}

impl Default for IdentityModel {
    fn default() -> Self {
        Self {
            global_concentration: Strength::Learnt { shape: 1.0, rate: 0.1 },
            local_concentration: LocalConcentration::Shared(Strength::Learnt { shape: 1.0, rate: 0.1 }),
            strangers: Strangers::Expected,
        }
    }
}

impl LocalConcentration {
    /// The prior of the concentration of one context, known by its name where it has one.
    pub fn of(&self, context: Option<&str>) -> Strength {
        match self {
            Self::Shared(strength) | Self::Own(strength) => *strength,
            Self::Named(each) => match context.and_then(|name| each.get(name)) {
                Some(strength) => *strength,
                // A context that training never saw: the mean of those it did see.
                None => {
                    let total: f64 = each.values().map(|strength| strength.start()).sum();
                    Strength::Fixed(total / each.len() as f64)
                }
            },
        }
    }

    /// Whether all contexts share one number.
    pub fn is_shared(&self) -> bool {
        matches!(self, Self::Shared(_))
    }
}

impl IdentityModel {
    /// Refuses a context for which a table of concentrations has no entry, and a first frame without a
    /// context where there is such a table.
    pub fn check_context(&self, context: Option<&str>, is_first: bool) -> Result<(), ModelError> {
        match (&self.local_concentration, context) {
            (LocalConcentration::Named(each), Some(name)) if !each.contains_key(name) => {
                let found: Vec<&str> = each.keys().map(String::as_str).collect();
                let wanted = format!("a value for the context \"{name}\" too");
                Err(ModelError::value(KEY, found.join(", "), &wanted))
            }
            (LocalConcentration::Named(_), None) if is_first => {
                Err(ModelError::value("context", "none on the first frame", "one of those in the table"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn check(&self, context: &ContextModel, data: &Dataset) -> Result<(), ModelError> {
        self.global_concentration.check("identity.global_concentration")?;
        match &self.local_concentration {
            LocalConcentration::Shared(strength) => strength.check(KEY)?,
            LocalConcentration::Own(strength) => {
                strength.check(KEY)?;
                if context.mode == ContextMode::Unbounded {
                    let wanted = "shared = true: unbounded contexts share one concentration";
                    return Err(ModelError::value(KEY, "shared = false", wanted));
                }
            }
            LocalConcentration::Named(each) => {
                let is_nameless = data.contexts().is_empty() && data.n_frames() > 0;
                if context.mode != ContextMode::Given || is_nameless {
                    let wanted = "a number or {shape, rate, shared}, because no context has a name here";
                    return Err(ModelError::value(KEY, "a table of contexts", wanted));
                }
                for (name, strength) in each {
                    strength.check(&format!("{KEY}.{name}"))?;
                }
                data.contexts().iter().try_for_each(|name| self.check_context(Some(name), false))?;
            }
        }
        Ok(())
    }
}

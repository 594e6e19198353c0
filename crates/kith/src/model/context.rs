//! Contexts (§2.1): `omega ~ Dir(gamma_0/C, ...)`, `c*_m ~ Cat(omega)`, omega integrated out.

use super::{ModelError, Strength};

/// What is known of the frames' contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextMode {
    /// One context for all (C = 1).
    None,
    /// Observed; a frame whose context is missing has it sampled among the named ones. Without any named
    /// context this is [`ContextMode::None`].
    Given,
    /// C contexts, never observed.
    Latent {
        /// C.
        count: usize,
    },
    /// As many as the frames need (footnote 1 and Appendix A, deviation D8: they belong to frames).
    Unbounded,
}

/// C is at most this: every context of every draw is gone through for every frame.
const MOST_CONTEXTS: usize = 10_000;

/// The context model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContextModel {
    /// What is known.
    pub mode: ContextMode,
    /// gamma_0.
    pub concentration: Strength,
}

impl Default for ContextModel {
    fn default() -> Self {
        Self { mode: ContextMode::Given, concentration: Strength::Fixed(1.0) }
    }
}

impl ContextModel {
    /// Whether frames may have their context sampled at all.
    pub fn is_sampled(&self) -> bool {
        self.mode != ContextMode::None
    }

    pub(super) fn check(&self) -> Result<(), ModelError> {
        if let ContextMode::Latent { count } = self.mode
            && !(1..=MOST_CONTEXTS).contains(&count)
        {
            return Err(ModelError::value("context.count", count, &format!("1 to {MOST_CONTEXTS}")));
        }
        self.concentration.check("context.concentration")
    }
}

//! Odd looks: a face that was spoken of may show somebody else than its person (MODEL.md §7).

use super::{Centred, FaceModel, Group};
use crate::ids::FaceId;
use crate::math::ln_add_exp;

/// What stands for odd looks among the scales of faces.
pub const ODD: u8 = u8::MAX;

/// What stands for a copy among them: another face of the same shot speaks for it ([`crate::data::Shots`]).
pub const COPY: u8 = u8::MAX - 1;

/// ln 1e-7.
const LN_NOTHING: f64 = -16.118_095_650_958_32;

/// How probable it is that the looks of a face are odd, and the density of what it shows then. An odd face is
/// nowhere among the statistics of faces: what it shows says nothing about who it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Odd {
    /// ln rho.
    pub ln_p: f64,
    /// ln (1 - rho).
    pub ln_usual: f64,
    /// ln g, the same whoever it is.
    pub ln_density: f64,
    /// The face that it looks most like.
    pub look_alike: FaceId,
}

impl Odd {
    /// From rho, ln g and the nearest face.
    pub fn new(rho: f64, ln_density: f64, look_alike: FaceId) -> Self {
        Self { ln_p: rho.ln(), ln_usual: (-rho).ln_1p(), ln_density, look_alike }
    }

    /// ln ((1 - rho) f + rho g).
    pub(super) fn ln_mixed(&self, usual: f64) -> f64 {
        ln_add_exp(self.ln_usual + usual, self.ln_p + self.ln_density)
    }

    /// The probability of odd looks where usual ones have density f.
    pub(super) fn p_given(&self, usual: f64) -> f64 {
        (self.ln_p + self.ln_density - self.ln_mixed(usual)).exp()
    }
}

/// ln g of a face among `n_faces`: of its predictives under the first face that it looks like, the first two,
/// four and so on the densest, each times the share of all faces that these are. Somebody whom it looks
/// like, whoever that is, as often as they are met.
pub(crate) fn ln_look_alikes(model: &FaceModel, x: &Centred, nearest: &[Centred], n_faces: usize) -> f64 {
    let mut group: Group = model.group();
    let mut best = f64::NEG_INFINITY;
    for (n, other) in (1usize..).zip(nearest) {
        model.observe(&mut group, other);
        if n.is_power_of_two() || n == nearest.len() {
            best = best.max(model.ln_usual(&group, x) + (n as f64 / n_faces as f64).ln());
        }
    }
    best
}

impl Centred {
    /// Whether it is in no statistics: its looks are odd, or another face speaks for it.
    pub fn leaves_no_trace(&self) -> bool {
        self.scale >= COPY
    }

    /// What its looks may be beside the usual ones.
    pub(crate) fn set_odd(&mut self, odd: Option<Odd>) {
        self.odd = odd;
    }

    /// ln of what odd looks add to [`FaceModel::ln_predictive`], where usual ones, of which this is an upper
    /// bound, change it by less than a ten-millionth.
    pub(crate) fn ln_only_odd(&self, usual: f64) -> Option<f64> {
        let odd = self.odd?;
        let ln_odd = odd.ln_p + odd.ln_density;
        (odd.ln_usual + usual < ln_odd + LN_NOTHING).then_some(ln_odd)
    }

    /// From an upper bound of ln of the usual density one of [`FaceModel::ln_predictive`]. Not a number stays
    /// that.
    pub(crate) fn bound(&self, usual: f32) -> f32 {
        match self.odd {
            Some(odd) if !usual.is_nan() => {
                let ln_odd = odd.ln_p + odd.ln_density;
                // The sum of two is at most twice the larger one.
                usual.max((ln_odd + 1e-3 + 1e-6 * ln_odd.abs()) as f32) + 0.694
            }
            _ => usual,
        }
    }
}

//! Groups of faces in the order of an upper bound of what any of their seats may weigh for a face.

use super::posterior::Posterior;
use crate::model::face::Centred;

/// For each group an upper bound of ln of a face there and of any of its seats.
pub(super) struct Bounds(Vec<f64>);

impl Bounds {
    /// Seats were bounded with the concentrations of each draw's own contexts; `ln_excess` is how much more
    /// any may weigh.
    pub fn new(posterior: &Posterior, x: &Centred, ln_excess: f64) -> Self {
        let mut bounds = Vec::new();
        posterior.ln_bounds(x, &mut bounds);
        bounds.iter_mut().for_each(|bound| *bound += ln_excess);
        Self(bounds)
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The bound of a group.
    pub fn of(&self, group: u32) -> f64 {
        self.0[group as usize]
    }

    /// A group is weighed in another way.
    pub fn leave_out(&mut self, group: u32) {
        self.0[group as usize] = f64::NEG_INFINITY;
    }

    /// The group with the highest bound, and that bound.
    pub fn highest(&self) -> Option<(u32, f64)> {
        let all = (0..).zip(self.0.iter().copied());
        all.max_by(|a: &(u32, f64), b| a.1.total_cmp(&b.1))
    }

    /// The groups with bounds from `low` to `high`, the highest first.
    pub fn between(&self, low: f64, high: f64) -> Vec<u32> {
        let is_between = |&group: &u32| (low..high).contains(&self.of(group));
        let mut groups: Vec<u32> = (0..self.len() as u32).filter(is_between).collect();
        groups.sort_unstable_by(|&a, &b| self.of(b).total_cmp(&self.of(a)));
        groups
    }
}

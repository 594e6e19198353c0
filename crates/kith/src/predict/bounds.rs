//! Groups of faces in the order of an upper bound of what any of their seats may weigh for a face.

use super::posterior::Posterior;
use crate::math::ln_add_exp;
use crate::model::face::Centred;

/// The bound of a group of which nothing is known. It is finite, so that it lies within every range of bounds
/// that has no upper end.
pub(super) const UNKNOWN: f64 = f64::MAX;

/// For each group an upper bound of ln of a face there and of any of its seats.
pub(super) struct Bounds {
    of: Vec<f64>,
    usual: Vec<f32>,
    excess: f64,
}

/// Groups, the highest bound first.
pub(super) struct Ranked {
    groups: Vec<u32>,
    /// ln of what each of them and all after it weigh together in any draw, at most.
    ln_left: Vec<f64>,
}

impl Ranked {
    /// The first groups from a place on, as many as are asked for, unless all from there on weigh no more
    /// together than e to the power of `ln_least`.
    pub fn next(&self, place: usize, n: usize, ln_least: f64) -> &[u32] {
        match self.ln_left.get(place) {
            Some(&left) if left > ln_least => &self.groups[place..self.groups.len().min(place + n)],
            _ => &[],
        }
    }
}

impl Bounds {
    /// Seats were bounded with the concentrations of each draw's own contexts; `ln_excess` is how much more
    /// any may weigh.
    pub fn new(posterior: &Posterior, x: &Centred, ln_excess: f64) -> Self {
        let (usual, mut of) = posterior.ln_bounds(x);
        of.iter_mut().for_each(|bound| *bound += ln_excess);
        Self { of, usual, excess: ln_excess }
    }

    /// An upper bound of ln of the face in a group with usual looks; not a number where nothing is known.
    pub fn usual(&self, group: u32) -> f64 {
        self.usual[group as usize].into()
    }

    /// How much more any seat may weigh than in the contexts that draws have.
    pub fn excess(&self) -> f64 {
        self.excess
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.of.len()
    }

    /// The bound of a group.
    pub fn of(&self, group: u32) -> f64 {
        self.of[group as usize]
    }

    /// A group is weighed in another way.
    pub fn leave_out(&mut self, group: u32) {
        self.of[group as usize] = f64::NEG_INFINITY;
    }

    /// The group with the highest bound, and that bound.
    pub fn highest(&self) -> Option<(u32, f64)> {
        let all = (0..).zip(self.of.iter().copied());
        all.max_by(|a: &(u32, f64), b| a.1.total_cmp(&b.1))
    }

    /// The same, and what is left from each of them on.
    pub fn ranked(&self, low: f64, high: f64) -> Ranked {
        let groups = self.between(low, high);
        let mut ln_left = vec![0.0; groups.len()];
        let mut left = f64::NEG_INFINITY;
        for (ln_left, &group) in ln_left.iter_mut().zip(&groups).rev() {
            left = ln_add_exp(left, self.of(group));
            *ln_left = left;
        }
        Ranked { groups, ln_left }
    }

    /// The groups with bounds from `low` to `high`, the highest first.
    pub fn between(&self, low: f64, high: f64) -> Vec<u32> {
        let is_between = |&group: &u32| (low..high).contains(&self.of(group));
        let mut groups: Vec<u32> = (0..self.len() as u32).filter(is_between).collect();
        groups.sort_unstable_by(|&a, &b| self.of(b).total_cmp(&self.of(a)));
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_of_which_nothing_is_known_comes_first_and_what_follows_is_still_counted() {
        let bounds = Bounds { of: vec![-3.0, UNKNOWN, -60.0, -2.0], usual: Vec::new(), excess: 0.0 };
        assert_eq!(bounds.highest(), Some((1, UNKNOWN)));
        let ranked = bounds.ranked(-50.0, f64::INFINITY);
        assert_eq!(ranked.next(0, 9, 1e300), [1, 3, 0]);
        assert_eq!((ranked.next(1, 9, -2.0), ranked.next(1, 9, -1.0)), (&[3, 0][..], &[][..]));
        // As whoever takes the best groups first and the others afterwards has it.
        let limit = UNKNOWN - 45.0;
        assert_eq!(bounds.between(limit, f64::INFINITY), [1]);
        assert_eq!(bounds.between(f64::NEG_INFINITY, limit), [3, 0, 2]);
    }
}

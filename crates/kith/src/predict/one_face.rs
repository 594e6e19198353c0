//! One face alone in its frame, under all draws at once: (6), (7) and (18) without a logarithm per seat.
//!
//! Under a draw a seat weighs F_u w, where F_u is what the faces of group u say of the new one and w = N_ci +
//! alpha_c pi_0i is the seat's own. F_u is the same in all draws and w the same for all faces: it is worked
//! out beforehand. Groups are taken in the order of an upper bound, until all that are left could not add
//! [`NEGLIGIBLE`] to the total of any draw.

use super::bounds::Bounds;
use super::contexts::Candidate;
use super::new_frame::{Marginals, NewFrame};
use super::posterior::{Pooled, Posterior};
use super::seat_weights::Seats;

/// The share of a draw's total that may be left out.
const NEGLIGIBLE: f64 = 1e-10;
/// Groups are first taken down to so many nats below the best bound: usually all that matter.
const FIRST: f64 = 45.0;
/// Whether enough was taken is asked after so many groups.
const EVERY: usize = 16;
/// A draw whose seats are all this much less likely than another's best is for logarithms.
const TINY: f64 = 1e-250;

/// What was found of the face.
pub(super) struct Alone {
    /// Per draw, but for the identities.
    pub marginals: Vec<Marginals>,
    /// The groups that matter, with F_u.
    groups: Vec<(u32, f64)>,
    /// Columns of [`Posterior::seats_and_weights`], each with, per draw, the probability of a seat over F_u
    /// w.
    columns: Vec<(usize, Vec<f64>)>,
}

impl Alone {
    /// `None` where the numbers would underflow.
    pub fn of(frame: &NewFrame<'_>, shares: Option<&[f64]>) -> Option<Self> {
        let posterior = frame.posterior;
        let candidates = frame.all_candidates(shares);
        let excess = posterior.draws.iter().zip(&candidates).flat_map(|(draw, candidates)| {
            candidates.iter().map(|candidate| Seats::of(draw, candidate).ln_excess())
        });
        let bounds = Bounds::new(posterior, &frame.xs[0], excess.fold(0.0, f64::max));
        let mut sum = Sum::new(posterior, &candidates, frame, &bounds);
        let highest = bounds.highest().map_or(f64::NEG_INFINITY, |best| best.1);
        let is_enough = sum.take(highest - FIRST, f64::INFINITY, &bounds)
            || sum.take(f64::NEG_INFINITY, highest - FIRST, &bounds);
        debug_assert!(is_enough || posterior.reads_faces() || sum.groups.len() == bounds.len());
        sum.finish()
    }

    /// Calls `each` with the draw, the identity and the probability of every seat that matters; a seat that
    /// may be in several contexts comes once for each.
    pub fn for_each_seat(&self, posterior: &Posterior, mut each: impl FnMut(usize, u32, f64)) {
        for &(group, f) in &self.groups {
            for (column, per_weight) in &self.columns {
                for (seat, weight) in posterior.seats_and_weights(group as usize, *column) {
                    let draw = seat.0 as usize;
                    each(draw, seat.1, f * per_weight[draw] * weight);
                }
            }
        }
    }

    /// Calls `each` with every group that matters and the sum of its probabilities over draws, weighted.
    pub fn for_each_group(&self, posterior: &Posterior, weights: &[f64], mut each: impl FnMut(u32, f64)) {
        let weighted = |per_weight: &Vec<f64>| -> Vec<f64> {
            per_weight.iter().zip(weights).map(|(per_weight, weight)| per_weight * weight).collect()
        };
        let columns: Vec<(usize, Vec<f64>)> =
            self.columns.iter().map(|(column, per_weight)| (*column, weighted(per_weight))).collect();
        for &(group, f) in &self.groups {
            let mut sum = 0.0;
            for (column, per_weight) in &columns {
                let seats = posterior.seats_and_weights(group as usize, *column);
                sum += seats.map(|(seat, weight)| per_weight[seat.0 as usize] * weight).sum::<f64>();
            }
            each(group, f * sum);
        }
    }
}

/// The totals of all draws as groups are taken.
struct Sum<'a, 'p> {
    posterior: &'a Posterior,
    candidates: &'a [Vec<Candidate>],
    frame: &'a NewFrame<'p>,
    /// ln of the unit in which F_u is reckoned.
    ln_unit: f64,
    groups: Vec<(u32, f64)>,
    /// The columns of weights that candidates need, each with, per draw, the sum of F_u w.
    totals: Vec<(usize, Vec<f64>)>,
    /// Per draw and candidate, the weight of a new identity.
    new: Vec<Vec<f64>>,
}

impl<'a, 'p> Sum<'a, 'p> {
    fn new(
        posterior: &'a Posterior,
        candidates: &'a [Vec<Candidate>],
        frame: &'a NewFrame<'p>,
        bounds: &Bounds,
    ) -> Self {
        let ln_best = bounds.highest().map_or(f64::NEG_INFINITY, |best| frame.ln_face(best.0 as usize));
        let ln_unit = ln_best.max(frame.ln_new[0]);
        let new = |(draw, candidates): (&Pooled, &Vec<Candidate>)| {
            let weight = |candidate: &Candidate| {
                let ln_new = draw.ln_unseen + candidate.ln_stranger + frame.ln_new[0];
                candidate.concentration * (ln_new - ln_unit).exp()
            };
            candidates.iter().map(weight).collect()
        };
        Self {
            posterior,
            candidates,
            frame,
            ln_unit,
            groups: Vec::new(),
            totals: (0..posterior.n_columns())
                .filter(|&column| candidates.iter().flatten().any(|of| of.column().0 == column))
                .map(|column| (column, vec![0.0; posterior.draws.len()]))
                .collect(),
            new: posterior.draws.iter().zip(candidates).map(new).collect(),
        }
    }

    /// Takes groups with bounds from `low` to `high`, the highest first, until what is left is negligible.
    fn take(&mut self, low: f64, high: f64, bounds: &Bounds) -> bool {
        let posterior = self.posterior;
        let groups = bounds.between(low, high);
        // From each on, at most so much is left; seats are no more than a draw has identities.
        let n_below = (bounds.len() - self.groups.len() - groups.len()).min(posterior.most_identities());
        let mut left = n_below as f64 * (low - self.ln_unit).exp();
        let left_below = left;
        let mut left_from = vec![0.0; groups.len()];
        for (place, &group) in groups.iter().enumerate().rev() {
            left += (bounds.of(group) - self.ln_unit).exp();
            left_from[place] = left;
        }
        for (some, left_from) in groups.chunks(EVERY).zip(left_from.chunks(EVERY)) {
            if left_from[0] <= self.negligible() * self.least() {
                return true;
            }
            let floor = posterior.floor(self.least().ln() + self.ln_unit);
            for (group, ln_face) in posterior.weighed(some, &self.frame.xs[0], bounds, floor) {
                let f = (ln_face - self.ln_unit).exp();
                self.groups.push((group, f));
                for (column, totals) in &mut self.totals {
                    for (seat, weight) in posterior.seats_and_weights(group as usize, *column) {
                        totals[seat.0 as usize] += f * weight;
                    }
                }
            }
        }
        left_below <= self.negligible() * self.least()
    }

    fn negligible(&self) -> f64 {
        NEGLIGIBLE.max(self.posterior.ln_neglected().exp())
    }

    /// The least total of any draw in any context.
    fn least(&self) -> f64 {
        let draws = 0..self.candidates.len();
        draws.flat_map(|draw| self.totals_of(draw)).fold(f64::INFINITY, f64::min)
    }

    /// Per candidate of a draw, the weight of all its seats.
    fn totals_of(&self, draw: usize) -> impl Iterator<Item = f64> {
        self.candidates[draw].iter().zip(&self.new[draw]).map(move |(candidate, new)| {
            let (column, factor) = candidate.column();
            factor * self.totals[self.place_of(column)].1[draw] + new
        })
    }

    fn place_of(&self, column: usize) -> usize {
        self.totals.iter().position(|of| of.0 == column).expect("every candidate has its column")
    }

    fn finish(self) -> Option<Alone> {
        let mut marginals = Vec::new();
        let n_draws = self.candidates.len();
        let mut columns: Vec<(usize, Vec<f64>)> =
            self.totals.iter().map(|of| (of.0, vec![0.0; n_draws])).collect();
        for (draw, candidates) in self.candidates.iter().enumerate() {
            let totals: Vec<f64> = self.totals_of(draw).collect();
            if totals.iter().any(|&total| total < TINY) {
                return None;
            }
            let ln_of = |(candidate, total): (&Candidate, &f64)| {
                let ln_denominator = candidate.ln_denominator(&self.posterior.draws[draw]);
                candidate.ln_prior + total.ln() + self.ln_unit - ln_denominator
            };
            let ln_contexts: Vec<f64> = candidates.iter().zip(&totals).map(ln_of).collect();
            let ln_evidence = crate::math::ln_sum_exp(&ln_contexts);
            let mut found =
                Marginals { ln_evidence, identities: vec![Vec::new()], new: vec![0.0], contexts: Vec::new() };
            for (number, candidate) in candidates.iter().enumerate() {
                let p = (ln_contexts[number] - ln_evidence).exp();
                found.add_context(candidate, p);
                found.new[0] += p * self.new[draw][number] / totals[number];
                let (column, factor) = candidate.column();
                columns[self.place_of(column)].1[draw] += factor * p / totals[number];
            }
            marginals.push(found);
        }
        Some(Alone { marginals, groups: self.groups, columns })
    }
}

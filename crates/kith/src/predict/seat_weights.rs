//! What seats weigh in one context of one draw, before anybody's looks.

use std::cell::RefCell;
use std::collections::HashMap;

use super::contexts::Candidate;
use super::posterior::Pooled;
use crate::ids::ContextId;
use crate::math::{ln_add_exp, ln_gamma, ln_sum_exp};
use crate::state::ln_seat;

/// Seat weights of one context of one draw.
pub(super) struct Seats<'d> {
    draw: &'d Pooled,
    context: Option<usize>,
    concentration: f64,
    ln_seen: f64,
    pub ln_stranger: f64,
    /// What [`Seats::ln_new`] has worked out, by sorted counts.
    of_new: RefCell<HashMap<Vec<u32>, f64>>,
}

impl<'d> Seats<'d> {
    pub fn of(draw: &'d Pooled, candidate: &Candidate) -> Self {
        let of_new = RefCell::default();
        let Candidate { context, concentration, ln_seen, ln_stranger, .. } = *candidate;
        Self { draw, context, concentration, ln_seen, ln_stranger, of_new }
    }

    /// ln of how much more a seat may weigh than at the largest alpha_c of the draw's contexts.
    pub fn ln_excess(&self) -> f64 {
        (self.concentration / self.draw.highest_concentration).ln().max(0.0) + self.ln_seen
    }

    /// ln alpha_c.
    pub fn ln_concentration(&self) -> f64 {
        self.concentration.ln()
    }

    /// ln (N_ci + alpha_c pi_0i), with faces of the same frame seated there before, or one that was there
    /// left out.
    pub fn ln_known(&self, identity: usize, earlier: f64) -> f64 {
        let n_at = self.context.map_or(0, |c| self.draw.counts[identity].at(ContextId::new(c)));
        let ln_share = self.concentration.ln() + self.draw.ln_weight[identity];
        ln_seat(f64::from(n_at) + earlier, ln_share) + self.ln_seen
    }

    /// ln of the weight of new identities with these many faces each, their shares of pi_0' integrated out:
    /// the sum over table counts t_j of prod_j |s(m_j, t_j)| Gamma(t_j) (alpha_c pi_0')^T alpha_0^k /
    /// alpha_0^(T), T = sum t_j. One new identity with one face has alpha_c pi_0'.
    pub fn ln_new(&self, counts: &[u32]) -> f64 {
        let mut sorted = counts.to_vec();
        sorted.sort_unstable();
        if let Some(&known) = self.of_new.borrow().get(&sorted) {
            return known;
        }
        let ln_weight = self.sum_over_tables(counts);
        self.of_new.borrow_mut().insert(sorted, ln_weight);
        ln_weight
    }

    fn sum_over_tables(&self, counts: &[u32]) -> f64 {
        if counts.is_empty() {
            return 0.0;
        }
        let alpha_0 = self.draw.globals.global_concentration;
        let ln_step = self.concentration.ln() + self.draw.ln_unseen;
        // ln coefficients by T.
        let mut by_tables = vec![0.0];
        for &count in counts {
            let each = ln_stirling(count);
            let mut next = vec![f64::NEG_INFINITY; by_tables.len() + each.len() - 1];
            for (a, &x) in by_tables.iter().enumerate() {
                for (t, &y) in each.iter().enumerate().skip(1) {
                    next[a + t] = ln_add_exp(next[a + t], x + y + ln_gamma(t as f64));
                }
            }
            by_tables = next;
        }
        let ln_terms: Vec<f64> = by_tables
            .iter()
            .enumerate()
            .skip(1) // Every new identity has at least one table.
            .map(|(tables, ln_coefficient)| {
                let tables = tables as f64;
                ln_coefficient + tables * ln_step - (ln_gamma(alpha_0 + tables) - ln_gamma(alpha_0))
            })
            .collect();
        ln_sum_exp(&ln_terms) + counts.len() as f64 * alpha_0.ln()
    }

    /// ln of (N_c. + alpha_c) (N_c. + alpha_c + 1) ..., one factor per face.
    pub fn ln_denominator(&self, n_faces: usize) -> f64 {
        let n_in = self.context.map_or(0, |context| self.draw.contexts[context].n_in);
        (0..n_faces).map(|r| (f64::from(n_in) + self.concentration + r as f64).ln()).sum()
    }
}

/// ln of the unsigned Stirling numbers of the first kind |s(n, t)|, t = 0 .. n.
fn ln_stirling(n: u32) -> Vec<f64> {
    let mut row = vec![0.0];
    for m in 0..n {
        let mut next = vec![f64::NEG_INFINITY; row.len() + 1];
        for (t, &ln) in row.iter().enumerate() {
            next[t + 1] = ln_add_exp(next[t + 1], ln);
            if m > 0 {
                next[t] = ln_add_exp(next[t], ln + f64::from(m).ln());
            }
        }
        row = next;
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stirling_numbers_are_those_of_the_books() {
        let exact = [0.0, 24.0, 50.0, 35.0, 10.0, 1.0];
        for (ln, exact) in ln_stirling(5).iter().zip(exact) {
            assert!((ln.exp() - exact).abs() < 1e-9, "{} {exact}", ln.exp());
        }
    }
}

//! Tables `T_ci`, the concentrations alpha_c and alpha_0, and the global weights `pi_0` (§C.1).
//!
//! The order matters: T, then alpha_c, then alpha_0 given (I, T_..), then pi_0. T is not kept.

use crate::gibbs::concentration::{draw_tables, redraw};
use crate::model::{LocalConcentration, Strength};
use crate::random::Rng;
use crate::state::State;
use crate::target::Target;

/// Redraws all four blocks.
pub fn step(state: &mut State, target: &Target, rng: &mut Rng) {
    let tables = tables(state, rng);
    redraw_local_concentrations(&tables, state, target, rng);
    if let Strength::Learnt { shape, rate } = target.model().identity.global_concentration {
        let total = tables.in_context.iter().sum();
        let restaurant = [(total, state.seating.n_identities() as u32)];
        let alpha_0 = &mut state.weights.global_concentration;
        *alpha_0 = redraw(*alpha_0, &restaurant, shape, rate, rng);
    }
    redraw_weights(&tables, state, rng);
}

/// Table counts: T_.i in the order of [`crate::state::Seating::identities`], and T_c.
pub struct Tables {
    /// T_.i.
    pub of_identity: Vec<u32>,
    /// T_c.
    pub in_context: Vec<u32>,
}

/// (C.2) for every occupied seat.
pub fn tables(state: &State, rng: &mut Rng) -> Tables {
    let mut of_identity = vec![0; state.seating.n_identities()];
    let mut in_context = vec![0; state.seating.n_contexts()];
    for context in state.seating.contexts() {
        let ln_alpha_c = state.weights.local_concentration(context).ln();
        for (place, &identity) in state.seating.identities().iter().enumerate() {
            let n = state.seating.n_at(context, identity);
            let drawn = draw_tables(ln_alpha_c + state.weights.ln_of(identity), n, rng);
            of_identity[place] += drawn;
            in_context[context.index()] += drawn;
        }
    }
    Tables { of_identity, in_context }
}

fn redraw_local_concentrations(tables: &Tables, state: &mut State, target: &Target, rng: &mut Rng) {
    let restaurants: Vec<(u32, u32)> =
        state.seating.contexts().map(|c| (state.seating.n_in(c), tables.in_context[c.index()])).collect();
    let local = &mut state.weights.local_concentration;
    match &target.model().identity.local_concentration {
        LocalConcentration::Shared(Strength::Learnt { shape, rate }) => {
            let shared = redraw(local[0], &restaurants, *shape, *rate, rng);
            local.fill(shared);
        }
        each => {
            for (context, alpha_c) in local.iter_mut().enumerate() {
                let name = target.data().contexts().get(context).map(String::as_str);
                if let Strength::Learnt { shape, rate } = each.of(name) {
                    *alpha_c = redraw(*alpha_c, &restaurants[context..=context], shape, rate, rng);
                }
            }
        }
    }
}

/// (C.1): pi_0 ~ Dir(T_.1, ..., T_.I, alpha_0).
fn redraw_weights(tables: &Tables, state: &mut State, rng: &mut Rng) {
    let mut pi_0: Vec<f64> = tables.of_identity.iter().map(|&t| f64::from(t)).collect();
    pi_0.push(state.weights.global_concentration);
    rng.ln_dirichlet(&mut pi_0);
    state.weights.ln_unseen = pi_0.pop().expect("pi_0' was pushed");
    for (place, ln_weight) in pi_0.into_iter().enumerate() {
        let identity = state.seating.identities()[place];
        state.weights.ln_of[identity.index()] = ln_weight;
    }
}

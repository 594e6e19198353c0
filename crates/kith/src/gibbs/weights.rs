//! Tables `T_ci`, the concentrations alpha_c and alpha_0, and the global weights `pi_0` (§C.1).
//!
//! The order matters: T, then alpha_c, then alpha_0 given (I, T_..), then pi_0. T is not kept.
//!
//! That alone is slow: given T, alpha_c hardly moves, and given alpha_c T does not. With 34 people of 2,370
//! faces it takes 35 redraws to forget alpha_c. So two more moves follow, in which T is integrated out, along
//! the two directions in which concentrations and weights go together: alpha_c with pi_0 as it is, and
//! pi_0', alpha_c and alpha_0 with alpha_c pi_0i as it is for everybody seen, which is all that seats depend
//! on.

use crate::gibbs::concentration::{draw_tables, redraw, slice};
use crate::ids::ContextId;
use crate::math::{ln_1m_exp, ln_add_exp, ln_rising};
use crate::model::{LocalConcentration, Strength};
use crate::random::Rng;
use crate::state::State;
use crate::target::Target;

/// Redraws all four blocks, and concentrations without tables.
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
    redraw_local_without_tables(state, target, rng);
    redraw_unseen(state, target, rng);
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
    for (place, &identity) in state.seating.identities().iter().enumerate() {
        for (context, n) in state.seating.per_context(identity).iter() {
            let ln_alpha_c = state.weights.local_concentration(context).ln();
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

/// alpha_c given pi_0, tables integrated out:
/// `p(alpha_c) prod_c prod_i (alpha_c pi_0i)^(N_ci) / alpha_c^(N_c.)`, over the contexts that share it.
fn redraw_local_without_tables(state: &mut State, target: &Target, rng: &mut Rng) {
    // ln pi_0i and N_ci of every occupied seat, by context.
    let mut seats_in: Vec<Vec<(f64, f64)>> = vec![Vec::new(); state.seating.n_contexts()];
    for &identity in state.seating.identities() {
        for (context, n) in state.seating.per_context(identity).iter() {
            seats_in[context.index()].push((state.weights.ln_of(identity), f64::from(n)));
        }
    }
    let redrawn = |contexts: &[ContextId], (shape, rate): (f64, f64), state: &State, rng: &mut Rng| {
        let seats = || contexts.iter().flat_map(|context| &seats_in[context.index()]);
        let in_context: Vec<f64> = contexts.iter().map(|&c| f64::from(state.seating.n_in(c))).collect();
        let ln_density = |ln_alpha: f64| {
            let of_seats: f64 = seats().map(|&(ln_pi, n)| ln_rising(ln_alpha + ln_pi, n)).sum();
            let of_contexts: f64 = in_context.iter().map(|&n| ln_rising(ln_alpha, n)).sum();
            shape * ln_alpha - rate * ln_alpha.exp() + of_seats - of_contexts
        };
        let ln_before = state.weights.local_concentration(contexts[0]).ln();
        slice(ln_before, 0.5, ln_density, rng).exp()
    };
    let contexts: Vec<ContextId> = state.seating.contexts().collect();
    match &target.model().identity.local_concentration {
        LocalConcentration::Shared(Strength::Learnt { shape, rate }) => {
            let shared = redrawn(&contexts, (*shape, *rate), state, rng);
            state.weights.local_concentration.fill(shared);
        }
        each => {
            for context in contexts {
                let name = target.data().contexts().get(context.index()).map(String::as_str);
                if let Strength::Learnt { shape, rate } = each.of(name) {
                    let own = redrawn(&[context], (shape, rate), state, rng);
                    state.weights.local_concentration[context.index()] = own;
                }
            }
        }
    }
}

/// pi_0', alpha_c and alpha_0, where one alpha_c is learnt for all and so is alpha_0.
///
/// In the coordinates b_i = alpha_c pi_0i, b' = alpha_c pi_0' (Jacobian alpha_c^-I) seats weigh by the b_i,
/// which stay. With alpha_c = sum b_i + b' and alpha_0 ~ Gamma(a, r) integrated out, what is left is
/// `p(b') ~ p(alpha_c) prod_c 1 / alpha_c^(N_c.) * (alpha_c / b') (r + ln (alpha_c / b'))^-(a + I)`.
fn redraw_unseen(state: &mut State, target: &Target, rng: &mut Rng) {
    let identity = &target.model().identity;
    let LocalConcentration::Shared(Strength::Learnt { shape, rate }) = identity.local_concentration else {
        return;
    };
    let Strength::Learnt { shape: a, rate: r } = identity.global_concentration else { return };
    let alpha_c = state.weights.local_concentration[0];
    let ln_seen = alpha_c.ln() + ln_1m_exp(state.weights.ln_unseen);
    let in_context: Vec<f64> =
        state.seating.contexts().map(|context| f64::from(state.seating.n_in(context))).collect();
    let n_identities = state.seating.n_identities() as f64;
    let ln_density = |ln_b: f64| {
        let ln_alpha = ln_add_exp(ln_seen, ln_b);
        let of_contexts: f64 = in_context.iter().map(|&n| ln_rising(ln_alpha, n)).sum();
        // b' d ln b' takes the 1 / b' off.
        shape * ln_alpha
            - rate * ln_alpha.exp()
            - of_contexts
            - (a + n_identities) * (r + ln_alpha - ln_b).ln()
    };
    let ln_b = slice(alpha_c.ln() + state.weights.ln_unseen, 1.0, ln_density, rng);
    let ln_alpha = ln_add_exp(ln_seen, ln_b);
    let ln_shrinks = alpha_c.ln() - ln_alpha;
    for &identity in state.seating.identities() {
        state.weights.ln_of[identity.index()] += ln_shrinks;
    }
    state.weights.ln_unseen = ln_b - ln_alpha;
    state.weights.local_concentration.fill(ln_alpha.exp());
    state.weights.global_concentration = rng.gamma(a + n_identities, r - state.weights.ln_unseen);
}

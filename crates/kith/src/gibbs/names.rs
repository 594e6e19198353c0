//! Names `y*_i` of the identities (§C.4), the weights H of names, the error rate and the concentration.

use crate::data::Label;
use crate::gibbs::concentration;
use crate::ids::IdentityId;
use crate::math::{ln_1m_exp, ln_gamma, ln_gamma_density, ln_rising, ln_sum_exp};
use crate::model::{ErrorRate, Model, NameUpdate, Strength};
use crate::random::Rng;
use crate::state::{self, Name, Names, State, Votes};
use crate::target::Target;

/// Redraws the names of all identities, then epsilon, H (with the rejected draws, D5) and lambda.
pub fn step(state: &mut State, target: &Target, rng: &mut Rng) {
    step_of(state.seating.identities(), &mut state.names, target.model(), rng);
}

/// The same of some identities' names, whoever sits where.
pub(crate) fn step_of(identities: &[IdentityId], names: &mut Names, model: &Model, rng: &mut Rng) {
    // While nobody has ever been named, every name is unknown.
    let n_named = if names.n_known() == 0 { 0 } else { identities.len() };
    for &identity in &identities[..n_named] {
        redraw_of(identity, identities.len(), names, model, rng);
    }
    if let ErrorRate::Learnt { alpha, beta } = model.name.error_rate {
        let (wrong, right) = count_votes(identities, names);
        // A rate of exactly 0 or 1 would make what has been observed impossible.
        names.error_rate = rng.beta(alpha + wrong, beta + right).clamp(1e-300, 1.0 - f64::EPSILON);
    }
    if model.name.update == NameUpdate::Exact {
        redraw_prior(identities, names, rng);
    }
    if let Strength::Learnt { shape, rate } = model.name.concentration {
        redraw_concentration((shape, rate), identities.len(), names, model, rng);
    }
}

/// Redraws H, where it is kept.
pub(crate) fn redraw_weights(state: &mut State, target: &Target, rng: &mut Rng) {
    if target.model().name.update == NameUpdate::Exact {
        redraw_prior(state.seating.identities(), &mut state.names, rng);
    }
}

/// Redraws the name of one identity.
pub(crate) fn redraw(identity: IdentityId, state: &mut State, target: &Target, rng: &mut Rng) {
    redraw_of(identity, state.seating.n_identities(), &mut state.names, target.model(), rng);
}

fn redraw_of(identity: IdentityId, n_identities: usize, names: &mut Names, model: &Model, rng: &mut Rng) {
    let drawn = rng.categorical_ln(&mut ln_weights_of(identity, n_identities, names, model));
    let name = names.all().nth(drawn).expect("a name was drawn among all");
    names.set(identity, name);
}

/// ln of the probability of all names that one identity's faces were given, its own name integrated out:
/// sum_k H(k) prod likelihood(vote | k). In the paper's form, H is its mean given y* (14).
pub(crate) fn ln_evidence(votes: &Votes, names: &Names, model: &Model) -> f64 {
    // Without votes it is the sum of H, which is one.
    if votes.is_empty() { 0.0 } else { ln_sum_exp(&ln_weights_given(votes, names, model)) }
}

/// ln weights of a name over Y, then unknown, given H and all that was said of the faces that bear it.
pub(crate) fn ln_weights_given(votes: &Votes, names: &Names, model: &Model) -> Vec<f64> {
    with_denials(exact_ln_weights(votes.given(), names), votes, model)
}

/// ln weights of an identity's name over Y, then unknown: given H the exact conditional, or in the paper's
/// marginal form (C.14), with J_unknown restored (D4) and the J_l inside its bracket without identity i (D9).
pub fn ln_weights(identity: IdentityId, state: &State, target: &Target) -> Vec<f64> {
    ln_weights_of(identity, state.seating.n_identities(), &state.names, target.model())
}

fn ln_weights_of(identity: IdentityId, n_identities: usize, names: &Names, model: &Model) -> Vec<f64> {
    let ln_weights = match model.name.update {
        NameUpdate::Exact => exact_ln_weights(names.votes(identity), names),
        NameUpdate::Paper => paper_ln_weights(identity, n_identities as f64, names),
    };
    with_denials(ln_weights, names.heard(identity), model)
}

/// Every time a name was denied it weighs e / (1 - e) less (MODEL.md §7).
fn with_denials(mut ln_weights: Vec<f64>, votes: &Votes, model: &Model) -> Vec<f64> {
    for &(label, times) in votes.denied() {
        ln_weights[label.index()] -= f64::from(times) * model.evidence.ln_denial();
    }
    ln_weights
}

/// ln H(k) prod likelihood(vote | k) for every k in Y, then unknown.
fn exact_ln_weights(votes: &[(Label, u32)], names: &Names) -> Vec<f64> {
    let n_votes: f64 = votes.iter().map(|vote| f64::from(vote.1)).sum();
    // Over prod over votes of epsilon H(y), as if all were wrong: each name k divides by (1 - H(k)) for every
    // vote, and has (1 - epsilon) in place of epsilon H(k) / (1 - H(k)) for its own.
    names
        .all()
        .map(|name| {
            let (own, ln_odds) = own_votes(votes, name, names);
            let ln_others = match name {
                Name::Known(_) if n_votes > 0.0 => names.ln_others(name),
                _ => 0.0,
            };
            // H(k)^(1 - own) in one: with one vote of its own, what is far below exp(-1e15) cancels.
            let ln_weight = if own == 1.0 { 0.0 } else { (1.0 - own) * names.ln_weight(name) };
            ln_weight + ln_odds - (n_votes - own) * ln_others
        })
        .collect()
}

/// How often a name was given, and ln of the odds that all of these are right.
fn own_votes(votes: &[(Label, u32)], name: Name, names: &Names) -> (f64, f64) {
    let own = votes.iter().filter(|vote| Name::Known(vote.0.name) == name);
    own.fold((0.0, 0.0), |(n, ln_odds), &(given, times)| {
        let (ln_right, ln_wrong) = names.ln_right_wrong(given);
        (n + f64::from(times), ln_odds + f64::from(times) * (ln_right - ln_wrong))
    })
}

fn paper_ln_weights(identity: IdentityId, n_identities: f64, names: &Names) -> Vec<f64> {
    let lambda = names.concentration;
    let votes = names.votes(identity);
    let n_votes: f64 = votes.iter().map(|vote| f64::from(vote.1)).sum();
    names
        .all()
        .map(|name| {
            let ln_mass = lambda.ln() + names.ln_base(name);
            let others = f64::from(names.n_named(name) - u32::from(names.of(identity) == name));
            // lambda L + J, in logarithms because lambda L may be far below 1e-300.
            let ln_urn = |count: f64| if count == 0.0 { ln_mass } else { (ln_mass.exp() + count).ln() };
            match name {
                Name::Unknown => ln_urn(others) - n_votes * (lambda + n_identities).ln(),
                Name::Known(_) => {
                    let rest = (lambda + n_identities - (others + 1.0)).ln();
                    let (own, ln_odds) = own_votes(votes, name, names);
                    ln_urn(others) - n_votes * rest + ln_odds + own * (rest - ln_urn(others))
                }
            }
        })
        .collect()
}

/// How many names that came with data differ from their identity's name, and how many agree.
fn count_votes(identities: &[IdentityId], names: &Names) -> (f64, f64) {
    let (mut wrong, mut right) = (0.0, 0.0);
    for &identity in identities {
        for &(given, n) in names.votes(identity).iter().filter(|vote| !vote.0.is_word) {
            let agrees = names.of(identity) == Name::Known(given.name);
            *(if agrees { &mut right } else { &mut wrong }) += f64::from(n);
        }
    }
    (wrong, right)
}

/// Deviation D5: for each wrong name, how often the identity's own name was drawn and rejected before it,
/// then H | rest ~ Dir(lambda L + J + wrong names shown + rejected draws).
fn redraw_prior(identities: &[IdentityId], names: &mut Names, rng: &mut Rng) {
    let ln_lambda = names.concentration.ln();
    let mut shapes: Vec<f64> = names
        .all()
        .map(|name| state::shape(ln_lambda + names.ln_base(name)) + f64::from(names.n_named(name)))
        .collect();
    for &identity in identities {
        let name = names.of(identity);
        for &(given, n) in names.votes(identity) {
            if name == Name::Known(given.name) {
                continue;
            }
            shapes[given.name.index()] += f64::from(n);
            if let Name::Known(own) = name {
                let ln_own = ln_1m_exp(names.ln_others(name));
                shapes[own.index()] += (0..n).map(|_| rng.geometric(ln_own)).sum::<f64>();
            }
        }
    }
    rng.ln_dirichlet(&mut shapes);
    names.ln_prior = shapes;
}

/// lambda by slice sampling of ln lambda (Neal 2003, stepping out). Its likelihood is H's prior; in the
/// paper's marginal form, the urn of all y*.
fn redraw_concentration(
    (shape, rate): (f64, f64),
    n_identities: usize,
    names: &mut Names,
    model: &Model,
    rng: &mut Rng,
) {
    let ln_density = |ln_lambda: f64| {
        let lambda = ln_lambda.exp();
        // The Jacobian of the logarithm adds ln lambda.
        let mut ln_p = ln_gamma_density(lambda, shape, rate) + ln_lambda;
        match model.name.update {
            NameUpdate::Exact => {
                ln_p += ln_gamma(lambda);
                for name in names.all() {
                    let ln_shape = ln_lambda + names.ln_base(name);
                    let a = ln_shape.exp();
                    // Without the factor 1/H, which is exp(1e24) for a long name that nobody bears and would
                    // drown what depends on lambda.
                    ln_p += a * names.ln_weight(name) + ln_shape - ln_gamma(1.0 + a);
                }
            }
            NameUpdate::Paper => {
                ln_p -= ln_rising(ln_lambda, n_identities as f64);
                for name in names.all() {
                    ln_p += ln_rising(ln_lambda + names.ln_base(name), f64::from(names.n_named(name)));
                }
            }
        }
        ln_p
    };
    names.concentration = concentration::slice(names.concentration.ln(), 1.0, ln_density, rng).exp();
}

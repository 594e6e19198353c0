//! Contexts `c*_m` of the frames: one Gibbs scan (§C.3), and their concentration gamma_0.

use crate::data::Dataset;
use crate::gibbs::concentration;
use crate::ids::{ContextId, FrameId};
use crate::model::{ContextMode, Strength};
use crate::random::Rng;
use crate::state::{State, ln_seat};
use crate::target::Target;

/// Moves every frame whose context is not known, then gamma_0; returns how many frames changed.
pub fn step(state: &mut State, target: &Target, rng: &mut Rng) -> usize {
    let moved = target.data().frames().filter(|&frame| redraw(frame, state, target, rng)).count();
    if let Strength::Learnt { shape, rate } = target.model().context.concentration
        && target.model().context.is_sampled()
    {
        redraw_concentration(shape, rate, state, target, rng);
    }
    moved
}

/// Redraws the context of one frame, unless it is known; whether it has changed.
pub(crate) fn redraw(frame: FrameId, state: &mut State, target: &Target, rng: &mut Rng) -> bool {
    if !is_sampled(frame, target) {
        return false;
    }
    let mut ln_weights = Vec::new();
    let before = state.seating.context_of(frame);
    self::ln_weights(frame, state, target, &mut ln_weights);
    let drawn = ContextId::new(rng.categorical_ln(&mut ln_weights));
    let after = match drawn.index() < state.seating.n_contexts() {
        true => drawn,
        // A frame alone in its context keeps that slot: it is what a new context would be.
        false if state.seating.n_frames_in(before) == 1 => before,
        false => state.open_context(target),
    };
    if after != before {
        state.move_frame(frame, after, target.data());
    }
    after != before
}

fn is_sampled(frame: FrameId, target: &Target) -> bool {
    match target.model().context.mode {
        ContextMode::None => false,
        ContextMode::Given => {
            target.data().given_context(frame).is_none() && target.data().contexts().len() > 1
        }
        ContextMode::Latent { .. } | ContextMode::Unbounded => true,
    }
}

/// ln weights of a frame's contexts, (C.6) to (C.8): the prior without frame m, and the chance of its faces'
/// identities, seated one after the other. In the unbounded mode a last entry stands for a new context, and
/// an empty one has no weight of its own.
pub fn ln_weights(frame: FrameId, state: &State, target: &Target, out: &mut Vec<f64>) {
    let gamma_0 = state.weights.context_concentration;
    let own = state.seating.context_of(frame);
    let n_contexts = state.seating.n_contexts();
    out.clear();
    for context in state.seating.contexts() {
        let others = state.seating.n_frames_in(context) - u32::from(context == own);
        let ln_prior = match target.model().context.mode {
            ContextMode::Unbounded => f64::from(others).ln(),
            _ => (gamma_0 / n_contexts as f64 + f64::from(others)).ln(),
        };
        out.push(if ln_prior == f64::NEG_INFINITY {
            ln_prior
        } else {
            ln_prior + ln_chance_of_identities(frame, Some(context), state, target.data())
        });
    }
    if target.model().context.mode == ContextMode::Unbounded {
        out.push(gamma_0.ln() + ln_chance_of_identities(frame, None, state, target.data()));
    }
}

/// (C.8): the factors (N_ci + alpha_c pi_0i) / (N_c. + alpha_c), counts without the frame and then growing
/// along it. Without a context, in one that nobody has been in (all unbounded contexts share one alpha).
fn ln_chance_of_identities(frame: FrameId, context: Option<ContextId>, state: &State, data: &Dataset) -> f64 {
    let faces = data.faces_in(frame);
    let is_own = context == Some(state.seating.context_of(frame));
    let alpha_c = state.weights.local_concentration(context.unwrap_or(ContextId(0)));
    let mut n_in = context.map_or(0, |context| state.seating.n_in(context));
    if is_own {
        n_in -= faces.len() as u32;
    }
    let mut ln_p = 0.0;
    for (r, &face) in faces.iter().enumerate() {
        let identity = state.seating.identity_of(face).expect("every face is seated");
        let same = |faces: &[crate::ids::FaceId]| {
            faces.iter().filter(|&&other| state.seating.identity_of(other) == Some(identity)).count() as u32
        };
        let elsewhere = context.map_or(0, |context| state.seating.n_at(context, identity))
            - if is_own { same(faces) } else { 0 };
        let n_at = f64::from(elsewhere + same(&faces[..r]));
        ln_p += ln_seat(n_at, alpha_c.ln() + state.weights.ln_of(identity));
        ln_p -= (f64::from(n_in) + r as f64 + alpha_c).ln();
    }
    ln_p
}

/// gamma_0 (MODEL.md §3): Escobar & West when contexts are unbounded, otherwise after table counts of
/// (gamma_0 / C, M_c).
fn redraw_concentration(shape: f64, rate: f64, state: &mut State, target: &Target, rng: &mut Rng) {
    let gamma_0 = state.weights.context_concentration;
    let n_contexts = state.seating.n_contexts();
    let counts = state.seating.contexts().map(|context| state.seating.n_frames_in(context));
    let n_clusters = match target.model().context.mode {
        ContextMode::Unbounded => counts.filter(|&n| n > 0).count() as u32,
        _ => {
            let ln_share = (gamma_0 / n_contexts as f64).ln();
            counts.map(|n| concentration::draw_tables(ln_share, n, rng)).sum()
        }
    };
    let restaurants = [(target.data().n_frames() as u32, n_clusters)];
    state.weights.context_concentration = concentration::redraw(gamma_0, &restaurants, shape, rate, rng);
}

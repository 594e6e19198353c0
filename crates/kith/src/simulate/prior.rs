//! Draws from the model itself: latent variables and data together, for tests and power studies.

use crate::data::Label;
use crate::ids::{FaceId, LabelId};
use crate::model::{ErrorRate, LocalConcentration, Strength, ln_odds};
use crate::random::Rng;
use crate::state::{Name, State};
use crate::target::Target;

/// A state and a dataset from the joint distribution. `layout` says what is fixed: frames, given contexts,
/// the known names, and which faces are named; its embeddings and who has which name are drawn anew.
///
/// Draws with a name outside the known ones are rejected, and draws with repeats in a frame accepted with
/// probability `repeat^pairs`, and all in proportion to the probability of the layout's statements, so that
/// they follow exactly the joint that the kernels leave invariant.
pub fn draw(layout: &Target, rng: &mut Rng) -> (State, Target) {
    let (unsaid, ln_repeat) = (layout.unsaid(), layout.model().repeat.ln());
    loop {
        let mut target = layout.clone();
        let mut state = draw_latent(&unsaid, rng);
        let ln_accepted = state.n_repeats(layout.data()) as f64 * ln_repeat + ln_statements(&state, layout);
        let is_accepted = rng.uniform().ln() < ln_accepted;
        if is_accepted && draw_names(&state, &mut target, rng) {
            draw_embeddings(&state, &mut target, rng);
            state.refresh(&target);
            return (state, target);
        }
    }
}

/// ln of the probability of what was said, over what it is where all of it is true.
fn ln_statements(state: &State, target: &Target) -> f64 {
    let (model, data) = target.parts();
    let statements = data.evidence().statements().iter();
    let wrong = statements.filter(|&&statement| !state.agrees(statement));
    -wrong.map(|&statement| ln_odds(model.evidence.error_rate(statement))).sum::<f64>()
}

/// Draws the data anew given the latent variables; the state's statistics follow.
pub fn redraw_data(state: &mut State, target: &mut Target, rng: &mut Rng) {
    draw_embeddings(state, target, rng);
    for face in target.data().faces() {
        if let Some(Label { is_word, .. }) = target.data().label(face) {
            let name = name_of(state, face);
            let given = |label| Label { name: LabelId::new(label), is_word };
            let mut ln_weights: Vec<f64> = (0..state.names().n_known())
                .map(|label| state.names().ln_likelihood(given(label), name))
                .collect();
            target.set_label(face, LabelId::new(rng.categorical_ln(&mut ln_weights)));
        }
    }
    state.refresh(target);
}

/// Hyperparameters, contexts, H, identities with names and theta*.
fn draw_latent(target: &Target, rng: &mut Rng) -> State {
    let (model, data) = target.parts();
    let mut state = State::empty(target);
    state.weights.global_concentration = draw_strength(model.identity.global_concentration, rng);
    state.weights.context_concentration = draw_strength(model.context.concentration, rng);
    state.names.concentration = draw_strength(model.name.concentration, rng);
    if let ErrorRate::Learnt { alpha, beta } = model.name.error_rate {
        state.names.error_rate = rng.beta(alpha, beta);
    }
    // Contexts come from the prior given the frames before, H from splitting off one known name at a time:
    // both are exact draws.
    state.extend(target, rng);
    match &model.identity.local_concentration {
        LocalConcentration::Shared(strength) => {
            let shared = draw_strength(*strength, rng);
            state.weights.local_concentration.fill(shared);
        }
        each => {
            for (context, alpha_c) in state.weights.local_concentration.iter_mut().enumerate() {
                *alpha_c = draw_strength(each.of(data.contexts().get(context).map(String::as_str)), rng);
            }
        }
    }
    for face in data.faces() {
        state.faces.set_scale(face, model.face.draw_prior_scale(rng));
        let context = state.context_of_face(face, data);
        let identities = state.seating().identities();
        let mut ln_seats: Vec<f64> = identities.iter().map(|&i| state.ln_seat(context, i)).collect();
        ln_seats.push(state.ln_new_seat(context));
        match state.seating().identities().get(rng.categorical_ln(&mut ln_seats)).copied() {
            Some(identity) => state.seat_at(face, identity, target),
            None => {
                let identity = state.seat_apart(face, target, rng);
                if state.faces.theta(identity).is_some() {
                    let theta = model.face.draw(&model.face.group(), rng);
                    state.faces.set_theta(identity, &theta);
                }
            }
        }
    }
    state
}

fn draw_strength(strength: Strength, rng: &mut Rng) -> f64 {
    match strength {
        Strength::Fixed(value) => value,
        Strength::Learnt { shape, rate } => rng.gamma(shape, rate),
    }
}

fn name_of(state: &State, face: FaceId) -> Name {
    state.names().of(state.seating().identity_of(face).expect("every face is seated"))
}

/// Gives every face that is named in the layout a name; false when one falls outside the known names.
fn draw_names(state: &State, target: &mut Target, rng: &mut Rng) -> bool {
    let names = state.names();
    for face in target.data().faces() {
        let Some(label) = target.data().label(face) else { continue };
        let own = name_of(state, face);
        let is_wrong = rng.bernoulli(names.ln_right_wrong(label).1.exp());
        let shown = if is_wrong {
            // H without the identity's own name; an unknown name is one of so many that it excludes nothing.
            let mut ln_weights: Vec<f64> = names
                .all()
                .map(|name| {
                    if name == own && own != Name::Unknown {
                        f64::NEG_INFINITY
                    } else {
                        names.ln_weight(name)
                    }
                })
                .collect();
            names.all().nth(rng.categorical_ln(&mut ln_weights)).expect("a name was drawn among all")
        } else {
            own
        };
        match shown {
            Name::Known(label) => target.set_label(face, label),
            Name::Unknown => return false,
        }
    }
    true
}

/// Faces of every identity given theta*; where it is integrated out, it is drawn and forgotten.
fn draw_embeddings(state: &State, target: &mut Target, rng: &mut Rng) {
    for &identity in state.seating().identities() {
        let has_it = |face: &FaceId| state.seating().identity_of(*face) == Some(identity);
        let faces: Vec<FaceId> = target.data().faces().filter(has_it).collect();
        let scales: Vec<u8> = faces.iter().map(|&face| state.faces().scale(face)).collect();
        let drawn = target.model().face.simulate(state.faces().theta(identity), &scales, rng);
        faces.iter().zip(drawn).for_each(|(&face, x)| target.set_embedding(face, &x));
    }
}

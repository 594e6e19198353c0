//! Draws from the model itself: latent variables and data together, for tests and power studies.

use crate::data::Label;
use crate::ids::{FaceId, LabelId};
use crate::model::face::{Centred, FaceKind};
use crate::model::{ErrorRate, FaceModel, LocalConcentration, Strength, ln_odds};
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
    draw_within(usize::MAX, layout, rng).expect("it goes on until one is accepted")
}

/// As [`draw`]; `None` where none of so many draws is accepted.
pub fn draw_within(n_draws: usize, layout: &Target, rng: &mut Rng) -> Option<(State, Target)> {
    let unsaid = layout.unsaid();
    for _ in 0..n_draws {
        let mut state = draw_latent(&unsaid, rng);
        if rng.uniform().ln() >= ln_accepted(&state, layout) {
            continue;
        }
        let mut target = layout.clone();
        if draw_names(&state, &mut target, rng) {
            draw_embeddings(&state, &mut target, rng);
            state.refresh(&target);
            return Some((state, target));
        }
    }
    None
}

/// As [`draw`], for a face model that is a factor Phi(X | z, lambda) of the joint and no density of faces: to
/// a power, between two experts, beside look-alikes (MODEL.md §4). Phi need not even have an integral over
/// all X, so faces get a reference density r that knows nobody: a face is where somebody's only photo is, but
/// only this share of its distance from the population's mean. What is drawn has density
/// p(all else) Phi(X | z, lambda) prod_n r(x_n), by rejection, which is the faster the smaller the share;
/// given X, r is a constant, and the rest of it exactly what the kernels sample from.
///
/// # Panics
/// If faces are isotropic, and have a density; or if some may have odd looks, whose density depends on all
/// faces and has no known maximum.
pub fn draw_weighed(layout: &Target, share: f32, rng: &mut Rng) -> (State, Target) {
    let face_model = &layout.model().face;
    let FaceKind::Full(full) = &face_model.kind else { panic!("isotropic faces have a density") };
    assert!(layout.data().faces().all(|face| layout.odd(face).is_none()), "odd looks cannot be drawn");
    // Whatever sits where at whichever scale, Phi is largest where all faces lie on the mean.
    let mut at_peak = layout.unsaid();
    let mean: Vec<f32> = full.prior().mean.iter().map(|&m| m as f32).collect();
    layout.data().faces().for_each(|face| at_peak.set_embedding(face, &mean));
    let ln_phi = |state: &State| -> f64 {
        let identities = state.seating().identities().iter();
        identities.map(|&identity| face_model.ln_marginal(state.faces.group(identity))).sum()
    };
    let ln_most = ln_largest(layout.data().n_faces(), &mean, face_model);
    loop {
        let mut state = draw_latent(&at_peak, rng);
        let ln_peak = ln_phi(&state);
        assert!(ln_peak <= ln_most + 1e-9, "faces weigh {ln_peak}, more than {ln_most}");
        if rng.uniform().ln() >= ln_peak - ln_most + ln_accepted(&state, layout) {
            continue;
        }
        let mut target = layout.clone();
        if !draw_names(&state, &mut target, rng) {
            continue;
        }
        for face in layout.data().faces() {
            let photo = face_model.simulate(None, &[face_model.middle_scale()], rng);
            let nearer: Vec<f32> = photo[0].iter().zip(&mean).map(|(x, m)| m + share * (x - m)).collect();
            target.set_embedding(face, &nearer);
        }
        state.refresh(&target);
        let ln_found = ln_phi(&state);
        assert!(ln_found <= ln_peak + 1e-9, "faces weigh {ln_found}, more than {ln_peak}");
        if rng.uniform().ln() < ln_found - ln_peak {
            return (state, target);
        }
    }
}

/// ln max Phi of so many faces, whatever they look like and whoever sits with whom: on the mean, at the
/// narrowest scale, which is the first.
fn ln_largest(n_faces: usize, mean: &[f32], face_model: &FaceModel) -> f64 {
    let mut x = Centred::default();
    face_model.centre(mean, &mut x);
    x.set_scale(0);
    let mut group = face_model.group();
    let (mut of_size, mut most) = (Vec::new(), vec![0.0]);
    for n in 1..=n_faces {
        face_model.observe(&mut group, &x);
        of_size.push(face_model.ln_marginal(&group));
        let with_last = (1..=n).map(|size| of_size[size - 1] + most[n - size]);
        most.push(with_last.fold(f64::NEG_INFINITY, f64::max));
    }
    most[n_faces]
}

/// ln of the probability with which latent variables are accepted for repeats in frames and for what was
/// said.
fn ln_accepted(state: &State, layout: &Target) -> f64 {
    state.n_repeats(layout.data()) as f64 * layout.model().repeat.ln() + ln_statements(state, layout)
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

//! Prediction: a new frame under pooled draws, against the exact posterior with its faces among the others.

use crate::common;
use crate::common::exact::{self, World};
use crate::common::{Case, named, run};
use kith::chain::{Draw, Run};
use kith::data::NewFace;
use kith::model::face::FaceKind;
use kith::model::{ContextMode, FaceModel, Full, FullPrior, Strength};
use kith::predict::{Answer, Posterior};

/// Chains are independent, so that their spread is the error of their mean: Student's t with 63 degrees of
/// freedom leaves 2e-4 beyond 4 standard errors.
const CHAINS: usize = 64;
/// A debug build checks every state after every sweep, and is given fewer.
const RUN: Run = Run { sweeps: if cfg!(debug_assertions) { 250 } else { 1_050 }, burn_in: 50, thin: 1 };

const NEAR_NOBODY: [f32; 3] = [-0.2, 1.1, -0.4];
const NEAR_FACE_0: [f32; 3] = [1.5, 0.6, -0.2];
const NEAR_FACE_3: [f32; 3] = [-0.9, -0.3, 0.8];

/// Every number of an answer, with what it is.
fn figures(answers: &[Answer]) -> Vec<(String, f64)> {
    let mut figures = Vec::new();
    for (r, answer) in answers.iter().enumerate() {
        let mut add = |name: String, p: f64| figures.push((format!("face {r}: {name}"), p));
        add("acquainted".to_owned(), answer.acquainted);
        add("familiar".to_owned(), answer.familiar);
        add("stranger".to_owned(), answer.stranger);
        let mut names: Vec<_> = answer.names.iter().map(|name| (name.label.0, name.p)).collect();
        names.sort_by_key(|name| name.0);
        names.into_iter().for_each(|(label, p)| add(format!("called {label}"), p));
        add("of unknown name".to_owned(), answer.unknown_name);
        let mut contexts = answer.context.clone();
        contexts.sort_by(|a, b| a.0.cmp(&b.0));
        contexts.into_iter().for_each(|(name, p)| add(format!("in {name}"), p));
        add(format!("the person of {:?}", answer.identity.faces[0]), answer.identity.p);
    }
    figures
}

/// The same numbers by enumeration of the six faces and the new ones.
fn exact_figures(case: &Case, context: Option<&str>, faces: &[&[f32]], found: &[Answer]) -> Vec<f64> {
    let mut data = case.target.data().clone();
    let new: Vec<NewFace> = faces.iter().map(|embedding| NewFace { embedding, name: None }).collect();
    let frame = data.push_frame(context, &new).unwrap().index();
    let worlds = exact::posterior(case.target.model(), &data);
    let n_seen = case.target.data().n_faces();
    let mut figures = Vec::new();
    for (r, answer) in found.iter().enumerate() {
        let face = n_seen + r;
        let is_seen = |w: &World| (0..n_seen).any(|other| w.is_same(other, face));
        let mut add = |holds: &dyn Fn(&World) -> bool| figures.push(exact::probability(&worlds, holds));
        add(&|w| is_seen(w) && w.name_of(face).is_some());
        add(&|w| is_seen(w) && w.name_of(face).is_none());
        add(&|w| !is_seen(w));
        for label in 0..data.names().len() as u32 {
            add(&|w| w.name_of(face) == Some(label));
        }
        add(&|w| w.name_of(face).is_none());
        let mut contexts: Vec<&String> = answer.context.iter().map(|context| &context.0).collect();
        contexts.sort();
        for name in contexts {
            let number = match case.target.model().context.mode {
                ContextMode::Given => data.contexts().iter().position(|known| known == name).unwrap() as u32,
                _ => name.parse().unwrap(),
            };
            add(&|w| w.contexts[frame] == number);
        }
        // The person is the one of a face, and that face the most probable of all.
        let same = |other: usize| exact::probability(&worlds, |w| w.is_same(other, face));
        let best = answer.identity.faces[0].index();
        assert!((0..n_seen).all(|other| same(other) < same(best) + 0.02), "{}: {best}", case.name);
        add(&|w| w.is_same(best, face));
    }
    figures
}

fn compare(case: &Case, seed: u64, context: Option<&str>, faces: &[&[f32]]) {
    let draws = run(case, CHAINS, seed, &RUN);
    let posterior = |draws: &[Draw]| Posterior::new(&case.target, draws);
    let answers = posterior(&draws).predict(context, faces, true);
    let found = figures(&answers);
    let exact = exact_figures(case, context, faces, &answers);
    let by_chain: Vec<_> = (0..CHAINS as u32)
        .map(|chain| {
            let own: Vec<Draw> = draws.iter().filter(|draw| draw.chain == chain).cloned().collect();
            figures(&posterior(&own).predict(context, faces, true))
        })
        .collect();
    assert_eq!(found.len(), exact.len());
    let mut failures = Vec::new();
    for ((name, found), exact) in found.iter().zip(exact) {
        // A chain may not have met a context at all. If it names another example face it answers another
        // question, and how far chains differ on this one is not known.
        let of_chain = |figures: &Vec<(String, f64)>| {
            figures.iter().find(|figure| figure.0 == *name).map_or(*found, |figure| figure.1)
        };
        let is_named = |figures: &Vec<(String, f64)>| figures.iter().any(|figure| figure.0 == *name);
        if name.contains("the person of") && !by_chain.iter().all(is_named) {
            continue;
        }
        let values: Vec<f64> = by_chain.iter().map(of_chain).collect();
        let mean = values.iter().sum::<f64>() / CHAINS as f64;
        let square = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let error = (square / ((CHAINS - 1) * CHAINS) as f64).sqrt().max(1e-6);
        let z = (found - exact) / error;
        println!("{}, {context:?}: {name}: exact {exact:.4}, error {error:.5}, z = {z:.2}", case.name);
        if z.abs() >= 4.0 {
            failures.push(format!("{name}: found {found:.5}, exact {exact:.5}, z = {z:.1}"));
        }
    }
    assert!(failures.is_empty(), "{}, {context:?}:\n{}", case.name, failures.join("\n"));
}

#[test]
fn a_face_in_a_known_context_is_predicted_exactly() {
    compare(&named("given"), 1, Some("work"), &[&NEAR_FACE_0]);
    compare(&named("given, names"), 2, Some("home"), &[&NEAR_NOBODY]);
    compare(&named("none"), 3, Some("home"), &[&NEAR_FACE_3]);
}

/// The given context is news of omega, and so of the training frame whose context is missing.
#[test]
fn a_given_context_counts_for_frames_whose_context_is_missing() {
    // With little known of omega beforehand, a frame's context says much about the next one's.
    let case = named("given, one missing").with(|m| m.context.concentration = Strength::Fixed(0.3));
    compare(&case, 4, Some("work"), &[&NEAR_FACE_3]);
}

#[test]
fn a_face_without_context_is_predicted_exactly() {
    compare(&named("given"), 5, None, &[&NEAR_FACE_0]);
    compare(&named("given, names, explicit"), 6, None, &[&NEAR_FACE_3]);
    compare(&named("latent 3"), 7, None, &[&NEAR_NOBODY]);
    compare(&named("unbounded"), 8, None, &[&NEAR_FACE_3]);
}

#[test]
fn a_face_in_a_context_never_seen_is_predicted_exactly() {
    compare(&named("given"), 9, Some("gym"), &[&NEAR_FACE_0]);
    compare(&named("given, names"), 10, Some("gym"), &[&NEAR_FACE_3]);
}

#[test]
fn two_faces_of_one_frame_are_predicted_exactly_together() {
    let case = named("given, one missing, repeat");
    compare(&case, 11, None, &[&NEAR_FACE_0, &NEAR_NOBODY]);
    let case = case.with(|m| m.identity.local_concentration = common::own_alphas());
    compare(&case, 12, Some("home"), &[&NEAR_FACE_0, &NEAR_FACE_0]);
    let unbounded = named("unbounded").with(|m| m.repeat = 0.3);
    compare(&unbounded, 13, None, &[&NEAR_NOBODY, &NEAR_NOBODY]);
}

/// The default's face model. The exact sum is over all scales of eight faces, so that the training faces have
/// one scale here.
#[test]
fn faces_with_covariances_are_predicted_exactly() {
    let without_scales = |case: Case| {
        case.with(|m| {
            let FaceKind::Full(full) = &m.face.kind else { panic!("a case of covariances") };
            m.face = FaceModel::full(Full::new(FullPrior { spread: 0.0, ..FullPrior::clone(full.prior()) }));
        })
    };
    compare(&named("covariances"), 16, Some("work"), &[&NEAR_FACE_0]);
    let case = without_scales(named("covariances, nowhere, repeat"));
    compare(&case, 17, None, &[&NEAR_FACE_0, &NEAR_NOBODY]);
    compare(&case, 18, None, &[&NEAR_FACE_3, &NEAR_FACE_3]);
}

fn assert_near(what: &str, found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-9, "{what}: found {found}, wanted {wanted}");
}

#[test]
fn unweighted_answers_sum_to_one_and_are_the_mean_of_single_draws() {
    for case in common::collapsed() {
        let draws = run(&case, 4, 14, &Run { sweeps: 20, burn_in: 10, thin: 2 });
        let posterior = |draws: &[Draw]| Posterior::new(&case.target, draws);
        for context in [None, Some("work"), Some("gym")] {
            for faces in [&[&NEAR_FACE_0[..]][..], &[&NEAR_NOBODY[..], &NEAR_FACE_3, &NEAR_FACE_0]] {
                let pooled = posterior(&draws).predict(context, faces, false);
                assert_eq!(pooled.len(), faces.len());
                let of_draw =
                    |draw: &Draw| posterior(std::slice::from_ref(draw)).predict(context, faces, false);
                let single: Vec<_> = draws.iter().map(of_draw).collect();
                let mean = |what: &dyn Fn(&Answer) -> f64, face: usize| {
                    single.iter().map(|answers| what(&answers[face])).sum::<f64>() / draws.len() as f64
                };
                for (r, answer) in pooled.iter().enumerate() {
                    let of_names: f64 = answer.names.iter().map(|name| name.p).sum();
                    let of_contexts: f64 = answer.context.iter().map(|context| context.1).sum();
                    assert_near(&case.name, answer.acquainted + answer.familiar + answer.stranger, 1.0);
                    assert_near(&case.name, of_names + answer.unknown_name, 1.0);
                    assert_near(&case.name, of_contexts, 1.0);
                    assert_near(&case.name, answer.stranger, mean(&|a| a.stranger, r));
                    assert_near(&case.name, answer.familiar, mean(&|a| a.familiar, r));
                    for name in &answer.names {
                        let p = |a: &Answer| a.names.iter().find(|n| n.label == name.label).unwrap().p;
                        assert_near(&case.name, name.p, mean(&p, r));
                        assert!(name.hdi[0] <= name.hdi[1], "{name:?}");
                    }
                }
            }
        }
    }
}

/// The same draw with its identities numbered backwards.
fn renumbered(draw: &Draw) -> Draw {
    let last = draw.n_identities() as u32 - 1;
    let mut renumbered = draw.clone();
    renumbered.identities.iter_mut().for_each(|identity| *identity = last - *identity);
    renumbered.names.reverse();
    renumbered.globals.weights.reverse();
    renumbered
}

#[test]
fn relabelling_identities_changes_no_prediction() {
    for case in common::collapsed() {
        let draws = run(&case, 4, 15, &Run { sweeps: 20, burn_in: 10, thin: 2 });
        assert!(draws.iter().any(|draw| draw.n_identities() > 2), "nothing to renumber");
        let other: Vec<Draw> = draws.iter().map(renumbered).collect();
        for weighted in [false, true] {
            let answers = |draws: &[Draw]| {
                let posterior = Posterior::new(&case.target, draws);
                posterior.predict(None, &[&NEAR_FACE_0, &NEAR_NOBODY], weighted)
            };
            let (before, after) = (answers(&draws), answers(&other));
            for (a, b) in before.iter().zip(&after) {
                // Faces that are equally likely may change places, by rounding.
                assert_near(&case.name, a.identity.p, b.identity.p);
                assert_near(&case.name, a.unknown_name, b.unknown_name);
                for (a, b) in a.names.iter().zip(&b.names) {
                    assert_eq!(a.label, b.label);
                    assert_near(&case.name, a.hdi[0], b.hdi[0]);
                    assert_near(&case.name, a.hdi[1], b.hdi[1]);
                }
            }
            let (before, after) = (figures(&before), figures(&after));
            for ((what, a), (_, b)) in before.iter().zip(&after) {
                assert_near(&format!("{}: {what}", case.name), *a, *b);
            }
        }
    }
}

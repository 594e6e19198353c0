//! Guests against sums over all their seatings, and what being asked about together changes.

use super::*;
use crate::belief::{Belief, Chains, Schedule};
use crate::cases::{self, Case};
use crate::chain::Chain;
use crate::data::NewFace;
use crate::gibbs::Sweep;
use crate::model::{ContextMode, FaceModel, Isotropic, Model, Strangers, Strength};
use crate::predict::Answer;
use crate::random::driver;
use crate::simulate::prior;

/// One draw so many times over: the same seats to choose from, each time seated by other random numbers.
const COPIES: usize = 64;

/// Guests against the exact joint of a photo's faces, which is summed over all their seats. Repetitions
/// are independent, so that their spread is the error of their mean: Student's t with 63 degrees of
/// freedom leaves 3e-5 beyond 4.5 standard errors. What is so rare that no round has seen it does not
/// show in the spread: where ten rounds in all should have, that happens with probability 5e-5.
#[test]
fn guests_sit_as_often_as_the_sum_over_all_seatings_says() {
    let mut n_compared = 0;
    let is_nowhere = |case: &Case| case.target.model().context.mode == ContextMode::None;
    let nowhere = cases::all().into_iter().filter(is_nowhere);
    let shipped = cases::shipped().into_iter().map(|case| case.with(|m| m.context.mode = ContextMode::None));
    for case in nowhere.chain(shipped) {
        let is_dear = case.target.model().face.has_covariances();
        let counted = if is_dear { 4_000 } else { 16_000 };
        for (seed, repeat) in [(3, 1.0), (4, 0.3), (5, 1.0), (6, 0.3)] {
            let mut rng = driver(seed);
            let (state, target) = prior::draw(&case.target, &mut rng);
            let mut model = target.model().clone();
            model.repeat = repeat;
            let target = target.with_model(model).unwrap();
            let mut chain = Chain::of_state(state, driver(13));
            chain.sweep(&Sweep::default(), &target);
            let draw = chain.draw(&target);
            let posterior = Posterior::new(&target, &vec![draw; COPIES]);
            let mut face = || -> Vec<f32> {
                (0..target.data().dimension()).map(|_| 1.5 * rng.normal() as f32).collect()
            };
            let faces: [Vec<f32>; 3] = std::array::from_fn(|_| face());
            let faces: Vec<&[f32]> = faces.iter().map(|face| &face[..]).collect();
            let share = vec![posterior.draws[0].ln_unseen.exp(); COPIES];
            let exact = NewFrame::new(&posterior, None, &faces).under_all(Some(&share)).remove(0);
            let photos = [NewPhoto { context: None, faces }];
            let rounds = Rounds { before: 20, counted };
            let unseen = 10.0 / (COPIES * rounds.counted) as f64;
            let found = seat_for(rounds, &posterior, &photos, &|| ()).remove(0).marginals;
            for face in 0..3 {
                let at = |marginals: &Marginals, identity: u32| -> f64 {
                    let of_face = marginals.identities[face].iter();
                    of_face.filter(|seat| seat.0 == identity).map(|seat| seat.1).sum()
                };
                let mut compare = |what: &str, of: &dyn Fn(&Marginals) -> f64| {
                    let each: Vec<f64> = found.iter().map(of).collect();
                    let mean = each.iter().sum::<f64>() / COPIES as f64;
                    let squares: f64 = each.iter().map(|p| (p - mean).powi(2)).sum();
                    let error = (squares / (COPIES * (COPIES - 1)) as f64).sqrt();
                    let (exact, name) = (of(&exact), case.name);
                    let off = (mean - exact).abs();
                    assert!(
                        off < 4.5 * error + unseen,
                        "{name}, face {face} {what}: {mean} +- {error}, {exact}"
                    );
                    n_compared += usize::from(exact > 0.01 && exact < 0.99);
                };
                compare("new", &|marginals| marginals.new[face]);
                for identity in 0..posterior.draws[0].group.len() as u32 {
                    compare("known", &|marginals| at(marginals, identity));
                }
            }
        }
    }
    assert!(n_compared > 20, "{n_compared} doubtful seats");
}

/// Two people learnt from.
fn two_people() -> Posterior {
    let prior = Isotropic { mean: vec![0.0; 2], kappa: 0.1, shape: 3.0, rate: 2.0 };
    let mut model = Model::new(FaceModel::isotropic(prior));
    model.identity.strangers = Strangers::Learnt;
    // Learnt from twelve faces, alpha_0 may be so small that a draw rules strangers out.
    model.identity.global_concentration = Strength::Fixed(1.0);
    let mut belief = Belief::new(model, Chains { n: 4, seed: 3 }).unwrap().with_schedule(Schedule::ONLINE);
    for k in 0..12 {
        let face = [[6.0, 0.3 * k as f32], [-6.0, 0.3 * k as f32]][k % 2];
        let name = (k < 2).then_some(["Ann", "Bob"][k % 2]);
        belief.see(None, &[NewFace { embedding: &face, name }]).unwrap();
    }
    let draws = belief.draws();
    Posterior::new(belief.target(), draws)
}

fn ask(posterior: &Posterior, faces: &[[f32; 2]]) -> Vec<Answer> {
    let photo = |face| NewPhoto { context: None, faces: vec![face] };
    let photos: Vec<NewPhoto<'_>> = faces.iter().map(|face| photo(face.as_slice())).collect();
    let occasion = posterior.occasion(&photos, &|| ());
    (0..photos.len()).map(|photo| posterior.predict_on(&occasion, photo, false).remove(0)).collect()
}

#[test]
fn a_guest_alone_is_a_face_in_a_context_without_faces() {
    let posterior = two_people();
    let shares: Vec<f64> = posterior.draws.iter().map(|draw| draw.ln_unseen.exp()).collect();
    for face in [[6.0, 1.0], [3.0, 2.5], [0.0, 0.5], [0.0, 40.0]] {
        let alone = &posterior.predict_with(None, &[&face], false, Some(&shares))[0];
        let guest = &ask(&posterior, &[face])[0];
        let kinds = |answer: &Answer| [answer.acquainted, answer.familiar, answer.stranger];
        for (a, b) in kinds(alone).into_iter().zip(kinds(guest)) {
            assert!((a - b).abs() < 1e-6, "{alone:?} {guest:?}");
        }
        assert!(alone.names.iter().zip(&guest.names).all(|(a, b)| (a.p - b.p).abs() < 1e-6));
        assert_eq!(alone.identity.faces[0], guest.identity.faces[0]);
        assert_eq!(alone.context, guest.context);
    }
}

#[test]
fn photos_of_a_stranger_that_pass_for_somebody_seen_one_by_one_do_not_together() {
    let posterior = two_people();
    let stranger: Vec<[f32; 2]> = (0..8).map(|k| [4.4, -1.2 + 0.05 * k as f32]).collect();
    for face in &stranger {
        let alone = ask(&posterior, &[*face]).remove(0).stranger;
        assert!(alone < 0.5, "{alone}");
    }
    for answer in ask(&posterior, &stranger) {
        assert!(answer.stranger > 0.9, "{}", answer.stranger);
    }
}

#[test]
fn answers_are_the_same_with_any_number_of_threads() {
    let posterior = two_people();
    let mut rng = driver(8);
    let faces: Vec<[f32; 2]> = (0..30).map(|_| [0, 1].map(|_| 5.0 * rng.normal() as f32)).collect();
    let with = |n_threads: usize| {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        threads.install(|| ask(&posterior, &faces))
    };
    assert_eq!(with(1), with(3));
}

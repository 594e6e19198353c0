//! Properties: states that are taken apart and put together, stored, resumed, run in parallel, fed in pieces.

use crate::common;
use crate::common::{Case, exact, run_on};
use kith::belief::{Belief, Chains, Said, Schedule};
use kith::chain::diagnostics::standard_error;
use kith::chain::{Chain, Draw, Ensemble, Run, Start};
use kith::data::{Dataset, Embeddings, NewFace};
use kith::gibbs::Sweep;
use kith::ids::{FaceId, FrameId, IdentityId};
use kith::model::face::Centred;
use kith::model::{ContextMode, FaceModel, FaceUpdate, Isotropic, LocalConcentration, Model, Strength};
use kith::random::{Rng, driver};
use kith::state::{Name, State};
use kith::target::Target;

fn every_case() -> Vec<Case> {
    common::collapsed().into_iter().chain(common::explicit()).collect()
}

fn sweeps(case: &Case, times: usize, seed: u64) -> (State, Rng) {
    let mut rng = driver(seed);
    let mut state = Start::Random.state(&case.target, &mut rng);
    for _ in 0..times {
        Sweep::default().run(&mut state, &case.target, &mut rng);
    }
    (state, rng)
}

/// N_ci, N_c., M_c and the number of faces of every identity.
fn counts(state: &State) -> Vec<u32> {
    let seating = state.seating();
    let mut counts = vec![seating.n_identities() as u32];
    for context in seating.contexts() {
        counts.extend([seating.n_in(context), seating.n_frames_in(context)]);
        counts.extend((0..seating.n_slots()).map(|slot| seating.n_at(context, IdentityId::new(slot))));
    }
    counts.extend((0..seating.n_slots()).map(|slot| seating.n_of(IdentityId::new(slot))));
    counts
}

#[test]
fn removing_and_inserting_a_face_restores_the_state() {
    let (mut shared, mut alone) = (0, 0);
    for case in every_case() {
        let target = &case.target;
        let data = target.data();
        for seed in 0..10 {
            let (mut state, mut rng) = sweeps(&case, 5, seed);
            let before = state.clone();
            let mut is_restored = true;
            let mut x = Centred::default();
            for face in data.faces() {
                state.look(face, target, &mut x);
                let home = state.seating().identity_of(face).unwrap();
                let is_alone = state.seating().n_of(home) == 1;
                assert_eq!(state.remove(face, &x, target), home);
                assert_eq!(state.seating().identity_of(face), None);
                let identity = if is_alone { state.open(face, &x, target, &mut rng) } else { home };
                // The slot that was left last is the first to be taken again.
                assert_eq!(identity, home);
                state.insert(face, &x, identity, target);
                is_restored &= !is_alone;
                *(if is_alone { &mut alone } else { &mut shared }) += 1;
            }
            assert_eq!(state.check(target), Ok(()), "{}", case.name);
            assert_eq!(counts(&state), counts(&before), "{}", case.name);
            // An identity that emptied came back with another weight, name and look.
            if is_restored {
                let (after, before) = (state.ln_joint(target), before.ln_joint(target));
                assert!((after - before).abs() < 1e-9, "{}: {before} {after}", case.name);
            }
        }
    }
    assert!(shared > 100 && alone > 100, "{shared} {alone}");
}

#[test]
fn an_emptied_identity_returns_its_weight() {
    for case in every_case() {
        let target = &case.target;
        let (model, data) = target.parts();
        let mut rng = driver(21);
        let mut state = Start::Apart.state(target, &mut rng);
        let mut x = Centred::default();
        for face in data.faces() {
            let identity = state.seating().identity_of(face).unwrap();
            let (weight, unseen) = (state.weights().ln_of(identity).exp(), state.weights().ln_unseen().exp());
            model.face.centre(data.embedding(face), &mut x);
            state.remove(face, &x, target);
            let after = state.weights().ln_unseen().exp();
            assert!((after - unseen - weight).abs() < 1e-12, "{}: {after}", case.name);
        }
        // Everybody has left.
        assert!(state.weights().ln_unseen().abs() < 1e-12, "{}", case.name);
        assert_eq!(state.seating().n_identities(), 0);
        assert!(state.names().all().all(|name| state.names().n_named(name) == 0));
    }
}

#[test]
fn a_known_person_may_be_met_in_a_context_where_they_never_were() {
    let case = common::named("given");
    let mut rng = driver(22);
    let state = Start::Apart.state(&case.target, &mut rng);
    // Face 0 is at home: nobody of its identity is in the context of frame 1.
    let (identity, work) =
        (state.seating().identity_of(FaceId(0)).unwrap(), state.seating().context_of(FrameId(1)));
    assert_eq!(state.seating().n_at(work, identity), 0);
    let wanted = state.weights().local_concentration(work).ln() + state.weights().ln_of(identity);
    assert!((state.ln_seat(work, identity) - wanted).abs() < 1e-12);
}

#[test]
fn every_state_of_a_long_run_is_valid() {
    let n_sweeps = if cfg!(debug_assertions) { 300 } else { 2_000 };
    for case in every_case() {
        for (number, start) in (0..).zip(Start::ALL) {
            let mut chain = Chain::start(start, number, 23, &case.target);
            for sweep in 0..n_sweeps {
                assert_eq!(chain.state().check(&case.target), Ok(()), "{} {sweep}", case.name);
                chain.sweep(&Sweep::default(), &case.target);
                let joints =
                    [chain.state().ln_joint(&case.target), chain.state().ln_joint_plain(&case.target)];
                assert!((joints[0] - joints[1]).abs() < 1e-8, "{} {sweep}: {joints:?}", case.name);
            }
        }
    }
}

const SHORT: Run = Run { sweeps: 60, burn_in: 10, thin: 5 };

fn stored_and_read<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

#[test]
fn a_checkpoint_resumes_bit_for_bit() {
    for case in every_case() {
        let start = || Ensemble::start(&Start::ALL, 4, 24, &case.target);
        let (mut whole, mut first) = (start(), start());
        let uninterrupted = run_on(&mut whole, &case, &SHORT, 60);
        // Stored at a kept sweep, between two of them, and before the first sweep.
        let mut draws = Vec::new();
        for until in [0, 1, 17, 40, 60] {
            first = stored_and_read(&first);
            draws.extend(run_on(&mut first, &case, &SHORT, until));
        }
        assert_eq!(draws, uninterrupted, "{}", case.name);
        assert_eq!(first, whole, "{}", case.name);
        assert_eq!(stored_and_read(&whole), whole, "{}", case.name);
    }
}

#[test]
fn draws_depend_on_the_seed_and_not_on_the_threads() {
    for case in every_case() {
        let draws = |n_threads: usize, seed: u64| -> Vec<Draw> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| common::run(&case, 5, seed, &SHORT))
        };
        let one = draws(1, 25);
        assert_eq!(one.len() as u64, 5 * SHORT.n_kept());
        assert_eq!(one, draws(2, 25), "{}", case.name);
        assert_eq!(one, draws(1, 25), "{}", case.name);
        assert_ne!(one, draws(1, 26), "{}", case.name);
        // Chains of one seed are no copies of each other.
        assert_ne!(one[0].globals.weights, one[4].globals.weights);
    }
}

/// A context and two faces.
type Frame = (&'static str, [[f32; 2]; 2]);

/// Three people far apart, in eight frames of two.
fn three_people() -> (Model, Vec<Frame>) {
    let centres = [[0.0, 6.0], [6.0, -4.0], [-6.0, -4.0]];
    let mut rng = driver(27);
    let frames = (0..8)
        .map(|frame| {
            let pair = [frame % 3, (frame + 1) % 3];
            let faces = pair.map(|person: usize| centres[person].map(|c| (c + 0.4 * rng.normal()) as f32));
            (if frame % 2 == 0 { "home" } else { "work" }, faces)
        })
        .collect();
    let prior = Isotropic { mean: vec![0.0; 2], kappa: 0.01, shape: 3.0, rate: 0.5 };
    let mut model = Model::new(FaceModel::isotropic(prior));
    model.identity.global_concentration = Strength::Fixed(1.0);
    model.identity.local_concentration = LocalConcentration::Shared(Strength::Fixed(1.0));
    (model, frames)
}

/// Mean number of identities over sweeps after learning, and its error.
fn n_identities_after(schedule: Schedule, seed: u64) -> (f64, f64) {
    let (model, frames) = three_people();
    let mut belief = Belief::new(model, Chains { n: 8, seed }).unwrap().with_schedule(schedule);
    for (context, faces) in &frames {
        let faces = faces.each_ref().map(|embedding| NewFace { embedding, name: None });
        belief.see(Some(context), &faces).unwrap();
        // Chains know what has been learnt from, not what is waiting.
        if belief.target().data().n_frames().is_multiple_of(schedule.frames) {
            for chain in belief.chains() {
                assert_eq!(chain.state().check(belief.target()), Ok(()));
            }
        }
    }
    belief.take_in().unwrap();
    belief.take_in().unwrap();
    let case = Case { name: String::new(), target: belief.target().clone() };
    let mut ensemble = Ensemble::of(belief.chains().to_vec());
    for chain in ensemble.chains() {
        assert_eq!(chain.state().check(&case.target), Ok(()));
    }
    let from = ensemble.chains()[0].n_sweeps();
    let draws = run_on(&mut ensemble, &case, &Run { sweeps: from + 400, burn_in: from, thin: 1 }, u64::MAX);
    let mut chains = vec![Vec::new(); 8];
    draws.iter().for_each(|draw| chains[draw.chain as usize].push(draw.n_identities() as f64));
    (chains.iter().flatten().sum::<f64>() / draws.len() as f64, standard_error(&chains))
}

#[test]
fn the_schedules_agree_on_who_there_is() {
    let batch = Schedule { frames: 3, sweeps: 50, revisits: 0 };
    let offline = Schedule { frames: usize::MAX, sweeps: 200, revisits: 0 };
    let found = [Schedule::ONLINE, batch, offline].map(|schedule| n_identities_after(schedule, 28));
    for (mean, error) in found {
        assert!(mean > 2.9 && mean < 4.0, "{found:?}");
        assert!((mean - found[0].0).abs() < 4.0 * error.hypot(found[0].1), "{found:?}");
    }
}

#[test]
fn a_stream_with_enough_looks_believes_what_sweeps_do() {
    let (mean, error) = n_identities_after(Schedule::ONLINE, 28);
    let (model, frames) = three_people();
    let mut belief = Belief::new(model, Chains { n: 300, seed: 30 })
        .unwrap()
        .with_schedule(Schedule { revisits: 60, ..Schedule::STREAM });
    for (context, faces) in &frames {
        let faces = faces.each_ref().map(|embedding| NewFace { embedding, name: None });
        belief.see(Some(context), &faces).unwrap();
    }
    let chains = belief.chains();
    for chain in chains {
        assert_eq!(chain.state().check(belief.target()), Ok(()));
    }
    let counts: Vec<f64> = chains.iter().map(|chain| chain.state().seating().n_identities() as f64).collect();
    let n = counts.len() as f64;
    let found = counts.iter().sum::<f64>() / n;
    let spread = (counts.iter().map(|count| (count - found).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt();
    assert!(
        (found - mean).abs() < 4.0 * error.hypot(spread),
        "{found} +- {spread}, wanted {mean} +- {error}"
    );
}

#[test]
fn names_given_later_count() {
    let (model, frames) = three_people();
    for schedule in [Schedule::ONLINE, Schedule { frames: 3, sweeps: 50, revisits: 0 }] {
        let mut belief =
            Belief::new(model.clone(), Chains { n: 4, seed: 29 }).unwrap().with_schedule(schedule);
        for (context, faces) in &frames[..7] {
            let faces = faces.each_ref().map(|embedding| NewFace { embedding, name: None });
            belief.see(Some(context), &faces).unwrap();
        }
        // Persons 0, 1 of frame 0 and 1, 2 of frame 1. Seven is not a multiple of three: under the second
        // schedule the names come while a frame is waiting.
        for (face, name) in [(0, "Ann"), (1, "Bob"), (2, "Bob"), (3, "Cleo")] {
            belief.hear(&[Said::Name(FaceId(face), name)]).unwrap();
        }
        if schedule == Schedule::ONLINE {
            for chain in belief.chains() {
                assert_eq!(chain.state().check(belief.target()), Ok(()));
            }
        }
        let (context, faces) = &frames[7];
        let faces = faces.each_ref().map(|embedding| NewFace { embedding, name: None });
        belief.see(Some(context), &faces).unwrap();
        belief.take_in().unwrap();
        assert_eq!(belief.target().data().names(), ["Ann", "Bob", "Cleo"]);

        let case = Case { name: String::new(), target: belief.target().clone() };
        let mut ensemble = Ensemble::of(belief.chains().to_vec());
        let from = ensemble.chains()[0].n_sweeps();
        let draws =
            run_on(&mut ensemble, &case, &Run { sweeps: from + 400, burn_in: from, thin: 1 }, u64::MAX);
        for face in case.target.data().faces() {
            let person = (face.index() / 2 + face.index() % 2) % 3;
            let of_draw = |draw: &&Draw| {
                let name = draw.names[draw.identities[face.index()] as usize];
                name.is_some_and(|label| label.index() == person)
            };
            let share = draws.iter().filter(of_draw).count() as f64 / draws.len() as f64;
            assert!(share > 0.8, "{face:?}: {share}");
        }
    }
}

/// Names of which the prior weight is about exp(-1e4) and exp(-1e24).
const LONG_NAMES: [&str; 2] = ["Ann", "Christopher Robin"];

/// Ten people far apart, four faces each: face f is of person f % 10. Lambda is learnt.
fn ten_people() -> Target {
    let prior = Isotropic { mean: vec![0.0; 2], kappa: 0.001, shape: 3.0, rate: 0.5 };
    let mut model = Model::new(FaceModel::isotropic(prior));
    model.identity.global_concentration = Strength::Fixed(1.0);
    model.identity.local_concentration = LocalConcentration::Shared(Strength::Fixed(1.0));
    model.name.concentration = Strength::Learnt { shape: 1.0, rate: 0.01 };
    let mut rng = driver(34);
    let mut target = Target::empty(model).unwrap();
    for face in 0..40 {
        let angle = f64::from(face % 10);
        let centre = [40.0 * angle.cos(), 40.0 * angle.sin()];
        let embedding = centre.map(|c| (c + 0.3 * rng.normal()) as f32);
        target.push_frame(None, &[NewFace { embedding: &embedding, name: None }]).unwrap();
    }
    target
}

/// Face 3 and another of the same person.
fn are_together(chain: &Chain) -> bool {
    let seating = chain.state().seating();
    seating.identity_of(FaceId(3)) == seating.identity_of(FaceId(13))
}

/// The weight of a name given for the first time is far below what `f64` can hold beside other terms.
#[test]
fn a_rare_name_does_not_tear_its_face_from_those_that_look_alike() {
    let endless = "x".repeat(260);
    for name in LONG_NAMES.into_iter().chain([&*endless]) {
        let mut called = 0;
        for seed in 0..30 {
            let mut target = ten_people();
            let mut chain = Chain::start(Start::Sequential, 0, seed, &target);
            for _ in 0..20 {
                chain.sweep(&Sweep::default(), &target);
            }
            assert!(are_together(&chain), "{name}, seed {seed}: before");
            target.set_name(FaceId(3), Some(name));
            chain.extend(&target);
            for sweep in 0..3 {
                chain.sweep(&Sweep::default(), &target);
                assert!(are_together(&chain), "{name}, seed {seed}: after sweep {sweep}");
            }
            let identity = chain.state().seating().identity_of(FaceId(3)).unwrap();
            called += usize::from(chain.state().names().of(identity) != Name::Unknown);
            let chain = Chain::start(Start::Sequential, 0, seed, &target);
            assert!(are_together(&chain), "{name}, seed {seed}: at the start");
        }
        // One wrong name in twenty is expected.
        assert!(called > 22, "{name}: {called} of 30");
    }
}

/// A name that was corrected stays known, without anybody who bears it.
#[test]
fn a_corrected_name_leaves_lambda_free_to_move() {
    for name in LONG_NAMES {
        let mut target = ten_people();
        target.set_name(FaceId(3), Some(&format!("{name} (mistyped)")));
        let mut chain = Chain::start(Start::Sequential, 0, 35, &target);
        target.set_name(FaceId(3), Some(name));
        chain.extend(&target);
        let mut lambdas = Vec::new();
        for _ in 0..50 {
            chain.sweep(&Sweep::default(), &target);
            lambdas.push(chain.state().names().concentration());
        }
        assert!(lambdas.windows(2).all(|pair| pair[0] != pair[1]), "{lambdas:?}");
        let (low, high) = lambdas.iter().fold((f64::MAX, 0.0f64), |(l, h), &x| (l.min(x), h.max(x)));
        assert!(high > 3.0 * low, "{lambdas:?}");
    }
}

#[test]
fn a_name_taken_back_no_longer_counts() {
    let mut case = common::named("given, names");
    let mut rng = driver(30);
    let mut state = Start::Sequential.state(&case.target, &mut rng);
    for face in case.target.data().faces() {
        case.target.set_name(face, None);
    }
    state.extend(&case.target, &mut rng);
    assert_eq!(state.check(&case.target), Ok(()));
    assert!(state.seating().identities().iter().all(|&i| state.names().votes(i).is_empty()));
}

#[test]
fn while_nobody_is_named_every_name_is_unknown() {
    let case = common::named("unbounded");
    let (state, _) = sweeps(&case, 20, 31);
    let named = |&i: &IdentityId| state.names().of(i) != Name::Unknown;
    assert!(!state.seating().identities().iter().any(named));
    assert_eq!(state.names().n_named(Name::Unknown) as usize, state.seating().n_identities());
}

/// 100,000 faces come and go, 40 at a time, in D = 8 at a distance of 1000 from the origin; what is left is
/// compared with the same faces counted afresh.
#[test]
fn statistics_of_faces_do_not_drift() {
    for (m_0, tolerance) in [
        // Centred where the faces are: sums of numbers of order one lose some 1e-13.
        (1000.0, 1e-9),
        // Centred far away: 40 faces have a sum of squares of 3e8, of which 1e-16 is lost per step. After 1e5
        // steps some 1e-5 is missing from a scatter of 100, to the power of a_n = 163.
        (0.0, 1e-3),
    ] {
        let prior = Isotropic { mean: vec![m_0; 8], kappa: 0.1, shape: 3.0, rate: 2.0 };
        let model = FaceModel::isotropic(prior.clone());
        let mut rng = driver(32);
        let mut draw = || -> Vec<f32> { (0..8).map(|_| (1000.0 + 0.6 * rng.normal()) as f32).collect() };
        let mut group = model.group();
        let mut x = Centred::default();
        let mut inside: Vec<Vec<f32>> = Vec::new();
        for step in 0..100_000 {
            let face = draw();
            model.centre(&face, &mut x);
            model.observe(&mut group, &x);
            inside.push(face);
            if inside.len() > 40 {
                let leaving = inside.swap_remove((step * 7) % 41);
                model.centre(&leaving, &mut x);
                model.forget(&mut group, &x);
            }
        }
        assert_eq!(group.n_faces(), 40);
        let xs: Vec<Vec<f64>> =
            inside.iter().map(|face| face.iter().map(|&x| f64::from(x)).collect()).collect();
        let (found, wanted) = (model.ln_marginal(&group), exact::ln_marginal(&prior, &xs));
        assert!((found - wanted).abs() < tolerance, "m_0 = {m_0}: ln p(x): found {found}, wanted {wanted}");
        for _ in 0..20 {
            let face = draw();
            model.centre(&face, &mut x);
            let found = model.ln_predictive(&group, &x);
            let more = [xs.clone(), vec![face.iter().map(|&x| f64::from(x)).collect()]].concat();
            let wanted = exact::ln_marginal(&prior, &more) - exact::ln_marginal(&prior, &xs);
            assert!((found - wanted).abs() < tolerance, "m_0 = {m_0}: predictive {found}, wanted {wanted}");
        }
        // Empty, it is exactly as new.
        for face in inside {
            model.centre(&face, &mut x);
            model.forget(&mut group, &x);
        }
        assert_eq!(group, model.group());
    }
}

/// The same for a whole state: a long run at a distance.
#[test]
fn a_state_does_not_drift_far_from_the_origin() {
    let mut rng = driver(33);
    let n_faces = 60;
    let values: Vec<f32> =
        (0..n_faces * 8).map(|k| (1000.0 + 3.0 * ((k / 8) % 3) as f64 + rng.normal()) as f32).collect();
    let frames = (0..n_faces as u32).map(|face| FrameId(face / 2)).collect();
    let data = Dataset::new(Embeddings::new(values, 8).unwrap(), frames, &vec![None; 30], &vec![None; 60]);
    let data = data.unwrap();
    for update in [FaceUpdate::Collapsed, FaceUpdate::Explicit] {
        let mut model = Model::new(FaceModel::isotropic(Isotropic::from_unlabelled(data.embeddings())));
        model.face.update = update;
        model.context.mode = ContextMode::None;
        let target = Target::new(model, data.clone()).unwrap();
        let mut state = Start::Random.state(&target, &mut rng);
        // 120,000 times a face is removed and inserted.
        for _ in 0..2_000 {
            Sweep::default().run(&mut state, &target, &mut rng);
        }
        assert_eq!(state.check(&target), Ok(()));
        let (fast, plain) = (state.ln_joint(&target), state.ln_joint_plain(&target));
        assert!((fast - plain).abs() < 1e-6, "{fast} {plain}");
    }
}

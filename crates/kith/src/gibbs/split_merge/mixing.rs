//! What splits and merges are for: chains leave bad starting points that faces moving one by one do not.

use crate::chain::{Chain, Start};
use crate::data::NewFace;
use crate::gibbs::{Step, Sweep};
use crate::model::{FaceModel, Isotropic, Model};
use crate::random::{Rng, driver, stream};
use crate::target::Target;

/// Faces of people from the model's own prior, in three contexts; kappa is within-person over between-person
/// variance.
fn people(n_faces: usize, n_people: usize, dimension: usize, kappa: f64, rng: &mut Rng) -> Target {
    let prior = Isotropic { mean: vec![0.0; dimension], kappa, shape: 18.0, rate: 17.0 };
    let model = Model::new(FaceModel::isotropic(prior));
    let thetas: Vec<_> = (0..n_people).map(|_| model.face.draw(&model.face.group(), rng)).collect();
    let mut target = Target::empty(model.clone()).unwrap();
    for _ in 0..n_faces {
        let x = model.face.simulate(Some(&thetas[rng.below(n_people)]), &[0], rng).swap_remove(0);
        let context = ["home", "work", "out"][rng.below(3)];
        target.push_frame(Some(context), &[NewFace { embedding: &x, name: None }]).unwrap();
    }
    target
}

fn without() -> Sweep {
    Sweep(Sweep::default().0.into_iter().filter(|&step| step != Step::SplitMerge).collect())
}

/// Where the log joint settles from the sequential start: its mean less three standard deviations.
fn level(target: &Target) -> f64 {
    let mut rng = driver(1);
    let mut state = Start::Sequential.state(target, &mut rng);
    let mut joints = Vec::new();
    for k in 0..100 {
        Sweep::default().run(&mut state, target, &mut rng);
        if k >= 40 {
            joints.push(state.ln_joint(target));
        }
    }
    let n = joints.len() as f64;
    let mean = joints.iter().sum::<f64>() / n;
    mean - 3.0 * (joints.iter().map(|joint| (joint - mean).powi(2)).sum::<f64>() / n).sqrt()
}

/// After how many sweeps the log joint first reaches a level.
fn sweeps_to(level: f64, start: Start, sweep: &Sweep, most: usize, seed: u64, target: &Target) -> usize {
    let mut rng = stream(seed, 0);
    let mut state = start.state(target, &mut rng);
    let mut n = 0;
    while n < most && state.ln_joint(target) < level {
        sweep.run(&mut state, target, &mut rng);
        n += 1;
    }
    n
}

/// With splits and merges, 10 seeds each took at most 15 sweeps from `Together` and 9 from `Random`;
/// without them, at least 45 and 28, and several were not there after 300.
#[test]
fn chains_started_anywhere_soon_agree_and_without_splits_and_merges_do_not() {
    let case = people(400, 40, 16, 0.1, &mut driver(3));
    let level = level(&case);
    let within = 20;
    for start in [Start::Together, Start::Random] {
        for seed in 0..4 {
            let n = sweeps_to(level, start, &Sweep::default(), within, seed, &case);
            assert!(n < within, "{start:?}, seed {seed}: not there after {n} sweeps");
            let n = sweeps_to(level, start, &without(), within, seed, &case);
            assert_eq!(n, within, "{start:?}, seed {seed}: single faces were there after {n} sweeps");
        }
    }
}

/// The lists of neighbours are no part of a checkpoint: they are found again from the data.
#[test]
fn a_chain_read_back_goes_on_bit_for_bit() {
    let target = people(60, 6, 8, 0.5, &mut driver(4));
    let sweep = Sweep::default();
    let mut chain = Chain::start(Start::Random, 0, 5, &target);
    for _ in 0..4 {
        chain.sweep(&sweep, &target);
    }
    let stored = serde_json::to_string(&chain).unwrap();
    let mut again: Chain = serde_json::from_str(&stored).unwrap();
    let fresh = people(60, 6, 8, 0.5, &mut driver(4));
    for _ in 0..4 {
        let info = chain.sweep(&sweep, &target);
        assert_eq!(info, again.sweep(&sweep, &fresh));
    }
    assert_eq!(chain, again);
}

//! Whole scans, watched: every upper bound is above the weight, every weight is the plain one, and few are
//! worked out.

use super::{Lifted, Observer, Scan, Screen};
use crate::cases;
use crate::data::{Dataset, Embeddings};
use crate::gibbs::{assignments, colours, weights};
use crate::ids::{FaceId, FrameId};
use crate::model::face::{Centred, Weight};
use crate::model::{FaceModel, Full, FullPrior, Isotropic, LocalConcentration, Model, Strength};
use crate::random::{Rng, driver};
use crate::simulate::prior;
use crate::state::State;
use crate::target::Target;

/// Compares the seats that a scan weighs with all seats, weighed plainly.
struct Audit<'a> {
    target: &'a Target,
    upper_bounds: Vec<f32>,
    moved: usize,
    weighed: usize,
    all: usize,
}

impl Observer for Audit<'_> {
    fn moved(&mut self, _: usize) {
        self.moved += 1;
    }

    fn bounded(&mut self, upper_bounds: &[f32]) {
        self.upper_bounds = upper_bounds.to_vec();
    }

    fn drew(&mut self, lifted: &Lifted, x: &Centred, state: &State, weighed: (&[usize], &[f64])) {
        let Lifted { face, left, rejoining, .. } = lifted;
        let mut state = state.clone();
        if let Some(left) = left.filter(|_| rejoining.is_some()) {
            state.faces.forget(state.seating.identities()[left], x, &self.target.model().face);
        }
        let plain = assignments::ln_weights(*face, x, &state, self.target);
        for (&place, ln_weight) in weighed.0.iter().zip(weighed.1) {
            assert!((plain[place] - ln_weight).abs() < 1e-9, "{face:?}: {} {ln_weight}", plain[place]);
        }
        for (place, (upper_bound, ln_weight)) in self.upper_bounds.iter().zip(&plain).enumerate() {
            let is_stale = Some(place) == *left;
            assert!(
                is_stale || f64::from(*upper_bound) >= *ln_weight,
                "{face:?}: {upper_bound} is below {ln_weight}"
            );
        }
        self.weighed += weighed.0.len();
        self.all += plain.len();
    }
}

/// Scans with an audit.
fn audited<'a>(state: &mut State, target: &'a Target, rng: &mut Rng) -> Audit<'a> {
    let faces: Vec<FaceId> = target.data().faces().collect();
    let mut audit = Audit { target, upper_bounds: Vec::new(), moved: 0, weighed: 0, all: 0 };
    Scan::new(target).pass_with(&faces, state, target, rng, &mut audit);
    audit
}

/// Identities that come while faces are looked at, where more had been there before than when the scan began.
#[test]
fn there_is_room_for_as_many_identities_as_come() {
    let model = FaceModel::isotropic(Isotropic { mean: vec![0.0; 2], kappa: 0.1, shape: 3.0, rate: 2.0 });
    let face = |at: f32| {
        let mut x = Centred::default();
        model.centre(&[at, -at], &mut x);
        x
    };
    let group = |at: usize| {
        let mut group = model.group();
        model.observe(&mut group, &face(at as f32));
        group
    };
    let groups: Vec<_> = (0..300).map(group).collect();
    let x = face(5.5);
    let mut screen = Screen::new(&model);
    screen.set_columns(groups.iter(), &model);
    screen.set_columns(groups[..250].iter(), &model);
    for n in [251, 256, 257, 290] {
        screen.look(std::slice::from_ref(&x));
        let before = screen.upper_bounds(0).len();
        groups[before..n].iter().for_each(|group| screen.open(group, &model, &[0]));
        assert_eq!(screen.upper_bounds(0).len(), n);
        for (bound, group) in screen.upper_bounds(0).iter().zip(&groups) {
            assert!(f64::from(*bound) >= model.ln_predictive(group, &x));
        }
    }
}

#[test]
fn bounds_are_above_the_weights_in_any_mode() {
    for case in cases::weighed() {
        for seed in 0..4 {
            let mut rng = driver(700 + seed);
            let (mut state, target) = prior::draw(&case.target, &mut rng);
            for _ in 0..4 {
                audited(&mut state, &target, &mut rng);
                state.check(&target).unwrap();
            }
        }
    }
}

/// 40 dimensions, 240 faces in frames of one to three, two contexts.
fn crowd(face: FaceModel) -> Target {
    let mut model = Model::new(face);
    model.identity.global_concentration = Strength::Fixed(30.0);
    model.identity.local_concentration = LocalConcentration::Shared(Strength::Fixed(20.0));
    let frames: Vec<FrameId> = (0..120).flat_map(|m| vec![FrameId(m); 1 + m as usize % 3]).collect();
    let context = |m: usize| Some(["home", "work"][m % 2].to_owned());
    let contexts: Vec<_> = (0..120).map(context).collect();
    let names = vec![None; frames.len()];
    let embeddings = Embeddings::new(vec![0.0; 40 * frames.len()], 40).unwrap();
    model.repeat = 1.0;
    Target::new(model, Dataset::new(embeddings, frames, &contexts, &names).unwrap()).unwrap()
}

#[test]
fn few_seats_of_a_crowd_are_weighed() {
    let isotropic = Isotropic { mean: vec![0.01; 40], kappa: 0.2, shape: 40.0, rate: 40.0 * 1e-3 };
    let unit = |r: usize, c: usize| f64::from(u8::from(r == c)) + if r == c + 1 { 0.3 } else { 0.0 };
    let full = FullPrior {
        length: None,
        mean: vec![0.2; 40],
        transform: (0..1600).map(|cell| unit(cell / 40, cell % 40)).collect(),
        between: [[40.0; 16], [20.0; 16]].concat().into_iter().chain([10.0; 8]).collect(),
        freedom: 122.0,
        common: 0.4,
        tail: 40.0,
        power: 0.5,
        spread: 0.367,
        lookalikes: 0.7,
    };
    for face in [FaceModel::isotropic(isotropic), FaceModel::full(Full::new(full))] {
        let mut rng = driver(71);
        let (mut state, target) = prior::draw(&crowd(face), &mut rng);
        let mut model = target.model().clone();
        model.repeat = 0.01;
        let target = target.with_model(model).unwrap();
        // Everybody apart: identities empty, arrive and grow.
        let mut x = Centred::default();
        for face in target.data().faces() {
            state.look(face, &target, &mut x);
            state.remove(face, &x, &target);
            state.seat_apart(face, &target, &mut rng);
        }
        let (mut weighed, mut all) = (0, 0);
        for sweep in 0..5 {
            let audit = audited(&mut state, &target, &mut rng);
            assert!(sweep > 0 || audit.moved > 100, "{} moved", audit.moved);
            weighed += audit.weighed;
            all += audit.all;
            weights::step(&mut state, &target, &mut rng);
            state.check(&target).unwrap();
        }
        assert!(5 * weighed < all, "{weighed} weighed of {all}");
        // A weight that is not worked out to the end is below the floor, and what is said instead above it.
        let mut n_bounds = 0;
        for face in target.data().faces() {
            state.look(face, &target, &mut x);
            let own = state.seating.identity_of(face);
            for &identity in state.seating.identities().iter().filter(|&&identity| Some(identity) != own) {
                let exactly = state.ln_face(identity, &x, &target);
                for above in [-3.0, 0.5, 10.0, 60.0] {
                    match state.ln_face_above(identity, &x, &target, exactly + above) {
                        Weight::Exactly(ln) => assert!((ln - exactly).abs() < 1e-9, "{ln} {exactly}"),
                        Weight::AtMost(ln) => {
                            assert!(ln >= exactly && ln < exactly + above, "{ln} {exactly}");
                            n_bounds += 1;
                        }
                    }
                }
            }
        }
        assert_eq!(n_bounds > 100, target.model().face.has_covariances(), "{n_bounds}");
    }
}

/// Threads share chains and, within one, colours; they change nothing.
#[test]
fn threads_change_no_draw() {
    let (n_people, each, d) = (64, 24, 64);
    let mut rng = driver(72);
    let prior = FullPrior {
        length: None,
        mean: vec![0.0; d],
        transform: (0..d * d).map(|cell| f64::from(u8::from(cell / d == cell % d))).collect(),
        between: vec![1.0; d],
        freedom: 3.0 * d as f64,
        common: 0.4,
        tail: d as f64,
        power: 0.5,
        spread: 0.367,
        lookalikes: 0.7,
    };
    let model = Model::new(FaceModel::full(Full::new(prior)));
    let people: Vec<f32> = (0..n_people * d).map(|_| rng.normal() as f32).collect();
    let person = |face: usize| &people[face % n_people * d..][..d];
    let faces = (0..n_people * each).flat_map(person).map(|x| x + rng.normal() as f32).collect();
    let frames = (0..n_people * each).map(FrameId::new).collect();
    let nothing = vec![None; n_people * each];
    let embeddings = Embeddings::new(faces, d).unwrap();
    let data = Dataset::new(embeddings, frames, &nothing, &nothing).unwrap();
    let target = Target::new(model, data).unwrap();
    let chain = |n_threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| {
            let mut rng = driver(73);
            let mut state = State::empty(&target);
            state.extend(&target, &mut rng);
            let faces: Vec<FaceId> = target.data().faces().collect();
            Scan::new(&target).pass(&faces, &mut state, &target, &mut rng);
            for _ in 0..2 {
                assignments::step(&mut state, &target, &mut rng);
            }
            colours::step(3, &mut state, &target, &mut rng);
            state.check(&target).unwrap();
            state
        })
    };
    let alone = chain(1);
    assert!(alone.seating().n_identities() < 2 * n_people, "{}", alone.seating().n_identities());
    assert_eq!(alone, chain(3));
}

//! The kernels one by one: a scan, weights, the predictive, observe and forget. `cargo bench -p kith`.

use divan::{Bencher, black_box};
use kith::chain::Start;
use kith::data::{Dataset, NewFace};
use kith::gibbs::{assignments, weights};
use kith::model::face::{Centred, Group};
use kith::model::{FaceModel, Full, Isotropic, Model};
use kith::random::driver;
use kith::simulate::{Drawn, Source};
use kith::state::State;
use kith::target::Target;

const PEOPLE: usize = 50;
const PHOTOS: usize = 40;
const DIMENSION: usize = 64;
const KINDS: [&str; 2] = ["isotropic", "full"];

fn main() {
    divan::main();
}

/// Faces of some people, a model of a kind, and the state that seating them one by one leads to.
fn scene(kind: &str) -> (Target, State) {
    let prior = Isotropic { mean: vec![0.0; DIMENSION], kappa: 1.0, shape: 20.0, rate: 19.0 };
    let looks = FaceModel::isotropic(prior);
    let mut rng = driver(1);
    let mut source = Drawn::new(looks.clone(), PEOPLE, &mut rng);
    let mut data = Dataset::empty(DIMENSION).expect("there is a dimension");
    let mut people = vec![Vec::new(); PEOPLE];
    for face in 0..PEOPLE * PHOTOS {
        let person = rng.below(PEOPLE);
        people[person].push(face);
        let x = source.photo(person, &mut rng);
        data.push_frame(None, &[NewFace { embedding: &x, name: None }]).expect("the face is sound");
    }
    let model = Model::new(match kind {
        "full" => FaceModel::full(Full::from_people(data.embeddings(), &people)),
        _ => looks,
    });
    let target = Target::new(model, data).expect("the model fits");
    let state = Start::Sequential.state(&target, &mut rng);
    let n_found = state.seating().n_identities();
    assert!(n_found.abs_diff(PEOPLE) < PEOPLE / 5, "found {n_found} people, wanted about {PEOPLE}");
    (target, state)
}

/// A face of the scene, and a group of forty others.
fn meeting(target: &Target) -> (Centred, Group) {
    let model = target.model();
    let mut faces = target.data().faces();
    let mut centred = || {
        let mut x = Centred::default();
        model.face.centre(target.data().embedding(faces.next().expect("there are faces")), &mut x);
        x
    };
    let x = centred();
    let mut group = model.face.group();
    (0..40).for_each(|_| model.face.observe(&mut group, &centred()));
    (x, group)
}

#[divan::bench(args = KINDS, sample_count = 10, sample_size = 1)]
fn scan(bencher: Bencher, kind: &str) {
    let (target, mut state) = scene(kind);
    let mut rng = driver(2);
    bencher
        .counter(divan::counter::ItemsCount::new(target.data().n_faces()))
        .bench_local(|| assignments::step(&mut state, &target, &mut rng));
}

#[divan::bench(sample_count = 20)]
fn tables_and_weights(bencher: Bencher) {
    let (target, mut state) = scene("isotropic");
    let mut rng = driver(3);
    bencher.bench_local(|| weights::step(&mut state, &target, &mut rng));
}

#[divan::bench(args = KINDS)]
fn predictive(bencher: Bencher, kind: &str) {
    let (target, _) = scene(kind);
    let (x, group) = meeting(&target);
    bencher.bench_local(|| target.model().face.ln_predictive(black_box(&group), black_box(&x)));
}

#[divan::bench(args = KINDS)]
fn observe_and_forget(bencher: Bencher, kind: &str) {
    let (target, _) = scene(kind);
    let (x, mut group) = meeting(&target);
    bencher.bench_local(|| {
        target.model().face.observe(&mut group, black_box(&x));
        target.model().face.forget(&mut group, black_box(&x));
    });
}

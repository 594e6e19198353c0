//! What the integration tests share: a table of small cases in every mode, and the exact posterior of each.

pub mod exact;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use kith::chain::{Draw, Ensemble, Run, Start, Watch};
use kith::data::{Dataset, Embeddings, Statement};
use kith::gibbs::Sweep;
use kith::ids::{FaceId, FrameId, LabelId};
use kith::model::{
    ContextMode, ContextModel, ErrorRate, EvidenceModel, FaceModel, FaceUpdate, Full, FullPrior, Isotropic,
    LocalConcentration, Model, NameBase, Strength,
};
use kith::target::Target;

/// A model and what was seen.
#[derive(Clone)]
pub struct Case {
    pub name: String,
    pub target: Target,
}

impl Case {
    /// The same with another model.
    pub fn with(mut self, change: impl FnOnce(&mut Model)) -> Self {
        let mut model = self.target.model().clone();
        change(&mut model);
        self.target = self.target.with_model(model).unwrap();
        self
    }
}

/// Six faces of four frames in D = 3, near enough to each other that no partition is certain; frames 0 and 2
/// have two faces each.
pub const FACES: [[f32; 3]; 6] = [
    [1.9, 0.8, -0.6],
    [-1.3, 0.4, 0.9],
    [1.4, 0.1, -1.1],
    [-0.7, -0.9, 1.5],
    [2.3, -0.7, 0.4],
    [0.2, 0.5, 0.1],
];
const FRAMES: [u32; 6] = [0, 0, 1, 2, 2, 3];

const GIVEN: [&str; 4] = ["home", "work", "work", "home"];
const MISSING: [&str; 4] = ["home", "work", "", "home"];
const NOWHERE: [&str; 4] = [""; 4];
const UNNAMED: [&str; 6] = [""; 6];
/// Faces 0, 2 and 4 look alike but were given two names, one of which 3 has too.
const CONFLICTING: [&str; 6] = ["a", "", "bo", "bo", "a", ""];

/// The six faces; an empty cell is a missing context or name.
pub fn dataset(contexts: [&str; 4], names: [&str; 6]) -> Dataset {
    let text = |cell: &&str| (!cell.is_empty()).then(|| cell.to_string());
    let contexts: Vec<_> = contexts.iter().map(text).collect();
    let names: Vec<_> = names.iter().map(text).collect();
    let embeddings = Embeddings::new(FACES.concat(), 3).unwrap();
    Dataset::new(embeddings, FRAMES.map(FrameId).to_vec(), &contexts, &names).unwrap()
}

/// One alpha for each named context.
pub fn own_alphas() -> LocalConcentration {
    let named = [("home", 0.6), ("work", 2.5)];
    LocalConcentration::Named(BTreeMap::from(
        named.map(|(name, alpha)| (name.to_owned(), Strength::Fixed(alpha))),
    ))
}

/// Everything fixed, contexts given, one alpha for all.
pub fn model() -> Model {
    let prior = Isotropic { mean: vec![0.3, -0.2, 0.1], kappa: 0.3, shape: 2.5, rate: 1.5 };
    let mut model = Model::new(FaceModel::isotropic(prior));
    model.identity.global_concentration = Strength::Fixed(1.4);
    model.identity.local_concentration = LocalConcentration::Shared(Strength::Fixed(1.1));
    model.name.concentration = Strength::Fixed(4.0);
    model.name.error_rate = ErrorRate::Fixed(0.3);
    model.name.base = NameBase { mean_length: 2.0, alphabet_size: 2.0 };
    model
}

fn case(name: &str, contexts: [&str; 4], names: [&str; 6], change: impl Fn(&mut Model)) -> Case {
    let mut model = model();
    change(&mut model);
    let target = Target::new(model, dataset(contexts, names)).unwrap();
    Case { name: name.to_owned(), target }
}

fn latent(count: usize) -> ContextModel {
    ContextModel { mode: ContextMode::Latent { count }, concentration: Strength::Fixed(1.5) }
}

fn unbounded() -> ContextModel {
    ContextModel { mode: ContextMode::Unbounded, concentration: Strength::Fixed(1.2) }
}

/// Every mode, theta* integrated out.
pub fn collapsed() -> Vec<Case> {
    let learnt = |shape, rate| Strength::Learnt { shape, rate };
    vec![
        case("none", GIVEN, UNNAMED, |m| m.context.mode = ContextMode::None),
        case("given", GIVEN, UNNAMED, |m| m.identity.local_concentration = own_alphas()),
        case("given, one missing", MISSING, UNNAMED, |m| m.identity.local_concentration = own_alphas()),
        case("latent 2", NOWHERE, UNNAMED, |m| m.context = latent(2)),
        case("latent 3", NOWHERE, UNNAMED, |m| m.context = latent(3)),
        case("unbounded", NOWHERE, UNNAMED, |m| m.context = unbounded()),
        case("given, names", GIVEN, CONFLICTING, |m| m.identity.local_concentration = own_alphas()),
        case("unbounded, names", NOWHERE, CONFLICTING, |m| m.context = unbounded()),
        case("given, one missing, repeat", MISSING, UNNAMED, |m| m.repeat = 0.3),
        case("unbounded, names, repeat", NOWHERE, CONFLICTING, |m| {
            m.context = unbounded();
            m.repeat = 0.3;
        }),
        case("latent 2, names, all learnt", NOWHERE, CONFLICTING, |m| {
            m.context = ContextModel { concentration: learnt(2.0, 1.0), ..latent(2) };
            m.identity.global_concentration = learnt(2.0, 1.5);
            m.identity.local_concentration = LocalConcentration::Shared(learnt(2.0, 2.0));
            m.name.concentration = learnt(3.0, 1.0);
            m.name.error_rate = ErrorRate::Learnt { alpha: 2.0, beta: 3.0 };
        }),
        said(case("given, evidence", GIVEN, CONFLICTING, |m| {
            m.evidence = EvidenceModel { same: 0.2, different: 0.1, not: 0.3, is: 0.15, odd: 0.0 };
        })),
        said(case("given, evidence, odd looks", GIVEN, CONFLICTING, |m| {
            m.evidence = EvidenceModel { same: 0.2, different: 0.1, not: 0.05, is: 0.02, odd: 0.35 };
        })),
        said(case("latent 2, evidence, repeat", NOWHERE, CONFLICTING, |m| {
            m.context = latent(2);
            m.repeat = 0.3;
            m.evidence = EvidenceModel { same: 0.1, different: 0.25, not: 0.05, is: 0.02, odd: 0.0 };
        })),
    ]
}

/// A prior over full covariances with the constants that ship: those of a prior learnt from any faces.
pub fn shipped(mean: Vec<f64>, transform: Vec<f64>, between: Vec<f64>) -> FullPrior {
    let mut rng = kith::random::driver(1);
    let mut of = |dimension: usize| {
        let some = (0..200 * dimension).map(|_| rng.normal() as f32).collect();
        FullPrior::clone(Full::from_faces(&Embeddings::new(some, dimension).unwrap()).prior())
    };
    // Constants of many dimensions, which real embeddings have; what grows with the dimension is of so many.
    let FullPrior { freedom, tail, .. } = of(mean.len());
    let prior = FullPrior { length: None, mean, transform, between, freedom, tail, ..of(128) };
    assert!(prior.power < 1.0 && prior.common > 0.0 && prior.spread > 0.0 && prior.lookalikes > 0.0);
    prior
}

/// Full covariances as they ship, which are always integrated out.
pub fn covariances() -> Vec<Case> {
    let transform = vec![1.0, 0.2, 0.0, -0.3, 0.8, 0.1, 0.0, 0.4, 1.2];
    let prior = shipped(vec![0.3, -0.2, 0.1], transform, vec![6.0, 3.0, 1.5]);
    let face = || FaceModel::full(Full::new(prior.clone()));
    let mut all = vec![
        case("covariances", GIVEN, CONFLICTING, |m| m.face = face()),
        case("covariances, nowhere, repeat", NOWHERE, UNNAMED, |m| {
            (m.face, m.repeat, m.context.mode) = (face(), 0.3, ContextMode::None);
        }),
        said(case("covariances, latent 2, evidence, odd looks", NOWHERE, CONFLICTING, |m| {
            (m.face, m.context, m.repeat) = (face(), latent(2), 0.3);
            m.evidence = EvidenceModel { same: 0.1, different: 0.25, not: 0.05, is: 0.02, odd: 0.35 };
        })),
    ];
    all.push(many_photos(FullPrior { spread: 0.0, ..prior }));
    all
}

/// Ten faces that are most probably all or nearly all of one person: more than are kept as a Gram matrix.
fn many_photos(prior: FullPrior) -> Case {
    let mut model = model();
    model.face = FaceModel::full(Full::new(prior));
    model.context.mode = ContextMode::None;
    model.repeat = 0.9;
    let near = |k: usize| FACES[k % 6].map(|x| 0.4 * x + 0.1 * (k / 6) as f32);
    let faces = (0..10).map(near).collect::<Vec<_>>().concat();
    let frames = [0, 0, 1, 2, 3, 3, 4, 5, 6, 6].map(FrameId).to_vec();
    let data =
        Dataset::new(Embeddings::new(faces, 3).unwrap(), frames, &[const { None }; 7], &[const { None }; 10]);
    Case { name: "covariances, many photos".to_owned(), target: Target::new(model, data.unwrap()).unwrap() }
}

/// Faces 0 and 2 look alike and are said to differ, 1 and 3 to be one by two people and two by a third; 4 was
/// called "a" and is denied that name, 5 is denied the other; the owner said the names of 2 and 5, and that 1
/// has that of 5.
fn said(mut case: Case) -> Case {
    for statement in [
        Statement::Different(FaceId(0), FaceId(2)),
        Statement::Same(FaceId(1), FaceId(3)),
        Statement::Same(FaceId(3), FaceId(1)),
        Statement::Different(FaceId(1), FaceId(3)),
        Statement::Same(FaceId(4), FaceId(5)),
        Statement::Not(FaceId(4), LabelId(0)),
        Statement::Not(FaceId(5), LabelId(1)),
    ] {
        case.target.say(statement).unwrap();
    }
    for (face, name) in [(2, "bo"), (5, "a"), (1, "a")] {
        case.target.say_name(FaceId(face), name);
    }
    case
}

/// Every mode, theta* kept.
pub fn explicit() -> Vec<Case> {
    let keep = |mut case: Case| {
        case.name += ", explicit";
        case.with(|model| model.face.update = FaceUpdate::Explicit)
    };
    collapsed().into_iter().map(keep).collect()
}

/// The case of a name.
pub fn named(name: &str) -> Case {
    let mut all = collapsed().into_iter().chain(explicit()).chain(covariances());
    all.find(|case| case.name == name).unwrap_or_else(|| panic!("no case is called {name}"))
}

/// Runs chains from all starting points and returns what they keep.
pub fn run(case: &Case, n_chains: usize, seed: u64, run: &Run) -> Vec<Draw> {
    let mut ensemble = Ensemble::start(&Start::ALL, n_chains, seed, &case.target);
    run_on(&mut ensemble, case, run, run.sweeps)
}

/// Runs an ensemble on to a sweep.
pub fn run_on(ensemble: &mut Ensemble, case: &Case, run: &Run, until: u64) -> Vec<Draw> {
    let watch = Watch { stop: &AtomicBool::new(false), swept: &|| () };
    ensemble.run(run, until, &Sweep::default(), &case.target, &watch)
}

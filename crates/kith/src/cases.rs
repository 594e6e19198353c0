//! Small models and layouts in every mode, shared by the tests of all kernels.

use std::collections::BTreeMap;

use crate::data::{Dataset, Embeddings, Statement};
use crate::ids::{FaceId, FrameId, LabelId};
use crate::model::{
    ContextMode, ContextModel, ErrorRate, EvidenceModel, FaceModel, FaceUpdate, Full, FullPrior, Isotropic,
    LocalConcentration, Model, NameBase, Strength,
};
use crate::random::driver;
use crate::target::Target;

/// A model with the faces it is about (their embeddings and names are placeholders).
pub struct Case {
    pub name: &'static str,
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

/// Seven faces of five frames in D = 3; frames 0 and 2 have two faces; four faces are named, two alike.
fn layout(contexts: [&str; 5], names: [&str; 7]) -> Dataset {
    let text = |cell: &&str| (!cell.is_empty()).then(|| cell.to_string());
    let frames = [0, 0, 1, 2, 2, 3, 4].map(FrameId).to_vec();
    let contexts: Vec<_> = contexts.iter().map(text).collect();
    let names: Vec<_> = names.iter().map(text).collect();
    Dataset::new(Embeddings::new(vec![0.0; 21], 3).unwrap(), frames, &contexts, &names).unwrap()
}

const NAMED: [&str; 7] = ["a", "", "b", "ab", "", "a", ""];
const UNNAMED: [&str; 7] = [""; 7];
const GIVEN: [&str; 5] = ["home", "work", "home", "work", "home"];

fn base() -> Model {
    let prior = Isotropic { mean: vec![0.3, -0.2, 0.1], kappa: 0.3, shape: 2.5, rate: 1.5 };
    let mut model = Model::new(FaceModel::isotropic(prior));
    model.repeat = 1.0;
    model.identity.global_concentration = Strength::Fixed(1.4);
    model.identity.local_concentration = LocalConcentration::Shared(Strength::Fixed(0.9));
    model.name.concentration = Strength::Fixed(2.0);
    model.name.error_rate = ErrorRate::Fixed(0.3);
    model.name.base = NameBase { mean_length: 2.0, alphabet_size: 2.0 };
    model
}

type Change<'a> = &'a dyn Fn(&mut Model);

fn with(name: &'static str, contexts: [&str; 5], names: [&str; 7], change: Change<'_>) -> Case {
    let mut model = base();
    change(&mut model);
    Case { name, target: Target::new(model, layout(contexts, names)).unwrap() }
}

fn said(name: &'static str, contexts: [&str; 5], names: [&str; 7], change: Change<'_>) -> Case {
    let mut case = with(name, contexts, names, change).with(|model| {
        model.evidence = EvidenceModel { same: 0.3, different: 0.2, not: 0.35, is: 0.15, odd: 0.0 }
    });
    say(&mut case.target);
    case
}

fn learnt(shape: f64, rate: f64) -> Strength {
    Strength::Learnt { shape, rate }
}

fn latent(count: usize, concentration: Strength) -> ContextModel {
    ContextModel { mode: ContextMode::Latent { count }, concentration }
}

fn unbounded(concentration: Strength) -> ContextModel {
    ContextModel { mode: ContextMode::Unbounded, concentration }
}

/// Every mode that has a joint distribution.
pub fn all() -> Vec<Case> {
    let full = |spread: f64| Full::new(full_prior(spread));
    let common = |spread: f64| Full::new(FullPrior { common: 1.0, tail: 4.0, ..full_prior(spread) });
    vec![
        with("full", GIVEN, UNNAMED, &|m| m.face = FaceModel::full(full(0.0))),
        with("full, scales", GIVEN, UNNAMED, &|m| m.face = FaceModel::full(full(0.5))),
        with("full, scales, names, repeat", GIVEN, NAMED, &|m| {
            m.face = FaceModel::full(full(0.4));
            m.repeat = 0.3;
        }),
        with("common, scales, names, repeat", GIVEN, NAMED, &|m| {
            m.face = FaceModel::full(common(0.4));
            m.repeat = 0.3;
        }),
        with("none", GIVEN, UNNAMED, &|m| m.context.mode = ContextMode::None),
        with("given", GIVEN, UNNAMED, &|_| ()),
        with("given, explicit", GIVEN, UNNAMED, &|m| m.face.update = FaceUpdate::Explicit),
        with("given, repeat", GIVEN, UNNAMED, &|m| m.repeat = 0.2),
        with("given, one missing, named alphas", ["home", "work", "", "work", "home"], NAMED, &|m| {
            m.identity.local_concentration = LocalConcentration::Named(BTreeMap::from([
                ("home".to_owned(), Strength::Fixed(0.5)),
                ("work".to_owned(), Strength::Learnt { shape: 2.0, rate: 2.0 }),
            ]));
        }),
        with("latent", GIVEN, UNNAMED, &|m| m.context = latent(2, Strength::Fixed(1.5))),
        with("latent, own alphas, all learnt", GIVEN, NAMED, &|m| {
            m.context = latent(3, learnt(2.0, 1.0));
            m.identity.global_concentration = learnt(2.0, 1.5);
            m.identity.local_concentration = LocalConcentration::Own(learnt(2.0, 2.0));
        }),
        with("unbounded", GIVEN, UNNAMED, &|m| m.context = unbounded(Strength::Fixed(1.2))),
        with("unbounded, all learnt, repeat", GIVEN, NAMED, &|m| {
            m.context = unbounded(learnt(2.0, 1.0));
            m.identity.global_concentration = learnt(2.0, 1.5);
            m.identity.local_concentration = LocalConcentration::Shared(learnt(2.0, 2.0));
            m.repeat = 0.4;
            m.name.concentration = learnt(3.0, 1.0);
            m.name.error_rate = ErrorRate::Learnt { alpha: 2.0, beta: 3.0 };
        }),
        with("names", GIVEN, NAMED, &|_| ()),
        with("names, explicit, all learnt", GIVEN, NAMED, &|m| {
            m.face.update = FaceUpdate::Explicit;
            m.name.concentration = learnt(3.0, 1.0);
            m.name.error_rate = ErrorRate::Learnt { alpha: 2.0, beta: 3.0 };
        }),
        said("evidence, names", GIVEN, NAMED, &|_| ()),
        said("evidence, latent, explicit, repeat", GIVEN, UNNAMED, &|m| {
            m.context = latent(2, Strength::Fixed(1.5));
            m.face.update = FaceUpdate::Explicit;
            m.repeat = 0.4;
        }),
        said("evidence, full, unbounded, all learnt", GIVEN, NAMED, &|m| {
            m.face = FaceModel::full(full(0.4));
            m.context = unbounded(learnt(2.0, 1.0));
            m.identity.global_concentration = learnt(2.0, 1.5);
            m.name.concentration = learnt(3.0, 1.0);
            m.name.error_rate = ErrorRate::Learnt { alpha: 2.0, beta: 3.0 };
        }),
    ]
}

/// Faces as they ship: the constants of a prior learnt from any faces, to a power, between two experts. A
/// factor of the joint and no density ([`crate::simulate::prior::draw_weighed`]).
pub fn shipped() -> Vec<Case> {
    let mut rng = driver(1);
    let mut of = |dimension: usize| {
        let some = (0..200 * dimension).map(|_| rng.normal() as f32).collect();
        Full::from_faces(&Embeddings::new(some, dimension).unwrap())
    };
    let FullPrior { mean, transform, between, .. } = full_prior(0.0);
    // Constants of many dimensions, which real embeddings have; what grows with the dimension is of three.
    let (by_default, few) = (of(128), of(3));
    let (freedom, tail) = (few.prior().freedom, few.prior().tail);
    let by_default = FullPrior::clone(by_default.prior());
    let prior = FullPrior { length: None, mean, transform, between, freedom, tail, ..by_default };
    assert!(prior.power < 1.0 && prior.common > 0.0 && prior.spread > 0.0 && prior.lookalikes > 0.0);
    let with_faces = |case: &Case| {
        let name = match case.name {
            "names" => "names, faces as by default",
            "evidence, names" => "evidence, names, faces as by default",
            _ => return None,
        };
        let mut model = case.target.model().clone();
        model.face = FaceModel::full(Full::new(prior.clone()));
        Some(Case { name, target: case.target.clone().with_model(model).unwrap() })
    };
    all().iter().filter_map(with_faces).collect()
}

/// All modes, faces as they ship, and odd looks, which nobody can draw from. The states are any states.
pub fn weighed() -> Vec<Case> {
    let mut cases = all();
    cases.extend(shipped());
    let odd = |case: &Case| {
        let name = match case.name {
            "evidence, names" => "evidence, names, odd looks",
            "evidence, names, faces as by default" => "evidence, names, faces as by default, odd looks",
            "evidence, full, unbounded, all learnt" => "evidence, full, unbounded, all learnt, odd looks",
            _ => return None,
        };
        let case = Case { name, target: case.target.clone() };
        Some(case.with(|model| model.evidence.odd = 0.3))
    };
    cases.extend(cases.iter().filter_map(odd).collect::<Vec<_>>());
    cases
}

/// Covariances of their own in D = 3, drawn from with power 1.
fn full_prior(spread: f64) -> FullPrior {
    FullPrior {
        length: None,
        mean: vec![0.3, -0.2, 0.1],
        transform: vec![1.0, 0.2, 0.0, -0.3, 0.8, 0.1, 0.0, 0.4, 1.2],
        between: vec![6.0, 3.0, 1.5],
        freedom: 9.0,
        common: 0.0,
        tail: f64::INFINITY,
        power: 1.0,
        spread,
        lookalikes: 0.0,
    }
}

/// The case of a name.
pub fn named(name: &str) -> Case {
    let case = all().into_iter().find(|case| case.name == name);
    case.unwrap_or_else(|| panic!("no case is called {name}"))
}

/// People contradict each other and themselves; face 3 was given a name and denied it.
fn say(layout: &mut Target) {
    let [ab, never] = ["ab", "bb"].map(|name| layout.know_name(name));
    let statements = [
        Statement::Same(FaceId(0), FaceId(2)),
        Statement::Same(FaceId(2), FaceId(5)),
        Statement::Different(FaceId(0), FaceId(5)),
        Statement::Different(FaceId(5), FaceId(0)),
        Statement::Different(FaceId(3), FaceId(6)),
        Statement::Not(FaceId(3), ab),
        Statement::Not(FaceId(4), LabelId(0)),
        Statement::Not(FaceId(6), never),
    ];
    statements.into_iter().for_each(|statement| layout.say(statement).unwrap());
    // What face 0 is called did not come with it, and contradicts face 5's name if the two are one.
    for (face, name) in [(0, "b"), (1, "ab")] {
        layout.say_name(FaceId(face), name);
    }
}

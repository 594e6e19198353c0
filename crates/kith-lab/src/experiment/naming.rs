//! Semi-supervised naming (§4.3): a few names for the acquainted, "unknown" for the familiar and for
//! strangers.

use std::time::Instant;

use kith::belief::Chains;
use kith::chain::{Run, Watch};
use kith::model::ModelError;
use kith::predict::{NewPhoto, Posterior};
use kith::random::Rng;
use kith::target::Target;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fit::{fit, run_of};
use super::toy::{Toy, toy};
use super::{Arm, Experiment, Gallery, Job, Person, Plan};
use crate::baselines::{Closed, Neighbour, Propagator, Rbf, Threshold, choose_gamma, cross_validate};
use crate::report::Findings;

mod findings;

/// §4.3: people with at least 30 photos, 15 to learn from and 15 to be asked about.
const PHOTOS: usize = 30;
const EACH: usize = 15;
/// How many photos of each acquaintance are named.
const NAMES: [usize; 7] = [1, 2, 3, 5, 8, 11, 15];
/// The share of given names that are other people's, at most names.
const WRONG: [f64; 3] = [0.1, 0.2, 0.3];
/// The paper does not say how long; each of the ten conditions is a fit of its own.
const RUN: Run = Run { sweeps: 200, burn_in: 100, thin: 5 };

/// The experiment.
pub struct Naming<'a> {
    gallery: &'a Gallery<'a>,
    arms: &'a [Arm<'a>],
    plan: Plan,
    run: Run,
}

/// How many names, and which share of them wrong.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    names: usize,
    wrong: f64,
}

/// A piece.
pub enum Task {
    /// A model under one condition.
    Arm { repeat: usize, arm: usize, condition: Condition },
    /// All baselines under all conditions.
    Baselines { repeat: usize },
    /// The figure in two dimensions.
    Toy,
}

/// What a piece found.
#[derive(Serialize, Deserialize)]
pub enum Outcome {
    /// A model under one condition.
    Arm { repeat: usize, arm: usize, condition: Condition, scores: Scores, seconds: f64 },
    /// All baselines under all conditions.
    Baselines { repeat: usize, gamma: f64, answers: Vec<(String, Condition, Scores)> },
    /// The figure in two dimensions.
    Toy(Toy),
}

/// Shares of right names per group, per draw; of a baseline there is one.
#[derive(Serialize, Deserialize)]
pub struct Scores {
    acquainted: Vec<f64>,
    familiar: Vec<f64>,
    stranger: Vec<f64>,
}

/// Who is what to us.
struct Split {
    acquainted: Vec<Person>,
    familiar: Vec<Person>,
    strangers: Vec<Person>,
}

/// The photos to be asked about, and the acquaintance on each.
struct Asked<'a> {
    photos: Vec<&'a [f32]>,
    name: Vec<Option<usize>>,
    group: Vec<Group>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Acquainted,
    Familiar,
    Stranger,
}

impl Scores {
    /// `answers` holds one list of names per draw.
    fn of(answers: &[Vec<Option<usize>>], asked: &Asked<'_>) -> Self {
        let rate = |group: Group, answers: &Vec<Option<usize>>| {
            let places: Vec<usize> = (0..answers.len()).filter(|&at| asked.group[at] == group).collect();
            let right = places.iter().filter(|&&at| answers[at] == asked.name[at]).count();
            right as f64 / places.len() as f64
        };
        let of = |group: Group| answers.iter().map(|answers| rate(group, answers)).collect();
        Self {
            acquainted: of(Group::Acquainted),
            familiar: of(Group::Familiar),
            stranger: of(Group::Stranger),
        }
    }
}

impl<'a> Naming<'a> {
    /// Wants at least two people with enough photos for each of the three groups.
    pub fn new(gallery: &'a Gallery<'a>, arms: &'a [Arm<'a>], plan: Plan) -> Result<Self, String> {
        let n_people = gallery.with_photos(PHOTOS).len();
        if n_people < 6 {
            return Err(format!("found {n_people} people with {PHOTOS} photos or more, wanted at least 6"));
        }
        Ok(Self { gallery, arms, plan, run: run_of(plan.sweeps, RUN) })
    }

    /// Three groups of one size; of people left over, the acquainted get the first, the familiar the second.
    fn split(&self, repeat: usize) -> (Split, Rng) {
        let mut rng = kith::random::driver(self.plan.seed_of(repeat));
        let mut acquainted = self.gallery.dealt(PHOTOS, &mut rng);
        let n_people = acquainted.len();
        let mut familiar = acquainted.split_off(n_people.div_ceil(3));
        let strangers = familiar.split_off(familiar.len().div_ceil(2));
        (Split { acquainted, familiar, strangers }, rng)
    }

    /// Photos to learn from with the names that were given, wrong ones among them.
    fn training(&self, split: &Split, condition: Condition, mut rng: Rng) -> Vec<(usize, Option<usize>)> {
        let mut photos = Vec::new();
        for (person, acquainted) in split.acquainted.iter().enumerate() {
            let name = |place: usize| (place < condition.names).then_some(person);
            photos.extend(acquainted.rows[..EACH].iter().enumerate().map(|(place, &row)| (row, name(place))));
        }
        let mut named: Vec<usize> = (0..photos.len()).filter(|&at| photos[at].1.is_some()).collect();
        rng.shuffle(&mut named);
        let n_wrong = (condition.wrong * named.len() as f64).round() as usize;
        let n_people = split.acquainted.len();
        for &at in &named[..n_wrong] {
            let name: &mut Option<usize> = &mut photos[at].1;
            *name = name.map(|person| (person + 1 + rng.below(n_people - 1)) % n_people);
        }
        photos.extend(split.familiar.iter().flat_map(|person| &person.rows[..EACH]).map(|&row| (row, None)));
        photos
    }

    fn asked(&self, split: &Split) -> Asked<'a> {
        let mut asked = Asked { photos: Vec::new(), name: Vec::new(), group: Vec::new() };
        let mut add = |rows: &[usize], name: Option<usize>, group: Group| {
            asked.photos.extend(rows.iter().map(|&row| self.gallery.photo(row)));
            asked.name.resize(asked.photos.len(), name);
            asked.group.resize(asked.photos.len(), group);
        };
        for (number, person) in split.acquainted.iter().enumerate() {
            add(&person.rows[EACH..2 * EACH], Some(number), Group::Acquainted);
        }
        split.familiar.iter().for_each(|person| add(&person.rows[EACH..2 * EACH], None, Group::Familiar));
        split.strangers.iter().for_each(|person| add(&person.rows[..EACH], None, Group::Stranger));
        asked
    }

    fn arm(
        &self,
        repeat: usize,
        arm: usize,
        condition: Condition,
        watch: &Watch<'_>,
    ) -> Result<Option<Outcome>, ModelError> {
        let started = Instant::now();
        let (split, rng) = self.split(repeat);
        let training = self.training(&split, condition, rng);
        let name = |person: usize| split.acquainted[person].name.as_str();
        let photos: Vec<(usize, Option<&str>)> =
            training.iter().map(|&(row, who)| (row, who.map(name))).collect();
        let data = self.gallery.dataset(&photos);
        let target = Target::new((self.arms[arm].model)(&data)?, data)?;
        let chains = Chains { n: self.plan.n_chains, seed: self.plan.seed_of(repeat) };
        let Some((belief, draws)) = fit(target, self.arms[arm].sampler, &self.run, chains, watch) else {
            return Ok(None);
        };
        let posterior = Posterior::new(belief.target(), &draws);
        let asked = self.asked(&split);
        // The dataset numbers names by first appearance; the split by person.
        let person_of: Vec<Option<usize>> = (belief.target().data().names().iter())
            .map(|known| split.acquainted.iter().position(|person| person.name == *known))
            .collect();
        let photo = |face: &&'a [f32]| NewPhoto { context: None, faces: vec![*face] };
        let new: Vec<NewPhoto<'_>> = asked.photos.iter().map(photo).collect();
        let occasion = posterior.occasion(&new, &|| ());
        let places = (0..new.len()).into_par_iter();
        let by_face: Vec<_> = places.map(|place| posterior.predict_each_on(&occasion, place)).collect();
        let by_draw: Vec<Vec<Option<usize>>> = (0..draws.len())
            .map(|draw| {
                let answer = |by: &Vec<kith::predict::ByDraw>| {
                    by[draw].name.and_then(|label| person_of[label.index()])
                };
                by_face.iter().map(answer).collect()
            })
            .collect();
        let scores = Scores::of(&by_draw, &asked);
        let seconds = started.elapsed().as_secs_f64();
        Ok(Some(Outcome::Arm { repeat, arm, condition, scores, seconds }))
    }

    /// Nearest neighbour and label propagation, as in the paper and with a threshold.
    fn baselines(&self, repeat: usize) -> Outcome {
        let (split, _) = self.split(repeat);
        let asked = self.asked(&split);
        // The SVM's kernel: its width is chosen on all training photos of the acquainted, at every number of
        // names.
        let people: Vec<Vec<&[f32]>> = (split.acquainted.iter())
            .map(|person| person.rows[..EACH].iter().map(|&row| self.gallery.photo(row)).collect())
            .collect();
        let gamma = choose_gamma(&people)[0].gamma;
        let propagator = Propagator { kernel: Rbf { gamma } };
        let methods: [(&str, &(dyn Closed + Sync)); 2] =
            [("nearest_neighbour", &Neighbour), ("label_propagation", &propagator)];
        let n_labels = split.acquainted.len();
        let of = |condition: &Condition| {
            let (_, rng) = self.split(repeat);
            let training = self.training(&split, *condition, rng);
            let points: Vec<&[f32]> = training.iter().map(|&(row, _)| self.gallery.photo(row)).collect();
            let labels: Vec<Option<usize>> = training.iter().map(|&(_, name)| name).collect();
            let mut answers = Vec::new();
            for (name, method) in methods {
                let said = method.names(&points, &labels, n_labels, &asked.photos);
                let Threshold(threshold) = cross_validate(method, &points, &labels, n_labels).threshold();
                let closed = said.iter().map(|answer| answer.label).collect();
                let open =
                    said.iter().map(|answer| answer.label.filter(|_| answer.score >= threshold)).collect();
                answers.push((name.to_owned(), *condition, Scores::of(&[closed], &asked)));
                answers.push((format!("{name}_threshold"), *condition, Scores::of(&[open], &asked)));
            }
            answers
        };
        let answers = conditions().par_iter().flat_map(of).collect();
        Outcome::Baselines { repeat, gamma, answers }
    }
}

/// Rising numbers of names, all right; then most names, more and more of them wrong.
fn conditions() -> Vec<Condition> {
    let rising = NAMES.map(|names| Condition { names, wrong: 0.0 });
    let most = NAMES[NAMES.len() - 1];
    rising.into_iter().chain(WRONG.map(|wrong| Condition { names: most, wrong })).collect()
}

impl Experiment for Naming<'_> {
    type Task = Task;
    type Outcome = Outcome;

    fn settings(&self) -> Value {
        json!({
            "experiment": "naming", "seed": self.plan.seed, "chains": self.plan.n_chains,
            "sweeps": self.run.sweeps, "burn_in": self.run.burn_in, "thin": self.run.thin,
            "photos": PHOTOS, "training": EACH, "test": EACH, "names": NAMES, "wrong": WRONG,
        })
    }

    fn jobs(&self) -> Vec<Job<Task>> {
        let mut jobs = vec![Job { key: "toy".to_owned(), sweeps: 0, task: Task::Toy }];
        for repeat in 0..self.plan.repeats {
            let key = format!("repeat-{repeat}-baselines");
            jobs.push(Job { key, sweeps: 0, task: Task::Baselines { repeat } });
            for (arm, model) in self.arms.iter().enumerate() {
                for condition in conditions() {
                    let Condition { names, wrong } = condition;
                    let key = format!("repeat-{repeat}-{}-{names}-names-{wrong}-wrong", model.label());
                    let sweeps = self.run.sweeps * self.plan.n_chains as u64;
                    jobs.push(Job { key, sweeps, task: Task::Arm { repeat, arm, condition } });
                }
            }
        }
        jobs
    }

    fn run(&self, task: &Task, watch: &Watch<'_>) -> Result<Option<Outcome>, ModelError> {
        match *task {
            Task::Arm { repeat, arm, condition } => self.arm(repeat, arm, condition, watch),
            Task::Baselines { repeat } => Ok(Some(self.baselines(repeat))),
            Task::Toy => Ok(toy(self.plan, watch)?.map(Outcome::Toy)),
        }
    }

    fn findings(&self, outcomes: &[Outcome]) -> Findings {
        findings::of(self, outcomes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kith::data::Embeddings;

    #[test]
    fn names_are_dealt_as_the_condition_says() {
        let embeddings = Embeddings::new((0..9 * 30).map(|value| value as f32).collect(), 1).unwrap();
        let truth: Vec<Option<String>> = (0..9 * 30).map(|row| Some(format!("p{}", row / 30))).collect();
        let gallery = Gallery::new(&embeddings, &truth);
        let plan = Plan { seed: 1, repeats: 1, n_chains: 1, sweeps: None };
        let naming = Naming::new(&gallery, &[], plan).unwrap();
        let (split, rng) = naming.split(0);
        let sizes = [&split.acquainted, &split.familiar, &split.strangers].map(Vec::len);
        assert_eq!(sizes, [3, 3, 3]);
        let is_right = |&(row, name): &(usize, Option<usize>)| {
            name.is_some_and(|name| split.acquainted[name].rows.contains(&row))
        };
        let training = naming.training(&split, Condition { names: 4, wrong: 0.0 }, rng.clone());
        assert_eq!(training.len(), 6 * 15);
        assert_eq!(training.iter().filter(|photo| photo.1.is_some()).count(), 3 * 4);
        assert_eq!(training.iter().filter(|photo| is_right(photo)).count(), 3 * 4);
        let training = naming.training(&split, Condition { names: 15, wrong: 0.2 }, rng);
        assert_eq!(training.iter().filter(|photo| photo.1.is_some()).count(), 45);
        assert_eq!(training.iter().filter(|photo| is_right(photo)).count(), 36);
        // Nobody is asked about on a photo that was learnt from, and strangers were never seen.
        let asked = naming.asked(&split);
        assert_eq!(asked.photos.len(), 9 * 15);
        let seen: Vec<&[f32]> = training.iter().map(|photo| gallery.photo(photo.0)).collect();
        assert!(asked.photos.iter().all(|photo| !seen.contains(photo)));
    }
}

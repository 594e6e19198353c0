//! Unknown person detection (§4.1): has this person been seen before?

use std::time::Instant;

use kith::belief::Chains;
use kith::chain::{Run, Watch};
use kith::model::ModelError;
use kith::predict::{ByDraw, NewPhoto, Posterior};
use kith::target::Target;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fit::{fit, run_of};
use super::{Arm, Experiment, Gallery, Job, Person, Plan};
use crate::baselines::{OneClassSvm, Rbf, choose_gamma, nearest};
use crate::metrics::{Interval, RocPoint, adjusted_rand_index, auc, brier, roc, true_positive_rate};
use crate::report::Findings;

mod findings;

/// §4.1: people with at least 40 photos, 10 of them known; 27 photos to learn from, 13 to be asked about.
const PHOTOS: usize = 40;
const KNOWN: usize = 10;
const TRAINING: usize = 27;
const TEST: usize = 13;
/// Bins of the calibration error.
const BINS: usize = 15;
/// Places where the band of the ROC curve is measured.
const GRID: usize = 100;

/// The experiment.
pub struct Unknown<'a> {
    gallery: &'a Gallery<'a>,
    arms: &'a [Arm<'a>],
    plan: Plan,
    run: Run,
}

/// A piece: one method on one split.
pub enum Task {
    /// A model.
    Arm { repeat: usize, arm: usize },
    /// Nearest neighbour and one-class SVM.
    Baselines { repeat: usize },
}

/// What a piece found.
#[derive(Serialize, Deserialize)]
pub enum Outcome {
    /// A model.
    Arm { repeat: usize, arm: usize, scores: Box<Scores> },
    /// Nearest neighbour and one-class SVM.
    Baselines { repeat: usize, nearest_neighbour: Curve, one_class_svm: Curve, gamma: f64 },
}

/// A baseline's ranking of the test photos.
#[derive(Serialize, Deserialize)]
pub struct Curve {
    auc: f64,
    roc: Vec<RocPoint>,
}

/// A model's answers.
#[derive(Serialize, Deserialize)]
pub struct Scores {
    /// Per draw.
    auc: Vec<f64>,
    accuracy: Vec<f64>,
    ari: Vec<f64>,
    /// Of the probabilities averaged over draws.
    pooled_auc: f64,
    pooled_accuracy: f64,
    brier: f64,
    /// The probability of a stranger per photo, and whether it was one: calibration is judged on all splits
    /// together.
    p: Vec<f64>,
    is_stranger: Vec<bool>,
    roc: Vec<RocPoint>,
    /// x, low and high end of the 95 % interval over draws.
    band: Vec<[f64; 3]>,
    /// How many draws give two test photos the same identity; the first repeat's only.
    association: Vec<u32>,
    seconds: f64,
}

/// Who is known and which photos are for what.
struct Split {
    known: Vec<Person>,
    unknown: Vec<Person>,
}

impl Split {
    fn training(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let of = |(person, known): (usize, &Person)| {
            known.rows[..TRAINING].iter().map(|&row| (row, person)).collect::<Vec<_>>()
        };
        self.known.iter().enumerate().flat_map(of)
    }

    /// Rows to be asked about, the known people's first, and whether they are strangers.
    fn test(&self) -> (Vec<usize>, Vec<bool>) {
        let known = self.known.iter().flat_map(|person| &person.rows[TRAINING..TRAINING + TEST]);
        let unknown = self.unknown.iter().flat_map(|person| &person.rows[..TEST]);
        let rows: Vec<usize> = known.chain(unknown).copied().collect();
        let n_known = TEST * self.known.len();
        let is_stranger = (0..rows.len()).map(|place| place >= n_known).collect();
        (rows, is_stranger)
    }
}

impl Scores {
    /// What can be said of the answers themselves, one per photo and draw.
    fn of(answers: &[Vec<ByDraw>], is_stranger: Vec<bool>) -> Self {
        let n_draws = answers.first().map_or(0, Vec::len);
        let by_draw = |draw: usize| answers.iter().map(move |answers| &answers[draw]);
        let share = |right: usize| right as f64 / is_stranger.len() as f64;
        let (mut aucs, mut accuracy, mut curves) = (Vec::new(), Vec::new(), Vec::new());
        for draw in 0..n_draws {
            // ln odds rank like probabilities, and still do where those are 0 or 1 in floating point.
            let scores: Vec<f64> = by_draw(draw).map(|by| by.ln_stranger - by.ln_seen).collect();
            aucs.push(auc(&scores, &is_stranger).expect("there are known and unknown people"));
            let right = by_draw(draw).zip(&is_stranger).filter(|(by, is)| by.identity.is_none() == **is);
            accuracy.push(share(right.count()));
            curves.push(roc(&scores, &is_stranger));
        }
        let band = (0..=GRID).map(|place| {
            let x = place as f64 / GRID as f64;
            let heights: Vec<f64> = curves.iter().map(|curve| true_positive_rate(curve, x)).collect();
            let [low, high] = Interval::of(&heights).hdi;
            [x, low, high]
        });
        let mean = |of: &dyn Fn(usize) -> f64| {
            let ln: Vec<f64> = (0..n_draws).map(of).collect();
            kith::math::ln_sum_exp(&ln) - (ln.len() as f64).ln()
        };
        let ln_stranger: Vec<f64> = answers.iter().map(|by| mean(&|draw| by[draw].ln_stranger)).collect();
        let odds: Vec<f64> = answers
            .iter()
            .zip(&ln_stranger)
            .map(|(by, ln_stranger)| ln_stranger - mean(&|draw| by[draw].ln_seen))
            .collect();
        let p: Vec<f64> = ln_stranger.iter().map(|ln| ln.exp().min(1.0)).collect();
        let right = p.iter().zip(&is_stranger).filter(|(p, is)| (**p > 0.5) == **is).count();
        Self {
            pooled_auc: auc(&odds, &is_stranger).expect("there are known and unknown people"),
            pooled_accuracy: share(right),
            brier: brier(&p, &is_stranger),
            p,
            roc: roc(&odds, &is_stranger),
            band: band.collect(),
            association: Vec::new(),
            auc: aucs,
            accuracy,
            ari: Vec::new(),
            is_stranger,
            seconds: 0.0,
        }
    }
}

impl<'a> Unknown<'a> {
    /// Wants at least two people with enough photos.
    pub fn new(gallery: &'a Gallery<'a>, arms: &'a [Arm<'a>], plan: Plan) -> Result<Self, String> {
        let n_people = gallery.with_photos(PHOTOS).len();
        if n_people < 2 {
            return Err(format!("found {n_people} people with {PHOTOS} photos or more, wanted at least 2"));
        }
        Ok(Self { gallery, arms, plan, run: run_of(plan.sweeps, Run::PAPER) })
    }

    /// Ten known people, or half of fewer than 20 so that somebody is left.
    fn n_known(&self) -> usize {
        let n_people = self.gallery.with_photos(PHOTOS).len();
        KNOWN.min(n_people.div_ceil(2))
    }

    fn split(&self, repeat: usize) -> Split {
        let mut rng = kith::random::driver(self.plan.seed_of(repeat));
        let mut known = self.gallery.dealt(PHOTOS, &mut rng);
        let unknown = known.split_off(self.n_known());
        Split { known, unknown }
    }

    fn arm(&self, repeat: usize, arm: usize, watch: &Watch<'_>) -> Result<Option<Outcome>, ModelError> {
        let started = Instant::now();
        let split = self.split(repeat);
        let training: Vec<(usize, Option<&str>)> = split.training().map(|(row, _)| (row, None)).collect();
        let truth: Vec<u32> = split.training().map(|(_, person)| person as u32).collect();
        let data = self.gallery.dataset(&training);
        let target = Target::new((self.arms[arm].model)(&data)?, data)?;
        let chains = Chains { n: self.plan.n_chains, seed: self.plan.seed_of(repeat) };
        let Some((belief, draws)) = fit(target, self.arms[arm].sampler, &self.run, chains, watch) else {
            return Ok(None);
        };
        let ari = draws.iter().map(|draw| adjusted_rand_index(&draw.partition(), &truth)).collect();
        let posterior = Posterior::new(belief.target(), &draws);
        let (rows, is_stranger) = split.test();
        let photo = |&row: &usize| NewPhoto { context: None, faces: vec![self.gallery.photo(row)] };
        let photos: Vec<NewPhoto<'_>> = rows.iter().map(photo).collect();
        let occasion = posterior.occasion(&photos, &|| ());
        let places = (0..photos.len()).into_par_iter();
        let answers: Vec<_> = places.map(|place| posterior.predict_each_on(&occasion, place)).collect();

        let scores = Scores {
            ari,
            association: if repeat == 0 { association(&answers) } else { Vec::new() },
            ..Scores::of(&answers, is_stranger)
        };
        let scores = Box::new(Scores { seconds: started.elapsed().as_secs_f64(), ..scores });
        Ok(Some(Outcome::Arm { repeat, arm, scores }))
    }

    fn baselines(&self, repeat: usize) -> Outcome {
        let split = self.split(repeat);
        let mut people: Vec<Vec<&[f32]>> = vec![Vec::new(); split.known.len()];
        split.training().for_each(|(row, person)| people[person].push(self.gallery.photo(row)));
        let training: Vec<&[f32]> = people.iter().flatten().copied().collect();
        let gamma = choose_gamma(&people)[0].gamma;
        let svm = OneClassSvm::train(&training, Rbf { gamma });
        let (rows, is_stranger) = split.test();
        let curve = |score: &dyn Fn(&[f32]) -> f64| {
            let scores: Vec<f64> = rows.iter().map(|&row| score(self.gallery.photo(row))).collect();
            let auc = auc(&scores, &is_stranger).expect("there are known and unknown people");
            Curve { auc, roc: roc(&scores, &is_stranger) }
        };
        Outcome::Baselines {
            repeat,
            nearest_neighbour: curve(&|x| nearest(x, &training).distance),
            one_class_svm: curve(&|x| -svm.decision(x)),
            gamma,
        }
    }
}

/// For each pair of photos, how many draws give them the same identity, a new one included.
fn association(answers: &[Vec<kith::predict::ByDraw>]) -> Vec<u32> {
    let agree = |a: &Vec<kith::predict::ByDraw>, b: &Vec<kith::predict::ByDraw>| {
        a.iter().zip(b).filter(|(a, b)| a.identity == b.identity).count() as u32
    };
    answers.iter().flat_map(|a| answers.iter().map(move |b| agree(a, b))).collect()
}

impl Experiment for Unknown<'_> {
    type Task = Task;
    type Outcome = Outcome;

    fn settings(&self) -> Value {
        json!({
            "experiment": "unknown", "seed": self.plan.seed, "chains": self.plan.n_chains,
            "sweeps": self.run.sweeps, "burn_in": self.run.burn_in, "thin": self.run.thin,
            "photos": PHOTOS, "known": self.n_known(), "training": TRAINING, "test": TEST,
        })
    }

    fn jobs(&self) -> Vec<Job<Task>> {
        let mut jobs = Vec::new();
        for repeat in 0..self.plan.repeats {
            let key = format!("repeat-{repeat}-baselines");
            jobs.push(Job { key, sweeps: 0, task: Task::Baselines { repeat } });
            for (arm, model) in self.arms.iter().enumerate() {
                let key = format!("repeat-{repeat}-{}", model.label());
                let sweeps = self.run.sweeps * self.plan.n_chains as u64;
                jobs.push(Job { key, sweeps, task: Task::Arm { repeat, arm } });
            }
        }
        jobs
    }

    fn run(&self, task: &Task, watch: &Watch<'_>) -> Result<Option<Outcome>, ModelError> {
        match *task {
            Task::Arm { repeat, arm } => self.arm(repeat, arm, watch),
            Task::Baselines { repeat } => Ok(Some(self.baselines(repeat))),
        }
    }

    fn findings(&self, outcomes: &[Outcome]) -> Findings {
        findings::of(self, outcomes)
    }
}

//! Identity discovery (§4.2): who is who on a stream of frames, learnt online, in batches or offline.

use std::sync::atomic::Ordering;
use std::time::Instant;

use kith::belief::{Belief, Chains, Schedule, Until};
use kith::chain::{Chain, Memory, Watch};
use kith::data::{Dataset, NewFace};
use kith::ids::FaceId;
use kith::model::{ContextMode, Model, ModelError};
use kith::predict::Posterior;
use kith::simulate::{Camera, Cycled, Frame};
use kith::target::{Target, TargetError};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Arm, Experiment, Gallery, Job, Person, Plan, Sampler};
use crate::metrics::{adjusted_rand_index, pairwise, variation_of_information};
use crate::report::Findings;

mod findings;

/// People with at least so many photos take part.
const PHOTOS: usize = 30;
/// Frames to learn from, unless said otherwise.
const FRAMES: usize = 200;
/// Frames after those, whose context is predicted.
const TEST_FRAMES: usize = 100;
/// Offline curves are measured every so many frames.
const EVERY: usize = 20;

/// The experiment.
pub struct Discovery<'a> {
    gallery: &'a Gallery<'a>,
    arms: &'a [Arm<'a>],
    plan: Plan,
    n_frames: usize,
    people: Vec<Person>,
}

/// How frames are learnt from (§4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    Online,
    Batch,
    Offline,
}

/// A piece: one model, one protocol, with or without contexts, on one simulation.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    repeat: usize,
    arm: usize,
    protocol: Protocol,
    contexts: bool,
}

/// What a piece found.
#[derive(Serialize, Deserialize)]
pub struct Outcome {
    repeat: usize,
    arm: usize,
    protocol: Protocol,
    contexts: bool,
    curve: Vec<Moment>,
    /// At the end, per chain.
    precision: Vec<f64>,
    recall: Vec<f64>,
    variation_of_information: Vec<f64>,
    /// The share of later frames whose context was predicted rightly; `None` without contexts.
    context_accuracy: Option<f64>,
    seconds: f64,
}

/// After so many frames.
#[derive(Serialize, Deserialize)]
pub struct Moment {
    frame: usize,
    /// Per chain.
    ari: Vec<f64>,
}

/// What was simulated.
struct Stream {
    context_of: Vec<usize>,
    contexts: Vec<String>,
    frames: Vec<Frame>,
    later: Vec<Frame>,
}

impl Protocol {
    const ALL: [Self; 3] = [Self::Online, Self::Batch, Self::Offline];

    fn name(self) -> &'static str {
        match self {
            Self::Online => "online",
            Self::Batch => "batch",
            Self::Offline => "offline",
        }
    }

    fn schedule(self) -> Schedule {
        match self {
            Self::Online => Schedule::ONLINE,
            Self::Batch => Schedule::BATCH,
            Self::Offline => Schedule::OFFLINE,
        }
    }
}

impl<'a> Discovery<'a> {
    /// Wants at least two people with enough photos.
    pub fn new(
        gallery: &'a Gallery<'a>,
        arms: &'a [Arm<'a>],
        plan: Plan,
        frames: Option<usize>,
    ) -> Result<Self, String> {
        let people = gallery.with_photos(PHOTOS);
        let n_people = people.len();
        if n_people < 2 {
            return Err(format!("found {n_people} people with {PHOTOS} photos or more, wanted at least 2"));
        }
        Ok(Self { gallery, arms, plan, n_frames: frames.unwrap_or(FRAMES), people })
    }

    fn stream(&self, repeat: usize) -> Stream {
        let rows: Vec<Vec<usize>> = self.people.iter().map(|person| person.rows.clone()).collect();
        let photos = Cycled::new(self.gallery.embeddings, &rows);
        let rng = kith::random::driver(self.plan.seed_of(repeat));
        let camera = Camera::default();
        let contexts = camera.contexts.clone();
        let mut encounters = camera.start(photos, rng).expect("the usual camera, and people before it");
        let context_of = encounters.context_of().to_vec();
        let frames = encounters.by_ref().take(self.n_frames).collect();
        let later = encounters.take(TEST_FRAMES).collect();
        Stream { context_of, contexts, frames, later }
    }

    /// The model of somebody who has seen some frames; its face prior is learnt from background people or from
    /// their faces, unnamed as they are.
    fn model(&self, task: Task, stream: &Stream, n_frames: usize) -> Result<Model, ModelError> {
        let mut model = (self.arms[task.arm].model)(&self.dataset(stream, n_frames).0)?;
        model.context.mode = if task.contexts { ContextMode::Given } else { ContextMode::None };
        Ok(model)
    }

    /// The first frames, and how many faces there are up to each.
    fn dataset(&self, stream: &Stream, n_frames: usize) -> (Dataset, Vec<usize>) {
        let dimension = self.gallery.embeddings.dimension();
        let mut data = Dataset::empty(dimension).expect("embeddings have a dimension");
        let mut n_faces = Vec::new();
        for frame in stream.frames.iter().take(n_frames) {
            let faces: Vec<NewFace<'_>> =
                frame.embeddings.iter().map(|x| NewFace { embedding: x, name: None }).collect();
            data.push_frame(Some(&stream.contexts[frame.context]), &faces).expect("frames are never empty");
            n_faces.push(data.n_faces());
        }
        (data, n_faces)
    }

    fn schedule(&self, protocol: Protocol) -> Schedule {
        let usual = protocol.schedule();
        // Asked for other sweeps, all protocols keep their shares of the paper's thousand.
        let sweeps = self.plan.sweeps.map_or(usual.sweeps, |sweeps| (usual.sweeps * sweeps / 1000).max(1));
        Schedule { sweeps, ..usual }
    }

    fn n_sweeps(&self, protocol: Protocol) -> u64 {
        let schedule = self.schedule(protocol);
        let updates = self.n_frames.div_ceil(schedule.frames.min(self.n_frames.max(1)));
        schedule.sweeps * updates as u64 * self.plan.n_chains as u64
    }

    /// Online and in batches: the curve, and what is believed at the end. What faces look like in general is
    /// learnt from the frames so far (the first batch learns from itself), anew with every doubling.
    fn learn(
        &self,
        task: Task,
        stream: &Stream,
        watch: &Watch<'_>,
    ) -> Result<Option<(Vec<Moment>, Belief)>, ModelError> {
        let (schedule, chains) = (self.schedule(task.protocol), self.chains(task));
        let sampler = self.arms[task.arm].sampler;
        let own = |belief: Belief| belief.with_schedule(schedule).with_sweep(sampler.sweep());
        let model = self.model(task, stream, schedule.frames)?;
        let mut belief = own(Belief::new(model, chains).map_err(model_error)?);
        let mut n_model_faces = 0;
        let truth = truth(&stream.frames);
        let mut curve = Vec::new();
        for (number, frame) in stream.frames.iter().enumerate() {
            if watch.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let n_faces = belief.target().data().n_faces();
            if number % schedule.frames == 0 && n_faces > 0 && n_faces >= 2 * n_model_faces {
                belief = own(under(&belief, self.model(task, stream, number)?, sampler, chains)?);
                n_model_faces = n_faces;
            }
            let faces: Vec<NewFace<'_>> =
                frame.embeddings.iter().map(|x| NewFace { embedding: x, name: None }).collect();
            let before = belief.target().data().n_frames();
            belief.see(Some(&stream.contexts[frame.context]), &faces).map_err(model_error)?;
            if number + 1 == stream.frames.len() {
                belief.take_in().map_err(model_error)?;
            }
            if belief.target().data().n_frames() > before {
                curve.push(moment(number + 1, &belief, &truth, belief.target().data().n_faces()));
                (0..schedule.sweeps * chains.n as u64).for_each(|_| (watch.swept)());
            }
        }
        Ok(Some((curve, belief)))
    }

    /// Everything at once.
    fn offline(
        &self,
        task: Task,
        stream: &Stream,
        watch: &Watch<'_>,
    ) -> Result<Option<(Vec<Moment>, Belief)>, ModelError> {
        let model = self.model(task, stream, stream.frames.len())?;
        let (data, n_faces) = self.dataset(stream, stream.frames.len());
        let sweeps = self.schedule(Protocol::Offline).sweeps;
        let sampler = self.arms[task.arm].sampler;
        let belief = Belief::start(Target::new(model, data)?, &[sampler.start()], self.chains(task));
        let mut belief = belief.with_sweep(sampler.sweep());
        belief.learn(&Until::sweeps(sweeps), watch);
        if watch.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let truth = truth(&stream.frames);
        let shown = (1..=n_faces.len()).filter(|number| number % EVERY == 0 || *number == n_faces.len());
        let curve = shown.map(|number| moment(number, &belief, &truth, n_faces[number - 1])).collect();
        Ok(Some((curve, belief)))
    }

    fn chains(&self, task: Task) -> Chains {
        Chains { n: self.plan.n_chains, seed: self.plan.seed_of(task.repeat) }
    }
}

/// What was believed, under another model: chains go on, or begin anew where the kind of face model is another.
fn under(belief: &Belief, model: Model, sampler: Sampler, chains: Chains) -> Result<Belief, ModelError> {
    let is_same_kind = model.face.has_covariances() == belief.target().model().face.has_covariances();
    let target = belief.target().clone().with_model(model)?;
    if !is_same_kind {
        return Ok(Belief::start(target, &[sampler.start()], chains));
    }
    let memories: Vec<Memory> = belief.now().iter().map(Memory::of).collect();
    Ok(Belief::resume(target, &memories, chains.seed))
}

/// Frames come from a dataset that was read whole: only the model can be refused.
fn model_error(error: TargetError) -> ModelError {
    match error {
        TargetError::Model(error) => error,
        TargetError::Data(error) => panic!("a frame of the dataset was refused: {error}"),
    }
}

/// Who each face is, in the order in which they are seen.
fn truth(frames: &[Frame]) -> Vec<u32> {
    frames.iter().flat_map(|frame| &frame.people).map(|&person| person as u32).collect()
}

/// The partition of the first faces in each chain.
fn partitions(chains: &[Chain], n_faces: usize) -> Vec<Vec<u32>> {
    let identity = |chain: &Chain, face: usize| {
        let seat = chain.state().seating().identity_of(FaceId::new(face));
        seat.expect("every face is seated").index() as u32
    };
    chains.iter().map(|chain| (0..n_faces).map(|face| identity(chain, face)).collect()).collect()
}

fn moment(frame: usize, belief: &Belief, truth: &[u32], n_faces: usize) -> Moment {
    let partitions = partitions(belief.chains(), n_faces);
    Moment { frame, ari: partitions.iter().map(|p| adjusted_rand_index(p, &truth[..n_faces])).collect() }
}

/// The share of frames whose most probable context is the right one.
fn context_accuracy(posterior: &Posterior, stream: &Stream) -> f64 {
    let is_right = |frame: &&Frame| {
        let faces: Vec<&[f32]> = frame.embeddings.iter().map(Vec::as_slice).collect();
        let answer = &posterior.predict(None, &faces, false)[0];
        answer.context.first().is_some_and(|(name, _)| *name == stream.contexts[frame.context])
    };
    stream.later.par_iter().filter(is_right).count() as f64 / stream.later.len() as f64
}

impl Experiment for Discovery<'_> {
    type Task = Task;
    type Outcome = Outcome;

    fn settings(&self) -> Value {
        let camera = Camera::default();
        json!({
            "experiment": "discovery", "seed": self.plan.seed, "chains": self.plan.n_chains,
            "frames": self.n_frames, "test_frames": TEST_FRAMES, "people": self.people.len(),
            "photos": PHOTOS,
            "switch": camera.switch, "enter": camera.enter, "leave": camera.leave,
            "contexts": camera.contexts,
            "sweeps": Protocol::ALL.map(|protocol| self.schedule(protocol).sweeps),
        })
    }

    fn jobs(&self) -> Vec<Job<Task>> {
        let mut jobs = Vec::new();
        for repeat in 0..self.plan.repeats {
            for (arm, model) in self.arms.iter().enumerate() {
                for contexts in [true, false] {
                    for protocol in Protocol::ALL {
                        let with = if contexts { "contexts" } else { "no-contexts" };
                        let key = format!("repeat-{repeat}-{}-{}-{with}", model.label(), protocol.name());
                        let sweeps = self.n_sweeps(protocol);
                        jobs.push(Job { key, sweeps, task: Task { repeat, arm, protocol, contexts } });
                    }
                }
            }
        }
        jobs
    }

    fn run(&self, task: &Task, watch: &Watch<'_>) -> Result<Option<Outcome>, ModelError> {
        let started = Instant::now();
        let stream = self.stream(task.repeat);
        let learnt = match task.protocol {
            Protocol::Offline => self.offline(*task, &stream, watch)?,
            _ => self.learn(*task, &stream, watch)?,
        };
        let Some((curve, belief)) = learnt else { return Ok(None) };
        let seconds = started.elapsed().as_secs_f64();
        let truth = truth(&stream.frames);
        let last = partitions(belief.chains(), truth.len());
        let posterior = || Posterior::new(belief.target(), &belief.now());
        let context_accuracy = task.contexts.then(|| context_accuracy(&posterior(), &stream));
        Ok(Some(Outcome {
            repeat: task.repeat,
            arm: task.arm,
            protocol: task.protocol,
            contexts: task.contexts,
            curve,
            precision: last.iter().map(|p| pairwise(p, &truth).precision).collect(),
            recall: last.iter().map(|p| pairwise(p, &truth).recall).collect(),
            variation_of_information: last.iter().map(|p| variation_of_information(p, &truth)).collect(),
            context_accuracy,
            seconds,
        }))
    }

    fn findings(&self, outcomes: &[Outcome]) -> Findings {
        findings::of(self, outcomes)
    }
}

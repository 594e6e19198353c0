//! What an estimator knows: a belief, how it came about, and what is shown of it.

use std::sync::OnceLock;

use kith::belief::{Background, Belief, Chains, Clusters, Settings, Until, stages};
use kith::chain::{Draw, Memory, Run, Start};
use kith::data::{Dataset, NewFace};
use kith::predict::Parts;
use kith::target::Target;
use kith_io::model_file::from_tree;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::work::Progress;

/// Chains are brought together about every so many reseated faces.
const FACES_PER_ROUND: u64 = 200_000;
/// Sweeps after frames that arrive while there are few faces ([`stages::ALL_SWEPT`]).
const SWEEPS_OF_FEW: u64 = 16;

/// How to learn.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Options {
    /// The tree of keys of a MODEL.toml.
    model: Value,
    chains: Option<usize>,
    pub seed: u64,
    /// Until the chains agree, where it is not given.
    sweeps: Option<u64>,
    burn_in: Option<u64>,
    thin: Option<u64>,
    /// Draws of each chain that are kept at most, where `sweeps` is not given.
    draws: usize,
    /// The starting points, dealt over the chains; the usual ones where it is not said.
    starts: Option<Vec<String>>,
}

/// What a learning came to.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Outcome {
    pub sweeps: u64,
    /// Where chains were to agree; `None` where it cannot be told.
    pub r_hat: Option<f64>,
    /// Whether chains were to agree on who is with whom, and did not.
    pub is_apart: bool,
    pub is_interrupted: bool,
}

/// A belief, how it came about, and what is shown of it.
#[derive(Clone)]
pub struct Known {
    pub belief: Belief,
    pub options: Options,
    /// From so many faces the prior was learnt.
    pub n_model_faces: usize,
    pub has_background: bool,
    pub outcome: Outcome,
    shown: OnceLock<Shown>,
}

/// What is asked for again and again.
#[derive(Clone)]
pub struct Shown {
    pub clusters: Clusters,
    pub parts: Parts,
}

impl Options {
    pub fn settings(&self) -> Result<Settings, String> {
        from_tree(&self.model)
    }

    fn starts(&self, target: &Target) -> Result<Vec<Start>, String> {
        let Some(starts) = &self.starts else {
            return Ok(stages::starts(target, stages::DISPERSED).to_vec());
        };
        let start = |word: &String| match word.as_str() {
            "sequential" => Ok(Start::Sequential),
            "together" => Ok(Start::Together),
            "apart" => Ok(Start::Apart),
            "random" => Ok(Start::Random),
            other => Err(format!("start: found {other:?}, wanted sequential, together, apart or random")),
        };
        let starts = starts.iter().map(start).collect::<Result<Vec<_>, _>>()?;
        if starts.is_empty() { Err("start: found none, wanted at least one".to_owned()) } else { Ok(starts) }
    }

    fn chains(&self) -> Chains {
        let n = self.chains.unwrap_or(if self.sweeps.is_some() { 8 } else { 4 });
        Chains { n, seed: self.seed }
    }

    /// As the program has it.
    fn run(&self) -> Result<Option<Run>, String> {
        let Some(sweeps) = self.sweeps else { return Ok(None) };
        let burn_in = self.burn_in.unwrap_or((sweeps / 5).min(100));
        let thin = self.thin.unwrap_or(10.min(sweeps.saturating_sub(burn_in).max(1)));
        let run = Run { sweeps, burn_in, thin };
        if thin == 0 || run.n_kept() == 0 {
            return Err(format!(
                "sweeps={sweeps} with burn_in={burn_in} and thin={thin} keeps no draw, wanted at least one"
            ));
        }
        Ok(Some(run))
    }
}

impl Known {
    pub fn new(belief: Belief, options: Options, n_model_faces: usize, has_background: bool) -> Self {
        let (outcome, shown) = (Outcome::default(), OnceLock::new());
        Self { belief, options, n_model_faces, has_background, outcome, shown }
    }

    /// Learns from faces, as `kith fit` does; without frames and contexts they may be points of any kind.
    pub fn fit(
        options: Options,
        data: Dataset,
        background: Option<Background<'_>>,
        progress: &Progress,
    ) -> Result<Self, String> {
        let (settings, run) = (options.settings()?, options.run()?);
        let n_faces = data.n_faces();
        let are_points = data.n_frames() == n_faces && data.contexts().is_empty() && background.is_none();
        let settings = if are_points { settings.for_points(n_faces, data.dimension()) } else { settings };
        progress.begin(100);
        let model = settings.resolve(&data, background, &mut |share| progress.reach(100.0 * share));
        let model = model.map_err(|error| error.to_string())?;
        let target = Target::new(model, data).map_err(|error| error.to_string())?;
        let starts = options.starts(&target)?;
        let belief = Belief::start(target, &starts, options.chains());
        let mut known = Self::new(belief, options, n_faces, background.is_some());
        match run {
            Some(run) => known.run(&run, progress),
            None => known.learn(None, progress),
        }
        Ok(known)
    }

    /// Frames arrive, one by one. Refused ones change nothing; those before them count.
    pub fn see(&mut self, data: &Dataset, progress: &Progress) -> Result<(), String> {
        self.shown.take();
        let name = |face| data.given_name(face).map(|label| &*data.names()[label.index()]);
        progress.begin(data.n_frames() as u64);
        for frame in data.frames().take_while(|_| !progress.is_stopped()) {
            let context = data.given_context(frame).map(|context| &*data.contexts()[context.index()]);
            let face = |&face| NewFace { embedding: data.embedding(face), name: name(face) };
            let faces: Vec<NewFace<'_>> = data.faces_in(frame).iter().map(face).collect();
            self.belief.see(context, &faces).map_err(|error| error.to_string())?;
            progress.step();
        }
        self.grow(progress)?;
        self.settle(progress);
        Ok(())
    }

    /// The first frames arrive.
    pub fn begin(options: Options, data: Dataset, progress: &Progress) -> Result<Self, String> {
        let (settings, n_faces) = (options.settings()?, data.n_faces());
        progress.begin(100);
        let model = settings.resolve_growing(&data, None, &mut |share| progress.reach(100.0 * share));
        let model = model.map_err(|error| error.to_string())?;
        let target = Target::new(model, data).map_err(|error| error.to_string())?;
        let starts = options.starts(&target)?;
        let belief = Belief::start(target, &starts, options.chains());
        let mut known = Self::new(belief, options, n_faces, false);
        known.settle(progress);
        Ok(known)
    }

    /// The model is learnt anew where that is due ([`stages::due`]); chains go on under it.
    fn grow(&mut self, progress: &Progress) -> Result<(), String> {
        let settings = self.options.settings()?;
        let target = self.belief.target();
        let (before, n_faces) = (target.model(), target.data().n_faces());
        let has_background = self.has_background || settings.prior.is_some();
        let known = stages::Known { model: before, n_faces: self.n_model_faces, has_background };
        let Some(settings) = stages::due(settings, target.data(), Some(known), true) else { return Ok(()) };
        progress.begin(100);
        let tell = &mut |share: f64| progress.reach(100.0 * share);
        let model = settings.resolve_growing(target.data(), None, tell).map_err(|error| error.to_string())?;
        let is_same_kind = model.face.has_covariances() == before.face.has_covariances();
        let memories: Vec<Memory> = self.belief.now().iter().map(Memory::of).collect();
        let target = target.clone().with_model(model).map_err(|error| error.to_string())?;
        self.belief = if is_same_kind {
            Belief::resume(target, &memories, self.options.seed)
        } else {
            let starts = self.options.starts(&target)?;
            Belief::start(target, &starts, self.options.chains())
        };
        self.n_model_faces = n_faces;
        Ok(())
    }

    /// While there are few faces, all are swept.
    fn settle(&mut self, progress: &Progress) {
        if self.belief.faces().len() <= stages::ALL_SWEPT {
            self.learn(Some(SWEEPS_OF_FEW), progress);
        }
    }

    /// Chains go on, so many sweeps or until they agree.
    pub fn learn(&mut self, sweeps: Option<u64>, progress: &Progress) {
        self.shown.take();
        let until = Until { sweeps, draws: self.options.draws };
        progress.begin(self.belief.most_sweeps(&until) * self.belief.chains().len() as u64);
        let learnt = progress.watch(|watch| self.belief.learn(&until, watch));
        // As the program orders them: sums over draws then agree to the last digit.
        let mut draws = self.belief.draws().to_vec();
        draws.sort_by_key(|draw| (draw.sweep, draw.chain));
        self.belief.answer_from(draws);
        self.outcome = Outcome {
            sweeps: self.n_sweeps(),
            r_hat: learnt.r_hat.filter(|r_hat| r_hat.is_finite()),
            is_apart: sweeps.is_none() && !learnt.agrees_on_people() && !learnt.is_interrupted,
            is_interrupted: learnt.is_interrupted,
        };
    }

    fn run(&mut self, run: &Run, progress: &Progress) {
        let round = (FACES_PER_ROUND / self.belief.faces().len().max(1) as u64).clamp(1, 1000);
        progress.begin(run.sweeps * self.belief.chains().len() as u64);
        let (mut draws, mut until): (Vec<Draw>, u64) = (Vec::new(), 0);
        while until < run.sweeps && !progress.is_stopped() {
            until = (until + round).min(run.sweeps);
            draws.extend(progress.watch(|watch| self.belief.run(run, until, watch)));
        }
        if !draws.is_empty() {
            self.belief.answer_from(draws);
        }
        let (sweeps, is_interrupted) = (self.n_sweeps(), progress.is_stopped());
        self.outcome = Outcome { sweeps, is_interrupted, ..Outcome::default() };
    }

    /// How many sweeps every chain has made; when they are stopped, some have made one more.
    fn n_sweeps(&self) -> u64 {
        self.belief.chains().iter().map(|chain| chain.n_sweeps()).min().unwrap_or(0)
    }

    /// What is shown of it, worked out when it is first asked for.
    pub fn shown(&self) -> &Shown {
        self.shown.get_or_init(|| {
            let clusters = self.belief.people();
            let parts = self.belief.posterior().parts(&clusters.of_face);
            Shown { clusters, parts }
        })
    }
}

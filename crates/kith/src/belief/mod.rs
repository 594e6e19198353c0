//! WHAT IS BELIEVED OF PEOPLE: one object that sees frames, hears what people say, learns, and answers.
//!
//! ```
//! use kith::belief::{Belief, Chains, Said, Until};
//! use kith::chain::Watch;
//! use kith::data::NewFace;
//! use kith::model::{FaceModel, Isotropic, Model};
//! use kith::predict::NewPhoto;
//!
//! let looks = Isotropic { mean: vec![0.0; 2], kappa: 0.01, shape: 3.0, rate: 0.5 };
//! let mut belief = Belief::new(Model::new(FaceModel::isotropic(looks)), Chains { n: 4, seed: 1 })?;
//! for k in 0..8 {
//!     let [a, b] = [[5.0, 0.1 * k as f32], [-5.0, 0.1 * k as f32]];
//!     let faces = [&a, &b].map(|embedding| NewFace { embedding, name: None });
//!     belief.see(Some("home"), &faces)?;
//! }
//! let [first, second] = [0, 2].map(|face| belief.faces().nth(face).unwrap());
//! belief.hear(&[Said::Name(first, "Ann"), Said::Same(first, second)])?;
//! belief.learn(&Until::agreed(), &Watch::nobody());
//! assert_eq!(belief.people().len(), 2);
//!
//! let photo = |face| NewPhoto { context: Some("home"), faces: vec![face] };
//! let answers = belief.who(&[photo(&[5.0, 0.4]), photo(&[0.0, 12.0])]);
//! assert!(answers[0][0].acquainted > 0.5 && answers[1][0].stranger > 0.5);
//! # Ok::<(), kith::target::TargetError>(())
//! ```

pub mod agreement;
pub mod ask;
mod catch_up;
pub mod hear;
pub mod learn;
mod nearby;
pub mod people;
pub mod see;
mod settings;
mod shots;
pub mod stages;
pub mod stream;
#[cfg(test)]
mod tests;

pub use ask::{About, Question};
pub use catch_up::News;
pub use hear::Said;
pub use learn::{AGREED, ENOUGH, Learnt, Round, Until};
pub use nearby::{Nearby, Since};
pub use people::Clusters;
pub use see::Schedule;
pub use settings::{Background, Kind, Settings};

use std::sync::OnceLock;

use rayon::prelude::*;

use self::shots::Whole;
use crate::chain::{Chain, Draw, Ensemble, Memory, Start};
use crate::data::Dataset;
use crate::gibbs::Sweep;
use crate::ids::FaceId;
use crate::model::Model;
use crate::predict::{Answer, Bounded, Explained, NewPhoto, Posterior};
use crate::target::{Target, TargetError};

/// So many draws say whether looks agree with words.
const FEW_DRAWS: usize = 8;

/// How many chains, and the seed of their random streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chains {
    /// How many.
    pub n: usize,
    /// Makes everything repeatable, whatever the number of threads.
    pub seed: u64,
}

impl Default for Chains {
    fn default() -> Self {
        Self { n: 4, seed: 1 }
    }
}

/// A target, chains that sample it, and draws of them.
#[derive(Clone, Debug)]
pub struct Belief {
    target: Target,
    ensemble: Ensemble,
    seed: u64,
    /// Those of the last learning; after anything was seen or heard, what the chains believe, when somebody
    /// asks.
    draws: Kept,
    schedule: Schedule,
    /// How its chains move when they learn.
    sweep: Sweep,
    /// Frames that have arrived and wait for the schedule.
    waiting: Dataset,
}

/// Draws, and what is pooled of them when somebody asks about new faces.
#[derive(Clone, Debug, Default)]
struct Kept {
    draws: OnceLock<Vec<Draw>>,
    posterior: OnceLock<Posterior>,
}

impl From<Vec<Draw>> for Kept {
    fn from(draws: Vec<Draw>) -> Self {
        Self { draws: draws.into(), posterior: OnceLock::new() }
    }
}

impl Kept {
    /// They are those of chains that have moved since, or of another target.
    fn drop(&mut self) {
        *self = Self::default();
    }
}

impl Belief {
    /// Nobody has been seen yet.
    pub fn new(model: Model, chains: Chains) -> Result<Self, TargetError> {
        Ok(Self::start(Target::empty(model)?, &[Start::Sequential], chains))
    }

    /// Faces have been seen; chains are started, the starting points dealt over them in turn.
    pub fn start(target: Target, starts: &[Start], chains: Chains) -> Self {
        let Some(whole) = Whole::of(&target) else {
            let ensemble = Ensemble::start(starts, chains.n, chains.seed, &target);
            return Self::with_chains(target, ensemble, chains.seed);
        };
        let few = Self::start(whole.target().clone(), starts, chains);
        let mut belief = Self::of_draws(target, Vec::new(), chains.seed);
        belief.take_over(&whole, &few);
        belief
    }

    /// Chains go on from what is remembered of them.
    pub fn resume(target: Target, memories: &[Memory], seed: u64) -> Self {
        let mut belief = Self::of_draws(target, Vec::new(), seed);
        belief.draws.drop();
        belief.resume_chains(memories);
        belief
    }

    /// Draws of the target, with which questions can be answered; chains may follow by
    /// [`Belief::resume_chains`].
    pub fn of_draws(target: Target, draws: Vec<Draw>, seed: u64) -> Self {
        let belief = Self::with_chains(target, Ensemble::default(), seed);
        Self { draws: draws.into(), ..belief }
    }

    /// As [`Belief::of_draws`], with bounds that were kept of the draws' posterior, so that a question looks
    /// at the faces of few people; `None` where they are of other draws. Embeddings should be elsewhere.
    pub fn of_bounded_draws(
        target: Target,
        draws: Vec<Draw>,
        bounded: &Bounded<'_>,
        seed: u64,
    ) -> Option<Self> {
        let posterior = Posterior::with_bounds(&target, &draws, bounded)?;
        let belief = Self::of_draws(target, draws, seed);
        belief.draws.posterior.set(posterior).ok()?;
        Some(belief)
    }

    fn with_chains(target: Target, ensemble: Ensemble, seed: u64) -> Self {
        let waiting = Dataset::empty(target.data().dimension()).expect("a dataset has a dimension");
        let (draws, schedule, sweep) = (Kept::default(), Schedule::STREAM, Sweep::default());
        Self { target, ensemble, seed, draws, schedule, sweep, waiting }
    }

    /// The same, with frames taken in by another schedule than [`Schedule::STREAM`].
    pub fn with_schedule(self, schedule: Schedule) -> Self {
        Self { schedule, ..self }
    }

    /// Its chains move by another sweep when they sweep all faces, for instance one in colours, which cores
    /// may share.
    pub fn with_sweep(self, sweep: Sweep) -> Self {
        Self { sweep, ..self }
    }

    /// Brings chains back, where there are only draws.
    pub fn resume_chains(&mut self, memories: &[Memory]) {
        let (target, seed) = (&self.target, self.seed);
        let chains = memories.par_iter().map(|memory| Chain::resume(memory, seed, target)).collect();
        self.ensemble = Ensemble::of(chains);
    }

    /// Starts chains anew.
    pub fn restart(&mut self, n_chains: usize) {
        let chains = Chains { n: n_chains, seed: self.seed };
        let starts = stages::starts(&self.target, stages::DISPERSED_AWAITED);
        let started = Self::start(self.target.clone(), starts, chains);
        self.ensemble = started.ensemble;
        self.draws.drop();
    }

    /// The model and the faces.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Every face.
    pub fn faces(&self) -> impl DoubleEndedIterator<Item = FaceId> + ExactSizeIterator + use<> {
        self.target.data().faces()
    }

    /// The chains.
    pub fn chains(&self) -> &[Chain] {
        self.ensemble.chains()
    }

    /// What is sampled, and the chains, to be moved; draws stay as they are.
    pub fn moving(&mut self) -> (&Target, &mut [Chain]) {
        (&self.target, self.ensemble.chains_mut())
    }

    /// Draws of the posterior: of the last learning, or what the chains believe now.
    pub fn draws(&self) -> &[Draw] {
        self.draws.draws.get_or_init(|| self.ensemble.draws(&self.target))
    }

    /// Whether another face of its shot speaks for a face.
    pub fn is_copy(&self, face: FaceId) -> bool {
        self.draws().first().is_some_and(|draw| draw.is_copy(face.index()))
    }

    /// Answers from draws that [`Belief::run`] kept, until something is seen, heard or learnt.
    pub fn answer_from(&mut self, draws: Vec<Draw>) {
        self.draws = draws.into();
    }

    /// What the chains believe now, each.
    pub fn now(&self) -> Vec<Draw> {
        self.ensemble.draws(&self.target)
    }

    /// The posterior of the draws, for questions about new faces.
    pub fn posterior(&self) -> &Posterior {
        self.draws.posterior.get_or_init(|| Posterior::new(&self.target, self.draws()))
    }

    /// Who is on new photos, which are one occasion: per photo, an answer per face.
    pub fn who(&self, photos: &[NewPhoto<'_>]) -> Vec<Vec<Answer>> {
        let posterior = self.posterior();
        let occasion = posterior.occasion(photos, &|| ());
        let places = (0..photos.len()).into_par_iter();
        places.map(|place| posterior.predict_on(&occasion, place, false)).collect()
    }

    /// As [`Belief::who`], and what speaks for whom in each draw. `after_photo` is told of each when it is
    /// answered.
    pub fn why(&self, photos: &[NewPhoto<'_>], after_photo: &(dyn Fn() + Sync)) -> Vec<Vec<Explained>> {
        let posterior = self.posterior();
        let occasion = posterior.occasion(photos, &|| ());
        let of_photo = |place: usize| {
            let explained = posterior.explain_on(&occasion, place, false);
            after_photo();
            explained
        };
        (0..photos.len()).into_par_iter().map(of_photo).collect()
    }

    /// Who a face is that was learnt from, and what speaks for whom in each draw, all other faces staying
    /// where they are.
    pub fn who_is(&self, face: FaceId) -> Explained {
        self.posterior().who(face, &self.target, self.draws())
    }

    /// How probable it is that each of some faces would sit where it sits if nothing had been said of it, by
    /// a few draws.
    pub fn at_home(&self, faces: &[FaceId]) -> Vec<(FaceId, f64)> {
        if faces.is_empty() {
            return Vec::new();
        }
        let step = self.draws().len().div_ceil(FEW_DRAWS);
        let draws: Vec<Draw> = self.draws().iter().step_by(step).cloned().collect();
        let posterior = Posterior::new(&self.target, &draws);
        let at_home = |&face: &FaceId| {
            let of_draws = posterior.at_home(face, &self.target, &draws);
            (face, of_draws.iter().sum::<f64>() / draws.len() as f64)
        };
        faces.par_iter().map(at_home).collect()
    }

    /// The people there are: the representative partition of the draws, with names.
    pub fn people(&self) -> Clusters {
        Clusters::of(self.draws(), self.target.data().names().len())
    }
}

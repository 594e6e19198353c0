//! Learning while frames arrive: the paper's schedules (§4.2) over a growing dataset.

use super::{Ensemble, Start};
use crate::data::{DataError, Dataset, NewFace};
use crate::gibbs::Sweep;
use crate::model::{Model, ModelError};

/// How many frames are waited for, and how many sweeps then follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Frames taken in at once; `usize::MAX` waits for the end.
    pub frames: usize,
    /// Sweeps after that.
    pub sweeps: u64,
}

impl Schedule {
    /// §4.2: each frame, 10 sweeps.
    pub const ONLINE: Self = Self { frames: 1, sweeps: 10 };
    /// §4.2: every 20 frames, 200 sweeps.
    pub const BATCH: Self = Self { frames: 20, sweeps: 200 };
    /// §4.2: all frames at once, 1,000 sweeps.
    pub const OFFLINE: Self = Self { frames: usize::MAX, sweeps: 1000 };
}

/// An ensemble that learns from frames as they come.
#[derive(Clone, Debug)]
pub struct Learner {
    model: Model,
    data: Dataset,
    ensemble: Ensemble,
    schedule: Schedule,
    sweep: Sweep,
    waiting: usize,
}

/// Why a frame or a model was refused.
#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    /// The frame is bad.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The model does not fit the data.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl Learner {
    /// Nobody has been seen yet.
    pub fn new(model: Model, n_chains: usize, seed: u64, schedule: Schedule) -> Result<Self, LearnError> {
        let data = Dataset::empty(model.face.dimension())?;
        let ensemble = Ensemble::start(&[Start::Sequential], n_chains, seed, &model, &data)?;
        Ok(Self { model, data, ensemble, schedule, sweep: Sweep::default(), waiting: 0 })
    }

    /// A frame arrives; it is learnt from when the schedule says so. A refused frame changes nothing.
    pub fn push_frame(&mut self, context: Option<&str>, faces: &[NewFace<'_>]) -> Result<(), LearnError> {
        self.model.identity.check_context(context)?;
        self.data.push_frame(context, faces)?;
        self.waiting += 1;
        if self.waiting >= self.schedule.frames { self.learn() } else { Ok(()) }
    }

    /// Names a face that was seen before. It counts from the next sweep on.
    pub fn name(&mut self, face: crate::ids::FaceId, name: &str) -> Result<(), LearnError> {
        self.data.set_name(face, Some(name));
        if self.waiting == 0 { Ok(self.ensemble.extend(&self.model, &self.data)?) } else { Ok(()) }
    }

    /// Learns from what is waiting, if anything is.
    pub fn finish(&mut self) -> Result<(), LearnError> {
        if self.waiting == 0 { Ok(()) } else { self.learn() }
    }

    fn learn(&mut self) -> Result<(), LearnError> {
        self.ensemble.extend(&self.model, &self.data)?;
        self.ensemble.sweep(self.schedule.sweeps, &self.sweep, &self.model, &self.data);
        self.waiting = 0;
        Ok(())
    }

    /// The chains.
    pub fn ensemble(&self) -> &Ensemble {
        &self.ensemble
    }

    /// What has been seen.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }
}

//! Learning while frames arrive: the paper's schedules (§4.2) over a growing dataset.

use super::{Draw, Ensemble, Start};
use crate::data::{Dataset, NewFace};
use crate::gibbs::Sweep;
use crate::ids::FaceId;
use crate::model::Model;
use crate::target::{Target, TargetError};

/// How many frames are waited for, and how many sweeps then follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Frames taken in at once; `usize::MAX` waits for the end.
    pub frames: usize,
    /// Sweeps after that.
    pub sweeps: u64,
    /// Earlier faces looked at again for each frame, for streams whose sweeps would take ever longer.
    pub revisits: usize,
}

impl Schedule {
    /// §4.2: each frame, 10 sweeps.
    pub const ONLINE: Self = Self { frames: 1, sweeps: 10, revisits: 0 };
    /// §4.2: every 20 frames, 200 sweeps.
    pub const BATCH: Self = Self { frames: 20, sweeps: 200, revisits: 0 };
    /// §4.2: all frames at once, 1,000 sweeps.
    pub const OFFLINE: Self = Self { frames: usize::MAX, sweeps: 1000, revisits: 0 };
    /// Each frame, at the same cost however many there were before: no sweeps, some earlier faces.
    pub const STREAM: Self = Self { frames: 1, sweeps: 0, revisits: 16 };
}

/// An ensemble that learns from frames as they come.
#[derive(Clone, Debug)]
pub struct Learner {
    target: Target,
    ensemble: Ensemble,
    schedule: Schedule,
    sweep: Sweep,
    /// Frames that have arrived and are not learnt from yet.
    waiting: Dataset,
}

impl Learner {
    /// Nobody has been seen yet.
    pub fn new(model: Model, n_chains: usize, seed: u64, schedule: Schedule) -> Result<Self, TargetError> {
        let target = Target::empty(model)?;
        let ensemble = Ensemble::start(&[Start::Sequential], n_chains, seed, &target);
        let waiting = target.data().clone();
        Ok(Self { target, ensemble, schedule, sweep: Sweep::default(), waiting })
    }

    /// A frame arrives; it is learnt from when the schedule says so. A refused frame changes nothing.
    pub fn push_frame(&mut self, context: Option<&str>, faces: &[NewFace<'_>]) -> Result<(), TargetError> {
        let names = self.waiting.names().iter().map(String::as_str);
        self.target.check_names(names.chain(faces.iter().filter_map(|face| face.name)))?;
        let is_first = self.target.data().contexts().is_empty() && self.waiting.contexts().is_empty();
        self.target.model().identity.check_context(context, is_first)?;
        self.waiting.push_frame(context, faces)?;
        if self.waiting.n_frames() >= self.schedule.frames { self.learn() } else { Ok(()) }
    }

    /// Names a face that has been learnt from. It counts from the next sweep on.
    pub fn name(&mut self, face: FaceId, name: &str) -> Result<(), TargetError> {
        self.target.check_names(self.waiting.names().iter().map(String::as_str).chain([name]))?;
        self.target.set_name(face, Some(name))?;
        self.ensemble.extend(&self.target);
        Ok(())
    }

    /// Learns from what is waiting, if anything is.
    pub fn finish(&mut self) -> Result<(), TargetError> {
        if self.waiting.n_frames() == 0 { Ok(()) } else { self.learn() }
    }

    fn learn(&mut self) -> Result<(), TargetError> {
        let waiting = std::mem::replace(&mut self.waiting, Dataset::empty(self.target.data().dimension())?);
        for frame in waiting.frames() {
            let context = waiting.given_context(frame).map(|context| &*waiting.contexts()[context.index()]);
            let name = |face| waiting.given_name(face).map(|label| &*waiting.names()[label.index()]);
            let faces: Vec<NewFace<'_>> = waiting
                .faces_in(frame)
                .iter()
                .map(|&face| NewFace { embedding: waiting.embedding(face), name: name(face) })
                .collect();
            self.target.push_frame(context, &faces)?;
        }
        match self.schedule.revisits {
            0 => self.ensemble.extend(&self.target),
            revisits => self.ensemble.absorb(revisits, &self.target),
        }
        if self.schedule.sweeps > 0 {
            self.ensemble.sweep(self.schedule.sweeps, &self.sweep, &self.target);
        }
        Ok(())
    }

    /// The chains.
    pub fn ensemble(&self) -> &Ensemble {
        &self.ensemble
    }

    /// The model, and what has been learnt from; frames that wait for the schedule are not in it yet.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// What all chains believe now.
    pub fn draws(&self) -> Vec<Draw> {
        self.ensemble.draws(&self.target)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::ids::ContextId;
    use crate::model::{ContextMode, FaceModel, Isotropic, LocalConcentration, Strength};
    use crate::predict::Posterior;

    fn model() -> Model {
        let prior = Isotropic { mean: vec![0.0; 2], kappa: 0.1, shape: 3.0, rate: 0.5 };
        Model::new(FaceModel::isotropic(prior))
    }

    const FACE: [NewFace<'static>; 1] = [NewFace { embedding: &[1.0, 2.0], name: None }];

    #[test]
    fn frames_that_wait_are_not_answered_from_yet() {
        let mut learner =
            Learner::new(model(), 2, 1, Schedule { frames: 3, sweeps: 1, revisits: 0 }).unwrap();
        learner.push_frame(None, &FACE).unwrap();
        assert_eq!(learner.draws()[0].identities.len(), 0);
        learner.finish().unwrap();
        assert_eq!(learner.draws()[0].identities.len(), 1);
    }

    #[test]
    fn a_context_has_its_own_concentration_from_its_first_frame_on() {
        let mut model = model();
        let each =
            [("home", 1.0), ("work", 0.5)].map(|(name, value)| (name.to_owned(), Strength::Fixed(value)));
        model.identity.local_concentration = LocalConcentration::Named(BTreeMap::from(each));
        let mut learner = Learner::new(model, 1, 1, Schedule::ONLINE).unwrap();
        assert!(learner.push_frame(None, &FACE).is_err(), "the first frame has no context");
        assert!(learner.push_frame(Some("gym"), &FACE).is_err(), "the table has no such context");
        assert_eq!(learner.target().data().n_frames(), 0);
        for context in ["home", "work"] {
            learner.push_frame(Some(context), &FACE).unwrap();
        }
        let weights = learner.ensemble().chains()[0].state().weights();
        assert_eq!(weights.local_concentration(ContextId(0)), 1.0);
        assert_eq!(weights.local_concentration(ContextId(1)), 0.5);
    }

    #[test]
    fn everybody_is_a_stranger_before_the_first_frame() {
        for mode in [ContextMode::Given, ContextMode::Unbounded, ContextMode::Latent { count: 2 }] {
            let mut model = model();
            model.context.mode = mode;
            let learner = Learner::new(model, 2, 1, Schedule::ONLINE).unwrap();
            let posterior = Posterior::new(learner.target(), &learner.draws());
            let answer = &posterior.predict(None, &[&[1.0, 2.0]], false)[0];
            assert!((answer.stranger - 1.0).abs() < 1e-12, "{mode:?} {answer:?}");
        }
    }
}

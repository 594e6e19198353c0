//! Frames as they come: when they are taken in, and what chains then do; the paper's schedules (§4.2) among
//! them.

use super::Belief;
use crate::data::{Dataset, NewFace};
use crate::target::TargetError;

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

impl Belief {
    /// A frame arrives; it is taken in when the schedule says so. A refused frame changes nothing.
    pub fn see(&mut self, context: Option<&str>, faces: &[NewFace<'_>]) -> Result<(), TargetError> {
        let is_first = self.target.data().contexts().is_empty() && self.waiting.contexts().is_empty();
        self.target.model().identity.check_context(context, is_first)?;
        self.waiting.push_frame(context, faces)?;
        if self.waiting.n_frames() >= self.schedule.frames { self.take_in() } else { Ok(()) }
    }

    /// Takes in what waits for the schedule, if anything does.
    pub fn take_in(&mut self) -> Result<(), TargetError> {
        if self.waiting.n_frames() == 0 {
            return Ok(());
        }
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
        self.draws.drop();
        self.sweep(self.schedule.sweeps);
        Ok(())
    }

    /// Sweeps every chain so often.
    pub fn sweep(&mut self, times: u64) {
        if times > 0 {
            self.ensemble.sweep(times, &self.sweep, &self.target);
            self.draws.drop();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::Chains;
    use super::*;
    use crate::ids::ContextId;
    use crate::model::{ContextMode, FaceModel, Isotropic, LocalConcentration, Model, Strength};

    fn model() -> Model {
        let prior = Isotropic { mean: vec![0.0; 2], kappa: 0.1, shape: 3.0, rate: 0.5 };
        Model::new(FaceModel::isotropic(prior))
    }

    const FACE: [NewFace<'static>; 1] = [NewFace { embedding: &[1.0, 2.0], name: None }];

    #[test]
    fn frames_that_wait_are_not_answered_from_yet() {
        let schedule = Schedule { frames: 3, sweeps: 1, revisits: 0 };
        let mut belief = Belief::new(model(), Chains { n: 2, seed: 1 }).unwrap().with_schedule(schedule);
        belief.see(None, &FACE).unwrap();
        assert_eq!(belief.draws()[0].identities.len(), 0);
        belief.take_in().unwrap();
        assert_eq!(belief.draws()[0].identities.len(), 1);
    }

    #[test]
    fn a_context_has_its_own_concentration_from_its_first_frame_on() {
        let mut model = model();
        let each =
            [("home", 1.0), ("work", 0.5)].map(|(name, value)| (name.to_owned(), Strength::Fixed(value)));
        model.identity.local_concentration = LocalConcentration::Named(BTreeMap::from(each));
        let mut belief =
            Belief::new(model, Chains { n: 1, seed: 1 }).unwrap().with_schedule(Schedule::ONLINE);
        assert!(belief.see(None, &FACE).is_err(), "the first frame has no context");
        assert!(belief.see(Some("gym"), &FACE).is_err(), "the table has no such context");
        assert_eq!(belief.target().data().n_frames(), 0);
        for context in ["home", "work"] {
            belief.see(Some(context), &FACE).unwrap();
        }
        let weights = belief.chains()[0].state().weights();
        assert_eq!(weights.local_concentration(ContextId(0)), 1.0);
        assert_eq!(weights.local_concentration(ContextId(1)), 0.5);
    }

    #[test]
    fn everybody_is_a_stranger_before_the_first_frame() {
        for mode in [ContextMode::Given, ContextMode::Unbounded, ContextMode::Latent { count: 2 }] {
            let mut model = model();
            model.context.mode = mode;
            let belief = Belief::new(model, Chains { n: 2, seed: 1 }).unwrap();
            let answer = &belief.posterior().predict(None, &[&[1.0, 2.0]], false)[0];
            assert!((answer.stranger - 1.0).abs() < 1e-12, "{mode:?} {answer:?}");
        }
    }
}

//! A person's days before a camera (§4.2): places with their people, who walk in and out of the picture.

use super::Source;
use crate::model::ModelError;
use crate::random::Rng;

/// How the wearer of a camera and the people around move.
///
/// Every regular belongs to one context, drawn uniformly. At each step of time the wearer goes to another
/// context with probability `switch`; each regular of the present context enters the picture with probability
/// `enter` or leaves it with probability `leave`, independently. Who arrives at a context finds its people as
/// they are at any other time: each in the picture with probability `enter / (enter + leave)`. Steps with
/// nobody make no frame.
///
/// ```
/// use kith::model::{FaceModel, Isotropic};
/// use kith::random::driver;
/// use kith::simulate::{Camera, Drawn};
///
/// let mut rng = driver(1);
/// let looks = Isotropic { mean: vec![0.0; 8], kappa: 0.1, shape: 20.0, rate: 19.0 };
/// let people = Drawn::new(FaceModel::isotropic(looks), 12, &mut rng);
/// let camera = Camera { switch: 0.05, ..Camera::default() };
/// let frames: Vec<_> = camera.start(people, rng)?.take(200).collect();
/// assert!(frames.iter().all(|frame| frame.people.len() == frame.embeddings.len()));
/// # Ok::<(), kith::model::ModelError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Camera {
    /// The contexts.
    pub contexts: Vec<String>,
    /// The probability per step that the wearer goes to another context, each as likely.
    pub switch: f64,
    /// The probability per step that an absent person of the context enters the picture.
    pub enter: f64,
    /// The probability per step that a person leaves it.
    pub leave: f64,
    /// How many people of the source belong to a context; `None` is all of them.
    pub regulars: Option<usize>,
    /// The probability per step that somebody passes by: one of the people who belong nowhere, each of them
    /// in a single frame, as long as there are any. The paper has none.
    pub passer_by: f64,
}

/// What the camera sees at one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// When: steps are counted from 0, and those with nobody in the picture too.
    pub step: u64,
    /// Where, as a place in [`Camera::contexts`].
    pub context: usize,
    /// Who: people of the source, each at most once.
    pub people: Vec<usize>,
    /// What they look like on this photo, in the same order.
    pub embeddings: Vec<Vec<f32>>,
}

/// Frames without end, as the wearer meets people.
#[derive(Clone, Debug)]
pub struct Encounters<S> {
    camera: Camera,
    source: S,
    rng: Rng,
    /// Per regular: the context they belong to, and whether they are in the picture (nobody elsewhere is).
    context_of: Vec<usize>,
    is_present: Vec<bool>,
    context: usize,
    step: u64,
    /// The next of those who belong nowhere.
    next_passer_by: usize,
}

impl Default for Camera {
    /// §4.2's three contexts, in which a person is in the picture a fifth of the time, for five steps on
    /// average.
    fn default() -> Self {
        Self {
            contexts: ["home", "work", "gym"].map(str::to_owned).to_vec(),
            switch: 0.02,
            enter: 0.05,
            leave: 0.2,
            regulars: None,
            passer_by: 0.0,
        }
    }
}

impl Camera {
    /// Assigns the people of the source to contexts and starts the wearer's clock in one of these.
    pub fn start<S: Source>(self, source: S, mut rng: Rng) -> Result<Encounters<S>, ModelError> {
        let n_regulars = self.regulars.unwrap_or(source.n_people());
        self.check(n_regulars, source.n_people())?;
        let context_of = (0..n_regulars).map(|_| rng.below(self.contexts.len())).collect();
        let context = rng.below(self.contexts.len());
        let mut encounters = Encounters {
            camera: self,
            source,
            rng,
            context_of,
            is_present: vec![false; n_regulars],
            context,
            step: 0,
            next_passer_by: n_regulars,
        };
        encounters.go(context);
        Ok(encounters)
    }

    fn check(&self, n_regulars: usize, n_people: usize) -> Result<(), ModelError> {
        let probability = |key: &str, value: f64, least: f64, wanted: &str| {
            let is_right = (least..=1.0).contains(&value);
            if is_right { Ok(()) } else { Err(ModelError::value(key, value, wanted)) }
        };
        if self.contexts.is_empty() {
            return Err(ModelError::value("camera.contexts", 0, "at least one"));
        }
        if n_regulars == 0 || n_regulars > n_people {
            let wanted = format!("1 to {n_people}, the people of the source");
            return Err(ModelError::value("camera.regulars", n_regulars, &wanted));
        }
        // Below these a wearer could wait for ever where nobody comes.
        let least = f64::MIN_POSITIVE;
        let least_switch = if self.contexts.len() == 1 { 0.0 } else { least };
        probability(
            "camera.switch",
            self.switch,
            least_switch,
            "above 0 where there are contexts, at most 1",
        )?;
        probability("camera.enter", self.enter, least, "a number above 0, at most 1")?;
        probability("camera.leave", self.leave, 0.0, "a number from 0 to 1")?;
        probability("camera.passer_by", self.passer_by, 0.0, "a number from 0 to 1")
    }
}

impl<S> Encounters<S> {
    /// The names of the contexts.
    pub fn contexts(&self) -> &[String] {
        &self.camera.contexts
    }

    /// The context of each regular.
    pub fn context_of(&self) -> &[usize] {
        &self.context_of
    }

    /// The step that comes next.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// The wearer goes to a context, and finds its people as they are at any other time.
    ///
    /// # Panics
    /// If there is no such context.
    pub fn go(&mut self, context: usize) {
        assert!(context < self.camera.contexts.len(), "there is no context {context}");
        self.context = context;
        let at_any_time = self.camera.enter / (self.camera.enter + self.camera.leave);
        for (is_present, &theirs) in self.is_present.iter_mut().zip(&self.context_of) {
            *is_present = theirs == context && self.rng.bernoulli(at_any_time);
        }
    }

    /// One step of time: the wearer moves on, or the people around do.
    fn advance(&mut self) {
        self.step += 1;
        let n_contexts = self.camera.contexts.len();
        if n_contexts > 1 && self.rng.bernoulli(self.camera.switch) {
            let onwards = 1 + self.rng.below(n_contexts - 1);
            self.go((self.context + onwards) % n_contexts);
            return;
        }
        for (is_present, &theirs) in self.is_present.iter_mut().zip(&self.context_of) {
            if theirs == self.context {
                let change = if *is_present { self.camera.leave } else { self.camera.enter };
                *is_present ^= self.rng.bernoulli(change);
            }
        }
    }
}

impl<S: Source> Encounters<S> {
    /// What the camera sees now; `None` when there is nobody.
    fn look(&mut self) -> Option<Frame> {
        let mut people: Vec<usize> = (0..self.is_present.len()).filter(|&p| self.is_present[p]).collect();
        let is_anybody_left = self.next_passer_by < self.source.n_people();
        if is_anybody_left && self.rng.bernoulli(self.camera.passer_by) {
            people.push(self.next_passer_by);
            self.next_passer_by += 1;
        }
        let embeddings = people.iter().map(|&person| self.source.photo(person, &mut self.rng)).collect();
        let frame = Frame { step: self.step, context: self.context, people, embeddings };
        (!frame.people.is_empty()).then_some(frame)
    }
}

impl<S: Source> Iterator for Encounters<S> {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        loop {
            let seen = self.look();
            self.advance();
            if seen.is_some() {
                return seen;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Embeddings;
    use crate::model::{FaceModel, Isotropic};
    use crate::random::driver;
    use crate::simulate::{Cycled, Drawn};

    /// People without looks: all that matters is who is where.
    fn crowd(n_people: usize) -> Drawn {
        let prior = Isotropic { mean: vec![0.0], kappa: 1.0, shape: 2.0, rate: 1.0 };
        Drawn::new(FaceModel::isotropic(prior), n_people, &mut driver(0))
    }

    fn one_context() -> Camera {
        Camera { contexts: vec!["home".to_owned()], ..Camera::default() }
    }

    #[test]
    fn a_person_is_in_the_picture_a_fifth_of_the_time() {
        let (n_people, n_frames) = (10, 20_000);
        // Quick switching: a step's presence is as likely on arrival as later on.
        let restless = Camera { switch: 0.5, ..Camera::default() };
        for (camera, n_contexts) in [(one_context(), 1.0), (restless, 3.0)] {
            let frames: Vec<Frame> =
                camera.start(crowd(n_people), driver(3)).unwrap().take(n_frames).collect();
            let n_steps = frames[n_frames - 1].step as f64 + 1.0;
            let n_seen: usize = frames.iter().map(|frame| frame.people.len()).sum();
            let share = n_seen as f64 / (n_people as f64 * n_steps / n_contexts);
            let p = 0.05 / (0.05 + 0.2);
            // Presence has autocorrelation 0.75 per step: (1 + 0.75) / (1 - 0.75) = 7 steps count as one.
            // Which context the wearer is in adds less than as much again.
            let error = (2.0 * 7.0 * p * (1.0 - p) * n_contexts / (n_people as f64 * n_steps)).sqrt();
            assert!((share - p).abs() < 4.0 * error, "{share}, wanted {p} +- {error}");
        }
    }

    #[test]
    fn the_wearer_stays_fifty_steps_and_meets_only_people_of_the_context() {
        let encounters = Camera::default().start(crowd(60), driver(5)).unwrap();
        let context_of = encounters.context_of().to_vec();
        let frames: Vec<Frame> = encounters.take(50_000).collect();
        let is_at_home = |frame: &Frame| frame.people.iter().all(|&p| context_of[p] == frame.context);
        assert!(frames.iter().all(is_at_home));
        // 20 people a context: a step in 80 shows nobody, so frames are steps, nearly.
        let n_moves = frames.windows(2).filter(|two| two[0].context != two[1].context).count() as f64;
        let n_steps = frames[frames.len() - 1].step as f64;
        let error = (0.02 / n_steps).sqrt();
        assert!((n_moves / n_steps - 0.02).abs() < 4.0 * error + 0.02 * 0.02, "{}", n_moves / n_steps);
        // 60 people over 3 contexts: 20 each, give or take sqrt(60 / 3 * 2 / 3).
        let n_of = |context| context_of.iter().filter(|&&theirs| theirs == context).count();
        assert!((0..3).all(|context| n_of(context).abs_diff(20) < 4 * 4), "{context_of:?}");
    }

    #[test]
    fn a_passer_by_is_seen_once() {
        let camera = Camera { regulars: Some(5), passer_by: 0.1, ..Camera::default() };
        let frames: Vec<Frame> = camera.start(crowd(30), driver(6)).unwrap().take(2000).collect();
        for passer_by in 5..30 {
            assert_eq!(frames.iter().filter(|frame| frame.people.contains(&passer_by)).count(), 1);
        }
    }

    #[test]
    fn a_seed_repeats_the_days_with_either_source() {
        let faces = Embeddings::new((0..40).map(|row| row as f32).collect(), 1).unwrap();
        let people: Vec<Vec<usize>> = (0..10).map(|person| (person * 4..person * 4 + 4).collect()).collect();
        let drawn =
            |seed| Camera::default().start(crowd(10), driver(seed)).unwrap().take(200).collect::<Vec<_>>();
        let cycled = |seed| {
            let source = Cycled::new(&faces, &people);
            Camera::default().start(source, driver(seed)).unwrap().take(200).collect::<Vec<_>>()
        };
        assert_eq!(drawn(1), drawn(1));
        assert_eq!(cycled(1), cycled(1));
        assert_ne!(drawn(1), drawn(2));
        for frame in cycled(1) {
            let shown: Vec<usize> = frame.embeddings.iter().map(|x| x[0] as usize / 4).collect();
            assert_eq!(shown, frame.people);
        }
    }

    #[test]
    fn a_camera_that_would_wait_for_ever_is_refused() {
        let refused = |camera: Camera, n_people| {
            camera.start(crowd(n_people), driver(1)).map(|_| ()).unwrap_err().to_string()
        };
        let usual = Camera::default;
        assert!(refused(usual(), 0).starts_with("camera.regulars: found 0"));
        assert!(refused(Camera { regulars: Some(4), ..usual() }, 3).contains("1 to 3"));
        assert!(refused(Camera { contexts: Vec::new(), ..usual() }, 3).starts_with("camera.contexts"));
        assert!(refused(Camera { switch: 0.0, ..usual() }, 3).starts_with("camera.switch"));
        assert!(refused(Camera { enter: 0.0, ..usual() }, 3).starts_with("camera.enter: found 0"));
        assert!(refused(Camera { leave: f64::NAN, ..usual() }, 3).starts_with("camera.leave: found NaN"));
        assert!(Camera { switch: 0.0, ..one_context() }.start(crowd(3), driver(1)).is_ok());
    }
}

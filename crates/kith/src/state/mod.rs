//! WHAT IS BELIEVED: one sample of every latent variable, with the statistics that follow from it.

mod check;
mod colours;
mod counts;
mod evidence;
mod faces;
mod joint;
mod names;
mod reshape;
mod score;
mod seating;
mod seats;
mod votes;
mod weights;

pub(crate) use colours::Colour;
pub use counts::PerContext;
pub use faces::Faces;
pub(crate) use names::shape;
pub use names::{Name, Names};
pub use seating::Seating;
pub use seats::Seat;
pub(crate) use seats::ln_seat;
pub use votes::Votes;
pub use weights::Weights;

use serde::{Deserialize, Serialize};

use crate::data::Dataset;
use crate::ids::{ContextId, FaceId, FrameId, IdentityId};
use crate::math::ln_add_exp;
use crate::model::face::Centred;
use crate::model::{ContextMode, LocalConcentration, Strength};
use crate::random::Rng;
use crate::target::Target;

/// The latent variables of one chain. It holds no data and no generator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub(crate) seating: Seating,
    pub(crate) weights: Weights,
    pub(crate) faces: Faces,
    pub(crate) names: Names,
}

impl State {
    /// Nobody has been seen yet.
    pub fn empty(target: &Target) -> Self {
        let model = target.model();
        Self {
            seating: Seating::default(),
            weights: Weights {
                ln_of: Vec::new(),
                ln_unseen: 0.0,
                global_concentration: model.identity.global_concentration.start(),
                local_concentration: Vec::new(),
                context_concentration: model.context.concentration.start(),
            },
            faces: Faces::new(&model.face),
            names: Names::new(model),
        }
    }

    /// `z`, `c*` and their counts.
    pub fn seating(&self) -> &Seating {
        &self.seating
    }

    /// `pi_0` and the concentrations.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// `theta*` and the statistics of faces.
    pub fn faces(&self) -> &Faces {
        &self.faces
    }

    /// `y*`, `H`, lambda and epsilon.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Lays out frames, contexts and names that have arrived since, and counts anew what was said of all
    /// faces. The faces of those frames are not seated yet.
    pub fn extend(&mut self, target: &Target, rng: &mut Rng) {
        self.lay_out(target, rng);
        self.count_votes(target.data());
    }

    /// Lays out frames, contexts and names that have arrived since, where nothing else has changed.
    pub(crate) fn lay_out(&mut self, target: &Target, rng: &mut Rng) {
        let (model, data) = target.parts();
        self.names.extend(data, &model.name, rng);
        let n_contexts = match model.context.mode {
            ContextMode::None => 1,
            ContextMode::Given => data.contexts().len().max(1),
            ContextMode::Latent { count } => count,
            ContextMode::Unbounded => self.seating.n_contexts().max(1),
        };
        while self.seating.n_contexts() < n_contexts {
            self.add_context(target);
        }
        if let LocalConcentration::Named(each) = &model.identity.local_concentration {
            // The first context was laid out before it had a name, when nothing had been seen.
            for (alpha_c, name) in self.weights.local_concentration.iter_mut().zip(data.contexts()) {
                if let Some(Strength::Fixed(value)) = each.get(name) {
                    *alpha_c = *value;
                }
            }
        }
        for frame in data.frames().skip(self.seating.size().1) {
            let context = match (model.context.mode, data.given_context(frame)) {
                (ContextMode::Given, Some(context)) => context,
                (ContextMode::None, _) => ContextId(0),
                _ => self.draw_context(target, rng),
            };
            let last = data.faces_in(frame).iter().map(|face| face.index() + 1).max().unwrap_or(0);
            let n_faces = self.seating.size().0.max(last);
            self.seating.add_frame(context, n_faces);
        }
        self.faces.extend(self.seating.size().0, &model.face);
    }

    /// A context for the next frame, from the prior given the frames before it.
    fn draw_context(&mut self, target: &Target, rng: &mut Rng) -> ContextId {
        let gamma_0 = self.weights.context_concentration;
        let n_contexts = self.seating.n_contexts();
        let is_unbounded = target.model().context.mode == ContextMode::Unbounded;
        if n_contexts == 1 && !is_unbounded {
            // The draw takes a number, as it does from several.
            rng.uniform();
            return ContextId(0);
        }
        let share = if is_unbounded { 0.0 } else { gamma_0 / n_contexts as f64 };
        let mut weights: Vec<f64> = self
            .seating
            .contexts()
            .map(|context| (share + f64::from(self.seating.n_frames_in(context))).ln())
            .collect();
        if is_unbounded {
            weights.push(gamma_0.ln());
        }
        let drawn = ContextId::new(rng.categorical_ln(&mut weights));
        if drawn.index() == n_contexts { self.open_context(target) } else { drawn }
    }

    /// A context without frames, for the unbounded mode.
    pub(crate) fn open_context(&mut self, target: &Target) -> ContextId {
        let mut contexts = self.seating.contexts();
        match contexts.find(|&context| self.seating.n_frames_in(context) == 0) {
            Some(empty) => empty,
            None => self.add_context(target),
        }
    }

    /// At least so many contexts, for frames to be put back.
    pub(crate) fn lay_out_contexts(&mut self, count: usize, target: &Target) {
        while self.seating.n_contexts() < count {
            self.add_context(target);
        }
    }

    fn add_context(&mut self, target: &Target) -> ContextId {
        let context = self.seating.add_context();
        let local = &target.model().identity.local_concentration;
        let alpha_c = match (local, self.weights.local_concentration.first()) {
            (LocalConcentration::Shared(_), Some(&shared)) => shared,
            _ => local.of(target.data().contexts().get(context.index()).map(String::as_str)).start(),
        };
        self.weights.local_concentration.push(alpha_c);
        context
    }

    /// Counts all votes anew, because names may have been given to faces seen long ago.
    fn count_votes(&mut self, data: &Dataset) {
        self.names.heard.iter_mut().for_each(Votes::clear);
        for face in data.faces() {
            if let Some(identity) = self.seating.identity_of(face) {
                self.names.hear(identity, face, data);
            }
        }
    }

    /// A face as its identity's statistics see it; `x` is overwritten.
    pub fn look(&self, face: FaceId, target: &Target, x: &mut Centred) {
        target.look(face, x);
        x.set_scale(self.faces.scale(face));
    }

    /// Rebuilds the statistics of faces and votes from the data, for data that have been replaced.
    pub(crate) fn refresh(&mut self, target: &Target) {
        self.faces.clear_groups(&target.model().face);
        let mut x = Centred::default();
        for face in target.data().faces() {
            let identity = self.seating.identity_of(face).expect("every face is seated");
            self.look(face, target, &mut x);
            self.faces.observe(identity, &x, &target.model().face);
        }
        self.count_votes(target.data());
    }

    /// Takes a face off its seat; from here every count is the paper's "minus n". An identity that empties
    /// leaves and gives its weight back (deviation D2).
    pub fn remove(&mut self, face: FaceId, x: &Centred, target: &Target) -> IdentityId {
        let identity = self.lift(face, target.data());
        self.faces.forget(identity, x, &target.model().face);
        if self.seating.n_of(identity) == 0 {
            self.weights.give_back(identity);
            self.names.close(identity);
            self.seating.close(identity);
        }
        identity
    }

    /// As [`State::remove`], but the identity has other faces and its statistics keep this one.
    pub(crate) fn lift(&mut self, face: FaceId, data: &Dataset) -> IdentityId {
        let identity = self.seating.unseat(face, data);
        self.names.unhear(identity, face, data);
        identity
    }

    /// Seats a face at an identity, with x's scale.
    pub fn insert(&mut self, face: FaceId, x: &Centred, identity: IdentityId, target: &Target) {
        self.faces.observe(identity, x, &target.model().face);
        self.faces.set_scale(face, x.scale());
        self.set_down(face, identity, target.data());
    }

    /// As [`State::insert`], where the identity's statistics already have the face.
    pub(crate) fn set_down(&mut self, face: FaceId, identity: IdentityId, data: &Dataset) {
        self.seating.seat(face, identity, data);
        self.names.hear(identity, face, data);
    }

    /// Gives an identity's statistics faces that were only set down there: all at once is cheaper than one by
    /// one.
    pub(crate) fn observe_all(&mut self, identity: IdentityId, faces: &[FaceId], target: &Target) {
        let look = |&face: &FaceId| {
            let mut x = Centred::default();
            self.look(face, target, &mut x);
            x
        };
        let looks: Vec<Centred> = faces.iter().map(look).collect();
        if looks.is_empty() {
            return;
        }
        self.faces.observe_all(identity, &looks, &target.model().face);
    }

    /// Opens an identity for a face: it takes a share b ~ Beta(1, alpha_0) of pi_0', a name drawn given the
    /// face's own (D6), and theta* drawn given the face. The face is not seated yet.
    pub fn open(&mut self, face: FaceId, x: &Centred, target: &Target, rng: &mut Rng) -> IdentityId {
        let drawn = rng.categorical_ln(&mut self.ln_names_of_new(face, target));
        let name = self.names.all().nth(drawn).expect("a name was drawn among all");
        let identity = self.seating.open();
        self.weights.split(identity, rng.ln_beta(1.0, self.weights.global_concentration));
        self.names.open(identity, name);
        self.faces.open(identity, x, &target.model().face, rng);
        identity
    }

    /// Seats a face at a given identity.
    pub(crate) fn seat_at(&mut self, face: FaceId, identity: IdentityId, target: &Target) {
        let mut x = Centred::default();
        self.look(face, target, &mut x);
        self.insert(face, &x, identity, target);
    }

    /// Seats a face alone, at a new identity.
    pub(crate) fn seat_apart(&mut self, face: FaceId, target: &Target, rng: &mut Rng) -> IdentityId {
        let mut x = Centred::default();
        self.look(face, target, &mut x);
        let identity = self.open(face, &x, target, rng);
        self.insert(face, &x, identity, target);
        identity
    }

    /// Moves a frame to another context.
    pub(crate) fn move_frame(&mut self, frame: FrameId, to: ContextId, data: &Dataset) {
        self.seating.move_frame(frame, to, data);
    }

    /// ln of pi_0's total, which is zero but for rounding.
    pub(crate) fn ln_total_weight(&self) -> f64 {
        let identities = self.seating.identities().iter();
        identities.fold(self.weights.ln_unseen, |sum, &i| ln_add_exp(sum, self.weights.ln_of(i)))
    }
}

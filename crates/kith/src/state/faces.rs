//! What identities look like: the statistics of their faces and, when kept, `theta*_i`.

use serde::{Deserialize, Serialize};

use crate::ids::{FaceId, IdentityId};
use crate::model::face::{Centred, Face, Group, Weight};
use crate::model::{FaceModel, FaceUpdate};
use crate::random::Rng;

/// Appearance per slot, and the scale of each face.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Faces {
    groups: Vec<Group>,
    /// theta*, when it is kept; for a free slot whatever was there last.
    thetas: Option<Vec<Face>>,
    /// The number of each face's scale.
    scales: Vec<u8>,
}

impl Faces {
    pub(super) fn new(model: &FaceModel) -> Self {
        let thetas = (model.update == FaceUpdate::Explicit).then(Vec::new);
        Self { groups: Vec::new(), thetas, scales: Vec::new() }
    }

    /// The same faces' scales, and no identity.
    pub(super) fn of_nobody(&self) -> Self {
        let thetas = self.thetas.is_some().then(Vec::new);
        Self { groups: Vec::new(), thetas, scales: self.scales.clone() }
    }

    /// Takes what an identity looks like; nothing is left in its slot.
    pub(super) fn take(&mut self, identity: IdentityId) -> (Group, Option<Face>) {
        let theta = self.thetas.as_ref().map(|thetas| thetas[identity.index()].clone());
        (self.groups[identity.index()].take(), theta)
    }

    /// A further slot, for somebody who looks like this.
    pub(super) fn push(&mut self, group: Group, theta: Option<Face>) {
        self.groups.push(group);
        self.thetas.iter_mut().for_each(|thetas| thetas.extend(theta.clone()));
    }

    /// Lays out faces that have arrived since, as ordinary ones.
    pub(super) fn extend(&mut self, n_faces: usize, model: &FaceModel) {
        self.scales.resize(n_faces, model.middle_scale());
    }

    /// The number of a face's scale.
    pub fn scale(&self, face: FaceId) -> u8 {
        self.scales[face.index()]
    }

    /// Gives a face of an identity's statistics another scale.
    pub(crate) fn rescale(
        &mut self,
        face: FaceId,
        at: IdentityId,
        x: &mut Centred,
        to: u8,
        model: &FaceModel,
    ) {
        model.rescale(&mut self.groups[at.index()], x, to);
        self.set_scale(face, to);
    }

    /// Gives a face that is not seated another scale.
    pub(crate) fn set_scale(&mut self, face: FaceId, scale: u8) {
        self.scales[face.index()] = scale;
    }

    /// The statistics of an identity's faces.
    pub fn group(&self, identity: IdentityId) -> &Group {
        &self.groups[identity.index()]
    }

    /// `theta*_i`, when it is kept.
    pub fn theta(&self, identity: IdentityId) -> Option<&Face> {
        self.thetas.as_ref().map(|thetas| &thetas[identity.index()])
    }

    /// ln of the weight that appearance gives a face at an identity: (C.3)'s F_X, or with theta* integrated
    /// out the predictive of its other faces.
    pub fn ln_weight(&self, identity: IdentityId, x: &Centred, model: &FaceModel) -> f64 {
        match &self.thetas {
            None => model.ln_predictive(&self.groups[identity.index()], x),
            Some(thetas) => model.ln_likelihood(&thetas[identity.index()], x),
        }
    }

    /// The same, or an upper bound of it that is below `floor`, which may take less.
    pub(crate) fn ln_weight_above(
        &self,
        identity: IdentityId,
        x: &Centred,
        model: &FaceModel,
        floor: f64,
    ) -> Weight {
        match &self.thetas {
            None => model.ln_predictive_above(&self.groups[identity.index()], x, floor),
            Some(_) => Weight::Exactly(self.ln_weight(identity, x, model)),
        }
    }

    /// Opens a slot for a new identity that a face `x` starts; theta* is drawn given that face.
    pub(super) fn open(&mut self, identity: IdentityId, x: &Centred, model: &FaceModel, rng: &mut Rng) {
        if self.groups.len() <= identity.index() {
            self.groups.push(model.group());
        }
        if let Some(thetas) = &mut self.thetas {
            let mut alone = model.group();
            model.observe(&mut alone, x);
            let theta = model.draw(&alone, rng);
            match thetas.get_mut(identity.index()) {
                Some(slot) => *slot = theta,
                None => thetas.push(theta),
            }
        }
    }

    /// Gives a slot the statistics of an identity's faces; theta*, when it is kept, is drawn given them.
    pub(super) fn put(&mut self, identity: IdentityId, group: Group, model: &FaceModel, rng: &mut Rng) {
        if let Some(thetas) = &mut self.thetas {
            let theta = model.draw(&group, rng);
            match thetas.get_mut(identity.index()) {
                Some(slot) => *slot = theta,
                None => thetas.push(theta),
            }
        }
        match self.groups.get_mut(identity.index()) {
            Some(slot) => *slot = group,
            None => self.groups.push(group),
        }
    }

    /// Empties the slot of an identity that has left.
    pub(super) fn close(&mut self, identity: IdentityId, model: &FaceModel) {
        self.groups[identity.index()] = model.group();
    }

    pub(super) fn clear_groups(&mut self, model: &FaceModel) {
        self.groups.iter_mut().for_each(|group| *group = model.group());
    }

    /// Replaces `theta*_i`, when it is kept.
    pub(crate) fn set_theta(&mut self, identity: IdentityId, theta: &Face) {
        if let Some(thetas) = &mut self.thetas {
            thetas[identity.index()] = theta.clone();
        }
    }

    pub(super) fn observe(&mut self, identity: IdentityId, x: &Centred, model: &FaceModel) {
        model.observe(&mut self.groups[identity.index()], x);
    }

    pub(super) fn observe_all(&mut self, identity: IdentityId, xs: &[Centred], model: &FaceModel) {
        model.observe_all(&mut self.groups[identity.index()], xs);
    }

    pub(crate) fn forget(&mut self, identity: IdentityId, x: &Centred, model: &FaceModel) {
        model.forget(&mut self.groups[identity.index()], x);
    }

    /// Redraws `theta*_i` given the identity's faces (§C.5); nothing to do when it is integrated out.
    pub(crate) fn redraw(&mut self, identity: IdentityId, model: &FaceModel, rng: &mut Rng) {
        if let Some(thetas) = &mut self.thetas {
            thetas[identity.index()] = model.draw(&self.groups[identity.index()], rng);
        }
    }
}

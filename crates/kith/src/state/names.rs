//! Names `y*_i` of identities, how often each is borne (J_l), the names their faces were given, and H.

use serde::{Deserialize, Serialize};

use super::Votes;
use crate::data::{Dataset, Label};
use crate::ids::{FaceId, IdentityId, LabelId};
use crate::math::{ln_1m_exp, ln_add_exp, ln_sum_exp};
use crate::model::{Model, NameModel, NameUpdate};

/// The name of an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Name {
    /// One that somebody has given.
    Known(LabelId),
    /// Any other.
    Unknown,
}

/// Everything about names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Names {
    pub(super) of: Vec<Name>,
    /// What was said about the names of each slot's faces.
    pub(super) heard: Vec<Votes>,
    /// J_l, and at the end J_unknown.
    pub(super) n_named: Vec<u32>,
    /// ln L(l), and at the end ln (1 - L(Y)).
    pub(super) ln_base: Vec<f64>,
    /// ln H(l), and at the end ln H(unknown).
    pub(crate) ln_prior: Vec<f64>,
    /// lambda.
    pub(crate) concentration: f64,
    /// epsilon.
    pub(crate) error_rate: f64,
    /// The error rate of names that the owner said.
    word_error_rate: f64,
    /// Which of the two gives the weights of names.
    update: Update,
}

/// [`NameUpdate`], in a form that is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Update {
    Exact,
    Paper,
}

impl Names {
    pub(crate) fn new(model: &Model) -> Self {
        let word_error_rate = model.evidence.is;
        let model = &model.name;
        let update = match model.update {
            NameUpdate::Exact => Update::Exact,
            NameUpdate::Paper => Update::Paper,
        };
        Self {
            of: Vec::new(),
            heard: Vec::new(),
            n_named: vec![0],
            ln_base: vec![0.0],
            ln_prior: vec![0.0],
            concentration: model.concentration.start(),
            error_rate: model.error_rate.start(),
            word_error_rate,
            update,
        }
    }

    /// H and epsilon of a draw, the error rate of names that were said, and nobody's name.
    pub(crate) fn recalled(name_weights: &[f64], error_rate: f64, word_error_rate: f64) -> Self {
        let n_names = name_weights.len();
        Self {
            of: Vec::new(),
            heard: Vec::new(),
            n_named: vec![0; n_names],
            ln_base: vec![f64::NAN; n_names],
            // What is below the smallest number has no digits left to recall.
            ln_prior: name_weights.iter().map(|weight| weight.max(f64::MIN_POSITIVE).ln()).collect(),
            concentration: f64::NAN,
            error_rate,
            word_error_rate,
            update: Update::Exact,
        }
    }

    /// The same names, and nobody who bears them.
    pub(super) fn of_nobody(&self) -> Self {
        let n_named = vec![0; self.n_named.len()];
        Self {
            of: Vec::new(),
            heard: Vec::new(),
            n_named,
            ln_base: self.ln_base.clone(),
            ln_prior: self.ln_prior.clone(),
            ..*self
        }
    }

    /// Takes an identity's name and what was heard of it out of its slot.
    pub(super) fn take(&mut self, identity: IdentityId) -> (Name, Votes) {
        (self.of(identity), std::mem::take(&mut self.heard[identity.index()]))
    }

    /// A further slot, for an identity with this name.
    pub(crate) fn push(&mut self, name: Name, heard: Votes) {
        self.of.push(name);
        self.heard.push(heard);
        let slot = self.slot(name);
        self.n_named[slot] += 1;
    }

    /// `y*_i`.
    pub fn of(&self, identity: IdentityId) -> Name {
        self.of[identity.index()]
    }

    /// J_l or J_unknown.
    pub fn n_named(&self, name: Name) -> u32 {
        self.n_named[self.slot(name)]
    }

    /// The names that an identity's faces were given, with how often.
    pub fn votes(&self, identity: IdentityId) -> &[(Label, u32)] {
        self.heard[identity.index()].given()
    }

    /// All that was said about the names of an identity's faces.
    pub fn heard(&self, identity: IdentityId) -> &Votes {
        &self.heard[identity.index()]
    }

    /// |Y|.
    pub fn n_known(&self) -> usize {
        self.n_named.len() - 1
    }

    /// Y, then unknown.
    pub fn all(&self) -> impl ExactSizeIterator<Item = Name> + use<> {
        let n_known = self.n_known() as u32;
        (0..self.n_known() + 1).map(move |slot| match slot as u32 {
            label if label < n_known => Name::Known(LabelId(label)),
            _ => Name::Unknown,
        })
    }

    /// lambda.
    pub fn concentration(&self) -> f64 {
        self.concentration
    }

    /// epsilon.
    pub fn error_rate(&self) -> f64 {
        self.error_rate
    }

    /// ln of how often a given name is right, and wrong.
    pub(crate) fn ln_right_wrong(&self, given: Label) -> (f64, f64) {
        let e = if given.is_word { self.word_error_rate } else { self.error_rate };
        ((-e).ln_1p(), e.ln())
    }

    /// The place of a name in lists over Y and unknown.
    pub(crate) fn slot(&self, name: Name) -> usize {
        match name {
            Name::Known(label) => label.index(),
            Name::Unknown => self.n_known(),
        }
    }

    /// ln L(l) or ln (1 - L(Y)).
    pub(crate) fn ln_base(&self, name: Name) -> f64 {
        self.ln_base[self.slot(name)]
    }

    /// ln H(name); in the paper's marginal form H is replaced by its mean given y* (14), with J_unknown
    /// restored (D4).
    pub fn ln_weight(&self, name: Name) -> f64 {
        match self.update {
            Update::Exact => self.ln_prior[self.slot(name)],
            Update::Paper => {
                let n_identities: u32 = self.n_named.iter().sum();
                let prior = self.concentration.ln() + self.ln_base(name);
                let count = f64::from(self.n_named(name)).ln();
                ln_add_exp(prior, count) - (self.concentration + f64::from(n_identities)).ln()
            }
        }
    }

    /// ln (1 - H(name)): what all other names have together.
    pub(crate) fn ln_others(&self, name: Name) -> f64 {
        let ln_weight = self.ln_weight(name);
        if ln_weight < -0.5 {
            return ln_1m_exp(ln_weight);
        }
        // One minus almost one would lose the digits that matter.
        let others: Vec<f64> =
            self.all().filter(|&other| other != name).map(|other| self.ln_weight(other)).collect();
        ln_sum_exp(&others)
    }

    /// ln of the likelihood of a given name under an identity's name (B.1, deviation D7; in the paper's
    /// marginal form (16)).
    pub fn ln_likelihood(&self, given: Label, name: Name) -> f64 {
        let (ln_right, ln_wrong) = self.ln_right_wrong(given);
        let shown = Name::Known(given.name);
        match name {
            _ if name == shown => ln_right,
            Name::Known(_) => ln_wrong + self.ln_weight(shown) - self.ln_others(name),
            Name::Unknown => ln_wrong + self.ln_weight(shown),
        }
    }

    /// ln of the same likelihood over H(given), the factor that all names but the given one share. H of a
    /// long name that has just been given is exp(-1e24) or less: beside it no other term of a sum would be
    /// felt.
    pub fn ln_evidence(&self, given: Label, name: Name) -> f64 {
        let (ln_right, ln_wrong) = self.ln_right_wrong(given);
        match name {
            _ if name == Name::Known(given.name) => ln_right - self.ln_weight(name),
            Name::Known(_) => ln_wrong - self.ln_others(name),
            Name::Unknown => ln_wrong,
        }
    }

    /// For a face that opens a new identity: ln H(k) likelihood(given | k) / H(given) for every k in Y and
    /// unknown (deviation D6). Without a given name, ln H.
    pub fn ln_weights_of_new(&self, given: Option<Label>) -> Vec<f64> {
        let weight = |name| match given {
            Some(given) if name == Name::Known(given.name) => self.ln_right_wrong(given).0,
            Some(given) => self.ln_weight(name) + self.ln_evidence(given, name),
            None => self.ln_weight(name),
        };
        self.all().map(weight).collect()
    }

    pub(super) fn open(&mut self, identity: IdentityId, name: Name) {
        if self.of.len() <= identity.index() {
            self.of.resize(identity.index() + 1, Name::Unknown);
            self.heard.resize(identity.index() + 1, Votes::default());
        }
        self.of[identity.index()] = name;
        let slot = self.slot(name);
        self.n_named[slot] += 1;
    }

    pub(super) fn close(&mut self, identity: IdentityId) {
        debug_assert!(self.heard(identity).is_empty());
        let slot = self.slot(self.of(identity));
        self.n_named[slot] -= 1;
    }

    /// Renames an identity.
    pub(crate) fn set(&mut self, identity: IdentityId, name: Name) {
        let slot = self.slot(self.of(identity));
        self.n_named[slot] -= 1;
        self.of[identity.index()] = name;
        let slot = self.slot(name);
        self.n_named[slot] += 1;
    }

    /// A face with all that was said of it joins an identity.
    pub(super) fn hear(&mut self, identity: IdentityId, face: FaceId, data: &Dataset) {
        self.heard[identity.index()].add_face(face, data);
    }

    /// A face leaves an identity.
    pub(super) fn unhear(&mut self, identity: IdentityId, face: FaceId, data: &Dataset) {
        self.heard[identity.index()].take_face(face, data);
    }

    /// Learns of names given since: each takes its prior share of *unknown*'s weight. The base measure is
    /// that of all names, whose characters it follows.
    pub(crate) fn extend(&mut self, data: &Dataset, model: &NameModel, rng: &mut crate::random::Rng) {
        if self.n_known() == data.names().len() {
            return;
        }
        let base = model.base.of(data.names());
        for (ln_mass, name) in self.ln_base.iter_mut().zip(data.names()) {
            *ln_mass = base.ln_mass(name);
        }
        let ln_rests = base.ln_unknown_masses(data.names());
        for (known, name) in data.names().iter().enumerate().skip(self.n_known()) {
            let (ln_mass, ln_rest) = (base.ln_mass(name), ln_rests[known]);
            let ln_lambda = self.concentration.ln();
            let (taken, left) = rng.ln_beta(shape(ln_lambda + ln_mass), shape(ln_lambda + ln_rest));
            let ln_unknown = self.ln_prior[known];
            self.ln_prior[known] = ln_unknown + taken;
            self.ln_prior.push(ln_unknown + left);
            self.ln_base[known] = ln_mass;
            self.ln_base.push(ln_rest);
            self.n_named.insert(known, 0);
        }
    }
}

/// A Dirichlet parameter from its logarithm. Names of more than 200 characters would have none at all, and a
/// weight of which not even the logarithm is a number.
pub(crate) fn shape(ln_shape: f64) -> f64 {
    ln_shape.exp().max(1e-300)
}

//! What was said about the name of one identity's faces: names that were given, and names that were denied.

use serde::{Deserialize, Serialize};

use crate::data::{Dataset, Label};
use crate::ids::{FaceId, LabelId};

/// How often each name was given or denied, sorted by label.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Votes {
    given: Vec<(Label, u32)>,
    denied: Vec<(LabelId, u32)>,
}

impl Votes {
    /// L^(i)_l: the names that were given, and how often.
    pub fn given(&self) -> &[(Label, u32)] {
        &self.given
    }

    /// The names of which it was said that they are not this one's, and how often.
    pub fn denied(&self) -> &[(LabelId, u32)] {
        &self.denied
    }

    /// How often a name was given, by data or by the owner.
    pub fn n_given(&self, name: LabelId) -> u32 {
        self.given.iter().filter(|vote| vote.0.name == name).map(|vote| vote.1).sum()
    }

    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.given.is_empty() && self.denied.is_empty()
    }

    /// Counts what was said of a face.
    pub(crate) fn add_face(&mut self, face: FaceId, data: &Dataset) {
        data.label(face).into_iter().for_each(|label| add(&mut self.given, label, 1));
        data.evidence().denials(face).iter().for_each(|&label| add(&mut self.denied, label, 1));
    }

    /// Takes away what was said of a face.
    pub(crate) fn take_face(&mut self, face: FaceId, data: &Dataset) {
        data.label(face).into_iter().for_each(|label| take(&mut self.given, label));
        data.evidence().denials(face).iter().for_each(|&label| take(&mut self.denied, label));
    }

    /// Counts what was said of another identity's faces too.
    pub(crate) fn add_all(&mut self, more: &Self) {
        more.given.iter().for_each(|&(label, n)| add(&mut self.given, label, n));
        more.denied.iter().for_each(|&(label, n)| add(&mut self.denied, label, n));
    }

    pub(super) fn clear(&mut self) {
        self.given.clear();
        self.denied.clear();
    }
}

fn add<L: Copy + Ord>(votes: &mut Vec<(L, u32)>, label: L, n: u32) {
    match votes.binary_search_by_key(&label, |vote| vote.0) {
        Ok(at) => votes[at].1 += n,
        Err(at) => votes.insert(at, (label, n)),
    }
}

fn take<L: Copy + Ord>(votes: &mut Vec<(L, u32)>, label: L) {
    let at = votes.binary_search_by_key(&label, |vote| vote.0).expect("the vote was counted");
    votes[at].1 -= 1;
    if votes[at].1 == 0 {
        votes.remove(at);
    }
}

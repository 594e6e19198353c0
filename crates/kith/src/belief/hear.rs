//! What people say: names, denials, comparisons. The faces concerned are looked at again with some of their
//! people.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::Belief;
use crate::data::Statement;
use crate::ids::FaceId;
use crate::target::{Target, TargetError};

/// About so many faces are looked at again when something was said.
pub const MOST_TOUCHED: usize = 60;

/// Something that somebody says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Said<'a> {
    /// A face has this name.
    Name(FaceId, &'a str),
    /// A face does not have this name.
    Not(FaceId, &'a str),
    /// Two faces are the same person.
    Same(FaceId, FaceId),
    /// Two faces are different people.
    Different(FaceId, FaceId),
}

impl Belief {
    /// Somebody says something; when this returns it counts. What comes before something that is refused
    /// counts too.
    pub fn hear(&mut self, said: &[Said<'_>]) -> Result<(), TargetError> {
        let mut about = BTreeSet::new();
        let mut note = |one| self.target.hear(one).map(|faces| about.extend(faces));
        let heard = said.iter().try_for_each(&mut note);
        // Names may be new; draws that no chain stands behind stay.
        self.draws.posterior.take();
        if let Some(chain) = self.chains().first().filter(|_| !about.is_empty()) {
            let seating = chain.state().seating();
            let group_of: Vec<_> = self.faces().map(|face| seating.identity_of(face)).collect();
            let touched = with_company(about, &BTreeSet::new(), &group_of, MOST_TOUCHED);
            self.settle(&touched);
        }
        heard
    }

    /// The chains take in what was said of the target, and look at some faces again.
    pub fn settle(&mut self, touched: &[FaceId]) {
        self.draws.drop();
        let (target, chains) = self.moving();
        chains.par_iter_mut().for_each(|chain| {
            chain.extend(target);
            chain.heed(touched, target);
            chain.settle(touched, target);
        });
    }

    /// The model and the faces, to which something may be added. It counts when the chains have taken it in
    /// ([`Belief::settle`], or [`crate::chain::Chain::absorb`] by [`Belief::moving`]).
    pub fn target_mut(&mut self) -> &mut Target {
        self.draws.drop();
        &mut self.target
    }
}

impl Target {
    /// Takes down what somebody says; returns the faces that it is about.
    pub fn hear(&mut self, said: &Said<'_>) -> Result<Vec<FaceId>, TargetError> {
        Ok(match *said {
            Said::Name(face, name) => {
                self.say_name(face, name);
                vec![face]
            }
            Said::Not(face, name) => {
                let label = self.know_name(name);
                self.correct(Statement::Not(face, label))?;
                vec![face]
            }
            Said::Same(a, b) => {
                self.correct(Statement::Same(a, b))?;
                vec![a, b]
            }
            Said::Different(a, b) => {
                self.correct(Statement::Different(a, b))?;
                vec![a, b]
            }
        })
    }
}

/// The faces to look at again, about `room` of them: those that something was said of, some others of their
/// people, and new ones.
pub fn with_company<P: Copy + Ord>(
    said: BTreeSet<FaceId>,
    new: &BTreeSet<FaceId>,
    person_of: &[Option<P>],
    room: usize,
) -> Vec<FaceId> {
    let mut of_person: BTreeMap<P, Vec<FaceId>> = BTreeMap::new();
    for (face, person) in person_of.iter().enumerate() {
        person.iter().for_each(|&person| of_person.entry(person).or_default().push(FaceId::new(face)));
    }
    let mut touched = said.clone();
    let each = (room / said.len().max(1)).max(4);
    for face in said {
        let company = person_of[face.index()].map_or(&[][..], |person| &of_person[&person]);
        let step = company.len().div_ceil(each).max(1);
        touched.extend(company.iter().step_by(step));
    }
    let left = room.saturating_sub(touched.len());
    touched.extend(new.iter().take(left));
    touched.into_iter().collect()
}

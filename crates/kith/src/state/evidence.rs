//! What statements about faces weigh (MODEL.md §7): each is right with probability 1 - e, e that of its kind.
//!
//! Only ratios matter to a kernel: a pair that was said to be the same weighs (1 - e) / e more together than
//! apart, a pair that was said to be different as much less, and so does a name that was denied.

use super::{Name, State};
use crate::data::Statement;
use crate::ids::FaceId;
use crate::math::{ln_sum_exp, shares};
use crate::model::ln_odds;
use crate::target::Target;

impl State {
    /// Adds to the ln weights of a face's seats (as in [`State::seats`]) what was said about it: the seats of
    /// faces it was compared with, the names of identities, a new identity's name integrated out.
    pub(crate) fn weigh_statements(&self, face: FaceId, target: &Target, out: &mut [f64]) {
        let data = target.data();
        for &(other, n_same, n_different) in data.evidence().links(face) {
            if let Some(identity) = self.seating.identity_of(other) {
                out[self.seating.place_of(identity)] += target.model().evidence.ln_bond(n_same, n_different);
            }
        }
        let (given, denials) = (data.label(face), data.evidence().denials(face));
        if given.is_none() && denials.is_empty() {
            return;
        }
        let ln_denial = target.model().evidence.ln_denial();
        let (new, known) = out.split_last_mut().expect("a new identity is always possible");
        for (weight, &identity) in known.iter_mut().zip(self.seating.identities()) {
            let name = self.names.of(identity);
            *weight += given.map_or(0.0, |given| self.names.ln_evidence(given, name));
            *weight -= ln_denial * denials.iter().filter(|&&label| Name::Known(label) == name).count() as f64;
        }
        *new += ln_sum_exp(&self.ln_names_of_new(face, target));
    }

    /// Adds to the ln weights of a face's seats that nobody is often twice in a frame (`repeat`, MODEL.md
    /// §7).
    pub(crate) fn weigh_frame(&self, face: FaceId, target: &Target, out: &mut [f64]) {
        if target.model().repeat == 1.0 {
            return;
        }
        let ln_repeat = target.model().repeat.ln();
        for other in
            target.data().faces_in(target.data().frame_of(face)).iter().filter(|&&other| other != face)
        {
            if let Some(identity) = self.seating.identity_of(*other) {
                out[self.seating.place_of(identity)] += ln_repeat;
            }
        }
    }

    /// Whether a face's seats weigh more or less by what was said of it, or by others in its frame.
    pub(crate) fn says_anything(&self, face: FaceId, target: &Target) -> bool {
        let data = target.data();
        let has_others = target.model().repeat < 1.0 && data.faces_in(data.frame_of(face)).len() > 1;
        let evidence = data.evidence();
        has_others
            || data.given_name(face).is_some()
            || !evidence.links(face).is_empty()
            || !evidence.denials(face).is_empty()
    }

    /// ln weights of the name of a new identity that a face opens (deviation D6), over Y and then unknown.
    pub(crate) fn ln_names_of_new(&self, face: FaceId, target: &Target) -> Vec<f64> {
        let mut ln_weights = self.names.ln_weights_of_new(target.data().label(face));
        for label in target.data().evidence().denials(face) {
            ln_weights[label.index()] -= target.model().evidence.ln_denial();
        }
        ln_weights
    }

    /// The probabilities of the name of a new identity that a face would open, over Y and then unknown.
    pub fn names_of_new(&self, face: FaceId, target: &Target) -> Vec<f64> {
        shares(&self.ln_names_of_new(face, target))
    }

    /// ln of the probability of all statements, from the statistics that a state keeps.
    pub(super) fn ln_p_statements(&self, target: &Target) -> f64 {
        let model = target.model();
        let statements = target.data().evidence().statements();
        if statements.is_empty() {
            return 0.0;
        }
        let right = |statement: &Statement| (-model.evidence.error_rate(*statement)).ln_1p();
        let together = |a: FaceId, b: FaceId| self.seating.identity_of(a) == self.seating.identity_of(b);
        let is_wrong = |statement: &&Statement| match **statement {
            Statement::Same(a, b) => !together(a, b),
            Statement::Different(a, b) => together(a, b),
            Statement::Not(..) => false,
        };
        let wrong_links = statements.iter().filter(is_wrong);
        let wrong_names = self.seating.identities().iter().flat_map(|&identity| {
            let denied = self.names.heard(identity).denied().iter();
            denied.filter(move |vote| Name::Known(vote.0) == self.names.of(identity)).map(|vote| vote.1)
        });
        // As if all were right, and then what the wrong ones are less probable.
        statements.iter().map(right).sum::<f64>()
            - wrong_links.map(|&statement| ln_odds(model.evidence.error_rate(statement))).sum::<f64>()
            - f64::from(wrong_names.sum::<u32>()) * model.evidence.ln_denial()
    }

    /// Whether a statement agrees with the state; the others are taken for mistakes.
    pub fn agrees(&self, statement: Statement) -> bool {
        let identity = |face| self.seating.identity_of(face);
        match statement {
            Statement::Same(a, b) => identity(a) == identity(b),
            Statement::Different(a, b) => identity(a) != identity(b),
            Statement::Not(face, label) => {
                identity(face).is_none_or(|identity| self.names.of(identity) != Name::Known(label))
            }
        }
    }
}

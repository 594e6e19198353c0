//! The invariants of a state by name: every statistic is recomputed from `z`, `c*` and `y*` and compared.

use super::{Name, State};
use crate::data::{Dataset, Label};
use crate::ids::{ContextId, IdentityId};
use crate::model::face::Centred;
use crate::model::{ContextMode, FaceUpdate, Model};
use crate::target::Target;

/// Sums are kept up by adding and taking away; this much of their size may have been lost on the way.
const DRIFT: f64 = 1e-8;

impl State {
    /// Recomputes every statistic; the error names the first that does not agree.
    pub fn check(&self, target: &Target) -> Result<(), String> {
        self.check_seating(target)?;
        self.check_weights(target.model())?;
        self.check_faces(target)?;
        self.check_names(target.data())
    }

    fn check_seating(&self, target: &Target) -> Result<(), String> {
        let data = target.data();
        let seating = &self.seating;
        let (n_slots, n_contexts) = (seating.n_slots(), seating.n_contexts());
        agree("laid out", seating.size(), (data.n_faces(), data.n_frames()))?;
        let mut n_at = vec![vec![0; n_slots]; n_contexts];
        let mut n_frames_in = vec![0; n_contexts];
        for frame in data.frames() {
            let context = seating.context_of(frame);
            n_frames_in[context.index()] += 1;
            if let (ContextMode::Given, Some(given)) =
                (target.model().context.mode, data.given_context(frame))
            {
                agree(&format!("context of {frame:?}"), context, given)?;
            }
            for &face in data.faces_in(frame) {
                let identity = seating.identity_of(face).ok_or(format!("{face:?} has no identity"))?;
                n_at[context.index()][identity.index()] += 1;
            }
        }
        for context in seating.contexts() {
            let row = &n_at[context.index()];
            agree(
                &format!("M_c of {context:?}"),
                seating.n_frames_in(context),
                n_frames_in[context.index()],
            )?;
            agree(&format!("N_c. of {context:?}"), seating.n_in(context), row.iter().sum())?;
            for (slot, &wanted) in row.iter().enumerate() {
                let identity = IdentityId::new(slot);
                let found = seating.n_at(context, identity);
                agree(&format!("N_ci of {context:?} {identity:?}"), found, wanted)?;
            }
        }
        let occupied: Vec<bool> = (0..n_slots).map(|slot| n_at.iter().any(|row| row[slot] > 0)).collect();
        agree("n_identities", seating.n_identities(), occupied.iter().filter(|&&o| o).count())?;
        for (place, &identity) in seating.identities().iter().enumerate() {
            agree(&format!("place of {identity:?}"), seating.place_of(identity), place)?;
            agree(&format!("{identity:?} is occupied"), occupied[identity.index()], true)?;
            let n: u32 = n_at.iter().map(|row| row[identity.index()]).sum();
            agree(&format!("n_of {identity:?}"), seating.n_of(identity), n)?;
        }
        Ok(())
    }

    fn check_weights(&self, model: &Model) -> Result<(), String> {
        let ln_total = self.ln_total_weight();
        if ln_total.abs() > DRIFT {
            return Err(format!("pi_0: found a total of exp({ln_total}), wanted 1"));
        }
        let local = &self.weights.local_concentration;
        agree("number of alpha_c", local.len(), self.seating.n_contexts())?;
        if model.identity.local_concentration.is_shared() && local.iter().any(|alpha| *alpha != local[0]) {
            return Err(format!("alpha_c: found {local:?}, wanted one value for all"));
        }
        let concentrations = [self.weights.global_concentration, self.weights.context_concentration];
        if local.iter().chain(&concentrations).any(|alpha| !(*alpha > 0.0 && alpha.is_finite())) {
            return Err(format!("concentrations: found {concentrations:?} and {local:?}, wanted positive"));
        }
        Ok(())
    }

    fn check_faces(&self, target: &Target) -> Result<(), String> {
        let model = target.model();
        let mut groups = vec![model.face.group(); self.seating.n_slots()];
        let mut x = Centred::default();
        for face in target.data().faces() {
            let identity = self.seating.identity_of(face).expect("checked before");
            self.look(face, target, &mut x);
            model.face.observe(&mut groups[identity.index()], &x);
        }
        for &identity in self.seating.identities() {
            let difference = self.faces.group(identity).difference(&groups[identity.index()]);
            if difference > DRIFT {
                return Err(format!("statistics of {identity:?}: off by {difference}, wanted {DRIFT}"));
            }
            let is_kept = self.faces.theta(identity).is_some();
            agree(&format!("theta* of {identity:?}"), is_kept, model.face.update == FaceUpdate::Explicit)?;
        }
        Ok(())
    }

    fn check_names(&self, data: &Dataset) -> Result<(), String> {
        agree("known names", self.names.n_known(), data.names().len())?;
        for name in self.names.all() {
            let bearers = self.seating.identities().iter().filter(|&&i| self.names.of(i) == name).count();
            agree(&format!("J of {name:?}"), self.names.n_named(name) as usize, bearers)?;
        }
        for &identity in self.seating.identities() {
            for name in self.names.all() {
                let Name::Known(label) = name else { continue };
                for given in [false, true].map(|is_word| Label { name: label, is_word }) {
                    let faces = data.faces().filter(|&face| {
                        self.seating.identity_of(face) == Some(identity) && data.label(face) == Some(given)
                    });
                    let votes = self.names.votes(identity).iter().find(|vote| vote.0 == given);
                    let counted = votes.map_or(0, |vote| vote.1 as usize);
                    agree(&format!("votes of {identity:?} for {given:?}"), counted, faces.count())?;
                }
                let faces = data.faces().filter(|&f| self.seating.identity_of(f) == Some(identity));
                let denied = faces.flat_map(|f| data.evidence().denials(f)).filter(|&&l| l == label).count();
                let denials = self.names.heard(identity).denied().iter().find(|vote| vote.0 == label);
                let counted = denials.map_or(0, |vote| vote.1 as usize);
                agree(&format!("denials of {identity:?} of {label:?}"), counted, denied)?;
            }
        }
        Ok(())
    }

    /// The context of a face's frame.
    pub(crate) fn context_of_face(&self, face: crate::ids::FaceId, data: &Dataset) -> ContextId {
        self.seating.context_of(data.frame_of(face))
    }
}

fn agree<T: PartialEq + std::fmt::Debug>(what: &str, found: T, wanted: T) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err(format!("{what}: found {found:?}, wanted {wanted:?}")) }
}

//! Who a face is, and why: what the face says, what the context says, what people said.

use std::collections::{BTreeMap, HashMap};

use kith::chain::Chain;
use kith::chain::diagnostics::highest_density_interval;
use kith::ids::{ContextId, FaceId, IdentityId};
use kith::model::ContextMode;
use kith::model::face::Centred;
use kith::predict::{Posterior, Prediction};

use crate::belief::Belief;
use crate::people::matched;
use crate::{Library, StoreError};

/// What is believed of a face. `acquainted + familiar + stranger = 1`.
#[derive(Clone, Debug, PartialEq)]
pub struct Who {
    /// Someone who has been named.
    pub acquainted: f64,
    /// Someone seen before who has not.
    pub familiar: f64,
    /// Someone never seen but here.
    pub stranger: f64,
    /// Known names with their probabilities and 95 % intervals over the draws, the most probable first.
    pub names: Vec<(String, f64, [f64; 2])>,
    /// A name that nobody has given.
    pub unknown_name: f64,
    /// What speaks for whom, the most probable first.
    pub why: Vec<Why>,
}

/// What speaks for one person, against a person never seen: logarithms of how many times more probable.
#[derive(Clone, Debug, PartialEq)]
pub struct Why {
    /// A person of the library; `None` is somebody never seen.
    pub person: Option<i64>,
    /// How probable it is that it is this one.
    pub p: f64,
    /// What the face says.
    pub face: f64,
    /// What the context says.
    pub context: f64,
    /// What people said.
    pub said: f64,
}

/// Sums over chains before they are averaged.
#[derive(Default)]
struct Factors {
    p: f64,
    weight: f64,
    sums: [f64; 3],
}

impl Belief {
    /// Who a face of the library is.
    pub fn who(&mut self, library: &Library, face: FaceId) -> Result<Who, StoreError> {
        let n_draws = self.draws.len() as f64;
        let is_named = self.target.data().given_name(face).is_some();
        let (mut acquainted, mut familiar, mut stranger) = (0.0, 0.0, 0.0);
        let mut of_name = vec![vec![0.0; self.draws.len()]; self.rows.names.len()];
        for (number, draw) in self.draws.iter().enumerate() {
            let identity = draw.identities[face.index()];
            let is_alone = draw.identities.iter().filter(|&&other| other == identity).count() == 1;
            let name = draw.names[identity as usize];
            if let Some(label) = name {
                of_name[label.index()][number] = 1.0;
            }
            // Alone and never named, it may yet have been given a name by chance: that is nobody we know.
            *(match name {
                Some(_) if !is_alone || is_named => &mut acquainted,
                _ if is_alone => &mut stranger,
                _ => &mut familiar,
            }) += 1.0 / n_draws;
        }
        let names = self.ranked(of_name);
        let unknown_name = 1.0 - names.iter().map(|name| name.1).sum::<f64>();
        let person_of = library.person_of_faces(&self.rows)?;
        let mut factors: BTreeMap<Option<i64>, Factors> = BTreeMap::new();
        let (target, chains) = self.apart(library)?;
        let share = 1.0 / chains.len() as f64;
        for chain in chains {
            let slots = people_of_slots(chain, &person_of, Some(face));
            let seats = chain.reseat(face, target);
            let new = *seats.last().expect("a new identity is always possible");
            for seat in seats {
                let person = seat.identity.and_then(|identity| slots.get(&identity).copied());
                let ratios = [
                    seat.ln_face - new.ln_face,
                    seat.ln_context - new.ln_context,
                    seat.ln_said - new.ln_said,
                ];
                add(factors.entry(person).or_default(), seat.p * share, ratios);
            }
        }
        let why = ranked(factors);
        Ok(Who { acquainted, familiar, stranger, names, unknown_name: unknown_name.max(0.0), why })
    }

    /// Who is on a new frame, faces together, as [`Posterior::predict`] says with draws weighed; and why.
    pub fn who_is_new(
        &mut self,
        library: &Library,
        posterior: &Posterior,
        context: Option<&str>,
        faces: &[&[f32]],
    ) -> Result<Vec<(Prediction, Vec<Why>)>, StoreError> {
        let predictions = posterior.predict(context, faces, true);
        let person_of = library.person_of_faces(&self.rows)?;
        let number = context.and_then(|name| self.target.data().contexts().iter().position(|c| c == name));
        let is_given = self.target.model().context.mode == ContextMode::Given;
        let (target, chains) = self.apart(library)?;
        let model = target.model();
        let share = 1.0 / chains.len() as f64;
        let mut answers = Vec::new();
        let slots: Vec<_> = chains.iter().map(|chain| people_of_slots(chain, &person_of, None)).collect();
        for (face, prediction) in faces.iter().zip(predictions) {
            let mut x = Centred::default();
            model.face.centre(face, &mut x);
            let ln_new_face = model.face.ln_predictive(&model.face.group(), &x);
            let mut factors: BTreeMap<Option<i64>, Factors> = BTreeMap::new();
            for (chain, slots) in chains.iter().zip(&slots) {
                let state = chain.state();
                // Without a known context, the one with most faces stands for all.
                let fullest = || state.seating().contexts().max_by_key(|&c| state.seating().n_in(c));
                let known = number.filter(|_| is_given).map(ContextId::new);
                let Some(context) = known.or_else(fullest) else { continue };
                let identities = state.seating().identities();
                let ratio = |&i: &IdentityId| {
                    let ln_face = state.faces().ln_weight(i, &x, &model.face) - ln_new_face;
                    (ln_face, state.ln_seat(context, i) - state.ln_new_seat(context))
                };
                let ratios: Vec<(f64, f64)> = identities.iter().map(ratio).collect();
                let best = ratios.iter().map(|r| r.0 + r.1).fold(0.0, f64::max);
                let total = ratios.iter().map(|r| (r.0 + r.1 - best).exp()).sum::<f64>() + (-best).exp();
                for (identity, (ln_face, ln_context)) in identities.iter().zip(ratios) {
                    let p = (ln_face + ln_context - best).exp() / total;
                    let person = slots.get(identity).copied();
                    add(factors.entry(person).or_default(), p * share, [ln_face, ln_context, 0.0]);
                }
                add(factors.entry(None).or_default(), (-best).exp() / total * share, [0.0; 3]);
            }
            answers.push((prediction, ranked(factors)));
        }
        Ok(answers)
    }

    /// The posterior of the draws, for questions about new faces.
    pub fn posterior(&self) -> Posterior {
        Posterior::new(&self.target, &self.draws)
    }

    fn ranked(&self, of_name: Vec<Vec<f64>>) -> Vec<(String, f64, [f64; 2])> {
        let mut names: Vec<(String, f64, [f64; 2])> = of_name
            .into_iter()
            .zip(self.target.data().names())
            .map(|(values, name)| {
                let p = values.iter().sum::<f64>() / values.len() as f64;
                (name.clone(), p, highest_density_interval(&values, 0.95))
            })
            .filter(|(_, p, _)| *p > 0.0)
            .collect();
        names.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        names
    }
}

/// A chain weighs as much in the factors of a person as it believes in that person.
fn add(factors: &mut Factors, p: f64, ratios: [f64; 3]) {
    let weight = p.max(1e-300);
    factors.p += p;
    factors.weight += weight;
    factors.sums.iter_mut().zip(ratios).for_each(|(sum, ratio)| *sum += weight * ratio);
}

fn ranked(factors: BTreeMap<Option<i64>, Factors>) -> Vec<Why> {
    let why = |(person, Factors { p, weight, sums }): (Option<i64>, Factors)| {
        let [face, context, said] = sums.map(|sum| sum / weight);
        Why { person, p, face, context, said }
    };
    let mut list: Vec<Why> = factors.into_iter().map(why).collect();
    list.sort_by(|a, b| b.p.total_cmp(&a.p));
    list
}

/// The person of each identity of a chain, by most faces in common, nobody twice; one face is left out.
pub(crate) fn people_of_slots(
    chain: &Chain,
    person_of: &[Option<i64>],
    but: Option<FaceId>,
) -> HashMap<IdentityId, i64> {
    let seating = chain.state().seating();
    let slots: Vec<u32> = (0..person_of.len())
        .map(|face| seating.identity_of(FaceId::new(face)).expect("every face is seated").0)
        .collect();
    let mut before = person_of.to_vec();
    but.into_iter().for_each(|face| before[face.index()] = None);
    let people = matched(&slots, &before);
    let known = people.into_iter().enumerate();
    known.filter_map(|(slot, person)| Some((IdentityId::new(slot), person?))).collect()
}

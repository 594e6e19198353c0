//! What each draw says of a new face by itself: the paper's intervals are over draws, not over answers.

use std::collections::HashMap;

use super::new_frame::NewFrame;
use super::posterior::{Pooled, Posterior};
use crate::ids::LabelId;
use crate::math::{ln_add_exp, ln_sum_exp};

/// One draw's answer about one new face.
#[derive(Clone, Debug, PartialEq)]
pub struct ByDraw {
    /// ln of the probability of an identity never seen; finite where the probability itself is 0 or 1 in
    /// `f64`.
    pub ln_stranger: f64,
    /// ln of the probability of any identity seen.
    pub ln_seen: f64,
    /// The most probable person (§4.1), by the number that [`Draw::partition`](crate::chain::Draw::partition)
    /// has; `None` is somebody never seen.
    pub identity: Option<u32>,
    /// The most probable name (17); `None` is one that nobody has given.
    pub name: Option<LabelId>,
}

impl Posterior {
    /// Asks every draw about a face alone in its frame.
    pub fn predict_each(&self, context: Option<&str>, face: &[f32]) -> Vec<ByDraw> {
        self.predict_each_with(context, face, None)
    }

    /// The same with other shares of strangers than expected, one per draw.
    pub(super) fn predict_each_with(
        &self,
        context: Option<&str>,
        face: &[f32],
        shares: Option<&[f64]>,
    ) -> Vec<ByDraw> {
        let frame = NewFrame::new(self, context, &[face]);
        let share = |number: usize| shares.map(|shares| shares[number]);
        let draws = self.draws.iter().enumerate();
        draws.map(|(number, draw)| self.by_draw(&frame, draw, share(number))).collect()
    }

    fn by_draw(&self, frame: &NewFrame<'_>, draw: &Pooled, share: Option<f64>) -> ByDraw {
        let mut ln_seats = vec![f64::NEG_INFINITY; draw.group.len() + 1];
        for candidate in frame.candidates(draw, share) {
            for (sum, ln_seat) in ln_seats.iter_mut().zip(frame.ln_seats(draw, &candidate)) {
                *sum = ln_add_exp(*sum, ln_seat + candidate.ln_prior);
            }
        }
        let ln_total = ln_sum_exp(&ln_seats);
        ln_seats.iter_mut().for_each(|ln| *ln -= ln_total);
        let (&ln_stranger, ln_known) =
            ln_seats.split_last().expect("there is always a seat for a new identity");

        let known = (0..).zip(ln_known.iter().map(|ln_p| ln_p.exp()));
        self.said_by(draw, known, [ln_stranger, ln_sum_exp(ln_known)])
    }

    /// What a draw says of a face that is each of its identities with these probabilities; and ln of those of
    /// a stranger, and of anybody seen.
    pub(super) fn said_by(
        &self,
        draw: &Pooled,
        known: impl Iterator<Item = (u32, f64)>,
        [ln_stranger, ln_seen]: [f64; 2],
    ) -> ByDraw {
        let stranger = ln_stranger.exp();
        let mut of_name = vec![0.0; self.n_names + 1];
        let mut add =
            |p: f64, names: &[f64]| of_name.iter_mut().zip(names).for_each(|(sum, share)| *sum += p * share);
        // Nothing was said of the names of somebody new, and of most of those seen: they have H.
        let mut unsaid = stranger;
        let (mut identity, mut most) = (None, stranger);
        let mut of_looks: HashMap<u32, f64> = HashMap::new();
        for (number, p) in known {
            match draw.name_shares(number, &self.model) {
                Some(names) => add(p, names),
                None => unsaid += p,
            }
            let person = draw.person[number as usize];
            let p = match draw.looks_of(number).len() {
                1 => p,
                _ => *of_looks.entry(person).and_modify(|sum| *sum += p).or_insert(p),
            };
            if p > most {
                (identity, most) = (Some(person), p);
            }
        }
        add(unsaid, &draw.globals.name_weights);
        let best = (0..self.n_names).max_by(|&a, &b| of_name[a].total_cmp(&of_name[b]));
        let name = best.filter(|&best| of_name[best] > of_name[self.n_names]).map(LabelId::new);
        ByDraw { ln_stranger, ln_seen, identity, name }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::{Belief, Chains, Schedule};
    use crate::data::NewFace;
    use crate::model::{FaceModel, Isotropic, Model};

    #[test]
    fn draws_one_by_one_average_to_the_answer_of_all() {
        let prior = Isotropic { mean: vec![0.0; 2], kappa: 0.1, shape: 3.0, rate: 2.0 };
        let mut belief = Belief::new(Model::new(FaceModel::isotropic(prior)), Chains { n: 6, seed: 3 })
            .unwrap()
            .with_schedule(Schedule::ONLINE);
        for k in 0..10 {
            let [ann, other] = [[3.0, 0.3 * k as f32], [-3.0, 0.3 * k as f32]];
            let faces = [
                NewFace { embedding: &ann, name: (k < 2).then_some("Ann") },
                NewFace { embedding: &other, name: (k == 3).then_some("Bob") },
            ];
            belief.see([Some("home"), Some("work")][k % 2], &faces).unwrap();
        }
        let draws = belief.draws();
        let posterior = Posterior::new(belief.target(), draws);
        for (context, face) in [(Some("home"), [2.5, 1.0]), (None, [0.3, 1.0]), (None, [40.0, -40.0])] {
            let answer = &posterior.predict(context, &[&face], false)[0];
            let each = posterior.predict_each(context, &face);
            let mean = |of: &dyn Fn(&ByDraw) -> f64| each.iter().map(of).sum::<f64>() / each.len() as f64;
            assert!((mean(&|by| by.ln_stranger.exp()) - answer.stranger).abs() < 1e-12);
            assert!((mean(&|by| by.ln_seen.exp()) - answer.acquainted - answer.familiar).abs() < 1e-12);
            for (by, draw) in each.iter().zip(draws) {
                let alone = Posterior::new(belief.target(), std::slice::from_ref(draw));
                let said = &alone.predict(context, &[&face], false)[0];
                let name =
                    said.names.first().filter(|name| name.p > said.unknown_name).map(|name| name.label);
                assert_eq!(by.name, name);
                let shown = (said.identity.p > said.stranger).then(|| said.identity.faces[0].index());
                assert_eq!(by.identity, shown.map(|face| draw.identities[face]));
            }
        }
        // Far from everybody: certain in f64, and still ranked.
        let far = &posterior.predict_each(None, &[1e4, 0.0])[0];
        let farther = &posterior.predict_each(None, &[1e5, 0.0])[0];
        assert!(far.ln_seen < -10.0 && farther.ln_seen < far.ln_seen);
    }
}

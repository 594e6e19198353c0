//! Answers: draws averaged (MODEL.md §6), with highest-density intervals over the draws.

use std::collections::BTreeMap;

use super::frame::{ContextLabel, MOST_FACES, Marginals, NewFrame};
use super::posterior::Posterior;
use crate::chain::diagnostics::weighted_highest_density_interval;
use crate::ids::{FaceId, LabelId};

/// How many example faces an answer names.
const EXAMPLES: usize = 5;

/// What is believed of one new face. `acquainted + familiar + stranger = 1`.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Someone seen before whose name is known.
    pub acquainted: f64,
    /// Someone seen before whose name is not known.
    pub familiar: f64,
    /// Someone never seen.
    pub stranger: f64,
    /// Every known name, the most probable first.
    pub names: Vec<NamePrediction>,
    /// The probability of a name that nobody has given.
    pub unknown_name: f64,
    /// The most probable person among those seen.
    pub identity: Identity,
    /// The context of the frame: label and probability, the most probable first.
    pub context: Vec<(String, f64)>,
}

/// The probability of a name (17).
#[derive(Clone, Debug, PartialEq)]
pub struct NamePrediction {
    /// Which name.
    pub label: LabelId,
    /// Its probability, averaged over draws.
    pub p: f64,
    /// 95 % highest-density interval over draws.
    pub hdi: [f64; 2],
}

/// A person among those seen, known by faces.
#[derive(Clone, Debug, PartialEq)]
pub struct Identity {
    /// The probability that the new face has the identity of the first example face.
    pub p: f64,
    /// The faces most likely to be the same person, the most likely first.
    pub faces: Vec<FaceId>,
}

impl Posterior {
    /// Predicts all faces of one new frame jointly (a crowd of more than 64 in pieces of 64). Without a `context` it is inferred from the faces. Draws
    /// count alike, or with `weighted` each by its probability of the frame, which is the exact posterior.
    pub fn predict(&self, context: Option<&str>, faces: &[&[f32]], weighted: bool) -> Vec<Prediction> {
        self.predict_with(context, faces, weighted, None)
    }

    /// The same with other shares of strangers than expected, one per draw.
    pub(super) fn predict_with(
        &self,
        context: Option<&str>,
        faces: &[&[f32]],
        weighted: bool,
        shares: Option<&[f64]>,
    ) -> Vec<Prediction> {
        let share = |number: usize| shares.map(|shares| shares[number]);
        let mut answers = Vec::new();
        for piece in faces.chunks(MOST_FACES) {
            let mut frame = NewFrame::new(self, context, piece);
            let draws = self.draws.iter().enumerate();
            let marginals: Vec<Marginals> =
                draws.map(|(number, draw)| frame.under(draw, share(number))).collect();
            let weights = draw_weights(&marginals, weighted);
            let context = self.context(&marginals, &weights, context);
            for face in 0..piece.len() {
                answers.push(self.answer(face, &marginals, &weights, context.clone()));
            }
        }
        answers
    }

    fn answer(
        &self,
        face: usize,
        marginals: &[Marginals],
        weights: &[f64],
        context: Vec<(String, f64)>,
    ) -> Prediction {
        let (mut acquainted, mut familiar, mut stranger) = (0.0, 0.0, 0.0);
        let mut unknown_name = 0.0;
        let mut of_name = vec![vec![0.0; marginals.len()]; self.n_names];
        let mut of_group: BTreeMap<u32, f64> = BTreeMap::new();
        for (number, ((marginal, &weight), draw)) in
            marginals.iter().zip(weights).zip(&self.draws).enumerate()
        {
            let new = marginal.new[face];
            stranger += weight * new;
            for (label, &h) in draw.name_weights[..self.n_names].iter().enumerate() {
                of_name[label][number] = h * new;
            }
            unknown_name += weight * new * draw.name_weights[self.n_names];
            for &(identity, p) in &marginal.identities[face] {
                *of_group.entry(draw.group[identity as usize]).or_default() += weight * p;
                match draw.name[identity as usize] {
                    Some(label) => {
                        acquainted += weight * p;
                        of_name[label.index()][number] += p;
                    }
                    None => {
                        familiar += weight * p;
                        unknown_name += weight * p;
                    }
                }
            }
        }
        let mut names: Vec<NamePrediction> = of_name
            .into_iter()
            .enumerate()
            .map(|(label, values)| NamePrediction {
                label: LabelId::new(label),
                p: values.iter().zip(weights).map(|(value, weight)| value * weight).sum(),
                hdi: weighted_highest_density_interval(&values, weights, 0.95),
            })
            .collect();
        names.sort_by(|a, b| b.p.total_cmp(&a.p).then(a.label.cmp(&b.label)));
        let identity = self.most_probable(&of_group);
        Prediction { acquainted, familiar, stranger, names, unknown_name, identity, context }
    }

    /// Over all training faces, the probability of sharing their identity.
    fn most_probable(&self, of_group: &BTreeMap<u32, f64>) -> Identity {
        let mut of_face: BTreeMap<FaceId, f64> = BTreeMap::new();
        // Groups of a vanishing share could not become anybody's best example.
        let best = of_group.values().copied().fold(0.0, f64::max);
        for (&group, &p) in of_group.iter().filter(|(_, p)| **p > 1e-6 * best) {
            for &face in self.members(group as usize) {
                *of_face.entry(face).or_default() += p;
            }
        }
        let mut faces: Vec<(FaceId, f64)> = of_face.into_iter().collect();
        faces.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let p = faces.first().map_or(0.0, |first| first.1);
        Identity { p, faces: faces.into_iter().take(EXAMPLES).map(|(face, _)| face).collect() }
    }

    fn context(&self, marginals: &[Marginals], weights: &[f64], given: Option<&str>) -> Vec<(String, f64)> {
        let mut of_context: BTreeMap<ContextLabel, f64> = BTreeMap::new();
        for (marginal, weight) in marginals.iter().zip(weights) {
            for &(label, p) in &marginal.contexts {
                *of_context.entry(label).or_default() += weight * p;
            }
        }
        let name = |label| match label {
            ContextLabel::Unseen => given.unwrap_or_default().to_owned(),
            ContextLabel::Number(number) => {
                self.contexts.get(number as usize).cloned().unwrap_or_else(|| number.to_string())
            }
        };
        let mut contexts: Vec<(String, f64)> =
            of_context.into_iter().map(|(label, p)| (name(label), p)).collect();
        contexts.sort_by(|a, b| b.1.total_cmp(&a.1));
        contexts
    }
}

/// Equal weights, or each draw's probability of the frame.
fn draw_weights(marginals: &[Marginals], weighted: bool) -> Vec<f64> {
    let n = marginals.len();
    if !weighted {
        return vec![1.0 / n as f64; n];
    }
    let ln: Vec<f64> = marginals.iter().map(|marginal| marginal.ln_evidence).collect();
    let total = crate::math::ln_sum_exp(&ln);
    ln.iter().map(|ln| (ln - total).exp()).collect()
}

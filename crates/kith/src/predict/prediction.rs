//! Answers: draws averaged (MODEL.md §6), with highest-density intervals over the draws.

use std::collections::BTreeMap;

use super::alone::Alone;
use super::candidates::ContextLabel;
use super::frame::{MOST_FACES, Marginals, NewFrame};
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
        if let [_] = faces
            && let Some(alone) = Alone::of(&NewFrame::new(self, context, faces), shares)
        {
            return vec![self.answer_alone(&alone, context, weighted)];
        }
        let mut answers = Vec::new();
        for piece in faces.chunks(MOST_FACES) {
            let mut frame = NewFrame::new(self, context, piece);
            let marginals = frame.under_all(shares);
            answers.extend(self.answer_all(&marginals, piece.len(), context, weighted));
        }
        answers
    }

    /// The answers about all faces of a frame, of which each draw says this.
    pub(super) fn answer_all(
        &self,
        marginals: &[Marginals],
        n_faces: usize,
        context: Option<&str>,
        weighted: bool,
    ) -> Vec<Prediction> {
        let weights = draw_weights(marginals, weighted);
        let context = self.context(marginals, &weights, context);
        let answer = |face: usize| {
            let mut tally = Tally::new(self, &weights);
            for (draw, marginal) in marginals.iter().enumerate() {
                tally.add_new(draw, marginal.new[face]);
                for &(identity, p) in &marginal.identities[face] {
                    tally.add(draw, identity, self.draws[draw].group[identity as usize], p);
                }
            }
            tally.answer(context.clone())
        };
        (0..n_faces).map(answer).collect()
    }

    /// The answer about a face alone in its frame.
    fn answer_alone(&self, alone: &Alone, context: Option<&str>, weighted: bool) -> Prediction {
        let weights = draw_weights(&alone.marginals, weighted);
        let mut tally = Tally::new(self, &weights);
        for (draw, marginal) in alone.marginals.iter().enumerate() {
            tally.add_new(draw, marginal.new[0]);
        }
        if self.n_names == 0 {
            alone.for_each_group(self, &weights, |group, p| tally.add_unnamed(group, p));
        } else {
            alone.for_each_seat(self, |draw, identity, group, p| tally.add(draw, identity, group, p));
        }
        tally.answer(self.context(&alone.marginals, &weights, context))
    }

    /// Over all training faces, the probability of sharing their identity, from that of each group.
    fn most_probable(&self, of_group: Vec<(usize, f64)>) -> Identity {
        let mut of_face = Sums::new(self.n_faces());
        // Groups of a vanishing share could not become anybody's best example.
        let best = of_group.iter().map(|group| group.1).fold(0.0, f64::max);
        for &(group, p) in of_group.iter().filter(|group| group.1 > 1e-6 * best) {
            for &face in self.members(group) {
                of_face.add(face.index(), p);
            }
        }
        let mut faces = of_face.into_sorted();
        let better = |a: &(usize, f64), b: &(usize, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if faces.len() > EXAMPLES {
            faces.select_nth_unstable_by(EXAMPLES - 1, better);
            faces.truncate(EXAMPLES);
        }
        faces.sort_unstable_by(better);
        let p = faces.first().map_or(0.0, |first| first.1);
        Identity { p, faces: faces.into_iter().map(|(face, _)| FaceId::new(face)).collect() }
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

/// The answer about one face, as draws are counted.
struct Tally<'a> {
    posterior: &'a Posterior,
    weights: &'a [f64],
    acquainted: f64,
    familiar: f64,
    stranger: f64,
    unknown_name: f64,
    /// By name, then draw.
    of_name: Vec<Vec<f64>>,
    of_group: Sums,
}

impl<'a> Tally<'a> {
    fn new(posterior: &'a Posterior, weights: &'a [f64]) -> Self {
        Self {
            posterior,
            weights,
            acquainted: 0.0,
            familiar: 0.0,
            stranger: 0.0,
            unknown_name: 0.0,
            of_name: vec![vec![0.0; weights.len()]; posterior.n_names],
            of_group: Sums::new(posterior.groups.len()),
        }
    }

    /// A draw gives an identity never seen this probability.
    fn add_new(&mut self, draw: usize, p: f64) {
        let (known, unknown) = self.posterior.draws[draw].name_weights.split_at(self.posterior.n_names);
        self.stranger += self.weights[draw] * p;
        self.unknown_name += self.weights[draw] * p * unknown[0];
        self.of_name.iter_mut().zip(known).for_each(|(values, h)| values[draw] += h * p);
    }

    /// A draw gives one of its identities this probability.
    fn add(&mut self, draw: usize, identity: u32, group: u32, p: f64) {
        let weighted = self.weights[draw] * p;
        match self.posterior.draws[draw].name[identity as usize] {
            Some(label) => {
                self.of_group.add(group as usize, weighted);
                self.acquainted += weighted;
                self.of_name[label.index()][draw] += p;
            }
            None => self.add_unnamed(group, weighted),
        }
    }

    /// Identities without a known name, whose faces are this group, have this probability over all draws.
    fn add_unnamed(&mut self, group: u32, p: f64) {
        self.of_group.add(group as usize, p);
        self.familiar += p;
        self.unknown_name += p;
    }

    fn answer(self, context: Vec<(String, f64)>) -> Prediction {
        let Self { posterior, weights, acquainted, familiar, stranger, unknown_name, of_name, of_group } =
            self;
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
        let identity = posterior.most_probable(of_group.into_sorted());
        Prediction { acquainted, familiar, stranger, names, unknown_name, identity, context }
    }
}

/// Sums at a few of many places.
struct Sums {
    sums: Vec<f64>,
    touched: Vec<usize>,
}

impl Sums {
    fn new(n_places: usize) -> Self {
        Self { sums: vec![0.0; n_places], touched: Vec::new() }
    }

    /// Adds a positive number.
    fn add(&mut self, place: usize, more: f64) {
        if self.sums[place] == 0.0 {
            self.touched.push(place);
        }
        self.sums[place] += more;
    }

    /// The places with their sums, in order.
    fn into_sorted(mut self) -> Vec<(usize, f64)> {
        self.touched.sort_unstable();
        self.touched.dedup();
        self.touched.iter().map(|&place| (place, self.sums[place])).collect()
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

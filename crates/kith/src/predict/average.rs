//! Draws averaged: what each says of a new frame becomes answers about its faces.

use std::collections::BTreeMap;

use super::answer::{Answer, Identity, Tally, share};
use super::contexts::ContextLabel;
use super::new_frame::{MOST_FACES, Marginals, NewFrame};
use super::one_face::Alone;
use super::posterior::Posterior;
use crate::ids::FaceId;

/// How many example faces an answer names.
const EXAMPLES: usize = 5;

impl Posterior {
    /// Predicts all faces of one new frame jointly (a crowd of more than 64 in pieces of 64), by itself: with
    /// as many strangers as training makes expect, whatever [`Strangers`](crate::model::Strangers) says.
    /// Without a `context` it is inferred from the faces. Draws count alike, or with `weighted` each by its
    /// probability of the frame, which is the exact posterior.
    pub fn predict(&self, context: Option<&str>, faces: &[&[f32]], weighted: bool) -> Vec<Answer> {
        self.predict_with(context, faces, weighted, None)
    }

    /// The same with other shares of strangers than expected, one per draw.
    pub(super) fn predict_with(
        &self,
        context: Option<&str>,
        faces: &[&[f32]],
        weighted: bool,
        shares: Option<&[f64]>,
    ) -> Vec<Answer> {
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
    ) -> Vec<Answer> {
        let weights = draw_weights(marginals, weighted);
        let context = self.context(marginals, &weights, context);
        let answer = |face: usize| {
            let mut tally = Tally::new(&weights, self.n_names);
            let mut of_group = Sums::new(self.n_groups());
            for (draw, marginal) in marginals.iter().enumerate() {
                tally.add_new(draw, marginal.new[face], &self.draws[draw].globals.name_weights);
                let pooled = &self.draws[draw];
                for &(identity, p) in &marginal.identities[face] {
                    tally.add(draw, pooled.name_shares(identity, &self.model), p);
                    let p = weights[draw] * p;
                    pooled.groups_of(identity).for_each(|group| of_group.add(group, p));
                }
                tally.add_unsaid(draw, &pooled.globals.name_weights);
            }
            let identity = self.most_probable(of_group.into_sorted(), None);
            Answer { identity, context: context.clone(), ..tally.answer() }
        };
        (0..n_faces).map(answer).collect()
    }

    /// The answer about a face alone in its frame.
    fn answer_alone(&self, alone: &Alone, context: Option<&str>, weighted: bool) -> Answer {
        let weights = draw_weights(&alone.marginals, weighted);
        let mut tally = Tally::new(&weights, self.n_names);
        let mut of_group = Sums::new(self.n_groups());
        for (draw, marginal) in alone.marginals.iter().enumerate() {
            tally.add_new(draw, marginal.new[0], &self.draws[draw].globals.name_weights);
        }
        if self.n_names == 0 && !self.has_looks() {
            alone.for_each_group(self, &weights, |group, p| {
                of_group.add(group as usize, p);
                tally.add_unnamed(p);
            });
        } else {
            alone.for_each_seat(self, |draw, identity, p| {
                let groups = self.draws[draw].groups_of(identity);
                groups.for_each(|group| of_group.add(group, weights[draw] * p));
                tally.add(draw, self.draws[draw].name_shares(identity, &self.model), p);
            });
            for (draw, pooled) in self.draws.iter().enumerate() {
                tally.add_unsaid(draw, &pooled.globals.name_weights);
            }
        }
        let identity = self.most_probable(of_group.into_sorted(), None);
        let context = self.context(&alone.marginals, &weights, context);
        Answer { identity, context, ..tally.answer() }
    }

    /// Over all training faces but one, the probability of sharing their identity, from that of each group.
    pub(super) fn most_probable(&self, of_group: Vec<(usize, f64)>, but: Option<FaceId>) -> Identity {
        let mut of_face = Sums::new(self.n_faces());
        // Groups of a vanishing share could not become anybody's best example.
        let best = of_group.iter().map(|group| group.1).fold(0.0, f64::max);
        for &(group, p) in of_group.iter().filter(|group| group.1 > 1e-6 * best) {
            for &face in self.members(group).iter().filter(|&&face| Some(face) != but) {
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
        let p = faces.first().map_or(0.0, |first| share(first.1));
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
            of_context.into_iter().map(|(label, p)| (name(label), share(p))).collect();
        contexts.sort_by(|a, b| b.1.total_cmp(&a.1));
        contexts
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

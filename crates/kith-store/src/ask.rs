//! The question whose answer is expected to help most: how many more faces will have their right name, over the draws.
//!
//! A face that is shown with its most probable name is right with that name's probability, max_k p(k). That alone would
//! never ask twice about anybody: one answer against another settles nothing, only a third one does. So half of the worth
//! of a face is max_k p(k), and half is sum_k p(k)^2, the probability that two draws agree on its name, which sees the
//! second answer coming. A name that nobody has given yet is worth nothing. For every answer to a question the draws are
//! weighed by its probability under each (MODEL.md §5, §7), and the worths that are then left are averaged over the
//! answers. The difference, summed over the faces, is what a question gains. An answer that tells a new name is
//! right with probability 1 - epsilon: naming the largest group comes first, and asking a second time about a large
//! group that one wrong answer would misname comes before naming a group that is twenty times smaller.

use std::collections::BTreeMap;

use kith::chain::Draw;
use kith::data::Dataset;
use kith::ids::FaceId;

use crate::belief::Belief;
use crate::people::Clusters;

/// How many questions are weighed exactly.
const CANDIDATES: usize = 200;
/// Certainties that differ by less are alike.
const ALIKE: f64 = 0.02;
/// A face counts as settled when a name has this probability.
const SETTLED: f64 = 0.9;

/// Something to ask a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// What to ask.
    pub about: About,
    /// How many more faces the answer is expected to have named right, then or with the next.
    pub gain: f64,
    /// How many more faces are expected to be settled by the answer.
    pub settles: f64,
}

/// What a question is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum About {
    /// Who is this?
    Who(FaceId),
    /// Are these the same person? With how probable that is.
    Same(FaceId, FaceId, f64),
}

/// Draws with what of them matters here.
struct Table<'a> {
    draws: &'a [Draw],
    n_names: usize,
}

impl Belief {
    /// The `n` best questions, the best first; no two of them about the same face.
    pub fn ask(&self, n: usize) -> Vec<Question> {
        let clusters = Clusters::of(&self.draws, self.snapshot.names.len());
        let table = Table { draws: &self.draws, n_names: self.snapshot.names.len() };
        let answered = self.answered();
        let mut members: BTreeMap<u32, Vec<FaceId>> = BTreeMap::new();
        for (face, &cluster) in clusters.of_face.iter().enumerate() {
            members.entry(cluster).or_default().push(FaceId::new(face));
        }
        // The most typical of the certain faces stands for a cluster; a doubtful one is worth asking about for itself.
        let certainty = |face: &FaceId| clusters.certainty[face.index()];
        let mut faces: Vec<(f64, FaceId)> = Vec::new();
        let mut centres: Vec<(FaceId, &[FaceId])> = Vec::new();
        for of_cluster in members.values() {
            let unnamed = of_cluster.iter().filter(|face| self.snapshot.data.given_name(**face).is_none());
            let sure = unnamed.clone().map(certainty).fold(0.0, f64::max) - ALIKE;
            // Two people who are taken for one are named after the one with more photos.
            let mean = mean(&self.snapshot.data, of_cluster);
            let far = |face: &FaceId| square_distance(self.snapshot.data.embedding(*face), &mean);
            let best = unnamed
                .clone()
                .filter(|face| certainty(face) >= sure)
                .min_by(|a, b| far(a).total_cmp(&far(b)));
            let left: f64 = of_cluster.iter().map(|&face| table.missing(face)).sum();
            if let Some(&best) = best {
                faces.push((left, best));
                centres.push((best, of_cluster));
            }
            let doubtful = unnamed
                .filter(|face| certainty(face) < 0.8)
                .min_by(|a, b| certainty(a).total_cmp(&certainty(b)));
            if let Some(&doubtful) = doubtful.filter(|&&doubtful| Some(&doubtful) != best) {
                faces.push((left.min(table.missing(doubtful) + 1.0), doubtful));
            }
        }
        faces.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        faces.truncate(CANDIDATES);
        let mut questions: Vec<Question> =
            faces.iter().map(|&(_, face)| table.question(About::Who(face), &self.model)).collect();
        for (a, b, p) in uncertain_pairs(&self.draws, &centres) {
            if !answered.contains(&(a.min(b), a.max(b))) {
                questions.push(table.question(About::Same(a, b, p), &self.model));
            }
        }
        questions.retain(|question| question.gain > 1e-3);
        questions.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        let mut asked: Vec<FaceId> = Vec::new();
        questions.retain(|question| {
            let faces = match question.about {
                About::Who(face) => vec![face],
                About::Same(a, b, _) => vec![a, b],
            };
            let is_new = faces.iter().all(|face| !asked.contains(face));
            asked.extend(faces);
            is_new
        });
        questions.truncate(n);
        questions
    }

    /// Pairs that somebody has compared.
    fn answered(&self) -> std::collections::BTreeSet<(FaceId, FaceId)> {
        use kith::data::Statement::{Different, Same};
        let pairs =
            self.snapshot.data.evidence().statements().iter().filter_map(|statement| match *statement {
                Same(a, b) | Different(a, b) => Some((a.min(b), a.max(b))),
                _ => None,
            });
        pairs.collect()
    }
}

/// The mean of the faces of a cluster.
fn mean(data: &Dataset, cluster: &[FaceId]) -> Vec<f64> {
    let mut mean = vec![0.0; data.dimension()];
    for &face in cluster {
        mean.iter_mut().zip(data.embedding(face)).for_each(|(m, &x)| *m += f64::from(x));
    }
    mean.iter_mut().for_each(|m| *m /= cluster.len() as f64);
    mean
}

fn square_distance(x: &[f32], mean: &[f64]) -> f64 {
    x.iter().zip(mean).map(|(&x, m)| (f64::from(x) - m).powi(2)).sum()
}

/// Pairs of clusters' faces that some draws have together and others not, with how often.
fn uncertain_pairs(draws: &[Draw], centres: &[(FaceId, &[FaceId])]) -> Vec<(FaceId, FaceId, f64)> {
    let mut often: BTreeMap<(FaceId, FaceId), f64> = BTreeMap::new();
    for draw in draws {
        let mut at: BTreeMap<u32, Vec<FaceId>> = BTreeMap::new();
        for &(face, _) in centres {
            at.entry(draw.identities[face.index()]).or_default().push(face);
        }
        for faces in at.values().filter(|faces| faces.len() > 1) {
            for (k, &b) in faces.iter().enumerate() {
                faces[..k].iter().for_each(|&a| *often.entry((a, b)).or_default() += 1.0);
            }
        }
    }
    let mut pairs: Vec<(FaceId, FaceId, f64)> = often
        .into_iter()
        .map(|((a, b), n)| (a, b, n / draws.len() as f64))
        .filter(|pair| pair.2 < 0.98)
        .collect();
    pairs.sort_by(|a, b| (a.2 - 0.5).abs().total_cmp(&(b.2 - 0.5).abs()));
    pairs.truncate(CANDIDATES);
    pairs
}

impl Table<'_> {
    fn name(&self, draw: &Draw, face: FaceId) -> usize {
        let identity = draw.identities[face.index()] as usize;
        draw.names[identity].map_or(self.n_names, |label| label.index())
    }

    /// What a face is not worth yet.
    fn missing(&self, face: FaceId) -> f64 {
        1.0 - self.worth(face, None, None).0
    }

    /// The worth of a face over weighed draws (or all alike), and the probability of its best known name.
    fn worth(&self, face: FaceId, weights: Option<&[f64]>, told: Option<FaceId>) -> (f64, f64) {
        let even = 1.0 / self.draws.len() as f64;
        // Known names, and then one that has just been told.
        let mut p = vec![0.0; self.n_names + 1];
        for (number, draw) in self.draws.iter().enumerate() {
            let weight = weights.map_or(even, |weights| weights[number]);
            let is_told = |asked: FaceId| draw.identities[face.index()] == draw.identities[asked.index()];
            if told.is_some_and(is_told) {
                p[self.n_names] += weight * (1.0 - draw.error_rate);
            } else if let Some(label) = draw.names[draw.identities[face.index()] as usize] {
                p[label.index()] += weight;
            }
        }
        let best = p.iter().copied().fold(0.0, f64::max);
        let agreeing: f64 = p.iter().map(|p| p * p).sum();
        (0.5 * (best + agreeing), best)
    }

    fn question(&self, about: About, model: &kith::model::Model) -> Question {
        let faces = self.concerned(about);
        let before = self.left(&faces, None, None);
        let mut after = (0.0, 0.0);
        for (probability, weights, tells) in self.answers(about, model) {
            let told = match about {
                About::Who(asked) if tells => Some(asked),
                _ => None,
            };
            let left = self.left(&faces, Some(&weights), told);
            after.0 += probability * left.0;
            after.1 += probability * left.1;
        }
        Question { about, gain: after.0 - before.0, settles: (after.1 - before.1).max(0.0) }
    }

    /// Worth and settled faces in all.
    fn left(&self, faces: &[FaceId], weights: Option<&[f64]>, told: Option<FaceId>) -> (f64, f64) {
        let mut sums = (0.0, 0.0);
        for &face in faces {
            let (worth, best) = self.worth(face, weights, told);
            sums.0 += worth;
            sums.1 += f64::from(u8::from(best >= SETTLED));
        }
        sums
    }

    /// Faces that any draw has together with those that are asked about; of the others an answer says next to nothing.
    fn concerned(&self, about: About) -> Vec<FaceId> {
        let asked = match about {
            About::Who(face) => vec![face],
            About::Same(a, b, _) => vec![a, b],
        };
        let n_faces = self.draws.first().map_or(0, |draw| draw.identities.len());
        let mut is_concerned = vec![false; n_faces];
        for draw in self.draws {
            for face in &asked {
                let identity = draw.identities[face.index()];
                let others = draw.identities.iter().zip(&mut is_concerned);
                others.filter(|(other, _)| **other == identity).for_each(|(_, is)| *is = true);
            }
        }
        (0..n_faces).filter(|&face| is_concerned[face]).map(FaceId::new).collect()
    }

    /// Every answer: its probability, the draws as it weighs them, and whether it tells a name that was not known.
    fn answers(&self, about: About, model: &kith::model::Model) -> Vec<(f64, Vec<f64>, bool)> {
        let n = self.draws.len() as f64;
        let likelihoods: Vec<(Vec<f64>, bool)> = match about {
            About::Same(a, b, _) => {
                let yes = |draw: &Draw| {
                    let is_one = draw.identities[a.index()] == draw.identities[b.index()];
                    if is_one { 1.0 - model.evidence.different } else { model.evidence.same }
                };
                let yes: Vec<f64> = self.draws.iter().map(yes).collect();
                let no = yes.iter().map(|p| 1.0 - p).collect();
                vec![(yes, false), (no, false)]
            }
            About::Who(face) => {
                let mut names: Vec<usize> = self.draws.iter().map(|draw| self.name(draw, face)).collect();
                names.sort_unstable();
                names.dedup();
                let wrong = |draw: &Draw| draw.error_rate / names.len().max(2) as f64;
                let of_name = |&name: &usize| {
                    let p = |draw: &Draw| match self.name(draw, face) == name {
                        true => 1.0 - wrong(draw) * (names.len() - 1) as f64,
                        false => wrong(draw),
                    };
                    (self.draws.iter().map(p).collect(), name == self.n_names)
                };
                names.iter().map(of_name).collect()
            }
        };
        let weighed = |(likelihood, told): (Vec<f64>, bool)| {
            let total: f64 = likelihood.iter().sum();
            let weights = likelihood.iter().map(|p| p / total).collect();
            (total / n, weights, told)
        };
        likelihoods
            .into_iter()
            .filter(|(likelihood, _)| likelihood.iter().sum::<f64>() > 0.0)
            .map(weighed)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kith::ids::LabelId;

    /// Draws of ten faces: 0 to 5 one person, 6 to 8 another, 9 with the second in half of them.
    fn draws(first: Option<LabelId>) -> Vec<Draw> {
        let draw = |number: u64| Draw {
            chain: 0,
            sweep: number,
            identities: [&[0; 6][..], &[1; 3], &[if number.is_multiple_of(2) { 1 } else { 2 }]].concat(),
            scales: Vec::new(),
            contexts: vec![0; 10],
            names: vec![first, None, None],
            weights: vec![0.3; 3],
            unseen: 0.1,
            ln_joint: 0.0,
            global_concentration: 1.0,
            local_concentration: vec![1.0],
            context_concentration: 1.0,
            name_weights: vec![0.5, 0.5],
            name_concentration: 1.0,
            error_rate: 0.05,
        };
        (0..20).map(draw).collect()
    }

    fn model() -> kith::model::Model {
        let prior = kith::model::Isotropic { mean: vec![0.0; 2], kappa: 1.0, shape: 2.0, rate: 1.0 };
        kith::model::Model::new(kith::model::FaceModel::isotropic(prior))
    }

    #[test]
    fn naming_gains_the_faces_of_the_group_that_are_right_then() {
        let nameless = draws(None);
        let table = Table { draws: &nameless, n_names: 1 };
        let gain = |face| table.question(About::Who(FaceId(face)), &model()).gain;
        // Six faces, right with 0.95 and agreeing with 0.95^2.
        assert!((gain(0) - 6.0 * 0.5 * (0.95 + 0.95 * 0.95)).abs() < 1e-12, "{}", gain(0));
        // Three faces, and one that is theirs in half of the draws.
        let doubtful = 0.5 * (0.475 + 0.475 * 0.475);
        assert!((gain(6) - 3.0 * 0.5 * (0.95 + 0.95 * 0.95) - doubtful).abs() < 1e-12, "{}", gain(6));
        // Whether two nameless groups are one names nobody.
        let same = table.question(About::Same(FaceId(6), FaceId(9), 0.5), &model());
        assert!(same.gain.abs() < 1e-12, "{}", same.gain);
    }

    #[test]
    fn a_second_answer_about_a_large_group_comes_after_the_first_about_a_smaller_one() {
        let mut half_sure = draws(Some(LabelId(0)));
        // One draw in twenty does not believe the name.
        half_sure[0].names[0] = None;
        let table = Table { draws: &half_sure, n_names: 1 };
        let gain = |face| table.question(About::Who(FaceId(face)), &model()).gain;
        assert!(gain(0) > 0.0 && gain(0) < 0.6, "{}", gain(0));
        assert!(gain(6) > 2.0, "{}", gain(6));
    }
}

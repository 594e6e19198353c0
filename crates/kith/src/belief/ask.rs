//! The question whose answer is expected to help most: how many more faces will have their right name, over
//! the draws.
//!
//! A face that is shown with its most probable name is right with that name's probability, max_k p(k). That
//! alone would never ask twice about anybody: one answer against another settles nothing, only a third one
//! does. So half of the worth of a face is max_k p(k), and half is sum_k p(k)^2, the probability that two
//! draws agree on its name, which sees the second answer coming. A name that nobody has given yet is worth
//! nothing.
//!
//! Within a draw, how probable a name of an identity is follows from the names that its faces were given
//! (MODEL.md §5). That is worked out, not counted over draws: of thirty groups that were named once, each 95
//! % sure, a few would always have an unlucky draw or five too many, and be asked about again before anybody
//! nameless. For every answer to a question the draws are weighed by its probability under each (MODEL.md §5,
//! §7), the name of the identity that was asked about is believed as the answer has it, and the worths that
//! are then left are averaged over the answers. The difference, summed over the faces, is what a question
//! gains. An answer that tells a new name is right with probability 1 - epsilon: naming the largest group
//! comes first, and asking a second time about a large group that one wrong answer would misname comes before
//! naming a group that is twenty times smaller.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Belief;
use super::people::partitions;
use crate::chain::Draw;
use crate::data::{Dataset, Statement};
use crate::ids::FaceId;
use crate::model::{Model, ln_odds};

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

/// Names with their probabilities; what is left is a name that nobody gave there.
type Known = Vec<(usize, f64)>;

/// Draws with what of them matters here.
struct Table<'a> {
    /// Per draw, the person of each face.
    partitions: Vec<Cow<'a, [u32]>>,
    n_names: usize,
    /// Per draw, the names of each identity.
    known: Vec<Vec<Known>>,
}

/// An answer that may be given.
struct Answer {
    p: f64,
    /// How it weighs the draws.
    weights: Vec<f64>,
    /// The face that it names, and per draw the names of that face's identity then.
    named: Option<(FaceId, Vec<Known>)>,
}

impl Belief {
    /// The `n` best questions, the best first; no two of them about the same face.
    pub fn ask(&self, n: usize) -> Vec<Question> {
        let ((model, data), draws) = (self.target.parts(), self.draws());
        let clusters = self.people();
        let partitions = partitions(draws);
        let known = draws.iter().zip(&partitions).map(|(draw, people)| known(draw, people, data, model));
        let known = known.collect();
        let table = Table { n_names: data.names().len(), known, partitions };
        let answered = self.answered();
        let mut members: BTreeMap<u32, Vec<FaceId>> = BTreeMap::new();
        for (face, &cluster) in clusters.of_face.iter().enumerate() {
            members.entry(cluster).or_default().push(FaceId::new(face));
        }
        // The most typical of the certain faces stands for a cluster; a doubtful one is worth asking about
        // for itself.
        let certainty = |face: &FaceId| clusters.certainty[face.index()];
        let mut faces: Vec<(f64, FaceId)> = Vec::new();
        let mut centres: Vec<(FaceId, &[FaceId])> = Vec::new();
        for of_cluster in members.values() {
            let unnamed = of_cluster.iter().filter(|face| data.given_name(**face).is_none());
            let sure = unnamed.clone().map(certainty).fold(0.0, f64::max) - ALIKE;
            // Two people who are taken for one are named after the one with more photos.
            let mean = mean(data, of_cluster);
            let far = |face: &FaceId| square_distance(data.embedding(*face), &mean);
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
            faces.iter().map(|&(_, face)| table.question(About::Who(face), model)).collect();
        for (a, b, p) in uncertain_pairs(&table.partitions, &centres) {
            if !answered.contains(&(a.min(b), a.max(b))) {
                questions.push(table.question(About::Same(a, b, p), model));
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
        use Statement::{Different, Same};
        let pairs =
            self.target.data().evidence().statements().iter().filter_map(|statement| match *statement {
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
fn uncertain_pairs(draws: &[Cow<'_, [u32]>], centres: &[(FaceId, &[FaceId])]) -> Vec<(FaceId, FaceId, f64)> {
    let mut often: BTreeMap<(FaceId, FaceId), f64> = BTreeMap::new();
    for draw in draws {
        let mut at: BTreeMap<u32, Vec<FaceId>> = BTreeMap::new();
        for &(face, _) in centres {
            at.entry(draw[face.index()]).or_default().push(face);
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

/// How probable the names are that the faces of each identity were given or denied, as in
/// [`crate::gibbs::names::ln_weights`]; of all other names together, unknown ones among them, unknown has the
/// weight.
fn known(draw: &Draw, people: &[u32], data: &Dataset, model: &Model) -> Vec<Known> {
    // How often each name was given, and ln of the odds that all of these are right.
    let mut votes: Vec<BTreeMap<usize, (f64, f64)>> = vec![BTreeMap::new(); draw.n_identities()];
    for (face, &identity) in data.faces().zip(people) {
        let Some(given) = data.label(face) else { continue };
        let (n, odds) = votes[identity as usize].entry(given.name.index()).or_default();
        *n += 1.0;
        *odds += ln_odds(if given.is_word { model.evidence.is } else { draw.globals.error_rate });
    }
    let mut denials: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for statement in data.evidence().statements() {
        if let Statement::Not(face, label) = *statement {
            let identity = people[face.index()] as usize;
            *denials.entry((identity, label.index())).or_default() += 1.0;
        }
    }
    // A weight far below any that matters is kept from being zero.
    let ln_weight = |name: usize| draw.globals.name_weights[name].max(1e-300).ln();
    let unknown = draw.globals.name_weights.len() - 1;
    let of_identity = |(identity, votes): (usize, &BTreeMap<usize, (f64, f64)>)| {
        let n_votes: f64 = votes.values().map(|vote| vote.0).sum();
        let ln_weights = votes.iter().map(|(&label, &(own, ln_odds))| {
            let ln_others = (-draw.globals.name_weights[label]).ln_1p().max(-700.0);
            let denied = denials.get(&(identity, label)).copied().unwrap_or_default();
            (1.0 - own) * ln_weight(label) + ln_odds
                - (n_votes - own) * ln_others
                - denied * model.evidence.ln_denial()
        });
        let mut shares: Vec<f64> = ln_weights.chain([ln_weight(unknown)]).collect();
        let highest = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        shares.iter_mut().for_each(|share| *share = (*share - highest).exp());
        let total: f64 = shares.iter().sum();
        votes.keys().zip(shares).map(|(&label, share)| (label, share / total)).collect()
    };
    votes.iter().enumerate().map(of_identity).collect()
}

impl Table<'_> {
    /// What a face is not worth yet.
    fn missing(&self, face: FaceId) -> f64 {
        1.0 - self.worth(face, None).0
    }

    /// The worth of a face after an answer (or before any), and the probability of its best known name.
    fn worth(&self, face: FaceId, answer: Option<&Answer>) -> (f64, f64) {
        let even = 1.0 / self.partitions.len() as f64;
        // Known names, and then one that has just been told.
        let mut p = vec![0.0; self.n_names + 1];
        for (number, people) in self.partitions.iter().enumerate() {
            let identity = people[face.index()];
            let named = answer.and_then(|answer| answer.named.as_ref());
            let names = match named {
                Some((asked, names)) if people[asked.index()] == identity => &names[number],
                _ => &self.known[number][identity as usize],
            };
            let weight = answer.map_or(even, |answer| answer.weights[number]);
            names.iter().for_each(|&(label, share)| p[label] += weight * share);
        }
        let best = p.iter().copied().fold(0.0, f64::max);
        let agreeing: f64 = p.iter().map(|p| p * p).sum();
        (0.5 * (best + agreeing), best)
    }

    fn question(&self, about: About, model: &Model) -> Question {
        let faces = self.concerned(about);
        let before = self.left(&faces, None);
        let mut after = (0.0, 0.0);
        for answer in self.answers(about, model) {
            let left = self.left(&faces, Some(&answer));
            after.0 += answer.p * left.0;
            after.1 += answer.p * left.1;
        }
        Question { about, gain: after.0 - before.0, settles: (after.1 - before.1).max(0.0) }
    }

    /// Worth and settled faces in all.
    fn left(&self, faces: &[FaceId], answer: Option<&Answer>) -> (f64, f64) {
        let mut sums = (0.0, 0.0);
        for &face in faces {
            let (worth, best) = self.worth(face, answer);
            sums.0 += worth;
            sums.1 += f64::from(u8::from(best >= SETTLED));
        }
        sums
    }

    /// Faces that any draw has together with those that are asked about; of the others an answer says next to
    /// nothing.
    fn concerned(&self, about: About) -> Vec<FaceId> {
        let asked = match about {
            About::Who(face) => vec![face],
            About::Same(a, b, _) => vec![a, b],
        };
        let n_faces = self.partitions.first().map_or(0, |people| people.len());
        let mut is_concerned = vec![false; n_faces];
        for people in &self.partitions {
            for face in &asked {
                let identity = people[face.index()];
                let others = people.iter().zip(&mut is_concerned);
                others.filter(|(other, _)| **other == identity).for_each(|(_, is)| *is = true);
            }
        }
        (0..n_faces).filter(|&face| is_concerned[face]).map(FaceId::new).collect()
    }

    /// Every answer that may be given.
    fn answers(&self, about: About, model: &Model) -> Vec<Answer> {
        match about {
            About::Same(a, b, _) => {
                let yes = |people: &Cow<'_, [u32]>| {
                    let is_one = people[a.index()] == people[b.index()];
                    if is_one { 1.0 - model.evidence.different } else { model.evidence.same }
                };
                let yes: Vec<f64> = self.partitions.iter().map(yes).collect();
                let no = yes.iter().map(|p| 1.0 - p).collect();
                [yes, no].into_iter().filter_map(|likelihood| Answer::new(likelihood, None)).collect()
            }
            About::Who(face) => {
                let of_draw = |(people, known): (&Cow<'_, [u32]>, &Vec<Known>)| {
                    known[people[face.index()] as usize].clone()
                };
                let before: Vec<Known> = self.partitions.iter().zip(&self.known).map(of_draw).collect();
                // A name that was given there, or one that was not.
                let mut names: Vec<usize> = before.iter().flatten().map(|name| name.0).collect();
                names.push(self.n_names);
                names.sort_unstable();
                names.dedup();
                let p = [1.0 - model.evidence.is, model.evidence.is / names.len() as f64];
                names.iter().filter_map(|&name| self.named(face, name, p, &before)).collect()
            }
        }
    }

    /// The answer that a face has this name: right with 1 - e, otherwise any of n answers, each with e / n.
    fn named(&self, face: FaceId, name: usize, p: [f64; 2], before: &[Known]) -> Option<Answer> {
        let [right, wrong] = p;
        let (mut likelihood, mut after) = (Vec::new(), Vec::new());
        for known in before {
            let unknown = 1.0 - known.iter().map(|(_, share)| share).sum::<f64>();
            let mut names: Known =
                known.iter().map(|&(k, p)| (k, p * if k == name { right + wrong } else { wrong })).collect();
            let mut p = names.iter().map(|(_, share)| share).sum::<f64>() + unknown * wrong;
            if name == self.n_names {
                names.push((name, unknown * right));
                p += unknown * right;
            }
            names.iter_mut().for_each(|(_, share)| *share /= p);
            likelihood.push(p);
            after.push(names);
        }
        Answer::new(likelihood, Some((face, after)))
    }
}

impl Answer {
    /// From its probability under each draw; `None` when it cannot be given.
    fn new(likelihood: Vec<f64>, named: Option<(FaceId, Vec<Known>)>) -> Option<Self> {
        let total: f64 = likelihood.iter().sum();
        let p = total / likelihood.len() as f64;
        let weights = likelihood.into_iter().map(|p| p / total).collect();
        (total > 0.0).then_some(Self { p, weights, named })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws of ten faces: 0 to 5 one person, 6 to 8 another, 9 with the second in half of them.
    fn draws() -> Vec<Draw> {
        let draw = |number: u64| Draw {
            chain: 0,
            sweep: number,
            identities: [&[0; 6][..], &[1; 3], &[if number.is_multiple_of(2) { 1 } else { 2 }]].concat(),
            scales: Vec::new(),
            contexts: vec![0; 10],
            names: vec![None; 3],
            people: Vec::new(),
            globals: crate::chain::Globals {
                weights: vec![0.3; 3],
                unseen: 0.1,
                ln_joint: 0.0,
                global_concentration: 1.0,
                local_concentration: vec![1.0],
                context_concentration: 1.0,
                name_weights: vec![0.5, 0.5],
                name_concentration: 1.0,
                error_rate: 0.05,
            },
        };
        (0..20).map(draw).collect()
    }

    fn model() -> Model {
        let prior = crate::model::Isotropic { mean: vec![0.0; 2], kappa: 1.0, shape: 2.0, rate: 1.0 };
        let mut model = Model::new(crate::model::FaceModel::isotropic(prior));
        (model.evidence.is, model.evidence.not) = (0.05, 0.01);
        model
    }

    /// The first name, with this probability, for the first person.
    fn table(draws: &[Draw], p: f64) -> Table<'_> {
        let first = if p > 0.0 { vec![(0, p)] } else { Vec::new() };
        let known = vec![vec![first, Vec::new(), Vec::new()]; draws.len()];
        Table { n_names: 1, known, partitions: partitions(draws) }
    }

    #[test]
    fn naming_gains_the_faces_of_the_group_that_are_right_then() {
        let draws = draws();
        let table = table(&draws, 0.0);
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
        let draws = draws();
        let table = table(&draws, 0.95);
        let gain = |face| table.question(About::Who(FaceId(face)), &model()).gain;
        // Agreeing, with probability 0.9275, makes the name 0.9987 probable; another name 0.655 against
        // 0.328.
        let agreed: f64 = 0.95 * 0.975 / 0.9275;
        let (told, kept): (f64, f64) = (0.05 * 0.95 / 0.0725, 0.95 * 0.025 / 0.0725);
        let worth = |best: f64, squares: f64| 0.5 * (best + squares);
        let after = 0.9275 * worth(agreed, agreed * agreed) + 0.0725 * worth(told, told * told + kept * kept);
        let expected = 6.0 * (after - worth(0.95, 0.95 * 0.95));
        assert!((gain(0) - expected).abs() < 1e-12 && gain(0) > 0.2, "{} {expected}", gain(0));
        assert!(gain(6) > 2.0, "{}", gain(6));
    }

    #[test]
    fn a_name_is_as_probable_as_what_was_said_makes_it_whatever_was_drawn() {
        let draws = draws();
        let mut data = Dataset::empty(2).unwrap();
        let names = [Some("Ann"), Some("Ann"), Some("Ben"), None, None, None, Some("Ben"), None, None, None];
        for name in names {
            data.push_frame(None, &[crate::data::NewFace { embedding: &[0.0, 0.0], name }]).unwrap();
        }
        let mut draw = draws[1].clone();
        (draw.names, draw.globals.name_weights) = (vec![None; 3], vec![0.001, 0.002, 0.997]);
        let found = known(&draw, &draw.identities, &data, &model());
        // Once: (1 - epsilon) H against epsilon H times that of unknown.
        let once = 0.95 / (0.95 + 0.05 * 0.997);
        assert_eq!(found[1].len(), 1);
        assert!(found[1][0].0 == 1 && (found[1][0].1 - once).abs() < 1e-9, "{found:?}");
        assert_eq!(found[2], []);
        // Twice against once: the same name given twice by mistake is rare.
        let weights = [
            0.95 * 0.95 * 0.05 * 0.002 * 0.001 / 0.999,
            0.05 * 0.05 * 0.95 * 0.002 * (0.001_f64 / 0.998).powi(2),
        ];
        let unknown = 0.997 * 0.05_f64.powi(3) * 0.001 * 0.001 * 0.002;
        let total = weights[0] + weights[1] + unknown;
        for (place, weight) in weights.into_iter().enumerate() {
            assert_eq!(found[0][place].0, place);
            assert!((found[0][place].1 - weight / total).abs() < 1e-9, "{found:?}");
        }
        data.say(Statement::Not(FaceId(7), crate::ids::LabelId(1))).unwrap();
        let denied = known(&draw, &draw.identities, &data, &model())[1][0].1;
        let odds = once / (1.0 - once) * 0.01 / 0.99;
        assert!((denied - odds / (1.0 + odds)).abs() < 1e-9, "{denied}");
    }
}

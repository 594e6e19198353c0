//! Who is who according to draws: the representative partition with names, and how it keeps the people it had
//! before.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::Belief;
use crate::chain::Draw;
use crate::ids::{FaceId, LabelId};
use crate::predict::Overlap;
use crate::predict::representative::{certainty, representative};

/// A partition of the faces, how sure it is, and what its parts are called.
#[derive(Clone, Debug, PartialEq)]
pub struct Clusters {
    /// Cluster per face.
    pub of_face: Vec<u32>,
    /// How sure each face is of its cluster.
    pub certainty: Vec<f64>,
    /// Per cluster its most probable known name and its probability, where it is more probable than not.
    pub names: Vec<Option<(LabelId, f64)>>,
}

impl Clusters {
    /// The representative partition of draws, with names.
    pub fn of(draws: &[Draw], n_names: usize) -> Self {
        let shown = representative(&partitions(draws));
        let names = names(&shown.labels, draws, n_names);
        Self { of_face: shown.labels, certainty: shown.certainty, names }
    }

    /// A partition as it is, how sure draws are of it, and its names.
    pub fn with(of_face: Vec<u32>, draws: &[Draw], n_names: usize) -> Self {
        let certainty = certainty(&partitions(draws), &of_face);
        let names = names(&of_face, draws, n_names);
        Self { of_face, certainty, names }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// The partitions of draws.
pub fn partitions(draws: &[Draw]) -> Vec<Cow<'_, [u32]>> {
    draws.iter().map(Draw::partition).collect()
}

/// The most probable known name of some faces, each counting as the draws call it, and how probable it is,
/// where it is more probable than not.
pub fn name_of(faces: &[FaceId], draws: &[Draw]) -> Option<(LabelId, f64)> {
    let mut weights: BTreeMap<LabelId, f64> = BTreeMap::new();
    let share = 1.0 / (draws.len() * faces.len()) as f64;
    for draw in draws {
        let called = draw.names_of_people();
        for face in faces {
            let label = called[draw.identities[face.index()] as usize];
            label.into_iter().for_each(|label| *weights.entry(label).or_default() += share);
        }
    }
    let best = weights.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    best.filter(|&(_, p)| p > 0.5).map(|(label, p)| (label, p.min(1.0)))
}

/// The most probable known name of each cluster, each face counting as the draws call it.
fn names(of_face: &[u32], draws: &[Draw], n_names: usize) -> Vec<Option<(LabelId, f64)>> {
    let n_clusters = of_face.iter().max().map_or(0, |&last| last as usize + 1);
    let mut sizes = vec![0.0; n_clusters];
    of_face.iter().for_each(|&cluster| sizes[cluster as usize] += 1.0);
    let mut names = vec![vec![0.0; n_names]; n_clusters];
    let share = 1.0 / draws.len() as f64;
    for draw in draws {
        let called = draw.names_of_people();
        for (&cluster, &identity) in of_face.iter().zip(&draw.identities) {
            if let Some(label) = called[identity as usize] {
                names[cluster as usize][label.index()] += share / sizes[cluster as usize];
            }
        }
    }
    let best = |weights: &Vec<f64>| {
        let best = weights.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        best.filter(|&(_, p)| p > 0.5).map(|(label, p)| (LabelId::new(label), p.min(1.0)))
    };
    names.iter().map(best).collect()
}

impl Belief {
    /// The person of each identity of each draw, by most faces in common, nobody twice; `person_of` has whose
    /// each face is.
    pub fn people_of_draws<P>(&self, person_of: &[Option<P>]) -> Vec<Vec<Option<P>>>
    where
        P: Copy + Ord + Send + Sync,
    {
        let of_draw = |(draw, people): (&Draw, Vec<Option<P>>)| {
            let identities = 0..draw.n_identities() as u32;
            identities.map(|identity| people.get(draw.person(identity) as usize).copied().flatten()).collect()
        };
        match self.draws.posterior.get() {
            // Draws need not be gone through once more.
            Some(posterior) => {
                let pairs = posterior.overlaps(person_of).into_par_iter().zip(self.draws());
                let matched = pairs.map(|(pairs, draw)| (draw, matched_pairs(pairs, draw.n_identities())));
                matched.map(of_draw).collect()
            }
            None => {
                let draws = self.draws().par_iter();
                let people =
                    |draw: &Draw| matched_pairs(overlaps(&draw.partition(), person_of), draw.n_identities());
                draws.map(|draw| of_draw((draw, people(draw)))).collect()
            }
        }
    }
}

/// Matches clusters with people who were there before: of all pairs, the one with most faces in common first,
/// and of equal ones that of the earliest face: who was joined with somebody of as many photos, and is parted
/// from them again, is who they were. Clusters are numbered by their first faces. Returns the person of each
/// cluster; `None` is somebody new.
pub fn matched<P: Copy + Ord>(of_face: &[u32], before: &[Option<P>]) -> Vec<Option<P>> {
    let n_clusters = of_face.iter().max().map_or(0, |&last| last as usize + 1);
    let mut first: BTreeMap<P, usize> = BTreeMap::new();
    let faces = before.iter().enumerate().rev();
    first.extend(faces.filter_map(|(face, person)| Some(((*person)?, face))));
    let person_at = |&face: &usize| before[face].expect("it is somebody's first face");
    let pairs = overlaps(of_face, before).into_iter().map(|((cluster, of), n)| ((cluster, first[&of]), n));
    let people = matched_pairs(pairs.collect(), n_clusters);
    people.iter().map(|first| first.as_ref().map(person_at)).collect()
}

/// Whoever has faces in common with a cluster, and how many.
fn overlaps<P: Copy + Ord>(of_face: &[u32], before: &[Option<P>]) -> Vec<Overlap<P>> {
    let n_clusters = of_face.iter().max().map_or(0, |&last| last as usize + 1);
    // Faces by cluster, and the people of each counted.
    let mut begins = vec![0; n_clusters + 1];
    of_face.iter().for_each(|&cluster| begins[cluster as usize + 1] += 1);
    (0..n_clusters).for_each(|cluster| begins[cluster + 1] += begins[cluster]);
    let (mut next, mut people) = (begins.clone(), vec![None; of_face.len()]);
    for (&cluster, &person) in of_face.iter().zip(before) {
        people[next[cluster as usize]] = person;
        next[cluster as usize] += 1;
    }
    let mut pairs: Vec<((u32, P), usize)> = Vec::new();
    for cluster in 0..n_clusters {
        let people = &mut people[begins[cluster]..begins[cluster + 1]];
        // Most clusters are one person's.
        if !people.iter().all(|person| *person == people[0]) {
            people.sort_unstable();
        }
        let runs = people.chunk_by(|a, b| a == b);
        pairs.extend(runs.filter_map(|run| Some(((cluster as u32, run[0]?), run.len()))));
    }
    pairs
}

/// The same of pairs of a cluster and a person, each with how many faces they have in common.
fn matched_pairs<P: Copy + Ord>(mut pairs: Vec<Overlap<P>>, n_clusters: usize) -> Vec<Option<P>> {
    pairs.sort_unstable_by_key(|&((cluster, person), n)| (std::cmp::Reverse(n), person, cluster));
    let mut person_of = vec![None; n_clusters];
    let mut taken = BTreeSet::new();
    for ((cluster, person), _) in pairs {
        if person_of[cluster as usize].is_none() && taken.insert(person) {
            person_of[cluster as usize] = Some(person);
        }
    }
    person_of
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::{Chains, Until};
    use crate::cases;
    use crate::chain::{Start, Watch};

    #[test]
    fn people_keep_their_ids_by_most_faces_in_common() {
        // Person 7 is split: the larger part keeps the id. Person 3 is merged into 9, who has more faces
        // there.
        let before = [7, 7, 7, 7, 7, 3, 9, 9].map(Some);
        let of_face = [0, 0, 0, 1, 1, 2, 2, 2];
        assert_eq!(matched(&of_face, &before), [Some(7), None, Some(9)]);
        // Of two who have as many it is the one who was seen first, also when they part again.
        assert_eq!(matched(&[0, 0, 0, 0], &[5, 4, 5, 4].map(Some)), [Some(5)]);
        assert_eq!(matched(&[0, 1, 0, 1], &[5; 4].map(Some)), [Some(5), None]);
        assert_eq!(matched::<i64>(&of_face, &[None; 8]), [None, None, None]);
        assert_eq!(matched::<i64>(&[], &[]), []);
    }

    #[test]
    fn people_of_draws_are_those_of_their_partitions_whether_or_not_they_were_pooled() {
        for case in cases::weighed() {
            let chains = Chains { n: 3, seed: 5 };
            let mut belief = Belief::start(case.target.clone(), &[Start::Sequential], chains);
            belief.learn(&Until { sweeps: Some(4), ..Until::agreed() }, &Watch::nobody());
            let person_of: Vec<Option<u64>> =
                belief.faces().map(|face| Some(face.index() as u64 * 7 % 5).filter(|&of| of > 0)).collect();
            let plain = belief.people_of_draws(&person_of);
            belief.posterior();
            assert_eq!(belief.people_of_draws(&person_of), plain, "{}", case.name);
        }
    }
}

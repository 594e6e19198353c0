//! One partition to show for many draws: the least expected variation of information, and how sure each
//! face's place is.
//!
//! With `g(n) = n ln n`, sizes `n_k` of the clusters shown, `n_j` of a draw's clusters and `n_kj` of the
//! intersections, `N VI = sum_k g(n_k) + sum_j g(n_j) - 2 sum_kj g(n_kj)`. The search starts from draws and
//! improves them.

use std::collections::HashMap;

use rayon::prelude::*;

use super::descent::Search;
use super::partition::{canonical, n_ln_n};

/// A point estimate of the partition of the faces.
#[derive(Clone, Debug, PartialEq)]
pub struct Representative {
    /// Cluster of each face, numbered by first appearance.
    pub labels: Vec<u32>,
    /// Mean variation of information to the draws, in nats; 0 when all draws are this partition.
    pub expected_loss: f64,
    /// How sure each face's place is, from 0 to 1.
    ///
    /// For a face shown with others: the probability that it is the same person as one of those others,
    /// picked at random, which is the mean over draws and over the others of "same identity in this draw". A
    /// stranger among many lowers the certainty of the many a little and has a low one itself. For a face
    /// shown alone: the probability that nobody else is the same person, the share of draws that have it
    /// alone.
    ///
    /// It counts draws, as the loss does, because it is about pairs of a partition and not about a seat: whose
    /// a face is, all others staying, is weighed by [`Posterior::who`](crate::predict::Posterior::who), which
    /// varies less. Weighing every face would cost one such question per face, for every partition that is
    /// shown, and would say something finer only of faces of which draws differ.
    pub certainty: Vec<f64>,
}

/// The partition with the least posterior expected variation of information that the search finds, from
/// partitions of the same faces (equal weights; labels mean nothing across draws).
///
/// Deterministic, and the same for relabelled draws. The loss is at most that of the draw it starts from.
/// Equal draws are counted once; memory is at most 24 bytes per face and distinct draw, usually 16.
///
/// ```
/// # use kith::predict::representative::representative;
/// let draws = [[0, 0, 1, 1], [5, 5, 5, 2], [0, 0, 1, 1]];
/// let shown = representative(&draws);
/// assert_eq!(shown.labels, [0, 0, 1, 1]);
/// assert_eq!(shown.certainty[0], 1.0);
/// assert!((shown.certainty[3] - 2.0 / 3.0).abs() < 1e-12);
/// ```
///
/// # Panics
/// If the draws are not of the same length.
pub fn representative(draws: &[impl AsRef<[u32]> + Sync]) -> Representative {
    let posterior = Distinct::of(draws);
    if posterior.n_faces == 0 {
        return Representative { labels: Vec::new(), expected_loss: 0.0, certainty: Vec::new() };
    }
    let ranked = posterior.ranked();
    // Alone often beats every draw where draws differ much, but from there only faces that are together in
    // most draws find each other; so the best draw comes first and the two extremes add variety.
    let extremes = [(0..posterior.n_faces as u32).collect(), vec![0; posterior.n_faces]];
    let starts = ranked[..1].iter().chain(&extremes).chain(&ranked[1..]);
    let n_passes = N_AFFORDABLE_LABELS / (posterior.n_faces * posterior.draws.len());
    let guides = &ranked[..n_passes.clamp(N_GUIDES, N_CANDIDATES).min(ranked.len())];
    let mut search = Search::new(&posterior);
    let improved: Vec<Vec<u32>> =
        starts.take(n_passes.max(1)).map(|start| canonical(search.descend(start, guides))).collect();
    // The extremes cost little to look at even where they are no starts.
    let (expected_loss, labels) = improved
        .iter()
        .chain(&extremes)
        .map(|labels| (posterior.expected_loss(labels), labels))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .expect("there is a start");
    let (labels, certainty) = (labels.clone(), posterior.certainty(labels));
    Representative { labels, expected_loss, certainty }
}

/// How sure draws are of each face's place in a partition of theirs or of somebody else's:
/// [`Representative::certainty`].
pub fn certainty(draws: &[impl AsRef<[u32]> + Sync], labels: &[u32]) -> Vec<f64> {
    if labels.is_empty() { Vec::new() } else { Distinct::of(draws).certainty(labels) }
}

/// Draws that are looked at as starting points.
const N_CANDIDATES: usize = 50;

/// Draws that at least serve to cut clusters into pieces.
const N_GUIDES: usize = 4;

/// Draws that candidates are compared on: enough to tell good from bad, and the search corrects the rest.
const N_COMPARED: usize = 100;

/// Labels, one per face and distinct draw, over all starts: each costs some 200 ns by the end of the search.
const N_AFFORDABLE_LABELS: usize = 3_000_000;

/// The draws without repetition, canonical, with their weights.
pub(super) struct Distinct {
    pub(super) n_faces: usize,
    pub(super) draws: Vec<Vec<u32>>,
    /// How often each was drawn, and the share of all draws that is.
    counts: Vec<u32>,
    pub(super) weights: Vec<f64>,
    /// `n ln n` for every size that a cluster can have.
    pub(super) g: Vec<f64>,
    /// Expectation of `sum_j g(n_j)` over the draws, the part of the loss that no choice can change.
    own: f64,
}

impl Distinct {
    pub(super) fn of(draws: &[impl AsRef<[u32]> + Sync]) -> Self {
        let n_faces = draws.first().map_or(0, |draw| draw.as_ref().len());
        let mut places = HashMap::new();
        let mut counts = Vec::new();
        let numbered: Vec<Vec<u32>> = draws.par_iter().map(|draw| canonical(draw.as_ref())).collect();
        for draw in numbered {
            assert_eq!(draw.len(), n_faces, "every draw partitions the same faces");
            let next = counts.len();
            let place = *places.entry(draw).or_insert(next);
            if place == next {
                counts.push(0_u32);
            }
            counts[place] += 1;
        }
        let mut distinct = vec![Vec::new(); counts.len()];
        for (draw, place) in places {
            distinct[place] = draw;
        }
        let weights: Vec<f64> = counts.iter().map(|&n| f64::from(n) / draws.len() as f64).collect();
        let g: Vec<f64> = (0..=n_faces as u32).map(n_ln_n).collect();
        let own_of = |draw: &Vec<u32>| sizes_of(draw).iter().map(|&size| g[size as usize]).sum::<f64>();
        let own = distinct.iter().zip(&weights).map(|(draw, weight)| weight * own_of(draw)).sum();
        Self { n_faces, draws: distinct, counts, weights, g, own }
    }

    /// Evenly chosen draws, the best first.
    pub(super) fn ranked(&self) -> Vec<Vec<u32>> {
        let evenly = |n: usize| (0..n).map(move |k| k * self.draws.len() / n);
        let chosen: Vec<usize> = evenly(self.draws.len().min(N_CANDIDATES)).collect();
        let n_compared = self.draws.len().min(N_COMPARED.max(N_AFFORDABLE_LABELS / (5 * self.n_faces)));
        let cost = |&d: &usize| (self.cost(&self.draws[d], evenly(n_compared)), d);
        let mut ranked: Vec<(f64, usize)> = chosen.par_iter().map(cost).collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        ranked.iter().map(|&(_, d)| self.draws[d].clone()).collect()
    }

    /// Mean variation of information between canonical labels and the draws.
    fn expected_loss(&self, labels: &[u32]) -> f64 {
        ((self.own + self.cost(labels, 0..self.draws.len())) / self.n_faces as f64).max(0.0)
    }

    /// `sum_k g(n_k) - 2 sum_kj g(n_kj)` summed over some draws with their weights.
    fn cost(&self, labels: &[u32], draws: impl Iterator<Item = usize>) -> f64 {
        let order = faces_by_cluster(labels);
        let shown: f64 = sizes_of(labels).iter().map(|&size| self.g[size as usize]).sum();
        let mut sum = 0.0;
        // For each cluster of the draw, the shown cluster that met it last and how many faces they share so
        // far.
        let mut meetings = vec![(u32::MAX, 0); self.n_faces];
        for d in draws {
            meetings.fill((u32::MAX, 0));
            let mut shared = 0.0;
            for &face in &order {
                let (cluster, last) =
                    (labels[face as usize], &mut meetings[self.draws[d][face as usize] as usize]);
                let n_before = if last.0 == cluster { last.1 } else { 0 };
                *last = (cluster, n_before + 1);
                shared += self.g[n_before + 1] - self.g[n_before];
            }
            sum += self.weights[d] * (shown - 2.0 * shared);
        }
        sum
    }

    /// See [`Representative::certainty`].
    fn certainty(&self, labels: &[u32]) -> Vec<f64> {
        let order = faces_by_cluster(labels);
        let mut certainty = vec![0.0; self.n_faces];
        let mut n_shared = vec![0_u32; self.n_faces];
        // Whole numbers until the end, so that what is certain is exactly 1.
        for (draw, &count) in self.draws.iter().zip(&self.counts) {
            let sizes = sizes_of(draw);
            let cluster_in_draw = |face: u32| draw[face as usize] as usize;
            for cluster in order.chunk_by(|&a, &b| labels[a as usize] == labels[b as usize]) {
                if let &[face] = cluster {
                    let is_alone = sizes[cluster_in_draw(face)] == 1;
                    certainty[face as usize] += f64::from(count * u32::from(is_alone));
                    continue;
                }
                cluster.iter().for_each(|&face| n_shared[cluster_in_draw(face)] += 1);
                for &face in cluster {
                    let n_others = n_shared[cluster_in_draw(face)] - 1;
                    certainty[face as usize] += f64::from(count) * f64::from(n_others);
                }
                cluster.iter().for_each(|&face| n_shared[cluster_in_draw(face)] = 0);
            }
        }
        let n_draws: f64 = self.counts.iter().map(|&count| f64::from(count)).sum();
        let sizes = sizes_of(labels);
        let n_others_of = |label: u32| f64::from((sizes[label as usize] - 1).max(1));
        certainty.iter().zip(labels).map(|(sum, &label)| sum / (n_draws * n_others_of(label))).collect()
    }
}

/// Sizes of the clusters of canonical labels.
pub(super) fn sizes_of(labels: &[u32]) -> Vec<u32> {
    let mut sizes = vec![0; labels.iter().max().map_or(0, |&label| label as usize + 1)];
    labels.iter().for_each(|&label| sizes[label as usize] += 1);
    sizes
}

/// The faces cluster after cluster, in order within each.
pub(super) fn faces_by_cluster(labels: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..labels.len() as u32).collect();
    order.sort_by_key(|&face| labels[face as usize]);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::partition::variation_of_information;
    use crate::random::{Rng, driver};

    struct Cases(Rng);

    impl Cases {
        fn below(&mut self, n: usize) -> usize {
            self.0.below(n)
        }

        fn partition(&mut self, n_faces: usize, n_labels: usize) -> Vec<u32> {
            (0..n_faces).map(|_| self.below(n_labels) as u32).collect()
        }

        /// `truth` with some faces moved, some clusters cut in two and some pairs of neighbours merged.
        fn disturbed(&mut self, truth: &[u32], percent: usize) -> Vec<u32> {
            let n_clusters = truth.iter().max().map_or(0, |&label| label as usize + 1);
            let fate: Vec<usize> = (0..n_clusters).map(|_| self.below(100)).collect();
            let disturb = |&label: &u32| match (self.below(100), fate[label as usize]) {
                (chance, _) if chance < percent => self.below(n_clusters + n_clusters / 4 + 1) as u32,
                (chance, fate) if fate < percent && chance % 2 == 0 => (2 * n_clusters) as u32 + label,
                (_, fate) if fate >= 100 - percent => label / 2 * 2,
                _ => label,
            };
            truth.iter().map(disturb).collect()
        }
    }

    fn expected_loss(labels: &[u32], draws: &[Vec<u32>]) -> f64 {
        draws.iter().map(|draw| variation_of_information(labels, draw)).sum::<f64>() / draws.len() as f64
    }

    /// All 203 partitions of six faces and the distances between them.
    struct SixFaces {
        partitions: Vec<Vec<u32>>,
        distances: Vec<Vec<f64>>,
    }

    impl SixFaces {
        /// Each face joins one of the clusters so far or opens the next: canonical labels, in order.
        fn new() -> Self {
            let mut partitions = vec![Vec::new()];
            for _ in 0..6 {
                let extended = partitions.iter().flat_map(|labels: &Vec<u32>| {
                    let next = labels.iter().max().map_or(0, |&label| label + 1);
                    (0..=next).map(move |label| [&labels[..], &[label]].concat())
                });
                partitions = extended.collect();
            }
            assert_eq!(partitions.len(), 203);
            let from = |a: &Vec<u32>| partitions.iter().map(|b| variation_of_information(a, b)).collect();
            let distances = partitions.iter().map(from).collect();
            Self { partitions, distances }
        }

        /// The least expected loss of all.
        fn least(&self, draws: &[Vec<u32>]) -> f64 {
            let place =
                |draw: &Vec<u32>| self.partitions.binary_search(&canonical(draw)).expect("one of the 203");
            let places: Vec<usize> = draws.iter().map(place).collect();
            let loss = |from: &Vec<f64>| places.iter().map(|&to| from[to]).sum::<f64>() / draws.len() as f64;
            self.distances.iter().map(loss).fold(f64::INFINITY, f64::min)
        }
    }

    /// Random weighted posteriors over partitions of six faces: spread out, and concentrated about one
    /// partition.
    fn small_posteriors() -> Vec<Vec<Vec<u32>>> {
        let mut cases = Cases(driver(5));
        let mut posteriors = Vec::new();
        for round in 0..1000 {
            let truth = canonical(&cases.partition(6, 1 + round % 6));
            let mut draws = Vec::new();
            for _ in 0..1 + cases.below(12) {
                let draw = if round % 2 == 0 { cases.partition(6, 4) } else { cases.disturbed(&truth, 20) };
                let weight = 1 + cases.below(9);
                draws.extend(vec![draw; weight]);
            }
            posteriors.push(draws);
        }
        posteriors
    }

    #[test]
    fn of_all_203_partitions_of_six_faces_the_best_or_nearly_the_best_is_found() {
        // A local search has no small guarantee: the triangle inequality gives twice the least for the best
        // draw. Here 999 of 1000 are the minimum and the other exceeds it by 0.015 nats. The bound is a tenth
        // of the distance between the nearest two partitions of six faces, 2 ln 2 / 6.
        let six_faces = SixFaces::new();
        let (mut n_found, mut worst) = (0, 0.0_f64);
        for draws in small_posteriors() {
            let (shown, least) = (representative(&draws), six_faces.least(&draws));
            assert!((shown.expected_loss - expected_loss(&shown.labels, &draws)).abs() < 1e-12);
            let excess = shown.expected_loss - least;
            assert!(excess <= least + 1e-12, "beyond what the best draw guarantees");
            n_found += usize::from(excess < 1e-9);
            worst = worst.max(excess);
        }
        println!("found {n_found} of 1000, worst excess {worst:.4} nats");
        assert!(n_found >= 990, "found {n_found} of 1000");
        assert!(worst < 0.2 * std::f64::consts::LN_2 / 6.0, "worst excess {worst} nats");
    }

    #[test]
    fn one_start_and_one_guide_find_most_of_the_best() {
        // Large problems afford a single start, so the moves must do without the others.
        let six_faces = SixFaces::new();
        let (mut n_found, mut n_found_by_draw) = (0, 0);
        for draws in small_posteriors() {
            let least = six_faces.least(&draws);
            let posterior = Distinct::of(&draws);
            let best_draw = &posterior.ranked()[..1];
            let mut search = Search::new(&posterior);
            let labels = search.descend(&best_draw[0], best_draw);
            n_found += usize::from(expected_loss(labels, &draws) - least < 1e-9);
            n_found_by_draw += usize::from(expected_loss(&best_draw[0], &draws) - least < 1e-9);
        }
        println!("found {n_found} of 1000; the best draw alone is {n_found_by_draw}");
        assert!(n_found >= 950, "found {n_found} of 1000");
    }

    #[test]
    fn the_answer_is_never_worse_than_a_candidate_draw_nor_than_a_move_away() {
        let mut cases = Cases(driver(7));
        for round in 0..10 {
            let truth = canonical(&cases.partition(60, 12));
            let draws: Vec<Vec<u32>> = (0..40).map(|_| cases.disturbed(&truth, 5 + 3 * round)).collect();
            let shown = representative(&draws);
            for draw in &draws {
                assert!(shown.expected_loss <= expected_loss(draw, &draws) + 1e-12);
            }
            let n_clusters = shown.labels.iter().max().unwrap() + 1;
            for face in 0..60 {
                for label in 0..=n_clusters {
                    let mut moved = shown.labels.clone();
                    moved[face] = label;
                    assert!(shown.expected_loss <= expected_loss(&moved, &draws) + 1e-9);
                }
            }
        }
    }

    #[test]
    fn relabelled_and_repeated_draws_change_nothing() {
        let mut cases = Cases(driver(9));
        let truth = canonical(&cases.partition(25, 6));
        let draws: Vec<Vec<u32>> = (0..30).map(|_| cases.disturbed(&truth, 10)).collect();
        let shown = representative(&draws);
        let relabelled: Vec<Vec<u32>> =
            draws.iter().map(|draw| draw.iter().map(|&label| 900 - 3 * label).collect()).collect();
        assert_eq!(representative(&relabelled), shown);
        let twice: Vec<&Vec<u32>> = draws.iter().flat_map(|draw| [draw, draw]).collect();
        assert_eq!(representative(&twice), shown);
        assert_eq!(canonical(&shown.labels), shown.labels);
    }

    #[test]
    fn certainty_is_the_share_of_draws_and_of_others_that_agree() {
        // Shown: {0, 1, 2} {3}. Face 2 is with both others in three draws of four; face 3 alone in three.
        let draws = [[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 1, 1]];
        let shown = representative(&draws);
        assert_eq!(shown.labels, [0, 0, 0, 1]);
        assert_eq!(shown.certainty, [0.875, 0.875, 0.75, 0.75]);
    }

    #[test]
    fn what_every_draw_says_is_certain() {
        let shown = representative(&[[3, 1, 3, 2, 1, 3]; 7]);
        let wanted =
            Representative { labels: vec![0, 1, 0, 2, 1, 0], expected_loss: 0.0, certainty: vec![1.0; 6] };
        assert_eq!(shown, wanted);
        let nobody = Representative { labels: vec![], expected_loss: 0.0, certainty: vec![] };
        assert_eq!(representative(&Vec::<Vec<u32>>::new()), nobody);
        assert_eq!(representative(&[[0_u32; 0]; 3]), nobody);
        assert_eq!(representative(&[[4]]).certainty, [1.0]);
    }
}

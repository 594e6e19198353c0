//! One partition to show for many draws: the least expected variation of information, and how sure each face's place is.
//!
//! With `g(n) = n ln n`, sizes `n_k` of the clusters shown, `n_j` of a draw's clusters and `n_kj` of the intersections,
//! `N VI = sum_k g(n_k) + sum_j g(n_j) - 2 sum_kj g(n_kj)`. The expectation over draws needs, for each cluster of each
//! draw, only the list of shown clusters that meet it, and moving a face changes one such list per draw.
//! The search is SALSO's sweetening (Dahl, Johnson & Mueller 2022) without its random order: it starts from draws and
//! moves single faces, whole clusters and pieces of clusters to wherever the expectation falls most, until none does.

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;

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
    /// For a face shown with others: the probability that it is the same person as one of those others, picked at
    /// random, which is the mean over draws and over the others of "same identity in this draw". A stranger among many
    /// lowers the certainty of the many a little and has a low one itself. For a face shown alone: the probability
    /// that nobody else is the same person, the share of draws that have it alone.
    pub certainty: Vec<f64>,
}

/// The partition with the least posterior expected variation of information that the search finds, from partitions of
/// the same faces (equal weights; labels mean nothing across draws).
///
/// Deterministic, and the same for relabelled draws. The loss is at most that of the best candidate draw. Equal draws
/// are counted once; memory is at most 24 bytes per face and distinct draw, usually 16.
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
    let t0 = std::time::Instant::now();
    let posterior = Distinct::of(draws);
    eprintln!("distinct {:?}", t0.elapsed());
    if posterior.n_faces == 0 {
        return Representative { labels: Vec::new(), expected_loss: 0.0, certainty: Vec::new() };
    }
    let candidates = posterior.candidates();
    eprintln!("candidates {:?}", t0.elapsed());
    let guides = &candidates[..posterior.affordable(8, N_CANDIDATES).min(candidates.len())];
    let mut search = Search::new(&posterior);
    eprintln!("search new {:?}", t0.elapsed());
    let improved =
        candidates[..posterior.affordable(1, N_CANDIDATES).min(candidates.len())].iter().map(|start| {
            let labels = canonical(search.descend(start, guides));
            (posterior.expected_loss(&labels), labels)
        });
    let (expected_loss, labels) = improved.min_by(|a, b| a.0.total_cmp(&b.0)).expect("a draw is a candidate");
    Representative { certainty: posterior.certainty(&labels), expected_loss, labels }
}

/// Draws that are looked at as starting points, besides everybody alone and everybody together.
const N_CANDIDATES: usize = 50;

/// Labels that may be visited by optional work; a scan takes about 10 ns per label.
const N_AFFORDABLE_LABELS: usize = 10_000_000;

/// A gain below this is rounding: the objective is a sum of terms near `N ln N` with errors near 1e-16 of that.
const LEAST_GAIN: f64 = 1e-9;

/// The draws without repetition, canonical, with their weights.
struct Distinct {
    n_faces: usize,
    draws: Vec<Vec<u32>>,
    /// How often each was drawn, and the share of all draws that is.
    counts: Vec<u32>,
    weights: Vec<f64>,
    /// `n ln n` for every size that a cluster can have.
    g: Vec<f64>,
    /// Expectation of `sum_j g(n_j)` over the draws, the part of the loss that no choice can change.
    own: f64,
}

impl Distinct {
    fn of(draws: &[impl AsRef<[u32]>]) -> Self {
        let n_faces = draws.first().map_or(0, |draw| draw.as_ref().len());
        let mut places = HashMap::new();
        let mut counts = Vec::new();
        for draw in draws {
            let draw = draw.as_ref();
            assert_eq!(draw.len(), n_faces, "every draw partitions the same faces");
            let next = counts.len();
            let place = *places.entry(canonical(draw)).or_insert(next);
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

    /// Evenly chosen draws, everybody alone and everybody together, the best first.
    fn candidates(&self) -> Vec<Vec<u32>> {
        let n = self.draws.len().min(N_CANDIDATES);
        let mut candidates: Vec<Vec<u32>> =
            (0..n).map(|k| self.draws[k * self.draws.len() / n].clone()).collect();
        candidates.push((0..self.n_faces as u32).collect());
        candidates.push(vec![0; self.n_faces]);
        let losses: Vec<f64> = candidates.par_iter().map(|labels| self.expected_loss(labels)).collect();
        let mut ranked: Vec<(f64, Vec<u32>)> = losses.into_iter().zip(candidates).collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        ranked.into_iter().map(|(_, labels)| labels).collect()
    }

    /// How many passes over all labels can be afforded.
    fn affordable(&self, least: usize, most: usize) -> usize {
        (N_AFFORDABLE_LABELS / (self.n_faces * self.draws.len())).clamp(least, most)
    }

    /// Mean variation of information between canonical labels and the draws.
    fn expected_loss(&self, labels: &[u32]) -> f64 {
        let order = faces_by_cluster(labels);
        let shown: f64 = sizes_of(labels).iter().map(|&size| self.g[size as usize]).sum();
        let mut shared = 0.0;
        // (cluster that last met the draw's cluster j, how many faces they share so far)
        let mut meeting = vec![(u32::MAX, 0_usize); self.n_faces];
        for (draw, weight) in self.draws.iter().zip(&self.weights) {
            meeting.fill((u32::MAX, 0));
            let mut sum = 0.0;
            for &face in &order {
                let (cluster, met) = (labels[face as usize], &mut meeting[draw[face as usize] as usize]);
                *met = if met.0 == cluster { (cluster, met.1 + 1) } else { (cluster, 1) };
                sum += self.g[met.1] - self.g[met.1 - 1];
            }
            shared += weight * sum;
        }
        ((shown + self.own - 2.0 * shared) / self.n_faces as f64).max(0.0)
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

/// A shown cluster that meets a draw's cluster, and in how many faces; no faces ends the list.
#[derive(Clone, Copy)]
struct Meeting {
    cluster: u32,
    n_faces: u32,
}

const END: Meeting = Meeting { cluster: u32::MAX, n_faces: 0 };

/// A partition under improvement.
struct Search<'a> {
    posterior: &'a Distinct,
    /// For each face and draw, face by face, where the list of the draw's cluster that has the face begins.
    list_of: Vec<u32>,
    /// The lists of all clusters of all draws; a list has room for every face of its cluster, and an end.
    meetings: Vec<Meeting>,
    labels: Vec<u32>,
    sizes: Vec<u32>,
    /// Labels without faces.
    unused: Vec<u32>,
    /// Per label, what a block of faces would gain by joining it rather than being alone; 0 between calls.
    gains: Vec<f64>,
}

impl<'a> Search<'a> {
    fn new(posterior: &'a Distinct) -> Self {
        let (n_faces, n_draws) = (posterior.n_faces, posterior.draws.len());
        let mut list_of = vec![0; n_faces * n_draws];
        let mut end = 0;
        for (d, draw) in posterior.draws.iter().enumerate() {
            let starts: Vec<usize> = sizes_of(draw)
                .iter()
                .map(|&size| {
                    end += size as usize + 1;
                    end - size as usize - 1
                })
                .collect();
            for (face, &cluster) in draw.iter().enumerate() {
                list_of[face * n_draws + d] = starts[cluster as usize] as u32;
            }
        }
        assert!(u32::try_from(end).is_ok(), "32 GiB of draws are too many; thin them");
        let (meetings, gains) = (vec![END; end], vec![0.0; n_faces]);
        Self {
            posterior,
            list_of,
            meetings,
            labels: Vec::new(),
            sizes: Vec::new(),
            unused: Vec::new(),
            gains,
        }
    }

    /// Improves canonical labels until no move helps.
    fn descend(&mut self, start: &[u32], guides: &[Vec<u32>]) -> &[u32] {
        let t0 = std::time::Instant::now();
        self.begin(start);
        if self.list_of.len() > 1000000 {
            eprintln!("begin {:?}", t0.elapsed());
        }
        loop {
            while self.move_faces() {
                if self.list_of.len() > 1000000 {
                    eprintln!("faces {:?}", t0.elapsed());
                }
            }
            if self.list_of.len() > 1000000 {
                eprintln!("faces* {:?}", t0.elapsed());
                let r = self.move_clusters();
                eprintln!("clusters {r} {:?}", t0.elapsed());
                let r = self.move_pieces(guides);
                eprintln!("pieces {r} {:?}", t0.elapsed());
            }
            if !self.move_clusters() && !self.move_pieces(guides) {
                return &self.labels;
            }
        }
    }

    fn begin(&mut self, start: &[u32]) {
        self.meetings.fill(END);
        self.labels = start.to_vec();
        self.sizes = sizes_of(start);
        let n_clusters = self.sizes.len();
        self.sizes.resize(self.posterior.n_faces, 0);
        self.unused = (n_clusters as u32..self.posterior.n_faces as u32).rev().collect();
        for face in faces_by_cluster(start) {
            for at in self.lists(face) {
                add(&mut self.meetings[self.list_of[at] as usize..], start[face as usize]);
            }
        }
    }

    /// One scan over the faces, cluster by cluster because its faces share lists; whether any was moved.
    fn move_faces(&mut self) -> bool {
        let mut has_moved = false;
        for face in faces_by_cluster(&self.labels) {
            has_moved |= self.improve(&[face]);
        }
        has_moved
    }

    /// Offers every cluster to every other; whether any two were merged.
    fn move_clusters(&mut self) -> bool {
        let mut has_moved = false;
        let order = faces_by_cluster(&self.labels);
        let labels = self.labels.clone();
        for cluster in order.chunk_by(|&a, &b| labels[a as usize] == labels[b as usize]) {
            has_moved |= cluster.len() > 1 && self.improve(cluster);
        }
        has_moved
    }

    /// Cuts clusters as the guides do and offers the pieces to other clusters and as clusters of their own.
    fn move_pieces(&mut self, guides: &[Vec<u32>]) -> bool {
        let mut has_moved = false;
        for guide in guides {
            let mut order: Vec<u32> = (0..self.posterior.n_faces as u32).collect();
            let labels = self.labels.clone();
            let place = |face: u32| (labels[face as usize], guide[face as usize]);
            order.sort_by_key(|&face| place(face));
            for piece in order.chunk_by(|&a, &b| place(a) == place(b)) {
                has_moved |= piece.len() > 1 && self.improve(piece);
            }
        }
        has_moved
    }

    /// Moves faces that are in one cluster to where the objective is least; whether that is elsewhere.
    ///
    /// Relative to a cluster of their own, `p` faces in a cluster with `n` others cost
    /// `g(n + p) - g(n) - g(p) - 2 E sum_j [g(n_j + p_j) - g(n_j) - g(p_j)]`, with `n_j` and `p_j` of them in the
    /// draw's cluster j. Only clusters that meet the faces in some draw can cost less than nothing.
    fn improve(&mut self, block: &[u32]) -> bool {
        let from = self.labels[block[0] as usize];
        let mut met = Vec::new();
        let n_draws = self.posterior.draws.len();
        let mut lists = Vec::new();
        for d in 0..n_draws {
            let weight = self.posterior.weights[d];
            if let &[face] = block {
                self.weigh(self.list_of[face as usize * n_draws + d], 1, from, weight, &mut met);
                continue;
            }
            lists.clear();
            lists.extend(block.iter().map(|&face| self.list_of[face as usize * n_draws + d]));
            lists.sort_unstable();
            for same in lists.chunk_by(u32::eq) {
                self.weigh(same[0], same.len() as u32, from, weight, &mut met);
            }
        }
        let g = &self.posterior.g;
        let p = block.len();
        let cost_of = |label: u32| {
            let n = self.sizes[label as usize] as usize - if label == from { p } else { 0 };
            g[n + p] - g[n] - g[p] - 2.0 * self.gains[label as usize]
        };
        let mut best = (cost_of(from), Some(from));
        if best.0 > LEAST_GAIN {
            best = (0.0, None);
        }
        for &label in &met {
            let cost = cost_of(label);
            if cost < best.0 - LEAST_GAIN {
                best = (cost, Some(label));
            }
        }
        met.iter().for_each(|&label| self.gains[label as usize] = 0.0);
        if best.1 == Some(from) {
            return false;
        }
        let to = best
            .1
            .unwrap_or_else(|| self.unused.pop().expect("a cluster of several faces leaves a label unused"));
        self.relabel(block, from, to);
        true
    }

    /// Adds what `p` faces of `from` gain in one cluster of one draw by joining each cluster that meets it.
    #[inline]
    fn weigh(&mut self, list: u32, p: u32, from: u32, weight: f64, met: &mut Vec<u32>) {
        let g = &self.posterior.g;
        for meeting in self.meetings[list as usize..].iter().take_while(|meeting| meeting.n_faces > 0) {
            let n = meeting.n_faces - if meeting.cluster == from { p } else { 0 };
            if n > 0 {
                let gain = &mut self.gains[meeting.cluster as usize];
                if *gain == 0.0 {
                    met.push(meeting.cluster);
                }
                *gain += weight * (g[(n + p) as usize] - g[n as usize] - g[p as usize]);
            }
        }
    }

    fn relabel(&mut self, block: &[u32], from: u32, to: u32) {
        for &face in block {
            for at in self.lists(face) {
                let list = &mut self.meetings[self.list_of[at] as usize..];
                remove(list, from);
                add(list, to);
            }
            self.labels[face as usize] = to;
        }
        self.sizes[from as usize] -= block.len() as u32;
        self.sizes[to as usize] += block.len() as u32;
        if self.sizes[from as usize] == 0 {
            self.unused.push(from);
        }
    }

    /// Where the lists of a face stand in `list_of`.
    fn lists(&self, face: u32) -> Range<usize> {
        let n_draws = self.posterior.draws.len();
        face as usize * n_draws..(face as usize + 1) * n_draws
    }
}

/// Counts one more face of the cluster.
fn add(list: &mut [Meeting], cluster: u32) {
    let meeting = list.iter_mut().find(|meeting| meeting.cluster == cluster || meeting.n_faces == 0);
    let meeting = meeting.expect("a list has room for every face and an end");
    *meeting = Meeting { cluster, n_faces: meeting.n_faces + 1 };
}

/// Counts one face of the cluster less; the last meeting takes the place of an emptied one.
fn remove(list: &mut [Meeting], cluster: u32) {
    let place = list.iter().position(|meeting| meeting.cluster == cluster).expect("the face was counted");
    list[place].n_faces -= 1;
    if list[place].n_faces == 0 {
        let n_after =
            list[place + 1..].iter().position(|meeting| meeting.n_faces == 0).expect("a list has an end");
        list[place] = list[place + n_after];
        list[place + n_after] = END;
    }
}

/// Sizes of the clusters of canonical labels.
fn sizes_of(labels: &[u32]) -> Vec<u32> {
    let mut sizes = vec![0; labels.iter().max().map_or(0, |&label| label as usize + 1)];
    labels.iter().for_each(|&label| sizes[label as usize] += 1);
    sizes
}

/// The faces cluster after cluster, in order within each.
fn faces_by_cluster(labels: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..labels.len() as u32).collect();
    order.sort_by_key(|&face| labels[face as usize]);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::partition::{adjusted_rand_index, variation_of_information};

    /// A 64-bit congruential generator: tests need reproducible cases, not good randomness.
    struct Cases(u64);

    impl Cases {
        fn below(&mut self, n: usize) -> usize {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((self.0 >> 33) as usize) % n
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

    /// Every partition of `n_faces` faces, canonical: each face joins one of the clusters so far or opens the next.
    fn all_partitions(n_faces: usize) -> Vec<Vec<u32>> {
        let mut all = vec![Vec::new()];
        for _ in 0..n_faces {
            let extended = all.iter().flat_map(|labels: &Vec<u32>| {
                let next = labels.iter().max().map_or(0, |&label| label + 1);
                (0..=next).map(move |label| [&labels[..], &[label]].concat())
            });
            all = extended.collect();
        }
        all
    }

    /// Random weighted posteriors over partitions of six faces: spread out, and concentrated about one partition.
    fn small_posteriors() -> Vec<Vec<Vec<u32>>> {
        let mut cases = Cases(5);
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
    fn of_all_203_partitions_of_six_faces_the_best_is_found() {
        let all = all_partitions(6);
        assert_eq!(all.len(), 203);
        let (mut n_found, mut worst) = (0, 0.0_f64);
        for draws in small_posteriors() {
            let least = all.iter().map(|labels| expected_loss(labels, &draws)).fold(f64::INFINITY, f64::min);
            let shown = representative(&draws);
            assert!((shown.expected_loss - expected_loss(&shown.labels, &draws)).abs() < 1e-12);
            let excess = shown.expected_loss - least;
            n_found += usize::from(excess < 1e-9);
            worst = worst.max(excess);
        }
        println!("found {n_found} of 1000, worst excess {worst:.4} nats");
        assert!(n_found >= 990 && worst < 0.05, "found {n_found} of 1000, worst excess {worst} nats");
    }

    #[test]
    fn one_start_alone_already_finds_nearly_all_of_the_best() {
        // Large problems afford a single start, so the moves must do without the others.
        let all = all_partitions(6);
        let (mut n_found, mut worst, mut n_draw_best) = (0, 0.0_f64, 0);
        for draws in small_posteriors() {
            let least = all.iter().map(|labels| expected_loss(labels, &draws)).fold(f64::INFINITY, f64::min);
            let posterior = Distinct::of(&draws);
            let candidates = posterior.candidates();
            let mut search = Search::new(&posterior);
            let labels = search.descend(&candidates[0], &candidates[..1]);
            let excess = expected_loss(labels, &draws) - least;
            n_found += usize::from(excess < 1e-9);
            n_draw_best += usize::from(expected_loss(&candidates[0], &draws) - least < 1e-9);
            worst = worst.max(excess);
        }
        println!("found {n_found} of 1000, worst excess {worst:.4} nats; best candidate {n_draw_best}");
        assert!(n_found >= 900, "found {n_found} of 1000");
    }

    #[test]
    fn the_answer_is_never_worse_than_a_candidate_draw_nor_than_a_move_away() {
        let mut cases = Cases(7);
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
    fn the_lists_still_count_intersections_after_many_moves() {
        let mut cases = Cases(8);
        let draws: Vec<Vec<u32>> = (0..15).map(|_| cases.partition(30, 6)).collect();
        let posterior = Distinct::of(&draws);
        let candidates = posterior.candidates();
        let mut search = Search::new(&posterior);
        for start in &candidates {
            search.descend(start, &candidates);
            for face in 0..30 {
                for (d, draw) in posterior.draws.iter().enumerate() {
                    let list = &search.meetings[search.list_of[face * posterior.draws.len() + d] as usize..];
                    let mut got: Vec<(u32, u32)> = list
                        .iter()
                        .take_while(|meeting| meeting.n_faces > 0)
                        .map(|meeting| (meeting.cluster, meeting.n_faces))
                        .collect();
                    got.sort_unstable();
                    let mut shared: Vec<u32> = (0..30)
                        .filter(|&other| draw[other] == draw[face])
                        .map(|other| search.labels[other])
                        .collect();
                    shared.sort_unstable();
                    let wanted: Vec<(u32, u32)> =
                        shared.chunk_by(u32::eq).map(|same| (same[0], same.len() as u32)).collect();
                    assert_eq!(got, wanted);
                }
            }
        }
    }

    #[test]
    fn relabelled_and_repeated_draws_change_nothing() {
        let mut cases = Cases(9);
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
        let shown = representative(&vec![[3, 1, 3, 2, 1, 3]; 7]);
        let wanted =
            Representative { labels: vec![0, 1, 0, 2, 1, 0], expected_loss: 0.0, certainty: vec![1.0; 6] };
        assert_eq!(shown, wanted);
        let nobody = Representative { labels: vec![], expected_loss: 0.0, certainty: vec![] };
        assert_eq!(representative(&Vec::<Vec<u32>>::new()), nobody);
        assert_eq!(representative(&[[0_u32; 0]; 3]), nobody);
        assert_eq!(representative(&[[4]]).certainty, [1.0]);
    }

    #[test]
    #[ignore = "a measurement of some seconds: run with --release --nocapture"]
    fn many_faces_and_many_draws_take_seconds() {
        for (n_faces, n_clusters, n_draws, percent) in [
            (10_000, 1_000, 1_000, 1),
            (10_000, 1_000, 1_000, 3),
            (10_000, 1_000, 1_000, 10),
            (1_000, 150, 1_000, 5),
            (6, 3, 46_000, 10),
        ] {
            let mut cases = Cases(10);
            // Two numbers multiplied: some people are on many photos, most on few.
            let truth: Vec<u32> = (0..n_faces)
                .map(|_| (cases.below(n_clusters) * (1 + cases.below(n_clusters)) / n_clusters) as u32)
                .collect();
            let truth = canonical(&truth);
            let draws: Vec<Vec<u32>> = (0..n_draws).map(|_| cases.disturbed(&truth, percent)).collect();
            let start = std::time::Instant::now();
            let shown = representative(&draws);
            println!(
                "{n_faces} faces in {} clusters (largest {}), {n_draws} draws disturbed by {percent} %: {:.2?}, loss {:.4}, ARI to truth {:.5}",
                sizes_of(&truth).len(),
                sizes_of(&truth).iter().max().unwrap(),
                start.elapsed(),
                shown.expected_loss,
                adjusted_rand_index(&shown.labels, &truth),
            );
        }
    }
}

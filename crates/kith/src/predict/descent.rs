//! Improves a partition move by move until the expected variation of information to the draws falls no more.
//!
//! SALSO's sweetening (Dahl, Johnson & Mueller 2022) without its random order, and with whole clusters and
//! pieces of clusters moved too. The expectation needs, for each cluster of each draw, only the list of shown
//! clusters that meet it; moving a face changes one such list per draw.

use std::ops::Range;

use super::representative::{Distinct, faces_by_cluster, sizes_of};

/// A partition under improvement.
pub(super) struct Search<'a> {
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
    pub(super) fn new(posterior: &'a Distinct) -> Self {
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
    pub(super) fn descend(&mut self, start: &[u32], guides: &[Vec<u32>]) -> &[u32] {
        self.begin(start);
        loop {
            while self.move_faces() {}
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
                let is_proper = piece.len() < self.sizes[self.labels[piece[0] as usize] as usize] as usize;
                has_moved |= is_proper && piece.len() > 1 && self.improve(piece);
            }
        }
        has_moved
    }

    /// Moves faces that are in one cluster to where the objective is least; whether that is elsewhere.
    ///
    /// Relative to a cluster of their own, `p` faces in a cluster with `n` others cost
    /// `g(n + p) - g(n) - g(p) - 2 E sum_j [g(n_j + p_j) - g(n_j) - g(p_j)]`, with `n_j` and `p_j` of them in
    /// the draw's cluster j. Only clusters that meet the faces in some draw can cost less than nothing.
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

/// A gain below this is rounding: the objective is a sum of terms near `N ln N` with errors near 1e-16 of
/// that.
const LEAST_GAIN: f64 = 1e-9;

/// A shown cluster that meets a draw's cluster, and in how many faces; no faces ends the list.
#[derive(Clone, Copy)]
struct Meeting {
    cluster: u32,
    n_faces: u32,
}

const END: Meeting = Meeting { cluster: u32::MAX, n_faces: 0 };

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_still_count_intersections_after_many_moves() {
        let mut bits = 8_u64;
        let mut label = || {
            bits = bits.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (bits >> 33) as u32 % 6
        };
        let draws: Vec<Vec<u32>> = (0..15).map(|_| (0..30).map(|_| label()).collect()).collect();
        let posterior = Distinct::of(&draws);
        let candidates = posterior.ranked();
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
}

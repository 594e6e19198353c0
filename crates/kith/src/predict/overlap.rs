//! How many faces the people of every draw have in common with people who are known otherwise.

use rayon::prelude::*;

use super::posterior::{Pooled, Posterior};

/// A person of a draw, somebody else, and how many faces they have in common.
pub(crate) type Overlap<P> = ((u32, P), usize);

impl Posterior {
    /// Per draw all who have a face in common; `person_of` has whose each face is otherwise. Groups are the
    /// same in most draws, and their faces are counted once.
    pub(crate) fn overlaps<P: Copy + Ord + Send + Sync>(
        &self,
        person_of: &[Option<P>],
    ) -> Vec<Vec<Overlap<P>>> {
        let of_group = |group: usize| {
            let people = self.members(group).iter().filter_map(|face| person_of[face.index()]);
            let mut people: Vec<P> = people.collect();
            people.sort_unstable();
            people.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect()
        };
        let of_groups: Vec<Vec<(P, usize)>> = (0..self.n_groups()).into_par_iter().map(of_group).collect();
        let of_draw = |draw: &Pooled| {
            let groups = draw.person.iter().zip(&draw.group);
            let pair = |(&person, &group): (&u32, &u32)| {
                of_groups[group as usize].iter().map(move |&(other, n)| ((person, other), n))
            };
            let mut pairs: Vec<Overlap<P>> = groups.flat_map(pair).collect();
            if draw.looks.is_empty() {
                return pairs;
            }
            pairs.sort_unstable_by_key(|pair| pair.0);
            let sums = pairs.chunk_by(|a, b| a.0 == b.0);
            sums.map(|of| (of[0].0, of.iter().map(|pair| pair.1).sum())).collect()
        };
        self.draws.par_iter().map(of_draw).collect()
    }
}

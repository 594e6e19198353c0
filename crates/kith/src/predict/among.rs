//! Which part of a partition of the faces that were learnt from a new face belongs to.
//!
//! Draws have different people, so that a column per person needs one partition that stands for all draws. A
//! person of a draw counts for each part with the share of their faces that are in it: two parts that a draw
//! takes for one person share that person's probability, in proportion to their faces.

use super::Posterior;
use super::answer::share;
use super::new_frame::NewFrame;
use super::one_face::Alone;

/// A partition, as the groups of a posterior see it.
#[derive(Clone, Debug)]
pub struct Parts {
    n_parts: usize,
    /// Per group, the parts that its faces are in, with their shares of them.
    of_group: Vec<Vec<(u32, f64)>>,
}

impl Posterior {
    /// Prepares a partition of the faces learnt from, its parts numbered from 0.
    ///
    /// # Panics
    /// When it is not one of as many faces.
    pub fn parts(&self, of_face: &[u32]) -> Parts {
        assert_eq!(of_face.len(), self.n_faces(), "a partition has every face");
        let of_group = |group: usize| {
            let members = self.members(group);
            let mut parts: Vec<u32> = members.iter().map(|face| of_face[face.index()]).collect();
            parts.sort_unstable();
            let shares = parts.chunk_by(|a, b| a == b);
            shares.map(|part| (part[0], part.len() as f64 / members.len() as f64)).collect()
        };
        let n_parts = of_face.iter().max().map_or(0, |&last| last as usize + 1);
        Parts { n_parts, of_group: (0..self.n_groups()).map(of_group).collect() }
    }

    /// How probable it is that a face, alone in its frame, is of each part; what is left is somebody never
    /// seen. As [`Posterior::predict`], all draws counting alike.
    pub fn predict_among(&self, parts: &Parts, context: Option<&str>, face: &[f32]) -> Vec<f64> {
        let mut found = vec![0.0; parts.n_parts];
        let mut add = |group: u32, p: f64| {
            parts.of_group[group as usize]
                .iter()
                .for_each(|&(part, share)| found[part as usize] += share * p);
        };
        let weight = 1.0 / self.draws.len() as f64;
        let mut frame = NewFrame::new(self, context, &[face]);
        if let Some(alone) = Alone::of(&frame, None) {
            alone.for_each_group(self, &vec![weight; self.draws.len()], add);
        } else {
            for (draw, marginal) in self.draws.iter().zip(frame.under_all(None)) {
                for &(identity, p) in &marginal.identities[0] {
                    add(draw.group[identity as usize], weight * p);
                }
            }
        }
        // Where nothing explains a face, nobody who was seen does.
        let total: f64 = found.iter().sum();
        if total.is_finite() { found.into_iter().map(share).collect() } else { vec![0.0; parts.n_parts] }
    }
}

#[cfg(test)]
mod tests {
    use crate::belief::{Belief, Chains, Until};
    use crate::chain::Watch;
    use crate::data::NewFace;
    use crate::model::{FaceModel, Isotropic, Model};

    #[test]
    fn parts_and_somebody_never_seen_are_all_there_is() {
        let prior = Isotropic { mean: vec![0.0; 2], kappa: 0.01, shape: 3.0, rate: 0.5 };
        let mut belief =
            Belief::new(Model::new(FaceModel::isotropic(prior)), Chains { n: 4, seed: 1 }).unwrap();
        for k in 0..8 {
            for x in [5.0, -5.0] {
                let face = [x, 0.1 * k as f32];
                belief.see(None, &[NewFace { embedding: &face, name: None }]).unwrap();
            }
        }
        belief.learn(&Until::agreed(), &Watch::nobody());
        let posterior = belief.posterior();
        // Each person a part, both one part, and the first person cut in two.
        let two: Vec<u32> = (0..16).map(|face| face % 2).collect();
        let cut: Vec<u32> = (0..16).map(|face| if face % 4 == 2 { 2 } else { face % 2 }).collect();
        for face in [[5.0, 0.3], [-4.0, 0.0], [0.0, 9.0], [1e6, 0.0]] {
            let answer = &posterior.predict(None, &[&face], false)[0];
            for of_face in [&two, &vec![0; 16], &cut] {
                let p = posterior.predict_among(&posterior.parts(of_face), None, &face);
                assert!((p.iter().sum::<f64>() + answer.stranger - 1.0).abs() < 1e-9, "{p:?} {answer:?}");
            }
            let [of_two, of_cut] =
                [&two, &cut].map(|of| posterior.predict_among(&posterior.parts(of), None, &face));
            assert!((of_two[0] - of_cut[0] - of_cut[2]).abs() < 1e-12);
            // Half of the first person's faces are in either piece; a few draws may cut that person
            // otherwise.
            assert!((of_cut[0] - of_cut[2]).abs() < 0.1, "{of_cut:?}");
        }
        assert!(posterior.predict_among(&posterior.parts(&two), None, &[5.0, 0.3])[0] > 0.9);
    }
}

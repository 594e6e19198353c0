//! What is kept of a posterior, so that a question looks at the faces of few people: bounds of what groups say of a face.
//!
//! Two kinds of them. One is that of a scan (`gibbs/scan/screen.rs`), a row of numbers per group, which all groups are
//! sorted out by. The other is closer, and larger: an envelope of the covariances that the groups of one person have
//! in all draws (`model/face/envelope.rs`). It is read for those whom the first does not rule out; whom neither does,
//! their faces.

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::bounds::Bounds;
use super::posterior::Posterior;
use crate::chain::Draw;
use crate::ids::FaceId;
use crate::model::face::{Centred, Envelope, ODD};
use crate::target::Target;

/// Of fewer faces an envelope would be larger than they are.
const FEWEST: usize = 6;

/// Bounds of the groups of draws, and which groups they are.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptBounds {
    /// Which groups they are of.
    pub digest: u64,
    /// Numbers that only [`Posterior::with_bounds`] understands.
    pub values: Vec<f32>,
}

/// Where envelopes are kept.
pub trait Envelopes: Debug + Send + Sync {
    /// The bytes of one that [`Posterior::envelopes`] made, by its number.
    fn read(&self, number: u32) -> Option<Vec<u8>>;
}

/// Envelopes that are read when they are needed.
#[derive(Clone, Debug)]
pub(super) struct Closer {
    source: Arc<dyn Envelopes>,
    /// Per face, the group that it has in the first draw: the number of its person's envelope.
    home_of: Vec<u32>,
    read: Vec<OnceLock<Option<Envelope>>>,
}

impl Posterior {
    /// As [`Posterior::new`], with bounds that were kept of it: a group's faces are looked at when it may matter to
    /// somebody who asks. `None` where they are of other draws. The target is copied, so its embeddings should be
    /// elsewhere.
    ///
    /// # Panics
    /// As [`Posterior::new`].
    pub fn with_bounds(
        target: &Target,
        draws: &[Draw],
        kept: &KeptBounds,
        envelopes: Option<Arc<dyn Envelopes>>,
    ) -> Option<Self> {
        let mut posterior = Self::outlined(target, draws, Some(Arc::new(target.clone())));
        let n_groups = posterior.n_groups();
        posterior.groups = vec![OnceLock::new(); n_groups];
        let is_same = kept.digest == posterior.digest;
        posterior.screen.keep(n_groups, &kept.values).filter(|()| is_same)?;
        posterior.closer = envelopes.map(|source| Closer {
            source,
            home_of: posterior.homes(),
            read: vec![OnceLock::new(); n_groups],
        });
        Some(posterior)
    }

    /// What [`Posterior::with_bounds`] needs.
    pub fn bounds(&self) -> KeptBounds {
        KeptBounds { digest: self.digest, values: self.screen.kept() }
    }

    /// Envelopes of the groups of all people with more than a few faces, each with its number.
    pub fn envelopes(&self, target: &Target) -> Vec<(u32, Vec<u8>)> {
        let home_of = self.homes();
        let mut of_home: Vec<Vec<usize>> = vec![Vec::new(); self.n_groups()];
        for group in (0..self.n_groups()).filter(|&group| !self.members(group).is_empty()) {
            of_home[home_of[self.members(group)[0].index()] as usize].push(group);
        }
        let is_large = |groups: &Vec<usize>| groups.iter().any(|&group| self.members(group).len() >= FEWEST);
        let homes: Vec<(u32, Vec<usize>)> = (0..).zip(of_home).filter(|home| is_large(&home.1)).collect();
        let made =
            homes.par_iter().filter_map(|(home, groups)| Some((*home, self.envelope(groups, target)?)));
        made.collect()
    }

    /// Every face of some groups, at the largest scale that it has there.
    fn envelope(&self, groups: &[usize], target: &Target) -> Option<Vec<u8>> {
        let mut faces: Vec<(FaceId, u8)> = groups
            .iter()
            .flat_map(|&group| self.members(group).iter().copied().zip(self.scales_of(group).iter().copied()))
            .filter(|face| face.1 != ODD)
            .collect();
        // Scales are numbered from the largest lambda on.
        faces.sort_unstable();
        faces.dedup_by_key(|face| face.0);
        let looked = |&(face, scale): &(FaceId, u8)| {
            let mut x = Centred::default();
            target.look(face, &mut x);
            x.set_scale(scale);
            x
        };
        let faces: Vec<Centred> = faces.iter().map(looked).collect();
        Some(self.model.face.envelope(faces.iter())?.to_bytes())
    }

    /// Per face the group that it has in the first draw.
    fn homes(&self) -> Vec<u32> {
        let mut home_of = vec![0; self.n_faces()];
        for &group in &self.draws[0].group {
            self.members(group as usize).iter().for_each(|face| home_of[face.index()] = group);
        }
        home_of
    }

    /// A closer bound of what a group says of a face, where one was kept.
    fn closer_bound(&self, group: usize, x: &Centred) -> Option<f64> {
        let closer = self.closer.as_ref()?;
        let home = closer.home_of[self.members(group).first()?.index()];
        let n_axes = self.model.face.axes().n_axes;
        let read = || Envelope::from_bytes(&closer.source.read(home)?, n_axes);
        let envelope = closer.read[home as usize].get_or_init(read).as_ref()?;
        let bound = self.screen.upper_bound_given(group, x, |residual| envelope.at_least(residual))?;
        Some(self.ln_highest_seat[group] + f64::from(x.bound(bound as f32 + 1e-3)))
    }

    /// What some groups say of a face: of all of them, or where faces have to be read for it, of those that by a closer
    /// bound weigh more than `floor`.
    pub(super) fn weighed(
        &self,
        groups: &[u32],
        x: &Centred,
        bounds: &Bounds,
        floor: f64,
    ) -> Vec<(u32, f64)> {
        if !self.reads_faces() {
            return groups.iter().map(|&group| (group, self.ln_face(group as usize, x))).collect();
        }
        let weigh = |&group: &u32| {
            let closer = self.closer_bound(group as usize, x).unwrap_or(f64::INFINITY) + bounds.excess();
            (closer > floor).then(|| (group, self.ln_face(group as usize, x)))
        };
        groups.par_iter().filter_map(weigh).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::cases;
    use crate::chain::Chain;
    use crate::gibbs::Sweep;
    use crate::predict::new_frame::NewFrame;
    use crate::random::driver;
    use crate::simulate::prior;

    #[derive(Debug)]
    struct Here(HashMap<u32, Vec<u8>>);

    impl Envelopes for Here {
        fn read(&self, number: u32) -> Option<Vec<u8>> {
            self.0.get(&number).cloned()
        }
    }

    /// Draws of a case, their posterior, and the same by what is kept of it.
    fn both(case: &cases::Case) -> (Target, Posterior, Posterior) {
        let (state, target) = prior::draw(&case.target, &mut driver(41));
        let mut chain = Chain::of_state(state, driver(42));
        let next = |_| {
            chain.sweep(&Sweep::default(), &target);
            chain.draw(&target)
        };
        let draws: Vec<Draw> = (0..12).map(next).collect();
        let whole = Posterior::new(&target, &draws);
        let groups: Vec<u32> = (0..whole.n_groups() as u32).collect();
        let home_of = whole.homes();
        let mut envelopes = HashMap::new();
        for home in 0..whole.n_groups() as u32 {
            let is_here = |&&group: &&u32| home_of[whole.members(group as usize)[0].index()] == home;
            let of_home: Vec<usize> = groups.iter().filter(is_here).map(|&group| group as usize).collect();
            whole.envelope(&of_home, &target).into_iter().for_each(|bytes| _ = envelopes.insert(home, bytes));
        }
        let source: Arc<dyn Envelopes> = Arc::new(Here(envelopes));
        let kept = Posterior::with_bounds(&target, &draws, &whole.bounds(), Some(source)).unwrap();
        (target, whole, kept)
    }

    #[test]
    fn a_closer_bound_is_above_what_it_bounds_and_closer() {
        let (mut n_closer, mut n_bounds) = (0, 0);
        for case in cases::all() {
            let (target, whole, kept) = both(&case);
            let mut rng = driver(43);
            for size in [0.3, 1.0, 4.0, 30.0] {
                let face: Vec<f32> =
                    (0..target.data().dimension()).map(|_| (size * rng.normal()) as f32).collect();
                let mut x = Centred::default();
                whole.model.face.centre(&face, &mut x);
                let bounds = Bounds::new(&kept, &x, 0.0);
                for group in 0..kept.n_groups() {
                    let Some(closer) = kept.closer_bound(group, &x) else { continue };
                    let exact = whole.ln_face(group, &x) + whole.ln_highest_seat[group];
                    assert!(closer >= exact, "{}: {closer} {exact}", case.name);
                    n_bounds += 1;
                    n_closer += usize::from(closer < bounds.of(group as u32) - 0.01);
                }
            }
        }
        assert!(n_bounds > 200 && 3 * n_closer > n_bounds, "{n_closer} of {n_bounds}");
    }

    #[test]
    fn what_is_kept_gives_the_answers_of_all_faces_in_every_mode() {
        for case in cases::all() {
            let (target, whole, kept) = both(&case);
            let mut rng = driver(44);
            for (context, size) in [(None, 1.0), (Some("home"), 3.0), (Some("never seen"), 20.0)] {
                let face: Vec<f32> =
                    (0..target.data().dimension()).map(|_| (size * rng.normal()) as f32).collect();
                let under = |posterior| NewFrame::new(posterior, context, &[&face]).under_all(None);
                for (a, b) in under(&kept).iter().zip(under(&whole)) {
                    assert!((a.new[0] - b.new[0]).abs() < 1e-5, "{}: {} {}", case.name, a.new[0], b.new[0]);
                    assert!((a.ln_evidence - b.ln_evidence).abs() < 1e-5, "{}", case.name);
                }
            }
        }
    }
}

//! What is kept of a posterior, so that a question looks at the faces of few people: bounds of what groups
//! say of a face.
//!
//! Two kinds of them. One is that of a scan (`gibbs/scan/screen.rs`), a row of numbers per group, which all
//! groups are sorted out by. The other is closer, and larger: an envelope of the covariances that the groups
//! of one person have in all draws (`model/face/envelope.rs`). It is read for those whom the first does not
//! rule out; whom neither does, their faces.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Debug;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::prelude::*;

use super::bounds::Bounds;
use super::posterior::{Posterior, scatter};
use crate::chain::Draw;
use crate::ids::FaceId;
use crate::model::face::{COPY, Centred, Envelope};
use crate::target::Target;

/// Of fewer faces an envelope would be larger than they are.
const FEWEST: usize = 6;

/// Of draws that differ from those that bounds were kept of, at most one face in so many may be in a group
/// that none were kept of, unless there are few.
const ONE_IN: usize = 8;
const FEW: usize = 4096;

/// Bounds of the groups of draws, and which groups they are.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptBounds {
    /// What each group is known by.
    pub groups: Vec<u64>,
    /// The number of the envelope that bounds each, or [`NO_ENVELOPE`].
    pub envelopes: Vec<u32>,
    /// Numbers that only [`Posterior::with_bounds`] understands.
    pub values: Vec<f32>,
}

/// A group has no envelope.
pub const NO_ENVELOPE: u32 = u32::MAX;

/// What was kept of a posterior, for faces that may have other numbers now.
#[derive(Clone, Debug)]
pub struct Bounded<'a> {
    /// What was kept, in parts.
    pub kept: &'a [KeptBounds],
    /// What each face is known by, whatever its number.
    pub key_of: &'a [u64],
    /// Where envelopes are.
    pub envelopes: Option<Arc<dyn Envelopes>>,
}

/// Where envelopes are kept.
pub trait Envelopes: Debug + Send + Sync {
    /// The bytes of one that [`Posterior::envelopes`] made, by its number.
    fn read(&self, number: u32) -> Option<Vec<u8>>;
}

/// Envelopes that are read when they are needed.
#[derive(Debug)]
pub(super) struct Closer {
    source: Arc<dyn Envelopes>,
    /// Per group the number of its envelope.
    number_of: Vec<u32>,
    read: Mutex<HashMap<u32, Option<Arc<Envelope>>>>,
}

impl Clone for Closer {
    fn clone(&self) -> Self {
        let (source, number_of) = (self.source.clone(), self.number_of.clone());
        Self { source, number_of, read: Mutex::default() }
    }
}

impl Closer {
    /// The envelope of a group.
    fn envelope(&self, group: usize, n_axes: usize) -> Option<Arc<Envelope>> {
        let number = Some(self.number_of[group]).filter(|&number| number != NO_ENVELOPE)?;
        let read = || self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = read().get(&number) {
            return known.clone();
        }
        let bytes = self.source.read(number);
        let envelope = bytes.and_then(|bytes| Envelope::from_bytes(&bytes, n_axes)).map(Arc::new);
        read().insert(number, envelope.clone());
        envelope
    }
}

impl Posterior {
    /// As [`Posterior::new`], with bounds that were kept of it: a group's faces are looked at when it may
    /// matter to somebody who asks. Groups that none were kept of are looked at now; `None` where there are
    /// many of them. The target is copied, so its embeddings should be elsewhere.
    ///
    /// # Panics
    /// As [`Posterior::new`].
    pub fn with_bounds(target: &Target, draws: &[Draw], bounded: &Bounded<'_>) -> Option<Self> {
        let kept = bounded.kept;
        let mut posterior = Self::outlined(target, draws, Some(Arc::new(target.clone())));
        let n_groups = posterior.n_groups();
        posterior.groups = vec![OnceLock::new(); n_groups];
        let places = posterior.places(bounded.key_of, kept);
        let new: Vec<usize> = (0..n_groups).filter(|&group| places[group].is_none()).collect();
        let n_new: usize = new.iter().map(|&group| posterior.members(group).len()).sum();
        if n_new > FEW.max(posterior.n_faces() / ONE_IN) {
            return None;
        }
        let parts: Vec<(usize, &[f32])> =
            kept.iter().map(|part| (part.groups.len(), &part.values[..])).collect();
        posterior.screen.keep(&parts, &places)?;
        new.par_iter().for_each(|&group| _ = posterior.group(group));
        for group in new {
            let made = posterior.groups[group].get().expect("it has just been made");
            posterior.screen.refresh(group, made, &target.model().face, &[]);
        }
        let number_of = |place: &Option<(usize, usize)>| {
            place.map_or(NO_ENVELOPE, |(part, place)| kept[part].envelopes[place])
        };
        let number_of = places.iter().map(number_of).collect();
        let closer = |source| Closer { source, number_of, read: Mutex::default() };
        posterior.closer = bounded.envelopes.clone().map(closer);
        Some(posterior)
    }

    /// Where each group is among those that bounds were kept of: in which part, and where there.
    fn places(&self, key_of: &[u64], kept: &[KeptBounds]) -> Vec<Option<(usize, usize)>> {
        let mut place_of: HashMap<u64, (usize, usize)> = HashMap::new();
        for (part, of) in kept.iter().enumerate().filter(|(_, of)| of.envelopes.len() == of.groups.len()) {
            place_of.extend(of.groups.iter().zip(0..).map(|(&key, place)| (key, (part, place))));
        }
        let keys = self.group_keys(key_of).into_iter();
        keys.map(|key| place_of.get(&key).copied()).collect()
    }

    /// What each group is known by: a sum over its faces and their scales, well mixed.
    fn group_keys(&self, key_of: &[u64]) -> Vec<u64> {
        let key = |group: usize| {
            let faces = self.members(group).iter().zip(self.scales_of(group));
            let bits = |(face, &scale): (&FaceId, &u8)| {
                scatter(key_of[face.index()]).wrapping_mul(2 * u128::from(scale) + 1)
            };
            let sum = faces.map(bits).fold(0u128, u128::wrapping_add);
            (sum >> 64) as u64 ^ sum as u64
        };
        (0..self.n_groups()).map(key).collect()
    }

    /// What [`Posterior::with_bounds`] needs, with the envelopes that [`Posterior::envelopes`] makes, or
    /// those that were kept before; of all groups but those that are known.
    pub fn bounds(&self, key_of: &[u64], known: &[u64]) -> KeptBounds {
        let envelopes = match &self.closer {
            Some(closer) => closer.number_of.clone(),
            None => self.envelope_numbers(),
        };
        let known: HashSet<u64> = known.iter().copied().collect();
        let keys = self.group_keys(key_of);
        let places: Vec<usize> = (0..keys.len()).filter(|&group| !known.contains(&keys[group])).collect();
        KeptBounds {
            groups: places.iter().map(|&group| keys[group]).collect(),
            envelopes: places.iter().map(|&group| envelopes[group]).collect(),
            values: self.screen.kept(&places),
        }
    }

    /// Per group the number of its envelope: that of the group that its first face has in the first draw,
    /// where groups of that number have more than a few faces.
    fn envelope_numbers(&self) -> Vec<u32> {
        let home_of = self.homes();
        let home = |group: usize| self.members(group).first().map(|face| home_of[face.index()]);
        let mut is_large = vec![false; self.n_groups()];
        for group in (0..self.n_groups()).filter(|&group| self.members(group).len() >= FEWEST) {
            home(group).into_iter().for_each(|home| is_large[home as usize] = true);
        }
        let large = |group: usize| home(group).filter(|&home| is_large[home as usize]);
        (0..self.n_groups()).map(|group| large(group).unwrap_or(NO_ENVELOPE)).collect()
    }

    /// Envelopes of the groups of all people with more than a few faces, each with its number.
    pub fn envelopes(&self, target: &Target) -> Vec<(u32, Vec<u8>)> {
        let mut groups_of: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (group, number) in self.envelope_numbers().into_iter().enumerate() {
            groups_of.entry(number).or_default().push(group);
        }
        groups_of.remove(&NO_ENVELOPE);
        let made = groups_of
            .par_iter()
            .filter_map(|(&number, groups)| Some((number, self.envelope(groups, target)?)));
        made.collect()
    }

    /// Every face of some groups, at the largest scale that it has there.
    fn envelope(&self, groups: &[usize], target: &Target) -> Option<Vec<u8>> {
        let mut faces: Vec<(FaceId, u8)> = groups
            .iter()
            .flat_map(|&group| self.members(group).iter().copied().zip(self.scales_of(group).iter().copied()))
            .filter(|face| face.1 < COPY)
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

    /// A closer bound of what a group says of a face with usual looks, where one was kept.
    fn closer_bound(&self, group: usize, x: &Centred) -> Option<f64> {
        let n_axes = self.model.face.axes().n_axes;
        let envelope = self.closer.as_ref()?.envelope(group, n_axes)?;
        let bound = self.screen.upper_bound_given(group, x, |residual| envelope.at_least(residual))?;
        Some(f64::from(bound as f32 + 1e-3))
    }

    /// What some groups say of a face: of all of them, or where faces have to be read for it, of those that
    /// by a closer bound weigh more than `floor`.
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
            if let Some(ln_odd) = x.ln_only_odd(bounds.usual(group)) {
                return Some((group, ln_odd));
            }
            let closer = self.closer_bound(group as usize, x).unwrap_or(f64::INFINITY);
            if let Some(ln_odd) = x.ln_only_odd(closer) {
                return Some((group, ln_odd));
            }
            let ln_seat = self.ln_highest_seat[group as usize] + bounds.excess();
            (ln_seat + f64::from(x.bound(closer as f32)) > floor)
                .then(|| (group, self.ln_face(group as usize, x)))
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
        let key_of: Vec<u64> = (0..target.data().n_faces() as u64).map(|face| 3 * face + 1).collect();
        let mut bounds = whole.bounds(&key_of, &[]);
        // Here every group has one, however small.
        bounds.envelopes =
            groups.iter().map(|&group| home_of[whole.members(group as usize)[0].index()]).collect();
        // The second group is kept apart.
        let apart = whole.bounds(&key_of, &[&bounds.groups[..1], &bounds.groups[2..]].concat());
        assert_eq!(apart.groups, bounds.groups[1..2]);
        let apart = KeptBounds { envelopes: bounds.envelopes[1..2].to_vec(), ..apart };
        bounds.groups[1] = 0;
        let bounded = Bounded { kept: &[bounds, apart], key_of: &key_of, envelopes: Some(source) };
        let kept = Posterior::with_bounds(&target, &draws, &bounded).unwrap();
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
                    let exact = whole.ln_face(group, &x);
                    assert!(closer >= exact, "{}: {closer} {exact}", case.name);
                    n_bounds += 1;
                    n_closer += usize::from(closer < bounds.usual(group as u32) - 0.01);
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
                    assert!((a.new[0] - b.new[0]).abs() < 1e-6, "{}: {} {}", case.name, a.new[0], b.new[0]);
                    assert!((a.ln_evidence - b.ln_evidence).abs() < 1e-6, "{}", case.name);
                }
            }
        }
    }
}

//! Shots: faces that are nearly one picture. The first of each speaks for all: the others, its copies, say
//! nothing new of how photos of a person vary, nor of how sure it is that two photos are of one person.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::Dataset;
use crate::ids::{FaceId, FrameId};

/// Which face speaks for which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shots {
    /// Per face the first of its shot, itself for most.
    first_of: Vec<FaceId>,
}

impl Shots {
    /// Every face for itself.
    pub(crate) fn none(n_faces: usize) -> Self {
        Self { first_of: (0..n_faces).map(FaceId::new).collect() }
    }

    /// The face that speaks for a face.
    pub fn first_of(&self, face: FaceId) -> FaceId {
        self.first_of[face.index()]
    }

    /// Whether another speaks for a face.
    pub fn is_copy(&self, face: FaceId) -> bool {
        self.first_of(face) != face
    }

    /// Those who speak, ascending.
    pub fn firsts(&self) -> Vec<FaceId> {
        (0..self.first_of.len()).map(FaceId::new).filter(|&face| !self.is_copy(face)).collect()
    }

    /// How many faces others speak for.
    pub fn n_copies(&self) -> usize {
        (0..self.first_of.len()).map(FaceId::new).filter(|&face| self.is_copy(face)).count()
    }

    /// The same with shots of [`Shots::firsts`], numbered in that order: a shot of shots is one.
    pub(crate) fn joined(&self, of_firsts: &Self) -> Self {
        let firsts = self.firsts();
        let mut place = vec![0; self.first_of.len()];
        firsts.iter().enumerate().for_each(|(k, first)| place[first.index()] = k);
        let first_of = self.first_of.iter().map(|first| {
            let of_firsts = of_firsts.first_of(FaceId::new(place[first.index()]));
            firsts[of_firsts.index()]
        });
        Self { first_of: first_of.collect() }
    }

    /// Those of some proposed shots, each known by its first face, that may be. Nobody is twice on a photo, so
    /// that a frame of several faces is a copy as a whole: of faces of one other frame. Nothing that anybody
    /// said is lost: a face that something was said of speaks for itself. Photos of two contexts are two.
    pub(crate) fn allowed(proposed: &Self, data: &Dataset) -> Self {
        let mut allowed = Self::none(data.n_faces());
        let is_silent = |face: FaceId| {
            data.label(face).is_none()
                && data.evidence().links(face).is_empty()
                && data.evidence().denials(face).is_empty()
        };
        for frame in data.frames() {
            let faces = data.faces_in(frame);
            let mut firsts: Vec<FaceId> = faces.iter().map(|&face| proposed.first_of(face)).collect();
            let elsewhere = data.frame_of(firsts[0]);
            let are_copies = faces.iter().all(|&face| {
                let first = proposed.first_of(face);
                proposed.is_copy(face) && is_silent(face) && data.frame_of(first) == elsewhere
            });
            firsts.sort_unstable();
            firsts.dedup();
            let is_same_context = data.given_context(frame) == data.given_context(elsewhere);
            // What it is a copy of was not a copy itself.
            let are_firsts = firsts.iter().all(|&first| !allowed.is_copy(first));
            if are_copies
                && are_firsts
                && elsewhere != frame
                && firsts.len() == faces.len()
                && is_same_context
            {
                for &face in faces {
                    allowed.first_of[face.index()] = proposed.first_of(face);
                }
            }
        }
        allowed
    }

    /// From the first face of each face's group, by any name of the group.
    pub(crate) fn of_groups(groups: impl Iterator<Item = usize>) -> Self {
        let mut first_of_group = HashMap::new();
        let first = |(face, group): (usize, usize)| *first_of_group.entry(group).or_insert(FaceId::new(face));
        Self { first_of: groups.enumerate().map(first).collect() }
    }
}

/// The shots of a dataset, once they have been looked for: a cache, and no part of what makes two datasets
/// equal.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownShots(OnceLock<Option<Shots>>);

impl PartialEq for KnownShots {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl KnownShots {
    pub(super) fn get_or_find(&self, found: impl FnOnce() -> Option<Shots>) -> Option<Shots> {
        if let Some(known) = self.0.get() {
            return known.clone();
        }
        // Not while others wait: finding them is work for a pool of threads.
        let found = found();
        self.0.get_or_init(|| found).clone()
    }

    /// Something has changed.
    pub(super) fn forget(&mut self) {
        self.0.take();
    }
}

impl Dataset {
    /// Some of the faces, ascending, in their frames, with what was said of them; names and contexts keep
    /// their numbers. Also the frames that are left.
    pub(crate) fn of_faces(&self, faces: &[FaceId]) -> (Self, Vec<FrameId>) {
        let mut frames: Vec<FrameId> = faces.iter().map(|&face| self.frame_of(face)).collect();
        frames.sort_unstable();
        frames.dedup();
        let place_of = |frame: FrameId| FrameId::new(frames.partition_point(|&other| other < frame));
        let values = faces.iter().flat_map(|&face| self.embedding(face)).copied().collect();
        let embeddings =
            super::Embeddings::new(values, self.dimension()).expect("they are as finite as before");
        let frame_of = faces.iter().map(|&face| place_of(self.frame_of(face))).collect();
        let contexts = frames.iter().map(|&frame| self.given_context(frame)).collect();
        let mut some = Self::empty(self.dimension()).expect("a dataset has a dimension");
        for context in self.contexts() {
            some.know_context(context);
        }
        for name in self.names() {
            some.know_name(name);
        }
        let mut some = some.with_faces(embeddings, frame_of, contexts).expect("every frame has a face");
        some.recall_words(self, faces);
        (some.without_shots(), frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{NewFace, Statement};

    /// Frames of so many faces each, of as many dimensions.
    fn frames(sizes: &[usize]) -> Dataset {
        let mut data = Dataset::empty(2).unwrap();
        for (k, &n) in sizes.iter().enumerate() {
            let xs: Vec<[f32; 2]> = (0..n).map(|face| [k as f32, face as f32]).collect();
            let faces: Vec<NewFace<'_>> = xs.iter().map(|x| NewFace { embedding: x, name: None }).collect();
            data.push_frame(Some("home"), &faces).unwrap();
        }
        data
    }

    fn allowed(groups: &[usize], data: &Dataset) -> Vec<u32> {
        let shots = Shots::allowed(&Shots::of_groups(groups.iter().copied()), data);
        (0..groups.len()).map(|face| shots.first_of(FaceId::new(face)).0).collect()
    }

    #[test]
    fn a_photo_is_a_copy_as_a_whole_and_words_are_kept() {
        // Two people on each of three photos, and one of them alone.
        let data = frames(&[2, 2, 2, 1]);
        assert_eq!(allowed(&[0, 1, 0, 1, 0, 2, 0], &data), [0, 1, 0, 1, 4, 5, 0]);
        // Both faces of a photo are near one of another: not both are it.
        assert_eq!(allowed(&[0, 1, 0, 0, 0, 1, 1], &data), [0, 1, 2, 3, 0, 1, 1]);
        // On one photo nobody is twice.
        assert_eq!(allowed(&[0, 0, 1, 2, 1, 2, 0], &data), [0, 1, 2, 3, 2, 3, 0]);
        let mut said = data.clone();
        said.say_name(FaceId(6), "Ann");
        said.say(Statement::Different(FaceId(2), FaceId(3))).unwrap();
        assert_eq!(allowed(&[0, 1, 0, 1, 0, 1, 0], &said), [0, 1, 2, 3, 0, 1, 6]);
    }

    #[test]
    fn some_faces_keep_what_was_said_of_them() {
        let mut data = frames(&[2, 1, 1]);
        data.say_name(FaceId(0), "Ann");
        data.say_name(FaceId(3), "Bob");
        let ann = data.know_name("Ann");
        data.say(Statement::Not(FaceId(3), ann)).unwrap();
        data.say(Statement::Same(FaceId(0), FaceId(2))).unwrap();
        data.say(Statement::Same(FaceId(1), FaceId(3))).unwrap();
        let (some, left) = data.of_faces(&[FaceId(0), FaceId(1), FaceId(3)]);
        assert_eq!(left, [FrameId(0), FrameId(2)]);
        assert_eq!(some.names(), data.names());
        assert_eq!(some.embedding(FaceId(2)), data.embedding(FaceId(3)));
        assert!(some.introduces(FaceId(0)) && some.introduces(FaceId(2)));
        assert_eq!(
            some.evidence().statements(),
            [Statement::Not(FaceId(2), ann), Statement::Same(FaceId(1), FaceId(2))]
        );
    }

    #[test]
    fn a_shot_of_shots_is_one() {
        let near = Shots::of_groups([0, 0, 1, 1, 2].into_iter());
        let shots = near.joined(&Shots::of_groups([5, 6, 5].into_iter()));
        assert_eq!(shots.firsts(), [FaceId(0), FaceId(2)]);
        assert_eq!((shots.first_of(FaceId(4)), shots.n_copies()), (FaceId(0), 3));
    }
}

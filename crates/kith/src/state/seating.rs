//! Who sits where: identities `z_n` of faces, contexts `c*_m` of frames, and the counts N_ci, N_c., M_c.

use serde::{Deserialize, Serialize};

use super::PerContext;
use crate::data::Dataset;
use crate::ids::{ContextId, FaceId, FrameId, IdentityId};

/// Assignments and their counts. Identities are slots: an emptied one is used again for the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seating {
    identity_of: Vec<Option<IdentityId>>,
    context_of: Vec<ContextId>,
    /// The slots in use, in no particular order, and where each slot stands in that list.
    live: Vec<IdentityId>,
    place: Vec<u32>,
    free: Vec<IdentityId>,
    /// N_ci, per slot.
    counts: Vec<PerContext>,
    n_of: Vec<u32>,
    n_in: Vec<u32>,
    n_frames_in: Vec<u32>,
}

impl Seating {
    /// `z_n`; a face that is being moved, or has just arrived, has none.
    pub fn identity_of(&self, face: FaceId) -> Option<IdentityId> {
        self.identity_of[face.index()]
    }

    /// `c*_m`.
    pub fn context_of(&self, frame: FrameId) -> ContextId {
        self.context_of[frame.index()]
    }

    /// The identities that somebody has.
    pub fn identities(&self) -> &[IdentityId] {
        &self.live
    }

    /// Where an identity stands in [`Seating::identities`].
    pub fn place_of(&self, identity: IdentityId) -> usize {
        self.place[identity.index()] as usize
    }

    /// I.
    pub fn n_identities(&self) -> usize {
        self.live.len()
    }

    /// How many slots there are, free ones included.
    pub fn n_slots(&self) -> usize {
        self.n_of.len()
    }

    /// N_ci.
    pub fn n_at(&self, context: ContextId, identity: IdentityId) -> u32 {
        self.counts[identity.index()].at(context)
    }

    /// N_ci of an identity, in the contexts where it is not zero.
    pub fn per_context(&self, identity: IdentityId) -> &PerContext {
        &self.counts[identity.index()]
    }

    /// N_c.
    pub fn n_in(&self, context: ContextId) -> u32 {
        self.n_in[context.index()]
    }

    /// The faces of an identity, in all contexts.
    pub fn n_of(&self, identity: IdentityId) -> u32 {
        self.n_of[identity.index()]
    }

    /// M_c.
    pub fn n_frames_in(&self, context: ContextId) -> u32 {
        self.n_frames_in[context.index()]
    }

    /// All contexts, those without frames included.
    pub fn contexts(&self) -> impl Iterator<Item = ContextId> + use<> {
        (0..self.n_in.len() as u32).map(ContextId)
    }

    /// How many contexts there are, those without frames included.
    pub fn n_contexts(&self) -> usize {
        self.n_in.len()
    }

    /// How many faces and frames have been laid out.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.identity_of.len(), self.context_of.len())
    }

    /// These identities of the same faces, in the same contexts, and the counts that follow: the identities
    /// are the slots 0, 1, ... `n_identities` - 1.
    pub(super) fn counted(
        &self,
        identity_of: Vec<Option<IdentityId>>,
        n_identities: usize,
        data: &Dataset,
    ) -> Self {
        let mut counts = vec![PerContext::default(); n_identities];
        let (mut n_of, mut n_in) = (vec![0; n_identities], vec![0; self.n_contexts()]);
        for (face, identity) in identity_of.iter().enumerate() {
            if let Some(identity) = identity {
                let context = self.context_of(data.frame_of(FaceId::new(face)));
                counts[identity.index()].add(context);
                n_of[identity.index()] += 1;
                n_in[context.index()] += 1;
            }
        }
        Self {
            identity_of,
            context_of: self.context_of.clone(),
            live: (0..n_identities).map(IdentityId::new).collect(),
            place: (0..n_identities as u32).collect(),
            free: Vec::new(),
            counts,
            n_of,
            n_in,
            n_frames_in: self.n_frames_in.clone(),
        }
    }

    pub(super) fn add_context(&mut self) -> ContextId {
        self.n_in.push(0);
        self.n_frames_in.push(0);
        ContextId::new(self.n_in.len() - 1)
    }

    /// The next frame arrives in a context, its faces not yet seated.
    pub(super) fn add_frame(&mut self, context: ContextId, n_faces: usize) {
        self.context_of.push(context);
        self.n_frames_in[context.index()] += 1;
        self.identity_of.resize(n_faces, None);
    }

    /// A slot for a new identity.
    pub(super) fn open(&mut self) -> IdentityId {
        let identity = self.free.pop().unwrap_or_else(|| {
            self.counts.push(PerContext::default());
            self.n_of.push(0);
            self.place.push(0);
            IdentityId::new(self.n_of.len() - 1)
        });
        self.place[identity.index()] = self.live.len() as u32;
        self.live.push(identity);
        identity
    }

    /// An emptied identity leaves.
    pub(super) fn close(&mut self, identity: IdentityId) {
        debug_assert_eq!(self.n_of(identity), 0);
        let place = self.place_of(identity);
        self.live.swap_remove(place);
        if let Some(moved) = self.live.get(place) {
            self.place[moved.index()] = place as u32;
        }
        self.free.push(identity);
    }

    pub(super) fn seat(&mut self, face: FaceId, identity: IdentityId, data: &Dataset) {
        debug_assert_eq!(self.identity_of[face.index()], None);
        let context = self.context_of(data.frame_of(face));
        self.identity_of[face.index()] = Some(identity);
        self.counts[identity.index()].add(context);
        self.n_in[context.index()] += 1;
        self.n_of[identity.index()] += 1;
    }

    pub(super) fn unseat(&mut self, face: FaceId, data: &Dataset) -> IdentityId {
        let identity = self.identity_of[face.index()].take().expect("the face is seated");
        let context = self.context_of(data.frame_of(face));
        self.counts[identity.index()].take(context);
        self.n_in[context.index()] -= 1;
        self.n_of[identity.index()] -= 1;
        identity
    }

    /// Moves a frame with its faces to another context.
    pub(super) fn move_frame(&mut self, frame: FrameId, to: ContextId, data: &Dataset) {
        let from = std::mem::replace(&mut self.context_of[frame.index()], to);
        self.n_frames_in[from.index()] -= 1;
        self.n_frames_in[to.index()] += 1;
        for face in data.faces_in(frame) {
            if let Some(identity) = self.identity_of[face.index()] {
                self.counts[identity.index()].take(from);
                self.counts[identity.index()].add(to);
                self.n_in[from.index()] -= 1;
                self.n_in[to.index()] += 1;
            }
        }
    }
}

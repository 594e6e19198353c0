//! Faces in frames: who is on which photo, in which context, under which given name.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::neighbours::Neighbours;
use super::shots::{KnownShots, Shots};
use super::{DataError, Embeddings, Evidence, Statement};
use crate::ids::{ContextId, FaceId, FrameId, LabelId};

/// Everything that was observed: embeddings `x_n`, frames `f_n`, given contexts and given names `y_n`.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    embeddings: Embeddings,
    frame_of: Vec<FrameId>,
    /// The faces of each frame, one list after the other, and where each begins and the last ends.
    faces_in: Vec<FaceId>,
    begins: Vec<u32>,
    given_context: Vec<Option<ContextId>>,
    contexts: Interned,
    labels: Vec<Option<Label>>,
    /// Per name the first face that the owner said it of, of those that still have it when another is named.
    introduced: Vec<Option<FaceId>>,
    names: Interned,
    evidence: Evidence,
    neighbours: Neighbours,
    shots: KnownShots,
}

/// The name that a face was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Label {
    /// Which.
    pub name: LabelId,
    /// Whether the owner said it of this very face (`evidence.is`); otherwise it came with data
    /// (`name.error_rate`).
    pub is_word: bool,
}

/// One face of a frame that arrives.
#[derive(Clone, Copy, Debug)]
pub struct NewFace<'a> {
    /// Its embedding.
    pub embedding: &'a [f32],
    /// The name that somebody gave it, if anybody did.
    pub name: Option<&'a str>,
}

impl Dataset {
    /// No faces yet, of embeddings with `dimension` numbers.
    pub fn empty(dimension: usize) -> Result<Self, DataError> {
        Ok(Self {
            embeddings: Embeddings::empty(dimension)?,
            frame_of: Vec::new(),
            faces_in: Vec::new(),
            begins: vec![0],
            given_context: Vec::new(),
            contexts: Interned::default(),
            labels: Vec::new(),
            introduced: Vec::new(),
            names: Interned::default(),
            evidence: Evidence::default(),
            neighbours: Neighbours::default(),
            shots: KnownShots::default(),
        })
    }

    /// Puts columns together: `frames` has one entry per face and numbers frames from 0 without gaps,
    /// `contexts` has one entry per frame, `names` one per face.
    pub fn new(
        embeddings: Embeddings,
        frames: Vec<FrameId>,
        contexts: &[Option<String>],
        names: &[Option<String>],
    ) -> Result<Self, DataError> {
        if names.len() != embeddings.len() {
            return Err(DataError::Length { what: "names", found: names.len(), wanted: embeddings.len() });
        }
        let (mut places, mut known) = (Interned::default(), Interned::default());
        let given =
            contexts.iter().map(|context| context.as_deref().map(|c| ContextId(places.id_of(c)))).collect();
        let mut label = |name: &str| Label { name: LabelId(known.id_of(name)), is_word: false };
        let labels = names.iter().map(|name| name.as_deref().map(&mut label)).collect();
        let data = Self { contexts: places, names: known, ..Self::empty(embeddings.dimension())? };
        Ok(Self { labels, ..data.with_faces(embeddings, frames, given)? })
    }

    /// The faces of a dataset that has none yet: `frames` has one entry per face and numbers frames from 0
    /// without gaps, `contexts` has one known context, or none, per frame.
    pub fn with_faces(
        self,
        embeddings: Embeddings,
        frames: Vec<FrameId>,
        contexts: Vec<Option<ContextId>>,
    ) -> Result<Self, DataError> {
        let (n_faces, n_frames) = (embeddings.len(), contexts.len());
        if frames.len() != n_faces {
            return Err(DataError::Length { what: "frames", found: frames.len(), wanted: n_faces });
        }
        let highest = frames.iter().map(|frame| frame.index() + 1).max().unwrap_or(0);
        if highest > n_frames {
            return Err(DataError::Length { what: "contexts", found: n_frames, wanted: highest });
        }
        let mut begins = vec![0; n_frames + 1];
        frames.iter().for_each(|frame| begins[frame.index() + 1] += 1);
        if let Some(frame) = begins[1..].iter().position(|&n| n == 0) {
            return Err(DataError::EmptyFrame { frame });
        }
        (0..n_frames).for_each(|frame| begins[frame + 1] += begins[frame]);
        let (mut next, mut faces_in) = (begins.clone(), vec![FaceId(0); n_faces]);
        for (face, frame) in frames.iter().enumerate() {
            faces_in[next[frame.index()] as usize] = FaceId::new(face);
            next[frame.index()] += 1;
        }
        let labels = vec![None; n_faces];
        Ok(Self { embeddings, frame_of: frames, faces_in, begins, given_context: contexts, labels, ..self })
    }

    /// Adds one frame with all its faces; nothing is added when a face is refused.
    pub fn push_frame(&mut self, context: Option<&str>, faces: &[NewFace<'_>]) -> Result<FrameId, DataError> {
        let frame = FrameId::new(self.n_frames());
        if faces.is_empty() {
            return Err(DataError::EmptyFrame { frame: frame.index() });
        }
        let mut checked = Embeddings::empty(self.dimension())?;
        faces.iter().try_for_each(|face| checked.push(face.embedding))?;
        for face in faces {
            self.embeddings.push(face.embedding)?;
            self.frame_of.push(frame);
            let label = face.name.map(|name| Label { name: self.know_name(name), is_word: false });
            self.labels.push(label);
        }
        let first = self.n_faces() - faces.len();
        self.faces_in.extend((first..self.n_faces()).map(FaceId::new));
        self.begins.push(self.faces_in.len() as u32);
        let context = context.map(|context| ContextId(self.contexts.id_of(context)));
        self.given_context.push(context);
        self.neighbours.extend(self.embeddings.len());
        self.shots.forget();
        Ok(frame)
    }

    /// Gives a face the name that came with it, or takes any name away. Returns the name's id.
    pub fn set_name(&mut self, face: FaceId, name: Option<&str>) -> Option<LabelId> {
        let label = name.map(|name| Label { name: self.know_name(name), is_word: false });
        self.shots.forget();
        self.labels[face.index()] = label;
        label.map(|label| label.name)
    }

    /// The owner says whose face this is: of several names the latest counts, and it takes back that it was
    /// not this one.
    pub fn say_name(&mut self, face: FaceId, name: &str) -> LabelId {
        let name = self.know_name(name);
        let label = Some(Label { name, is_word: true });
        self.shots.forget();
        self.labels[face.index()] = label;
        self.introduced.resize(self.names().len(), None);
        let first = &mut self.introduced[name.index()];
        if first.is_none_or(|first| self.labels[first.index()] != label) {
            *first = Some(face);
        }
        if self.evidence.denials(face).contains(&name) {
            self.evidence.retain(|&said| said != Statement::Not(face, name));
        }
        name
    }

    /// The owner says something in place of what was said of the same thing before: the latest counts.
    pub fn correct(&mut self, statement: Statement) -> Result<(), DataError> {
        let is_same_thing = |said: &Statement| match (statement, *said) {
            (Statement::Not(..), other) => other == statement,
            (
                Statement::Same(a, b) | Statement::Different(a, b),
                Statement::Same(c, d) | Statement::Different(c, d),
            ) => [c, d] == [a, b] || [c, d] == [b, a],
            _ => false,
        };
        let is_repeated = match statement {
            Statement::Same(a, b) | Statement::Different(a, b) => {
                self.evidence.links(a).iter().any(|link| link.0 == b)
            }
            Statement::Not(face, name) => self.evidence.denials(face).contains(&name),
        };
        if is_repeated {
            self.evidence.retain(|said| !is_same_thing(said));
        }
        self.say(statement)?;
        if let Statement::Not(face, name) = statement
            && self.given_name(face) == Some(name)
        {
            self.labels[face.index()] = None;
        }
        Ok(())
    }

    /// The id of a name, which counts as known from now on, whether or not a face was given it.
    pub fn know_name(&mut self, name: &str) -> LabelId {
        LabelId(self.names.id_of(name))
    }

    /// The id of a context, which counts as named from now on, whether or not a frame was taken there.
    pub fn know_context(&mut self, context: &str) -> ContextId {
        ContextId(self.contexts.id_of(context))
    }

    /// Somebody said something about faces; it counts beside all that was said before.
    pub fn say(&mut self, statement: Statement) -> Result<(), DataError> {
        let faces = match statement {
            Statement::Same(a, b) | Statement::Different(a, b) if a == b => {
                return Err(DataError::OneFace { face: a.index() });
            }
            Statement::Same(a, b) | Statement::Different(a, b) => [a, b],
            Statement::Not(face, _) => [face, face],
        };
        let n_faces = self.n_faces();
        if let Some(face) = faces.iter().map(|face| face.index()).find(|&face| face >= n_faces) {
            return Err(DataError::NoFace { face, n_faces });
        }
        self.evidence.push(statement);
        self.shots.forget();
        Ok(())
    }

    /// What was said of some faces of another dataset, of which these are those faces, in their order; names
    /// have the same numbers.
    pub(super) fn recall_words(&mut self, all: &Self, faces: &[FaceId]) {
        let place_of = |face: FaceId| faces.binary_search(&face).ok().map(FaceId::new);
        self.labels = faces.iter().map(|&face| all.label(face)).collect();
        let introduced = all.introduced.iter().map(|face| face.and_then(place_of));
        self.introduced = introduced.collect();
        for statement in all.evidence.statements() {
            let both = |a: FaceId, b: FaceId| place_of(a).zip(place_of(b));
            let here = match *statement {
                Statement::Same(a, b) => both(a, b).map(|(a, b)| Statement::Same(a, b)),
                Statement::Different(a, b) => both(a, b).map(|(a, b)| Statement::Different(a, b)),
                Statement::Not(face, name) => place_of(face).map(|face| Statement::Not(face, name)),
            };
            here.into_iter().for_each(|statement| self.evidence.push(statement));
        }
    }

    /// Drops all statements, for simulations.
    pub(crate) fn unsay_all(&mut self) {
        self.evidence = Evidence::default();
    }

    /// Replaces the embedding of a face, for simulations.
    pub(crate) fn set_embedding(&mut self, face: FaceId, embedding: &[f32]) {
        self.embeddings.set(face.index(), embedding);
        self.neighbours.clear();
        self.shots.forget();
    }

    /// Replaces the given name of a face by another known one, for simulations.
    pub(crate) fn set_label(&mut self, face: FaceId, label: LabelId) {
        let is_word = self.label(face).is_some_and(|label| label.is_word);
        self.labels[face.index()] = Some(Label { name: label, is_word });
    }

    /// N, the number of faces.
    pub fn n_faces(&self) -> usize {
        self.frame_of.len()
    }

    /// M, the number of frames.
    pub fn n_frames(&self) -> usize {
        self.begins.len() - 1
    }

    /// D, the number of values in an embedding.
    pub fn dimension(&self) -> usize {
        self.embeddings.dimension()
    }

    /// Every face.
    pub fn faces(&self) -> impl DoubleEndedIterator<Item = FaceId> + ExactSizeIterator + use<> {
        (0..self.n_faces() as u32).map(FaceId)
    }

    /// Every frame.
    pub fn frames(&self) -> impl DoubleEndedIterator<Item = FrameId> + ExactSizeIterator + use<> {
        (0..self.n_frames() as u32).map(FrameId)
    }

    /// `x_n`.
    pub fn embedding(&self, face: FaceId) -> &[f32] {
        self.embeddings.row(face.index())
    }

    /// The flat block of all `x_n`.
    pub fn embeddings(&self) -> &Embeddings {
        &self.embeddings
    }

    /// A few of the faces before a face that look most like it, nearest first; worked out when first asked
    /// for.
    pub fn neighbours(&self, face: FaceId) -> &[FaceId] {
        self.neighbours.of(face, &self.embeddings)
    }

    /// Its shots, worked out when first asked for.
    pub(crate) fn shots(&self, found: impl FnOnce() -> Option<Shots>) -> Option<Shots> {
        self.shots.get_or_find(found)
    }

    /// The same, every face known to speak for itself.
    pub(crate) fn without_shots(mut self) -> Self {
        self.shots.forget();
        self.shots.get_or_find(|| None);
        self
    }

    /// `f_n`.
    pub fn frame_of(&self, face: FaceId) -> FrameId {
        self.frame_of[face.index()]
    }

    /// `F_m`, in the order of the rows.
    pub fn faces_in(&self, frame: FrameId) -> &[FaceId] {
        &self.faces_in[self.begins[frame.index()] as usize..self.begins[frame.index() + 1] as usize]
    }

    /// The context that was given for a frame.
    pub fn given_context(&self, frame: FrameId) -> Option<ContextId> {
        self.given_context[frame.index()]
    }

    /// The contexts that were given, by first appearance.
    pub fn contexts(&self) -> &[String] {
        &self.contexts.names
    }

    /// `y_n`, if the face was named.
    pub fn given_name(&self, face: FaceId) -> Option<LabelId> {
        self.label(face).map(|label| label.name)
    }

    /// The faces of whose names something was said.
    pub fn spoken_of(&self) -> impl Iterator<Item = FaceId> {
        self.faces()
            .filter(|&face| self.given_name(face).is_some() || !self.evidence.denials(face).is_empty())
    }

    /// `y_n` and where it comes from, if the face was named.
    pub fn label(&self, face: FaceId) -> Option<Label> {
        self.labels[face.index()]
    }

    /// Whether the owner made a name known by this face.
    pub fn introduces(&self, face: FaceId) -> bool {
        let label = self.label(face).filter(|label| label.is_word);
        label.is_some_and(|label| self.introduced.get(label.name.index()) == Some(&Some(face)))
    }

    /// What was said of faces beyond their names.
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// The known names (the paper's set Y), by first appearance.
    pub fn names(&self) -> &[String] {
        &self.names.names
    }
}

/// Strings numbered by first appearance.
#[derive(Clone, Debug, Default, PartialEq)]
struct Interned {
    names: Vec<String>,
    ids: HashMap<String, u32>,
}

impl Interned {
    fn id_of(&mut self, name: &str) -> u32 {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_that_is_refused_adds_nothing() {
        let mut data = Dataset::empty(2).unwrap();
        data.push_frame(Some("home"), &[NewFace { embedding: &[0.0, 1.0], name: Some("Ann") }]).unwrap();
        let before = data.clone();
        let bad = [
            NewFace { embedding: &[0.0, 1.0], name: Some("Bob") },
            NewFace { embedding: &[0.0, f32::NAN], name: None },
        ];
        let error = data.push_frame(Some("work"), &bad).unwrap_err();
        assert!(matches!(error, DataError::NotFinite { row: 1, column: 1, .. }), "{error}");
        assert_eq!(data, before);
    }

    #[test]
    fn columns_and_frames_build_the_same_dataset() {
        let embeddings = Embeddings::new(vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 2).unwrap();
        let frames = vec![FrameId(0), FrameId(0), FrameId(1)];
        let contexts = [Some("home".to_owned()), None];
        let names = [None, Some("Ann".to_owned()), Some("Ann".to_owned())];
        let columns = Dataset::new(embeddings, frames, &contexts, &names).unwrap();
        let mut pushed = Dataset::empty(2).unwrap();
        let ann = Some("Ann");
        let first =
            [NewFace { embedding: &[0.0, 1.0], name: None }, NewFace { embedding: &[2.0, 3.0], name: ann }];
        pushed.push_frame(Some("home"), &first).unwrap();
        pushed.push_frame(None, &[NewFace { embedding: &[4.0, 5.0], name: ann }]).unwrap();
        assert_eq!(columns, pushed);
    }
}

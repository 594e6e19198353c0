//! What people said of faces beyond their names (MODEL.md §7): the same person, different people, not this
//! name.

use crate::ids::{FaceId, LabelId};

/// One thing that somebody said; it may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statement {
    /// Two faces are one person.
    Same(FaceId, FaceId),
    /// Two faces are two people.
    Different(FaceId, FaceId),
    /// A face's name is not this one.
    Not(FaceId, LabelId),
}

impl Statement {
    /// The faces that it is about.
    pub fn faces(&self) -> impl Iterator<Item = FaceId> + use<> {
        let (a, b) = match *self {
            Self::Same(a, b) | Self::Different(a, b) => (a, Some(b)),
            Self::Not(face, _) => (face, None),
        };
        std::iter::once(a).chain(b)
    }
}

/// Another face, how often the two were said to be the same person, and how often different people.
pub type Link = (FaceId, u32, u32);

/// All statements, and an index from faces to those that concern them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    statements: Vec<Statement>,
    links: Vec<Vec<Link>>,
    denials: Vec<Vec<LabelId>>,
}

impl Evidence {
    /// Everything that was said, in the order in which it was.
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// The faces that were compared with a face, with how often it was said that they are the same person,
    /// and that they are not.
    pub fn links(&self, face: FaceId) -> &[Link] {
        self.links.get(face.index()).map_or(&[], Vec::as_slice)
    }

    /// Whether any two faces were compared.
    pub fn has_links(&self) -> bool {
        !self.links.is_empty()
    }

    /// The names that a face was said not to have, as often as it was said.
    pub fn denials(&self, face: FaceId) -> &[LabelId] {
        self.denials.get(face.index()).map_or(&[], Vec::as_slice)
    }

    /// Takes back what was said, but for what is to stay.
    pub(super) fn retain(&mut self, stays: impl Fn(&Statement) -> bool) {
        let mut left = Self::default();
        self.statements
            .iter()
            .filter(|statement| stays(statement))
            .for_each(|&statement| left.push(statement));
        *self = left;
    }

    pub(super) fn push(&mut self, statement: Statement) {
        match statement {
            Statement::Same(a, b) => self.link(a, b, [1, 0]),
            Statement::Different(a, b) => self.link(a, b, [0, 1]),
            Statement::Not(face, label) => at(&mut self.denials, face).push(label),
        }
        self.statements.push(statement);
    }

    fn link(&mut self, a: FaceId, b: FaceId, [same, different]: [u32; 2]) {
        for (face, other) in [(a, b), (b, a)] {
            let links = at(&mut self.links, face);
            match links.iter_mut().find(|link| link.0 == other) {
                Some(link) => *link = (other, link.1 + same, link.2 + different),
                None => links.push((other, same, different)),
            }
        }
    }
}

/// The list of a face, which may be the first that has one.
fn at<T: Clone>(lists: &mut Vec<Vec<T>>, face: FaceId) -> &mut Vec<T> {
    if lists.len() <= face.index() {
        lists.resize(face.index() + 1, Vec::new());
    }
    &mut lists[face.index()]
}

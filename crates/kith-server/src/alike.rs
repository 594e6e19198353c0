//! Who looks like whom, by the directions of people's mean embeddings, and small groups that may be pieces of
//! others.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use kith_store::{Asked, FrameRow, Person, PersonId};

/// Fewer faces say nothing of how far somebody's faces are from each other.
const LEAST_FACES: usize = 3;
/// So many of a hundred faces are farther from their own person than what counts as near.
const FAR: usize = 2;
/// What is shown as perhaps near, as a part of that.
const PERHAPS: f64 = 0.75;
/// A piece that is near is taken to be right so often, and one that is perhaps near.
const SURE: [f64; 2] = [0.9, 0.4];
/// Pieces, and people with a name, that are compared.
const MOST: [usize; 2] = [2000, 500];

/// Directions of people's looks.
#[derive(Clone, Default)]
pub struct Looks {
    means: Arc<HashMap<PersonId, Vec<f32>>>,
    /// As near as the farthest few of a person's own faces are to the others.
    near: f64,
}

/// Somebody who looks like another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alike {
    pub person: PersonId,
    /// 1 is alike.
    pub near: f64,
    /// As near as their own faces.
    pub is_near: bool,
    /// Nearly.
    pub is_perhaps: bool,
}

/// A small group that may be a piece of somebody with a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    pub person: PersonId,
    pub of: Alike,
    pub n_faces: usize,
}

impl Piece {
    /// How many faces are expected to be named right when it is taken in where it is right.
    pub fn worth(&self) -> f64 {
        SURE[usize::from(!self.of.is_near)] * self.n_faces as f64
    }
}

fn product(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum()
}

impl Looks {
    /// The mean direction of each person's embeddings, from that of all.
    pub fn of(people: &[Arc<Person>], asked: &Asked) -> Self {
        let (data, rows) = (asked.believed.belief.target().data(), &asked.believed.rows);
        let mut centre = vec![0.0_f32; data.dimension()];
        let share = 1.0 / data.n_faces().max(1) as f32;
        for face in data.faces() {
            centre.iter_mut().zip(data.embedding(face)).for_each(|(sum, x)| *sum += share * x);
        }
        let (mut means, mut own) = (HashMap::new(), Vec::new());
        for person in people {
            let faces: Vec<_> = person.faces.iter().filter_map(|face| rows.face_of(face.row)).collect();
            let mut mean = vec![0.0_f32; centre.len()];
            for &face in &faces {
                let looks = data.embedding(face).iter().zip(&centre);
                mean.iter_mut().zip(looks).for_each(|(sum, (x, centre))| *sum += x - centre);
            }
            let square = product(&mean, &mean);
            for &face in faces.iter().filter(|_| faces.len() >= LEAST_FACES) {
                let looks: Vec<f32> =
                    data.embedding(face).iter().zip(&centre).map(|(x, centre)| x - centre).collect();
                // Against the mean of the others.
                let (along, length) = (product(&looks, &mean), product(&looks, &looks));
                let others = (square - 2.0 * along + length).max(0.0).sqrt();
                own.push((along - length) / (others * length.sqrt()).max(f64::MIN_POSITIVE));
            }
            let length = square.sqrt().max(f64::MIN_POSITIVE) as f32;
            mean.iter_mut().for_each(|x| *x /= length);
            means.insert(person.id, mean);
        }
        own.sort_by(f64::total_cmp);
        let near = own.get(own.len() * FAR / 100).copied().unwrap_or(1.0).max(0.1);
        Self { means: Arc::new(means), near }
    }

    /// How near one of some people is to another, the nearest first.
    pub fn nearest(&self, id: PersonId, others: impl Iterator<Item = PersonId>) -> Vec<Alike> {
        let Some(mine) = self.means.get(&id) else { return Vec::new() };
        let alike = |person: PersonId| {
            let near = product(mine, self.means.get(&person)?);
            let (is_near, is_perhaps) = (near >= self.near, near >= PERHAPS * self.near);
            Some(Alike { person, near, is_near, is_perhaps })
        };
        let mut others: Vec<Alike> = others.filter(|&other| other != id).filter_map(alike).collect();
        others.sort_by(|a, b| b.near.total_cmp(&a.near).then(a.person.cmp(&b.person)));
        others
    }

    /// Small groups without a name that look like somebody who has one, the nearest first; not who is on a
    /// photo with them.
    pub fn pieces(&self, people: &[Arc<Person>]) -> Vec<Piece> {
        let by_size = |is_named: bool| {
            let mut list: Vec<&Arc<Person>> =
                people.iter().filter(|person| person.name.is_some() == is_named).collect();
            list.sort_by_key(|person| (std::cmp::Reverse(person.faces.len()), person.id));
            list.truncate(MOST[usize::from(is_named)]);
            list
        };
        let (named, unnamed) = (by_size(true), by_size(false));
        let frames =
            |person: &Person| -> BTreeSet<FrameRow> { person.faces.iter().map(|face| face.frame).collect() };
        let of_id: HashMap<PersonId, &Arc<Person>> =
            named.iter().map(|person| (person.id, *person)).collect();
        let piece = |person: &&Arc<Person>| {
            let of = *self.nearest(person.id, named.iter().map(|person| person.id)).first()?;
            let whole = of_id[&of.person];
            let is_apart = || frames(whole).is_disjoint(&frames(person));
            let is_piece = of.is_perhaps && person.faces.len() < whole.faces.len() && is_apart();
            is_piece.then_some(Piece { person: person.id, of, n_faces: person.faces.len() })
        };
        let mut pieces: Vec<Piece> = unnamed.iter().filter_map(piece).collect();
        pieces.sort_by(|a, b| b.of.near.total_cmp(&a.of.near).then(a.person.cmp(&b.person)));
        pieces
    }
}

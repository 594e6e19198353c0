//! Second looks (MODEL.md §8): small identities of a draw that are photos of somebody who has many more, with
//! another haircut, a beard or a mask.
//!
//! An identity is one Gaussian. Where somebody has hundreds of photos, a dozen that share what is odd about
//! them are likelier as an identity of their own, and no single law of faces says that they are not. What
//! says it is the crowd: under a network that tells people apart nobody else comes that near. So an identity
//! is a look of a larger one if it is no farther from it than photos of one person are from their mean, and
//! everybody else is much farther from both. Or somebody said so (`told.rs`). It is a function of the draw:
//! what is sampled is as it was.

use std::collections::HashSet;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::{pieces, told};
use crate::data::Dataset;
use crate::ids::{FaceId, FrameId, IdentityId, LabelId};
use crate::math::vectors::dot;
use crate::model::face::Centred;
use crate::state::State;
use crate::target::Target;

/// Fewer identities than this do not show how near people come to each other.
const CROWD: usize = 200;
/// A look has at most one photo for so many of its person's.
const SMALLER: u32 = 4;
/// The farthest that a look is from its person, squared and per axis, photos being 1 from their person's
/// mean.
const FARTHEST: f64 = 1.6;
/// Everybody else is at least so many times as far from both, in squares.
const CONTRAST: f64 = 2.2;
/// Where one of the person's other photos lies so far along the line to the look, and so many times as far as the
/// farthest of as many normal numbers, both are told by less: it may be farther, and others nearer. Of two people
/// whom others were as far from, no photo was farther than 0.14 on the way (docs/NOTEBOOK.md, "On the way").
const REACH: f64 = 0.3;
const BEYOND: f64 = 1.3;
const FARTHEST_REACHED: f64 = 2.0;
const CONTRAST_REACHED: f64 = 1.8;
/// A look of which more than one face in so many was said to be somebody else is not that person's.
const MOST_APART: usize = 4;
/// Of each identity so many of those nearest to it are looked at.
const NEAREST: usize = 12;
/// So many identities are compared with all at once.
const BLOCK: usize = 128;

/// Whose looks identities are.
#[derive(Default)]
pub(super) struct Looks {
    /// Per identity, in the order of `slots`, the identity whose look it is, itself for most; nothing where
    /// that is all of them.
    pub people: Vec<u32>,
    /// Faces of looks that were said not to be of the person: they are alone.
    pub apart: Vec<FaceId>,
}

/// An identity that is a look of another, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub look: usize,
    pub person: usize,
    /// Whether somebody said so.
    pub is_told: bool,
}

/// Which identities, in the order of `slots`, are looks of others.
pub(super) fn find(state: &State, slots: &[IdentityId], target: &Target) -> Looks {
    let is_told = told::is_anything(target.data());
    let has_covariances = target.model().face.has_covariances();
    if !has_covariances && !is_told {
        return Looks::default();
    }
    let crowd = Crowd::of(state, slots, target);
    let mut number_of = vec![0; state.seating().n_slots()];
    slots.iter().enumerate().for_each(|(number, slot)| number_of[slot.index()] = number);
    let seats = Seats { state, target, slots, number_of };
    let mut faces_of = vec![Vec::new(); slots.len()];
    for face in target.data().faces() {
        faces_of[seats.number(face)].push(face);
    }
    let looks = if has_covariances { unsaid(&crowd, &faces_of, &seats) } else { Vec::new() };
    let told = if is_told { told::find(&crowd, &looks, &seats) } else { Vec::new() };
    let people = told::people(&looks, &told, |number| seats.n_faces(number));
    if people.is_empty() {
        return Looks::default();
    }
    as_said(&people, faces_of, target.data())
}

/// Second looks and pieces, of which nobody had to say so.
fn unsaid(crowd: &Crowd, faces_of: &[Vec<FaceId>], seats: &Seats<'_>) -> Vec<Look> {
    let nearest = crowd.nearest();
    let (state, target) = (seats.state, seats.target);
    // Those that count: an odd face, or a copy, says nothing of where a person's photos end.
    let photos = |place: usize| -> Vec<Vec<f64>> {
        let mut x = Centred::default();
        let photo = |&face: &FaceId| {
            state.look(face, target, &mut x);
            (!x.leaves_no_trace()).then(|| target.model().face.place(&x))
        };
        faces_of[crowd.numbers[place]].iter().filter_map(photo).collect()
    };
    let mut looks = if nearest.len() < CROWD { Vec::new() } else { crowd.looks(&nearest, photos) };
    let may_be_one = |one: &[usize], other: &[usize]| {
        let faces = |places: &[usize]| -> Vec<FaceId> {
            places.iter().flat_map(|&place| faces_of[crowd.numbers[place]].iter().copied()).collect()
        };
        said_apart([&faces(one), &faces(other)], false, target.data()).is_some_and(|apart| apart.is_empty())
    };
    looks.extend(pieces::find(crowd, &nearest, photos, may_be_one));
    looks
}

/// Where everybody is in a state, identities by their number in a draw.
pub(super) struct Seats<'a> {
    pub state: &'a State,
    pub target: &'a Target,
    pub slots: &'a [IdentityId],
    number_of: Vec<usize>,
}

impl Seats<'_> {
    pub fn number(&self, face: FaceId) -> usize {
        let slot = self.state.seating().identity_of(face).expect("every face is seated");
        self.number_of[slot.index()]
    }

    fn n_faces(&self, number: usize) -> u32 {
        self.state.seating().n_of(self.slots[number])
    }
}

/// The looks that nothing speaks against which was said; the faces of all identities are given.
pub(super) fn as_said(looks: &[Look], mut faces_of: Vec<Vec<FaceId>>, data: &Dataset) -> Looks {
    let mut found = Looks { people: (0..faces_of.len() as u32).collect(), apart: Vec::new() };
    for &Look { look, person, is_told } in looks {
        if let Some(apart) = said_apart([&faces_of[look], &faces_of[person]], is_told, data) {
            found.people[look] = person as u32;
            let mut more = std::mem::take(&mut faces_of[look]);
            more.retain(|face| !apart.contains(face));
            faces_of[person].extend(more);
            found.apart.extend(apart);
        }
    }
    let is_nothing = (0..).zip(&found.people).all(|(number, &person)| number == person);
    if is_nothing { Looks::default() } else { found }
}

/// The identities of several photos, by where their means are.
pub(super) struct Crowd {
    n_axes: usize,
    /// The number of each, and how many photos it has that do not look odd.
    pub numbers: Vec<usize>,
    pub sizes: Vec<u32>,
    /// One after the other; what their squares are, and what the number of photos adds to a square, per axis.
    means: Vec<f32>,
    squares: Vec<f64>,
    noise: Vec<f64>,
}

impl Crowd {
    fn of(state: &State, slots: &[IdentityId], target: &Target) -> Self {
        let model = &target.model().face;
        let mut crowd = Self::new(model.axes().n_axes);
        let groups = slots.iter().map(|&slot| state.faces().group(slot)).enumerate();
        for (number, group) in groups.filter(|(_, group)| group.n_faces() > 1) {
            crowd.push(number, group.n_faces(), model.mean(group));
        }
        crowd
    }

    pub(super) fn new(n_axes: usize) -> Self {
        let (numbers, sizes, means, squares, noise) = Default::default();
        Self { n_axes, numbers, sizes, means, squares, noise }
    }

    /// One more, with the mean of so many photos, and the variance that it has because they are few.
    pub(super) fn push(&mut self, number: usize, size: u32, (mean, noise): (Vec<f64>, f64)) {
        self.numbers.push(number);
        self.sizes.push(size);
        self.squares.push(mean.iter().map(|m| m * m).sum::<f64>() / self.n_axes as f64);
        self.means.extend(mean.iter().map(|&m| m as f32));
        self.noise.push(noise);
    }

    /// How far everybody is from a place: squared, per axis, and less what so few photos add.
    pub fn far_from(&self, place: &[f64]) -> Vec<f64> {
        let square =
            |mean: &[f32]| -> f64 { mean.iter().zip(place).map(|(&m, x)| (f64::from(m) - x).powi(2)).sum() };
        let squares = self.means.chunks_exact(self.n_axes).map(square);
        squares.zip(&self.noise).map(|(square, noise)| square / self.n_axes as f64 - noise).collect()
    }

    /// The mean of one of them.
    pub fn mean(&self, place: usize) -> Vec<f64> {
        self.means[place * self.n_axes..][..self.n_axes].iter().map(|&m| f64::from(m)).collect()
    }

    /// Pairs of a look and its person, as far as faces say, by number; `photos` are those of a place.
    fn looks(&self, nearest: &[Vec<(usize, f64)>], photos: impl Fn(usize) -> Vec<Vec<f64>>) -> Vec<Look> {
        let of = |place: usize, farthest: f64| {
            let may_be = |&&(other, far): &&(usize, f64)| {
                far < farthest && self.sizes[other] >= SMALLER * self.sizes[place]
            };
            nearest[place].iter().find(may_be).copied()
        };
        let nearer: Vec<Option<(usize, f64)>> =
            (0..self.sizes.len()).map(|place| of(place, FARTHEST)).collect();
        // The nearest that is neither of the two, nor as it seems another look of the same person.
        let contrast = |place: usize, [look, person]: [usize; 2], far: f64| {
            let is_other = |&&(other, _): &&(usize, f64)| {
                let of_person = nearer[other].is_some_and(|(of, _)| of == person);
                other != look && other != person && !of_person
            };
            nearest[place].iter().find(is_other).map_or(0.0, |&(_, other)| other / far.max(0.25))
        };
        let mut looks = Vec::new();
        for look in 0..self.sizes.len() {
            let Some((person, far)) = of(look, FARTHEST_REACHED) else { continue };
            let pair = [look, person];
            let contrast = contrast(look, pair, far).min(contrast(person, pair, far));
            let is_near = far < FARTHEST && contrast >= CONTRAST;
            if nearer[person].is_none()
                && contrast >= CONTRAST_REACHED
                && (is_near || self.is_reached(pair, photos(person)))
            {
                let [look, person] = pair.map(|place| self.numbers[place]);
                looks.push(Look { look, person, is_told: false });
            }
        }
        looks
    }

    /// Whether one of a person's photos lies well on the way to a look.
    fn is_reached(&self, [look, person]: [usize; 2], photos: Vec<Vec<f64>>) -> bool {
        let (from, to) = (self.mean(person), self.mean(look));
        let line: Vec<f64> = to.iter().zip(&from).map(|(to, from)| to - from).collect();
        let length = dot(&line, &line);
        let along = |photo: &Vec<f64>| -> f64 {
            photo.iter().zip(&from).zip(&line).map(|((y, from), x)| (y - from) * x).sum::<f64>() / length
        };
        let reach = photos.iter().map(along).fold(0.0, f64::max);
        reach >= REACH && reach * length.sqrt() >= BEYOND * (2.0 * (photos.len() as f64).ln()).sqrt()
    }

    /// Of each the nearest others, with how far they are: squared, per axis, and less what so few photos add.
    pub(super) fn nearest(&self) -> Vec<Vec<(usize, f64)>> {
        let (n, d) = (self.sizes.len(), self.n_axes);
        let all = MatRef::from_row_major_slice(&self.means, n, d);
        let mut products = vec![0.0_f32; BLOCK * n];
        let mut nearest = Vec::with_capacity(n);
        for first in (0..n).step_by(BLOCK) {
            let rows = BLOCK.min(n - first);
            let out = MatMut::from_row_major_slice_mut(&mut products[..rows * n], rows, n);
            let some = all.subrows(first, rows);
            matmul(out, Accum::Replace, some, all.transpose(), 1.0, Par::Seq);
            for (row, products) in products[..rows * n].chunks(n).enumerate() {
                let place = first + row;
                let mut list: Vec<(usize, f64)> = Vec::with_capacity(NEAREST + 1);
                for (other, &product) in products.iter().enumerate().filter(|of| of.0 != place) {
                    let product = 2.0 * f64::from(product) / d as f64;
                    let far = self.squares[place] + self.squares[other]
                        - product
                        - self.noise[place]
                        - self.noise[other];
                    if list.len() < NEAREST || far < list[NEAREST - 1].1 {
                        let at = list.partition_point(|&(_, nearer)| nearer <= far);
                        list.insert(at, (other, far));
                        list.truncate(NEAREST);
                    }
                }
                nearest.push(list);
            }
        }
        nearest
    }
}

/// The faces of a look that were said not to be of the person, who are of neither then; nothing where what is
/// known speaks against the whole of it: both are on one photo, they were given two names, or too many of it
/// were said not to be. Where somebody said that they are one, a few photos of both may be mistakes.
fn said_apart([look, person]: [&[FaceId]; 2], is_told: bool, data: &Dataset) -> Option<Vec<FaceId>> {
    let frames: HashSet<FrameId> = person.iter().map(|&face| data.frame_of(face)).collect();
    let both = || look.iter().chain(person);
    let names: HashSet<LabelId> =
        both().filter_map(|&face| data.label(face)).map(|label| label.name).collect();
    let is_denied = |face: &&FaceId| data.evidence().denials(**face).iter().any(|name| names.contains(name));
    let n_met = look.iter().filter(|face| frames.contains(&data.frame_of(**face))).count();
    let meets = if is_told { MOST_APART * n_met > look.len() } else { n_met > 0 };
    if names.len() > 1 || meets || person.iter().any(|face| is_denied(&face)) {
        return None;
    }
    let of_person: HashSet<FaceId> = person.iter().copied().collect();
    let is_different = |face: &FaceId| {
        data.evidence().links(*face).iter().any(|link| link.2 > 0 && of_person.contains(&link.0))
    };
    let apart: Vec<FaceId> =
        look.iter().filter(|face| is_denied(face) || is_different(face)).copied().collect();
    (MOST_APART * apart.len() <= look.len()).then_some(apart)
}

#[cfg(test)]
mod tests {
    use crate::chain::{Chain, Draw, Memory};
    use crate::data::{Dataset, NewFace, Statement};
    use crate::ids::FaceId;
    use crate::model::face::Full;
    use crate::model::{FaceModel, FullPrior, Model};
    use crate::predict::Posterior;
    use crate::random::{Rng, driver};
    use crate::target::Target;

    const D: usize = 8;
    /// So many photos of the person, and of the second look, whose identity is the next.
    const MANY: usize = 40;
    const FEW: usize = 5;

    /// A crowd, and what each face of it is: identity 0 has many photos, identity 1 is `far` from it, squared
    /// and per axis, and the others are people of three photos who are all far from each other.
    struct Crowd {
        data: Dataset,
        identities: Vec<u32>,
        look: Vec<f32>,
    }

    fn photo(mean: &[f64], rng: &mut Rng) -> Vec<f32> {
        mean.iter().map(|m| (m + rng.normal()) as f32).collect()
    }

    fn crowd(n_others: usize, far: f64) -> Crowd {
        let mut rng = driver(7);
        let mut means = vec![vec![0.0; D], vec![far.sqrt(); D]];
        means.extend((0..n_others).map(|_| (0..D).map(|_| 30.0 * rng.normal()).collect::<Vec<f64>>()));
        let mut crowd = Crowd { data: Dataset::empty(D).unwrap(), identities: Vec::new(), look: Vec::new() };
        for (number, mean) in (0..).zip(&means) {
            for _ in 0..[MANY, FEW, 3][(number as usize).min(2)] {
                crowd.push(number, &photo(mean, &mut rng));
            }
        }
        crowd.look = photo(&means[1], &mut rng);
        crowd
    }

    impl Crowd {
        fn push(&mut self, identity: u32, embedding: &[f32]) {
            self.data.push_frame(None, &[NewFace { embedding, name: None }]).unwrap();
            self.identities.push(identity);
        }

        /// Everybody at their identity.
        fn draw(self) -> (Target, Draw) {
            let mut unit = vec![0.0; D * D];
            (0..D).for_each(|axis| unit[axis * (D + 1)] = 1.0);
            let prior = FullPrior {
                length: None,
                mean: vec![0.0; D],
                transform: unit,
                between: vec![900.0; D],
                freedom: 30.0,
                common: 0.4,
                tail: 30.0,
                power: 1.0,
                spread: 0.0,
                lookalikes: 0.0,
            };
            let model = Model::new(FaceModel::full(Full::new(prior)));
            let memory = Memory::of_partition(&self.identities, &self.data);
            let target = Target::new(model, self.data).unwrap();
            let draw = Chain::resume(&memory, 1, &target).draw(&target);
            (target, draw)
        }

        fn found(self) -> bool {
            let (_, draw) = self.draw();
            let is_one = draw.person(1) == 0;
            let others = (0..draw.n_identities() as u32).filter(|&identity| identity != 1);
            assert!(others.into_iter().all(|identity| draw.person(identity) == identity));
            assert_eq!(draw.n_people(), draw.n_identities() - usize::from(is_one));
            assert_eq!(draw.partition()[MANY] == draw.partition()[0], is_one);
            is_one
        }

        fn say(mut self, statement: Statement) -> Self {
            self.data.correct(statement).unwrap();
            self
        }

        fn name(mut self, face: usize, name: &str) -> Self {
            self.data.say_name(FaceId::new(face), name);
            self
        }
    }

    #[test]
    fn a_few_odd_photos_near_a_person_of_many_are_that_person_where_nobody_else_is_near() {
        assert!(crowd(250, 1.0).found());
        assert!(!crowd(250, 3.0).found(), "farther than photos are from their person");
        assert!(!crowd(150, 1.0).found(), "too few people to know");
        // Farther, but another photo of the person is on the way.
        let reached = |far: f64, share: f64| {
            let mut reached = crowd(250, far);
            reached.push(0, &[(share * far.sqrt()) as f32; D]);
            reached.found()
        };
        assert!(reached(1.6, 1.3) && !reached(1.6, 0.2) && !reached(2.4, 1.3));
        // Somebody with half as many photos is as near: then near says nothing.
        let mut near = crowd(250, 1.0);
        let mut rng = driver(8);
        for _ in 0..MANY / 2 {
            near.push(252, &photo(&[-1.2; D], &mut rng));
        }
        assert!(!near.found());
    }

    #[test]
    fn what_is_known_of_faces_decides() {
        let (person, look) = (0, MANY);
        assert!(crowd(250, 1.0).name(person, "Ann").found());
        assert!(crowd(250, 1.0).name(look, "Ann").found());
        assert!(crowd(250, 1.0).name(person, "Ann").name(look, "Ann").found());
        assert!(!crowd(250, 1.0).name(person, "Ann").name(look, "Bea").found());
        // Both on one photo.
        let mut together = crowd(250, 1.0);
        let mut rng = driver(9);
        let faces = [photo(&[0.0; D], &mut rng), photo(&[1.0; D], &mut rng)];
        let faces = [&faces[0], &faces[1]].map(|embedding| NewFace { embedding, name: None });
        together.data.push_frame(None, &faces).unwrap();
        together.identities.extend([0, 1]);
        assert!(!together.found());
    }

    /// "Not Ann" and "different" concern the face they were said of, and not the others of its look.
    #[test]
    fn a_face_of_a_look_that_is_somebody_else_is_alone() {
        let [person, look, other] = [0, MANY, MANY + 1].map(FaceId::new);
        let named = || crowd(250, 1.0).name(0, "Ann");
        let ann = named().data.label(person).unwrap().name;
        for said in [Statement::Not(look, ann), Statement::Different(look, person)] {
            let (target, draw) = named().say(said).draw();
            let draws = [draw];
            let partition = draws[0].partition();
            let alone = partition[look.index()];
            assert_eq!(partition.iter().filter(|&&of| of == alone).count(), 1);
            assert_eq!(partition[other.index()], partition[person.index()]);
            assert_eq!(draws[0].n_identities(), draws[0].names.len());
            let total = draws[0].globals.weights.iter().sum::<f64>() + draws[0].globals.unseen;
            assert!((total - 1.0).abs() < 1e-9, "{total}");
            let posterior = Posterior::new(&target, &draws);
            let called = |face| {
                let names = posterior.who(face, &target, &draws).answer.names;
                names.iter().find(|name| name.label == ann).map_or(0.0, |name| name.p)
            };
            assert!(called(look) < 0.05 && called(other) > 0.9, "{} {}", called(look), called(other));
        }
        // Half of them: it is somebody else's look.
        let most = [0, 1, 2].map(|k| Statement::Not(FaceId::new(MANY + k), ann));
        assert!(!most.into_iter().fold(named(), Crowd::say).found());
    }

    /// One word about two faces joins their groups where nobody is nearer to the smaller one; if somebody is,
    /// it takes two.
    #[test]
    fn groups_are_one_person_where_that_was_said_and_looks_allow_it() {
        let same = |k: usize| Statement::Same(FaceId::new(k), FaceId::new(MANY + k));
        assert!(!crowd(20, 3.0).found());
        assert!(crowd(20, 3.0).say(same(0)).found());
        let near = || {
            let mut near = crowd(20, 3.0);
            let mut rng = driver(8);
            for _ in 0..4 {
                near.push(22, &photo(&[2.0; D], &mut rng));
            }
            near
        };
        assert!(!near().say(same(0)).found(), "somebody else is nearer");
        assert!(near().say(same(0)).say(same(1)).found());
        // Said and taken for different people, given two names, or on one photo again and again.
        let different = Statement::Different(FaceId(0), FaceId::new(MANY));
        assert!(!crowd(20, 3.0).say(same(0)).say(different).found());
        assert!(!crowd(20, 3.0).name(1, "Ann").name(MANY + 1, "Bea").say(same(0)).found());
        let mut together = crowd(20, 3.0).say(same(0));
        let mut rng = driver(9);
        for n_met in 1..=3 {
            let faces = [photo(&[0.0; D], &mut rng), photo(&[1.7; D], &mut rng)];
            let faces = [&faces[0], &faces[1]].map(|embedding| NewFace { embedding, name: None });
            together.data.push_frame(None, &faces).unwrap();
            together.identities.extend([0, 1]);
            let again =
                Crowd { data: together.data.clone(), identities: together.identities.clone(), look: vec![] };
            assert_eq!(again.found(), n_met == 1, "{n_met}");
        }
    }

    /// The look was never named; the person was.
    #[test]
    fn answers_know_a_person_by_every_look() {
        let crowd = crowd(250, 1.0).name(0, "Ann").name(60, "Bea");
        let photo = crowd.look.clone();
        let (target, draw) = crowd.draw();
        let draws = [draw];
        let posterior = Posterior::new(&target, &draws);
        let new = &posterior.predict(None, &[&photo], false)[0];
        assert!(new.names[0].p > 0.9 && target.data().names()[new.names[0].label.index()] == "Ann");
        assert!(new.identity.p > 0.9, "{}", new.identity.p);
        let each = &posterior.predict_each(None, &photo)[0];
        assert_eq!(each.identity, Some(0));
        assert_eq!(each.name, Some(new.names[0].label));
        let seen = posterior.who(FaceId::new(MANY), &target, &draws);
        assert!(seen.answer.names[0].p > 0.9 && seen.answer.names[0].label == new.names[0].label);
        assert!(posterior.at_home(FaceId::new(MANY), &target, &draws).iter().all(|&p| p > 0.9));
        assert_eq!(draws[0].names_of_people()[1], draws[0].names_of_people()[0]);
    }
}

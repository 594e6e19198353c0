//! Who a face is, and why: what the face says, what the context says, what people said.

use std::collections::BTreeMap;

use kith::ids::FaceId;
use kith::predict::{Answer, Explained, NewPhoto};

use crate::belief::Believed;
use crate::ids::PersonId;
use crate::{Library, StoreError};

/// What is believed of a face.
#[derive(Clone, Debug, PartialEq)]
pub struct Who {
    /// The answer.
    pub answer: Answer,
    /// A person of the library, and how probable that is: whose the face is, or of a new face the most
    /// probable.
    pub person: Option<(PersonId, f64)>,
    /// What speaks for whom, the most probable first.
    pub why: Vec<Why>,
}

/// What speaks for one person, against a person never seen: logarithms of how many times more probable.
#[derive(Clone, Debug, PartialEq)]
pub struct Why {
    /// A person of the library; `None` is somebody never seen.
    pub person: Option<PersonId>,
    /// How probable it is that it is this one.
    pub p: f64,
    /// What the face says.
    pub face: f64,
    /// What the context says.
    pub context: f64,
    /// What people said.
    pub said: f64,
}

/// Sums over draws before they are averaged.
#[derive(Default)]
struct Factors {
    p: f64,
    weight: f64,
    sums: [f64; 3],
}

/// What is believed at a moment, worked out as far as all questions about faces of the library have in
/// common.
#[derive(Debug)]
pub struct Asked {
    /// What is believed.
    pub believed: Believed,
    person_of: Vec<Option<PersonId>>,
    people: Vec<Vec<Option<PersonId>>>,
}

impl Asked {
    /// Reads what many questions have in common; what answers take most time for is left to
    /// [`Asked::prepare`].
    pub fn new(believed: Believed, library: &Library) -> Result<Self, StoreError> {
        let person_of = library.person_of_faces(&believed.rows)?;
        let people = believed.belief.people_of_draws(&person_of);
        Ok(Self { believed, person_of, people })
    }

    /// Works out what every answer needs; whoever asks before waits for it.
    pub fn prepare(&self) {
        self.believed.belief.posterior();
    }

    /// As [`Believed::who`], in less time: the face's own vote for whom the draws take for its person counts
    /// too.
    pub fn who(&self, face: FaceId) -> Who {
        let own = self.person_of[face.index()];
        let is_only = self.believed.is_only(face, &self.person_of);
        let explained = self.believed.belief.who_is(face);
        if !is_only {
            return of_person(who(explained, &self.people), own, false);
        }
        let mut people = self.people.clone();
        people.iter_mut().flatten().filter(|person| **person == own).for_each(|person| *person = None);
        of_person(who(explained, &people), own, true)
    }
}

/// Whose the face is, and how probable that is.
fn of_person(mut who: Who, own: Option<PersonId>, is_only: bool) -> Who {
    // Somebody of whom this is the only face is somebody never seen without it.
    let p = |own| who.why.iter().find(|why| why.person == own).map_or(0.0, |why| why.p);
    who.person = own.map(|person| (person, p((!is_only).then_some(person))));
    who
}

impl Believed {
    /// Who a face of the library is: what the draws say of its seat, all other faces staying where they are.
    pub fn who(&self, library: &Library, face: FaceId) -> Result<Who, StoreError> {
        // People are read while seats are weighed, by the threads of whoever asks: others might not be there
        // (a process that was forked).
        let mut explained = None;
        let person_of = rayon::in_place_scope(|scope| {
            scope.spawn(|_| explained = Some(self.belief.who_is(face)));
            library.person_of_faces(&self.rows)
        });
        let (explained, mut person_of) = (explained.expect("the scope has ended"), person_of?);
        let is_only = self.is_only(face, &person_of);
        let own = person_of[face.index()].take();
        let who = who(explained, &self.belief.people_of_draws(&person_of));
        Ok(of_person(who, own, is_only))
    }

    /// Whether nobody else shows a face's person; copies say nothing of their own.
    fn is_only(&self, face: FaceId, person_of: &[Option<PersonId>]) -> bool {
        let of_own = self.belief.faces().filter(|other| person_of[other.index()] == person_of[face.index()]);
        of_own.filter(|&other| !self.belief.is_copy(other)).eq([face])
    }

    /// Who is on new photos, which are one occasion, as `kith predict` says with the same draws; and why.
    /// `after_photo` is told of each when it is answered.
    pub fn who_is_on(
        &self,
        library: &Library,
        photos: &[NewPhoto<'_>],
        after_photo: &(dyn Fn() + Sync),
    ) -> Result<Vec<Vec<Who>>, StoreError> {
        let people = self.belief.people_of_draws(&library.person_of_faces(&self.rows)?);
        let explained = self.belief.why(photos, after_photo);
        let of_photo = |of_photo: Vec<Explained>| of_photo.into_iter().map(|one| who(one, &people)).collect();
        Ok(explained.into_iter().map(of_photo).collect())
    }
}

/// What draws say of a face's seats, in people's terms; `people` has the person of each identity of each
/// draw.
fn who(explained: Explained, people: &[Vec<Option<PersonId>>]) -> Who {
    let mut factors: BTreeMap<Option<PersonId>, Factors> = BTreeMap::new();
    let share = 1.0 / people.len() as f64;
    for (seats, people) in explained.seats.iter().zip(people) {
        let new = *seats.last().expect("a new identity is always possible");
        for seat in seats {
            let person = seat.identity.and_then(|identity| people.get(identity.index()).copied().flatten());
            let ratios =
                [seat.ln_face - new.ln_face, seat.ln_context - new.ln_context, seat.ln_said - new.ln_said];
            add(factors.entry(person).or_default(), seat.p * share, ratios);
        }
    }
    let why = ranked(factors);
    let person = why.iter().find_map(|why| Some((why.person?, why.p)));
    Who { answer: explained.answer, person, why }
}

/// A draw weighs as much in the factors of a person as it believes in that person.
fn add(factors: &mut Factors, p: f64, ratios: [f64; 3]) {
    let weight = p.max(1e-300);
    factors.p += p;
    factors.weight += weight;
    factors.sums.iter_mut().zip(ratios).for_each(|(sum, ratio)| *sum += weight * ratio);
}

fn ranked(factors: BTreeMap<Option<PersonId>, Factors>) -> Vec<Why> {
    let why = |(person, Factors { p, weight, sums }): (Option<PersonId>, Factors)| {
        let [face, context, said] = sums.map(|sum| sum / weight);
        Why { person, p: p.clamp(0.0, 1.0), face, context, said }
    };
    let mut list: Vec<Why> = factors.into_iter().map(why).collect();
    list.sort_by(|a, b| b.p.total_cmp(&a.p));
    list
}

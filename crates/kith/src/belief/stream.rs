//! A stream answered frame by frame: every chain seats the faces of a frame, and who they are is decided at
//! once.
//!
//! The faces are looked at a few times; the probabilities of their seats, averaged over chains and rounds,
//! are the answer. Earlier faces stay where they are, but while there are few, when all are swept. People
//! have ids of the caller's, which outlive chains.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use super::Belief;
use super::people::matched;
use crate::chain::Chain;
use crate::gibbs::Sweep;
use crate::ids::{FaceId, IdentityId};
use crate::predict::{Answer, Tally};
use crate::state::Seat;
use crate::target::Target;

/// How often the faces of a frame are looked at.
const ROUNDS: usize = 3;
/// Seats of a smaller probability are not counted.
const LEAST: f64 = 1e-12;

/// Who everybody is: the person of every face, and per chain of every identity.
#[derive(Clone, Debug)]
pub struct Stream<P> {
    person_of: Vec<Option<P>>,
    slots: Vec<HashMap<IdentityId, P>>,
}

/// How faces of a frame are looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Look {
    /// They were seated before.
    Again,
    /// They have just arrived.
    New,
    /// They have just arrived where there are few: all faces are swept with them.
    AtAll,
}

/// What all chains say of one face.
#[derive(Clone, Debug)]
pub struct Weighed<P> {
    /// The answer.
    pub answer: Answer,
    people: BTreeMap<P, f64>,
}

/// What one chain says of one face.
#[derive(Clone)]
struct Said<P> {
    /// Per round the seats that matter.
    seats: Vec<Vec<Seat>>,
    /// The probabilities of a new identity's names.
    names_of_new: Vec<f64>,
    /// Sums over rounds.
    people: BTreeMap<P, f64>,
}

impl<P: Copy + Ord + Send + Sync> Stream<P> {
    /// Of faces whose people are known, or not yet.
    pub fn new(person_of: Vec<Option<P>>, chains: &[Chain]) -> Self {
        let mut stream = Self { person_of, slots: Vec::new() };
        stream.match_chains(chains);
        stream
    }

    /// The person of every face.
    pub fn person_of(&self) -> &[Option<P>] {
        &self.person_of
    }

    /// Chains have moved: whose their identities are is made out anew.
    pub fn match_chains(&mut self, chains: &[Chain]) {
        self.slots = chains.par_iter().map(|chain| people_of_slots(chain, &self.person_of)).collect();
    }

    /// Seats faces in all chains and weighs their seats.
    pub fn weigh(&mut self, faces: &[FaceId], look: Look, belief: &mut Belief) -> Vec<Weighed<P>> {
        self.person_of.resize(belief.target.data().n_faces(), None);
        let (target, chains) = belief.moving();
        let person_of = &self.person_of;
        let of_chain = |(chain, slots): (&mut Chain, &mut HashMap<IdentityId, P>)| {
            said_by(chain, slots, (faces, look), person_of, target)
        };
        let by_chain: Vec<Vec<Said<P>>> = chains.par_iter_mut().zip(&mut self.slots).map(of_chain).collect();
        let data = target.data();
        let of_face = |(k, &face): (usize, &FaceId)| {
            let said: Vec<&Said<P>> = by_chain.iter().map(|said| &said[k]).collect();
            Weighed::new(&said, data.names().len(), data.given_name(face).is_some())
        };
        faces.iter().enumerate().map(of_face).collect()
    }

    /// Who a face is taken for, and how probable that is; `None` is somebody new. Whose it is already, it
    /// stays.
    pub fn decide(&self, face: FaceId, weighed: &Weighed<P>) -> (Option<P>, f64) {
        let p_of = |person: &P| weighed.people.get(person).copied().unwrap_or(0.0);
        let best = weighed.people.keys().max_by(|a, b| p_of(a).total_cmp(&p_of(b))).copied();
        let p_new = 1.0 - weighed.people.values().sum::<f64>();
        let (person, p) = match (self.person_of[face.index()], best) {
            (Some(known), _) => {
                // Somebody of whom this is the only face is somebody new without it.
                let n_faces = self.person_of.iter().filter(|person| **person == Some(known)).count();
                (Some(known), p_of(&known) + if n_faces == 1 { p_new } else { 0.0 })
            }
            (None, Some(best)) if p_of(&best) >= p_new => (Some(best), p_of(&best)),
            _ => (None, p_new),
        };
        (person, p.clamp(0.0, 1.0))
    }

    /// A face is this person's from now on.
    pub fn take_for(&mut self, face: FaceId, person: P, chains: &[Chain]) {
        self.person_of[face.index()] = Some(person);
        for (chain, slots) in chains.iter().zip(&mut self.slots) {
            let identity = chain.state().seating().identity_of(face).expect("it was seated");
            slots.entry(identity).or_insert(person);
        }
    }
}

/// The person of each identity of a chain, by most faces in common, nobody twice.
fn people_of_slots<P: Copy + Ord>(chain: &Chain, person_of: &[Option<P>]) -> HashMap<IdentityId, P> {
    let seating = chain.state().seating();
    let slots: Vec<u32> = (0..person_of.len())
        .map(|face| seating.identity_of(FaceId::new(face)).expect("every face is seated").0)
        .collect();
    let known = matched(&slots, person_of).into_iter().enumerate();
    known.filter_map(|(slot, person)| Some((IdentityId::new(slot), person?))).collect()
}

/// One chain seats faces and says what it thinks of them.
fn said_by<P: Copy + Ord>(
    chain: &mut Chain,
    slots: &mut HashMap<IdentityId, P>,
    (faces, look): (&[FaceId], Look),
    person_of: &[Option<P>],
    target: &Target,
) -> Vec<Said<P>> {
    let nothing = Said { seats: Vec::new(), names_of_new: Vec::new(), people: BTreeMap::new() };
    let mut said = vec![nothing; faces.len()];
    if look == Look::New {
        // At the same cost however many faces there are.
        chain.absorb_and_reseat(ROUNDS, target, |k, seats| said[k].count(seats, slots));
    } else {
        chain.absorb(0, target);
        if look == Look::AtAll {
            chain.sweep(&Sweep::default(), target);
            *slots = people_of_slots(chain, person_of);
        }
        for _ in 0..ROUNDS {
            for (said, &face) in said.iter_mut().zip(faces) {
                said.count(chain.reseat(face, target), slots);
                let identity = chain.state().seating().identity_of(face).expect("it was seated");
                chain.rename(identity, target);
            }
        }
    }
    for (said, &face) in said.iter_mut().zip(faces) {
        said.names_of_new = chain.state().names_of_new(face, target);
    }
    said
}

impl<P: Copy + Ord> Said<P> {
    /// One more round.
    fn count(&mut self, mut seats: Vec<Seat>, slots: &HashMap<IdentityId, P>) {
        seats.retain(|seat| seat.p > LEAST);
        for seat in &seats {
            if let Some(person) = seat.identity.and_then(|identity| slots.get(&identity)) {
                *self.people.entry(*person).or_default() += seat.p;
            }
        }
        self.seats.push(seats);
    }
}

impl<P: Copy + Ord> Weighed<P> {
    /// Chains and rounds count alike.
    fn new(said: &[&Said<P>], n_names: usize, is_named: bool) -> Self {
        let rounds: Vec<(&Vec<Seat>, &[f64])> = said
            .iter()
            .flat_map(|said| said.seats.iter().map(|seats| (seats, &said.names_of_new[..])))
            .collect();
        let share = 1.0 / rounds.len() as f64;
        let weights = vec![share; rounds.len()];
        let mut tally = Tally::new(&weights, n_names);
        for (number, (seats, names_of_new)) in rounds.into_iter().enumerate() {
            tally.count(number, seats, names_of_new, is_named);
        }
        let mut people: BTreeMap<P, f64> = BTreeMap::new();
        for (&person, p) in said.iter().flat_map(|said| &said.people) {
            *people.entry(person).or_default() += share * p;
        }
        Self { answer: tally.answer(), people }
    }
}

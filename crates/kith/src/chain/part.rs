//! A few people of a draw are looked at again, with all their faces; everybody else stays, and costs nothing.
//!
//! They make up a state of their own, as the identities of one colour do (MODEL.md §10): kernels of seats see
//! only them and somebody new, who takes their share of all of pi_0'. Given everybody else's faces, which
//! nobody of them joins, these moves leave the posterior as it is. What the faces of others would say of them
//! is not weighed: whoever chooses the people has made sure that it is next to nothing.

use super::looks::{self, Look, Looks};
use super::{Chain, Draw, Memory};
use crate::gibbs;
use crate::ids::{FaceId, IdentityId};
use crate::state::Name;
use crate::target::Target;

/// Rounds of local moves.
const ROUNDS: usize = 2;

/// The people of a draw who move, and what is left without them.
struct Part<'a> {
    draw: &'a Draw,
    /// Per identity of the draw its number among those who move.
    number_of: Vec<Option<u32>>,
    /// Their faces.
    faces: Vec<FaceId>,
}

/// Who is to move.
#[derive(Clone, Copy, Debug)]
pub struct Moves<'a> {
    /// Faces that are looked at again.
    pub touched: &'a [FaceId],
    /// They move among the people of these, of whom they are.
    pub among: &'a [FaceId],
    /// Faces that join the people of others, or are somebody new, and stay there.
    pub held: &'a [(FaceId, Option<FaceId>)],
}

impl Draw {
    /// The draw after some rounds of local moves. Contexts stay as they are, and so do the weights of names.
    /// ln of the joint density is not worked out.
    pub fn moved(&self, moves: &Moves<'_>, seed: u64, target: &Target) -> Self {
        let held = moves.held.iter().flat_map(|&(face, with)| [Some(face), with]).flatten();
        let part = Part::of(self, moves.among.iter().copied().chain(held));
        let mut chain = Chain::recall(&part.memory(), seed, target);
        gibbs::faces::step(&mut chain.state, target, &mut chain.rng);
        for &(face, with) in moves.held {
            let identity = with.and_then(|with| chain.state.seating.identity_of(with));
            chain.sit_down(face, identity, target);
        }
        chain.heed_among(moves.touched, &part.faces, target);
        for _ in 0..ROUNDS {
            chain.settle_among(moves.touched, &part.faces, target);
            for identity in chain.state.seating.identities().to_vec() {
                chain.rename(identity, target);
            }
        }
        part.put_back(&chain, target)
    }
}

impl<'a> Part<'a> {
    fn of(draw: &'a Draw, among: impl Iterator<Item = FaceId>) -> Self {
        let mut moves = vec![false; draw.n_identities()];
        for face in among {
            moves[draw.person(draw.identities[face.index()]) as usize] = true;
        }
        let mut next = 0..;
        let number = |identity: u32| match moves[draw.person(identity) as usize] {
            true => next.next(),
            false => None,
        };
        let number_of: Vec<Option<u32>> = (0..draw.n_identities() as u32).map(number).collect();
        let is_moving = |face: &FaceId| number_of[draw.identities[face.index()] as usize].is_some();
        let faces = (0..draw.identities.len()).map(FaceId::new).filter(is_moving).collect();
        Self { draw, number_of, faces }
    }

    /// The identities of the draw who move, or who stay.
    fn identities(&self, move_: bool) -> impl Iterator<Item = usize> {
        (0..self.number_of.len()).filter(move |&identity| self.number_of[identity].is_some() == move_)
    }

    /// What is remembered of those who move.
    fn memory(&self) -> Memory {
        let draw = self.draw;
        let names = draw.globals.name_weights.iter().copied().map(Some).collect();
        let mut globals = draw.globals.with_names(names);
        globals.weights = self.identities(true).map(|identity| draw.globals.weights[identity]).collect();
        Memory {
            chain: draw.chain,
            sweep: draw.sweep,
            identities: draw.identities.iter().map(|&identity| self.number_of[identity as usize]).collect(),
            scales: draw.scales.iter().copied().map(Some).collect(),
            contexts: draw.contexts.iter().copied().map(Some).collect(),
            names: self.identities(true).map(|identity| draw.names[identity]).collect(),
            people: Vec::new(),
            globals,
        }
    }

    /// The draw with those who moved as a chain has them now: first who stayed, then they.
    fn put_back(&self, chain: &Chain, target: &Target) -> Draw {
        let (draw, state) = (self.draw, chain.state());
        let stay: Vec<usize> = self.identities(false).collect();
        let mut place_of = vec![0; self.number_of.len()];
        (0..).zip(&stay).for_each(|(place, &identity)| place_of[identity] = place);
        let slots = state.seating().identities();
        let place_of_slot = |slot: IdentityId| (stay.len() + state.seating().place_of(slot)) as u32;
        let mut identities: Vec<u32> =
            draw.identities.iter().map(|&identity| place_of[identity as usize]).collect();
        let mut scales = draw.scales.clone();
        for &face in &self.faces {
            let slot = state.seating().identity_of(face).expect("all of them are seated");
            identities[face.index()] = place_of_slot(slot);
            let scale = state.faces().scale(face);
            if scales.is_empty() && scale != 0 {
                scales = vec![0; identities.len()];
            }
            scales.get_mut(face.index()).into_iter().for_each(|to| *to = scale);
        }
        let name = |&slot: &IdentityId| match state.names().of(slot) {
            Name::Known(label) => Some(label),
            Name::Unknown => None,
        };
        let mut globals = draw.globals.clone();
        let weights = slots.iter().map(|&slot| state.weights().ln_of(slot).exp());
        globals.weights =
            stay.iter().map(|&identity| draw.globals.weights[identity]).chain(weights).collect();
        globals.unseen = state.weights().ln_unseen().exp();
        globals.ln_joint = f64::NAN;
        let Looks { people, apart } = self.looks(&identities, &stay, target);
        let mut moved = Draw {
            identities,
            scales,
            contexts: draw.contexts.clone(),
            names: stay.iter().map(|&identity| draw.names[identity]).chain(slots.iter().map(name)).collect(),
            people,
            globals,
            ..*draw
        };
        apart.into_iter().for_each(|face| moved.set_apart(face));
        moved
    }

    /// Whose looks identities are: those who stayed as they were, and of those who moved the ones that still
    /// have most of their faces. `identities` are those of all faces now, `stay` those of the draw that
    /// stayed, which come first.
    fn looks(&self, identities: &[u32], stay: &[usize], target: &Target) -> Looks {
        let draw = self.draw;
        if draw.people.is_empty() {
            return Looks::default();
        }
        // Each identity of before by the one that has the most of its faces: nobody leaves or joins who
        // stayed.
        let mut now: Vec<Option<usize>> = vec![None; draw.n_identities()];
        stay.iter().enumerate().for_each(|(place, &identity)| now[identity] = Some(place));
        let seats = |face: &FaceId| (draw.identities[face.index()], identities[face.index()]);
        let mut moved: Vec<(u32, u32)> = self.faces.iter().map(seats).collect();
        moved.sort_unstable();
        for faces in moved.chunk_by(|a, b| a.0 == b.0) {
            let most = faces.chunk_by(|a, b| a == b).max_by_key(|faces| (faces.len(), faces[0].1));
            now[faces[0].0 as usize] = most.map(|faces| faces[0].1 as usize);
        }
        let looks: Vec<(usize, usize)> = (0..draw.n_identities())
            .filter(|&look| draw.people[look] as usize != look)
            .filter_map(|look| {
                let person = draw.people[look] as usize;
                Some((now[look]?, now[person]?))
            })
            .filter(|(look, person)| look != person)
            .collect();
        let of_looks: Vec<usize> = looks.iter().map(|pair| pair.0).collect();
        let looks: Vec<Look> = looks
            .into_iter()
            .filter(|(_, person)| !of_looks.contains(person))
            .map(|(look, person)| Look { look, person, is_told: false })
            .collect();
        let last = identities.iter().copied().max().unwrap_or(0) as usize;
        let mut faces_of = vec![Vec::new(); stay.len().max(last + 1)];
        let mut are_wanted = vec![false; faces_of.len()];
        looks.iter().for_each(|of| [of.look, of.person].iter().for_each(|&of| are_wanted[of] = true));
        for (face, &identity) in identities.iter().enumerate().filter(|(_, of)| are_wanted[**of as usize]) {
            faces_of[identity as usize].push(FaceId::new(face));
        }
        looks::as_said(&looks, faces_of, target.data())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::cases;
    use crate::model::face::Centred;
    use crate::random::driver;
    use crate::simulate::prior;
    use crate::state::Seat;

    /// Per face the least of the faces with whom it is.
    fn first_of_each(draw: &Draw) -> Vec<usize> {
        let first = |&identity: &u32| draw.identities.iter().position(|&other| other == identity);
        draw.identities.iter().map(|identity| first(identity).unwrap()).collect()
    }

    #[test]
    fn those_who_are_left_out_stay_and_nothing_is_lost_where_nobody_moves() {
        let mut n_left = 0;
        for case in cases::weighed() {
            for seed in 0..8 {
                let (state, target) = prior::draw(&case.target, &mut driver(50 + seed));
                let draw = Draw::of(&state, 0, 0, &target);
                let part = Part::of(&draw, [FaceId(0), FaceId(3)].into_iter());
                let chain = Chain::recall(&part.memory(), seed, &target);
                let back = part.put_back(&chain, &target);
                n_left += part.identities(false).count();
                assert_eq!(first_of_each(&back), first_of_each(&draw), "{}", case.name);
                assert_eq!((&back.scales, &back.contexts), (&draw.scales, &draw.contexts), "{}", case.name);
                let total = back.globals.unseen + back.globals.weights.iter().sum::<f64>();
                assert!((total - 1.0).abs() < 1e-9, "{}: {total}", case.name);
                for (face, (&new, &old)) in back.identities.iter().zip(&draw.identities).enumerate() {
                    let of = |draw: &Draw, identity: u32| {
                        (draw.names[identity as usize], draw.globals.weights[identity as usize])
                    };
                    let (new, old) = (of(&back, new), of(&draw, old));
                    assert!(new.0 == old.0 && (new.1 - old.1).abs() < 1e-12, "{} {face}", case.name);
                }
                let moves = Moves { touched: &[FaceId(0)], among: &[FaceId(0), FaceId(3)], held: &[] };
                let moved = draw.moved(&moves, seed, &target);
                let stayed: Vec<usize> = target
                    .data()
                    .faces()
                    .filter(|face| !part.faces.contains(face))
                    .map(FaceId::index)
                    .collect();
                let of = |draw: &Draw| -> Vec<usize> {
                    stayed.iter().map(|&face| first_of_each(draw)[face]).collect()
                };
                assert_eq!(of(&moved), of(&draw), "{}", case.name);
            }
        }
        assert!(n_left > 100, "{n_left}");
    }

    #[test]
    fn a_seat_weighs_in_a_part_what_it_weighs_among_all() {
        let mut n_seats = 0;
        let collapsed =
            |case: &cases::Case| case.target.model().face.update == crate::model::FaceUpdate::Collapsed;
        for case in cases::weighed().iter().filter(|case| collapsed(case)) {
            let (state, target) = prior::draw(&case.target, &mut driver(60));
            let draw = Draw::of(&state, 0, 0, &target);
            let whole = Chain::recall(&Memory::of(&draw), 1, &target);
            for face in target.data().faces() {
                let among = [face, FaceId(2), FaceId(5)];
                let part = Part::of(&draw, among.into_iter());
                let weights = |chain: &Chain| -> BTreeMap<Option<usize>, f64> {
                    let mut state = chain.state.clone();
                    let mut x = Centred::default();
                    state.look(face, &target, &mut x);
                    state.remove(face, &x, &target);
                    let first = |identity: IdentityId| {
                        target.data().faces().find(|&f| state.seating.identity_of(f) == Some(identity))
                    };
                    let weight = |seat: &Seat| {
                        (seat.identity.map(|identity| first(identity).unwrap().index()), seat.ln_weight())
                    };
                    state.seats(face, &x, &target).iter().map(weight).collect()
                };
                let all = weights(&whole);
                for (seat, weight) in weights(&Chain::recall(&part.memory(), 1, &target)) {
                    let wanted = all[&seat];
                    let error = (weight - wanted).abs();
                    assert!(error < 1e-9 * (1.0 + wanted.abs()), "{}: {weight} {wanted}", case.name);
                    n_seats += 1;
                }
            }
        }
        assert!(n_seats > 300, "{n_seats}");
    }

    /// States drawn from the prior with their data are as likely after the moves as before.
    #[test]
    fn moves_leave_what_is_sampled_as_it_is() {
        let is_silent = |case: &cases::Case| {
            let data = case.target.data();
            let is_word = |face| data.label(face).is_some_and(|label| label.is_word);
            data.evidence().statements().is_empty() && !data.faces().any(is_word)
        };
        const N: usize = 600;
        let mut n_moved = 0;
        for case in cases::all().iter().filter(|case| is_silent(case)) {
            let mut rng = driver(70);
            let mut differences: Vec<Vec<f64>> = vec![Vec::new(); 4];
            for k in 0..N {
                let (state, target) = prior::draw(&case.target, &mut rng);
                let draw = Draw::of(&state, 0, 0, &target);
                let all: Vec<FaceId> = target.data().faces().collect();
                let moves = Moves { touched: &all[..3], among: &all, held: &[] };
                let moved = draw.moved(&moves, k as u64, &target);
                n_moved += usize::from(first_of_each(&moved) != first_of_each(&draw));
                let of = |draw: &Draw| {
                    let own = draw.identities[0];
                    let n_with = draw.identities.iter().filter(|&&identity| identity == own).count();
                    let is_same = draw.identities[0] == draw.identities[1];
                    let is_named = draw.names[own as usize].is_some();
                    [draw.n_identities() as f64, n_with as f64, f64::from(is_same), f64::from(is_named)]
                };
                for ((list, new), old) in differences.iter_mut().zip(of(&moved)).zip(of(&draw)) {
                    list.push(new - old);
                }
            }
            for (statistic, list) in differences.iter().enumerate() {
                let mean = list.iter().sum::<f64>() / N as f64;
                let square = list.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / N as f64;
                let error = (square / N as f64).sqrt();
                assert!(mean.abs() <= 4.5 * error, "{}, {statistic}: {mean} within {error}", case.name);
            }
        }
        assert!(n_moved > 2000, "{n_moved}");
    }
}

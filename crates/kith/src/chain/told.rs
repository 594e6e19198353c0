//! What "the same person" says of the people around two faces (MODEL.md §8): whole groups become one person
//! where they look like it, or where it was said more than once.
//!
//! A word is about two faces, and what is sampled keeps it about them: where looks speak against one person,
//! one of the two sits with the other and looks odd there. Whoever said it may have meant either: one face
//! that is in the wrong place, or a person in two pieces. The crowd tells which. Somebody's second piece has
//! nobody nearer than the first, while a face that went astray did so to anybody. And who says the same of
//! two pairs of faces does not mean two faces.

use std::collections::{BTreeMap, BTreeSet};

use super::looks::{Crowd, Look, Seats};
use crate::data::{Dataset, Statement};
use crate::ids::FaceId;
use crate::model::face::Centred;

/// So many words between two groups make them one person, whatever they look like.
const WORDS: usize = 2;
/// So many people are weighed to find out whom a face looks like.
const NEAREST: usize = 4;

/// Whether two faces were said to be the same.
pub(super) fn is_anything(data: &Dataset) -> bool {
    data.evidence().has_links()
        && data.evidence().statements().iter().any(|said| matches!(said, Statement::Same(..)))
}

/// The identities that are one person because somebody said so, by number; `looks` are those of which nobody
/// had to.
pub(super) fn find(crowd: &Crowd, looks: &[Look], seats: &Seats<'_>) -> Vec<[usize; 2]> {
    let words = words(crowd, seats);
    let pairs = words.keys().copied().chain(looks.iter().map(|of| [of.look, of.person]));
    let known: BTreeSet<[usize; 2]> = pairs.flat_map(|[a, b]| [[a, b], [b, a]]).collect();
    let is_one = |pair: [usize; 2], n: usize| n >= WORDS || is_nearest(pair, &known, crowd);
    words.iter().filter(|&(&pair, &n)| is_one(pair, n)).map(|(&pair, _)| pair).collect()
}

/// How often it was said of faces that look like two identities that they are the same: the word may have
/// moved one of them away from those whom it looks like.
fn words(crowd: &Crowd, seats: &Seats<'_>) -> BTreeMap<[usize; 2], usize> {
    let (model, data) = seats.target.parts();
    let mut words = BTreeMap::new();
    let mut homes: BTreeMap<FaceId, usize> = BTreeMap::new();
    for said in data.evidence().statements() {
        let &Statement::Same(a, b) = said else { continue };
        let mut links = data.evidence().links(a).iter().filter(|link| link.0 == b);
        if links.any(|of| model.evidence.ln_bond(of.1, of.2) > 0.0) {
            let mut pair = [a, b].map(|face| *homes.entry(face).or_insert_with(|| home(face, crowd, seats)));
            pair.sort_unstable();
            *words.entry(pair).or_default() += usize::from(pair[0] != pair[1]);
        }
    }
    words.retain(|_, n| *n > 0);
    words
}

/// The identity at which looks alone would put a face, of those whose means are nearest; its own where that
/// would be a new one.
fn home(face: FaceId, crowd: &Crowd, seats: &Seats<'_>) -> usize {
    let (state, target) = (seats.state, seats.target);
    let (model, context) = (&target.model().face, state.context_of_face(face, target.data()));
    let own = state.seating().identity_of(face).expect("every face is seated");
    let [mut seated, mut usual] = [Centred::default(), Centred::default()];
    state.look(face, target, &mut seated);
    target.look(face, &mut usual);
    usual.set_odd(None);
    let far = crowd.far_from(&model.place(&usual));
    let mut near: Vec<usize> = (0..far.len()).collect();
    if near.len() > NEAREST {
        near.select_nth_unstable_by(NEAREST, |&a, &b| far[a].total_cmp(&far[b]));
        near.truncate(NEAREST);
    }
    let alone =
        (state.ln_new_seat(context) + model.ln_predictive(&model.group(), &usual), seats.number(face));
    let others = near.into_iter().map(|place| {
        let identity = seats.slots[crowd.numbers[place]];
        let mut group = state.faces().group(identity).clone();
        if identity == own {
            model.forget(&mut group, &seated);
        }
        (state.ln_seat(context, identity) + model.ln_predictive(&group, &usual), crowd.numbers[place])
    });
    others.fold(alone, |best, seat| if seat.0 > best.0 { seat } else { best }).1
}

/// Whether nobody of several photos is nearer to the smaller of two identities than the other, those aside
/// who may be the same person as either.
fn is_nearest(pair: [usize; 2], known: &BTreeSet<[usize; 2]>, crowd: &Crowd) -> bool {
    let place = |number: usize| crowd.numbers.binary_search(&number).ok();
    let (Some(a), Some(b)) = (place(pair[0]), place(pair[1])) else { return false };
    let (smaller, larger) = if crowd.sizes[a] <= crowd.sizes[b] { (a, b) } else { (b, a) };
    let is_one = |other: usize| pair.iter().any(|&one| known.contains(&[one, crowd.numbers[other]]));
    let far = crowd.far_from(&crowd.mean(smaller));
    let others = (0..far.len()).filter(|&other| other != smaller && other != larger);
    others.filter(|&other| far[other] < far[larger]).all(is_one)
}

/// Everybody who is one person as looks and ties say, by the identity of theirs with the most faces.
pub(super) fn people(looks: &[Look], ties: &[[usize; 2]], n_faces: impl Fn(usize) -> u32) -> Vec<Look> {
    // Identities that are looks of others, or have any: who they are so far, and whether somebody said so.
    let mut of: BTreeMap<usize, (usize, bool)> = BTreeMap::new();
    let pairs = looks.iter().map(|of| ([of.look, of.person], false));
    for (pair, is_told) in pairs.chain(ties.iter().map(|&pair| (pair, true))) {
        let [a, b] = pair.map(|one| of.get(&one).map_or((one, false), |of| *of));
        let merged = (a.0.min(b.0), is_told || a.1 || b.1);
        pair.iter().for_each(|&one| _ = of.insert(one, merged));
        let is_joined = |of: &&mut (usize, bool)| [a.0, b.0].contains(&of.0);
        of.values_mut().filter(is_joined).for_each(|of| *of = merged);
    }
    let mut first: BTreeMap<usize, usize> = BTreeMap::new();
    for (&one, &(whole, _)) in &of {
        let person = first.entry(whole).or_insert(one);
        if n_faces(one) > n_faces(*person) {
            *person = one;
        }
    }
    let look =
        |(&look, &(whole, is_told)): (&usize, &(usize, bool))| Look { look, person: first[&whole], is_told };
    of.iter().map(look).filter(|of| of.look != of.person).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_tied_to_the_same_is_one_person_known_by_the_largest() {
        let of = |look, person| Look { look, person, is_told: false };
        let sizes = [9, 3, 20, 4, 5, 1];
        let people = |looks: &[Look], ties: &[[usize; 2]]| {
            let people = people(looks, ties, |number| sizes[number]);
            people.iter().map(|of| (of.look, of.person, of.is_told)).collect::<Vec<_>>()
        };
        assert_eq!(people(&[of(1, 0)], &[]), [(1, 0, false)]);
        assert_eq!(people(&[of(1, 0)], &[[3, 4]]), [(1, 0, false), (3, 4, true)]);
        // Joined one after the other, in whatever order.
        let all = [(0, 2, true), (1, 2, true), (3, 2, true)];
        assert_eq!(people(&[of(1, 0)], &[[2, 3], [1, 3]]), all);
        assert_eq!(people(&[of(1, 0)], &[[1, 3], [2, 3]]), all);
        assert!(people(&[], &[]).is_empty());
    }
}

//! Split an identity in two, or merge two into one: moves that no single face can make.
//!
//! Each face `a` in turn picks another face `b`, by a law that does not look at the state. When they share an
//! identity, it is proposed to split it: `a` and `b` start one each, and the others are dealt to the two one
//! after the other, in random order (sequentially allocated merge-split, Dahl 2005; `deal.rs`). Otherwise it
//! is proposed to merge their identities. Not every pair is followed up: a split costs work for each of the
//! |S| faces concerned and is tried with probability s = DEALT / |S|, a merge with m, which is one where the
//! two look alike, and s otherwise. A merge is the one way back from a split and the reverse, and the choice
//! of the pair and the order of dealing have the same law both ways and cancel, so that
//!
//! ```text
//! accepted with probability min(1, R) for a split, min(1, 1 / R) for a merge, where
//! R = p(split) / p(merged) x pi_0i / (p(deal) Beta(b; t_1, t_2)) x m / s
//! ```
//!
//! The weight pi_0i is divided into b pi_0i and (1 - b) pi_0i, b ~ Beta(t_1, t_2); pi_0i in R is the Jacobian
//! of (pi_0i, b) -> (b pi_0i, (1 - b) pi_0i). A merge adds the two weights.
//!
//! `p` is the joint of MODEL.md §3 with the names and, where it is kept, the appearance of the identities
//! concerned integrated out; both are drawn from their conditionals when a move is accepted. That is
//! Metropolis-Hastings on the whole joint: say each proposal draws new y* and theta* from their conditionals
//! given the proposed seats (and, as it does, never looks at the old ones). Then p(state) = p(y*, theta* |
//! rest) p(rest) above and below, the first factors are the proposal's own densities, and what is left of the
//! ratio is that of the marginals p(rest).

mod deal;
#[cfg(test)]
mod mixing;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering};

use self::deal::{Deal, Deals, Part};
use super::names;
use crate::data::Dataset;
use crate::ids::{FaceId, IdentityId};
use crate::math::{ln_add_exp, ln_gamma, ln_rising};
use crate::model::face::{Centred, Group};
use crate::random::Rng;
use crate::state::{PerContext, State, Votes};
use crate::target::Target;

/// How often a pair is two neighbours in the space of embeddings rather than any two faces.
const NEAR: f64 = 0.5;

/// About so many faces are dealt for every pair: a pair is followed up with probability `DEALT / |S|`, at
/// most one, see [`effort`]. A deal takes D^2 per face, and a scan a product of D numbers per identity and
/// D^2 for a few; where identities have one variance both take D, and more is dealt.
const DEALT: f64 = 3.0;
const DEALT_ROUND: f64 = 6.0;

/// The same for the few faces that are looked at again when something was said.
const DEALT_AMONG: f64 = 64.0;

/// How often a move was proposed, and accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moves {
    /// How often it was proposed.
    pub proposed: usize,
    /// How often it was accepted.
    pub accepted: usize,
}

/// Lets every face look for another to part from or to join; returns the splits and the merges.
pub fn step(state: &mut State, target: &Target, rng: &mut Rng) -> [Moves; 2] {
    step_unless(&AtomicBool::new(false), state, target, rng)
}

/// The same, broken off soon after being told to.
pub(super) fn step_unless(
    stop: &AtomicBool,
    state: &mut State,
    target: &Target,
    rng: &mut Rng,
) -> [Moves; 2] {
    let faces: Vec<FaceId> = target.data().faces().collect();
    step_dealing(dealt(target), &faces, state, target, rng, stop)
}

/// [`DEALT`] of a face model.
fn dealt(target: &Target) -> f64 {
    if target.model().face.has_covariances() { DEALT } else { DEALT_ROUND }
}

/// As [`step`] for a colour's faces, one of `n` rounds: pairs of two colours stay apart, and whether a pair
/// is one does not depend on how it is split or merged.
pub(crate) fn round(
    n: usize,
    faces: &[FaceId],
    state: &mut State,
    target: &Target,
    rng: &mut Rng,
) -> [Moves; 2] {
    step_dealing(dealt(target) / n as f64, faces, state, target, rng, &AtomicBool::new(false))
}

/// As [`step`], about `dealt` faces dealt for every pair.
fn step_dealing(
    dealt: f64,
    faces: &[FaceId],
    state: &mut State,
    target: &Target,
    rng: &mut Rng,
    stop: &AtomicBool,
) -> [Moves; 2] {
    let data = target.data();
    let [mut splits, mut merges] = [Moves::default(); 2];
    if data.n_faces() < 2 {
        return [splits, merges];
    }
    let mut kernel = Kernel::new(faces, state, target);
    for &a in faces {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let (b, is_near) = partner(a, data, rng);
        let Some([i, j]) = kernel.identities([a, b], state) else { continue };
        let to_split = effort(dealt, i, j, state);
        let to_merge = if is_near { 1.0 } else { to_split };
        if !rng.bernoulli(if i == j { to_split } else { to_merge }) {
            continue;
        }
        let ln_odds = (to_merge / to_split).ln();
        if i == j {
            splits.count(kernel.split([a, b], i, ln_odds, state, rng));
        } else {
            merges.count(kernel.merge([a, b], [i, j], ln_odds, state, rng));
        }
    }
    [splits, merges]
}

/// Proposes to part or to join each of some pairs of faces, with all faces of their identities; `all` are the
/// faces that are seated.
pub fn on_pairs(pairs: &[[FaceId; 2]], all: &[FaceId], state: &mut State, target: &Target, rng: &mut Rng) {
    if pairs.is_empty() {
        return;
    }
    let mut kernel = Kernel::new(all, state, target);
    for &pair in pairs {
        match kernel.identities(pair, state) {
            Some([i, j]) if i == j => kernel.split(pair, i, 0.0, state, rng),
            Some(both) => kernel.merge(pair, both, 0.0, state, rng),
            None => false,
        };
    }
}

/// Proposes to part or to join faces that are looked at again, each with another of them: what brought their
/// identities together may have been taken back. `all` are the faces that are seated.
pub fn among(faces: &[FaceId], all: &[FaceId], state: &mut State, target: &Target, rng: &mut Rng) {
    if faces.len() < 2 {
        return;
    }
    let mut kernel = Kernel::new(all, state, target);
    for (place, &a) in faces.iter().enumerate() {
        let b = faces[(place + 1 + rng.below(faces.len() - 1)) % faces.len()];
        let [i, j] = kernel.identities([a, b], state).expect("every face is seated");
        if a == b || !rng.bernoulli(effort(DEALT_AMONG, i, j, state)) {
            continue;
        }
        match i == j {
            true => kernel.split([a, b], i, 0.0, state, rng),
            false => kernel.merge([a, b], [i, j], 0.0, state, rng),
        };
    }
}

/// Half the time one of the earlier faces that look most like `a`, otherwise any other face; and which of the
/// two it was.
fn partner(a: FaceId, data: &Dataset, rng: &mut Rng) -> (FaceId, bool) {
    if rng.bernoulli(NEAR)
        && let near = data.neighbours(a)
        && !near.is_empty()
    {
        return (near[rng.below(near.len())], true);
    }
    let other = rng.below(data.n_faces() - 1);
    (FaceId::new(other + usize::from(other >= a.index())), false)
}

/// With what probability it is tried to split an identity: so that the work per pair is the same, few large
/// identities or many small ones. |S| is counted as if merged, and a move and its reverse know the same
/// number.
fn effort(dealt: f64, i: IdentityId, j: IdentityId, state: &State) -> f64 {
    let n_faces = state.seating.n_of(i) + if i == j { 0 } else { state.seating.n_of(j) };
    (dealt / f64::from(n_faces)).min(1.0)
}

impl Moves {
    fn count(&mut self, is_accepted: bool) {
        self.proposed += 1;
        self.accepted += usize::from(is_accepted);
    }
}

impl std::ops::AddAssign for Moves {
    fn add_assign(&mut self, more: Self) {
        self.proposed += more.proposed;
        self.accepted += more.accepted;
    }
}

/// What a step keeps between proposals.
struct Kernel<'a> {
    target: &'a Target,
    /// The faces of each slot.
    members: Vec<Vec<FaceId>>,
    deals: Deals<'a>,
    /// The looks of the faces that join others.
    joining: Vec<Centred>,
}

/// One of the two identities that a split leaves and a merge meets.
struct Half<'a> {
    ln_weight: f64,
    /// Its faces per context.
    n_at: &'a PerContext,
    group: &'a Group,
    votes: &'a Votes,
}

/// A split, and ln R.
struct Split {
    deal: Deal,
    ln_weights: [f64; 2],
    ln_ratio: f64,
}

impl<'a> Kernel<'a> {
    fn new(faces: &[FaceId], state: &State, target: &'a Target) -> Self {
        let mut members = vec![Vec::new(); state.seating.n_slots()];
        for &face in faces {
            members[state.seating.identity_of(face).expect("every face is seated").index()].push(face);
        }
        Self { target, members, deals: Deals::new(target), joining: Vec::new() }
    }

    /// Nothing where one of the two is not among the faces.
    fn identities(&self, [a, b]: [FaceId; 2], state: &State) -> Option<[IdentityId; 2]> {
        Some([state.seating.identity_of(a)?, state.seating.identity_of(b)?])
    }

    /// The faces of identities but for the pair, in random order.
    fn order(&self, pair: [FaceId; 2], identities: &[IdentityId], rng: &mut Rng) -> Vec<FaceId> {
        let members = identities.iter().flat_map(|identity| &self.members[identity.index()]);
        let mut order: Vec<FaceId> = members.copied().filter(|face| !pair.contains(face)).collect();
        rng.shuffle(&mut order);
        order
    }

    fn split(
        &mut self,
        pair: [FaceId; 2],
        i: IdentityId,
        ln_odds: f64,
        state: &mut State,
        rng: &mut Rng,
    ) -> bool {
        let order = self.order(pair, &[i], rng);
        let split = self.weigh_split(pair, i, &order, state, rng);
        if rng.uniform().ln() >= split.ln_ratio + ln_odds {
            return false;
        }
        let Deal { parts: [first, second], sides, .. } = split.deal;
        let mut members = [vec![pair[0]], vec![pair[1]]];
        for (face, side) in order.into_iter().zip(sides) {
            members[side].push(face);
        }
        let [kept, moved] = members;
        let mut groups = [first.group, second.group];
        groups.iter_mut().for_each(|group| self.target.model().face.finish(group));
        let new = state.split((i, &moved), groups, split.ln_weights, self.target, rng);
        self.members[i.index()] = kept;
        self.members.resize(state.seating.n_slots(), Vec::new());
        self.members[new.index()] = moved;
        self.rename(&[i, new], state, rng);
        true
    }

    fn merge(
        &mut self,
        pair: [FaceId; 2],
        pair_of: [IdentityId; 2],
        ln_odds: f64,
        state: &mut State,
        rng: &mut Rng,
    ) -> bool {
        // Accepted where ln u < ln p(deal) - merge.ln_ratio. p(deal) is at most one, so most merges are
        // refused before it is known, and others while its factors are still being multiplied.
        let ln_u = rng.uniform().ln() + ln_odds;
        let Some(ln_ratio) = self.weigh_merge(pair_of, -ln_u, state) else { return false };
        let at_least = ln_u + ln_ratio;
        let order = self.order(pair, &pair_of, rng);
        let ln_weight = ln_add_exp(state.weights.ln_of(pair_of[0]), state.weights.ln_of(pair_of[1]));
        if self.deals.replay(pair, &order, ln_weight, (pair_of[1], at_least), state).is_none() {
            return false;
        }
        let into = self.join(pair_of, state, rng);
        self.rename(&[into], state, rng);
        true
    }

    /// Two identities become one, which is returned.
    fn join(&mut self, pair_of: [IdentityId; 2], state: &mut State, rng: &mut Rng) -> IdentityId {
        let (from, into) = smaller_first(pair_of, state);
        let mut moved = std::mem::take(&mut self.members[from.index()]);
        let mut group = state.faces.group(into).clone();
        self.joining.resize_with(moved.len(), Centred::default);
        for (x, &face) in self.joining.iter_mut().zip(&moved) {
            state.look(face, self.target, x);
        }
        self.target.model().face.observe_all(&mut group, &self.joining);
        state.merge((from, into), &moved, group, self.target, rng);
        self.members[into.index()].append(&mut moved);
        into
    }

    /// Draws a split with its weights, and ln R.
    fn weigh_split(
        &mut self,
        pair: [FaceId; 2],
        i: IdentityId,
        order: &[FaceId],
        state: &State,
        rng: &mut Rng,
    ) -> Split {
        let ln_weight = state.weights.ln_of(i);
        let deal = self.deals.draw(pair, order, ln_weight, state, rng);
        let [t_1, t_2] = shapes(deal.parts.each_ref().map(|part| &part.n_at), ln_weight, state);
        let (ln_b, ln_rest) = rng.ln_beta(t_1, t_2);
        let ln_weights = [ln_weight + ln_b, ln_weight + ln_rest];
        let half = |side: usize| {
            let Part { group, n_at, votes, .. } = &deal.parts[side];
            Half { ln_weight: ln_weights[side], n_at, group, votes }
        };
        let ln_ratio = self.ln_ratio([half(0), half(1)], state.names.heard(i), deal.ln_between, state)
            - self.target.model().face.ln_marginal(state.faces.group(i))
            - deal.ln_p;
        Split { deal, ln_weights, ln_ratio }
    }

    /// ln of R p(deal) for the split that a merge would undo; nothing where it is not below `limit`. Most are
    /// far above it, which an upper bound of what the faces weigh together tells before they are put
    /// together.
    fn weigh_merge(&self, pair_of: [IdentityId; 2], limit: f64, state: &State) -> Option<f64> {
        let [i, j] = pair_of;
        let (from, into) = smaller_first(pair_of, state);
        let mut votes = state.names.heard(i).clone();
        votes.add_all(state.names.heard(j));
        let half = |side: usize| Half {
            ln_weight: state.weights.ln_of(pair_of[side]),
            n_at: state.seating.per_context(pair_of[side]),
            group: state.faces.group(pair_of[side]),
            votes: state.names.heard(pair_of[side]),
        };
        let ln_between = self.ln_between(from, into, state);
        let ln_ratio = self.ln_ratio([half(0), half(1)], &votes, ln_between, state);
        let face = &self.target.model().face;
        let groups = [into, from].map(|identity| state.faces.group(identity));
        if ln_ratio - face.ln_marginal_at_most(groups[0], groups[1]) >= limit {
            return None;
        }
        let ln_ratio = ln_ratio - face.ln_marginal_together(groups[0], groups[1]);
        (ln_ratio < limit).then_some(ln_ratio)
    }

    /// ln of what two identities' faces weigh more together than apart: pairs of one frame, and pairs that
    /// people compared.
    fn ln_between(&self, smaller: IdentityId, larger: IdentityId, state: &State) -> f64 {
        if !has_bonds(self.target) {
            return 0.0;
        }
        let is_there = |face: FaceId| state.seating.identity_of(face) == Some(larger);
        let of_face = |&face: &FaceId| {
            let mut ln_bonds = 0.0;
            bonds(face, self.target, |other, ln_bond| {
                ln_bonds += if is_there(other) { ln_bond } else { 0.0 };
            });
            ln_bonds
        };
        self.members[smaller.index()].iter().map(of_face).sum()
    }

    /// ln of R p(deal): p(split) over p(merged), times the Jacobian, over the density of b; without what the
    /// merged faces weigh.
    fn ln_ratio(&self, halves: [Half<'_>; 2], votes: &Votes, ln_between: f64, state: &State) -> f64 {
        let (face, names) = (&self.target.model().face, &state.names);
        let mut ln_ratio = ln_ratio_of_weights(&halves, state);
        ln_ratio -= names::ln_evidence(votes, names, self.target.model());
        for half in &halves {
            ln_ratio +=
                face.ln_marginal(half.group) + names::ln_evidence(half.votes, names, self.target.model());
        }
        // Apart, the pairs between the two are no repeats any more, and not the same person.
        ln_ratio - ln_between
    }

    /// Redraws the names of identities whose faces have changed.
    fn rename(&self, identities: &[IdentityId], state: &mut State, rng: &mut Rng) {
        if state.names.n_known() > 0 {
            identities.iter().for_each(|&identity| names::redraw(identity, state, self.target, rng));
        }
    }
}

/// Two identities, the smaller one first: its faces join the other's.
fn smaller_first([i, j]: [IdentityId; 2], state: &State) -> (IdentityId, IdentityId) {
    if state.seating.n_of(i) < state.seating.n_of(j) { (i, j) } else { (j, i) }
}

/// Whether any two faces weigh more or less for being together, beyond what they look like.
fn has_bonds(target: &Target) -> bool {
    target.model().repeat < 1.0 || target.data().evidence().has_links()
}

/// The faces that weigh more or less for being together with a face, and ln of how much: those of its frame
/// (by `repeat`), and those that people compared with it.
fn bonds(face: FaceId, target: &Target, mut each: impl FnMut(FaceId, f64)) {
    let (model, data) = target.parts();
    if model.repeat < 1.0 {
        let mates = data.faces_in(data.frame_of(face)).iter();
        mates.filter(|&&mate| mate != face).for_each(|&mate| each(mate, model.repeat.ln()));
    }
    for &(other, n_same, n_different) in data.evidence().links(face) {
        each(other, model.evidence.ln_bond(n_same, n_different));
    }
}

/// The part of ln R that is about seats and pi_0: MODEL.md §3's joint, the Jacobian, and the density of b.
fn ln_ratio_of_weights(halves: &[Half<'_>; 2], state: &State) -> f64 {
    let n_at = halves.each_ref().map(|half| half.n_at);
    let ln_pi = halves.each_ref().map(|half| half.ln_weight);
    let ln_whole = ln_add_exp(ln_pi[0], ln_pi[1]);
    // alpha_0^2 / (pi_1 pi_2) over alpha_0 / pi, and the Jacobian pi.
    let mut ln_ratio = state.weights.global_concentration.ln() - ln_pi[0] - ln_pi[1] + 2.0 * ln_whole;
    for (context, n) in n_at[0].both(n_at[1]) {
        let ln_alpha_c = state.weights.local_concentration(context).ln();
        let [n_1, n_2] = n.map(f64::from);
        ln_ratio += ln_rising(ln_alpha_c + ln_pi[0], n_1) + ln_rising(ln_alpha_c + ln_pi[1], n_2)
            - ln_rising(ln_alpha_c + ln_whole, n_1 + n_2);
    }
    let [t_1, t_2] = shapes(n_at, ln_whole, state);
    let ln_density = ln_gamma(t_1 + t_2) - ln_gamma(t_1) - ln_gamma(t_2)
        + (t_1 - 1.0) * (ln_pi[0] - ln_whole)
        + (t_2 - 1.0) * (ln_pi[1] - ln_whole);
    ln_ratio - ln_density
}

/// The law of b is Beta(t_1, t_2), where t is about how many tables (C.2) an identity of that many faces has
/// when it takes its faces' share of the weight: given its tables, that is how pi_0 divides. (Beta(n_1, n_2)
/// would be far too narrow: two identities of a thousand faces may well have a table or two each.)
fn shapes(n_at: [&PerContext; 2], ln_weight: f64, state: &State) -> [f64; 2] {
    let n = n_at.map(|n_at| f64::from(n_at.total()));
    [0, 1].map(|side| {
        let share = n[side] / (n[0] + n[1]);
        let tables = n_at[side].iter().map(|(context, n)| {
            let x = (state.weights.local_concentration(context).ln() + ln_weight).exp() * share;
            // sum_{k=0}^{n-1} x / (x + k), the first term being one and the rest nearly an integral.
            1.0 + x * ((x + f64::from(n)) / (x + 1.0)).ln()
        });
        tables.sum()
    })
}

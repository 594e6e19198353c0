//! A face that was learnt from: what every draw says of its seat, all other faces staying where they are.
//!
//! To count in how many draws it sits with whom would tell nothing finer than one over the number of draws.
//! Given the others, the probability of each of its seats is known (C.4), and that of each name follows from
//! what was said (C.14); their means over draws are the same on average, and vary less (Rao-Blackwell). It is
//! what a Gibbs step would draw from, names integrated out, worked out without making one: the draws stay as
//! they are. theta*, where a chain keeps it, is integrated out too, as for new faces.

use std::collections::HashMap;

use super::answer::{Answer, Explained, Tally};
use super::bounds::Bounds;
use super::contexts::Candidate;
use super::new_frame::NEGLIGIBLE;
use super::posterior::{Pooled, Posterior};
use super::seat_weights::Seats;
use crate::chain::Draw;
use crate::gibbs::names::{ln_evidence, ln_weights_given};
use crate::ids::{FaceId, IdentityId};
use crate::math::{ln_add_exp, ln_sum_exp, shares};
use crate::model::face::Centred;
use crate::state::{Name, Seat, Votes};
use crate::target::Target;

impl Posterior {
    /// Who a face of the data is, by the draws that were pooled of it.
    ///
    /// # Panics
    /// When these are other draws, or draws of other data.
    pub fn who(&self, face: FaceId, target: &Target, draws: &[Draw]) -> Explained {
        assert_eq!(draws.len(), self.draws.len(), "these are the draws that were pooled");
        let mut x = Centred::default();
        target.look(face, &mut x);
        let views = draws.iter().zip(&self.draws).map(|(draw, pooled)| View::new(face, draw, pooled, target));
        let mut views: Vec<View<'_>> = views.collect();
        self.weigh_where_it_is(&x, &mut views);
        self.weigh_elsewhere(&x, &mut views);

        let is_named = target.data().given_name(face).is_some();
        let weights = vec![1.0 / draws.len() as f64; draws.len()];
        let mut tally = Tally::new(&weights, self.n_names);
        let mut of_group = Vec::new();
        let mut seats = Vec::new();
        for (number, view) in views.iter_mut().enumerate() {
            let of_draw = view.finish();
            for seat in &of_draw {
                match seat.identity {
                    Some(identity) => tally.add(number, view.name_shares(identity.0).as_deref(), seat.p),
                    None => tally.add_new_of_data(number, seat.p, &view.names_of_new(), is_named),
                }
            }
            tally.add_unsaid(number, &self.draws[number].globals.name_weights);
            let known = of_draw.iter().filter_map(|seat| Some((seat.identity?, seat.p * weights[number])));
            let pooled = &self.draws[number];
            of_group.extend(known.flat_map(|(i, p)| pooled.groups_of(i.0).map(move |group| (group, p))));
            seats.push(of_draw);
        }
        let identity = self.most_probable(of_group, Some(face));
        Explained { answer: Answer { identity, ..tally.answer() }, seats }
    }

    /// Per draw, how probable it is that a face of the data would sit where it sits if nothing had been said
    /// of it.
    ///
    /// # Panics
    /// As [`Posterior::who`].
    pub fn at_home(&self, face: FaceId, target: &Target, draws: &[Draw]) -> Vec<f64> {
        assert_eq!(draws.len(), self.draws.len(), "these are the draws that were pooled");
        let mut x = Centred::default();
        target.look(face, &mut x);
        x.set_odd(None);
        let view = |(draw, pooled)| View::new(face, draw, pooled, target).unsaid();
        let mut views: Vec<View<'_>> = draws.iter().zip(&self.draws).map(view).collect();
        self.weigh_where_it_is(&x, &mut views);
        self.weigh_elsewhere(&x, &mut views);
        let of_draw = |view: &mut View<'_>| {
            let seats = view.finish();
            let is_home = |seat: &&Seat| match seat.identity {
                Some(identity) => !view.is_alone && view.is_own(identity.0),
                None => view.is_alone,
            };
            seats.iter().filter(is_home).map(|seat| seat.p).sum::<f64>()
        };
        views.iter_mut().map(of_draw).collect()
    }

    /// With whom it is, without it, and those for whom something speaks that the bounds do not know of.
    fn weigh_where_it_is(&self, x: &Centred, views: &mut [View<'_>]) {
        let model = &self.model.face;
        let mut without: HashMap<u32, f64> = HashMap::new();
        let mut at: HashMap<u32, f64> = HashMap::new();
        for view in views {
            view.push(None, model.ln_predictive(&model.group(), x));
            let own = view.pooled.group[view.own as usize];
            if !view.is_alone {
                let ln_face =
                    *without.entry(own).or_insert_with(|| self.ln_without(own as usize, view.face, x));
                view.push(Some(view.own), ln_face);
            }
            for identity in view.favoured() {
                let group = view.pooled.group[identity as usize];
                let ln_face = *at.entry(group).or_insert_with(|| self.ln_face(group as usize, x));
                view.push(Some(identity), ln_face);
            }
        }
    }

    /// Everybody else, groups in the order of an upper bound, until those left could not matter together to
    /// any draw.
    fn weigh_elsewhere(&self, x: &Centred, views: &mut [View<'_>]) {
        let mut bounds = Bounds::new(self, x, 0.0);
        for view in views.iter() {
            bounds.leave_out(view.pooled.group[view.own as usize]);
        }
        let least = |views: &[View<'_>]| views.iter().map(|view| view.best).fold(f64::INFINITY, f64::min);
        let groups = bounds.ranked(least(views) - NEGLIGIBLE, f64::INFINITY);
        let mut place = 0;
        loop {
            let some = groups.next(place, EVERY, least(views) + self.ln_neglected());
            if some.is_empty() {
                return;
            }
            for (group, ln_face) in self.weighed(some, x, &bounds, self.floor(least(views))) {
                for &(draw, identity) in self.seats_of(group as usize) {
                    views[draw as usize].push_unless_favoured(identity, ln_face);
                }
            }
            place += some.len();
        }
    }
}

/// Whether enough was taken is asked after so many groups.
const EVERY: usize = 16;

/// A draw as a face sees it that has left its seat.
struct View<'a> {
    face: FaceId,
    target: &'a Target,
    pooled: &'a Pooled,
    seats_of: Seats<'a>,
    /// Where it sat, and whether nobody else does.
    own: u32,
    is_alone: bool,
    /// How often it counts there: a copy does not.
    itself: u32,
    /// ln pi_0', to which an identity without faces has given back its own (D2).
    ln_unseen: f64,
    /// What was said of the face and others, and that nobody is twice in a frame, by identity.
    said: HashMap<u32, f64>,
    /// What was said of the face's own name.
    votes: Votes,
    /// ln of how probable that is of somebody of whose name nothing else was said, as of somebody new.
    ln_votes: f64,
    seats: Vec<Seat>,
    best: f64,
}

impl<'a> View<'a> {
    fn new(face: FaceId, draw: &Draw, pooled: &'a Pooled, target: &'a Target) -> Self {
        let (model, data) = target.parts();
        let identity_of = |other: FaceId| draw.identities[other.index()];
        let own = identity_of(face);
        let itself = u32::from(!draw.is_copy(face.index()));
        let is_alone = pooled.counts[own as usize].total() == itself;
        let frame = data.frame_of(face);
        let context = draw.contexts[frame.index()] as usize;
        let mut said: HashMap<u32, f64> = HashMap::new();
        for &(other, n_same, n_different) in data.evidence().links(face) {
            for &look in pooled.looks_of(identity_of(other)) {
                *said.entry(look).or_default() += model.evidence.ln_bond(n_same, n_different);
            }
        }
        if model.repeat != 1.0 {
            for &other in data.faces_in(frame).iter().filter(|&&other| other != face) {
                for &look in pooled.looks_of(identity_of(other)) {
                    *said.entry(look).or_default() += model.repeat.ln();
                }
            }
        }
        let mut votes = Votes::default();
        votes.add_face(face, data);
        Self {
            face,
            target,
            pooled,
            seats_of: Seats::of(pooled, &Candidate::of_context(context, pooled)),
            own,
            is_alone,
            itself,
            ln_unseen: match is_alone {
                true => ln_add_exp(pooled.ln_unseen, pooled.ln_weight[own as usize]),
                false => pooled.ln_unseen,
            },
            said,
            ln_votes: ln_evidence(&votes, &pooled.names, model),
            votes,
            seats: Vec::new(),
            best: f64::NEG_INFINITY,
        }
    }

    /// Whether an identity is a look of the person with whom the face sat.
    fn is_own(&self, identity: u32) -> bool {
        self.pooled.person[identity as usize] == self.pooled.person[self.own as usize]
    }

    /// As if nothing had been said of the face.
    fn unsaid(mut self) -> Self {
        self.said.clear();
        self.votes = Votes::default();
        self.ln_votes = 0.0;
        self
    }

    /// ln of what people said, and the frame, for an identity other than a new one. What was said of the
    /// face's name is weighed with what was said of the others', the identity's own name y* integrated out,
    /// and against somebody new.
    fn ln_said(&self, identity: u32) -> f64 {
        let of_name = match self.votes_with_and_without(identity) {
            _ if self.votes.is_empty() => 0.0,
            None => 0.0,
            Some([with, without]) => {
                let ln = |votes| ln_evidence(votes, &self.pooled.names, self.target.model());
                ln(&with) - ln(&without) - self.ln_votes
            }
        };
        self.said.get(&identity).copied().unwrap_or(0.0) + of_name
    }

    /// What was said of the names of an identity's faces, with this one and without it; `None` where it is of
    /// this one alone.
    fn votes_with_and_without(&self, identity: u32) -> Option<[Votes; 2]> {
        let votes = &self.pooled.voted_of(identity)?.votes;
        let mut other = votes.clone();
        if self.is_own(identity) {
            other.take_face(self.face, self.target.data());
            return (!other.is_empty()).then(|| [votes.clone(), other]);
        }
        other.add_face(self.face, self.target.data());
        Some([other, votes.clone()])
    }

    /// How probable each name is if the face sits there; `None` is H.
    fn name_shares(&self, identity: u32) -> Option<Vec<f64>> {
        let with = match self.votes_with_and_without(identity) {
            Some([with, _]) => with,
            None if self.votes.is_empty() => return None,
            None => self.votes.clone(),
        };
        Some(shares(&ln_weights_given(&with, &self.pooled.names, self.target.model())))
    }

    /// The probabilities of a new identity's names.
    fn names_of_new(&self) -> Vec<f64> {
        shares(&ln_weights_given(&self.votes, &self.pooled.names, self.target.model()))
    }

    fn name(&self, identity: u32) -> Name {
        self.pooled.name[identity as usize].map_or(Name::Unknown, Name::Known)
    }

    /// Identities but its own for which something was said: bounds of what faces say do not hold for them.
    fn favoured(&self) -> Vec<u32> {
        let all = 0..self.pooled.group.len() as u32;
        all.filter(|&identity| identity != self.own && self.ln_said(identity) > 0.0).collect()
    }

    fn push_unless_favoured(&mut self, identity: u32, ln_face: f64) {
        if self.ln_said(identity) <= 0.0 {
            self.push(Some(identity), ln_face);
        }
    }

    fn push(&mut self, identity: Option<u32>, ln_face: f64) {
        let (ln_context, ln_said, name) = match identity {
            Some(i) => {
                let itself = if i == self.own { -f64::from(self.itself) } else { 0.0 };
                (self.seats_of.ln_known(i as usize, itself), self.ln_said(i), self.name(i))
            }
            None => (self.seats_of.ln_concentration() + self.ln_unseen, 0.0, Name::Unknown),
        };
        self.best = self.best.max(ln_context + ln_face + ln_said);
        let identity = identity.map(IdentityId);
        self.seats.push(Seat { identity, name, ln_context, ln_face, ln_said, p: 0.0 });
    }

    /// The seats that matter with their probabilities, a new identity last.
    fn finish(&mut self) -> Vec<Seat> {
        let ln_weight = |seat: &Seat| seat.ln_context + seat.ln_face + seat.ln_said;
        let mut seats = std::mem::take(&mut self.seats);
        seats.retain(|seat| seat.identity.is_none() || ln_weight(seat) > self.best - NEGLIGIBLE);
        seats.sort_by_key(|seat| seat.identity.map_or(u32::MAX, |identity| identity.0));
        let ln_total = ln_sum_exp(&seats.iter().map(ln_weight).collect::<Vec<f64>>());
        seats.iter_mut().for_each(|seat| seat.p = (ln_weight(seat) - ln_total).exp());
        seats
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;
    use crate::chain::Chain;
    use crate::gibbs::Sweep;
    use crate::model::FaceUpdate;
    use crate::random::driver;
    use crate::simulate::prior;
    use crate::state::State;

    /// ln of how much more probable what was said of a face's name is at an identity than before it was said,
    /// or at a new one: by the sum over all names of the identity.
    fn ln_votes(face: FaceId, others: &[FaceId], state: &State, target: &Target) -> f64 {
        let (names, data) = (state.names(), target.data());
        let ln_of = |faces: &[FaceId]| {
            let at = |name: Name| {
                let of_face = |&face: &FaceId| {
                    let given = data.label(face).map_or(0.0, |given| names.ln_likelihood(given, name));
                    let denials = data.evidence().denials(face).iter();
                    let denied = denials.filter(|&&label| Name::Known(label) == name).count() as f64;
                    given - denied * target.model().evidence.ln_denial()
                };
                names.ln_weight(name) + faces.iter().map(of_face).sum::<f64>()
            };
            ln_sum_exp(&names.all().map(at).collect::<Vec<f64>>())
        };
        ln_of(&[others, &[face]].concat()) - ln_of(others)
    }

    /// In every mode the seats weigh what a chain in that state would draw from, but for names, which are
    /// integrated out.
    #[test]
    fn a_face_has_the_seats_that_a_gibbs_step_would_draw_from() {
        let collapsed = |case: &cases::Case| case.target.model().face.update == FaceUpdate::Collapsed;
        let mut n_named = 0;
        for case in cases::all().iter().filter(|case| collapsed(case)) {
            let (state, target) = prior::draw(&case.target, &mut driver(21));
            let mut chain = Chain::of_state(state, driver(22));
            for _ in 0..3 {
                chain.sweep(&Sweep::default(), &target);
                let draw = chain.draw(&target);
                let posterior = Posterior::new(&target, std::slice::from_ref(&draw));
                for face in target.data().faces() {
                    let found = posterior.who(face, &target, std::slice::from_ref(&draw));
                    assert_seats(face, &found, &chain, &draw, &target, case.name);
                    n_named += usize::from(target.data().given_name(face).is_some());
                    let answer = &found.answer;
                    let total = answer.acquainted + answer.familiar + answer.stranger;
                    assert!((total - 1.0).abs() < 1e-12);
                    let names: f64 = answer.names.iter().map(|name| name.p).sum();
                    assert!((names + answer.unknown_name - 1.0).abs() < 1e-9, "{}", case.name);
                }
            }
        }
        assert!(n_named > 20, "names were tried {n_named} times");
    }

    fn assert_seats(
        face: FaceId,
        found: &Explained,
        chain: &Chain,
        draw: &Draw,
        target: &Target,
        case: &str,
    ) {
        let (data, state) = (target.data(), chain.state());
        let others = |identity: IdentityId| -> Vec<FaceId> {
            let is_there = |&other: &FaceId| state.seating().identity_of(other) == Some(identity);
            data.faces().filter(is_there).filter(|&other| other != face).collect()
        };
        let wanted = chain.clone().reseat(face, target);
        let is_silent = data.given_name(face).is_none() && data.evidence().denials(face).is_empty();
        let drawn = |name: Name| {
            let given = data.label(face).map_or(0.0, |given| state.names().ln_evidence(given, name));
            let denied = data.evidence().denials(face).iter().filter(|&&label| Name::Known(label) == name);
            given - denied.count() as f64 * target.model().evidence.ln_denial()
        };
        let ln_weight = |seat: &Seat| {
            let (others, in_it) = match seat.identity {
                Some(identity) => (others(identity), drawn(seat.name)),
                None => (Vec::new(), seat.ln_said),
            };
            let of_name = if is_silent { 0.0 } else { ln_votes(face, &others, state, target) - in_it };
            seat.ln_weight() + of_name
        };
        let ln_weights: Vec<f64> = wanted.iter().map(ln_weight).collect();
        for (seat, p) in wanted.iter().zip(shares(&ln_weights)) {
            let number = |identity| IdentityId(draw.identities[others(identity)[0].index()]);
            let number = seat.identity.map(number);
            let same = found.seats[0].iter().find(|found| found.identity == number);
            let found = same.map_or(0.0, |found| found.p);
            assert!((found - p).abs() < 1e-9, "{case}, {face:?}: {found} for {p} of {seat:?}");
        }
    }
}

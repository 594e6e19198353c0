//! A face that was learnt from: what every draw says of its seat, all other faces staying where they are.
//!
//! To count in how many draws it sits with whom would tell nothing finer than one over the number of draws. Given the
//! others, the probability of each of its seats is known (C.4); its mean over draws is the same on average, and varies
//! less (Rao-Blackwell). It is what a Gibbs step would draw from, worked out without making one: the draws stay as they
//! are. theta*, where a chain keeps it, is integrated out, as for new faces.

use std::collections::HashMap;

use super::answer::{Answer, Explained, Tally};
use super::bounds::Bounds;
use super::contexts::Candidate;
use super::new_frame::NEGLIGIBLE;
use super::posterior::{Pooled, Posterior};
use super::seat_weights::Seats;
use crate::chain::Draw;
use crate::ids::{FaceId, IdentityId};
use crate::math::{ln_add_exp, ln_sum_exp};
use crate::model::face::Centred;
use crate::state::{Name, Names, Seat};
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
        for (number, view) in views.into_iter().enumerate() {
            let names_of_new = view.names_of_new();
            let of_draw = view.finish();
            tally.count(number, &of_draw, &names_of_new, is_named);
            let known = of_draw.iter().filter_map(|seat| Some((seat.identity?, seat.p * weights[number])));
            of_group.extend(known.map(|(i, p)| (self.draws[number].group[i.index()] as usize, p)));
            seats.push(of_draw);
        }
        let identity = self.most_probable(of_group, Some(face));
        Explained { answer: Answer { identity, ..tally.answer() }, seats }
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
                let ln_face =
                    *at.entry(group).or_insert_with(|| model.ln_predictive(&self.groups[group as usize], x));
                view.push(Some(identity), ln_face);
            }
        }
    }

    /// Everybody else, groups in the order of an upper bound, until those left could not matter to any draw.
    fn weigh_elsewhere(&self, x: &Centred, views: &mut [View<'_>]) {
        let mut bounds = Bounds::new(self, x, 0.0);
        for view in views.iter() {
            bounds.leave_out(view.pooled.group[view.own as usize]);
        }
        let least = |views: &[View<'_>]| {
            views.iter().map(|view| view.best).fold(f64::INFINITY, f64::min) - NEGLIGIBLE
        };
        for some in bounds.between(least(views), f64::INFINITY).chunks(EVERY) {
            let least = least(views);
            for &group in some.iter().take_while(|&&group| bounds.of(group) > least) {
                let ln_face = self.model.face.ln_predictive(&self.groups[group as usize], x);
                for &(draw, identity) in self.seats_of(group as usize) {
                    views[draw as usize].push_unless_favoured(identity, ln_face);
                }
            }
        }
    }
}

/// Whether enough was taken is asked after so many groups.
const EVERY: usize = 64;

/// A draw as a face sees it that has left its seat.
struct View<'a> {
    face: FaceId,
    pooled: &'a Pooled,
    names: Names,
    seats_of: Seats<'a>,
    /// Where it sat, and whether nobody else does.
    own: u32,
    is_alone: bool,
    /// ln pi_0', to which an identity without faces has given back its own (D2).
    ln_unseen: f64,
    /// What was said of the face and others, and that nobody is twice in a frame, by identity.
    said: HashMap<u32, f64>,
    /// ln of what was said of the face's name, over Y and then unknown, where anything was.
    ln_names: Option<Vec<f64>>,
    /// ln weights of a new identity's name.
    ln_names_of_new: Vec<f64>,
    seats: Vec<Seat>,
    best: f64,
}

impl<'a> View<'a> {
    fn new(face: FaceId, draw: &Draw, pooled: &'a Pooled, target: &Target) -> Self {
        let (model, data) = target.parts();
        let identity_of = |other: FaceId| draw.identities[other.index()];
        let own = identity_of(face);
        let n_own: u32 = pooled.contexts.iter().map(|context| context.n_at[own as usize]).sum();
        let is_alone = n_own == 1;
        let frame = data.frame_of(face);
        let context = draw.contexts[frame.index()] as usize;
        let mut said: HashMap<u32, f64> = HashMap::new();
        for &(other, n_same, n_different) in data.evidence().links(face) {
            *said.entry(identity_of(other)).or_default() += model.evidence.ln_bond(n_same, n_different);
        }
        if model.repeat != 1.0 {
            for &other in data.faces_in(frame).iter().filter(|&&other| other != face) {
                *said.entry(identity_of(other)).or_default() += model.repeat.ln();
            }
        }
        let names = Names::recalled(&draw.globals.name_weights, draw.globals.error_rate, model.evidence.is);
        let (given, denials) = (data.label(face), data.evidence().denials(face));
        let ln_denied = |name: Name| {
            let n = denials.iter().filter(|&&label| Name::Known(label) == name).count();
            n as f64 * model.evidence.ln_denial()
        };
        let ln_name = |name| given.map_or(0.0, |given| names.ln_evidence(given, name)) - ln_denied(name);
        let is_silent = given.is_none() && denials.is_empty();
        let ln_names = (!is_silent).then(|| names.all().map(ln_name).collect());
        let of_new = names.ln_weights_of_new(given);
        let ln_names_of_new =
            of_new.into_iter().zip(names.all()).map(|(ln, name)| ln - ln_denied(name)).collect();
        Self {
            face,
            pooled,
            seats_of: Seats::of(pooled, &Candidate::of_context(context, pooled)),
            own,
            is_alone,
            ln_unseen: match is_alone {
                true => ln_add_exp(pooled.ln_unseen, pooled.ln_weight[own as usize]),
                false => pooled.ln_unseen,
            },
            said,
            ln_names,
            ln_names_of_new,
            names,
            seats: Vec::new(),
            best: f64::NEG_INFINITY,
        }
    }

    /// ln of what people said, and the frame, for an identity other than a new one.
    fn ln_said(&self, identity: u32) -> f64 {
        let of_name = self.ln_names.as_ref().map_or(0.0, |ln| ln[self.names.slot(self.name(identity))]);
        self.said.get(&identity).copied().unwrap_or(0.0) + of_name
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
                let itself = if i == self.own { -1.0 } else { 0.0 };
                (self.seats_of.ln_known(i as usize, itself), self.ln_said(i), self.name(i))
            }
            None => {
                let ln_said = self.ln_names.as_ref().map_or(0.0, |_| ln_sum_exp(&self.ln_names_of_new));
                (self.seats_of.ln_concentration() + self.ln_unseen, ln_said, Name::Unknown)
            }
        };
        self.best = self.best.max(ln_context + ln_face + ln_said);
        let identity = identity.map(IdentityId);
        self.seats.push(Seat { identity, name, ln_context, ln_face, ln_said, p: 0.0 });
    }

    /// The probabilities of a new identity's names.
    fn names_of_new(&self) -> Vec<f64> {
        let ln_total = ln_sum_exp(&self.ln_names_of_new);
        self.ln_names_of_new.iter().map(|ln| (ln - ln_total).exp()).collect()
    }

    /// The seats that matter with their probabilities, a new identity last.
    fn finish(self) -> Vec<Seat> {
        let ln_weight = |seat: &Seat| seat.ln_context + seat.ln_face + seat.ln_said;
        let mut seats = self.seats;
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

    /// In every mode the seats weigh what a chain in that state would draw from.
    #[test]
    fn a_face_has_the_seats_that_a_gibbs_step_would_draw_from() {
        let collapsed = |case: &cases::Case| case.target.model().face.update == FaceUpdate::Collapsed;
        for case in cases::all().iter().filter(|case| collapsed(case)) {
            let (state, target) = prior::draw(&case.target, &mut driver(21));
            let mut chain = Chain::of_state(state, driver(22));
            for _ in 0..3 {
                chain.sweep(&Sweep::default(), &target);
                let draw = chain.draw(&target);
                let posterior = Posterior::new(&target, std::slice::from_ref(&draw));
                for face in target.data().faces() {
                    let found = posterior.who(face, &target, std::slice::from_ref(&draw));
                    let mut again = chain.clone();
                    let wanted = again.reseat(face, &target);
                    let number = |seat: &Seat| {
                        let identity = seat.identity?;
                        let others = target.data().faces().filter(|&other| other != face);
                        let seating = chain.state().seating();
                        let other = others.into_iter().find(|&o| seating.identity_of(o) == Some(identity));
                        Some(IdentityId(draw.identities[other.expect("somebody is there").index()]))
                    };
                    for seat in &wanted {
                        let same = found.seats[0].iter().find(|found| found.identity == number(seat));
                        let p = same.map_or(0.0, |found| found.p);
                        assert!((p - seat.p).abs() < 1e-9, "{}, {face:?}: {p} for {seat:?}", case.name);
                        let is_other = |found: &Seat| found.name != seat.name && found.identity.is_some();
                        assert!(!same.is_some_and(is_other), "{}: {seat:?}", case.name);
                    }
                    let total = found.answer.acquainted + found.answer.familiar + found.answer.stranger;
                    assert!((total - 1.0).abs() < 1e-12);
                    let names: f64 = found.answer.names.iter().map(|name| name.p).sum();
                    assert!((names + found.answer.unknown_name - 1.0).abs() < 1e-9, "{}", case.name);
                }
            }
        }
    }
}

//! Several guests change their seats at once: split-merge moves (Jain & Neal 2004, Dahl 2005) in which a
//! newcomer comes or goes.
//!
//! Photos of a stranger that have sat down with somebody seen hold each other there, and cannot leave one by
//! one.

use super::Room;
use crate::math::ln_add_exp;
use crate::model::face::{Centred, Group};

/// In a round before answers count, and in one that counts, so many moves are tried, and one more for so many
/// guests.
const TRIES: [(usize, usize); 2] = [(40, 4), (10, 16)];
/// With more guests than this no more are tried: each takes longer, and moves more.
const MANY: usize = 400;

/// The guests of one host in two parts: who stays, and who is with a newcomer.
struct Parts {
    stay: Part,
    leave: Part,
    /// ln of the probability that guests parted one by one part like this.
    ln_q: f64,
}

struct Part {
    group: Group,
    guests: Vec<usize>,
    /// alpha_c pi_0i.
    share: f64,
}

impl Part {
    fn new(group: Group, share: f64) -> Self {
        Self { group, guests: Vec::new(), share }
    }
}

impl Room<'_> {
    /// Tries some moves; most while guests are still finding their seats.
    pub(super) fn regroup(&mut self, is_early: bool) {
        let n = self.guests.len();
        if n < 2 {
            return;
        }
        let (least, guests) = TRIES[usize::from(!is_early)];
        for _ in 0..least + n.min(MANY) / guests {
            let first = self.rng.below(n);
            if self.rng.bernoulli(0.5) {
                self.try_to_part(first);
            } else {
                let second = (first + 1 + self.rng.below(n - 1)) % n;
                self.try_to_join(first, second);
            }
        }
    }

    /// A guest leaves its host for a newcomer, and others with it; one at least stays.
    fn try_to_part(&mut self, first: usize) {
        let place = self.place(first);
        let mut others = self.guests_of(place);
        others.retain(|&guest| guest != first);
        if others.is_empty() {
            return;
        }
        let second = others.swap_remove(self.rng.below(others.len()));
        let ln_u = self.rng.uniform().ln();
        let (ln_b, ln_rest) = self.rng.ln_beta(1.0, self.draw.globals.global_concentration);
        let ln_weight = self.ln_unseen + ln_b;
        let parts = self.parted([first, second], place, ln_weight, others, None);
        let ln_ratio = self.ln_parted_over_joined(&parts, self.ln_unseen, &self.host(place).group);
        if ln_ratio - parts.ln_q + self.ln_choices(&parts) < ln_u {
            return;
        }
        self.ln_unseen += ln_rest;
        let Parts { stay, leave, .. } = parts;
        self.set_group(place, stay);
        let new = self.put(None, ln_weight);
        self.set_group(new, leave);
    }

    /// All guests of a newcomer join the host of another guest.
    fn try_to_join(&mut self, first: usize, second: usize) {
        let (from, to) = (self.place(first), self.place(second));
        if from == to || self.host(from).identity.is_some() {
            return;
        }
        let ln_u = self.rng.uniform().ln();
        let leaving = self.guests_of(from);
        let mut joined = Part::new(self.host(to).group.clone(), 0.0);
        joined.guests = self.guests_of(to);
        for &guest in &leaving {
            self.posterior.model.face.observe(&mut joined.group, &self.face(guest));
            joined.guests.push(guest);
        }
        let ln_unseen = ln_add_exp(self.ln_unseen, self.host(from).ln_weight);
        let as_is = Parts { stay: self.part(to), leave: self.part(from), ln_q: 0.0 };
        let ln_ratio =
            -self.ln_parted_over_joined(&as_is, ln_unseen, &joined.group) - self.ln_choices(&as_is);
        // The probability of parting like this is at most 1.
        if ln_ratio < ln_u {
            return;
        }
        let mut others = joined.guests.clone();
        others.retain(|&guest| guest != first && guest != second);
        let ln_weight = self.host(from).ln_weight;
        let parts = self.parted([first, second], to, ln_weight, others, Some(from));
        if ln_ratio + parts.ln_q < ln_u {
            return;
        }
        self.ln_unseen = ln_unseen;
        self.hosts[from] = None;
        self.set_group(to, joined);
    }

    /// Parts the guests of a host: the first leaves, the second stays, the others follow one of them, one by
    /// one in a random order; or those who sit at the place `left` are known to follow the first.
    fn parted(
        &mut self,
        [first, second]: [usize; 2],
        place: usize,
        ln_weight: f64,
        mut others: Vec<usize>,
        left: Option<usize>,
    ) -> Parts {
        let model = &self.posterior.model.face;
        let host = self.host(place);
        let share = |ln_weight: f64| (self.ln_alpha_c + ln_weight).exp();
        let mut stay = Part::new(self.group_without_guests(host.identity), share(host.ln_weight));
        let mut leave = Part::new(model.group(), share(ln_weight));
        let join = |part: &mut Part, guest: usize, x: &Centred| {
            model.observe(&mut part.group, x);
            part.guests.push(guest);
        };
        join(&mut leave, first, &self.face(first));
        join(&mut stay, second, &self.face(second));
        self.rng.shuffle(&mut others);
        let mut ln_q = 0.0;
        for guest in others {
            let x = self.face(guest);
            let ln_seat = |part: &Part| {
                let ln_repeats = self.ln_repeats(guest, &part.guests);
                (part.guests.len() as f64 + part.share).ln() + model.ln_joining(&part.group, &x) + ln_repeats
            };
            let ln_each = [ln_seat(&stay), ln_seat(&leave)];
            let ln_leaves = ln_each[1] - ln_add_exp(ln_each[0], ln_each[1]);
            let leaves = match left {
                Some(left) => self.seat_of[guest] == Some(left),
                None => self.rng.bernoulli(ln_leaves.exp()),
            };
            ln_q += if leaves { ln_leaves } else { ln_each[0] - ln_add_exp(ln_each[0], ln_each[1]) };
            join(if leaves { &mut leave } else { &mut stay }, guest, &x);
        }
        Parts { stay, leave, ln_q }
    }

    /// ln of how much more probable guests are in two parts than together: their seats, their faces and
    /// repeats. A newcomer's share of pi_0' is drawn from its prior, which cancels.
    fn ln_parted_over_joined(&self, parts: &Parts, ln_unseen: f64, joined: &Group) -> f64 {
        let Parts { stay, leave, .. } = parts;
        let model = &self.posterior.model.face;
        let ln_rising = |from: usize, to: usize, share: f64| -> f64 {
            (from..to).map(|seated| (seated as f64 + share).ln()).sum()
        };
        let (n_stay, n_leave) = (stay.guests.len(), leave.guests.len());
        let ln_seats = self.ln_alpha_c + ln_unseen + ln_rising(1, n_leave, leave.share)
            - ln_rising(n_stay, n_stay + n_leave, stay.share);
        let ln_faces =
            model.ln_marginal(&stay.group) + model.ln_marginal(&leave.group) - model.ln_marginal(joined);
        let ln_repeats: f64 = leave.guests.iter().map(|&guest| self.ln_repeats(guest, &stay.guests)).sum();
        ln_seats + ln_faces - ln_repeats
    }

    /// ln of how much likelier it is to try and join these parts, of all pairs of guests, than to part them,
    /// of pairs who share a host.
    fn ln_choices(&self, parts: &Parts) -> f64 {
        let n_joined = parts.stay.guests.len() + parts.leave.guests.len();
        ((n_joined - 1) as f64 / (self.guests.len() - 1) as f64).ln()
    }

    fn part(&self, place: usize) -> Part {
        let host = self.host(place);
        let share = (self.ln_alpha_c + host.ln_weight).exp();
        Part { group: host.group.clone(), guests: self.guests_of(place), share }
    }

    /// The guests of a host are these now.
    fn set_group(&mut self, place: usize, part: Part) {
        self.n_versions += 1;
        let version = self.n_versions;
        let host = self.hosts[place].as_mut().expect("the place is taken");
        (host.group, host.n_guests, host.version) = (part.group, part.guests.len() as u32, version);
        part.guests.iter().for_each(|&guest| self.seat_of[guest] = Some(place));
    }

    fn place(&self, guest: usize) -> usize {
        self.seat_of[guest].expect("every guest is seated after the first round")
    }

    fn guests_of(&self, place: usize) -> Vec<usize> {
        (0..self.guests.len()).filter(|&guest| self.seat_of[guest] == Some(place)).collect()
    }
}

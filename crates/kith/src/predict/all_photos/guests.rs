//! Faces that are asked about together are seated together: guests of one new context (deviation D11).
//!
//! Under each draw the training faces keep their seats, and the guests are the faces of a context of their
//! own. A guest sits with somebody seen with weight N_i + alpha_c pi_0i, where N_i counts guests only, with
//! somebody whom other guests have brought likewise, and with somebody new with weight alpha_c pi_0'; each
//! times what the faces there, of training and of guests, say of this one. Whoever came with the guests was
//! never seen in training: a stranger. So the other photos tell how many strangers there are, who of those
//! seen is there, and what they look like today.
//!
//! Guests are seated one by one in a random order, then reseated in turn (the Gibbs sampler of §C.2 for these
//! faces alone); between the rounds several move at once (`regroup.rs`), and the shares of pi_0' that
//! newcomers have are redrawn (§C.1). The answer about a guest is the probability of each of its seats given
//! all others', averaged over the last rounds. A guest that stays keeps its scale; one that moves draws it
//! anew.

mod regroup;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::NewPhoto;
use crate::gibbs::concentration::draw_tables;
use crate::math::{ln_add_exp, ln_sum_exp};
use crate::model::face::{Centred, Group};
use crate::predict::contexts::ContextLabel;
use crate::predict::new_frame::{Marginals, NewFrame};
use crate::predict::posterior::{Pooled, Posterior, ln_without};
use crate::random::{self, Rng};
use crate::state::ln_seat;

/// How often guests are seated before answers count, and how often they count.
#[derive(Clone, Copy)]
struct Rounds {
    pub before: usize,
    pub counted: usize,
}

/// More change no answer by more than chance does; draws are averaged besides.
const ROUNDS: Rounds = Rounds { before: 5, counted: 6 };
/// A seat so many nats below the best of those seen is no seat for a guest, unless another sits there.
const REACH: f64 = 16.0;
/// What an identity that guests have joined says of a face so far below its best seat is looked at anew only
/// when the number of its guests has changed by a quarter.
const FAR: f64 = 25.0;
/// An answer is the same whenever it is asked for.
const SEED: u64 = 0x6775_6573_7473;

/// What each draw says of the faces of one photo, all other faces' seats being averaged over.
#[derive(Clone, Debug, Default)]
pub(super) struct Seated {
    pub marginals: Vec<Marginals>,
    /// Per draw and face, ln of the probability of a stranger, and of anybody seen.
    pub ln_kinds: Vec<Vec<[f64; 2]>>,
}

/// Seats the faces of photos together; by photo.
pub(super) fn seat(
    posterior: &Posterior,
    photos: &[NewPhoto<'_>],
    after_photo: &(dyn Fn() + Sync),
) -> Vec<Seated> {
    seat_for(ROUNDS, posterior, photos, after_photo)
}

fn seat_for(
    rounds: Rounds,
    posterior: &Posterior,
    photos: &[NewPhoto<'_>],
    after_photo: &(dyn Fn() + Sync),
) -> Vec<Seated> {
    let of_photo = |(photo, NewPhoto { faces, .. }): (usize, &NewPhoto<'_>)| -> Vec<Guest> {
        faces.iter().map(|face| Guest::new(photo, face, posterior)).collect()
    };
    let guests: Vec<Guest> =
        photos.par_iter().enumerate().map(of_photo).collect::<Vec<_>>().into_iter().flatten().collect();
    // Each draw is its share of the work on all photos.
    let (n_done, n_draws) = (AtomicUsize::new(0), posterior.draws.len());
    let of_draw = |number: usize| {
        let answers = Room::new(number, posterior, &guests, photos.len()).answers(rounds);
        let before = n_done.fetch_add(1, Ordering::Relaxed);
        let n_photos = |n_done: usize| photos.len() * n_done / n_draws;
        (n_photos(before)..n_photos(before + 1)).for_each(|_| after_photo());
        answers
    };
    let by_draw: Vec<Vec<Said>> = (0..posterior.draws.len()).into_par_iter().map(of_draw).collect();
    let mut by_photo = vec![Seated::default(); photos.len()];
    for of_draw in by_draw {
        for (photo, (marginals, ln_kinds)) in by_photo.iter_mut().zip(of_draw) {
            photo.marginals.push(marginals);
            photo.ln_kinds.push(ln_kinds);
        }
    }
    by_photo
}

/// What one draw says of the faces of one photo.
type Said = (Marginals, Vec<[f64; 2]>);

/// A face that is asked about.
struct Guest {
    photo: usize,
    x: Centred,
    /// ln predictive under nobody.
    ln_new: f64,
    /// Per draw the identities that may matter, with ln predictives under their training faces.
    near: Vec<Vec<(u32, f64)>>,
}

impl Guest {
    fn new(photo: usize, face: &[f32], posterior: &Posterior) -> Self {
        let frame = NewFrame::new(posterior, None, &[face]);
        let near = frame.near_as_guest(REACH);
        let NewFrame { mut xs, ln_new, .. } = frame;
        Self { photo, x: xs.remove(0), ln_new: ln_new[0], near }
    }
}

/// Somebody with whom guests sit.
struct Host {
    /// An identity of the draw; `None` came with the guests.
    identity: Option<u32>,
    /// ln pi_0i.
    ln_weight: f64,
    n_guests: u32,
    /// The training faces and the guests.
    group: Group,
    /// Changes whenever the group does; the first it had.
    version: u64,
    first_version: u64,
}

/// What a guest said of a host, itself not among the faces there.
#[derive(Clone, Copy)]
struct Word {
    version: u64,
    n_guests: u32,
    ln_face: f64,
}

const UNHEARD: Word = Word { version: 0, n_guests: 0, ln_face: f64::NAN };

/// A seat that a guest may take.
#[derive(Clone, Copy, PartialEq)]
enum Seat {
    /// With other guests: the place of the host.
    Joined(usize),
    /// With the training faces of an identity alone.
    Known(u32),
    New,
}

/// What the counted rounds have said of a guest.
#[derive(Clone)]
struct Tally {
    ln_stranger: f64,
    ln_seen: f64,
    /// ln of the sum of 1 / p(face | the other guests).
    ln_improbable: f64,
    of_identity: HashMap<u32, f64>,
}

/// The guests under one draw.
struct Room<'a> {
    posterior: &'a Posterior,
    draw: &'a Pooled,
    number: usize,
    guests: &'a [Guest],
    /// The guests of each photo.
    of_photo: Vec<Vec<usize>>,
    rng: Rng,
    ln_alpha_c: f64,
    /// ln of what is left of pi_0'.
    ln_unseen: f64,
    hosts: Vec<Option<Host>>,
    /// The place of each identity that has guests.
    place_of: HashMap<u32, usize>,
    /// The place where each guest sits, and its scale.
    seat_of: Vec<Option<usize>>,
    scales: Vec<u8>,
    words: Vec<Vec<Word>>,
    n_versions: u64,
    tallies: Vec<Tally>,
}

impl<'a> Room<'a> {
    fn new(number: usize, posterior: &'a Posterior, guests: &'a [Guest], n_photos: usize) -> Self {
        let draw = &posterior.draws[number];
        let mut of_photo = vec![Vec::new(); n_photos];
        guests.iter().enumerate().for_each(|(number, guest)| of_photo[guest.photo].push(number));
        let tally = Tally {
            ln_stranger: f64::NEG_INFINITY,
            ln_seen: f64::NEG_INFINITY,
            ln_improbable: f64::NEG_INFINITY,
            of_identity: HashMap::new(),
        };
        Self {
            posterior,
            draw,
            number,
            guests,
            of_photo,
            rng: random::stream(SEED, number as u64),
            ln_alpha_c: draw.contexts[0].concentration.ln(),
            ln_unseen: draw.ln_unseen,
            hosts: Vec::new(),
            place_of: HashMap::new(),
            seat_of: vec![None; guests.len()],
            scales: vec![posterior.model.face.middle_scale(); guests.len()],
            words: vec![Vec::new(); guests.len()],
            n_versions: 0,
            tallies: vec![tally; guests.len()],
        }
    }

    /// By photo.
    fn answers(mut self, Rounds { before, counted }: Rounds) -> Vec<Said> {
        let mut order: Vec<usize> = (0..self.guests.len()).collect();
        self.rng.shuffle(&mut order);
        for round in 0..before + counted {
            order.iter().for_each(|&guest| self.reseat(guest, round >= before));
            self.regroup(round < before);
            self.redraw_weights();
        }
        let ln_rounds = (counted as f64).ln();
        let of_photo = |guests: &Vec<usize>| {
            let tallies: Vec<&Tally> = guests.iter().map(|&guest| &self.tallies[guest]).collect();
            let identities = |tally: &&Tally| {
                let mut found: Vec<(u32, f64)> =
                    tally.of_identity.iter().map(|(&identity, p)| (identity, p / counted as f64)).collect();
                found.sort_unstable_by_key(|seat| seat.0);
                found
            };
            let ln_kinds =
                |tally: &&Tally| [tally.ln_stranger, tally.ln_seen].map(|ln| (ln - ln_rounds).min(0.0));
            let ln_kinds: Vec<[f64; 2]> = tallies.iter().map(ln_kinds).collect();
            let marginals = Marginals {
                // 1 / p(face | the other guests) is what it is on average over their seats given all faces.
                ln_evidence: tallies.iter().map(|tally| ln_rounds - tally.ln_improbable).sum(),
                identities: tallies.iter().map(identities).collect(),
                new: ln_kinds.iter().map(|ln| ln[0].exp()).collect(),
                contexts: vec![(ContextLabel::Number(0), 1.0)],
            };
            (marginals, ln_kinds)
        };
        self.of_photo.iter().map(of_photo).collect()
    }

    /// Takes a guest off its seat, if it has one, and seats it given all others.
    fn reseat(&mut self, guest: usize, is_counted: bool) {
        let model = &self.posterior.model.face;
        let own = self.seat_of[guest].filter(|&place| !self.leave_if_last(guest, place));
        let (seats, mut ln_weights) = self.weigh(guest, own);
        if is_counted {
            self.count(guest, &seats, &ln_weights);
        }
        let drawn = seats[self.rng.categorical_ln(&mut ln_weights)];
        if own.is_some_and(|own| drawn == Seat::Joined(own)) {
            return;
        }
        let mut x = self.guests[guest].x.clone();
        if let Some(own) = own {
            x.set_scale(self.scales[guest]);
            self.n_versions += 1;
            let host = self.hosts[own].as_mut().expect("guests sit with hosts");
            model.forget(&mut host.group, &x);
            host.n_guests -= 1;
            host.version = self.n_versions;
        }
        let place = match drawn {
            Seat::Joined(place) => place,
            Seat::Known(identity) => self.open(Some(identity)),
            Seat::New => self.open(None),
        };
        self.n_versions += 1;
        let host = self.hosts[place].as_mut().expect("the place was taken");
        model.draw_scale(&host.group, &mut x, &mut self.rng);
        model.observe(&mut host.group, &x);
        host.n_guests += 1;
        host.version = self.n_versions;
        self.scales[guest] = x.scale();
        self.seat_of[guest] = Some(place);
        // What it says itself is said without it.
        let (version, n_guests) = (host.version, host.n_guests);
        if let Some(word) = self.words[guest].get_mut(place).filter(|_| matches!(drawn, Seat::Joined(_))) {
            (word.version, word.n_guests) = (version, n_guests);
        }
    }

    /// The only guest of a host leaves, and the host with it; a newcomer gives its weight back (D2).
    fn leave_if_last(&mut self, guest: usize, place: usize) -> bool {
        let Some(host) = self.hosts[place].take_if(|host| host.n_guests == 1) else { return false };
        match host.identity {
            Some(identity) => {
                self.place_of.remove(&identity);
            }
            None => self.ln_unseen = ln_add_exp(self.ln_unseen, host.ln_weight),
        }
        self.seat_of[guest] = None;
        true
    }

    /// A host without guests yet: an identity of the draw, or a newcomer with a share b ~ Beta(1, alpha_0) of
    /// pi_0'.
    fn open(&mut self, identity: Option<u32>) -> usize {
        let ln_weight = match identity {
            Some(number) => self.draw.ln_weight[number as usize],
            None => {
                let (ln_b, ln_rest) = self.rng.ln_beta(1.0, self.draw.globals.global_concentration);
                let ln_weight = self.ln_unseen + ln_b;
                self.ln_unseen += ln_rest;
                ln_weight
            }
        };
        let place = self.put(identity, ln_weight);
        identity.into_iter().for_each(|identity| {
            self.place_of.insert(identity, place);
        });
        place
    }

    /// Puts a host without guests in a free place.
    fn put(&mut self, identity: Option<u32>, ln_weight: f64) -> usize {
        let place = self.hosts.iter().position(Option::is_none).unwrap_or_else(|| {
            self.hosts.push(None);
            self.hosts.len() - 1
        });
        self.n_versions += 1;
        let (version, group) = (self.n_versions, self.group_without_guests(identity));
        let host = Host { identity, ln_weight, n_guests: 0, group, version, first_version: version };
        self.hosts[place] = Some(host);
        place
    }

    fn host(&self, place: usize) -> &Host {
        self.hosts[place].as_ref().expect("the place is taken")
    }

    fn group_without_guests(&self, identity: Option<u32>) -> Group {
        let group = |identity: u32| self.draw.group[identity as usize] as usize;
        identity.map_or_else(
            || self.posterior.model.face.group(),
            |identity| self.posterior.group(group(identity)).clone(),
        )
    }

    /// A guest's face, at its scale.
    fn face(&self, guest: usize) -> Centred {
        let mut x = self.guests[guest].x.clone();
        x.set_scale(self.scales[guest]);
        x
    }

    /// ln of the factor for a guest who sits with others, if they are on the same photo.
    fn ln_repeats(&self, guest: usize, others: &[usize]) -> f64 {
        let photo = self.guests[guest].photo;
        if self.of_photo[photo].len() == 1 {
            return 0.0;
        }
        let is_same = |&&other: &&usize| other != guest && self.guests[other].photo == photo;
        match others.iter().filter(is_same).count() {
            0 => 0.0,
            n => n as f64 * self.posterior.model.repeat.ln(),
        }
    }

    /// All seats of a guest that may sit at `own`, as if it did not, and ln of what they weigh.
    fn weigh(&mut self, guest: usize, own: Option<usize>) -> (Vec<Seat>, Vec<f64>) {
        let Guest { x, photo, ln_new, near } = &self.guests[guest];
        let mut seats = vec![Seat::New];
        let mut ln_weights = vec![self.ln_alpha_c + self.ln_unseen + ln_new];
        for &(identity, ln_face) in &near[self.number] {
            if !self.place_of.contains_key(&identity) {
                seats.push(Seat::Known(identity));
                ln_weights.push(self.ln_alpha_c + self.draw.ln_weight[identity as usize] + ln_face);
            }
        }
        let mut best = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let model = &self.posterior.model.face;
        let mut words = std::mem::take(&mut self.words[guest]);
        words.resize(self.hosts.len().max(words.len()), UNHEARD);
        // The seat it has is likely the best.
        let others = (0..self.hosts.len()).filter(|&place| Some(place) != own);
        for place in own.into_iter().chain(others) {
            let Some(host) = &self.hosts[place] else { continue };
            let is_own = Some(place) == own;
            let n_others = host.n_guests - u32::from(is_own);
            let mut ln_seat = ln_seat(f64::from(n_others), self.ln_alpha_c + host.ln_weight);
            if self.of_photo[*photo].len() > 1 {
                let is_there = |&other: &usize| self.seat_of[other] == Some(place);
                let there: Vec<usize> = self.of_photo[*photo].iter().copied().filter(is_there).collect();
                ln_seat += self.ln_repeats(guest, &there);
            }
            let word = &mut words[place];
            let is_about_same = 4 * word.n_guests.abs_diff(host.n_guests) <= word.n_guests;
            let is_far = word.version >= host.first_version && ln_seat + word.ln_face < best - FAR;
            if word.version != host.version && (is_own || !(is_far && is_about_same)) {
                let ln_face = match is_own {
                    true => ln_without(&host.group, &self.face(guest), model),
                    false => model.ln_predictive(&host.group, x),
                };
                *word = Word { version: host.version, n_guests: host.n_guests, ln_face };
            }
            best = best.max(ln_seat + word.ln_face);
            seats.push(Seat::Joined(place));
            ln_weights.push(ln_seat + word.ln_face);
        }
        self.words[guest] = words;
        (seats, ln_weights)
    }

    fn count(&mut self, guest: usize, seats: &[Seat], ln_weights: &[f64]) {
        let ln_total = ln_sum_exp(ln_weights);
        let n_others = (self.guests.len() - 1) as f64;
        let tally = &mut self.tallies[guest];
        let ln_all = (n_others + self.ln_alpha_c.exp()).ln();
        tally.ln_improbable = ln_add_exp(tally.ln_improbable, ln_all - ln_total);
        for (seat, ln_weight) in seats.iter().zip(ln_weights) {
            let ln_p = ln_weight - ln_total;
            let identity = match seat {
                Seat::Known(identity) => Some(*identity),
                Seat::Joined(place) => self.hosts[*place].as_ref().and_then(|host| host.identity),
                Seat::New => None,
            };
            match identity {
                Some(identity) => {
                    tally.ln_seen = ln_add_exp(tally.ln_seen, ln_p);
                    *tally.of_identity.entry(identity).or_default() += ln_p.exp();
                }
                None => tally.ln_stranger = ln_add_exp(tally.ln_stranger, ln_p),
            }
        }
    }

    /// (C.1) and (C.2) for those who came with the guests: their shares of pi_0' ~ Dir(T_1, ..., T_K,
    /// alpha_0).
    fn redraw_weights(&mut self) {
        let newcomers = self.hosts.iter().flatten().filter(|host| host.identity.is_none());
        let mut shares: Vec<f64> = newcomers
            .map(|host| {
                f64::from(draw_tables(self.ln_alpha_c + host.ln_weight, host.n_guests, &mut self.rng))
            })
            .collect();
        shares.push(self.draw.globals.global_concentration);
        self.rng.ln_dirichlet(&mut shares);
        self.ln_unseen = self.draw.ln_unseen + shares.pop().expect("pi_0' was pushed");
        let newcomers = self.hosts.iter_mut().flatten().filter(|host| host.identity.is_none());
        newcomers.zip(shares).for_each(|(host, ln_share)| host.ln_weight = self.draw.ln_unseen + ln_share);
    }
}

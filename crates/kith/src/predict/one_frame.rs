//! Several faces of a new frame, under one draw and in one context: searched face by face, keeping every
//! configuration within [`NEGLIGIBLE`] of the best, and at most [`WIDEST`] of them.

use super::contexts::Candidate;
use super::near::{Near, Table};
use super::new_frame::{InContext, NEGLIGIBLE, NewFrame};
use super::posterior::Pooled;
use super::seat_weights::Seats;
use crate::math::ln_sum_exp;
use crate::model::FaceModel;
use crate::model::face::{Centred, Group};

/// More configurations than this are not kept from face to face.
const WIDEST: usize = 512;

/// A seat of a configuration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seat {
    /// An identity of the draw.
    Known(u32),
    /// The k-th new identity of the frame.
    New(u32),
}

/// Seats of the first faces of the frame.
#[derive(Clone)]
struct Configuration {
    ln_weight: f64,
    seats: Vec<Seat>,
}

impl Configuration {
    /// The earlier faces of the frame at a seat, one bit each.
    fn at(&self, seat: Seat) -> u64 {
        let places = self.seats.iter().enumerate();
        places.filter(|(_, other)| **other == seat).fold(0, |mask, (r, _)| mask | 1 << r)
    }

    /// With one more face.
    fn with(&self, seat: Seat, ln_step: f64) -> Self {
        let mut seats = self.seats.clone();
        seats.push(seat);
        Self { ln_weight: self.ln_weight + ln_step, seats }
    }

    /// How many people it has who were never seen.
    fn n_new(&self) -> u32 {
        let numbers = self.seats.iter().filter_map(|seat| match seat {
            Seat::New(k) => Some(k + 1),
            Seat::Known(_) => None,
        });
        numbers.max().unwrap_or(0)
    }

    /// The known identities to try, and what each says of the face alone. Those that faces of this frame
    /// already have are tried too, however far they looked alone, which is not asked for.
    fn known(&self, near: &[Near]) -> Vec<(u32, f64)> {
        let mut known: Vec<(u32, f64)> = near.iter().map(|near| (near.identity, near.ln_face)).collect();
        for seat in &self.seats {
            match seat {
                Seat::Known(identity) if !known.iter().any(|known| known.0 == *identity) => {
                    known.push((*identity, f64::NAN));
                }
                _ => {}
            }
        }
        known
    }
}

impl NewFrame<'_> {
    /// All faces of a frame, searched face by face.
    pub(super) fn all_faces(
        &mut self,
        draw: &Pooled,
        candidate: &Candidate,
        tables: &[&Table<'_>],
    ) -> InContext {
        let n_faces = self.xs.len();
        let seats = Seats::of(draw, candidate);
        let mut beam = vec![Configuration { ln_weight: 0.0, seats: Vec::new() }];
        for (face, table) in tables.iter().enumerate() {
            let mut next = Vec::new();
            for configuration in &beam {
                // The seats that matter to this face if nobody of the frame were there already.
                self.extend(configuration, (face, &table.near), &seats, draw, &mut next);
            }
            let best = next.iter().map(|c| c.ln_weight).fold(f64::NEG_INFINITY, f64::max);
            next.retain(|configuration| configuration.ln_weight > best - NEGLIGIBLE);
            if next.len() > WIDEST {
                next.sort_by(|a, b| b.ln_weight.total_cmp(&a.ln_weight));
                next.truncate(WIDEST);
            }
            beam = next;
        }
        let ln_weights: Vec<f64> = beam.iter().map(|configuration| configuration.ln_weight).collect();
        let ln_total = ln_sum_exp(&ln_weights);
        let mut identities = vec![Vec::new(); n_faces];
        let mut new = vec![0.0; n_faces];
        for configuration in &beam {
            let p = (configuration.ln_weight - ln_total).exp();
            for (face, seat) in configuration.seats.iter().enumerate() {
                match seat {
                    Seat::New(_) => new[face] += p,
                    Seat::Known(identity) => identities[face].push((*identity, p)),
                }
            }
        }
        InContext { ln_evidence: ln_total - seats.ln_denominator(n_faces), identities, new }
    }

    /// All ways to seat the next face of a configuration.
    fn extend(
        &mut self,
        configuration: &Configuration,
        (face, near): (usize, &[Near]),
        seats: &Seats<'_>,
        draw: &Pooled,
        out: &mut Vec<Configuration>,
    ) {
        let ln_repeat = self.posterior.model.repeat.ln();
        for (identity, ln_alone) in configuration.known(near) {
            let mask = configuration.at(Seat::Known(identity));
            let earlier = f64::from(mask.count_ones());
            let ln_seat = seats.ln_known(identity as usize, earlier);
            let ln_face = match mask {
                0 => ln_alone,
                _ => self.ln_joined(Some(draw.group[identity as usize]), mask, face),
            };
            let ln_repeats = if mask == 0 { 0.0 } else { earlier * ln_repeat };
            out.push(configuration.with(Seat::Known(identity), ln_seat + ln_face + ln_repeats));
        }
        let n_new = configuration.n_new();
        let masks: Vec<u64> = (0..n_new).map(|k| configuration.at(Seat::New(k))).collect();
        let mut counts: Vec<u32> = masks.iter().map(|mask| mask.count_ones()).collect();
        let ln_before = seats.ln_new(&counts);
        for k in 0..=n_new {
            let mask = masks.get(k as usize).copied().unwrap_or(0);
            match counts.get_mut(k as usize) {
                Some(count) => *count += 1,
                None => counts.push(1),
            }
            let ln_face = self.ln_joined(None, mask, face);
            let ln_repeats = if mask == 0 { 0.0 } else { f64::from(mask.count_ones()) * ln_repeat };
            let ln_seat = seats.ln_new(&counts) - ln_before + seats.ln_stranger;
            out.push(configuration.with(Seat::New(k), ln_seat + ln_face + ln_repeats));
            counts[k as usize] -= 1;
        }
    }

    /// ln predictive of a face under a group (or nobody) joined by the frame's earlier faces of `mask`.
    fn ln_joined(&mut self, group: Option<u32>, mask: u64, face: usize) -> f64 {
        match (group, mask) {
            (None, 0) => self.ln_new[face],
            _ => {
                let model = &self.posterior.model.face;
                let posterior = self.posterior;
                let xs = &self.xs;
                *self.joined.entry((group, mask, face)).or_insert_with(|| {
                    let nobody = model.group();
                    let group = group.map_or(&nobody, |group| posterior.group(group as usize));
                    let earlier: Vec<&Centred> =
                        xs.iter().enumerate().filter(|(r, _)| mask >> r & 1 == 1).map(|(_, x)| x).collect();
                    let all: Vec<&Centred> = earlier.iter().copied().chain([&xs[face]]).collect();
                    ln_together(model, group, &all) - ln_together(model, group, &earlier)
                })
            }
        }
    }
}

/// ln p(faces | the group's faces), their scales summed over; those of the fourth face from the end on and
/// before are taken as ordinary, which spares sums of hundreds of terms for a person four times in one frame.
fn ln_together(model: &FaceModel, group: &Group, faces: &[&Centred]) -> f64 {
    let [first, rest @ ..] = faces else { return 0.0 };
    if rest.is_empty() {
        return model.ln_predictive(group, first);
    }
    let at = |scale: u8| {
        let mut x = (*first).clone();
        x.set_scale(scale);
        let mut joined = group.clone();
        model.observe(&mut joined, &x);
        model.ln_joining(group, &x) + ln_together(model, &joined, rest)
    };
    if rest.len() > 2 {
        return at(model.middle_scale());
    }
    let terms: Vec<f64> =
        (0..model.n_scales() as u8).map(|scale| model.ln_scale(scale) + at(scale)).collect();
    ln_sum_exp(&terms)
}

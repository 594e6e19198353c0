//! The seats that can matter to a new face, under all draws at once.
//!
//! Groups are weighed in the order of an upper bound, best first, at every seat they have in any draw, until
//! all that are left are negligible together beside the best seat of every draw.

use super::bounds::{Bounds, Ranked};
use super::new_frame::NEGLIGIBLE;
use super::posterior::Posterior;
use super::seat_weights::Seats;
use crate::model::face::Centred;

/// Groups are first weighed down to so many nats below the best bound: usually all that matter.
const FIRST: f64 = 1.5 * NEGLIGIBLE;
/// What is the least that every draw has found is asked after so many groups.
const EVERY: usize = 8;

/// A seat that matters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Near {
    /// An identity of the draw.
    pub identity: u32,
    /// ln of the face there.
    pub ln_face: f64,
    /// ln of the seat and the face.
    pub ln_weight: f64,
}

/// One draw in one of the contexts that a frame may have.
pub(super) struct Table<'p> {
    /// What seats weigh there.
    pub seats: Seats<'p>,
    /// The best weight found so far: at first that of a new identity.
    pub best: f64,
    /// The seats found so far; in the end those that matter, by identity.
    pub near: Vec<Near>,
}

/// Finds the seats that matter to a face at every table of every draw.
pub(super) fn find(posterior: &Posterior, x: &Centred, tables: &mut [Vec<Table<'_>>]) {
    // A context that no draw has may have a larger concentration than theirs.
    let excess = tables.iter().flatten().map(|table| table.seats.ln_excess()).fold(0.0, f64::max);
    let bounds = Bounds::new(posterior, x, excess);
    let mut walk = Walk { posterior, x, tables };
    let highest = bounds.highest().map_or(f64::NEG_INFINITY, |best| best.1);
    let limit = (highest - FIRST).max(walk.least() - NEGLIGIBLE);
    walk.along(&bounds.ranked(limit, f64::INFINITY), &bounds);
    let least = walk.least() - NEGLIGIBLE;
    if least < limit {
        walk.along(&bounds.ranked(least, limit), &bounds);
    }
    for table in tables.iter_mut().flatten() {
        let best = table.best;
        table.near.retain(|near| near.ln_weight > best - NEGLIGIBLE);
        table.near.sort_unstable_by_key(|near| near.identity);
    }
}

struct Walk<'a, 'p> {
    posterior: &'a Posterior,
    x: &'a Centred,
    tables: &'a mut [Vec<Table<'p>>],
}

impl Walk<'_, '_> {
    /// The least of the best weights of all tables.
    fn least(&self) -> f64 {
        self.tables.iter().flatten().map(|table| table.best).fold(f64::INFINITY, f64::min)
    }

    fn along(&mut self, groups: &Ranked, bounds: &Bounds) {
        let posterior = self.posterior;
        let mut place = 0;
        loop {
            let some = groups.next(place, EVERY, self.least() + posterior.ln_neglected());
            if some.is_empty() {
                return;
            }
            let floor = posterior.floor(self.least());
            for (group, ln_face) in posterior.weighed(some, self.x, bounds, floor) {
                for &(draw, identity) in posterior.seats_of(group as usize) {
                    for table in &mut self.tables[draw as usize] {
                        let ln_weight = table.seats.ln_known(identity as usize, 0.0) + ln_face;
                        table.best = table.best.max(ln_weight);
                        table.near.push(Near { identity, ln_face, ln_weight });
                    }
                }
            }
            place += some.len();
        }
    }
}

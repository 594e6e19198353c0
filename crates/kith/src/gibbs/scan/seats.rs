//! ln of the seats' weights N_ci + alpha_c pi_0i in `f32`, rounded up: a table of contexts and identities for
//! a scan.

use crate::ids::ContextId;
use crate::state::State;

/// Rows are made anew when they would take more than so many numbers.
const ROOM: usize = 1 << 24;

/// A row per context, made when it is first needed; identities in the order of
/// [`crate::state::Seating::identities`].
#[derive(Default)]
pub(super) struct Seats {
    rows: Vec<Option<Vec<f32>>>,
    /// The contexts whose rows are there.
    made: Vec<ContextId>,
}

impl Seats {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.made.clear();
    }

    /// Makes the row of a context, of the counts as they are now, unless it is there.
    pub fn make(&mut self, context: ContextId, state: &State) {
        if self.rows.len() <= context.index() {
            self.rows.resize(context.index() + 1, None);
        }
        if self.rows[context.index()].is_some() {
            return;
        }
        let identities = state.seating().identities();
        if self.made.len() * identities.len() > ROOM {
            self.made.drain(..).for_each(|context| self.rows[context.index()] = None);
        }
        let row = identities.iter().map(|&identity| rounded_up(state.ln_seat(context, identity))).collect();
        self.rows[context.index()] = Some(row);
        self.made.push(context);
    }

    /// The weights in a context.
    pub fn row(&self, context: ContextId) -> &[f32] {
        self.rows[context.index()].as_deref().expect("the row was made")
    }

    /// Counts at a place of a context have changed.
    pub fn refresh(&mut self, context: ContextId, place: usize, state: &State) {
        if let Some(Some(row)) = self.rows.get_mut(context.index()) {
            row[place] = rounded_up(state.ln_seat(context, state.seating().identities()[place]));
        }
    }

    /// The last identity is new.
    pub fn open(&mut self, state: &State) {
        let new = *state.seating().identities().last().expect("an identity was opened");
        for &context in &self.made {
            let row = self.rows[context.index()].iter_mut();
            row.for_each(|row| row.push(rounded_up(state.ln_seat(context, new))));
        }
    }

    /// The identity at a place has left, and the last one has taken its place.
    pub fn close(&mut self, place: usize) {
        for context in &self.made {
            let row = self.rows[context.index()].iter_mut();
            row.for_each(|row| {
                row.swap_remove(place);
            });
        }
    }
}

/// ln of a weight, or of a factor of it, as an upper bound.
pub(super) fn rounded_up(ln_weight: f64) -> f32 {
    (ln_weight + 1e-4 + 1e-6 * ln_weight.abs()) as f32
}

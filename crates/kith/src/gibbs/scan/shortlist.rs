//! An exact draw from weights most of which are only known from above.
//!
//! Rejection, with an envelope that learns: a place is proposed in proportion to its weight if that is known
//! and to its upper bound if not. A known one is taken. Of another the weight is worked out, and it is taken
//! with the probability weight / bound; if it is not, its weight stands in the place of its bound and the
//! next proposal is made. Whatever was worked out before, the probability that a proposal is taken at a place
//! is the place's weight over the sum of the envelope: so places are drawn in proportion to their weights,
//! and a loose bound costs time and not truth. The uniform number that decides is drawn first, so that a weight
//! need only be worked out until a closer bound of it is too small to be taken; that bound then stands. A place of which the bound is a thousandth of the total is
//! looked at once in a thousand draws, where a threshold would have to look at it every time.

use pulp::Arch;

use super::rounded_up;
use crate::model::face::Weight;
use crate::random::Rng;

/// Places whose bound is so many nats above the best weight would be proposed nearly surely: they are worked
/// out before the first proposal.
const AHEAD: f32 = 3.0;
/// So many places have their masses summed together, to find a proposal without looking at all.
const CHUNK: usize = 64;
/// So many chunks are summed side by side.
const TOGETHER: usize = 8;

/// The weights that were worked out, the bounds of the others, and room to draw.
#[derive(Default)]
pub(super) struct Shortlist {
    places: Vec<usize>,
    ln_weights: Vec<f64>,
    /// An upper bound of each place's weight over the best; nothing where it is known.
    masses: Vec<f32>,
    /// Their sums per chunk.
    sums: Vec<f64>,
    /// Places that were refused by a closer bound: when they are proposed again they are worked out.
    refused: Vec<usize>,
}

impl Shortlist {
    /// The places whose weights were worked out, and these.
    pub fn weighed(&self) -> (&[usize], &[f64]) {
        (&self.places, &self.ln_weights)
    }

    /// Draws a place. `known` places have these ln weights; those of all others are known by `upper_bounds`,
    /// and `weigh` works them out, or far enough to say that they are below a floor. A bound that is not a number says nothing. Nothing is drawn where no
    /// weight is a number above zero. `upper_bounds` is overwritten.
    pub fn draw(
        &mut self,
        known: &[(usize, f64)],
        upper_bounds: &mut [f32],
        weigh: impl Fn(usize, f64) -> Weight,
        rng: &mut Rng,
    ) -> Option<usize> {
        let best = self.begin(known, upper_bounds, &weigh);
        let mass = |ln_weight: f64| (ln_weight - best).exp();
        let mut total_known: f64 = self.ln_weights.iter().map(|&w| mass(w)).filter(|m| !m.is_nan()).sum();
        let mut rest = self.bound_masses(upper_bounds, best);
        loop {
            let at = rng.uniform() * (total_known + rest);
            if !at.is_finite() || total_known + rest <= 0.0 {
                return None;
            }
            if at < total_known || rest == 0.0 {
                return Some(self.among_known(at, best));
            }
            let place = self.propose(at - total_known);
            // It is taken if it weighs more than this.
            let enough = rng.uniform() * f64::from(self.masses[place]);
            let is_refused_again = self.refused.contains(&place);
            let floor = if is_refused_again { f64::NEG_INFINITY } else { enough.ln() + best };
            match weigh(place, floor) {
                Weight::Exactly(ln_weight) => {
                    self.places.push(place);
                    self.ln_weights.push(ln_weight);
                    let weight = mass(ln_weight);
                    if enough < weight {
                        return Some(place);
                    }
                    total_known += if weight.is_nan() { 0.0 } else { weight };
                    self.masses[place] = 0.0;
                }
                Weight::AtMost(ln_bound) => {
                    self.refused.push(place);
                    let closer = exp_above(rounded_up(ln_bound) - best as f32);
                    self.masses[place] = self.masses[place].min(closer);
                }
            }
            self.sums[place / CHUNK] = sum(self.masses.chunks(CHUNK).nth(place / CHUNK).unwrap_or(&[]));
            rest = self.sums.iter().sum();
        }
    }

    /// Starts again with what is known, and works out what is likely to be asked for anyway; returns the best
    /// weight.
    fn begin(
        &mut self,
        known: &[(usize, f64)],
        bounds: &mut [f32],
        weigh: impl Fn(usize, f64) -> Weight,
    ) -> f64 {
        let Self { places, ln_weights, refused, .. } = self;
        places.clear();
        ln_weights.clear();
        refused.clear();
        for &(place, ln_weight) in known {
            places.push(place);
            ln_weights.push(ln_weight);
            bounds.get_mut(place).into_iter().for_each(|bound| *bound = f32::NEG_INFINITY);
        }
        let mut best = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut from = 0;
        // The best only grows: chunks that lie below it now need no second look.
        while let Some(begin) = Arch::new().dispatch(Ahead { bounds, from, ahead: best as f32 + AHEAD }) {
            from = bounds.len().min(begin + CHUNK);
            for (place, bound) in bounds[..from].iter_mut().enumerate().skip(begin) {
                if *bound < best as f32 + AHEAD || *bound == f32::NEG_INFINITY {
                    continue;
                }
                match weigh(place, best) {
                    Weight::Exactly(ln_weight) => {
                        *bound = f32::NEG_INFINITY;
                        places.push(place);
                        ln_weights.push(ln_weight);
                        best = best.max(ln_weight);
                    }
                    Weight::AtMost(ln_bound) => *bound = bound.min(rounded_up(ln_bound)),
                }
            }
        }
        best
    }

    /// The upper bounds over the best weight, and their sum.
    fn bound_masses(&mut self, upper_bounds: &[f32], best: f64) -> f64 {
        let Self { masses, sums, .. } = self;
        masses.resize(upper_bounds.len(), 0.0);
        Arch::new().dispatch(Masses { upper_bounds, best: best as f32, masses });
        sums.clear();
        let (together, rest) = masses.as_chunks::<{ TOGETHER * CHUNK }>();
        together.iter().for_each(|masses| sums.extend(sums_of(masses)));
        sums.extend(rest.chunks(CHUNK).map(sum));
        sums.iter().sum()
    }

    /// The known place that lies so far along their weights.
    fn among_known(&self, at: f64, best: f64) -> usize {
        let mut left = at;
        let mut last = 0;
        for (&place, ln_weight) in self.places.iter().zip(&self.ln_weights) {
            let weight = (ln_weight - best).exp();
            if weight > 0.0 {
                last = place;
                left -= weight;
            }
            if left < 0.0 {
                break;
            }
        }
        last
    }

    /// The place that lies so far along the masses of those that are not known.
    fn propose(&self, at: f64) -> usize {
        let mut left = at;
        let is_full = |chunk: &usize| self.sums[*chunk] > 0.0;
        let chunks = (0..self.sums.len()).filter(is_full);
        let mut chosen = 0;
        for chunk in chunks {
            chosen = chunk;
            if left < self.sums[chunk] {
                break;
            }
            left -= self.sums[chunk];
        }
        let mut last = chosen * CHUNK;
        for (place, &mass) in self.masses.iter().enumerate().skip(chosen * CHUNK).take(CHUNK) {
            if mass > 0.0 {
                last = place;
                left -= f64::from(mass);
            }
            if left < 0.0 {
                break;
            }
        }
        last
    }
}

fn sum(masses: &[f32]) -> f64 {
    masses.iter().map(|&mass| f64::from(mass)).sum()
}

/// [`sum`] of some chunks: none waits for another's additions.
fn sums_of(masses: &[f32; TOGETHER * CHUNK]) -> [f64; TOGETHER] {
    let mut sums = [0.0; TOGETHER];
    for at in 0..CHUNK {
        for (chunk, sum) in sums.iter_mut().enumerate() {
            *sum += f64::from(masses[chunk * CHUNK + at]);
        }
    }
    sums
}

/// Where the first chunk begins, of those from a place on, in which a bound is not below a number.
struct Ahead<'a> {
    bounds: &'a [f32],
    from: usize,
    ahead: f32,
}

impl pulp::NullaryFnOnce for Ahead<'_> {
    type Output = Option<usize>;

    #[inline(always)]
    fn call(self) -> Option<usize> {
        let Self { bounds, from, ahead } = self;
        // What is no number is not below.
        #[allow(clippy::neg_cmp_op_on_partial_ord)]
        let is_ahead = |chunk: &[f32]| chunk.iter().fold(false, |any, &bound| any | !(bound < ahead));
        let place = bounds[from..].chunks(CHUNK).position(is_ahead)?;
        Some(from + CHUNK * place)
    }
}

/// An upper bound of exp(upper bound - best) for each, nothing for minus infinity.
struct Masses<'a> {
    upper_bounds: &'a [f32],
    best: f32,
    masses: &'a mut [f32],
}

impl pulp::NullaryFnOnce for Masses<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (mass, &bound) in self.masses.iter_mut().zip(self.upper_bounds) {
            let above = exp_above(bound - self.best);
            *mass = if bound == f32::NEG_INFINITY { 0.0 } else { above };
        }
    }
}

/// At least exp(x), and at most 1.07 times as much, for x between -86 and 80.
///
/// A number whose bits are read as a whole one is a logarithm to base 2 with a straight line between powers
/// of two, which lies above the exponential.
#[inline(always)]
fn exp_above(x: f32) -> f32 {
    // A little more, for rounding of the difference, of the product and to 17 binary places of the sum.
    let exponent = (x * std::f32::consts::LOG2_E + 1e-4 + 1e-6 * x.abs()).clamp(-125.0, 126.0);
    // The whole number 2^23 w, w = exponent + 127 being 1.m 2^k with 1 <= k <= 7: its digits, moved k places.
    // A conversion of `f32` would be made one by one.
    let w = (exponent + 127.0).to_bits();
    f32::from_bits((w & 0x007f_ffff | 0x0080_0000).unbounded_shl((w >> 23).wrapping_sub(127)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::driver;

    #[test]
    fn the_exponential_from_above() {
        for step in 0..40_000 {
            let x = 20.0 - 0.0025 * step as f32;
            let (above, exactly) = (f64::from(exp_above(x)), f64::from(x).exp());
            assert!(above >= exactly && above <= 1.07 * exactly, "{x}: {above} {exactly}");
        }
        assert!(exp_above(-1e30) > 0.0);
    }

    /// Weights that spread over `width` nats, bounds that are up to `loose` above them.
    fn weights(n: usize, width: f64, loose: f64, rng: &mut Rng) -> (Vec<f64>, Vec<f32>) {
        let ln_weights: Vec<f64> = (0..n).map(|_| -width * rng.uniform()).collect();
        let bounds = ln_weights.iter().map(|w| (w + 1e-3 + loose * rng.uniform()) as f32).collect();
        (ln_weights, bounds)
    }

    /// Places are drawn as often as they weigh, however loose the bounds and however many are known, over
    /// several chunks; each count is within 4.7 standard errors, so that one seed in a thousand would fail.
    #[test]
    fn places_are_drawn_as_often_as_they_weigh() {
        let mut rng = driver(32);
        for (n, width, loose) in [(12, 25.0, 8.0), (150, 6.0, 4.0), (150, 8.0, 0.1), (70, 3.0, 30.0)] {
            let (ln_weights, bounds) = weights(n, width, loose, &mut rng);
            let known = [(n, -3.0), (5, ln_weights[5])];
            let total: f64 = ln_weights.iter().chain([&-3.0]).map(|w| w.exp()).sum();
            let (mut list, mut counts, n_draws) = (Shortlist::default(), vec![0u32; n + 1], 200_000);
            let mut looked_at = 0;
            for _ in 0..n_draws {
                // A closer bound is found on the way.
                let weigh = |place: usize, floor: f64| match ln_weights[place] + 0.5 < floor {
                    true => Weight::AtMost(ln_weights[place] + 0.5),
                    false => Weight::Exactly(ln_weights[place]),
                };
                let drawn = list.draw(&known, &mut bounds.clone(), weigh, &mut rng);
                counts[drawn.unwrap()] += 1;
                looked_at += list.weighed().0.len();
            }
            for (count, ln_weight) in counts.iter().zip(ln_weights.iter().chain([&-3.0])) {
                let p = ln_weight.exp() / total;
                let error = (p * (1.0 - p) / f64::from(n_draws)).sqrt();
                let share = f64::from(*count) / f64::from(n_draws);
                assert!((share - p).abs() < 4.7 * error + 2e-5, "{n} {loose}: {share} {p}");
            }
            assert!(loose > 1.0 || looked_at < 5 * n_draws as usize, "{looked_at} of {n_draws}");
        }
    }

    /// One place is far above all others, whose bounds reach up to it: of a thousand few are looked at.
    #[test]
    fn a_loose_bound_is_seldom_looked_at() {
        let mut rng = driver(34);
        let (mut list, mut looked_at) = (Shortlist::default(), 0);
        for _ in 0..1000 {
            let mut bounds = vec![-7.0; 1000];
            let drawn = list.draw(&[(0, 0.0)], &mut bounds, |_, _| Weight::Exactly(-100.0), &mut rng);
            assert_eq!(drawn, Some(0));
            looked_at += list.weighed().0.len() - 1;
        }
        // The bounds together are 0.91 to 0.98 of the weight that is known: as many proposals are refused.
        assert!((700..1200).contains(&looked_at), "{looked_at}");
    }

    #[test]
    fn a_bound_that_is_not_a_number_is_no_bound() {
        let (mut list, mut rng) = (Shortlist::default(), driver(33));
        let weights = |place: usize, _: f64| Weight::Exactly([900.0, -700.0][place]);
        let drawn = list.draw(&[(2, -500.0)], &mut [f32::NAN, -600.0], weights, &mut rng);
        assert_eq!(drawn, Some(0));
    }

    #[test]
    fn without_a_weight_nothing_is_drawn() {
        let (mut list, mut rng) = (Shortlist::default(), driver(35));
        for bad in [f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(
                list.draw(&[(1, bad)], &mut [f32::NAN], |_, _| Weight::Exactly(bad), &mut rng),
                None,
                "{bad}"
            );
        }
        let drawn = list.draw(&[(1, 0.0)], &mut [f32::NAN], |_, _| Weight::Exactly(f64::NAN), &mut rng);
        assert_eq!(drawn, Some(1));
    }
}

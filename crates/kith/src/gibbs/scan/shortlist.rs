//! An exact draw from weights most of which are only known from above.
//!
//! Weights are worked out tier by tier, the likeliest first, and laid side by side in that order. A uniform
//! number says how far along their total the draw lies. The total is not known, but it lies between the
//! weights that were worked out and these with the bounds of the rest; as soon as both ends put the draw into
//! the same tier, it is decided, and a second uniform number chooses within the tier. So nothing is left out,
//! and next to nothing has to be looked at.

use pulp::Arch;

use crate::random::Rng;

/// How far below the best weight each tier reaches, in nats; a last tier has everything else.
const TIERS: [f64; 3] = [10.0, 20.0, 40.0];

/// The weights that were worked out, and room to do so.
#[derive(Default)]
pub(super) struct Shortlist {
    places: Vec<usize>,
    ln_weights: Vec<f64>,
    /// Where each tier ends.
    ends: Vec<usize>,
    /// Each weight over the best, all those before it included; per tier.
    up_to: Vec<f64>,
}

impl Shortlist {
    /// The places whose weights were worked out, and these.
    pub fn weighed(&self) -> (&[usize], &[f64]) {
        (&self.places, &self.ln_weights)
    }

    /// Draws a place. `known` places have these ln weights; those of all others are known by `upper_bounds`,
    /// and `exactly` works them out. A bound that is not a number says nothing. `upper_bounds` is
    /// overwritten.
    pub fn draw(
        &mut self,
        known: &[(usize, f64)],
        upper_bounds: &mut [f32],
        exactly: impl Fn(usize) -> f64,
        rng: &mut Rng,
    ) -> usize {
        self.decide(known, upper_bounds, exactly, [rng.uniform(), rng.uniform()], false)
    }

    /// Starts again with what is known; returns the best of it.
    fn begin(&mut self, known: &[(usize, f64)], upper_bounds: &mut [f32]) -> f64 {
        self.places.clear();
        self.ln_weights.clear();
        self.ends.clear();
        self.up_to.clear();
        let mut best = f64::NEG_INFINITY;
        for &(place, ln_weight) in known {
            self.places.push(place);
            self.ln_weights.push(ln_weight);
            best = best.max(ln_weight);
            upper_bounds.get_mut(place).into_iter().for_each(|bound| *bound = f32::NEG_INFINITY);
        }
        best
    }

    /// The draw that two uniform numbers make; `is_eager` works everything out before it decides.
    fn decide(
        &mut self,
        known: &[(usize, f64)],
        upper_bounds: &mut [f32],
        exactly: impl Fn(usize) -> f64,
        [along, within]: [f64; 2],
        is_eager: bool,
    ) -> usize {
        let mut best = self.begin(known, upper_bounds);
        let Self { places, ln_weights, ends, up_to } = self;
        for (tier, reach) in TIERS.into_iter().chain([f64::INFINITY]).enumerate() {
            let start = ends.last().copied().unwrap_or(0);
            let is_last = reach == f64::INFINITY;
            let mut cut = (best - reach) as f32;
            for (place, bound) in upper_bounds.iter_mut().enumerate() {
                if *bound < cut || *bound == f32::NEG_INFINITY {
                    continue;
                }
                *bound = f32::NEG_INFINITY;
                let ln_weight = exactly(place);
                places.push(place);
                ln_weights.push(ln_weight);
                if tier == 0 && ln_weight > best {
                    best = ln_weight;
                    cut = (best - reach) as f32;
                }
            }
            ends.push(places.len());
            // From here on `best` stays as it is: whatever is left is below it.
            let mut total = up_to.last().copied().unwrap_or(0.0);
            up_to.extend(ln_weights[start..].iter().map(|ln_weight| {
                total += (ln_weight - best).exp();
                total
            }));
            if is_eager && !is_last {
                continue;
            }
            let most =
                if is_last { total } else { total + Arch::new().dispatch(UpperMass { upper_bounds, best }) };
            let tier_of = |mass: f64| ends.iter().position(|&end| mass < up_to[end - 1]);
            let (low, high) = (tier_of(along * total), tier_of(along * most));
            if low == high || is_last {
                let tier = high.unwrap_or(ends.len() - 1);
                let start = if tier == 0 { 0 } else { ends[tier - 1] };
                let before = if start == 0 { 0.0 } else { up_to[start - 1] };
                let end = ends[tier];
                let mass = before + within * (up_to[end - 1] - before);
                let at = up_to[start..end].iter().position(|&up_to| mass < up_to);
                return places[at.map_or(end - 1, |at| start + at)];
            }
        }
        unreachable!("the last tier decides")
    }
}

/// An upper bound of the sum of exp(upper bound - best), where every upper bound is below the best.
struct UpperMass<'a> {
    upper_bounds: &'a [f32],
    best: f64,
}

impl pulp::NullaryFnOnce for UpperMass<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        const LANES: usize = 16;
        let best = self.best as f32;
        let mut sums = [0.0f32; LANES];
        let chunks = self.upper_bounds.chunks_exact(LANES);
        let rest = chunks.remainder();
        for chunk in chunks {
            for lane in 0..LANES {
                sums[lane] += power_of_two_above(chunk[lane] - best);
            }
        }
        for (sum, bound) in sums.iter_mut().zip(rest) {
            *sum += power_of_two_above(bound - best);
        }
        // A little more, for rounding.
        1.001 * sums.iter().map(|&sum| f64::from(sum)).sum::<f64>()
    }
}

/// A power of two that is at least exp(x), at most about 2.01 times as much, for x at most about 1.
#[inline(always)]
fn power_of_two_above(x: f32) -> f32 {
    let exponent = (x * std::f32::consts::LOG2_E + 0.01).max(-125.0);
    // One more than the whole part of a number that is at least 1: positive, so that cutting off is rounding
    // down.
    let biased = (exponent + 127.0) as i32 + 1;
    f32::from_bits((biased as u32) << 23)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::driver;

    #[test]
    fn a_power_of_two_is_above_the_exponential() {
        for step in 0..4000 {
            let x = -0.02 * step as f32;
            let (above, exactly) = (f64::from(power_of_two_above(x)), f64::from(x).exp());
            assert!(above >= exactly && (above <= 2.03 * exactly || x < -85.0), "{x}: {above} {exactly}");
        }
        assert!(power_of_two_above(f32::NEG_INFINITY) > 0.0);
    }

    /// Weights that spread over `width` nats, bounds that are up to `loose` above them; one place is known.
    fn weights(n: usize, width: f64, loose: f64, rng: &mut Rng) -> (Vec<f64>, Vec<f32>) {
        let ln_weights: Vec<f64> = (0..n).map(|_| -width * rng.uniform()).collect();
        let bounds = ln_weights.iter().map(|w| (w + 1e-3 + loose * rng.uniform()) as f32).collect();
        (ln_weights, bounds)
    }

    #[test]
    fn what_is_not_looked_at_changes_no_draw() {
        let mut rng = driver(31);
        let (mut looked_at, mut of, mut beyond_the_first_tier) = (0, 0, 0);
        for trial in 0..3000 {
            let (width, loose) = ([15.0, 60.0, 200.0][trial % 3], [0.5, 12.0][trial % 2]);
            let (ln_weights, bounds) = weights(60, width, loose, &mut rng);
            let known = [(60, -rng.uniform() * width), (7, ln_weights[7])];
            // Draws near the end of the total are those that need a second look.
            let along = if trial % 4 == 0 { 1.0 - (-30.0 * rng.uniform()).exp() } else { rng.uniform() };
            let uniform = [along, rng.uniform()];
            let decide = |list: &mut Shortlist, is_eager: bool| {
                list.decide(&known, &mut bounds.clone(), |place| ln_weights[place], uniform, is_eager)
            };
            let (mut lazy, mut eager) = (Shortlist::default(), Shortlist::default());
            assert_eq!(decide(&mut lazy, false), decide(&mut eager, true), "trial {trial}");
            assert_eq!(eager.places.len(), 61);
            looked_at += lazy.places.len();
            of += 61;
            beyond_the_first_tier += usize::from(lazy.ends.len() > 1);
        }
        assert!(2 * looked_at < of, "{looked_at} of {of}");
        assert!(beyond_the_first_tier > 300, "{beyond_the_first_tier}");
    }

    #[test]
    fn places_are_drawn_as_often_as_they_weigh() {
        let mut rng = driver(32);
        let (ln_weights, bounds) = weights(12, 25.0, 8.0, &mut rng);
        let known = [(12, -3.0)];
        let total: f64 = ln_weights.iter().chain([&-3.0]).map(|w| w.exp()).sum();
        let (mut list, mut counts, n) = (Shortlist::default(), [0u32; 13], 100_000);
        for _ in 0..n {
            counts[list.draw(&known, &mut bounds.clone(), |place| ln_weights[place], &mut rng)] += 1;
        }
        for (count, ln_weight) in counts.iter().zip(ln_weights.iter().chain([&-3.0])) {
            let p = ln_weight.exp() / total;
            let error = (p * (1.0 - p) / f64::from(n)).sqrt();
            assert!((f64::from(*count) / f64::from(n) - p).abs() < 4.5 * error + 1e-5, "{count} {p}");
        }
    }

    #[test]
    fn a_bound_that_is_not_a_number_is_no_bound() {
        let (mut list, mut rng) = (Shortlist::default(), driver(33));
        let drawn =
            list.draw(&[(2, -500.0)], &mut [f32::NAN, -600.0], |place| [900.0, -700.0][place], &mut rng);
        assert_eq!(drawn, 0);
    }
}

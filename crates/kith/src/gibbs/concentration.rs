//! How concentrations are redrawn: table counts with Escobar & West's scheme, and slices where the tables are
//! integrated out.

use crate::random::Rng;

/// (C.2): how many tables `n` customers open when each opens one with probability x / (x + seated),
/// x = exp(ln_x). Deviation D3: seated = 0, 1, ... as in Teh et al.; as printed (1, 2, ...), an occupied seat
/// could have no table.
pub fn draw_tables(ln_x: f64, n: u32, rng: &mut Rng) -> u32 {
    let x = ln_x.exp();
    let later = (1..n).filter(|&seated| rng.uniform() < x / (x + f64::from(seated))).count() as u32;
    // The first customer always opens a table, even where x underflows.
    u32::from(n > 0) + later
}

/// A concentration given restaurants of (customers, tables) that share it, under a Gamma(shape, rate) prior:
/// Escobar & West (1995) for one restaurant, Teh et al. (2006, Appendix A) for several.
pub fn redraw(value: f64, restaurants: &[(u32, u32)], shape: f64, rate: f64, rng: &mut Rng) -> f64 {
    let (mut shape, mut rate) = (shape, rate);
    for &(n_customers, n_tables) in restaurants.iter().filter(|restaurant| restaurant.0 > 0) {
        let n = f64::from(n_customers);
        shape += f64::from(n_tables) - f64::from(u8::from(rng.bernoulli(n / (n + value))));
        rate -= rng.ln_beta(value + 1.0, n).0;
    }
    rng.gamma(shape, rate)
}

/// The widest interval of a slice, in steps.
const WIDEST: usize = 64;

/// One slice-sampling step for a density on the line, given by its logarithm. It steps out at most [`WIDEST`]
/// times, dealt at random over the two sides as Neal has it, so that the density stays invariant.
pub fn slice(at: f64, width: f64, ln_density: impl Fn(f64) -> f64, rng: &mut Rng) -> f64 {
    let height = ln_density(at) + rng.uniform().ln();
    let mut low = at - width * rng.uniform();
    let mut high = low + width;
    let to_the_left = rng.below(WIDEST);
    for _ in 0..to_the_left {
        if ln_density(low) <= height {
            break;
        }
        low -= width;
    }
    for _ in to_the_left..WIDEST - 1 {
        if ln_density(high) <= height {
            break;
        }
        high += width;
    }
    // The interval shrinks to the present point, unless the density is all rounding: then nothing moves.
    for _ in 0..200 {
        let proposed = low + (high - low) * rng.uniform();
        if ln_density(proposed) > height {
            return proposed;
        }
        *(if proposed < at { &mut low } else { &mut high }) = proposed;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::driver;

    #[test]
    fn an_occupied_seat_always_has_a_table_and_the_printed_formula_breaks_that() {
        let mut rng = driver(4);
        // MODEL.md §3: N_ci = 2 and alpha_c pi_0i = 0.7.
        let (x, n, draws) = (0.7f64, 2, 100_000);
        assert!((0..draws).all(|_| draw_tables(x.ln(), n, &mut rng) >= 1));
        let as_printed = |rng: &mut Rng| (1..=n).filter(|&k| rng.uniform() <= x / (x + f64::from(k))).count();
        let empty = (0..draws).filter(|_| as_printed(&mut rng) == 0).count() as f64 / f64::from(draws);
        let exact = (1.0 / 1.7) * (2.0 / 2.7);
        assert!((exact - 0.4357f64).abs() < 1e-4);
        assert!((empty - exact).abs() < 4.0 * (exact * (1.0 - exact) / f64::from(draws)).sqrt(), "{empty}");
        assert_eq!(draw_tables(f64::NEG_INFINITY, 5, &mut rng), 1);
        assert_eq!(draw_tables(0.0, 0, &mut rng), 0);
    }

    /// The number of tables of n customers has mean sum x / (x + k), k = 0 .. n-1.
    #[test]
    fn tables_have_their_mean() {
        let mut rng = driver(5);
        let (x, n, draws) = (1.3f64, 9, 200_000);
        let p = (0..n).map(|k| x / (x + f64::from(k)));
        let (mean, var) = p.fold((0.0, 0.0), |(mean, var), p| (mean + p, var + p * (1.0 - p)));
        let found = (0..draws).map(|_| f64::from(draw_tables(x.ln(), n, &mut rng))).sum::<f64>();
        let found = found / f64::from(draws);
        assert!((found - mean).abs() < 4.0 * (var / f64::from(draws)).sqrt(), "{found} {mean}");
    }
}

//! How far chains can be trusted: rank-normalised split R-hat, effective sample sizes and intervals of scalar
//! draws.
//!
//! Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021), computed as the R package posterior and ArviZ do.
//! `chains` has the draws of one label-invariant number (the count of identities, ln p, a concentration), one
//! slice per chain; chains of unequal lengths are cut to the latest draws of each, as many as the shortest
//! has. Where the two references differ:
//!
//! - constant or non-finite draws have no R-hat and no effective size: NaN (posterior; ArviZ gives the draw
//!   count);
//! - one chain is enough, since it is split (posterior; ArviZ asks for two chains for R-hat);
//! - folding takes the median of all draws, also of the middle draw that an odd length leaves out
//!   (posterior);
//! - a quantile that every draw stays below counts as perfectly known beside the other quantile (ArviZ); when
//!   that is so of both, [`ess_tail`] is NaN (posterior);
//! - folded draws that are constant are left out of [`r_hat`], which then is the bulk value (ArviZ).

use crate::math::normal;

/// What to report of a scalar: where it is, and whether the chains agree on that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Mean over all draws.
    pub mean: f64,
    /// Shortest interval with 95 % of the draws, the paper's HPD interval.
    pub hdi: [f64; 2],
    /// Rank-normalised split R-hat: below 1.01 when the chains agree.
    pub r_hat: f64,
    /// Effective number of draws for the centre: 400 or more to be relied on.
    pub ess_bulk: f64,
    /// Effective number of draws for the 5 % and 95 % quantiles: 400 or more to be relied on.
    pub ess_tail: f64,
}

impl Summary {
    /// Summarises the draws of all chains together.
    ///
    /// ```
    /// use kith::chain::diagnostics::Summary;
    /// let identities = [vec![3.0, 4.0, 4.0, 3.0, 4.0, 5.0], vec![4.0, 3.0, 5.0, 4.0, 4.0, 3.0]];
    /// let summary = Summary::of(&identities);
    /// assert!((summary.mean - 23.0 / 6.0).abs() < 1e-12);
    /// assert_eq!(summary.hdi, [3.0, 5.0]);
    /// assert!(summary.r_hat < 1.01);
    /// ```
    pub fn of(chains: &[impl AsRef<[f64]>]) -> Self {
        let chains = latest(chains);
        let pooled = chains.concat();
        let (mean, hdi) = (mean(&pooled), highest_density_interval(&pooled, 0.95));
        if !is_varied(&chains) {
            return Self { mean, hdi, r_hat: f64::NAN, ess_bulk: f64::NAN, ess_tail: f64::NAN };
        }
        let scores = normal_scores(&split(&chains));
        let r_hat = plain_r_hat(&scores).max(folded_r_hat(&chains));
        Self { mean, hdi, r_hat, ess_bulk: effective_size(&scores), ess_tail: ess_tail(&chains) }
    }
}

/// The larger of bulk and folded rank-normalised split R-hat: 1 when the chains agree on location and on
/// spread.
pub fn r_hat(chains: &[impl AsRef<[f64]>]) -> f64 {
    let chains = latest(chains);
    if !is_varied(&chains) {
        return f64::NAN;
    }
    plain_r_hat(&normal_scores(&split(&chains))).max(folded_r_hat(&chains))
}

/// Effective sample size of the rank-normalised draws.
pub fn ess_bulk(chains: &[impl AsRef<[f64]>]) -> f64 {
    let chains = latest(chains);
    if is_varied(&chains) { effective_size(&normal_scores(&split(&chains))) } else { f64::NAN }
}

/// The smaller effective sample size of the 5 % and the 95 % quantile.
pub fn ess_tail(chains: &[impl AsRef<[f64]>]) -> f64 {
    let chains = latest(chains);
    if !is_varied(&chains) {
        return f64::NAN;
    }
    let mut sorted = chains.concat();
    sorted.sort_unstable_by(f64::total_cmp);
    let size_at = |probability| {
        let bound = quantile_of_sorted(&sorted, probability);
        let is_below = |chain: &Vec<f64>| chain.iter().map(|&x| f64::from(u8::from(x <= bound))).collect();
        let below = split(&chains.iter().map(is_below).collect::<Vec<_>>());
        is_varied(&below).then(|| effective_size(&below))
    };
    match (size_at(0.05), size_at(0.95)) {
        (Some(low), Some(high)) => low.min(high),
        (Some(one), None) | (None, Some(one)) => one.min((chains.len() * 2 * (chains[0].len() / 2)) as f64),
        (None, None) => f64::NAN,
    }
}

/// Effective sample size for the mean of the draws as they are.
pub fn ess_mean(chains: &[impl AsRef<[f64]>]) -> f64 {
    let chains = latest(chains);
    if is_varied(&chains) { effective_size(&split(&chains)) } else { f64::NAN }
}

/// Monte Carlo standard error of the mean: the posterior standard deviation over `sqrt(ess_mean)`.
pub fn standard_error(chains: &[impl AsRef<[f64]>]) -> f64 {
    let chains = latest(chains);
    (variance(&chains.concat()) / ess_mean(&chains)).sqrt()
}

/// The shortest interval that contains `ceil(mass * n)` of the values, the lowest of equally short ones; NaN
/// for no values or a non-finite one.
///
/// # Panics
/// If `mass` is not in `(0, 1]`.
pub fn highest_density_interval(values: &[f64], mass: f64) -> [f64; 2] {
    weighted_highest_density_interval(values, &vec![1.0; values.len()], mass)
}

/// The shortest interval that contains the share `mass` of the total weight; NaN for no weight, a negative
/// one or a non-finite number. Values without weight cannot widen it.
///
/// # Panics
/// If `mass` is not in `(0, 1]` or there is not one weight per value.
pub fn weighted_highest_density_interval(values: &[f64], weights: &[f64], mass: f64) -> [f64; 2] {
    assert!(mass > 0.0 && mass <= 1.0, "an interval holds a share in (0, 1], not {mass}");
    assert_eq!(values.len(), weights.len(), "one weight per value");
    if !values.iter().all(|v| v.is_finite()) || !weights.iter().all(|w| (0.0..f64::INFINITY).contains(w)) {
        return [f64::NAN; 2];
    }
    let mut draws: Vec<(f64, f64)> =
        values.iter().copied().zip(weights.iter().copied()).filter(|draw| draw.1 > 0.0).collect();
    draws.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut below = Vec::with_capacity(draws.len() + 1);
    below.push(0.0);
    for &(_, weight) in &draws {
        below.push(below[below.len() - 1] + weight);
    }
    // Rounding must not ask for one draw more: 0.07 * 100 is 7.000000000000001.
    let wanted = mass * below[draws.len()] * (1.0 - 1e-12);
    let mut shortest = [f64::NAN; 2];
    let mut last = 0;
    for first in 0..draws.len() {
        while last < draws.len() && below[last] - below[first] < wanted {
            last += 1;
        }
        if below[last] - below[first] < wanted {
            break;
        }
        let (low, high) = (draws[first].0, draws[last - 1].0);
        if shortest[0].is_nan() || high - low < shortest[1] - shortest[0] {
            shortest = [low, high];
        }
    }
    shortest
}

/// R-hat of chains as they are: `sqrt((B / W + n - 1) / n)` with the variances between and within chains.
fn plain_r_hat(chains: &[Vec<f64>]) -> f64 {
    let n_draws = chains[0].len() as f64;
    let means: Vec<f64> = chains.iter().map(|chain| mean(chain)).collect();
    let variances: Vec<f64> = chains.iter().map(|chain| variance(chain)).collect();
    let between = n_draws * variance(&means);
    let within = mean(&variances);
    ((between / within + n_draws - 1.0) / n_draws).sqrt()
}

/// R-hat of the rank-normalised distances from the median, which sees chains that differ in spread only.
fn folded_r_hat(chains: &[Vec<f64>]) -> f64 {
    let mut sorted = chains.concat();
    sorted.sort_unstable_by(f64::total_cmp);
    let median = quantile_of_sorted(&sorted, 0.5);
    let fold = |chain: &Vec<f64>| chain.iter().map(|x| (x - median).abs()).collect();
    let folded = split(&chains.iter().map(fold).collect::<Vec<_>>());
    if is_varied(&folded) { plain_r_hat(&normal_scores(&folded)) } else { f64::NAN }
}

/// Effective sample size of chains as they are, by Geyer's initial monotone sequence over pairs of lags.
fn effective_size(chains: &[Vec<f64>]) -> f64 {
    let n_draws = chains[0].len();
    if n_draws < 3 {
        return f64::NAN;
    }
    let (n, size) = (n_draws as f64, (chains.len() * n_draws) as f64);
    let autocovariance = mean_autocovariance(chains);
    let within = autocovariance[0] * n / (n - 1.0);
    let means: Vec<f64> = chains.iter().map(|chain| mean(chain)).collect();
    let marginal = autocovariance[0] + if chains.len() > 1 { variance(&means) } else { 0.0 };
    let correlation = |lag: usize| 1.0 - (within - autocovariance[lag]) / marginal;

    // The initial positive sequence: pairs of an even and an odd lag, while their sums are positive.
    let mut pairs = Vec::new();
    let (mut even, mut odd) = (1.0, correlation(1));
    let mut lag = 0;
    while even + odd > 0.0 && lag + 4 < n_draws {
        pairs.push([even, odd]);
        lag += 2;
        (even, odd) = (correlation(lag), correlation(lag + 1));
    }
    // Of the pair that ended the sequence the even half still counts: that steadies the estimate for
    // alternating chains. It is negative only where the draws ended before the sequence did.
    let remainder = if even + odd >= 0.0 { even } else { even.max(0.0) };

    // The initial monotone sequence: no pair above the one before.
    let mut ceiling = f64::INFINITY;
    let mut sum = 0.0;
    for [even, odd] in pairs {
        ceiling = ceiling.min(even + odd);
        sum += ceiling;
    }
    let autocorrelation_time = (-1.0 + 2.0 * sum + remainder).max(1.0 / libm::log10(size));
    size / autocorrelation_time
}

/// Autocovariances at lags 0 to n - 1 averaged over chains, each divided by n (the biased estimate, as Geyer
/// advises).
///
/// The transform is linear and only the average is wanted, so power spectra are summed and one inverse
/// transform does for all chains; a complex transform takes two real chains at once, since the real part of
/// the autocovariance of `a + i b` is that of `a` plus that of `b`.
fn mean_autocovariance(chains: &[Vec<f64>]) -> Vec<f64> {
    let n_draws = chains[0].len();
    // Twice the length, padded with zeros, so that the ends do not wrap around.
    let size = (2 * n_draws).next_power_of_two();
    let waves: Vec<[f64; 2]> = (0..size / 2)
        .map(|k| libm::sincos(std::f64::consts::TAU * k as f64 / size as f64))
        .map(|(sine, cosine)| [cosine, -sine])
        .collect();
    let mut spectrum = vec![[0.0, 0.0]; size];
    for pair in chains.chunks(2) {
        let mut values = vec![[0.0, 0.0]; size];
        for (part, chain) in pair.iter().enumerate() {
            let centre = mean(chain);
            chain.iter().zip(&mut values).for_each(|(x, value)| value[part] = x - centre);
        }
        transform_to_shuffled(&mut values, &waves);
        for (power, [re, im]) in spectrum.iter_mut().zip(values) {
            power[0] += re * re + im * im;
        }
    }
    transform_from_shuffled(&mut spectrum, &waves);
    let scale = 1.0 / (size * n_draws * chains.len()) as f64;
    spectrum[..n_draws].iter().map(|value| value[0] * scale).collect()
}

/// Radix-2 Fourier transform that leaves its result in bit-reversed order.
fn transform_to_shuffled(values: &mut [[f64; 2]], waves: &[[f64; 2]]) {
    let mut half = values.len() / 2;
    while half > 0 {
        let stride = waves.len() / half;
        for block in values.chunks_exact_mut(2 * half) {
            let (left, right) = block.split_at_mut(half);
            for ((a, b), w) in left.iter_mut().zip(right).zip(waves.iter().step_by(stride)) {
                let difference = [a[0] - b[0], a[1] - b[1]];
                *a = [a[0] + b[0], a[1] + b[1]];
                *b = product(difference, *w);
            }
        }
        half /= 2;
    }
}

/// Radix-2 Fourier transform of values in bit-reversed order.
///
/// Forward again and not inverse: of a real spectrum the two differ in the sign of the imaginary part only.
fn transform_from_shuffled(values: &mut [[f64; 2]], waves: &[[f64; 2]]) {
    let mut half = 1;
    while half < values.len() {
        let stride = waves.len() / half;
        for block in values.chunks_exact_mut(2 * half) {
            let (left, right) = block.split_at_mut(half);
            for ((a, b), w) in left.iter_mut().zip(right).zip(waves.iter().step_by(stride)) {
                let turned = product(*b, *w);
                *b = [a[0] - turned[0], a[1] - turned[1]];
                *a = [a[0] + turned[0], a[1] + turned[1]];
            }
        }
        half *= 2;
    }
}

/// Product of two complex numbers.
fn product(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// Normal scores of the ranks among all chains: `z` at `(rank - 3/8) / (S + 1/4)`, ties sharing their mean
/// rank.
fn normal_scores(chains: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n_draws = chains[0].len();
    let pooled = chains.concat();
    let mut order: Vec<(f64, usize)> = pooled.iter().copied().zip(0..).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut scores = vec![0.0; pooled.len()];
    let mut n_below = 0;
    for tied in order.chunk_by(|a, b| a.0 == b.0) {
        let rank = n_below as f64 + (tied.len() + 1) as f64 / 2.0;
        let score = normal::quantile((rank - 0.375) / (pooled.len() as f64 + 0.25));
        tied.iter().for_each(|&(_, place)| scores[place] = score);
        n_below += tied.len();
    }
    scores.chunks(n_draws).map(<[f64]>::to_vec).collect()
}

/// First and second half of every chain; an odd length leaves out the middle draw.
fn split(chains: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let half = |chain: &Vec<f64>| chain.len() / 2;
    let halves = chains.iter().flat_map(|chain| [&chain[..half(chain)], &chain[chain.len() - half(chain)..]]);
    halves.map(<[f64]>::to_vec).collect()
}

/// The last draws of every chain, as many as the shortest has.
fn latest(chains: &[impl AsRef<[f64]>]) -> Vec<Vec<f64>> {
    let n_draws = chains.iter().map(|chain| chain.as_ref().len()).min().unwrap_or(0);
    chains.iter().map(|chain| chain.as_ref()).map(|chain| chain[chain.len() - n_draws..].to_vec()).collect()
}

/// Whether the chains can be diagnosed at all: finite draws that are not all the same, enough to be split.
fn is_varied(chains: &[Vec<f64>]) -> bool {
    let mut draws = chains.iter().flatten();
    let Some(first) = draws.next() else { return false };
    chains[0].len() > 1 && chains.iter().flatten().all(|x| x.is_finite()) && draws.any(|x| x != first)
}

/// Quantile by linear interpolation between order statistics (R's type 7).
fn quantile_of_sorted(sorted: &[f64], probability: f64) -> f64 {
    let position = probability * (sorted.len() - 1) as f64;
    let low = position as usize;
    let high = (low + 1).min(sorted.len() - 1);
    let share = position - low as f64;
    if share == 0.0 { sorted[low] } else { (1.0 - share) * sorted[low] + share * sorted[high] }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Unbiased variance.
fn variance(values: &[f64]) -> f64 {
    let centre = mean(values);
    values.iter().map(|x| (x - centre) * (x - centre)).sum::<f64>() / (values.len() as f64 - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws that a few lines of any language reproduce: sums of four uniform numbers of a 64-bit
    /// congruential generator, `x <- persistence * x + noise`, chain `c` shifted by `c * shift`, rounded down
    /// to whole `grain`s.
    fn generated(seed: u64, shape: [usize; 2], [persistence, shift, grain]: [f64; 3]) -> Vec<Vec<f64>> {
        let mut bits = seed;
        let mut uniform = || {
            bits = bits.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (bits >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut chain_at = |chain: usize| {
            let mut x = 0.0;
            let mut draw = || {
                let noise = uniform() + uniform() + uniform() + uniform() - 2.0;
                x = persistence * x + noise;
                let value = x + shift * chain as f64;
                if grain > 0.0 { (value / grain).floor() } else { value }
            };
            (0..shape[1]).map(|_| draw()).collect()
        };
        (0..shape[0]).map(&mut chain_at).collect()
    }

    #[test]
    fn diagnostics_agree_with_arviz() {
        // ArviZ 0.23.4; R-hat of "short" and "one chain" from its parts, in the order that posterior has
        // them.
        #[rustfmt::skip]
        let cases = [
            ("independent", 1, [4, 100], [0.0, 0.0, 0.0],
             [1.0030274669793293, 401.3696448513114, 375.9068494565357, 405.4213852702158,
                 0.028478740021025715]),
            ("persistent", 2, [4, 250], [0.9, 0.0, 0.0],
             [1.0351944235453625, 86.84354817570727, 158.79970217016543, 86.67849096325128,
                 0.12873773298587796]),
            ("alternating", 3, [4, 100], [-0.8, 0.0, 0.0],
             [1.0212733771891045, 1040.823996531185, 255.92930819262872, 1040.823996531185,
                 0.027739837539747104]),
            ("different means", 4, [4, 100], [0.0, 0.5, 0.0],
             [1.4831042946362756, 8.288522577352579, 42.38269634081443, 8.187414500262134,
                 0.2912924432037806]),
            ("small integers", 5, [4, 200], [0.7, 0.0, 1.0],
             [1.0154206890125916, 164.66468049708627, 228.70203848131257, 165.3382755592862,
                 0.06764844484785408]),
            ("two values", 6, [2, 150], [0.5, 0.0, 4.0],
             [0.9973888070081952, 143.19713631426484, 143.19713631426484, 143.19713631426484,
                 0.04155068792376009]),
            ("odd length", 7, [3, 101], [0.3, 0.1, 0.0],
             [1.0332343126816774, 119.88207646537477, 207.32736601292672, 115.95217331294857,
                 0.055292579951029666]),
            ("one chain", 8, [1, 200], [0.5, 0.0, 0.0],
             [0.9993617493984118, 66.35107733991865, 129.32101311772954, 66.83646937116785,
                 0.08184800923139157]),
            ("short", 9, [4, 7], [0.2, 0.0, 0.0],
             [1.1248458464658226, 33.12506980107854, 33.12506980107854, 33.12506980107854,
                 0.08932519780618128]),
            ("far apart", 10, [3, 64], [0.5, 40.0, 0.0],
             [2.446076791774984, 4.172247284359993, 36.83661102352347, 3.4299877413603923,
                 17.679114645880407]),
        ];
        for (name, seed, shape, law, wanted) in cases {
            let chains = generated(seed, shape, law);
            let got = [
                r_hat(&chains),
                ess_bulk(&chains),
                ess_tail(&chains),
                ess_mean(&chains),
                standard_error(&chains),
            ];
            for (got, wanted) in got.into_iter().zip(wanted) {
                let error: f64 = got / wanted - 1.0;
                assert!(error.abs() < 1e-9, "{name}: got {got}, wanted {wanted}");
            }
            let summary = Summary::of(&chains);
            assert_eq!([summary.r_hat, summary.ess_bulk, summary.ess_tail], got[..3]);
        }
    }

    #[test]
    fn constant_non_finite_and_missing_draws_have_no_diagnostics() {
        let infinite = [vec![1.0, 2.0, 3.0, f64::INFINITY], vec![1.0, 2.0, 3.0, 4.0]];
        let nothing: [Vec<f64>; 0] = [];
        for chains in
            [&[vec![3.0; 50], vec![3.0; 50]][..], &infinite, &[vec![1.0], vec![2.0]], &[vec![]], &nothing]
        {
            assert!(r_hat(chains).is_nan() && ess_bulk(chains).is_nan() && ess_tail(chains).is_nan());
            assert!(ess_mean(chains).is_nan() && standard_error(chains).is_nan());
            assert!(Summary::of(chains).r_hat.is_nan());
        }
        let constant = Summary::of(&[[3.0; 50], [3.0; 50]]);
        assert_eq!((constant.mean, constant.hdi), (3.0, [3.0, 3.0]));
    }

    #[test]
    fn chains_stuck_at_different_values_are_not_taken_for_constant() {
        let stuck = [vec![1.0; 40], vec![2.0; 40]];
        assert!(r_hat(&stuck) > 1e6, "got {}", r_hat(&stuck));
        assert!(ess_bulk(&stuck) < 5.0, "got {}", ess_bulk(&stuck));
    }

    #[test]
    fn a_rare_low_value_leaves_the_tail_unknown_and_a_rare_high_one_does_not() {
        let mut rare = vec![vec![5.0; 100]; 2];
        rare[0][30] = 4.0;
        assert!(ess_tail(&rare).is_nan());
        rare[0][30] = 6.0;
        assert!(ess_tail(&rare) > 100.0);
    }

    #[test]
    fn of_unequal_chains_the_latest_draws_count() {
        let equal = generated(11, [2, 60], [0.3, 0.0, 0.0]);
        let mut unequal = equal.clone();
        unequal[1].splice(0..0, [1e9, -1e9, 7.0]);
        assert_eq!(Summary::of(&equal), Summary::of(&unequal));
    }

    #[test]
    fn autocovariances_agree_with_their_definition() {
        let chains = generated(12, [3, 37], [0.6, 0.0, 0.0]);
        let direct = |lag: usize| {
            let of_chain = |chain: &Vec<f64>| {
                let centre = mean(chain);
                let products = chain.iter().zip(&chain[lag..]).map(|(x, y)| (x - centre) * (y - centre));
                products.sum::<f64>() / chain.len() as f64
            };
            mean(&chains.iter().map(of_chain).collect::<Vec<_>>())
        };
        for (lag, got) in mean_autocovariance(&chains).into_iter().enumerate() {
            assert!((got - direct(lag)).abs() < 1e-14, "lag {lag}: got {got}, wanted {}", direct(lag));
        }
    }

    #[test]
    fn the_interval_is_the_shortest_and_not_between_quantiles() {
        // Half of the draws at 0, the others far to the right: quantiles would cut both sides.
        let values = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 4.0, 8.0, 16.0];
        assert_eq!(highest_density_interval(&values, 0.5), [0.0, 0.0]);
        assert_eq!(highest_density_interval(&values, 0.61), [0.0, 2.0]);
        assert_eq!(highest_density_interval(&values, 0.7), [0.0, 2.0]);
        assert_eq!(highest_density_interval(&values, 1.0), [0.0, 16.0]);
        let even: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(highest_density_interval(&even, 0.07), [0.0, 6.0]);
        assert!(highest_density_interval(&[], 0.5)[0].is_nan());
        assert!(highest_density_interval(&[1.0, f64::NAN], 0.5)[0].is_nan());
    }

    #[test]
    fn the_interval_agrees_with_arviz() {
        // ArviZ takes floor(mass * n) + 1 draws, which is ceil(mass * n) unless mass * n is whole.
        let pooled = generated(2, [4, 250], [0.9, 0.0, 0.0]).concat();
        let got = highest_density_interval(&pooled, 0.9499);
        assert!(
            (got[0] + 2.0231510893284788).abs() < 1e-9 && (got[1] - 2.6712449331085035).abs() < 1e-9,
            "got {got:?}"
        );
    }

    #[test]
    fn a_weight_counts_as_that_many_equal_draws() {
        let values = [3.0, -1.0, 0.5, 7.0, 2.0, 2.5];
        let weights = [2.0, 1.0, 3.0, 1.0, 4.0, 0.0];
        let repeated: Vec<f64> =
            values.iter().zip(weights).flat_map(|(&value, weight)| vec![value; weight as usize]).collect();
        for mass in [0.1, 0.3, 0.5, 0.6, 0.8, 0.9, 0.95, 1.0] {
            let weighted = weighted_highest_density_interval(&values, &weights, mass);
            assert_eq!(weighted, highest_density_interval(&repeated, mass), "mass {mass}");
            let halved = weights.map(|weight| weight / 22.0);
            assert_eq!(weighted_highest_density_interval(&values, &halved, mass), weighted, "mass {mass}");
        }
        assert!(weighted_highest_density_interval(&values, &[0.0; 6], 0.5)[0].is_nan());
        assert!(weighted_highest_density_interval(&values, &[-1.0; 6], 0.5)[0].is_nan());
    }
}

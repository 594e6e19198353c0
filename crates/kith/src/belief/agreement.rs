//! Whether chains agree on what people will see: who is with whom, pair by pair, and the concentrations.
//!
//! A number such as ln joint or the count of identities may agree while the chains put the same faces with
//! different people, and may differ by what nobody would notice. So pairs of faces are followed that some
//! draw has together. Whether a pair is together is a series of zeros and ones per chain; over all pairs, the
//! mean variance of the chains' (halves') means is compared with the mean variance within them, as in split
//! R-hat. Pairs that all draws agree on count nothing, and a difference that concerns less than about one
//! pair in a thousand is no disagreement.
//!
//! Of the concentrations there are more draws than of the rest: given the seats they are redrawn many times a
//! sweep, which costs next to nothing, and every redraw is a state of the chain.

use std::collections::HashMap;

use crate::chain::Draw;
use crate::chain::diagnostics::{Summary, ess_bulk, r_hat};

/// At most so many pairs are followed.
const PAIRS: usize = 4000;
/// What is added to the mean variance within chains, so that one pair in a thousand does not matter.
const NEGLIGIBLE: f64 = 1e-3;

/// By how much chains disagree, 1 if they do not: the larger of [`of_people`] and [`Concentrations::excess`].
/// As many draws of each of the chains 0, 1, ..., in the order of sweeps.
pub fn disagreement(draws: &[&Draw], n_chains: usize) -> f64 {
    of_people(draws, n_chains).max(Concentrations::of_draws(draws, n_chains).excess())
}

/// R-hat over pairs of faces. Infinite where it cannot be told.
pub fn of_people(draws: &[&Draw], n_chains: usize) -> f64 {
    let chains = by_chain(draws, n_chains);
    if chains.iter().any(|chain| chain.len() < FEWEST) { f64::INFINITY } else { of_pairs(&chains) }
}

/// Chains of fewer draws are not compared.
const FEWEST: usize = 4;

/// What chains say of alpha_0 and of the mean alpha_c, draw by draw or at every redraw.
#[derive(Clone, Debug, Default)]
pub struct Concentrations {
    /// Per chain, [alpha_0, alpha_c] in the order of sweeps.
    pub chains: Vec<Vec<[f64; 2]>>,
}

impl Concentrations {
    /// Those of draws, as [`disagreement`] takes them.
    pub fn of_draws(draws: &[&Draw], n_chains: usize) -> Self {
        let of_draw = |draw: &&Draw| {
            let local = &draw.globals.local_concentration;
            [draw.globals.global_concentration, local.iter().sum::<f64>() / local.len() as f64]
        };
        let chains = by_chain(draws, n_chains);
        Self { chains: chains.iter().map(|chain| chain.iter().map(of_draw).collect()).collect() }
    }

    /// Where both are, and how far the chains agree on that.
    pub fn summaries(&self) -> [Summary; 2] {
        [0, 1].map(|which| Summary::of(&self.values(which)))
    }

    /// The rank-normalised split R-hat of the worse, half of its excess over 1, since concentrations hardly
    /// matter to who is who; 1 where both are fixed, infinite where it cannot be told.
    pub fn excess(&self) -> f64 {
        let of_one = |which: usize| match () {
            _ if self.is_fixed(which) => 1.0,
            _ if self.chains.iter().any(|chain| chain.len() < FEWEST) => f64::INFINITY,
            _ => Some(r_hat(&self.values(which))).filter(|r_hat| !r_hat.is_nan()).unwrap_or(f64::INFINITY),
        };
        1.0 + 0.5 * (of_one(0).max(of_one(1)) - 1.0)
    }

    /// How many independent draws they are worth, for the centre of the one that mixes worse; infinite where
    /// both are fixed.
    pub fn effective(&self) -> f64 {
        let of_one = |which: usize| match self.is_fixed(which) {
            true => f64::INFINITY,
            false => Some(ess_bulk(&self.values(which))).filter(|size| !size.is_nan()).unwrap_or(0.0),
        };
        of_one(0).min(of_one(1))
    }

    fn values(&self, which: usize) -> Vec<Vec<f64>> {
        self.chains.iter().map(|chain| chain.iter().map(|both| both[which]).collect()).collect()
    }

    fn is_fixed(&self, which: usize) -> bool {
        let mut values = self.chains.iter().flatten().map(|both| both[which]);
        values.next().is_none_or(|first| values.all(|value| value == first))
    }
}

fn by_chain<'d>(draws: &[&'d Draw], n_chains: usize) -> Vec<Vec<&'d Draw>> {
    let mut chains: Vec<Vec<&Draw>> = vec![Vec::new(); n_chains];
    draws.iter().for_each(|draw| chains[draw.chain as usize].push(draw));
    chains
}

/// Split R-hat, variances averaged over pairs of faces.
fn of_pairs(chains: &[Vec<&Draw>]) -> f64 {
    let partitions: Vec<Vec<_>> =
        chains.iter().map(|chain| chain.iter().map(|draw| draw.partition()).collect()).collect();
    let pairs = pairs(&partitions.concat());
    if pairs.is_empty() {
        return 1.0;
    }
    let n = chains.iter().map(Vec::len).min().unwrap_or(0) / 2;
    let (mut between, mut within) = (0.0, 0.0);
    for &[a, b] in &pairs {
        // The share of draws that have the two together, in either half of each chain.
        let mut shares = Vec::with_capacity(2 * chains.len());
        for chain in &partitions {
            let latest = &chain[chain.len() - 2 * n..];
            for half in latest.chunks(n) {
                let together = half.iter().filter(|draw| draw[a] == draw[b]).count();
                shares.push(together as f64 / n as f64);
            }
        }
        let count = shares.len() as f64;
        let mean = shares.iter().sum::<f64>() / count;
        between += shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let spread = n as f64 / (n as f64 - 1.0);
        within += spread * shares.iter().map(|share| share * (1.0 - share)).sum::<f64>() / count;
    }
    let [between, within] = [between, within].map(|sum| sum / pairs.len() as f64);
    let (n, within) = (n as f64, within + NEGLIGIBLE);
    (between / within + (n - 1.0) / n).sqrt()
}

/// Pairs of faces that a draw has together: faces evenly spaced, each with the next of its person in one of
/// the draws, by turns.
fn pairs(draws: &[impl AsRef<[u32]>]) -> Vec<[usize; 2]> {
    let n_faces = draws.first().map_or(0, |draw| draw.as_ref().len());
    let n_pairs = n_faces.min(PAIRS);
    let mut of_draw = vec![Vec::new(); draws.len()];
    (0..n_pairs).for_each(|k| of_draw[k % draws.len()].push(k * n_faces / n_pairs));
    let mut pairs = Vec::new();
    for (draw, faces) in draws.iter().zip(&of_draw) {
        let people = draw.as_ref();
        // From the last face to the first, who is the next of each person; round the end to their first.
        let mut next: HashMap<u32, usize> = HashMap::new();
        next.extend((0..n_faces).rev().map(|face| (people[face], face)));
        let mut faces = faces.iter().rev().copied().peekable();
        for face in (0..n_faces).rev() {
            let other = next.insert(people[face], face).unwrap_or(face);
            if faces.next_if_eq(&face).is_some() && other != face {
                pairs.push([face, other]);
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::AGREED;
    use crate::chain::Globals;

    /// Draws of 400 faces of 40 people; `moved` says with whom face 0 to 79 are in draw k of a chain.
    fn draws(n_chains: u32, moved: impl Fn(u32, usize, usize) -> u32) -> Vec<Draw> {
        let draw = |chain: u32, k: usize| {
            let at = |face: usize| if face < 80 { moved(chain, k, face) } else { face as u32 % 40 };
            Draw {
                chain,
                sweep: k as u64,
                identities: (0..400).map(at).collect(),
                scales: Vec::new(),
                contexts: Vec::new(),
                names: vec![None; 41],
                people: Vec::new(),
                globals: Globals {
                    weights: vec![1.0 / 42.0; 41],
                    unseen: 1.0 / 42.0,
                    ln_joint: 0.0,
                    global_concentration: 1.0,
                    local_concentration: vec![1.0],
                    context_concentration: 1.0,
                    name_weights: vec![1.0],
                    name_concentration: 1.0,
                    error_rate: 0.05,
                },
            }
        };
        (0..16).flat_map(|k| (0..n_chains).map(move |chain| (chain, k))).map(|(c, k)| draw(c, k)).collect()
    }

    fn found(draws: &[Draw]) -> f64 {
        disagreement(&draws.iter().collect::<Vec<_>>(), 4)
    }

    /// A number that looks random.
    fn coin(a: u32, b: usize, c: usize) -> bool {
        let mixed = (u64::from(a) << 40 | (b as u64) << 20 | c as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 63 == 1
    }

    #[test]
    fn chains_agree_that_have_the_same_doubts_and_not_those_that_have_none_but_differ() {
        // Everybody says the same.
        assert!(found(&draws(4, |_, _, face| face as u32 % 40)) <= 1.0);
        // Each of 80 faces is with its person or alone, by chance in every draw.
        let doubtful = |chain, k, face| if coin(chain, k, face) { 40 } else { face as u32 % 40 };
        assert!(found(&draws(4, doubtful)) < 1.05);
        // The same, decided once per chain.
        let stuck = |chain, _, face| if coin(chain, 0, face) { 40 } else { face as u32 % 40 };
        assert!(found(&draws(4, stuck)) > 2.0);
        // Every chain drifts: the first half says otherwise than the second.
        let drifting = |_, k, face| if k < 8 { 40 } else { face as u32 % 40 };
        assert!(found(&draws(4, drifting)) > 2.0);
        // Too few draws to tell.
        let few: Vec<Draw> = draws(4, doubtful).into_iter().filter(|draw| draw.sweep < 3).collect();
        assert!(found(&few).is_infinite());
    }

    #[test]
    fn concentrations_count_too() {
        let mut draws = draws(4, |_, _, face| face as u32 % 40);
        for draw in &mut draws {
            let noise = 0.2 * f64::from(u8::from(coin(draw.chain, draw.sweep as usize, 1)));
            draw.globals.global_concentration = f64::from(1 + draw.chain) + noise;
        }
        assert!(found(&draws) > AGREED);
    }

    /// Chains of numbers with a slow part, an AR(1) process that moves every `held` numbers, and a fast one
    /// that is new in each; the share of the variance that is slow.
    fn two_speeds(n: usize, held: usize, persistence: f64, slow: f64) -> Concentrations {
        let chain = |seed: u64| {
            let mut rng = crate::random::driver(seed);
            let mut at = rng.normal();
            let mut value = |k: usize| {
                if k.is_multiple_of(held) {
                    at = persistence * at + (1.0 - persistence * persistence).sqrt() * rng.normal();
                }
                [slow.sqrt() * at + (1.0 - slow).sqrt() * rng.normal(), 7.0]
            };
            (0..n).map(&mut value).collect()
        };
        Concentrations { chains: (0..4).map(chain).collect() }
    }

    #[test]
    fn effective_draws_are_those_of_known_processes() {
        // Of an AR(1) process n (1 - r) / (1 + r), and where a share s of the variance is one that is held
        // for h numbers, n / (1 - s + s h (1 + r) / (1 - r)). The estimate sums correlations up to a lag of
        // about three times t, the number of draws that are worth one, and is off by sqrt(2 (6 t + 1) / n) of
        // itself.
        for (n, held, persistence, slow) in
            [(40_000, 1, 0.9, 1.0), (40_000, 1, 0.0, 1.0), (48_000, 24, 0.5, 0.2)]
        {
            let of_slow = held as f64 * (1.0 + persistence) / (1.0 - persistence);
            let worth_one = 1.0 - slow + slow * of_slow;
            let (total, longest) = ((4 * n) as f64, of_slow.max(1.0));
            let tolerance = 4.0 * (2.0 * (6.0 * longest + 1.0) / total).sqrt();
            let found = two_speeds(n, held, persistence, slow).effective();
            let off = found * worth_one / total - 1.0;
            assert!(off.abs() < tolerance, "{persistence}, held {held}: {off} of {tolerance}");
        }
        let fixed = Concentrations { chains: vec![vec![[2.0, 3.0]; 10]; 4] };
        assert_eq!((fixed.effective(), fixed.excess()), (f64::INFINITY, 1.0));
        let few = Concentrations { chains: vec![vec![[1.0, 3.0], [2.0, 3.0]]; 4] };
        assert_eq!((few.effective(), few.excess()), (0.0, f64::INFINITY));
    }
}

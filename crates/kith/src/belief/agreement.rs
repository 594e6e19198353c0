//! Whether chains agree on what people will see: who is with whom, pair by pair, and the concentrations.
//!
//! A number such as ln joint or the count of identities may agree while the chains put the same faces with
//! different people, and may differ by what nobody would notice. So pairs of faces are followed that some
//! draw has together. Whether a pair is together is a series of zeros and ones per chain; over all pairs, the
//! mean variance of the chains' (halves') means is compared with the mean variance within them, as in split
//! R-hat. Pairs that all draws agree on count nothing, and a difference that concerns less than about one
//! pair in a thousand is no disagreement.

use std::collections::HashMap;

use crate::chain::Draw;
use crate::chain::diagnostics::r_hat;

/// At most so many pairs are followed.
const PAIRS: usize = 4000;
/// What is added to the mean variance within chains, so that one pair in a thousand does not matter.
const NEGLIGIBLE: f64 = 1e-3;

/// By how much chains disagree, 1 if they do not: the larger of R-hat over pairs of faces, and of the
/// concentrations' rank-normalised split R-hat, whose excess counts half (they hardly matter to who is who).
/// Infinite where it cannot be told. As many draws of each of the chains 0, 1, ..., in the order of sweeps.
pub fn disagreement(draws: &[&Draw], n_chains: usize) -> f64 {
    let mut chains: Vec<Vec<&Draw>> = vec![Vec::new(); n_chains];
    draws.iter().for_each(|draw| chains[draw.chain as usize].push(draw));
    if chains.iter().any(|chain| chain.len() < 4) {
        return f64::INFINITY;
    }
    let global = |draw: &Draw| draw.globals.global_concentration;
    let local = |draw: &Draw| {
        draw.globals.local_concentration.iter().sum::<f64>() / draw.globals.local_concentration.len() as f64
    };
    let concentrations = of_number(&chains, global).max(of_number(&chains, local));
    of_pairs(&chains).max(1.0 + 0.5 * (concentrations - 1.0))
}

/// R-hat of a number; 1 where it is the same in all draws.
fn of_number(chains: &[Vec<&Draw>], value: impl Fn(&Draw) -> f64) -> f64 {
    let numbers: Vec<Vec<f64>> =
        chains.iter().map(|chain| chain.iter().map(|draw| value(draw)).collect()).collect();
    if numbers.iter().flatten().all(|number| *number == numbers[0][0]) {
        return 1.0;
    }
    let found = r_hat(&numbers);
    if found.is_nan() { f64::INFINITY } else { found }
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
}

//! What is made of draws: diagnostics of long chains, the representative partition. `cargo bench -p kith`.

use divan::Bencher;
use kith::chain::diagnostics::Summary;
use kith::predict::representative::representative;
use kith::random::{Rng, driver};

fn main() {
    divan::main();
}

/// Eight chains of 50,000 draws, each draw holding on to so much of the last.
#[divan::bench(args = [0.0, 0.9, 0.999], sample_count = 5, sample_size = 1)]
fn summary(bencher: Bencher, persistence: f64) {
    let mut rng = driver(13);
    let mut chain = || {
        let mut x = 0.0;
        let mut next = || {
            x = persistence * x + rng.normal();
            x
        };
        (0..50_000).map(|_| next()).collect::<Vec<f64>>()
    };
    let chains: Vec<Vec<f64>> = (0..8).map(|_| chain()).collect();
    bencher.bench_local(|| Summary::of(&chains));
}

/// A thousand draws of ten thousand faces of a thousand people, of which each has so many per cent astray.
#[divan::bench(args = [1, 3, 10], sample_count = 3, sample_size = 1)]
fn partition_shown(bencher: Bencher, percent: usize) {
    const PEOPLE: usize = 1_000;
    let mut rng = driver(10);
    // Two numbers multiplied: some people are on many photos, most on few.
    let one = |rng: &mut Rng| (rng.below(PEOPLE) * (1 + rng.below(PEOPLE)) / PEOPLE) as u32;
    let truth: Vec<u32> = (0..10_000).map(|_| one(&mut rng)).collect();
    let mut disturbed = || -> Vec<u32> {
        let of = |&person: &u32| if rng.below(100) < percent { one(&mut rng) } else { person };
        truth.iter().map(of).collect()
    };
    let draws: Vec<Vec<u32>> = (0..1_000).map(|_| disturbed()).collect();
    bencher.bench_local(|| representative(&draws));
}

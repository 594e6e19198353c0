//! `kith bench sweep`: one sweep at stationarity, against a bare matrix product of the same size.

use anyhow::{Context, ensure};
use kith::chain::Chain;
use kith::gibbs::{Step, Sweep};
use rayon::ThreadPool;
use rayon::prelude::*;
use serde_json::json;

use super::args::SweepOptions;
use super::crowd::{Crowd, Settings};
use super::memory::peak_bytes;
use super::product::Product;
use super::{Figures, median, timed};

/// Below this agreement with the truth there is nothing to be fast at.
const LEAST_ARI: f64 = 0.9;

/// Measures.
pub fn run(options: &SweepOptions) -> anyhow::Result<Figures> {
    let n_threads = options.threads as usize;
    let n_chains = options.chains.unwrap_or(options.threads) as usize;
    ensure!(
        n_chains.is_multiple_of(n_threads) || n_threads.is_multiple_of(n_chains),
        "--chains: found {n_chains}, wanted a multiple or a part of {n_threads}, the threads they are dealt \
         over"
    );
    let crowd = crowd(options)?;
    let accuracy = crowd.nearest_neighbour_accuracy();
    let target = crowd.target(options.face)?;
    let embeddings = crowd.data.embeddings();
    // Reseats every face and redraws tables, weights and concentrations; nobody is named and contexts are
    // given.
    let seats = if options.colours > 1 { Step::Colours(options.colours) } else { Step::Assignments };
    let sweep = Sweep(vec![seats, Step::Weights]);
    let all = pool(n_threads)?;
    let mut chains: Vec<Chain> = all.install(|| {
        (0..n_chains as u32).into_par_iter().map(|k| crowd.chain(k, options.crowd.seed, &target)).collect()
    });
    let round = |pool: &ThreadPool, chains: &mut [Chain]| {
        let swept = |chain: &mut Chain| chain.sweep(&sweep, &target).moved_faces;
        pool.install(|| chains.par_iter_mut().map(swept).sum::<usize>())
    };
    for _ in 0..options.warm_up {
        round(&all, &mut chains);
    }

    let mut product = Product::new(centres(&crowd), crowd.data.dimension());
    product.run(embeddings, |_, _| ());
    let one = pool(1)?;
    let per_thread = n_chains.div_ceil(n_threads);
    // By turns, so that a busy machine is as busy for each.
    let (mut of_all, mut of_one, mut of_product) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..options.sweeps {
        of_product.push(timed(|| product.run(embeddings, |_, products| keep(products))).0);
        of_all.push(timed(|| round(&all, &mut chains)).0 / per_thread as f64);
        if n_threads > 1 {
            of_one.push(timed(|| round(&one, &mut chains[..per_thread])).0 / per_thread as f64);
        }
    }

    let ari = chains.iter().map(|chain| crowd.ari(chain.state())).sum::<f64>() / n_chains as f64;
    ensure!(
        ari >= LEAST_ARI,
        "found an ARI of {ari:.3}, wanted at least {LEAST_ARI}: a larger --spread is easier"
    );
    Ok(figures(
        &crowd,
        &Measured {
            n_threads,
            n_chains,
            n_found: chains[0].state().seating().n_identities(),
            accuracy,
            ari,
            seconds: median(&of_all),
            product_seconds: median(&of_product),
            alone: (n_threads > 1).then(|| median(&of_one)),
        },
    ))
}

/// What was measured; medians of seconds per sweep and chain.
struct Measured {
    n_threads: usize,
    n_chains: usize,
    n_found: usize,
    /// Of a nearest neighbour.
    accuracy: f64,
    ari: f64,
    seconds: f64,
    product_seconds: f64,
    /// On one thread, where there are several.
    alone: Option<f64>,
}

fn figures(crowd: &Crowd, measured: &Measured) -> Figures {
    let &Measured { n_threads, n_chains, n_found, accuracy, ari, seconds, product_seconds, alone } = measured;
    let (faces, dimension) = (crowd.data.n_faces(), crowd.data.dimension());
    let ratio = seconds / product_seconds;
    let bytes = peak_bytes();
    let gigaflops = 2e-9 * (faces * dimension * crowd.n_people()) as f64 / product_seconds;
    let mut figures = vec![
        ("faces", json!(faces), format!("{faces} faces of {} people, D = {dimension}", crowd.n_people())),
        ("identities", json!(crowd.n_people()), String::new()),
        ("identities_found", json!(n_found), format!("{n_found} identities found, ARI {ari:.4}")),
        ("dimension", json!(dimension), String::new()),
        (
            "nearest_neighbour_accuracy",
            json!(accuracy),
            format!("a nearest neighbour is right {:.1} % of the time", 100.0 * accuracy),
        ),
        ("threads", json!(n_threads), format!("{n_chains} chains on {n_threads} threads")),
        ("chains", json!(n_chains), String::new()),
        (
            "seconds_per_sweep",
            json!(seconds),
            format!("{seconds:.4} s a sweep and chain, {:.0} faces a second", faces as f64 / seconds),
        ),
        ("faces_per_second", json!(faces as f64 / seconds), String::new()),
        (
            "product_seconds",
            json!(product_seconds),
            format!("{product_seconds:.4} s for a bare product of the same size ({gigaflops:.0} GFLOP/s)"),
        ),
        ("ratio", json!(ratio), format!("{ratio:.2} products a sweep")),
        (
            "peak_bytes",
            json!(bytes),
            bytes.map_or(String::new(), |b| format!("{:.0} MB at most", b as f64 / 1e6)),
        ),
        ("ari", json!(ari), String::new()),
    ];
    if let Some(alone) = alone {
        figures.push(("one_thread_seconds_per_sweep", json!(alone), String::new()));
        let scaling = seconds / alone;
        let per_thread = n_chains.div_ceil(n_threads);
        let text = format!("{scaling:.3} times as long as {per_thread} chains on one thread");
        figures.push(("scaling", json!(scaling), text));
    }
    Figures(figures)
}

fn crowd(options: &SweepOptions) -> anyhow::Result<Crowd> {
    Crowd::new(&Settings {
        faces: options.faces as usize,
        people: options.identities as usize,
        dimension: options.crowd.dim as usize,
        spread: options.crowd.spread,
        evenness: 1.0,
        most_in_frame: 1,
        seed: options.crowd.seed,
    })
}

fn pool(n_threads: usize) -> anyhow::Result<ThreadPool> {
    rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().context("cannot start threads")
}

/// Nobody reads the products: the compiler must not know.
fn keep(products: &[f32]) {
    std::hint::black_box(products);
}

/// The mean face of everybody.
fn centres(crowd: &Crowd) -> Vec<f32> {
    let dimension = crowd.data.dimension();
    let mut sums = vec![0.0f32; crowd.n_people() * dimension];
    let mut counts = vec![0.0f32; crowd.n_people()];
    for (x, &person) in crowd.data.embeddings().rows().zip(&crowd.truth) {
        let person = person as usize;
        sums[person * dimension..][..dimension].iter_mut().zip(x).for_each(|(sum, x)| *sum += x);
        counts[person] += 1.0;
    }
    for (sum, n) in sums.chunks_exact_mut(dimension).zip(counts) {
        sum.iter_mut().for_each(|sum| *sum /= n);
    }
    sums
}

//! `kith bench predict`: how long one new face takes against many draws of many identities.

use anyhow::ensure;
use kith::chain::Draw;
use kith::gibbs::{Step, Sweep};
use kith::ids::FaceId;
use kith::predict::Posterior;
use kith::random;
use kith::target::Target;
use rayon::prelude::*;
use serde_json::json;

use super::args::PredictOptions;
use super::crowd::{CONTEXTS, Crowd, Settings};
use super::{Figures, quantile, timed};
use crate::args::Face;

/// Chains that the draws come from.
const CHAINS: usize = 4;
/// Faces that a chain looks at again between two draws: a share of a sweep, which would take minutes.
const LOOKS: usize = 300;
/// Answers that are compared with the slow path, and how far they may be off.
const COMPARED: usize = 20;
const TOLERANCE: f64 = 1e-9;
/// Every so many new faces, one is of somebody never seen.
const STRANGERS: usize = 10;

/// Measures.
pub fn run(options: &PredictOptions) -> anyhow::Result<Figures> {
    let (n_seen, n_queries) = (options.identities as usize, options.queries as usize);
    let mut crowd = Crowd::new(&Settings {
        faces: options.faces as usize,
        people: n_seen,
        dimension: options.crowd.dim as usize,
        spread: options.crowd.spread,
        evenness: 1.0,
        most_in_frame: 1,
        seed: options.crowd.seed,
    })?;
    let target = crowd.target(Face::Isotropic)?;
    let draws = draws(&crowd, &target, options);
    let ari = draws.iter().map(|draw| crowd.ari_of(&draw.identities)).sum::<f64>() / draws.len() as f64;
    let posterior = Posterior::new(&target, &draws);

    let mut ms = Vec::new();
    let (mut n_right, mut furthest) = (0, 0.0f64);
    for query in 0..n_queries {
        let is_stranger = query % STRANGERS == STRANGERS - 1;
        let person = query * n_seen / n_queries;
        let x = if is_stranger { crowd.stranger() } else { crowd.photo(person) };
        let context = Some(CONTEXTS[query % CONTEXTS.len()]);
        let (seconds, answer) = timed(|| posterior.predict(context, &[&x], false).swap_remove(0));
        ms.push(1e3 * seconds);
        let best = answer.identity.faces.first().map(|face| crowd.truth[face.index()] as usize);
        let is_new = answer.stranger > answer.identity.p;
        n_right += usize::from(if is_stranger { is_new } else { !is_new && best == Some(person) });
        if query % n_queries.div_ceil(COMPARED) == 0 {
            let each = posterior.predict_each(context, &x);
            let slow = each.iter().map(|by| by.ln_stranger.exp()).sum::<f64>() / each.len() as f64;
            furthest = furthest.max((answer.stranger - slow).abs());
        }
    }
    let accuracy = n_right as f64 / n_queries as f64;
    let (p50, p99) = (quantile(&ms, 0.5), quantile(&ms, 0.99));
    let n_faces = crowd.data.n_faces();
    ensure!(
        furthest <= TOLERANCE,
        "found answers {furthest:e} off the slow path, wanted at most {TOLERANCE:e}"
    );
    Ok(Figures(vec![
        ("faces", json!(n_faces), format!("{n_faces} faces of {n_seen} people, {} draws", draws.len())),
        ("identities", json!(n_seen), String::new()),
        ("dimension", json!(options.crowd.dim), String::new()),
        ("draws", json!(draws.len()), String::new()),
        (
            "groups",
            json!(posterior.n_groups()),
            format!("{} distinct groups of faces in all draws", posterior.n_groups()),
        ),
        ("p50_ms", json!(p50), format!("{p50:.3} ms for half of {n_queries} new faces")),
        ("p99_ms", json!(p99), format!("{p99:.3} ms for all but 1 % of them")),
        ("right", json!(accuracy), format!("{:.1} % answered right", 100.0 * accuracy)),
        ("ari", json!(ari), format!("ARI {ari:.4}")),
        ("off_slow_path", json!(furthest), format!("at most {furthest:.1e} off the slow path")),
    ]))
}

/// Draws of a few chains that begin at the truth.
fn draws(crowd: &Crowd, target: &Target, options: &PredictOptions) -> Vec<Draw> {
    let n_draws = options.draws as usize;
    let sweep = Sweep(vec![Step::Weights]);
    let n_faces = crowd.data.n_faces();
    let of_chain = |number: usize| {
        let mut chain = crowd.chain(number as u32, options.crowd.seed, target);
        let mut rng = random::stream(options.crowd.seed, (CHAINS + number) as u64);
        let n_kept = (n_draws + CHAINS - 1 - number) / CHAINS;
        let draw = |_| {
            for _ in 0..LOOKS.min(n_faces) {
                chain.reseat(FaceId::new(rng.below(n_faces)), target);
            }
            chain.sweep(&sweep, target);
            chain.draw(target)
        };
        (0..n_kept).map(draw).collect::<Vec<Draw>>()
    };
    (0..CHAINS).into_par_iter().flat_map_iter(of_chain).collect()
}

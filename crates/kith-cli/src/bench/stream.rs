//! `kith bench stream`: what absorbing a frame costs early and late in a long stream, and how accurate it
//! stays.

use anyhow::ensure;
use kith::belief::{Belief, Chains};
use kith::chain::{Chain, Start};
use kith::data::NewFace;
use kith::gibbs::Sweep;
use kith::ids::FrameId;
use kith::target::Target;
use serde_json::json;

use super::args::StreamOptions;
use super::crowd::{Crowd, Settings};
use super::{Figures, median, quantile, timed};
use crate::args::Face;
use crate::fit::set_threads;
use crate::progress::bar;

/// Below this agreement with the truth there is nothing to be fast at.
const LEAST_ARI: f64 = 0.9;

/// Measures.
pub fn run(options: &StreamOptions) -> anyhow::Result<Figures> {
    set_threads(Some(1))?;
    let crowd = Crowd::new(&Settings {
        // One or two a frame.
        faces: (options.frames as usize * 3 / 2).max(options.identities as usize),
        people: options.identities as usize,
        dimension: options.crowd.dim as usize,
        spread: options.crowd.spread,
        evenness: 5.0,
        most_in_frame: 2,
        seed: options.crowd.seed,
    })?;
    let data = &crowd.data;
    let window = (data.n_frames() / 100).max(10);
    // Until then there are ever more people, and more to weigh for every face.
    let met = 10 * options.identities as usize;
    let warm_up = options.warm_up.map_or(window.max(met).min(data.n_frames() / 2), |frames| frames as usize);
    ensure!(
        warm_up + 2 * window <= data.n_frames(),
        "--warm-up: found {warm_up} frames, wanted at most {}",
        data.n_frames() - 2 * window
    );
    let target = crowd.target(Face::Isotropic)?;
    let chains = Chains { n: options.chains as usize, seed: options.crowd.seed };
    let mut belief = Belief::new(target.model().clone(), chains)?;
    let seconds = push_all(&mut belief, &crowd)?;
    let of = |window: &[f64]| 1e3 * window.iter().sum::<f64>() / window.len() as f64;
    let (early, late) = (&seconds[warm_up..warm_up + window], &seconds[seconds.len() - window..]);
    let (first_ms, last_ms) = (of(early), of(late));
    let ratio = last_ms / first_ms;
    let chains = belief.chains();
    let ari = chains.iter().map(|chain| crowd.ari(chain.state())).sum::<f64>() / chains.len() as f64;
    let n_found = chains[0].state().seating().n_identities();
    let mut figures = vec![
        ("frames", json!(seconds.len()), format!("{} frames of {} people", seconds.len(), crowd.n_people())),
        ("faces", json!(data.n_faces()), String::new()),
        ("identities_found", json!(n_found), format!("{n_found} identities found")),
        (
            "first_ms",
            json!(first_ms),
            format!("{first_ms:.4} ms a frame, frames {warm_up} to {}", warm_up + window),
        ),
        ("last_ms", json!(last_ms), format!("{last_ms:.4} ms a frame, the last {window}")),
        ("ratio", json!(ratio), format!("{ratio:.3} times the first")),
        ("median_ratio", json!(median(late) / median(early)), String::new()),
        ("p99_ms", json!(1e3 * quantile(&seconds, 0.99)), String::new()),
        ("ari", json!(ari), format!("ARI {ari:.4}")),
    ];
    if options.offline_sweeps > 0 {
        let offline = offline_ari(options, &crowd, &target);
        let text = format!("ARI {offline:.4} after {} sweeps of everything", options.offline_sweeps);
        figures.push(("offline_ari", json!(offline), text));
    }
    ensure!(
        ari >= LEAST_ARI,
        "found an ARI of {ari:.3}, wanted at least {LEAST_ARI}: a larger --spread is easier"
    );
    Ok(Figures(figures))
}

/// How good many sweeps of everything are.
fn offline_ari(options: &StreamOptions, crowd: &Crowd, target: &Target) -> f64 {
    let mut chain = Chain::start(Start::Sequential, 0, options.crowd.seed, target);
    for _ in 0..options.offline_sweeps {
        chain.sweep(&Sweep::default(), target);
    }
    crowd.ari(chain.state())
}

/// Takes in all frames; the seconds of each.
fn push_all(belief: &mut Belief, crowd: &Crowd) -> anyhow::Result<Vec<f64>> {
    let bar = bar(crowd.data.n_frames() as u64, "frames");
    let mut seconds = Vec::with_capacity(crowd.data.n_frames());
    for frame in crowd.data.frames() {
        let (taken, pushed) = timed(|| push(belief, crowd, frame));
        pushed?;
        seconds.push(taken);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(seconds)
}

fn push(belief: &mut Belief, crowd: &Crowd, frame: FrameId) -> anyhow::Result<()> {
    let data = &crowd.data;
    let context = data.given_context(frame).map(|context| data.contexts()[context.index()].as_str());
    let new = |&face| NewFace { embedding: data.embedding(face), name: None };
    let faces: Vec<NewFace<'_>> = data.faces_in(frame).iter().map(new).collect();
    Ok(belief.see(context, &faces)?)
}

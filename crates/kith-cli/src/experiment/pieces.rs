//! Runs the pieces of an experiment that are not there yet, and keeps each as soon as it is done.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use kith::chain::Watch;
use kith_lab::experiment::Experiment;

use super::results::Folder;
use crate::progress::{bar, count, note};

/// The outcomes of all pieces; `None` when interrupted.
pub fn run<E: Experiment>(
    experiment: &E,
    folder: &Folder,
    stop: &AtomicBool,
) -> anyhow::Result<Option<Vec<E::Outcome>>> {
    let jobs = experiment.jobs();
    let kept: Vec<Option<E::Outcome>> = jobs.iter().map(|job| folder.piece(&job.key)).collect();
    let n_kept = kept.iter().flatten().count();
    if n_kept > 0 {
        note(format!("{} of {} done before", n_kept, count(jobs.len(), "piece")));
    }
    let to_run = jobs.iter().zip(&kept).filter(|(_, kept)| kept.is_none());
    let total: u64 = to_run.map(|(job, _)| job.sweeps).sum();
    let bar = bar(total, "sweeps");
    let swept = AtomicU64::new(0);
    let tell = || {
        bar.inc(1);
        swept.fetch_add(1, Ordering::Relaxed);
    };
    let watch = Watch { stop, swept: &tell };
    let started = Instant::now();
    let n_done = Cell::new(n_kept);
    let mut outcomes = Vec::new();
    for (job, kept) in jobs.iter().zip(kept) {
        if let Some(outcome) = kept {
            outcomes.push(outcome);
            continue;
        }
        let began = Instant::now();
        let Some(outcome) = experiment.run(&job.task, &watch)? else {
            bar.finish_and_clear();
            return Ok(None);
        };
        folder.keep(&job.key, &outcome)?;
        outcomes.push(outcome);
        n_done.set(n_done.get() + 1);
        let left = left(started.elapsed(), swept.load(Ordering::Relaxed), total);
        let line =
            format!("{} of {}: {} in {}{left}", n_done.get(), jobs.len(), job.key, in_words(began.elapsed()));
        if bar.is_hidden() {
            note(line)
        } else {
            bar.println(line)
        }
        if stop.load(Ordering::Relaxed) {
            bar.finish_and_clear();
            return Ok((outcomes.len() == jobs.len()).then_some(outcomes));
        }
    }
    bar.finish_and_clear();
    Ok(Some(outcomes))
}

/// How long the rest will take at the pace so far.
fn left(elapsed: Duration, done: u64, total: u64) -> String {
    if done == 0 || done >= total {
        return String::new();
    }
    format!("; about {} left", in_words(elapsed.mul_f64((total - done) as f64 / done as f64)))
}

fn in_words(duration: Duration) -> String {
    match duration.as_secs() {
        seconds @ 0..=99 => format!("{seconds} s"),
        seconds @ 100..=5999 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}

//! `kith experiment`: one of the paper's experiments, from a dataset to a page.

mod arms;
mod pieces;
mod results;

use std::hash::Hasher;
use std::io::Write;
use std::time::Instant;

use anyhow::{Context, ensure};
use kith_io::dataset;
use kith_lab::experiment::{Arm, Discovery, Experiment, Gallery, Naming, Plan, Unknown};

use crate::Outcome;
use crate::args::{ExperimentOptions, Which};
use crate::background::Background;
use crate::evaluate::truth_of;
use crate::fit::set_threads;
use crate::interrupt;
use crate::progress::note;
use arms::Models;

/// Runs the verb.
pub fn run(options: &ExperimentOptions) -> anyhow::Result<Outcome> {
    let is_discovery = options.which == Which::Discovery;
    ensure!(options.frames.is_none() || is_discovery, "--frames is for the discovery alone");
    set_threads(options.threads)?;
    let place = || options.data.display().to_string();
    let table = dataset::read(&options.data)?;
    let truth = truth_of(&table).with_context(place)?;
    let embeddings = table.dataset.embeddings();
    let background = match &options.background {
        Some(path) => Some(Background::read(path, embeddings.dimension(), "dataset")?),
        None => None,
    };
    let models = Models::read(options, background.as_ref())?;
    let arms = models.arms();
    let gallery = Gallery::new(embeddings, truth);
    let plan = Plan {
        seed: options.seed,
        repeats: options.repeats as usize,
        n_chains: options.chains as usize,
        sweeps: options.sweeps,
    };
    // What was found depends on the faces, on who they are, and on the models.
    let mut digest = results::Digest::default();
    embeddings.values().iter().for_each(|value| digest.write_u32(value.to_bits()));
    truth.iter().for_each(|name| digest.write(format!("{name:?}").as_bytes()));
    digest.write(models.fingerprint().as_bytes());
    let frames = options.frames.map(|frames| frames as usize);
    let refused = |message: String| anyhow::Error::msg(message).context(place());
    match options.which {
        Which::Unknown => go(options, &Unknown::new(&gallery, &arms, plan).map_err(refused)?, digest, &arms),
        Which::Discovery => {
            go(options, &Discovery::new(&gallery, &arms, plan, frames).map_err(refused)?, digest, &arms)
        }
        Which::Naming => go(options, &Naming::new(&gallery, &arms, plan).map_err(refused)?, digest, &arms),
    }
}

/// Runs what is still to be run, and writes everything.
fn go<E: Experiment>(
    options: &ExperimentOptions,
    experiment: &E,
    mut digest: results::Digest,
    arms: &[Arm<'_>],
) -> anyhow::Result<Outcome> {
    let started = Instant::now();
    let settings = experiment.settings();
    digest.write(settings.to_string().as_bytes());
    let stop = interrupt::listen()?;
    let folder = results::Folder::open(&options.out, digest.finish())?;
    let Some(outcomes) = pieces::run(experiment, &folder, stop)? else {
        note(format!("interrupted: {} keeps what is done; the same command goes on", options.out.display()));
        return Ok(Outcome::Negative);
    };
    let findings = experiment.findings(&outcomes);
    let words = results::settings(options, &settings, arms, started.elapsed());
    folder.write(&findings, &outcomes, &words)?;
    let mut out = crate::progress::stdout();
    if options.json {
        writeln!(out, "{}", findings.summary)?;
    } else {
        for row in &findings.comparison.rows {
            writeln!(out, "{}: {} (the paper: {})", row[0], row[2], row[1])?;
        }
    }
    note(format!("{}: report.html shows figures and numbers", options.out.display()));
    Ok(Outcome::Done)
}

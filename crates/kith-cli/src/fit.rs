//! `kith fit`: a dataset in, draws of the posterior out.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use anyhow::{Context, ensure};
use kith::belief::{AGREED, Belief, Chains, ENOUGH, Learnt, Round, Settings, Until, stages};
use kith::chain::{Draw, Run, Watch};
use kith::gibbs::Sweep;
use kith::model::Model;
use kith::target::Target;
use kith_io::dataset::{self, FaceTable};
use kith_io::draws::DrawsWriter;
use kith_io::model_file;

use crate::Outcome;
use crate::args::FitOptions;
use crate::background::Background;
use crate::interrupt;
use crate::progress::{bar, count, event, note, to_event};
use crate::summary::FitSummary;

/// Chains are brought together, and their draws written, about every so many reseated faces.
const FACES_PER_ROUND: u64 = 200_000;

/// Without --sweeps at most so many draws of each chain are kept.
const DRAWS: usize = 100;

/// Runs the verb.
pub fn run(options: &FitOptions) -> anyhow::Result<Outcome> {
    let started = Instant::now();
    let run = options.sweeps.map(|sweeps| schedule(options, sweeps)).transpose()?;
    set_threads(options.threads)?;
    check_place(options)?;
    let stop = interrupt::listen_in_haste()?;
    let table = dataset::read(&options.dataset)?;
    let model = model(options, &table)?;
    let target = Target::new(model, table.dataset).with_context(|| settings_file(options))?;
    let n_chains = options.chains.unwrap_or(if run.is_some() { 8 } else { 4 }) as usize;
    let usual = stages::starts(&target, stages::DISPERSED);
    let starts = if options.start.is_empty() { usual } else { &options.start };
    let mut belief = Belief::start(target, starts, Chains { n: n_chains, seed: options.seed })
        .with_sweep(Sweep::coloured(options.colours));
    interrupt::be_calm();
    let mut writer = DrawsWriter::create(&options.draws, belief.target())?;
    let until = Until { draws: DRAWS, sweeps: run.map(|run| run.sweeps) };
    let most = belief.most_sweeps(&until);
    let bar = bar(most * n_chains as u64, "sweeps");
    let watch = Watch { stop, swept: &|| bar.inc(1) };
    let (draws, learnt) = match run {
        Some(run) => (sweep_to_the_end(&mut belief, run, &watch, &mut writer)?, None),
        None => {
            let told = |round: &Round<'_>| {
                let n_people = round.n_people();
                bar.set_length(round.most_sweeps * n_chains as u64);
                bar.set_message(format!("sweeps, {} so far", count(n_people, "person")));
                if options.json {
                    let r_hat = round.learnt.r_hat.filter(|r_hat| r_hat.is_finite());
                    event(to_event((round.learnt.sweeps, round.most_sweeps), n_people, r_hat));
                }
            };
            let (draws, learnt) = sweep_until_agreed(&mut belief, &watch, &told, &mut writer)?;
            (draws, Some(learnt).filter(|learnt| !learnt.is_interrupted))
        }
    };
    bar.finish_and_clear();
    let is_interrupted = match run {
        Some(run) => draws.len() < (run.n_kept() as usize) * n_chains,
        None => stop.load(Ordering::Relaxed),
    };
    if is_interrupted && draws.is_empty() {
        note("interrupted before the first draw was kept: no draws were written");
        return Ok(Outcome::Negative);
    }
    writer.finish()?;
    let place = options.draws.display();
    if is_interrupted {
        let n_draws = count(draws.len(), "draw");
        note(format!("interrupted: {place} has the {n_draws} made so far, all complete"));
    } else {
        note(format!("{place}: {} of {}", count(draws.len(), "draw"), count(n_chains, "chain")));
    }
    let seconds = started.elapsed().as_secs_f64();
    let summary = FitSummary::of(&draws, n_chains, table.truth.as_deref(), learnt.as_ref(), seconds);
    if options.json {
        writeln!(crate::progress::stdout(), "{}", summary.to_json())?;
    } else {
        summary.print();
    }
    Ok(if is_interrupted { Outcome::Negative } else { Outcome::Done })
}

/// Makes sweeps until the chains agree, then writes the draws.
fn sweep_until_agreed(
    belief: &mut Belief,
    watch: &Watch<'_>,
    told: &dyn Fn(&Round<'_>),
    writer: &mut DrawsWriter,
) -> anyhow::Result<(Vec<Draw>, Learnt)> {
    let until = Until { draws: DRAWS, sweeps: None };
    let learnt = belief.learn_with(&until, watch, &mut |round| {
        told(round);
        ControlFlow::Continue(())
    });
    let mut draws = belief.draws().to_vec();
    draws.sort_by_key(|draw| (draw.sweep, draw.chain));
    draws.iter().try_for_each(|draw| writer.write(draw))?;
    if !learnt.is_interrupted {
        note(verdict(&learnt));
    }
    Ok((draws, learnt))
}

/// Makes as many sweeps as were asked for, writing draws on the way.
fn sweep_to_the_end(
    belief: &mut Belief,
    run: Run,
    watch: &Watch<'_>,
    writer: &mut DrawsWriter,
) -> anyhow::Result<Vec<Draw>> {
    let mut draws: Vec<Draw> = Vec::new();
    let round = (FACES_PER_ROUND / belief.faces().len() as u64).clamp(1, 1000);
    let mut until = 0;
    while until < run.sweeps && !watch.stop.load(Ordering::Relaxed) {
        until = (until + round).min(run.sweeps);
        let kept = belief.run(&run, until, watch);
        kept.iter().try_for_each(|draw| writer.write(draw))?;
        writer.flush()?;
        draws.extend(kept);
    }
    Ok(draws)
}

/// Whether the chains agree, in a line.
fn verdict(learnt: &Learnt) -> String {
    let (sweeps, r_hat) = (learnt.sweeps, learnt.r_hat.unwrap_or(f64::INFINITY));
    if learnt.is_agreed() {
        return format!("the chains agree after {sweeps} sweeps (R-hat {r_hat:.3}, wanted below {AGREED})");
    }
    if learnt.agrees_on_people() {
        return format!(
            "the chains agree on people after {sweeps} sweeps (R-hat {r_hat:.3}, wanted below {AGREED}); \
             the concentrations have {} of {ENOUGH} effective draws",
            learnt.effective.unwrap_or(0.0).floor()
        );
    }
    let place = if r_hat.is_finite() { format!("R-hat {r_hat:.2}") } else { "no R-hat".to_owned() };
    format!(
        "the chains do not agree after {sweeps} sweeps ({place}, wanted below {AGREED}): --sweeps gives them \
         more"
    )
}

fn schedule(options: &FitOptions, sweeps: u64) -> anyhow::Result<Run> {
    let burn_in = options.burn_in.unwrap_or((sweeps / 5).min(100));
    let thin = options.thin.unwrap_or(10.min(sweeps.saturating_sub(burn_in).max(1)));
    let run = Run { sweeps, burn_in, thin };
    ensure!(
        run.n_kept() > 0,
        "--sweeps {} with --burn-in {burn_in} and --thin {} keeps no draw, wanted at least one: give more \
         --sweeps or a smaller --thin",
        run.sweeps,
        run.thin
    );
    Ok(run)
}

/// Refuses, before any work, a place for draws that cannot be, or that would replace what is read.
fn check_place(options: &FitOptions) -> anyhow::Result<()> {
    let draws = &options.draws;
    ensure!(!draws.is_dir(), "{}: found a folder, wanted a file for the draws", draws.display());
    let folder = draws.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    ensure!(folder.is_dir(), "{}: cannot be created: found no folder {}", draws.display(), folder.display());
    let Ok(place) = draws.canonicalize() else { return Ok(()) };
    let mut read: Vec<PathBuf> = options.model.iter().cloned().collect();
    for dataset in options.background.iter().chain([&options.dataset]) {
        let names = ["embeddings.npy", "faces.csv", "reps.csv", "labels.csv"];
        read.push(dataset.clone());
        read.extend(names.map(|name| dataset.join(name)));
    }
    let is_read = read.iter().any(|file| file.canonicalize().is_ok_and(|file| file == place));
    ensure!(!is_read, "{}: found a file that the fit reads, wanted another for the draws", draws.display());
    Ok(())
}

fn settings_file(options: &FitOptions) -> String {
    options.model.as_ref().map_or("the default model".to_owned(), |path| path.display().to_string())
}

fn model(options: &FitOptions, table: &FaceTable) -> anyhow::Result<Model> {
    let settings = match &options.model {
        Some(path) => model_file::read(path)?,
        None => Settings::default(),
    };
    let background = match &options.background {
        Some(path) => Some(Background::read(path, table.dataset.dimension(), "dataset")?),
        None => None,
    };
    let bar = bar(100, "% of learning what faces look like");
    let known = background.as_ref().map(Background::known);
    let resolved =
        settings.resolve(&table.dataset, known, &mut |share| bar.set_position((100.0 * share) as u64));
    bar.finish_and_clear();
    resolved.with_context(|| settings_file(options))
}

/// How many threads work; results do not depend on it.
pub fn set_threads(threads: Option<u32>) -> anyhow::Result<()> {
    let n_threads = threads.map_or(0, |n| n as usize);
    rayon::ThreadPoolBuilder::new().num_threads(n_threads).build_global().context("cannot start threads")
}

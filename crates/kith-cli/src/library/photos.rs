//! `kith add` with photos: looks at what is new or changed, follows what moved, and says what cannot be read.

use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use kith_album::{Album, Tally};
use kith_io::place::shown_path;
use kith_store::{Library, meta};
use kith_vision::{Vision, models, walk};
use serde_json::{Value, json};

use super::args::{AddOptions, PhotoContext};
use crate::progress::{self, count, note};
use crate::{Outcome, interrupt};

/// How often `--follow` looks for new photos.
const PAUSE: Duration = Duration::from_secs(2);

/// Runs the verb.
pub fn run(options: &AddOptions) -> anyhow::Result<Outcome> {
    let stop = interrupt::listen()?;
    let paths = options
        .paths
        .iter()
        .map(|path| path.canonicalize().with_context(|| format!("{}: cannot be found", path.display())));
    let paths: Vec<PathBuf> = paths.collect::<anyhow::Result<_>>()?;
    let is_there = options.lib.metadata().is_ok_and(|found| found.len() > 0);
    if !is_there && !options.follow {
        let walked = walk(&paths);
        ensure!(!walked.files.is_empty() || !walked.bad.is_empty(), "{}", nothing_in(options));
    }
    let pipeline = if is_there && !options.embed_again {
        Library::open(&options.lib)?.get(meta::EMBEDDING)?
    } else {
        None
    };
    let vision = Vision::load(&models::folders(options.models.as_deref()), pipeline.as_deref())?;
    let library = Library::open_or_create(&options.lib)?;
    if options.embed_again {
        let _claim = library.claim()?;
        super::embed_again::run(&library, &vision)?;
    }
    let mut album = Album::new(&library, &vision, workers(options), stop)?;
    report(&library, &look(&mut album, &paths, options)?, options.json)?;
    while options.follow && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(PAUSE);
        let tally = look(&mut album, &paths, options)?;
        if tally.has_news() {
            report(&library, &tally, options.json)?;
        }
    }
    let is_cut_short = stop.load(Ordering::Relaxed) && !options.follow;
    Ok(if is_cut_short { Outcome::Negative } else { Outcome::Done })
}

fn nothing_in(options: &AddOptions) -> String {
    let paths: Vec<String> = options.paths.iter().map(|path| path.display().to_string()).collect();
    format!(
        "{}: found neither photos nor a dataset (embeddings.npy and faces.csv), wanted one",
        paths.join(", ")
    )
}

fn workers(options: &AddOptions) -> usize {
    let cores = || std::thread::available_parallelism().map_or(2, usize::from);
    options.threads.map_or_else(cores, |n| n as usize)
}

fn name_of(context: PhotoContext) -> &'static str {
    match context {
        PhotoContext::Place => "place",
        PhotoContext::Folder => "folder",
        PhotoContext::Day => "day",
        PhotoContext::None => "none",
    }
}

/// Looks once, with a bar on the terminal.
fn look(album: &mut Album<'_>, paths: &[PathBuf], options: &AddOptions) -> anyhow::Result<Tally> {
    let (bar, start) = (progress::bar(0, "photos"), Instant::now());
    let tally = album.look(paths, options.context.map(name_of), &mut |glance| {
        let rate = |n: usize| n as f64 / start.elapsed().as_secs_f64().max(0.1);
        bar.set_length(glance.all as u64);
        bar.set_position(glance.done as u64);
        bar.set_message(format!("photos ({:.0}/s, {:.0} faces/s)", rate(glance.done), rate(glance.faces)));
    });
    bar.finish_and_clear();
    Ok(tally?)
}

fn report(library: &Library, tally: &Tally, is_json: bool) -> anyhow::Result<()> {
    for bad in &tally.bad {
        note(format!("{}: {}", shown_path(&bad.path), bad.reason));
    }
    let n_faces = library.n_faces()?;
    let mut out = crate::progress::stdout();
    if is_json {
        let bad: Vec<Value> = tally
            .bad
            .iter()
            .map(|bad| json!({"photo": bad.path.to_string_lossy(), "reason": bad.reason}))
            .collect();
        let object = json!({
            "photos": tally.new, "unchanged": tally.unchanged, "changed": tally.changed, "moved": tally.moved,
            "copies": tally.copies, "gone": tally.gone, "bad": bad, "added": tally.faces,
            "unclear": tally.unclear, "names": tally.names,
            "unplaced": tally.unplaced, "n_faces": n_faces,
        });
        writeln!(out, "{object}")?;
        return Ok(());
    }
    let mut line = format!("{} in {}", count(tally.faces, "new face"), count(tally.new, "new photo"));
    if tally.unclear > 0 {
        line += &format!("; {} of them too small, blurred or covered to tell, left out", tally.unclear);
    }
    let parts = [
        (tally.changed, "changed"),
        (tally.moved, "moved"),
        (tally.unchanged, "known already"),
        (tally.copies, "copies of others"),
        (tally.gone, "gone, what was said about them stays"),
        (tally.bad.len(), "bad, each with its line"),
    ];
    for (n, what) in parts.iter().filter(|(n, _)| *n > 0) {
        line += &format!("; {n} {what}");
    }
    if tally.names + tally.unplaced > 0 {
        line += &format!("; {} that other programs left", count(tally.names, "name"));
    }
    if tally.unplaced > 0 {
        line += &format!(" ({} more fit no face)", tally.unplaced);
    }
    writeln!(out, "{line}; the library has {}", count(n_faces, "face"))?;
    Ok(())
}

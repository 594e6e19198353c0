//! `kith learn`: chains go on where they stopped, and people are made out anew.

use std::io::Write;

use anyhow::Context;
use kith::belief::AGREED;
use kith::chain::Watch;
use kith_io::dataset;
use kith_io::model_file::read_tree;
use kith_store::meta::SETTINGS;
use kith_store::{Believed, Changes, Library, Plan, Progress, Told};
use serde_json::json;

use super::args::LearnOptions;
use crate::Outcome;
use crate::background::Background;
use crate::fit::set_threads;
use crate::interrupt;
use crate::progress::{bar, count, event, note, to_event};

/// Runs the verb.
pub fn run(options: &LearnOptions) -> anyhow::Result<Outcome> {
    set_threads(options.threads)?;
    let library = Library::open(&options.lib)?;
    let _claim = library.claim()?;
    let stop = interrupt::listen_in_haste()?;
    let looks = bar(100, "% of learning what faces look like");
    let mut prior = |share: f64| {
        looks.set_position((100.0 * share) as u64);
        if options.json {
            event(json!({"event": "looks", "share": share}));
        }
    };
    set_model(&library, options, &mut prior)?;
    let sweeps = bar(1, "sweeps");
    let watch = Watch { stop, swept: &|| sweeps.inc(1) };
    let plan = Plan { sweeps: options.sweeps, chains: options.chains, seed: options.seed, least: 0 };
    let mut begins = |most| {
        interrupt::be_calm();
        looks.finish_and_clear();
        sweeps.set_length(most);
    };
    let mut goes_on = |now: &Progress| {
        sweeps.set_message(format!("sweeps, {} so far", count(now.n_people, "person")));
        if options.json {
            event(to_event(now.sweeps, now.n_people, now.r_hat));
        }
    };
    let mut told = Told { prior: &mut prior, begins: &mut begins, goes_on: &mut goes_on };
    let (believed, changes) = Believed::learn(&library, &plan, &watch, &mut told)?;
    believed.keep_bounds(&library)?;
    sweeps.finish_and_clear();
    library.take_notes().into_iter().for_each(note);
    let (n_faces, n_people) = (believed.rows.faces.len(), library.people()?.len());
    if options.json {
        let gained: Vec<_> =
            changes.gained.iter().map(|(who, n)| json!({"person": who, "faces": n})).collect();
        let object = json!({
            "n_faces": n_faces, "n_people": n_people, "new_people": changes.new_people,
            "gone_people": changes.gone_people, "gained": gained, "uncertain": changes.uncertain,
            "sweeps": changes.sweeps, "interrupted": changes.is_interrupted,
        });
        writeln!(crate::progress::stdout(), "{object}")?;
    } else {
        writeln!(crate::progress::stdout(), "{}", in_words(&changes, n_faces, n_people))?;
    }
    if let Some(r_hat) = changes.r_hat.filter(|&r_hat| r_hat >= AGREED && !changes.is_interrupted) {
        let place = if r_hat.is_finite() { format!("R-hat {r_hat:.2}") } else { "no R-hat".to_owned() };
        note(format!(
            "the chains do not agree yet ({place}, wanted below {AGREED}): learn again, they go on"
        ));
    }
    if changes.is_interrupted {
        note("interrupted: what was learnt so far is kept");
    }
    Ok(if changes.is_interrupted { Outcome::Negative } else { Outcome::Done })
}

fn in_words(changes: &Changes, n_faces: usize, n_people: usize) -> String {
    let mut parts = vec![format!("{} of {}", count(n_faces, "face"), count(n_people, "person"))];
    if changes.new_people > 0 {
        parts.push(count(changes.new_people, "new person").replace("new persons", "new people"));
    }
    if changes.gone_people > 0 {
        parts.push(format!("{} turned out to be others", changes.gone_people));
    }
    for (who, n) in changes.gained.iter().take(5) {
        parts.push(format!("{who} gained {}", count(*n, "face")));
    }
    if changes.gained.len() > 5 {
        parts.push(format!("and {} more gained faces", changes.gained.len() - 5));
    }
    if changes.uncertain > 0 {
        let are = if changes.uncertain == 1 { "is" } else { "are" };
        parts.push(format!("{} {are} uncertain", count(changes.uncertain, "face")));
    }
    parts.join("; ")
}

/// Settings and background, where they are given, are kept in the library.
fn set_model(library: &Library, options: &LearnOptions, progress: &mut dyn FnMut(f64)) -> anyhow::Result<()> {
    if options.model.is_none() && options.background.is_none() {
        return Ok(());
    }
    let tree = match &options.model {
        Some(path) => read_tree(path)?,
        None => match library.get(SETTINGS)? {
            Some(text) => serde_json::from_str(&text).context("the library's settings")?,
            None => json!({}),
        },
    };
    let Some(path) = &options.background else { return Ok(library.set_model(&tree, None, progress)?) };
    let wanted = match library.dimension()? {
        Some(dimension) => dimension,
        None => dataset::read(path)?.dataset.dimension(),
    };
    let background = Background::read(path, wanted, "library")?;
    Ok(library.set_model(&tree, Some(background.known()), progress)?)
}

//! How many answers it takes to name 95 % of the faces of a dataset with `truth`: by `ask`, at random,
//! largest first.
//!
//! `cargo run --release -p kith-store --example ask -- DATASET [--background DATASET] [--most 400] [--seeds
//! 1,2] [--sweeps 60] [--begun LIBRARY] [--way ask|largest|random]`; `--begun` to begin with a library that
//! has learnt the dataset already.
//!
//! The answerer errs 5 % of the time: says another name, or yes for no. All three ways learn alike from every
//! answer.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use kith::belief::{About, Belief};
use kith::chain::Watch;
use kith::ids::FaceId;
use kith::random::{Rng, driver};
use kith_io::dataset;
use kith_store::{Believed, Kind, Library, Plan, Saying, Told, frames_of};

const WRONG: f64 = 0.05;
const GOAL: f64 = 0.95;
/// After so many answers all faces are swept a few times.
const ANSWERS_PER_LEARNING: usize = 25;

type Failure = Box<dyn std::error::Error>;

/// How the next question is found.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Ask,
    Random,
    Largest,
}

fn main() -> Result<(), Failure> {
    let mut words = std::env::args().skip(1);
    let path = PathBuf::from(words.next().ok_or("wanted a dataset with `truth`")?);
    let (mut background, mut given, mut most, mut seeds, mut sweeps) = (None, None, 400, vec![1], 60);
    let mut ways = vec![Way::Ask, Way::Largest, Way::Random];
    while let (Some(key), Some(value)) = (words.next(), words.next()) {
        match key.as_str() {
            "--background" => background = Some(PathBuf::from(value)),
            "--way" => ways.retain(|way| format!("{way:?}").eq_ignore_ascii_case(&value)),
            "--begun" => given = Some(PathBuf::from(value)),
            "--most" => most = value.parse()?,
            "--seeds" => seeds = value.split(',').map(str::parse).collect::<Result<Vec<u64>, _>>()?,
            "--sweeps" => sweeps = value.parse()?,
            other => {
                return Err(format!(
                    "found {other}, wanted --background, --begun, --way, --most, --seeds or --sweeps"
                )
                .into());
            }
        }
    }
    let mut table = dataset::read(&path)?;
    let truth = table.truth.take().ok_or("wanted a column `truth`")?;
    let truth: Vec<String> = truth.into_iter().map(Option::unwrap_or_default).collect();
    let folder = std::env::temp_dir().join(format!("kith-ask-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let begun = folder.join("begun.kith");
    if let Some(given) = &given {
        std::fs::copy(given, &begun)?;
    }
    let library = Library::open_or_create(&begun)?;
    library.add(&frames_of(&table, None), None)?;
    if let Some(path) = background {
        let known = dataset::read(&path)?;
        let mut people: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (row, who) in known.truth.as_deref().unwrap_or_default().iter().enumerate() {
            who.iter().for_each(|who| people.entry(who).or_default().push(row));
        }
        let people: Vec<Vec<usize>> = people.into_values().collect();
        let settings = serde_json::json!({"face": {"kind": "full"}});
        library.set_model(&settings, Some((known.dataset.embeddings(), &people)), &mut |_| ())?;
    }
    let rows: BTreeMap<&str, usize> = table.faces.iter().map(String::as_str).zip(0..).collect();
    let truth: Vec<String> =
        library.snapshot()?.rows.keys.iter().map(|key| truth[rows[key.as_str()]].clone()).collect();
    if given.is_none() {
        learn(&library, sweeps)?;
    }
    drop(library);
    for seed in seeds {
        for &way in &ways {
            let copy = folder.join(format!("{way:?}-{seed}.kith"));
            std::fs::copy(&begun, &copy)?;
            println!("seed {seed}");
            simulate(way, &Library::open(&copy)?, &truth, most, seed)?;
        }
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

fn learn(library: &Library, sweeps: u64) -> Result<(), Failure> {
    let watch = Watch { stop: &AtomicBool::new(false), swept: &|| () };
    let mut told = Told { prior: &mut |_| (), begins: &mut |_| (), goes_on: &mut |_| () };
    Believed::learn(
        library,
        &Plan { sweeps: Some(sweeps), chains: None, seed: Some(1), least: 0 },
        &watch,
        &mut told,
    )?;
    Ok(())
}

fn simulate(way: Way, library: &Library, truth: &[String], most: usize, seed: u64) -> Result<(), Failure> {
    let mut rng = driver(seed);
    let mut people: Vec<&str> = truth.iter().map(String::as_str).collect();
    people.sort_unstable();
    people.dedup();
    let started = std::time::Instant::now();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let mut n_answers = 0;
    while n_answers < most {
        if n_answers > 0 && n_answers % ANSWERS_PER_LEARNING == 0 {
            learn(library, 10)?;
        }
        let believed = Believed::open(library)?;
        let right = n_right(&believed.belief, truth);
        let share = right as f64 / truth.len() as f64;
        if share >= GOAL || n_answers % 5 == 0 {
            let seconds = started.elapsed().as_secs_f64();
            println!(
                "{way:?}: {n_answers} answers, {:.1} % named right, {seconds:.0} s, {kinds:?}",
                100.0 * share
            );
        }
        if share >= GOAL {
            return Ok(());
        }
        // Random faces do not depend on what is believed: many are named before it is looked at again.
        let n_at_once = if way == Way::Random { ANSWERS_PER_LEARNING } else { 1 };
        for _ in 0..n_at_once {
            let Some(about) = next(way, &believed.belief, &mut rng) else {
                println!("{way:?}: nothing more to ask");
                return Ok(());
            };
            let row = |face: FaceId| believed.rows.faces[face.index()];
            let is_wrong = rng.bernoulli(WRONG);
            let saying = match about {
                About::Who(face) => {
                    *kinds.entry("who").or_default() += 1;
                    let own = truth[face.index()].as_str();
                    let others: Vec<&str> = people.iter().copied().filter(|other| *other != own).collect();
                    let name = if is_wrong { others[rng.below(others.len())] } else { own };
                    Saying { kind: Kind::Name, face: row(face), other: None, name: Some(name) }
                }
                About::Same(a, b, _) => {
                    *kinds.entry("same").or_default() += 1;
                    let is_same = (truth[a.index()] == truth[b.index()]) != is_wrong;
                    let kind = if is_same { Kind::Same } else { Kind::Different };
                    Saying { kind, face: row(a), other: Some(row(b)), name: None }
                }
            };
            library.say("answerer", &[saying])?;
            n_answers += 1;
        }
    }
    println!("{way:?}: not reached with {most} answers");
    Ok(())
}

fn next(way: Way, belief: &Belief, rng: &mut Rng) -> Option<About> {
    let data = belief.target().data();
    let unasked: Vec<FaceId> = data.faces().filter(|&face| data.given_name(face).is_none()).collect();
    match way {
        Way::Ask => belief.ask(1).first().map(|question| question.about),
        Way::Random => Some(About::Who(unasked[rng.below(unasked.len())])),
        Way::Largest => {
            let clusters = belief.people();
            let mut sizes: BTreeMap<u32, usize> = BTreeMap::new();
            clusters.of_face.iter().for_each(|&cluster| *sizes.entry(cluster).or_default() += 1);
            let certainty = |face: &FaceId| clusters.certainty[face.index()];
            let is_named = |face: &FaceId| clusters.names[clusters.of_face[face.index()] as usize].is_some();
            let of_nameless = unasked.iter().copied().filter(|face| !is_named(face));
            let size = |face: &FaceId| sizes[&clusters.of_face[face.index()]];
            let largest = of_nameless.max_by(|a, b| {
                size(a).cmp(&size(b)).then(certainty(a).total_cmp(&certainty(b))).then(b.cmp(a))
            });
            let doubtful = || unasked.iter().copied().min_by(|a, b| certainty(a).total_cmp(&certainty(b)));
            largest.or_else(doubtful).map(About::Who)
        }
    }
}

/// Faces whose most probable name is the true one.
fn n_right(belief: &Belief, truth: &[String]) -> usize {
    let names = belief.target().data().names();
    let is_right = |face: &FaceId| {
        let mut votes: BTreeMap<Option<usize>, usize> = BTreeMap::new();
        for draw in belief.draws() {
            let name = draw.names[draw.identities[face.index()] as usize];
            *votes.entry(name.map(|label| label.index())).or_default() += 1;
        }
        let best = votes.into_iter().max_by_key(|vote| vote.1).and_then(|vote| vote.0);
        best.is_some_and(|label| names[label] == truth[face.index()])
    };
    belief.target().data().faces().filter(is_right).count()
}

//! The command line: verbs in the order a person needs them, and their options.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use kith::chain::Start;

use crate::bench::args::BenchOptions;
use crate::library::args::{
    AddOptions, AskOptions, ExportOptions, ForgetOptions, IgnoreOptions, ImportOptions, LearnOptions,
    LogOptions, NameOptions, NotOptions, PageOptions, PairOptions, PeopleOptions, ReadOptions, ServeOptions,
    UndoOptions, WatchOptions, WhoOptions,
};

/// Chains beyond this tell nobody more, and many more would not end, or not fit in memory.
pub const MOST_CHAINS: i64 = 1000;

/// kith learns who is who from faces, mostly unnamed, on your own machine.
///
/// For every face it answers with probabilities: acquainted (someone you named), familiar (seen before, never
/// named) or stranger (never seen). Nothing leaves this machine.
#[derive(Debug, Parser)]
#[command(name = "kith", version, arg_required_else_help = true, infer_subcommands = false)]
pub struct Arguments {
    #[command(subcommand)]
    pub verb: Verb,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Show the main job on generated data: a week of encounters, learnt frame by frame
    Demo(DemoOptions),
    /// Add faces to a library file, which is made when there is none
    Add(AddOptions),
    /// Learn who is who in a library, from where learning stopped
    Learn(LearnOptions),
    /// Show who is in a library
    People(PeopleOptions),
    /// Say who a face is, of the library or new, and why
    Who(WhoOptions),
    /// Give a face or a person a name
    Name(NameOptions),
    /// Say that a face does not have a name
    Not(NotOptions),
    /// Say that two faces are the same person
    Same(PairOptions),
    /// Say that two faces are different people
    Different(PairOptions),
    /// Leave a face out: a statue, a poster
    Ignore(IgnoreOptions),
    /// Show what was said, and what looks like a mistake
    Log(LogOptions),
    /// Take back what was said last
    Undo(UndoOptions),
    /// Restore what was taken back last
    Redo(ReadOptions),
    /// Ask what would settle most faces
    Ask(AskOptions),
    /// Show a library in the browser: look, answer, correct
    Serve(ServeOptions),
    /// Take frames from stdin and answer each (NDJSON)
    Watch(WatchOptions),
    /// Remove a person, a face or a name with every trace
    Forget(ForgetOptions),
    /// Write out draws, people, evidence or the dataset
    Export(ExportOptions),
    /// Take in what was said in another library
    Import(ImportOptions),
    /// Say whether a library file is sound
    Check(ReadOptions),
    /// Show, fetch or take in the networks that find and embed faces
    Models(crate::models::ModelsOptions),
    /// Learn identities from a dataset; writes draws of the posterior
    Fit(FitOptions),
    /// Say who is on new photos, from the draws of a fit
    Predict(PredictOptions),
    /// Say how good and how calibrated the answers are, where the truth is known
    Evaluate(EvaluateOptions),
    /// Repeat one of the paper's experiments: numbers, figures, and a page with both
    Experiment(ExperimentOptions),
    /// Make up a dataset with `truth`: people before a camera, a gallery, or draws from the model
    Simulate(SimulateOptions),
    /// Measure this machine on generated faces: a sweep, an answer, a stream
    Bench(BenchOptions),
    /// Write a completion script for a shell
    Completions(CompletionsOptions),
    /// Write manual pages, one for each verb
    Man(ManOptions),
}

/// Options of `kith demo`.
#[derive(Debug, Args)]
pub struct DemoOptions {
    /// Makes the run repeatable
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How many days to live through, from Monday on
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=7))]
    pub days: u32,
    /// Also write the week as a page to look at, with pictures
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Show the week in the browser instead, as a library with drawn photos; it is gone when this ends
    #[arg(long, conflicts_with = "report")]
    pub serve: bool,
    #[command(flatten)]
    pub page: PageOptions,
}

/// Options of `kith fit`.
#[derive(Debug, Args)]
pub struct FitOptions {
    /// A folder with embeddings.npy and faces.csv, an .npz file, or OpenFace's reps.csv and labels.csv
    pub dataset: PathBuf,
    /// Where the draws go (NDJSON)
    #[arg(long, value_name = "DRAWS.ndjson")]
    pub draws: PathBuf,
    /// Settings of the model; every key is optional
    #[arg(long, value_name = "MODEL.toml")]
    pub model: Option<PathBuf>,
    /// People who are known (by `truth` or `name`), to learn from what faces look like in general
    #[arg(long, value_name = "DATASET")]
    pub background: Option<PathBuf>,
    /// Independent chains [default: 4, or 8 with --sweeps]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=MOST_CHAINS))]
    pub chains: Option<u32>,
    /// Sweeps of each chain [default: until the chains agree, or clearly will not]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub sweeps: Option<u64>,
    /// First sweeps that are not kept [default: 100, at most a fifth of the sweeps; without --sweeps, half of
    /// them]
    #[arg(long, requires = "sweeps")]
    pub burn_in: Option<u64>,
    /// Keep every n-th sweep after that [default: 10, or the last one where there are fewer; without
    /// --sweeps, as needed for 100 draws]
    #[arg(long, requires = "sweeps", value_parser = clap::value_parser!(u64).range(1..))]
    pub thin: Option<u64>,
    /// Makes the run repeatable, whatever the number of threads
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Parts that each chain is moved in side by side, for more cores than chains; the draws depend on it
    #[arg(long, value_name = "P", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub colours: u8,
    /// Where chains start: sequential, together, apart or random, or a list dealt over the chains [default:
    /// all four; sequential where there are more than 10,000 faces, or no covariances]
    #[arg(long, value_delimiter = ',')]
    pub start: Vec<Start>,
    /// Print a summary as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Options of `kith evaluate`.
#[derive(Debug, Args)]
pub struct EvaluateOptions {
    /// The draws of a fit
    #[arg(long, value_name = "DRAWS.ndjson")]
    pub draws: PathBuf,
    /// The dataset that was learnt from, with `truth`
    #[arg(long, value_name = "DATASET")]
    pub data: PathBuf,
    /// New faces with `truth`; a person who is nowhere in the dataset is a stranger
    #[arg(long, value_name = "DATASET2")]
    pub new: PathBuf,
    /// Weigh each draw by its probability of the new frame
    #[arg(long)]
    pub weighted: bool,
    /// Threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Options of `kith predict`.
#[derive(Debug, Args)]
pub struct PredictOptions {
    /// The dataset that was learnt from
    pub dataset: PathBuf,
    /// Its draws
    #[arg(long, value_name = "DRAWS.ndjson")]
    pub draws: PathBuf,
    /// The new photos; faces of one frame are answered jointly
    #[arg(long, value_name = "DATASET2")]
    pub new: PathBuf,
    /// Weigh each draw by its probability of the new frame: the exact posterior
    #[arg(long)]
    pub weighted: bool,
    /// Threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Print one JSON object per face
    #[arg(long)]
    pub json: bool,
}

/// Options of `kith experiment`.
#[derive(Debug, Args)]
pub struct ExperimentOptions {
    /// Which one
    #[arg(value_enum)]
    pub which: Which,
    /// A dataset with `truth`, which is used to split people and to measure, never by the model
    #[arg(long, value_name = "DATASET")]
    pub data: PathBuf,
    /// A folder for numbers, figures and the page; what is there already of the same run is not done again
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// People who are known (by `truth` or `name`), to learn from what faces look like in general
    #[arg(long, value_name = "DATASET")]
    pub background: Option<PathBuf>,
    /// How many random splits, or simulations
    #[arg(long, value_name = "R", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeats: u32,
    /// Makes the run repeatable; repeat r has the seed S + r
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Settings of the model; every key is optional
    #[arg(long, value_name = "MODEL.toml")]
    pub model: Option<PathBuf>,
    /// The kind of face model; `isotropic` is the paper's, which always runs beside the model asked for
    #[arg(long, value_enum)]
    pub face: Option<Face>,
    /// Run the paper's model with the paper's sampler too: appearance kept, no splits and merges, random
    /// starts
    #[arg(long)]
    pub as_printed: bool,
    /// Independent chains
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=MOST_CHAINS))]
    pub chains: u32,
    /// Sweeps of a fit (discovery: of the offline one, the others in proportion) [default: the paper's]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub sweeps: Option<u64>,
    /// Frames of the discovery [default: 200]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub frames: Option<u32>,
    /// Threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Print DIR/summary.json on stdout too
    #[arg(long)]
    pub json: bool,
}

/// The paper's experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Which {
    /// Has this person been seen before? (section 4.1)
    Unknown,
    /// Who is who on a stream of frames? (section 4.2)
    Discovery,
    /// A few names, and "unknown" for everybody else (section 4.3)
    Naming,
}

/// Kinds of face models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Face {
    /// The paper's: one variance per person
    Isotropic,
    /// A covariance of its own per person
    Full,
}

/// Options of `kith simulate`.
#[derive(Debug, Args)]
pub struct SimulateOptions {
    /// Where the dataset goes: a new folder
    #[arg(long, value_name = "DATASET")]
    pub out: PathBuf,
    /// What is made up
    #[arg(long, value_enum, default_value = "camera")]
    pub kind: Made,
    /// How many people
    #[arg(long, default_value_t = 34, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub people: u32,
    /// How many frames (camera, model) [default: 200, of the model 60]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub frames: Option<u32>,
    /// How many photos of each person (gallery)
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub photos: u32,
    /// Numbers per embedding
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub dimension: u32,
    /// The variance of people's looks, where that of one person's photos is 1
    #[arg(long, default_value_t = 10.0)]
    pub spread: f64,
    /// Photos of real people by `truth`, dealt without replacement in cycles, instead of made-up ones
    #[arg(long, value_name = "DATASET", conflicts_with_all = ["people", "dimension", "spread"])]
    pub data: Option<PathBuf>,
    /// The least number of photos of a person of that dataset
    #[arg(long, default_value_t = 30, requires = "data")]
    pub least: u32,
    /// Settings of the model to draw from (model)
    #[arg(long, value_name = "MODEL.toml")]
    pub model: Option<PathBuf>,
    /// The probability per frame of going to another context (camera)
    #[arg(long, default_value_t = 0.02)]
    pub switch: f64,
    /// The probability per frame of entering the picture (camera)
    #[arg(long, default_value_t = 0.05)]
    pub enter: f64,
    /// The probability per frame of leaving it (camera)
    #[arg(long, default_value_t = 0.2)]
    pub leave: f64,
    /// The share of faces that are named
    #[arg(long, default_value_t = 0.0)]
    pub named: f64,
    /// The share of those names that are other people's
    #[arg(long, default_value_t = 0.0)]
    pub wrong: f64,
    /// Makes the run repeatable
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// What `kith simulate` makes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Made {
    /// A wearer moves between contexts, people walk in and out of the picture (section 4.2)
    Camera,
    /// So many photos of each person, each in a frame of its own
    Gallery,
    /// Identities, contexts and faces drawn from the model itself
    Model,
}

/// Options of `kith completions`.
#[derive(Debug, Args)]
pub struct CompletionsOptions {
    /// The shell that is to read it
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Options of `kith man`.
#[derive(Debug, Args)]
pub struct ManOptions {
    /// Where the pages go; made when it is not there
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

//! The options of `kith bench`.

use clap::{Args, Subcommand};

use crate::args::Face;

/// Options of `kith bench`.
#[derive(Debug, Args)]
pub struct BenchOptions {
    #[command(subcommand)]
    pub question: Question,
}

/// What is measured.
#[derive(Debug, Subcommand)]
pub enum Question {
    /// One sweep over all faces, against a bare matrix product of the same size
    Sweep(SweepOptions),
    /// One new face against many draws of the posterior
    Predict(PredictOptions),
    /// Absorbing a frame early and late in a long stream
    Stream(StreamOptions),
    /// A library of many people: adding, learning, and how long each question takes
    Library(LibraryOptions),
}

/// What every question has in common: how the people are made up, and how the answer is printed.
#[derive(Debug, Args)]
pub struct CrowdOptions {
    /// Numbers per embedding
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u32).range(2..=4096))]
    pub dim: u32,
    /// The variance of people's looks, where that of one person's photos is 1 [default: so that a nearest
    /// neighbour is right about 97 % of the time]
    #[arg(long)]
    pub spread: Option<f64>,
    /// Makes the run repeatable
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Options of `kith bench library`.
#[derive(Debug, Args)]
pub struct LibraryOptions {
    /// Faces
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(10..=10_000_000))]
    pub faces: u32,
    /// People, each with at least one face
    #[arg(long, default_value_t = 150, value_parser = clap::value_parser!(u32).range(5..=1_000_000))]
    pub identities: u32,
    /// Sweeps of each chain [default: until the chains agree, or as many as take some minutes]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub sweeps: Option<u32>,
    /// Threads [default: one per core]
    #[arg(long, value_name = "T")]
    pub threads: Option<u32>,
    #[command(flatten)]
    pub crowd: CrowdOptions,
}

/// Options of `kith bench sweep`.
#[derive(Debug, Args)]
pub struct SweepOptions {
    /// Faces
    #[arg(long, default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(2..=10_000_000))]
    pub faces: u32,
    /// People, each with at least one face
    #[arg(long, default_value_t = 350, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub identities: u32,
    /// The kind of face model
    #[arg(long, value_enum, default_value = "isotropic")]
    pub face: Face,
    /// Threads; with more than one, the same load per thread is measured on one thread too
    #[arg(long, value_name = "T", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: u32,
    /// Chains, dealt over the threads [default: one per thread]
    #[arg(long, value_name = "C", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub chains: Option<u32>,
    /// Parts that each chain is moved in side by side, with splits and merges; 1 is a scan alone
    #[arg(long, value_name = "P", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub colours: u8,
    /// Sweeps before the first that is measured: the chains start at the truth
    #[arg(long, default_value_t = 3)]
    pub warm_up: u32,
    /// Sweeps that are measured; the median counts
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub sweeps: u32,
    #[command(flatten)]
    pub crowd: CrowdOptions,
}

/// Options of `kith bench predict`.
#[derive(Debug, Args)]
pub struct PredictOptions {
    /// Faces that were learnt from
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(2..=10_000_000))]
    pub faces: u32,
    /// People, each with at least one face
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub identities: u32,
    /// Draws of the posterior
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub draws: u32,
    /// New faces that are asked about, one at a time
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    pub queries: u32,
    #[command(flatten)]
    pub crowd: CrowdOptions,
}

/// Options of `kith bench stream`.
#[derive(Debug, Args)]
pub struct StreamOptions {
    /// Frames of one or two faces, about
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    pub frames: u32,
    /// People, all of whom are met again and again
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub identities: u32,
    /// Chains
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub chains: u32,
    /// Frames before the first that is measured [default: ten for everybody, at least a hundredth of them]
    #[arg(long)]
    pub warm_up: Option<u32>,
    /// Sweeps of the chain that sees everything at once, to compare accuracy with; 0 for none
    #[arg(long, default_value_t = 5)]
    pub offline_sweeps: u32,
    #[command(flatten)]
    pub crowd: CrowdOptions,
}

//! Options of the verbs over a library file.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};

use crate::args::MOST_CHAINS;

/// Options of `kith add`.
#[derive(Debug, Args)]
pub struct AddOptions {
    /// The library file; it is made when there is none
    pub lib: PathBuf,
    /// Folders or files of photos; or faces: a folder with embeddings.npy and faces.csv, an .npz file,
    /// OpenFace's files
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Which network the embeddings of a dataset come from; at the first add, and never another later
    #[arg(long, value_name = "NAME")]
    pub embedding: Option<String>,
    /// Where the networks for photos are [default: $KITH_MODELS, then the folder that `kith models list`
    /// shows]
    #[arg(long, value_name = "DIR")]
    pub models: Option<PathBuf>,
    /// What the context of a photo is; kept in the library [default: none]
    #[arg(long)]
    pub context: Option<PhotoContext>,
    /// Photos that are looked at at once [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub threads: Option<u32>,
    /// Go on as new photos appear, until Ctrl-C
    #[arg(long)]
    pub follow: bool,
    /// Embed all faces of photos anew with the networks that are there now; what was said stays
    #[arg(long)]
    pub embed_again: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// What the context of a photo is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PhotoContext {
    /// The place: where photos were taken on three days or more is one, everywhere else is "elsewhere"
    Place,
    /// The folder
    Folder,
    /// The day
    Day,
    /// None
    None,
}

/// Options of `kith learn`.
#[derive(Debug, Args)]
pub struct LearnOptions {
    /// The library file
    pub lib: PathBuf,
    /// Settings of the model, kept in the library; every key is optional
    #[arg(long, value_name = "MODEL.toml")]
    pub model: Option<PathBuf>,
    /// People who are known (by `truth` or `name`), to learn from what faces look like in general
    #[arg(long, value_name = "DATASET")]
    pub background: Option<PathBuf>,
    /// Sweeps of each chain from where it stopped [default: until the chains agree, or as many as take some
    /// minutes]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub sweeps: Option<u64>,
    /// Independent chains; another number than before starts them anew [default: 4]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=MOST_CHAINS))]
    pub chains: Option<u32>,
    /// Makes the first learning repeatable, whatever the number of threads
    #[arg(long)]
    pub seed: Option<u64>,
    /// Threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Options of verbs that only read.
#[derive(Debug, Args)]
pub struct ReadOptions {
    /// The library file
    pub lib: PathBuf,
    /// Print JSON, one object per line
    #[arg(long)]
    pub json: bool,
}

/// Options of `kith people`.
#[derive(Debug, Args)]
pub struct PeopleOptions {
    /// The library file
    pub lib: PathBuf,
    /// Write a page with a row of faces per person
    #[arg(long, value_name = "OUT.html")]
    pub sheet: Option<PathBuf>,
    /// Print JSON, one object per line
    #[arg(long)]
    pub json: bool,
}

/// Options of `kith who`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("whom").required(true))]
pub struct WhoOptions {
    /// The library file
    pub lib: PathBuf,
    /// New faces: a photo, or a dataset
    #[arg(group = "whom", value_name = "PHOTO|DATASET")]
    pub dataset: Option<PathBuf>,
    /// Write a copy of the photo with boxes, names and how sure
    #[arg(long, value_name = "OUT.jpg", requires = "dataset")]
    pub draw: Option<PathBuf>,
    /// Where the networks for photos are [default: $KITH_MODELS, then the folder that `kith models list`
    /// shows]
    #[arg(long, value_name = "DIR")]
    pub models: Option<PathBuf>,
    /// A face of the library
    #[arg(long, value_name = "ID", group = "whom")]
    pub face: Option<String>,
    /// Where the new faces were seen, in place of what the dataset says
    #[arg(long)]
    pub context: Option<String>,
    /// How many names and people to show
    #[arg(long, value_name = "K", default_value_t = 3)]
    pub top: usize,
    /// Print one JSON object per face
    #[arg(long)]
    pub json: bool,
}

/// Options of `kith serve`.
#[derive(Debug, Args)]
pub struct ServeOptions {
    /// The library file
    pub lib: PathBuf,
    #[command(flatten)]
    pub page: PageOptions,
    /// Only show: nothing can be said, and nothing is learnt
    #[arg(long)]
    pub read_only: bool,
    /// Where the networks for photos are [default: $KITH_MODELS, then the folder that `kith models list`
    /// shows]
    #[arg(long, value_name = "DIR")]
    pub models: Option<PathBuf>,
}

/// Where the page is.
#[derive(Debug, Args)]
pub struct PageOptions {
    /// The port on the loopback address; 0 takes any that is free
    #[arg(long, default_value_t = 4848)]
    pub port: u16,
    /// Open the page in the browser
    #[arg(long)]
    pub open: bool,
    /// Complete names from an address book (.vcf), or from a file with one name on each line; it is not
    /// stored
    #[arg(long, value_name = "FILE")]
    pub names: Option<PathBuf>,
}

/// Options of `kith name`.
#[derive(Debug, Args)]
pub struct NameOptions {
    /// The library file
    pub lib: PathBuf,
    /// FACE NAME, or with --person only NAME
    #[arg(num_args = 1..=2, required = true, value_names = ["FACE", "NAME"])]
    pub words: Vec<String>,
    /// A person, by the id that `kith people` shows, in place of a face
    #[arg(long, value_name = "P")]
    pub person: Option<i64>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Options of `kith not`.
#[derive(Debug, Args)]
pub struct NotOptions {
    /// The library file
    pub lib: PathBuf,
    /// A face
    pub face: String,
    /// The name that it does not have
    pub name: String,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Options of `kith same` and `kith different`.
#[derive(Debug, Args)]
pub struct PairOptions {
    /// The library file
    pub lib: PathBuf,
    /// A face
    pub face: String,
    /// Another
    pub other: String,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Options of `kith ignore`.
#[derive(Debug, Args)]
pub struct IgnoreOptions {
    /// The library file
    pub lib: PathBuf,
    /// A face that is nobody's: a statue, a poster
    pub face: String,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Options of `kith log`.
#[derive(Debug, Args)]
pub struct LogOptions {
    /// The library file
    pub lib: PathBuf,
    /// Only what the model takes for a mistake
    #[arg(long)]
    pub doubtful: bool,
    /// Print one JSON object per entry
    #[arg(long)]
    pub json: bool,
}

/// Options of `kith undo`.
#[derive(Debug, Args)]
pub struct UndoOptions {
    /// The library file
    pub lib: PathBuf,
    /// How many of the last acts
    #[arg(default_value_t = 1)]
    pub n: usize,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Options of `kith ask`.
#[derive(Debug, Args)]
pub struct AskOptions {
    /// The library file
    pub lib: PathBuf,
    /// How many questions
    #[arg(long, default_value_t = 1)]
    pub n: usize,
    /// Ask one after the other and take answers: y, n, a name, s (skip), u (undo), q (quit)
    #[arg(long, conflicts_with = "json")]
    pub interactive: bool,
    /// Print one JSON object per question
    #[arg(long)]
    pub json: bool,
}

/// Options of `kith watch`.
#[derive(Debug, Args)]
pub struct WatchOptions {
    /// The library file; it is made when there is none
    pub lib: PathBuf,
    /// Which network the embeddings come from
    #[arg(long, value_name = "NAME")]
    pub embedding: Option<String>,
    /// Threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
}

/// Options of `kith forget`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("whom").required(true))]
pub struct ForgetOptions {
    /// The library file
    pub lib: PathBuf,
    /// All faces of a person
    #[arg(long, value_name = "P", group = "whom")]
    pub person: Option<i64>,
    /// One face
    #[arg(long, value_name = "ID", group = "whom")]
    pub face: Option<String>,
    /// Everybody of that name, and the name
    #[arg(long, value_name = "NAME", group = "whom")]
    pub name: Option<String>,
    /// Only say what would be removed
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// What can be exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// Draws of the posterior, as `kith fit` writes them
    Draws,
    /// People and their faces
    People,
    /// What people said, as `kith import` reads it
    Evidence,
    /// Faces, as every verb reads them
    Dataset,
    /// Names, into XMP sidecars beside the photos
    Xmp,
}

/// How it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Comma-separated values
    Csv,
    /// One JSON object per line
    Ndjson,
    /// Typed columns, in a file
    Parquet,
}

/// Options of `kith export`.
#[derive(Debug, Args)]
pub struct ExportOptions {
    /// The library file
    pub lib: PathBuf,
    /// What
    pub what: What,
    /// How; without parquet draws are always ndjson, and a dataset is a folder
    #[arg(long, default_value = "ndjson")]
    pub format: Format,
    /// Where to; on the screen without it (draws, datasets and parquet need it)
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// xmp: also names that no person said and that are at least this sure, marked as such
    #[arg(long, value_name = "P")]
    pub min_p: Option<f64>,
    /// xmp: only say what would change
    #[arg(long)]
    pub dry_run: bool,
    /// xmp: give the sidecars back as they were before
    #[arg(long)]
    pub undo: bool,
}

/// Options of `kith import`.
#[derive(Debug, Args)]
pub struct ImportOptions {
    /// The library file
    pub lib: PathBuf,
    /// Evidence that `kith export LIB evidence` has written (.csv, otherwise NDJSON)
    pub file: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

//! `kith models`: the networks that find and embed faces, as files on this machine.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use clap::{Args, Subcommand};
use kith_vision::models::{self, Found, PUBLISHED, Published, Role, Settings};
use serde_json::json;

use crate::Outcome;
use crate::progress::note;

/// Options of `kith models`.
#[derive(Debug, Args)]
pub struct ModelsOptions {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Show the networks that are there
    List {
        /// Where to look [default: $KITH_MODELS, then the folder of the platform]
        #[arg(long, value_name = "DIR")]
        models: Option<PathBuf>,
        /// Print one JSON object per file
        #[arg(long)]
        json: bool,
    },
    /// Fetch a detector and an embedder from their makers, once; needs curl
    Get {
        /// Where to put them [default: $KITH_MODELS, then the folder of the platform]
        #[arg(long, value_name = "DIR")]
        models: Option<PathBuf>,
        /// Another address that has the same files
        #[arg(long, value_name = "URL")]
        from: Option<String>,
    },
    /// Take in an embedder of one's own
    Add {
        /// An ONNX file
        network: PathBuf,
        /// Its settings: name, size, channels, mean, scale
        settings: PathBuf,
        /// Where to put it [default: $KITH_MODELS, then the folder of the platform]
        #[arg(long, value_name = "DIR")]
        models: Option<PathBuf>,
    },
}

/// Runs the verb.
pub fn run(options: &ModelsOptions) -> anyhow::Result<Outcome> {
    match &options.act {
        Act::List { models, json } => list(models.as_deref(), *json),
        Act::Get { models, from } => {
            let folder = folder(models.as_deref())?;
            for published in &PUBLISHED[..2] {
                get(published, &folder, from.as_deref())?;
            }
            Ok(Outcome::Done)
        }
        Act::Add { network, settings, models } => add(network, settings, &folder(models.as_deref())?),
    }
}

fn folder(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    let folder = models::folders(given).into_iter().next();
    let folder = folder.context("found no folder for data on this platform, wanted --models DIR")?;
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    Ok(folder)
}

fn list(given: Option<&Path>, is_json: bool) -> anyhow::Result<Outcome> {
    let mut out = crate::progress::stdout();
    let mut n = 0;
    for folder in models::folders(given) {
        if !is_json {
            writeln!(out, "{}", folder.display())?;
        }
        for found in models::list(&folder)? {
            n += 1;
            let Found { path, digest, role, published } = &found;
            let (role, name, licence) = match (role, published) {
                (Role::Detector, Some(known)) => {
                    ("detector", known.name.to_owned(), known.licence.to_owned())
                }
                (Role::Detector, None) => ("detector", "YuNet".to_owned(), "unknown".to_owned()),
                (Role::Embedder(settings), _) => {
                    ("embedder", settings.name.clone(), settings.licence.clone())
                }
                (Role::Unknown(reason), _) => ("unknown", reason.clone(), String::new()),
            };
            if is_json {
                let object = json!({
                    "file": path, "role": role, "name": name, "licence": licence, "sha256": digest,
                });
                writeln!(out, "{object}")?;
            } else {
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                writeln!(out, "  {file}: {role}, {name}, licence {licence}, sha256 {digest}")?;
            }
        }
    }
    if n == 0 && !is_json {
        writeln!(out, "found no networks; `kith models get` fetches some, `kith models add` takes your own")?;
    }
    Ok(if n == 0 { Outcome::Negative } else { Outcome::Done })
}

/// Fetches a file, goes on where an earlier try stopped, and gives it its name when its digest is right.
fn get(published: &Published, folder: &Path, from: Option<&str>) -> anyhow::Result<()> {
    let Published { file, digest, licence, .. } = *published;
    let (path, partial) = (folder.join(file), folder.join(format!("{file}.partial")));
    if digest_of(&path).is_some_and(|found| found == digest) {
        note(format!("{}: is there already", path.display()));
        return Ok(());
    }
    let address = match from {
        Some(base) => format!("{}/{file}", base.trim_end_matches('/')),
        None => published.address.expect("the first two have one").to_owned(),
    };
    note(format!("{address} ({licence}, {:.1} MB)", published.size as f64 / 1e6));
    // What is there in part is continued; curl takes the proxy from the environment.
    let curl = Command::new("curl")
        .args(["--fail", "--location", "--silent", "--show-error", "--continue-at", "-", "--output"])
        .arg(&partial)
        .arg(&address)
        .status();
    let by_hand = || format!("fetch {address} yourself and put it at {} (sha256 {digest})", path.display());
    match curl {
        Err(error) => bail!("found no curl ({error}), wanted it to fetch; or {}", by_hand()),
        Ok(status) if !status.success() => {
            bail!("found that curl failed ({status}), wanted {file}; run it again to go on, or {}", by_hand())
        }
        Ok(_) => {}
    }
    let found = digest_of(&partial).with_context(|| partial.display().to_string())?;
    if found != digest {
        std::fs::remove_file(&partial)?;
        bail!("{address}: found sha256 {found}, wanted {digest}; it was thrown away");
    }
    std::fs::rename(&partial, &path).with_context(|| path.display().to_string())?;
    note(format!("{}: sha256 {digest}", path.display()));
    Ok(())
}

fn digest_of(path: &Path) -> Option<String> {
    std::fs::read(path).ok().map(|bytes| models::digest(&bytes))
}

/// Takes an embedder and its settings over, when they fit.
fn add(network: &Path, settings: &Path, folder: &Path) -> anyhow::Result<Outcome> {
    let text = std::fs::read_to_string(settings).with_context(|| settings.display().to_string())?;
    Settings::parse(settings, &text)?;
    let name = network.file_name().context("found a folder, wanted an ONNX file")?;
    // Tried in a folder of its own first.
    let trial = tempfile::tempdir_in(folder).with_context(|| folder.display().to_string())?;
    let copy = trial.path().join(name);
    std::fs::copy(network, &copy).with_context(|| network.display().to_string())?;
    std::fs::write(copy.with_extension("toml"), &text)?;
    let found = models::list(trial.path())?;
    let role = found.first().map(|found| &found.role);
    match role {
        Some(Role::Embedder(_)) => {}
        Some(Role::Detector) => bail!("{}: found a detector, wanted an embedder", network.display()),
        Some(Role::Unknown(reason)) => bail!("{}: {reason}", network.display()),
        None => bail!("{}: found another ending, wanted .onnx", network.display()),
    }
    let place = folder.join(name);
    ensure!(!place.exists(), "{}: found a network of that name, wanted another name", place.display());
    std::fs::rename(copy.with_extension("toml"), place.with_extension("toml"))?;
    std::fs::rename(&copy, &place)?;
    note(format!("{}: taken in", place.display()));
    Ok(Outcome::Done)
}

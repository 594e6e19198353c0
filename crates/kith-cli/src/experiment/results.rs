//! The folder of an experiment: pieces that are done, then summary, tables, figures and page.

use std::fs;
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use kith_lab::experiment::Arm;
use kith_lab::report::Findings;
use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::args::ExperimentOptions;

/// FNV-1a: the same on every machine and in every version, which the standard hasher does not promise.
#[derive(Clone)]
pub struct Digest(u64);

/// Where results go.
pub struct Folder {
    path: PathBuf,
    pieces: PathBuf,
}

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Digest {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Folder {
    /// Makes it where it is not there. Pieces of other data, models or settings stay apart under another
    /// digest.
    pub fn open(path: &Path, digest: u64) -> anyhow::Result<Self> {
        ensure!(!path.is_file(), "{}: found a file, wanted a folder for the results", path.display());
        let pieces = path.join("pieces").join(format!("{digest:016x}"));
        fs::create_dir_all(&pieces).with_context(|| format!("{}: cannot be created", pieces.display()))?;
        Ok(Self { path: path.to_owned(), pieces })
    }

    /// A piece that is done; one that cannot be read is done again.
    pub fn piece<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        let bytes = fs::read(self.pieces.join(format!("{key}.json"))).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Keeps a piece.
    pub fn keep(&self, key: &str, outcome: &impl Serialize) -> anyhow::Result<()> {
        whole(&self.pieces.join(format!("{key}.json")), &serde_json::to_vec(outcome)?)
    }

    /// Writes everything that was found; the summary last, so that it says that the rest is there.
    pub fn write(
        &self,
        findings: &Findings,
        outcomes: &impl Serialize,
        settings: &[(String, String)],
    ) -> anyhow::Result<()> {
        let at = |name: String| self.path.join(name);
        findings.figures.par_iter().try_for_each(|figure| {
            whole(&at(format!("{}.svg", figure.name)), figure.drawing.to_svg().as_bytes())?;
            whole(&at(format!("{}.png", figure.name)), &figure.drawing.to_png())
        })?;
        for table in findings.tables.iter().chain([&findings.comparison]) {
            whole(&at(format!("{}.csv", table.name)), table.to_csv().as_bytes())?;
        }
        whole(&at("outcomes.json".to_owned()), &serde_json::to_vec(outcomes)?)?;
        whole(&at("report.html".to_owned()), findings.page(settings).as_bytes())?;
        let summary = serde_json::to_string_pretty(&findings.summary)? + "\n";
        whole(&at("summary.json".to_owned()), summary.as_bytes())
    }
}

fn whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    kith_io::atomic::replace(path, bytes).with_context(|| format!("{}: cannot be written", path.display()))
}

/// What the page says of how it was made.
pub fn settings(
    options: &ExperimentOptions,
    settings: &Value,
    arms: &[Arm<'_>],
    took: Duration,
) -> Vec<(String, String)> {
    let shown =
        |path: &Option<PathBuf>| path.as_ref().map_or("none".to_owned(), |path| path.display().to_string());
    let mut words = vec![
        ("kith".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ("dataset".to_owned(), options.data.display().to_string()),
        ("background".to_owned(), shown(&options.background)),
        ("model file".to_owned(), shown(&options.model)),
        ("models".to_owned(), arms.iter().map(|arm| &*arm.title).collect::<Vec<_>>().join(", ")),
        ("repeats".to_owned(), options.repeats.to_string()),
        ("threads".to_owned(), rayon::current_num_threads().to_string()),
        ("this run took".to_owned(), format!("{:.0} s", took.as_secs_f64())),
    ];
    if let Value::Object(settings) = settings {
        words.extend(settings.iter().map(|(key, value)| (key.clone(), value.to_string())));
    }
    words
}

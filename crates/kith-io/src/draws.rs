//! DRAWS.ndjson: a header, then one JSON object per kept draw.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use kith::chain::Draw;
use kith::data::Dataset;
use kith::ids::LabelId;
use kith::model::face::COPY;
use kith::model::{ContextMode, Model};
use kith::target::Target;
use serde::{Deserialize, Serialize};

use crate::IoError;
use crate::atomic::WholeFile;
use crate::model_file::{self, to_tree};
use crate::parquet_table::{self, Cells, Column};

/// What is wrong with a file of draws.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DrawsError {
    /// The file system refused.
    #[error("{}: cannot be {what}: {source}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What was tried.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// A line is not what it should be.
    #[error("{} line {line}: {message}", file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// Counted from 1; the header is line 1.
        line: usize,
        /// What was found and what was wanted.
        message: String,
    },
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    kith: String,
    model: serde_json::Value,
    n_faces: usize,
    dimension: usize,
    names: Vec<String>,
    contexts: Vec<String>,
}

/// Any other line: a draw with the names of names and contexts; contexts without one are numbered.
type Line = Draw<String, String>;

impl Header {
    fn of(target: &Target) -> Self {
        let (model, data) = target.parts();
        Self {
            kith: env!("CARGO_PKG_VERSION").to_owned(),
            model: to_tree(model),
            n_faces: data.n_faces(),
            dimension: data.dimension(),
            names: data.names().to_vec(),
            contexts: named_contexts(model, data),
        }
    }
}

fn to_line(draw: &Draw, names: &[String], contexts: &[String]) -> Line {
    let context = |&number: &u32| {
        let named = contexts.get(number as usize).cloned();
        Ok::<_, Infallible>(named.unwrap_or_else(|| number.to_string()))
    };
    let Ok(line) = draw.known_by(context, |label| Ok(names[label.index()].clone()));
    line
}

/// Writes draws; the file appears when it is complete (see [`crate::atomic`]), in the place of an older one.
#[derive(Debug)]
pub struct DrawsWriter {
    out: WholeFile,
    path: PathBuf,
    names: Vec<String>,
    contexts: Vec<String>,
}

impl DrawsWriter {
    /// Begins a file with its header.
    pub fn create(path: &Path, target: &Target) -> Result<Self, DrawsError> {
        let out = WholeFile::replace(path).map_err(|source| failed(path, "created", source))?;
        let (names, contexts) =
            (target.data().names().to_vec(), named_contexts(target.model(), target.data()));
        let mut writer = Self { out, path: path.to_owned(), names, contexts };
        writer.write_line(&Header::of(target))?;
        Ok(writer)
    }

    /// Adds a draw.
    pub fn write(&mut self, draw: &Draw) -> Result<(), DrawsError> {
        self.write_line(&to_line(draw, &self.names, &self.contexts))
    }

    fn write_line(&mut self, line: &impl Serialize) -> Result<(), DrawsError> {
        let written = serde_json::to_writer(&mut self.out, line).map_err(io::Error::from);
        written.and_then(|()| self.out.write_all(b"\n")).map_err(|e| failed(&self.path, "written", e))
    }

    /// Hands what has been written so far to the file system.
    pub fn flush(&mut self) -> Result<(), DrawsError> {
        self.out.flush().map_err(|source| failed(&self.path, "written", source))
    }

    /// Puts the file in its place.
    pub fn finish(self) -> Result<(), DrawsError> {
        self.out.finish().map_err(|source| failed(&self.path, "written", source))
    }
}

/// Writes draws as a new Parquet file: a row per draw, columns as in DRAWS.ndjson, the header in its
/// metadata.
pub fn write_parquet(path: &Path, target: &Target, draws: &[Draw]) -> Result<(), IoError> {
    let (model, data) = target.parts();
    let (names, contexts) = (data.names(), named_contexts(model, data));
    let lines: Vec<Line> = draws.iter().map(|draw| to_line(draw, names, &contexts)).collect();
    let integers = |of: &dyn Fn(&Line) -> Vec<i64>| Cells::Integers(lines.iter().map(of).collect());
    let finite = |value: f64| value.is_finite().then_some(value);
    let real = |of: fn(&Line) -> f64| Cells::Real(lines.iter().map(|line| finite(of(line))).collect());
    let reals = |of: fn(&Line) -> &[f64]| Cells::Reals(lines.iter().map(of).collect());
    let texts = |of: fn(&Line) -> Vec<Option<&str>>| Cells::Texts(lines.iter().map(of).collect());
    let columns = [
        ("chain", Cells::Integer(lines.iter().map(|line| Some(line.chain.into())).collect())),
        ("sweep", Cells::Integer(lines.iter().map(|line| Some(line.sweep as i64)).collect())),
        ("identities", integers(&|line| line.identities.iter().map(|&identity| identity.into()).collect())),
        ("scales", integers(&|line| line.scales.iter().map(|&scale| scale.into()).collect())),
        ("contexts", texts(|line| line.contexts.iter().map(|context| Some(context.as_str())).collect())),
        ("names", texts(|line| line.names.iter().map(Option::as_deref).collect())),
        ("people", integers(&|line| line.people.iter().map(|&person| person.into()).collect())),
        ("weights", reals(|line| &line.globals.weights)),
        ("unseen", real(|line| line.globals.unseen)),
        ("ln_joint", real(|line| line.globals.ln_joint)),
        ("global_concentration", real(|line| line.globals.global_concentration)),
        ("local_concentration", reals(|line| &line.globals.local_concentration)),
        ("context_concentration", real(|line| line.globals.context_concentration)),
        ("name_weights", reals(|line| &line.globals.name_weights)),
        ("name_concentration", real(|line| line.globals.name_concentration)),
        ("error_rate", real(|line| line.globals.error_rate)),
    ];
    let columns = columns.map(|(name, cells)| Column::new(name, cells));
    let header = serde_json::to_string(&Header::of(target)).expect("a header is JSON");
    parquet_table::write(path, &columns, Some(&header))
}

/// Reads draws of a dataset with the model they were made under.
pub fn read(path: &Path, data: &Dataset) -> Result<(Model, Vec<Draw>), DrawsError> {
    let file = File::open(path).map_err(|source| failed(path, "read", source))?;
    let bad = |line: usize, message: String| DrawsError::Line { file: path.to_owned(), line, message };
    let mut lines = BufReader::new(file).lines();
    let first = match lines.next() {
        Some(line) => line.map_err(|source| failed(path, "read", source))?,
        None => return Err(bad(1, "found an empty file, wanted the header of draws".to_owned())),
    };
    let header: Header = serde_json::from_str(&first)
        .map_err(|error| bad(1, format!("found something else ({error}), wanted the header of draws")))?;
    check_header(&header, data).map_err(|message| bad(1, message))?;
    let settings = model_file::from_tree(&header.model).map_err(|message| bad(1, message))?;
    if settings.prior.is_none() {
        return Err(bad(1, "found no face prior in the model, wanted every value resolved".to_owned()));
    }
    let model = settings.resolve(data, None, &mut |_| ()).map_err(|error| bad(1, error.to_string()))?;
    model.check(data).map_err(|error| bad(1, error.to_string()))?;
    let contexts = named_contexts(&model, data);
    let mut draws = Vec::new();
    for (number, line) in lines.enumerate() {
        let line = line.map_err(|source| failed(path, "read", source))?;
        let parsed: Line = serde_json::from_str(&line)
            .map_err(|error| bad(number + 2, format!("found something else ({error}), wanted a draw")))?;
        let draw = to_draw(&parsed, data, &model, &contexts).map_err(|message| bad(number + 2, message))?;
        draws.push(draw);
    }
    if draws.is_empty() {
        return Err(bad(2, "found no draw, wanted at least one".to_owned()));
    }
    Ok((model, draws))
}

fn check_header(header: &Header, data: &Dataset) -> Result<(), String> {
    if header.n_faces != data.n_faces() || header.dimension != data.dimension() {
        return Err(format!(
            "found draws of {} faces in {} dimensions, wanted those of this dataset, {} in {}",
            header.n_faces,
            header.dimension,
            data.n_faces(),
            data.dimension()
        ));
    }
    if header.names != data.names() {
        let found = header.names.join(", ");
        let wanted = data.names().join(", ");
        return Err(format!(
            "found draws with the names [{found}], wanted those of this dataset, [{wanted}]"
        ));
    }
    Ok(())
}

fn to_draw(line: &Line, data: &Dataset, model: &Model, contexts: &[String]) -> Result<Draw, String> {
    check_line(line, data, model)?;
    let number = |context: &String| {
        let named = contexts.iter().position(|known| known == context).map(|number| number as u32);
        let found = if contexts.is_empty() { context.parse().ok() } else { named };
        let is_known = |number: &u32| (*number as usize) < line.globals.local_concentration.len();
        found.filter(is_known).ok_or_else(|| format!("found the context \"{context}\", wanted a known one"))
    };
    let label = |name: &String| {
        let found = data.names().iter().position(|known| known == name);
        found.map(LabelId::new).ok_or_else(|| format!("found the name \"{name}\", wanted a known one"))
    };
    line.known_by(number, label)
}

fn check_line(line: &Line, data: &Dataset, model: &Model) -> Result<(), String> {
    let expect = |what: &str, found: usize, wanted: usize| {
        if found == wanted { Ok(()) } else { Err(format!("found {found} {what}, wanted {wanted}")) }
    };
    let (globals, n_identities) = (&line.globals, line.n_identities());
    expect("identities", line.identities.len(), data.n_faces())?;
    let n_scales = model.face.n_scales();
    if n_scales > 1 || !line.scales.is_empty() {
        expect("scales", line.scales.len(), data.n_faces())?;
    }
    let is_bad = |scale: &&u8| usize::from(**scale) >= n_scales && **scale < COPY;
    if let Some(bad) = line.scales.iter().find(is_bad) {
        return Err(format!("found scale {bad}, wanted a number below {n_scales}"));
    }
    expect("contexts", line.contexts.len(), data.n_frames())?;
    expect("names", line.names.len(), n_identities)?;
    expect("name_weights", globals.name_weights.len(), data.names().len() + 1)?;
    if let Some(bad) = line.identities.iter().find(|&&identity| identity as usize >= n_identities) {
        return Err(format!("found identity {bad}, wanted a number below {n_identities}"));
    }
    if !line.people.is_empty() {
        expect("people", line.people.len(), n_identities)?;
    }
    // A look is of somebody who is nobody's look.
    let is_root = |&person: &u32| line.people.get(person as usize) == Some(&person);
    if let Some(bad) = line.people.iter().find(|person| !is_root(person)) {
        return Err(format!("found a look of identity {bad}, wanted one that is its own person"));
    }
    let positive = [globals.global_concentration, globals.context_concentration, globals.name_concentration];
    let positive = positive.iter().chain(&globals.local_concentration);
    if let Some(bad) = positive.into_iter().find(|value| value.is_nan() || **value <= 0.0) {
        return Err(format!("found a concentration of {bad}, wanted a positive number"));
    }
    let shares =
        globals.weights.iter().chain(&globals.name_weights).chain([&globals.unseen, &globals.error_rate]);
    if let Some(bad) = shares.into_iter().find(|value| !(0.0..=1.0 + 1e-9).contains(*value)) {
        return Err(format!("found a weight of {bad}, wanted a number from 0 to 1"));
    }
    Ok(())
}

/// The contexts that have names under this model; all others are numbered.
fn named_contexts(model: &Model, data: &Dataset) -> Vec<String> {
    match model.context.mode {
        ContextMode::Given => data.contexts().to_vec(),
        _ => Vec::new(),
    }
}

fn failed(file: &Path, what: &'static str, source: io::Error) -> DrawsError {
    DrawsError::File { file: file.to_owned(), what, source }
}

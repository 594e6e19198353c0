//! `kith export`: draws, people, evidence or the faces themselves, in forms that others read.

use std::collections::BTreeMap;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, bail, ensure};
use kith::chain::Draw;
use kith::data::{Dataset, NewFace};
use kith::ids::LabelId;
use kith::model::ContextMode;
use kith::target::Target;
use kith_io::atomic::WholeFile;
use kith_io::dataset::{self, FaceTable};
use kith_io::draws::DrawsWriter;
use kith_io::parquet_table::{self, Cells, Column};
use kith_store::Library;
use serde_json::{Value, json};

use super::args::{ExportOptions, Format, What};
use super::{believed, log, people};
use crate::Outcome;
use crate::progress::{count, note, stdout};

/// Runs the verb.
pub fn run(options: &ExportOptions) -> anyhow::Result<Outcome> {
    if options.what == What::Xmp {
        return super::sidecars::run(&Library::open(&options.lib)?, options);
    }
    ensure!(
        options.min_p.is_none() && !options.dry_run && !options.undo,
        "found --min-p, --dry-run or --undo, wanted them with xmp alone"
    );
    Library::read(&options.lib, |library| export(library, options))
}

fn export(library: &Library, options: &ExportOptions) -> anyhow::Result<Outcome> {
    match options.what {
        What::Xmp => unreachable!("it was seen to"),
        What::Draws => draws(library, options),
        What::Dataset => faces(library, options),
        What::People => {
            believed(library)?;
            let people = library.people()?;
            let columns = ["person", "name", "p", "standing", "face", "face_p"];
            let rows = people.iter().flat_map(|person| {
                person.faces.iter().map(move |face| {
                    json!({
                        "person": person.id, "name": person.name, "p": person.name_p,
                        "standing": person.standing(), "face": face.key, "face_p": face.p,
                    })
                })
            });
            match options.format {
                Format::Csv => csv(options, &columns, rows),
                Format::Ndjson => ndjson(options, people.iter().map(people::to_json)),
                Format::Parquet => parquet(options, &columns, &rows.collect::<Vec<Value>>()),
            }
        }
        What::Evidence => {
            let entries = library.log()?;
            let statements = entries.iter().filter(|entry| log::is_statement(entry));
            let rows: Vec<Value> =
                statements.map(|entry| log::to_json(library, entry)).collect::<anyhow::Result<_>>()?;
            match options.format {
                Format::Csv => csv(options, &super::import::COLUMNS, rows.into_iter()),
                Format::Ndjson => ndjson(options, rows.into_iter()),
                Format::Parquet => parquet(options, &super::import::COLUMNS, &rows),
            }
        }
    }
}

fn wanted<'o>(options: &'o ExportOptions, what: &str) -> anyhow::Result<&'o Path> {
    let Some(path) = &options.out else { bail!("--out: missing, wanted {what}") };
    anyhow::ensure!(!path.exists(), "{}: found something there, wanted {what}", path.display());
    Ok(path)
}

/// Writes to stdout, or to a new file that appears when it is complete.
fn write(
    options: &ExportOptions,
    fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<Outcome> {
    if options.out.is_none() {
        // In JSON what is shown is the same text; a CSV is as it is, unless somebody looks at it.
        let is_shown = options.format == Format::Ndjson || std::io::stdout().is_terminal();
        let out: Box<dyn Write> =
            if is_shown { Box::new(stdout()) } else { Box::new(std::io::stdout().lock()) };
        let mut out = BufWriter::new(out);
        fill(&mut out)?;
        out.flush()?;
    } else {
        let path = wanted(options, "a new file")?;
        let failed = || format!("{}: cannot be written", path.display());
        let mut out = WholeFile::create(path).with_context(failed)?;
        fill(&mut out).with_context(failed)?;
        out.finish().with_context(failed)?;
    }
    Ok(Outcome::Done)
}

fn ndjson(options: &ExportOptions, mut objects: impl Iterator<Item = Value>) -> anyhow::Result<Outcome> {
    write(options, |out| Ok(objects.try_for_each(|object| writeln!(out, "{object}"))?))
}

fn csv(
    options: &ExportOptions,
    columns: &[&str],
    objects: impl Iterator<Item = Value>,
) -> anyhow::Result<Outcome> {
    write(options, |out| {
        let mut out = ::csv::Writer::from_writer(out);
        out.write_record(columns)?;
        for object in objects {
            let cell = |column: &&str| match &object[*column] {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            out.write_record(columns.iter().map(cell))?;
        }
        Ok(out.flush()?)
    })
}

fn parquet(options: &ExportOptions, columns: &[&str], objects: &[Value]) -> anyhow::Result<Outcome> {
    let path = wanted(options, "a new file")?;
    let column = |&name: &&str| {
        let cells = objects.iter().map(|object| &object[name]);
        let cells = match name {
            "id" | "act" | "undoes" | "person" => Cells::Integer(cells.map(Value::as_i64).collect()),
            "at" | "p" | "face_p" => Cells::Real(cells.map(Value::as_f64).collect()),
            "stands" => Cells::Flag(cells.map(Value::as_bool).collect()),
            _ => Cells::Text(cells.map(Value::as_str).collect()),
        };
        Column::new(name, cells)
    };
    let columns: Vec<Column<'_>> = columns.iter().map(column).collect();
    parquet_table::write(path, &columns, None)?;
    note(format!("{}: {}", path.display(), count(objects.len(), "row")));
    Ok(Outcome::Done)
}

/// The faces as a dataset, with the names that stand; ignored faces are left out.
fn faces(library: &Library, options: &ExportOptions) -> anyhow::Result<Outcome> {
    let is_parquet = options.format == Format::Parquet;
    let path = wanted(options, if is_parquet { "a new file" } else { "a new folder" })?;
    let snapshot = library.snapshot()?;
    library.take_notes().into_iter().for_each(note);
    let mut table = FaceTable::new(in_order(&snapshot.data)?);
    table.faces = snapshot.rows.keys.to_vec();
    let columns = library.columns(&snapshot.rows)?;
    table.frames = columns.frames;
    table.truth = columns.truth;
    table.other = columns.other;
    table.other.extend(dataset::said_by(&table.dataset));
    match options.format {
        Format::Parquet => dataset::write_parquet(path, &table)?,
        _ => dataset::write(path, &table)?,
    }
    note(format!("{}: {}", path.display(), count(snapshot.rows.faces.len(), "face")));
    Ok(Outcome::Done)
}

/// Draws for the exported dataset, as `kith fit` writes them.
fn draws(library: &Library, options: &ExportOptions) -> anyhow::Result<Outcome> {
    let path = wanted(options, "a new file")?;
    let belief = believed(library)?.belief;
    let target = Target::new(belief.target().model().clone(), in_order(belief.target().data())?)?;
    let draws: Vec<Draw> =
        belief.draws().iter().map(|draw| renumbered(draw, belief.target(), target.data())).collect();
    if options.format == Format::Parquet {
        kith_io::draws::write_parquet(path, &target, &draws)?;
    } else {
        let mut writer = DrawsWriter::create(path, &target)?;
        draws.iter().try_for_each(|draw| writer.write(draw))?;
        writer.finish()?;
    }
    note(format!("{}: {}", path.display(), count(belief.draws().len(), "draw")));
    Ok(Outcome::Done)
}

/// The faces as a dataset reads them back: names and contexts by first appearance.
fn in_order(data: &Dataset) -> anyhow::Result<Dataset> {
    let mut out = Dataset::empty(data.dimension())?;
    for frame in data.frames() {
        let context = data.given_context(frame).map(|context| data.contexts()[context.index()].as_str());
        let name = |face| data.given_name(face).map(|label| data.names()[label.index()].as_str());
        let faces: Vec<NewFace<'_>> = data
            .faces_in(frame)
            .iter()
            .map(|&face| NewFace { embedding: data.embedding(face), name: name(face) })
            .collect();
        out.push_frame(context, &faces)?;
    }
    for face in data.faces() {
        if let Some(label) = data.label(face).filter(|label| label.is_word) {
            out.say_name(face, &data.names()[label.name.index()]);
        }
    }
    Ok(out)
}

/// The number of each of some texts.
fn numbers(texts: &[String]) -> BTreeMap<&str, usize> {
    texts.iter().enumerate().map(|(number, text)| (text.as_str(), number)).collect()
}

/// A draw with the numbers of names and contexts of the dataset; a name that no face was given is unknown
/// there.
fn renumbered(draw: &Draw, target: &Target, data: &Dataset) -> Draw {
    let old = target.data();
    let places = numbers(data.names());
    let place = |label: usize| places.get(old.names()[label].as_str()).copied();
    let mut renumbered = draw.clone();
    renumbered.names =
        draw.names.iter().map(|name| name.and_then(|label| place(label.index())).map(LabelId::new)).collect();
    let mut weights = vec![0.0; data.names().len() + 1];
    for (label, weight) in draw.globals.name_weights.iter().enumerate() {
        let known = if label < old.names().len() { place(label) } else { None };
        weights[known.unwrap_or(data.names().len())] += weight;
    }
    renumbered.globals.name_weights = weights;
    if target.model().context.mode == ContextMode::Given && !data.contexts().is_empty() {
        let places = numbers(data.contexts());
        let place = |context: u32| places.get(old.contexts()[context as usize].as_str()).copied();
        renumbered.contexts =
            draw.contexts.iter().map(|&context| place(context).unwrap_or_default() as u32).collect();
        let before = numbers(old.contexts());
        let of = |name: &String| {
            let number = before.get(name.as_str()).copied().unwrap_or_default();
            draw.globals.local_concentration.get(number).copied().unwrap_or(1.0)
        };
        renumbered.globals.local_concentration = data.contexts().iter().map(of).collect();
    }
    renumbered
}

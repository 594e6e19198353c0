//! `kith import`: what people said about the same faces in another library, even one of another network.

use std::io::{BufRead, BufReader, Write};

use anyhow::{Context, bail};
use kith_store::{Kind, Library};
use serde_json::{Map, Value, json};

use super::args::ImportOptions;
use crate::Outcome;
use crate::lines::lines;

/// The columns of exported evidence.
pub const COLUMNS: [&str; 10] =
    ["id", "act", "at", "by", "kind", "face", "other", "name", "undoes", "stands"];

/// Runs the verb.
pub fn run(options: &ImportOptions) -> anyhow::Result<Outcome> {
    let library = Library::open(&options.lib)?;
    let place = options.file.display().to_string();
    let is_csv = options.file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
    let file = std::fs::File::open(&options.file).with_context(|| place.clone())?;
    let statements = statements(BufReader::new(file), is_csv, &place)?;
    let known = statements.len();
    let done = library.import(&statements)?;
    let mut out = crate::progress::stdout();
    if options.json {
        let object =
            json!({"read": known, "added": done.added, "known": done.known, "missing": done.missing});
        writeln!(out, "{object}")?;
    } else {
        writeln!(
            out,
            "{} of {known} entries added; {} were known already, {} are about faces that are not here",
            done.added, done.known, done.missing
        )?;
    }
    Ok(Outcome::Done)
}

/// What a file says that stands.
pub(super) fn statements(
    file: impl BufRead,
    is_csv: bool,
    place: &str,
) -> anyhow::Result<Vec<kith_store::Imported>> {
    let rows = rows(file, is_csv).with_context(|| place.to_owned())?;
    let mut statements = Vec::new();
    for (line, row) in &rows {
        let text = |key: &str| row.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        if row.get("stands").is_some_and(|stands| stands == false || stands == "false") {
            continue;
        }
        let wrong = |what: &str| format!("{place} line {line}: {what}");
        let word = text("kind").with_context(|| {
            wrong("found no kind, wanted name, not, same, different, ignore, picture or meant")
        })?;
        let kind = match Kind::of(word) {
            Some(Kind::Undo | Kind::Redo) => continue,
            Some(kind) => kind,
            None => bail!(wrong(&format!(
                "found the kind \"{word}\", wanted name, not, same, different, ignore, picture or meant"
            ))),
        };
        let is_pair = matches!(kind, Kind::Same | Kind::Different);
        let is_name = matches!(kind, Kind::Name | Kind::Not);
        let face = text("face").with_context(|| wrong("found no face, wanted its id"))?;
        let other = text("other").filter(|_| is_pair || kind == Kind::Meant);
        let name = text("name").filter(|_| is_name || kind == Kind::Meant);
        anyhow::ensure!(!is_pair || other.is_some(), wrong("found no other face, wanted its id"));
        anyhow::ensure!(!is_name || name.is_some(), wrong("found no name, wanted one"));
        let at =
            row.get("at").and_then(|at| at.as_f64().or_else(|| at.as_str()?.parse().ok())).unwrap_or(0.0);
        let by = text("by").unwrap_or(kith_store::IMPORT).to_owned();
        statements.push(kith_store::Imported {
            kind,
            face: face.to_owned(),
            other: other.map(str::to_owned),
            name: name.map(str::to_owned),
            at,
            by,
        });
    }
    Ok(statements)
}

/// The rows of a file with the line each stands on.
fn rows(file: impl BufRead, is_csv: bool) -> anyhow::Result<Vec<(u64, Map<String, Value>)>> {
    let mut rows = Vec::new();
    if is_csv {
        let mut reader = csv::Reader::from_reader(file);
        let header = reader.headers()?.clone();
        for record in reader.records() {
            let record = record?;
            let line = record.position().map_or(0, csv::Position::line);
            let cells = header.iter().zip(&record);
            rows.push((
                line,
                cells.map(|(key, cell)| (key.to_owned(), Value::String(cell.to_owned()))).collect(),
            ));
        }
        return Ok(rows);
    }
    for (number, line) in (1..).zip(lines(file)) {
        let line = line?;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice(&line) {
            Ok(Value::Object(object)) => rows.push((number, object)),
            _ => bail!("line {number}: found something else than a JSON object"),
        }
    }
    Ok(rows)
}

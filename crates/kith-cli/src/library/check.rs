//! `kith check`: whether a library file is sound.

use std::io::Write;

use kith_store::Library;
use serde_json::{Map, Value, json};

use super::args::ReadOptions;
use crate::Outcome;

/// Runs the verb.
pub fn run(options: &ReadOptions) -> anyhow::Result<Outcome> {
    let library = Library::open_to_check(&options.lib)?;
    let checked = library.check()?;
    let mut out = crate::progress::stdout();
    if options.json {
        let mut object: Map<String, Value> =
            checked.counts.iter().map(|&(what, n)| (what.to_owned(), json!(n))).collect();
        object.insert("ok".to_owned(), json!(checked.faults.is_empty()));
        object.insert("faults".to_owned(), json!(checked.faults));
        writeln!(out, "{}", Value::Object(object))?;
    } else {
        for fault in &checked.faults {
            writeln!(out, "{fault}")?;
        }
        if checked.faults.is_empty() {
            let counts: Vec<String> = checked.counts.iter().map(|(what, n)| format!("{n} {what}")).collect();
            writeln!(out, "sound: {}", counts.join(", "))?;
        }
    }
    Ok(if checked.faults.is_empty() { Outcome::Done } else { Outcome::Negative })
}

//! `kith completions` and `kith man`: what shells and `man` want to know of the command line.

use std::fs;
use std::io::Write;

use anyhow::Context;
use clap::CommandFactory;

use crate::Outcome;
use crate::args::{Arguments, CompletionsOptions, ManOptions};

/// A script for a shell, on stdout.
pub fn completions(options: &CompletionsOptions) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::command(), "kith", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(Outcome::Done)
}

/// A page for the program and one for each verb.
pub fn man(options: &ManOptions) -> anyhow::Result<Outcome> {
    let folder = options.folder.display();
    fs::create_dir_all(&options.folder).with_context(|| format!("{folder}: cannot be made"))?;
    let pages = clap_mangen::generate_to(Arguments::command(), &options.folder);
    pages.with_context(|| format!("{folder}: manual pages cannot be written"))?;
    Ok(Outcome::Done)
}

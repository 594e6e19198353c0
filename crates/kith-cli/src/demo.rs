//! `kith demo`: a week of a person's encounters, generated, learnt photo by photo, and told.

mod account;
mod album;
mod diary;
mod journal;
mod page;
mod text;
mod timeline;
mod week;

use std::io::Write;
use std::path::Path;

use account::Account;
use anyhow::{Context, ensure};
use week::Week;

use crate::Outcome;
use crate::args::DemoOptions;

/// Runs the verb.
pub fn run(options: &DemoOptions) -> anyhow::Result<Outcome> {
    if let Some(path) = &options.report {
        check_place(path)?;
    }
    let week = Week::new(options.days as usize, options.seed)?;
    if options.serve {
        return album::serve(&week, &options.page);
    }
    let journal = journal::live(&week, options.seed)?;
    let account = Account::new(&week, &journal);
    let diary = diary::entries(&week, &journal);

    let written = options.report.as_ref().map(|path| {
        let page = page::page(&week, &journal, &account, &diary, options.seed);
        std::fs::write(path, page).with_context(|| format!("{}: cannot be written", path.display()))
    });
    let last = match (&options.report, &written) {
        (Some(path), Some(Ok(()))) => format!("The same as a page with pictures: {}", path.display()),
        _ => "To see it as a page with pictures: kith demo --report week.html".to_owned(),
    };
    let mut out = crate::progress::stdout();
    write!(out, "{}\n{last}\n", text::summary(&week, &account, &diary, options.seed))?;
    out.flush()?;
    written.transpose()?;
    Ok(Outcome::Done)
}

/// Says so before the week is lived through, not after.
fn check_place(path: &Path) -> anyhow::Result<()> {
    ensure!(!path.is_dir(), "{}: found a folder, wanted a file to write", path.display());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    ensure!(
        folder.is_dir(),
        "{}: cannot be written: there is no folder {}",
        path.display(),
        folder.display()
    );
    Ok(())
}

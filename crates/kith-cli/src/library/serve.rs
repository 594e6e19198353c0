//! `kith serve`: the page, on this machine alone.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use kith_server::{Options, Server};
use kith_vision::models;

use super::args::{PageOptions, ServeOptions};
use super::speaker;
use crate::progress::note;
use crate::{Outcome, interrupt};

/// Runs the verb.
pub fn run(options: &ServeOptions) -> anyhow::Result<Outcome> {
    let folders = models::folders(options.models.as_deref());
    serve(&options.lib, &options.page, options.read_only, folders)
}

/// Serves a library until Ctrl-C.
pub fn serve(
    lib: &Path,
    page: &PageOptions,
    is_read_only: bool,
    models: Vec<PathBuf>,
) -> anyhow::Result<Outcome> {
    let stop = interrupt::listen()?;
    let names = page.names.as_deref().map(address_book).transpose()?.unwrap_or_default();
    let (lib, port, by) = (lib.to_owned(), page.port, speaker());
    let server = Server::bind(Options { lib, port, is_read_only, by, models, names })?;
    let address = server.address();
    let mut out = crate::progress::stdout();
    writeln!(out, "{address}")?;
    out.flush()?;
    note("open this address in your browser; it is for you alone, and Ctrl-C ends it");
    if page.open && !open(&address) {
        note("found no browser to open, wanted one; the address is above");
    }
    server.run(stop)?;
    Ok(Outcome::Done)
}

/// The names of an address book.
fn address_book(path: &Path) -> anyhow::Result<Vec<String>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let names = kith_server::read_names(&text);
    let wanted = "found no name, wanted contacts (.vcf), or one name on each line";
    anyhow::ensure!(!names.is_empty(), "{}: {wanted}", path.display());
    Ok(names)
}

/// Hands an address to the browser; says whether somebody took it.
fn open(address: &str) -> bool {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}

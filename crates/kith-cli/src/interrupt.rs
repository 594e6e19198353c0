//! Ctrl-C: the first asks for a calm end, the second ends at once.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

static STOP: AtomicBool = AtomicBool::new(false);

/// Listens for Ctrl-C (and a polite kill); returns the flag that says it came.
pub fn listen() -> anyhow::Result<&'static AtomicBool> {
    let heard = || {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    ctrlc::set_handler(heard).context("cannot listen for Ctrl-C")?;
    Ok(&STOP)
}

//! Ctrl-C: the first asks for a calm end, the second ends at once.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

use crate::progress::note;

static STOP: AtomicBool = AtomicBool::new(false);
/// Whether there is nothing yet that a calm end would keep.
static HAS_NOTHING: AtomicBool = AtomicBool::new(false);

/// Listens for Ctrl-C (and a polite kill); returns the flag that says it came.
pub fn listen() -> anyhow::Result<&'static AtomicBool> {
    let heard = || {
        if HAS_NOTHING.load(Ordering::Relaxed) {
            note("interrupted before there was anything to keep");
            std::process::exit(1);
        }
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    ctrlc::set_handler(heard).context("cannot listen for Ctrl-C")?;
    Ok(&STOP)
}

/// The same, but that the first Ctrl-C ends at once, until [`be_calm`] says that there is something to keep.
pub fn listen_in_haste() -> anyhow::Result<&'static AtomicBool> {
    HAS_NOTHING.store(true, Ordering::Relaxed);
    listen()
}

/// From now on there is something to keep.
pub fn be_calm() {
    HAS_NOTHING.store(false, Ordering::Relaxed);
}

//! Progress on stderr: a bar with an ETA on a terminal, nothing otherwise.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar of `length` steps of a kind.
pub fn bar(length: u64, what: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length);
    let template = "{msg} {wide_bar} {human_pos}/{human_len} {eta} left";
    bar.set_style(ProgressStyle::with_template(template).expect("the template is well-formed"));
    bar.set_message(what);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// "1 draw", "2 draws".
pub fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

//! What goes to a terminal: data on stdout; on stderr a bar with an ETA, and notes.

use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use kith_io::terminal::{Shown, shown};

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

/// A line on stderr. Where nobody reads it any more, as in `2>&1 | head`, it is lost and the work goes on.
pub fn note(line: impl Display) {
    let _ = writeln!(std::io::stderr(), "{}", shown(&line.to_string()));
}

/// Where words and JSON go: names and ids that would do something to a terminal are shown.
pub fn stdout() -> Shown<std::io::Stdout> {
    Shown::new(std::io::stdout())
}

/// "1 draw", "2 draws"; people are not "persons".
pub fn count(n: usize, what: &str) -> String {
    match (n, what) {
        (1, _) => format!("1 {what}"),
        (_, "person") => format!("{n} people"),
        _ => format!("{n} {what}s"),
    }
}

//! What goes to a terminal: data on stdout; on stderr a bar with an ETA, and notes.

use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use kith_io::terminal::{Shown, shown};
use serde_json::{Value, json};

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

/// An event of long work, as a line of JSON on stderr, for programs that read those.
pub fn event(event: Value) {
    let _ = writeln!(std::io::stderr(), "{event}");
}

/// How far learning is.
pub fn to_event((done, most): (u64, u64), n_people: usize, r_hat: Option<f64>) -> Value {
    json!({"event": "learning", "sweeps": done, "most_sweeps": most, "people": n_people, "r_hat": r_hat})
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

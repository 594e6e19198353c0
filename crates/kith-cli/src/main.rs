//! The program `kith`: reads the command, runs it, and turns an error into one line and an exit status.

mod args;
mod background;
mod demo;
mod evaluate;
mod experiment;
mod fit;
mod interrupt;
mod predict;
mod progress;
mod simulate;
mod summary;

use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Verb};

/// How a verb ended.
enum Outcome {
    /// What was asked for is done.
    Done,
    /// It is not, and nothing is wrong: a negative answer, or an interruption.
    Negative,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.verb {
        Verb::Demo(options) => demo::run(&options),
        Verb::Fit(options) => fit::run(&options),
        Verb::Predict(options) => predict::run(&options),
        Verb::Evaluate(options) => evaluate::run(&options),
        Verb::Experiment(options) => experiment::run(&options),
        Verb::Simulate(options) => simulate::run(&options),
    };
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Negative) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            progress::note(format!("kith: {}", in_one_line(&error)));
            ExitCode::from(2)
        }
    }
}

/// One line, whatever the message: scripts and people read the last line. Some messages name their cause
/// themselves; it is not said twice.
fn in_one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain().map(|cause| cause.to_string()) {
        if !line.ends_with(&cause) {
            line += if line.is_empty() { "" } else { ": " };
            line += &cause;
        }
    }
    line.replace('\n', "; ")
}

/// A reader that has seen enough, such as `head`, is no error.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        let json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        io.or(json) == Some(std::io::ErrorKind::BrokenPipe)
    })
}

//! The program `kith`: reads the command, runs it, and turns an error into one line and an exit status.

mod answer;
mod args;
mod background;
mod bench;
mod demo;
mod dumps;
mod evaluate;
mod experiment;
mod fit;
mod interrupt;
mod library;
mod lines;
mod manual;
mod models;
mod predict;
mod progress;
mod simulate;
mod summary;

use std::process::ExitCode;

use clap::Parser;
use kith_store::Kind;

use args::{Arguments, Verb};

/// How a verb ended.
enum Outcome {
    /// What was asked for is done.
    Done,
    /// It is not, and nothing is wrong: a negative answer, or an interruption.
    Negative,
}

fn main() -> ExitCode {
    dumps::forbid();
    let arguments = Arguments::parse();
    kith::unweighable::leave_to_guards();
    let result = match kith::unweighable::guarded(|| run(arguments.verb)) {
        Ok(result) => result,
        Err(of) => {
            let whom =
                of.face.map_or("somebody".to_owned(), |face| format!("the face at row {}", face.index()));
            Err(anyhow::anyhow!(
                "found weights that are no numbers for {whom}, wanted faces and settings of usual sizes"
            ))
        }
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

fn run(verb: Verb) -> anyhow::Result<Outcome> {
    match verb {
        Verb::Demo(options) => demo::run(&options),
        Verb::Fit(options) => fit::run(&options),
        Verb::Predict(options) => predict::run(&options),
        Verb::Evaluate(options) => evaluate::run(&options),
        Verb::Add(options) => library::add::run(&options),
        Verb::Learn(options) => library::learn::run(&options),
        Verb::People(options) => library::people::run(&options),
        Verb::Who(options) => library::who::run(&options),
        Verb::Name(options) => library::say::name(&options),
        Verb::Not(options) => library::say::not(&options),
        Verb::Same(options) => library::say::pair(&options, Kind::Same),
        Verb::Different(options) => library::say::pair(&options, Kind::Different),
        Verb::Ignore(options) => library::say::ignore(&options),
        Verb::Log(options) => library::log::log(&options),
        Verb::Undo(options) => library::log::undo(&options),
        Verb::Redo(options) => library::log::redo(&options),
        Verb::Ask(options) => library::ask::run(&options),
        Verb::Models(options) => models::run(&options),
        Verb::Serve(options) => library::serve::run(&options),
        Verb::Watch(options) => library::watch::run(&options),
        Verb::Forget(options) => library::forget::run(&options),
        Verb::Export(options) => library::export::run(&options),
        Verb::Import(options) => library::import::run(&options),
        Verb::Check(options) => library::check::run(&options),
        Verb::Experiment(options) => experiment::run(&options),
        Verb::Simulate(options) => simulate::run(&options),
        Verb::Bench(options) => bench::run(&options),
        Verb::Completions(options) => manual::completions(&options),
        Verb::Man(options) => manual::man(&options),
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

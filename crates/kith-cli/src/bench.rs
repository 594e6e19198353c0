//! `kith bench`: how fast this machine sweeps, answers and absorbs frames, on generated faces.

pub mod args;
mod crowd;
mod library;
mod memory;
mod predict;
mod product;
mod stream;
mod sweep;

use std::io::Write;
use std::time::Instant;

use serde_json::{Map, Value};

use crate::Outcome;
use args::{BenchOptions, Question};

/// What was measured: a name, a value, and how a person reads it.
struct Figures(Vec<(&'static str, Value, String)>);

/// Runs the verb.
pub fn run(options: &BenchOptions) -> anyhow::Result<Outcome> {
    let (figures, json) = match &options.question {
        Question::Sweep(options) => (sweep::run(options)?, options.crowd.json),
        Question::Predict(options) => (predict::run(options)?, options.crowd.json),
        Question::Stream(options) => (stream::run(options)?, options.crowd.json),
        Question::Library(options) => (library::run(options)?, options.crowd.json),
    };
    let mut out = crate::progress::stdout();
    if json {
        writeln!(out, "{}", figures.to_json())?;
    } else {
        write!(out, "{}", figures.to_text())?;
    }
    Ok(Outcome::Done)
}

impl Figures {
    /// As one object.
    fn to_json(&self) -> Value {
        let each = self.0.iter().map(|(name, value, _)| ((*name).to_owned(), value.clone()));
        Value::Object(each.collect::<Map<String, Value>>())
    }

    /// A line each, for those that say something to a person.
    fn to_text(&self) -> String {
        self.0.iter().filter(|figure| !figure.2.is_empty()).map(|figure| format!("{}\n", figure.2)).collect()
    }
}

/// The middle value, or the mean of the middle two.
fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The value below which a share of the values lies, interpolated.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share * (sorted.len() - 1) as f64;
    let (low, part) = (place.floor() as usize, place.fract());
    sorted[low] + part * (sorted[(low + 1).min(sorted.len() - 1)] - sorted[low])
}

/// How many seconds something takes, and what it returns.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let started = Instant::now();
    let result = work();
    (started.elapsed().as_secs_f64(), result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_their_neighbours() {
        let values = [5.0, 1.0, 4.0, 2.0];
        assert_eq!(median(&values), 3.0);
        assert_eq!(quantile(&values, 0.0), 1.0);
        assert_eq!(quantile(&values, 1.0), 5.0);
        assert!((quantile(&values, 0.99) - 4.97).abs() < 1e-12);
    }
}

//! `kith demo`.
use crate::Outcome;
use crate::args::DemoOptions;
/// Runs the verb.
pub fn run(_options: &DemoOptions) -> anyhow::Result<Outcome> {
    Ok(Outcome::Done)
}

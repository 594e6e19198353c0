//! The laboratory: the paper's three experiments (§4), the baselines, the measures and the figures.
//!
//! It is the only library that is told the truth, and uses it to split people, to ask and to measure; the
//! model never sees it. It reads and writes no file: [`experiment`] hands back numbers, tables, figures and a
//! page.

pub mod baselines;
pub mod experiment;
pub mod figures;
pub mod metrics;
pub mod report;

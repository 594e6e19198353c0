//! kith: who is who from faces.
pub mod chain;
pub mod data;
pub mod gibbs;
pub mod ids;
pub mod math;
pub mod model;
pub mod predict;
pub mod random;
pub mod simulate;
pub mod state;

#[cfg(test)]
mod cases;

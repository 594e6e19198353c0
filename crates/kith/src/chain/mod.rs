//! WHO MOVES BELIEF: chains, ensembles of them, the paper's schedules, and how far to trust their draws.

pub mod diagnostics;
mod draw;
mod ensemble;
mod learner;
mod prior;
mod single;
mod start;

pub use draw::Draw;
pub use ensemble::{Ensemble, Run, Watch};
pub use learner::{LearnError, Learner, Schedule};
pub use prior::learn_full_prior;
pub use single::Chain;
pub use start::Start;

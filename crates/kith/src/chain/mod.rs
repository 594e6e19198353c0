//! WHO MOVES BELIEF: chains, ensembles of them, the paper's schedules, and how far to trust their draws.

mod absorb;
pub mod diagnostics;
mod draw;
mod ensemble;
mod heard;
mod local;
mod looks;
mod part;
mod pieces;
mod prior;
mod repeats;
mod resume;
pub mod shots;
mod single;
mod start;
mod told;

pub use draw::{Draw, Globals};
pub use ensemble::{Ensemble, Run, Watch};
pub use heard::Remembered;
pub use part::Moves;
pub use prior::{learn_full_prior, learn_isotropic_prior};
pub use resume::Memory;
pub use single::Chain;
pub use start::Start;

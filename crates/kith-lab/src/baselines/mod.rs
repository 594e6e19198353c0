//! What the model is compared with: nearest neighbour, one-class SVM, label propagation, and fair thresholds
//! for them.
//!
//! Written here, because the crates there are bring an array library each and answer in classes where a ROC
//! curve needs scores; each is compared with scikit-learn 1.9.1 in its tests.

mod gamma;
mod kernel;
mod neighbour;
mod one_class;
mod propagation;
mod threshold;

pub use gamma::{Gamma, choose_gamma};
pub use kernel::{Rbf, squared_distance};
pub use neighbour::{Nearest, nearest};
pub use one_class::OneClassSvm;
pub use propagation::{LabelPropagation, Propagated};
pub use threshold::{Closed, Neighbour, Propagator, Scored, Threshold, Validated, cross_validate};

//! WHAT WAS SEEN: faces in frames, their embeddings, and the few names that people gave.

mod dataset;
mod embeddings;
mod evidence;
mod lengths;
mod neighbours;
pub(crate) mod repeats;
mod shots;
mod units;

pub use dataset::{Dataset, Label, NewFace};
pub use embeddings::{Embeddings, Source};
pub use evidence::{Evidence, Statement};
pub use lengths::{Lengths, MOST_TIMES, Strange};
pub use shots::Shots;
pub(crate) use units::OtherUnits;

/// What is wrong with data that were offered.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The number of values is not a multiple of the dimension.
    #[error("found {found} values, wanted a multiple of the dimension {dimension}")]
    Ragged {
        /// How many values there were.
        found: usize,
        /// The dimension asked for.
        dimension: usize,
    },
    /// The dimension is zero.
    #[error("found embeddings of dimension 0, wanted at least 1")]
    NoDimension,
    /// An embedding holds NaN or an infinity.
    #[error("row {row}: found {found} at column {column}, wanted a finite number")]
    NotFinite {
        /// The face's row, from 0.
        row: usize,
        /// The column, from 0.
        column: usize,
        /// The value itself.
        found: f32,
    },
    /// A list does not have one entry per face (or per frame).
    #[error("found {found} {what}, wanted {wanted}")]
    Length {
        /// What is being counted.
        what: &'static str,
        /// How many there were.
        found: usize,
        /// How many there should be.
        wanted: usize,
    },
    /// Frames must be numbered 0, 1, ... with no gap.
    #[error("frame {frame} has no face, wanted at least one in every frame")]
    EmptyFrame {
        /// The frame without faces.
        frame: usize,
    },
    /// A statement about two faces names one twice.
    #[error("found face {face} compared with itself, wanted two faces")]
    OneFace {
        /// The face.
        face: usize,
    },
    /// A statement about a face that is not there.
    #[error("found a statement about face {face}, wanted a number below {n_faces}")]
    NoFace {
        /// The face.
        face: usize,
        /// How many there are.
        n_faces: usize,
    },
    /// An embedding of another dimension.
    #[error("found an embedding of dimension {found}, wanted {wanted}")]
    Dimension {
        /// Its dimension.
        found: usize,
        /// The dataset's dimension.
        wanted: usize,
    },
}

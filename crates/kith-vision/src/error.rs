//! What can go wrong with photos and models, each in one line that says what was found and what was wanted.

use std::path::PathBuf;

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VisionError {
    /// A photo that cannot be read; whoever knows its path says it.
    #[error("{0}")]
    Photo(String),
    /// A network or its settings are not what they should be.
    #[error("{}: {reason}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// What was found and what was wanted.
        reason: String,
    },
    /// A network is missing.
    #[error("{0}")]
    NoModel(String),
    /// A sidecar that cannot be changed without harm.
    #[error("{}: {reason}; it was not changed", path.display())]
    Sidecar {
        /// The file.
        path: PathBuf,
        /// What was found and what was wanted.
        reason: String,
    },
    /// A file or folder that cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl VisionError {
    pub(crate) fn photo(reason: impl Into<String>) -> Self {
        Self::Photo(reason.into())
    }

    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        |source| Self::File { path, source }
    }
}

//! What can go wrong with a library file, each in one line that says what was found and what was wanted.

use std::path::PathBuf;

use kith::target::TargetError;

const NO_FACES: &str = "no faces, wanted at least one: `kith add`";
const ALL_ASIDE: &str = "only faces that are ignored or set aside, wanted at least one that is not";

/// Why something could not be done with a library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no such file.
    #[error("{}: found nothing there, wanted a library; `kith add` makes one", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A file, but not one of ours.
    #[error("{}: found {found}, wanted a library of kith", path.display())]
    NotALibrary {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        found: String,
    },
    /// A library of a later program.
    #[error("{}: found schema version {found}, wanted at most {wanted}: it was written by a newer \
             kith", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The latest that is known here.
        wanted: i64,
    },
    /// Another process works on it.
    #[error("{}: another kith is {doing}, wanted to be the only one; wait until it is done", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
        /// What it does.
        doing: &'static str,
    },
    /// The file, or the folder that it is in, cannot be written.
    #[error("{}: found a file or folder that cannot be written, wanted to write; nothing was \
             changed", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The database refused.
    #[error("{}: {message}; nothing was changed", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// Why.
        message: String,
    },
    /// Something that was asked for is not there, or does not fit.
    #[error("{0}")]
    Refused(String),
    /// There is nobody to believe anything of.
    #[error("{}: found {}", path.display(), if *has_faces { ALL_ASIDE } else { NO_FACES })]
    Nobody {
        /// The file.
        path: PathBuf,
        /// Whether it has faces, all of them ignored or set aside.
        has_faces: bool,
    },
    /// Faces do not make a dataset.
    #[error(transparent)]
    Data(#[from] kith::data::DataError),
    /// The model does not fit the library.
    #[error(transparent)]
    Model(#[from] kith::model::ModelError),
    /// The library is damaged.
    #[error("{}: {message}; `kith check` says more", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
}

impl From<TargetError> for StoreError {
    fn from(error: TargetError) -> Self {
        match error {
            TargetError::Data(error) => Self::Data(error),
            TargetError::Model(error) => Self::Model(error),
        }
    }
}

impl StoreError {
    /// What was found and what was wanted, in one line.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::Refused(message.into())
    }
}

//! The Python module `kith._kith`: what the package asks of Rust, and nothing that Python can say as well.
//!
//! Arrays come as C-ordered float32 and go as numpy arrays; everything with names in it goes as JSON. No
//! function holds the interpreter while it works.

mod belief;
mod faces;
mod known;
mod library;
mod photos;
mod pickle;
mod slot;
mod tables;
mod work;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _kith {
    #[pymodule_export]
    use super::belief::Belief;
    #[pymodule_export]
    use super::faces::Faces;
    #[pymodule_export]
    use super::library::Library;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

//! Faces as Python has them: an array, and a list for each column.

use std::sync::{Mutex, PoisonError};

use kith::data::{Dataset, Embeddings};
use kith::ids::FrameId;
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Faces in frames, in contexts, some with names.
#[pyclass(frozen, module = "kith._kith")]
pub struct Faces {
    data: Mutex<Option<Dataset>>,
}

impl Faces {
    /// The faces themselves: they can be learnt from once.
    pub fn take(&self) -> PyResult<Dataset> {
        let data = self.data.lock().unwrap_or_else(PoisonError::into_inner).take();
        data.ok_or_else(|| PyValueError::new_err("found faces that were learnt from already"))
    }
}

#[pymethods]
impl Faces {
    /// Copies the embeddings. `frames` numbers the frame of each face from 0; `contexts` has one entry per
    /// frame, `names` one per face.
    #[new]
    #[pyo3(signature = (embeddings, frames, contexts, names))]
    fn new(
        py: Python<'_>,
        embeddings: PyReadonlyArray2<'_, f32>,
        frames: Vec<u32>,
        contexts: Vec<Option<String>>,
        names: Vec<Option<String>>,
    ) -> PyResult<Self> {
        let (dimension, values) = (embeddings.shape()[1], block(&embeddings)?);
        let frames = frames.into_iter().map(FrameId).collect();
        let data = py.detach(|| {
            let embeddings = Embeddings::new(values.to_vec(), dimension)?;
            Dataset::new(embeddings, frames, &contexts, &names)
        });
        Ok(Self { data: Mutex::new(Some(data.map_err(refused)?)) })
    }
}

/// The numbers of an array, borrowed.
pub fn block<'a>(array: &'a PyReadonlyArray2<'_, f32>) -> PyResult<&'a [f32]> {
    let wrong = |_| PyTypeError::new_err("found an array in another order, wanted a C-contiguous one");
    if !array.is_c_contiguous() {
        return Err(PyTypeError::new_err("found an array in another order, wanted a C-contiguous one"));
    }
    array.as_slice().map_err(wrong)
}

/// The rows of an array that must have the dimension that was learnt from.
pub fn rows<'a>(array: &'a PyReadonlyArray2<'_, f32>, dimension: usize) -> PyResult<Vec<&'a [f32]>> {
    let found = array.shape()[1];
    if found != dimension {
        let message = format!("found embeddings of dimension {found}, wanted {dimension}");
        return Err(PyValueError::new_err(message));
    }
    Ok(block(array)?.chunks_exact(dimension).collect())
}

/// What was wrong with what was given, as Python's ValueError.
pub fn refused(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

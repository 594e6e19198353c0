//! `Belief`: what an estimator asks for. Every method waits outside the interpreter.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use kith::data::Embeddings;
use kith::predict::NewPhoto;
use kith_io::draws::DrawsWriter;
use kith_io::model_file::to_tree;
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rayon::prelude::*;
use serde_json::json;

use crate::faces::{Faces, block, refused, rows};
use crate::known::{Known, Options};
use crate::slot::{Slot, Turn};
use crate::work::{Crew, wait};
use crate::{pickle, tables};

/// People as numbers: an array of embeddings of people who are known, and the rows of each.
type Background<'py> = (PyReadonlyArray2<'py, f32>, Vec<Vec<usize>>);

/// Who restores what was pickled, and from what.
type Pickled<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, usize));

/// A model, faces, chains that learn of them, and draws that answer.
#[pyclass(frozen, module = "kith._kith")]
pub struct Belief {
    slot: Arc<Slot<Known>>,
    options: Mutex<Options>,
    n_threads: usize,
}

impl Belief {
    pub fn of(known: Known, n_threads: usize) -> Self {
        Self { options: Mutex::new(known.options.clone()), slot: Slot::new(Some(known)), n_threads }
    }

    fn options(&self) -> Options {
        self.options.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn known(&self, py: Python<'_>) -> PyResult<Arc<Known>> {
        let known = wait(py, |longest| self.slot.get(longest))?;
        known.ok_or_else(|| PyRuntimeError::new_err("nothing has been learnt yet"))
    }

    fn turn(&self, py: Python<'_>) -> PyResult<Turn<Known>> {
        wait(py, |longest| self.slot.turn(longest))
    }

    /// What is made of each row, with its context.
    fn each<T: Send + Default>(
        &self,
        py: Python<'_>,
        embeddings: &PyReadonlyArray2<'_, f32>,
        contexts: Option<Vec<Option<String>>>,
        made_of: impl Fn(&Known, Option<&str>, &[f32]) -> T + Sync + Send,
    ) -> PyResult<Vec<T>> {
        let known = self.known(py)?;
        let rows = rows(embeddings, known.belief.target().data().dimension())?;
        self.crew(py, None).scoped(|progress| {
            let of_row = |(row, &face): (usize, &&[f32])| {
                if progress.is_stopped() {
                    return T::default();
                }
                let context = contexts.as_ref().and_then(|contexts| contexts[row].as_deref());
                made_of(&known, context, face)
            };
            rows.par_iter().enumerate().map(of_row).collect()
        })
    }

    fn crew<'py>(&self, py: Python<'py>, progress: Option<Bound<'py, PyAny>>) -> Crew<'py> {
        Crew::new(py, self.n_threads, progress)
    }
}

/// The probabilities of the clusters for a face and, last, of somebody never seen.
fn shares(known: &Known, context: Option<&str>, face: &[f32]) -> Vec<f64> {
    let mut p = known.belief.posterior().predict_among(&known.shown().parts, context, face);
    let seen: f64 = p.iter().sum();
    p.iter_mut().for_each(|p| *p /= seen.max(1.0));
    p.push((1.0 - seen).max(0.0));
    p
}

#[pymethods]
impl Belief {
    /// `options` is JSON, see `known.rs`; `n_threads` of 0 is as many as there are cores.
    #[new]
    fn new(options: &str, n_threads: usize) -> PyResult<Self> {
        let options: Options = serde_json::from_str(options).map_err(refused)?;
        Ok(Self { slot: Slot::new(None), options: Mutex::new(options), n_threads })
    }

    /// Learns from faces, as `kith fit` does. After Ctrl-C the chains halt by themselves, and what they have
    /// drawn is there.
    #[pyo3(signature = (faces, background=None, progress=None))]
    fn fit<'py>(
        &self,
        py: Python<'py>,
        faces: &Faces,
        background: Option<Background<'py>>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let (data, options) = (faces.take()?, self.options());
        let background = match &background {
            Some((array, people)) => {
                let dimension = array.shape()[1];
                let known = Embeddings::new(block(array)?.to_vec(), dimension).map_err(refused)?;
                Some((known, people.clone()))
            }
            None => None,
        };
        let turn = self.turn(py)?;
        let done = self.crew(py, progress).detached(move |progress| {
            let background = background.as_ref().map(|(known, people)| (known, &people[..]));
            Known::fit(options, data, background, progress).map(|known| turn.end(known))
        })?;
        done.map_err(refused)
    }

    /// Frames arrive; the first make a belief.
    #[pyo3(signature = (faces, progress=None))]
    fn see<'py>(&self, py: Python<'py>, faces: &Faces, progress: Option<Bound<'py, PyAny>>) -> PyResult<()> {
        let (data, options) = (faces.take()?, self.options());
        let mut turn = self.turn(py)?;
        let done = self.crew(py, progress).detached(move |progress| match turn.take() {
            None => Known::begin(options, data, progress).map(|known| turn.end(known)),
            Some(mut known) => {
                let seen = known.see(&data, progress);
                turn.end(known);
                seen
            }
        })?;
        done.map_err(refused)
    }

    /// Chains go on: so many sweeps, or until they agree.
    #[pyo3(signature = (sweeps=None, progress=None))]
    fn learn<'py>(
        &self,
        py: Python<'py>,
        sweeps: Option<u64>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        self.known(py)?;
        let mut turn = self.turn(py)?;
        self.crew(py, progress).detached(move |progress| {
            if let Some(mut known) = turn.take() {
                known.learn(sweeps, progress);
                turn.end(known);
            }
        })
    }

    /// Whether something has been learnt; waits for a learning that is under way.
    fn is_fitted(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(wait(py, |longest| self.slot.get(longest))?.is_some())
    }

    /// Cluster of each face, by first appearance.
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let known = self.known(py)?;
        let labels = self.crew(py, None).scoped(|_| known.shown().clusters.of_face.clone())?;
        Ok(labels.into_iter().map(i64::from).collect::<Vec<_>>().into_pyarray(py))
    }

    /// How sure each face's place is.
    fn certainty<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let known = self.known(py)?;
        let certainty = self.crew(py, None).scoped(|_| known.shown().clusters.certainty.clone())?;
        Ok(certainty.into_pyarray(py))
    }

    /// Per cluster its name and the name's probability, where one is more probable than not.
    fn people(&self, py: Python<'_>) -> PyResult<Vec<Option<(String, f64)>>> {
        let known = self.known(py)?;
        let names = known.belief.target().data().names();
        self.crew(py, None).scoped(|_| {
            let of_cluster = known.shown().clusters.names.iter();
            of_cluster.map(|name| name.map(|(label, p)| (names[label.index()].clone(), p))).collect()
        })
    }

    /// The names that were given.
    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.known(py)?.belief.target().data().names().to_vec())
    }

    /// The model, every value resolved, as JSON.
    fn model(&self, py: Python<'_>) -> PyResult<String> {
        Ok(to_tree(self.known(py)?.belief.target().model()).to_string())
    }

    /// How learning went, as JSON.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        let known = self.known(py)?;
        let data = known.belief.target().data();
        let summary = json!({
            "outcome": known.outcome, "seed": known.options.seed, "n_faces": data.n_faces(),
            "n_frames": data.n_frames(), "dimension": data.dimension(), "contexts": data.contexts(),
            "chains": known.belief.chains().len(),
        });
        Ok(summary.to_string())
    }

    /// Per row the probability of each cluster, and last of somebody never seen; each row by itself.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        embeddings: PyReadonlyArray2<'py, f32>,
        contexts: Option<Vec<Option<String>>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = self.each(py, &embeddings, contexts, shares)?;
        let width = self.known(py)?.shown().clusters.len() + 1;
        table(py, (rows, width))
    }

    /// Per row the most probable cluster; -1 where somebody never seen is.
    fn predict_labels<'py>(
        &self,
        py: Python<'py>,
        embeddings: PyReadonlyArray2<'py, f32>,
        contexts: Option<Vec<Option<String>>>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let best = |known: &Known, context: Option<&str>, face: &[f32]| {
            let p = shares(known, context, face);
            // The last of the most probable, so that nobody is taken for somebody without a reason.
            let best = p.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |best| best.0);
            if best + 1 == p.len() { -1 } else { best as i64 }
        };
        Ok(self.each(py, &embeddings, contexts, best)?.into_pyarray(py))
    }

    /// Per row the probabilities of acquainted, familiar, stranger, of each name, and of no known name; each
    /// by itself.
    fn predict_names<'py>(
        &self,
        py: Python<'py>,
        embeddings: PyReadonlyArray2<'py, f32>,
        contexts: Option<Vec<Option<String>>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let width = 3 + self.known(py)?.belief.target().data().names().len() + 1;
        let found = self.each(py, &embeddings, contexts, |known, context, face| {
            tables::row_of(&known.belief.posterior().predict(context, &[face], false)[0], width)
        })?;
        table(py, (found, width))
    }

    /// Per row and draw, ln of how much more probable somebody never seen is than anybody seen; each row by
    /// itself.
    fn stranger_odds<'py>(
        &self,
        py: Python<'py>,
        embeddings: PyReadonlyArray2<'py, f32>,
        contexts: Option<Vec<Option<String>>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let n_draws = self.known(py)?.belief.draws().len();
        let found = self.each(py, &embeddings, contexts, |known, context, face| {
            let each = known.belief.posterior().predict_each(context, face);
            each.iter().map(|by| by.ln_stranger - by.ln_seen).collect::<Vec<f64>>()
        })?;
        table(py, (found, n_draws))
    }

    /// Full answers as JSON. Faces of the same number in `frames` are on one photo; with `together` all
    /// photos are one occasion, as for `kith predict`, otherwise each is asked about by itself.
    fn who(
        &self,
        py: Python<'_>,
        embeddings: PyReadonlyArray2<'_, f32>,
        frames: Vec<Vec<usize>>,
        contexts: Vec<Option<String>>,
        together: bool,
    ) -> PyResult<String> {
        let known = self.known(py)?;
        let data = known.belief.target().data();
        let rows = rows(&embeddings, data.dimension())?;
        let photo = |(frame, context): (&Vec<usize>, &'_ Option<String>)| {
            (frame.iter().map(|&row| rows[row]).collect::<Vec<&[f32]>>(), context.clone())
        };
        let photos: Vec<_> = frames.iter().zip(&contexts).map(photo).collect();
        let mut answers = self.crew(py, None).scoped(|_| {
            let posterior = known.belief.posterior();
            let new = |(faces, context): &'_ (Vec<&'_ [f32]>, Option<String>)| {
                posterior.predict(context.as_deref(), faces, false)
            };
            if !together {
                return photos.par_iter().map(new).collect::<Vec<_>>();
            }
            let photos: Vec<NewPhoto<'_>> = photos
                .iter()
                .map(|(faces, context)| NewPhoto { context: context.as_deref(), faces: faces.clone() })
                .collect();
            let occasion = posterior.occasion(&photos, &|| ());
            let places = (0..photos.len()).into_par_iter();
            places.map(|place| posterior.predict_on(&occasion, place, false)).collect()
        })?;
        let mut by_row = vec![serde_json::Value::Null; rows.len()];
        for (frame, answers) in frames.iter().zip(&mut answers) {
            for (&row, answer) in frame.iter().zip(answers) {
                by_row[row] = tables::to_json(answer, data.names());
            }
        }
        Ok(serde_json::Value::Array(by_row).to_string())
    }

    /// The draws as arrays, by sweep, then chain.
    fn draws<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let known = self.known(py)?;
        tables::draws(py, known.belief.draws())
    }

    /// Writes the draws, byte by byte as the program writes them.
    fn save_draws(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let known = self.known(py)?;
        py.detach(|| {
            let mut writer = DrawsWriter::create(&path, known.belief.target())?;
            known.belief.draws().iter().try_for_each(|draw| writer.write(draw))?;
            writer.finish()
        })
        .map_err(|error| PyOSError::new_err(error.to_string()))
    }

    /// Pickles what was learnt: draws exactly, chains by what a draw remembers of them.
    fn __reduce__<'py>(slf: &Bound<'py, Self>, py: Python<'py>) -> PyResult<Pickled<'py>> {
        let known = slf.get().known(py)?;
        let bytes = slf.get().crew(py, None).scoped(|_| pickle::to_bytes(&known))?;
        let restore = slf.get_type().getattr("from_bytes")?;
        Ok((restore, (PyBytes::new(py, &bytes), slf.get().n_threads)))
    }

    /// What was pickled.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8], n_threads: usize) -> PyResult<Self> {
        let known = Crew::new(py, n_threads, None).scoped(|_| pickle::from_bytes(bytes))?.map_err(refused)?;
        Ok(Self::of(known, n_threads))
    }
}

/// Rows of one width as an array.
fn table(py: Python<'_>, (rows, width): (Vec<Vec<f64>>, usize)) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let shape = (rows.len(), width);
    Ok(Array2::from_shape_vec(shape, rows.concat()).map_err(refused)?.into_pyarray(py))
}

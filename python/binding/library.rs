//! `Library`: the verbs of the program over a library file, with its rules and its locks. The file is opened
//! for each.

use std::path::PathBuf;

use kith::belief::{About, Question};
use kith::ids::FaceId;
use kith::predict::NewPhoto;
use kith_store::{
    Believed, Entry, Forget, Kind, Library as Store, NewFace, NewFrame, PersonId, Plan, Saying, StoreError,
    Told, Who, frames_of,
};
use numpy::PyReadonlyArray2;
use pyo3::exceptions::{PyBlockingIOError, PyFileNotFoundError, PyOSError, PyPermissionError, PyValueError};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::faces::{block, refused, rows};
use crate::photos::{self, Photos};
use crate::tables;
use crate::work::{Crew, Progress};

/// A library file.
#[pyclass(frozen, module = "kith._kith")]
pub struct Library {
    path: PathBuf,
    n_threads: usize,
}

/// A frame that arrives, with the rows of its faces.
#[derive(Deserialize)]
struct Frame {
    key: Option<String>,
    time: Option<String>,
    context: Option<String>,
    faces: Vec<Face>,
}

#[derive(Deserialize)]
struct Face {
    key: String,
    row: usize,
    name: Option<String>,
}

impl Library {
    /// Works with the library, outside the interpreter; returns JSON.
    fn work<'py>(
        &self,
        py: Python<'py>,
        progress: Option<Bound<'py, PyAny>>,
        work: impl FnOnce(&Progress) -> Result<Value, StoreError> + Send,
    ) -> PyResult<String> {
        let done = Crew::new(py, self.n_threads, progress).scoped(work)?;
        done.map(|value| value.to_string()).map_err(failed)
    }

    /// Does what takes a moment, outside the interpreter.
    fn said<T: Send>(
        &self,
        py: Python<'_>,
        say: impl FnOnce() -> Result<T, StoreError> + Send,
    ) -> PyResult<T> {
        Crew::new(py, self.n_threads, None).scoped(|_| say())?.map_err(failed)
    }

    fn open(&self) -> Result<Store, StoreError> {
        Store::open(&self.path)
    }

    fn read(
        &self,
        py: Python<'_>,
        work: impl Fn(&Store) -> Result<Value, StoreError> + Send,
    ) -> PyResult<String> {
        self.work(py, None, |_| Store::read(&self.path, work))
    }
}

#[pymethods]
impl Library {
    #[new]
    fn new(path: PathBuf, n_threads: usize) -> Self {
        Self { path, n_threads }
    }

    /// Adds frames, as JSON with the rows of their faces, or none of them.
    fn add(
        &self,
        py: Python<'_>,
        embeddings: PyReadonlyArray2<'_, f32>,
        frames: &str,
        network: Option<String>,
    ) -> PyResult<String> {
        use numpy::PyUntypedArrayMethods;
        let frames: Vec<Frame> = serde_json::from_str(frames).map_err(refused)?;
        let (dimension, values) = (embeddings.shape()[1], block(&embeddings)?);
        let face = |face: Face| NewFace {
            key: face.key,
            embedding: values[face.row * dimension..][..dimension].to_vec(),
            name: face.name,
            ..NewFace::default()
        };
        let frame = |frame: Frame| NewFrame {
            key: frame.key,
            time: frame.time,
            context: frame.context,
            source: None,
            faces: frame.faces.into_iter().map(face).collect(),
        };
        let frames: Vec<NewFrame> = frames.into_iter().map(frame).collect();
        self.work(py, None, |_| add(&self.path, &frames, network.as_deref()))
    }

    /// Adds the faces of a dataset of the program: a folder, a table, an archive.
    fn add_dataset(&self, py: Python<'_>, dataset: PathBuf, network: Option<String>) -> PyResult<String> {
        let read = || kith_io::dataset::read(&dataset).map_err(|error| error.to_string());
        let table = py.detach(read).map_err(refused)?;
        let source = dataset.display().to_string();
        self.work(py, None, |_| add(&self.path, &frames_of(&table, Some(&source)), network.as_deref()))
    }

    /// Adds the faces on photos: files, or folders with all that is in them.
    #[pyo3(signature = (paths, context=None, models=None, progress=None))]
    fn add_photos<'py>(
        &self,
        py: Python<'py>,
        paths: Vec<PathBuf>,
        context: Option<String>,
        models: Option<PathBuf>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<String> {
        let photos = Photos { paths, context, models, n_threads: self.n_threads };
        self.work(py, progress, |progress| {
            photos::add(&self.path, &photos, progress).map_err(photos::in_library)
        })
    }

    /// Finds the faces on a photo that is not added, by the networks of the library.
    #[pyo3(signature = (photo, models=None))]
    fn look(&self, py: Python<'_>, photo: PathBuf, models: Option<PathBuf>) -> PyResult<String> {
        self.work(py, None, |_| {
            photos::look(&self.path, &photo, models.as_deref()).map_err(photos::in_library)
        })
    }

    /// Chains go on where they stopped, and people are made out anew. After Ctrl-C, what was learnt is kept.
    #[pyo3(signature = (sweeps=None, chains=None, seed=None, progress=None))]
    fn learn<'py>(
        &self,
        py: Python<'py>,
        sweeps: Option<u64>,
        chains: Option<u32>,
        seed: Option<u64>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<String> {
        self.work(py, progress, |progress| {
            let library = self.open()?;
            let _claim = library.claim()?;
            progress.begin(100);
            let mut prior = |share: f64| progress.reach(100.0 * share);
            let mut begins = |most: u64| progress.begin(most);
            let mut told = Told { prior: &mut prior, begins: &mut begins, goes_on: &mut |_| () };
            let plan = Plan { sweeps, chains, seed, least: 0 };
            let (believed, changes) =
                progress.watch(|watch| Believed::learn(&library, &plan, watch, &mut told))?;
            Ok(json!({
                "n_faces": believed.rows.faces.len(), "n_people": library.people()?.len(),
                "new_people": changes.new_people, "gone_people": changes.gone_people,
                "gained": changes.gained, "uncertain": changes.uncertain, "sweeps": changes.sweeps,
                "interrupted": changes.is_interrupted, "r_hat": changes.r_hat,
                "apart": changes.r_hat.is_some_and(|r_hat| r_hat >= kith::belief::AGREED),
            }))
        })
    }

    /// Sets the model: the keys of a MODEL.toml as JSON.
    fn set_model(&self, py: Python<'_>, settings: &str) -> PyResult<()> {
        let settings: Value = serde_json::from_str(settings).map_err(refused)?;
        let done = self.work(py, None, |_| {
            let library = self.open()?;
            let _claim = library.claim()?;
            library.set_model(&settings, None, &mut |_| ()).map(|()| Value::Null)
        });
        done.map(drop)
    }

    /// Everybody.
    fn people(&self, py: Python<'_>) -> PyResult<String> {
        self.read(py, |library| {
            // What was seen and said since is taken in first.
            library.take_in_news()?;
            if library.n_faces()? > 0 && !library.is_believed()? {
                Believed::open(library)?;
            }
            let person = |person: &kith_store::Person| {
                let faces: Vec<Value> = person.faces.iter().map(|face| json!([face.key, face.p])).collect();
                json!({
                    "id": person.id, "name": person.name, "name_p": person.name_p, "faces": faces,
                    "standing": person.standing(), "contexts": person.contexts, "seen": person.seen,
                    "conflicts": person.conflicts,
                })
            };
            Ok(library.people()?.iter().map(person).collect())
        })
    }

    /// Who a face of the library is.
    fn who(&self, py: Python<'_>, face: &str) -> PyResult<String> {
        self.read(py, |library| {
            let row = library.face(face)?;
            library.asked(|believed| {
                let ignored = || {
                    StoreError::refused(format!("found the face \"{face}\" ignored, wanted one that is not"))
                };
                let place = believed.rows.face_of(row).ok_or_else(ignored)?;
                Ok(told(&believed.who(library, place)?, believed))
            })
        })
    }

    /// Who is on new photos, which are one occasion: per photo the rows of its faces, and its context.
    fn who_is_on(
        &self,
        py: Python<'_>,
        embeddings: PyReadonlyArray2<'_, f32>,
        frames: Vec<Vec<usize>>,
        contexts: Vec<Option<String>>,
    ) -> PyResult<String> {
        use numpy::PyUntypedArrayMethods;
        let dimension = embeddings.shape()[1];
        let new = rows(&embeddings, dimension)?;
        self.read(py, |library| {
            let wanted = library.dimension()?.unwrap_or(dimension);
            if dimension != wanted {
                let found =
                    format!("found embeddings of dimension {dimension}, wanted {wanted} as in the library");
                return Err(StoreError::refused(found));
            }
            let photo = |(frame, context): (&Vec<usize>, &'_ Option<String>)| {
                (frame.iter().map(|&row| new[row]).collect::<Vec<&[f32]>>(), context.clone())
            };
            let photos: Vec<_> = frames.iter().zip(&contexts).map(photo).collect();
            let photos: Vec<NewPhoto<'_>> = photos
                .iter()
                .map(|(faces, context)| NewPhoto { context: context.as_deref(), faces: faces.clone() })
                .collect();
            library.asked(|believed| {
                let found = believed.who_is_on(library, &photos, &|| ())?;
                let mut by_row = vec![Value::Null; new.len()];
                for (frame, found) in frames.iter().zip(&found) {
                    frame.iter().zip(found).for_each(|(&row, who)| by_row[row] = told(who, believed));
                }
                Ok(Value::Array(by_row))
            })
        })
    }

    /// Somebody says something of a face: `kind` is name, not, same, different or ignore.
    #[pyo3(signature = (by, kind, face, other=None, name=None))]
    fn say(
        &self,
        py: Python<'_>,
        by: &str,
        kind: &str,
        face: &str,
        other: Option<&str>,
        name: Option<&str>,
    ) -> PyResult<i64> {
        let kind =
            Kind::of(kind).ok_or_else(|| PyValueError::new_err(format!("found {kind:?}, wanted a kind")))?;
        self.said(py, || {
            let library = self.open()?;
            let (face, other) = (library.face(face)?, other.map(|other| library.face(other)).transpose()?);
            Ok(library.say(by, &[Saying { kind, face, other, name }])?.0)
        })
    }

    /// Somebody names a person: the face that is most surely theirs.
    fn name_person(&self, py: Python<'_>, by: &str, person: i64, name: &str) -> PyResult<i64> {
        self.said(py, || {
            let library = self.open()?;
            let face = library.face_of_person(PersonId(person))?;
            Ok(library.say(by, &[Saying { kind: Kind::Name, face, other: None, name: Some(name) }])?.0)
        })
    }

    /// Takes back the last acts; returns them.
    fn undo(&self, py: Python<'_>, by: &str, n: usize) -> PyResult<Vec<i64>> {
        let acts = self.said(py, || self.open()?.undo(by, n))?;
        Ok(acts.into_iter().map(|act| act.0).collect())
    }

    /// Restores the act that was taken back last.
    fn redo(&self, py: Python<'_>, by: &str) -> PyResult<Option<i64>> {
        Ok(self.said(py, || self.open()?.redo(by))?.map(|act| act.0))
    }

    /// The questions whose answers would help most.
    fn ask(&self, py: Python<'_>, n: usize) -> PyResult<String> {
        self.read(py, |library| {
            let believed = Believed::open(library)?;
            let key = |face: FaceId| &believed.rows.keys[face.index()];
            let question = |question: &Question| match question.about {
                About::Who(face) => json!({"ask": "who", "face": key(face), "gain": question.gain}),
                About::Same(a, b, p) => {
                    json!({"ask": "same", "face": key(a), "other": key(b), "p": p, "gain": question.gain})
                }
            };
            Ok(believed.belief.ask(n).iter().map(question).collect())
        })
    }

    /// What people said, oldest first, and how probable each is.
    fn log(&self, py: Python<'_>) -> PyResult<String> {
        self.read(py, |library| {
            let entries = library.log()?;
            let believed = if entries.is_empty() { None } else { Believed::open(library).ok() };
            let agreements = believed.map_or_else(|| vec![None; entries.len()], |of| of.agreements(&entries));
            let entry = |(entry, agreement): (&Entry, Option<f64>)| {
                let agreement = agreement.filter(|_| entry.stands);
                let face = |face: Option<_>| face.map(|face| library.key_of(face)).transpose();
                Ok(json!({
                    "act": entry.act, "at": entry.at, "by": entry.by, "kind": entry.kind.as_str(),
                    "face": face(entry.face)?, "other": face(entry.other)?,
                    "name": entry.name.map(|name| library.name_of(name)).transpose()?,
                    "undoes": entry.undoes, "stands": entry.stands, "agreement": agreement,
                }))
            };
            entries.iter().zip(agreements).map(entry).collect()
        })
    }

    /// Forgets a face, everybody of a name, or a person, with every trace.
    #[pyo3(signature = (face=None, name=None, person=None, dry_run=false))]
    fn forget(
        &self,
        py: Python<'_>,
        face: Option<String>,
        name: Option<String>,
        person: Option<i64>,
        dry_run: bool,
    ) -> PyResult<String> {
        let whom = match (face, name, person) {
            (Some(face), None, None) => Forget::Face(face),
            (None, Some(name), None) => Forget::Name(name),
            (None, None, Some(person)) => Forget::Person(PersonId(person)),
            _ => return Err(PyValueError::new_err("wanted one of face, name and person")),
        };
        self.work(py, None, |_| {
            let library = self.open()?;
            let _claim = library.claim()?;
            let forgotten = library.forget(&whom, dry_run)?;
            Ok(json!({
                "faces": forgotten.faces, "frames": forgotten.frames, "entries": forgotten.entries,
                "names": forgotten.names,
            }))
        })
    }

    /// How many faces there are, ignored ones included.
    fn n_faces(&self, py: Python<'_>) -> PyResult<usize> {
        py.detach(|| Store::read(&self.path, |library| library.n_faces())).map_err(failed)
    }
}

fn add(path: &std::path::Path, frames: &[NewFrame], network: Option<&str>) -> Result<Value, StoreError> {
    let (library, added) = Store::open_and_add(path, frames, network)?;
    Ok(json!({
        "faces": added.faces, "known": added.known, "frames": added.frames, "names": added.names,
        "n_faces": library.n_faces()?,
    }))
}

/// What is believed of a face, and why; faces by the ids that people use.
fn told(who: &Who, believed: &Believed) -> Value {
    let mut value = tables::to_json(&who.answer, believed.belief.target().data().names());
    let keys: Vec<&String> =
        who.answer.identity.faces.iter().map(|face| &believed.rows.keys[face.index()]).collect();
    let why = who.why.iter();
    let why: Value = why.map(|why| json!([why.person, why.p, why.face, why.context, why.said])).collect();
    value["identity_faces"] = json!(keys);
    value["person"] = json!(who.person);
    value["why"] = why;
    value
}

/// A refusal of the library as the exception that Python has for it.
fn failed(error: StoreError) -> PyErr {
    let message = error.to_string();
    match error {
        StoreError::Missing { .. } => PyFileNotFoundError::new_err(message),
        StoreError::Busy { .. } => PyBlockingIOError::new_err(message),
        StoreError::ReadOnly { .. } => PyPermissionError::new_err(message),
        StoreError::Database { .. } | StoreError::Damaged { .. } | StoreError::NotALibrary { .. } => {
            PyOSError::new_err(message)
        }
        _ => PyValueError::new_err(message),
    }
}

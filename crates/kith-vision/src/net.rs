//! A network: an ONNX file with one picture as its input, run on one thread by whoever calls.

use std::path::Path;
use std::sync::Arc;

use rten::{Dimension, Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value};
use rten_tensor::NdTensorView;
use rten_tensor::prelude::*;

use crate::VisionError;

thread_local! {
    // The runtime works on threads of its own. One small pool for all workers would make them queue, and one
    // per core would make them get in each other's way; so each worker has one thread.
    static POOL: Arc<ThreadPool> = Arc::new(ThreadPool::with_num_threads(1));
}

/// A network that is loaded; it can be run from several threads at once.
pub struct Net {
    model: Model,
    input: NodeId,
    outputs: Vec<NodeId>,
    /// Height and width of the input, where the network admits only one.
    pub size: Option<(usize, usize)>,
}

impl std::fmt::Debug for Net {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Net").field("size", &self.size).finish_non_exhaustive()
    }
}

impl Net {
    /// Loads a network; `path` is for messages.
    pub fn load(path: &Path, bytes: Vec<u8>) -> Result<Self, VisionError> {
        let wrong = |reason: String| VisionError::Model { path: path.to_owned(), reason };
        let load = || {
            let model = ModelOptions::with_all_ops().prepack_weights(true).load(bytes);
            model.map_err(|error| VisionError::photo(error.to_string()))
        };
        let model = crate::decode::guarded(load)
            .map_err(|error| wrong(format!("found no network in it ({error}), wanted an ONNX file")))?;
        let [input] = model.input_ids()[..] else {
            let found = model.input_ids().len();
            return Err(wrong(format!("found a network with {found} inputs, wanted one picture")));
        };
        let shape = model.input_shape(0).unwrap_or_default();
        let is_picture = matches!(shape[..], [_, ref channels, _, _] if is_or_free(channels, 3));
        if !is_picture {
            let found = shape_in_words(&shape);
            return Err(wrong(format!("found an input of {found}, wanted 1 x 3 x height x width")));
        }
        let size = match (&shape[2], &shape[3]) {
            (Dimension::Fixed(height), Dimension::Fixed(width)) => Some((*height, *width)),
            _ => None,
        };
        let outputs = model.output_ids().to_vec();
        Ok(Self { model, input, outputs, size })
    }

    /// What the outputs are called.
    pub fn output_names(&self) -> Vec<String> {
        let name = |id: &NodeId| {
            let info = self.model.node_info(*id);
            info.and_then(|info| info.name().map(str::to_owned)).unwrap_or_default()
        };
        self.outputs.iter().map(name).collect()
    }

    /// Chooses outputs by their names, in this order; whether they are all there.
    pub fn choose(&mut self, names: &[&str]) -> bool {
        let there = self.output_names();
        let place = |name: &&str| there.iter().position(|output| output == name).map(|at| self.outputs[at]);
        match names.iter().map(place).collect() {
            Some(outputs) => {
                self.outputs = outputs;
                true
            }
            None => false,
        }
    }

    /// Runs the network on one picture of three planes; one block of numbers per output.
    pub fn run(&self, height: usize, width: usize, planes: &[f32]) -> Result<Vec<Vec<f32>>, VisionError> {
        let wrong = |error: String| VisionError::photo(format!("the network fails on it: {error}"));
        let view = NdTensorView::from_data([1, 3, height, width], planes);
        let options = RunOptions::default().with_thread_pool(Some(POOL.with(Clone::clone)));
        let outputs = self
            .model
            .run(vec![(self.input, view.into())], &self.outputs, Some(options))
            .map_err(|error| wrong(error.to_string()))?;
        let numbers = |value: Value| match value {
            Value::FloatTensor(tensor) => Ok(tensor.to_vec()),
            _ => Err(wrong("found other numbers than 32 bit floats".to_owned())),
        };
        outputs.into_iter().map(numbers).collect()
    }
}

fn is_or_free(dimension: &Dimension, wanted: usize) -> bool {
    match dimension {
        Dimension::Fixed(found) => *found == wanted,
        Dimension::Symbolic(_) => true,
    }
}

fn shape_in_words(shape: &[Dimension]) -> String {
    let word = |dimension: &Dimension| match dimension {
        Dimension::Fixed(n) => n.to_string(),
        Dimension::Symbolic(name) => name.clone(),
    };
    shape.iter().map(word).collect::<Vec<_>>().join(" x ")
}

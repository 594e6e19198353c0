//! What was learnt as bytes: the length of a text, the text (JSON: the model, the draws, the columns), the
//! embeddings.

use kith::belief::Belief;
use kith::chain::{Draw, Memory};
use kith::data::{Dataset, Embeddings};
use kith::ids::FrameId;
use kith::target::Target;
use kith_io::model_file::{from_tree, to_tree};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::known::{Known, Options, Outcome};

#[derive(Serialize, Deserialize)]
struct Pickled {
    options: Options,
    model: Value,
    n_model_faces: usize,
    has_background: bool,
    outcome: Outcome,
    dimension: usize,
    frames: Vec<FrameId>,
    contexts: Vec<Option<String>>,
    names: Vec<Option<String>>,
    draws: Vec<Draw>,
    /// What each chain believes.
    now: Vec<Draw>,
}

pub fn to_bytes(known: &Known) -> Vec<u8> {
    let (model, data) = known.belief.target().parts();
    let context = |frame| data.given_context(frame).map(|context| data.contexts()[context.index()].clone());
    let name = |face| data.given_name(face).map(|label| data.names()[label.index()].clone());
    let pickled = Pickled {
        options: known.options.clone(),
        model: to_tree(model),
        n_model_faces: known.n_model_faces,
        has_background: known.has_background,
        outcome: known.outcome,
        dimension: data.dimension(),
        frames: data.faces().map(|face| data.frame_of(face)).collect(),
        contexts: data.frames().map(context).collect(),
        names: data.faces().map(name).collect(),
        draws: known.belief.draws().to_vec(),
        now: known.belief.now(),
    };
    let text = serde_json::to_vec(&pickled).expect("what was learnt can be written");
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend(text);
    bytes.extend(data.embeddings().values().iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

pub fn from_bytes(bytes: &[u8]) -> Result<Known, String> {
    let cut = || "found bytes that end too early, wanted a whole pickle of kith".to_owned();
    let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(cut)?;
    let length = u64::from_le_bytes(*length) as usize;
    let (text, rest) = rest.split_at_checked(length).ok_or_else(cut)?;
    let pickled: Pickled = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let values = rest.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    let embeddings = Embeddings::new(values, pickled.dimension).map_err(|error| error.to_string())?;
    let data = Dataset::new(embeddings, pickled.frames, &pickled.contexts, &pickled.names);
    let data = data.map_err(|error| error.to_string())?;
    let model = from_tree(&pickled.model)?.resolve(&data, None, &mut |_| ());
    let model = model.map_err(|error| error.to_string())?;
    let target = Target::new(model, data).map_err(|error| error.to_string())?;
    let memories: Vec<Memory> = pickled.now.iter().map(Memory::of).collect();
    let mut belief = Belief::resume(target, &memories, pickled.options.seed);
    belief.answer_from(pickled.draws);
    let mut known = Known::new(belief, pickled.options, pickled.n_model_faces, pickled.has_background);
    known.outcome = pickled.outcome;
    Ok(known)
}

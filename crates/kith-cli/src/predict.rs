//! `kith predict`: who is on new photos, from the draws of a fit.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, ensure};
use kith::belief::Belief;
use kith::data::Dataset;
use kith::ids::FrameId;
use kith::predict::{Answer, NewPhoto, Posterior};
use kith::target::Target;
use kith_io::dataset::{self, FaceTable};
use kith_io::draws;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::Outcome;
use crate::answer::{self, percent};
use crate::args::PredictOptions;
use crate::fit::set_threads;
use crate::progress::bar;

/// Runs the verb.
pub fn run(options: &PredictOptions) -> anyhow::Result<Outcome> {
    set_threads(options.threads)?;
    let (table, new) = (dataset::read(&options.dataset)?, dataset::read(&options.new)?);
    let belief = believed([&options.dataset, &options.draws, &options.new], table.dataset, &new)?;
    let posterior = belief.posterior();

    let answers = answers(posterior, &new.dataset, options.weighted);
    let mut out = std::io::BufWriter::new(crate::progress::stdout());
    for (face, answer) in new.faces.iter().zip(&answers) {
        if options.json {
            writeln!(out, "{}", to_json(face, answer, posterior, &table.faces))?;
        } else {
            writeln!(out, "{}", to_text(face, answer, posterior, &table.faces))?;
        }
    }
    out.flush()?;
    Ok(Outcome::Done)
}

/// What draws believe of the dataset they are of, for questions about new photos of the same kind. The paths
/// are those of the dataset, the draws and the new photos.
pub fn believed(paths: [&Path; 3], data: Dataset, new: &FaceTable) -> anyhow::Result<Belief> {
    let [dataset, draws, path] = paths;
    let (model, draws) = draws::read(draws, &data).with_context(|| dataset.display().to_string())?;
    let (found, wanted, at) = (new.dataset.dimension(), data.dimension(), path.display());
    ensure!(found == wanted, "{at}: found dimension {found}, wanted {wanted} as in the dataset");
    dataset::check_lengths(path, new, Some(&data))?;
    Ok(Belief::of_draws(Target::new(model, data)?, draws, 1))
}

/// One answer per face, in the order of the rows; the dataset is one occasion, whose frames are answered in
/// parallel.
pub fn answers(posterior: &Posterior, data: &Dataset, weighted: bool) -> Vec<Answer> {
    let photos = photos(data, None);
    let looking = bar(data.n_frames() as u64, "frames looked at for strangers");
    let occasion = posterior.occasion(&photos, &|| looking.inc(1));
    looking.finish_and_clear();
    let bar = bar(data.n_frames() as u64, "frames");
    let of_frame = |frame: FrameId| {
        let answers = posterior.predict_on(&occasion, frame.index(), weighted);
        bar.inc(1);
        answers
    };
    let frames: Vec<FrameId> = data.frames().collect();
    let of_frames: Vec<Vec<Answer>> = frames.par_iter().map(|&frame| of_frame(frame)).collect();
    bar.finish_and_clear();
    by_face(data, of_frames)
}

/// The frames of a dataset as photos that are asked about, in one context, or each in its own.
pub fn photos<'d>(data: &'d Dataset, context: Option<&'d str>) -> Vec<NewPhoto<'d>> {
    let own = |frame| data.given_context(frame).map(|context| data.contexts()[context.index()].as_str());
    let photo = |frame: FrameId| NewPhoto {
        context: context.or_else(|| own(frame)),
        faces: data.faces_in(frame).iter().map(|&face| data.embedding(face)).collect(),
    };
    data.frames().map(photo).collect()
}

/// What was found frame by frame, in the order of the faces.
pub fn by_face<T>(data: &Dataset, of_frames: Vec<Vec<T>>) -> Vec<T> {
    let faces = data.frames().flat_map(|frame| data.faces_in(frame));
    let mut found: Vec<_> = faces.zip(of_frames.into_iter().flatten()).collect();
    found.sort_by_key(|(face, _)| face.index());
    found.into_iter().map(|(_, answer)| answer).collect()
}

fn to_json(face: &str, answer: &Answer, posterior: &Posterior, known: &[String]) -> Value {
    let mut object = answer::to_json(face, answer, posterior.names(), usize::MAX);
    let faces: Vec<&str> = answer.identity.faces.iter().map(|face| known[face.index()].as_str()).collect();
    object.insert("identity".to_owned(), json!({"p": answer.identity.p, "faces": faces}));
    let context: Value = answer.context.iter().map(|(label, p)| (label.clone(), json!(p))).collect();
    object.insert("context".to_owned(), context);
    Value::Object(object)
}

fn to_text(face: &str, answer: &Answer, posterior: &Posterior, known: &[String]) -> String {
    let mut text = answer::in_words(face, answer, posterior.names(), 1);
    if let Some(example) = answer.identity.faces.first().filter(|_| answer.identity.p >= 0.01) {
        text += &format!("; as on {} {}", known[example.index()], percent(answer.identity.p));
    }
    if let Some((context, p)) = answer.context.first().filter(|_| answer.context.len() > 1) {
        text += &format!("; at {context} {}", percent(*p));
    }
    text
}

//! `kith predict`: who is on new photos, from the draws of a fit.

use std::io::Write;

use anyhow::{Context, ensure};
use kith::data::Dataset;
use kith::ids::FrameId;
use kith::predict::{NewPhoto, Posterior, Prediction};
use kith::target::Target;
use kith_io::{dataset, draws};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::Outcome;
use crate::args::PredictOptions;
use crate::fit::set_threads;
use crate::progress::bar;

/// Runs the verb.
pub fn run(options: &PredictOptions) -> anyhow::Result<Outcome> {
    set_threads(options.threads)?;
    let table = dataset::read(&options.dataset)?;
    let new = dataset::read(&options.new)?;
    let (model, draws) =
        draws::read(&options.draws, &table.dataset).with_context(|| options.dataset.display().to_string())?;
    let (found, wanted) = (new.dataset.dimension(), table.dataset.dimension());
    let path = options.new.display();
    ensure!(found == wanted, "{path}: found dimension {found}, wanted {wanted} as in the dataset");
    let posterior = Posterior::new(&Target::new(model, table.dataset)?, &draws);

    let answers = answers(&posterior, &new.dataset, options.weighted);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for (face, answer) in new.faces.iter().zip(&answers) {
        if options.json {
            writeln!(out, "{}", to_json(face, answer, &posterior, &table.faces))?;
        } else {
            writeln!(out, "{}", to_text(face, answer, &posterior, &table.faces))?;
        }
    }
    out.flush()?;
    Ok(Outcome::Done)
}

/// One answer per face, in the order of the rows; the dataset is one occasion, whose frames are answered in parallel.
pub fn answers(posterior: &Posterior, data: &Dataset, weighted: bool) -> Vec<Prediction> {
    let photo = |frame: FrameId| NewPhoto {
        context: data.given_context(frame).map(|context| data.contexts()[context.index()].as_str()),
        faces: data.faces_in(frame).iter().map(|&face| data.embedding(face)).collect(),
    };
    let photos: Vec<NewPhoto<'_>> = data.frames().map(photo).collect();
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
    let of_frames: Vec<Vec<Prediction>> = frames.par_iter().map(|&frame| of_frame(frame)).collect();
    bar.finish_and_clear();
    let mut answers: Vec<Option<Prediction>> = vec![None; data.n_faces()];
    for (frame, predictions) in frames.into_iter().zip(of_frames) {
        for (face, prediction) in data.faces_in(frame).iter().zip(predictions) {
            answers[face.index()] = Some(prediction);
        }
    }
    answers.into_iter().map(|answer| answer.expect("every face is in a frame")).collect()
}

fn to_json(face: &str, answer: &Prediction, posterior: &Posterior, known: &[String]) -> Value {
    let names: Vec<Value> = answer
        .names
        .iter()
        .map(|name| json!({"name": posterior.names()[name.label.index()], "p": name.p, "hdi": name.hdi}))
        .collect();
    let faces: Vec<&str> = answer.identity.faces.iter().map(|face| known[face.index()].as_str()).collect();
    let context: Value = answer.context.iter().map(|(label, p)| (label.clone(), json!(p))).collect();
    json!({
        "face": face,
        "acquainted": answer.acquainted,
        "familiar": answer.familiar,
        "stranger": answer.stranger,
        "names": names,
        "unknown_name": answer.unknown_name,
        "identity": {"p": answer.identity.p, "faces": faces},
        "context": context,
    })
}

fn to_text(face: &str, answer: &Prediction, posterior: &Posterior, known: &[String]) -> String {
    let percent = |p: f64| format!("{:.0} %", 100.0 * p);
    let mut text = format!(
        "{face}: acquainted {}, familiar {}, stranger {}",
        percent(answer.acquainted),
        percent(answer.familiar),
        percent(answer.stranger)
    );
    if let Some(name) = answer.names.first().filter(|name| name.p >= 0.01) {
        let [low, high] = name.hdi;
        let label = &posterior.names()[name.label.index()];
        text += &format!("; {label} {} [{}, {}]", percent(name.p), percent(low), percent(high));
    }
    if let Some(example) = answer.identity.faces.first().filter(|_| answer.identity.p >= 0.01) {
        text += &format!("; as on {} {}", known[example.index()], percent(answer.identity.p));
    }
    if let Some((context, p)) = answer.context.first().filter(|_| answer.context.len() > 1) {
        text += &format!("; at {context} {}", percent(*p));
    }
    text
}

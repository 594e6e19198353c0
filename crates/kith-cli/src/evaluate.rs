//! `kith evaluate`: how good and how calibrated the answers of a fit are, where the truth is known.

use std::collections::HashSet;
use std::io::Write;

use anyhow::{Context, ensure};
use kith_io::dataset::{self, FaceTable};
use kith_lab::metrics::{auc, brier, expected_calibration_error, reliability};
use serde_json::{Value, json};

use crate::Outcome;
use crate::args::EvaluateOptions;
use crate::fit::set_threads;
use crate::predict::{answers, believed};

/// Bins of the reliability table.
const N_BINS: usize = 15;

/// Statements about faces: how probable each was called, whether it was so, and whether the decision was
/// right.
#[derive(Default)]
struct Statements {
    p: Vec<f64>,
    was: Vec<bool>,
    right: Vec<bool>,
}

/// Runs the verb.
pub fn run(options: &EvaluateOptions) -> anyhow::Result<Outcome> {
    set_threads(options.threads)?;
    let table = dataset::read(&options.data)?;
    let new = dataset::read(&options.new)?;
    let truth = truth_of(&table).with_context(|| options.data.display().to_string())?.to_vec();
    let new_truth = truth_of(&new).with_context(|| options.new.display().to_string())?;
    let belief = believed([&options.data, &options.draws, &options.new], table.dataset, &new)?;
    let posterior = belief.posterior();

    let seen: HashSet<&str> = truth.iter().flatten().map(String::as_str).collect();
    let (mut strangers, mut identities) = (Statements::default(), Statements::default());
    for (answer, person) in answers(posterior, &new.dataset, options.weighted).iter().zip(new_truth) {
        let Some(person) = person else { continue };
        let is_stranger = !seen.contains(person.as_str());
        strangers.add(answer.stranger, is_stranger, (answer.stranger > 0.5) == is_stranger);
        // The claim: it is the person of the first example face.
        let example = answer.identity.faces.first().and_then(|face| truth[face.index()].as_ref());
        let is_person = example == Some(person);
        let is_called_stranger = answer.stranger >= answer.identity.p;
        identities.add(
            answer.identity.p,
            is_person,
            if is_called_stranger { is_stranger } else { is_person },
        );
    }
    let path = options.new.display();
    ensure!(!strangers.p.is_empty(), "{path}: found no face with `truth`, wanted at least one");
    let report = json!({"stranger": strangers.to_json(), "identity": identities.to_json()});
    let mut out = crate::progress::stdout();
    if options.json {
        writeln!(out, "{report}")?;
    } else {
        write!(out, "{}{}", strangers.to_text("never seen"), identities.to_text("the person shown"))?;
    }
    Ok(Outcome::Done)
}

pub fn truth_of(table: &FaceTable) -> anyhow::Result<&[Option<String>]> {
    table.truth.as_deref().context("found no column `truth`, wanted it to evaluate against")
}

impl Statements {
    fn add(&mut self, p: f64, was: bool, right: bool) {
        self.p.push(p);
        self.was.push(was);
        self.right.push(right);
    }

    fn accuracy(&self) -> f64 {
        self.right.iter().filter(|&&right| right).count() as f64 / self.right.len() as f64
    }

    fn to_json(&self) -> Value {
        let bins = reliability(&self.p, &self.was, N_BINS);
        let table: Vec<Value> =
            bins.iter().map(|bin| json!({"n": bin.n, "said": bin.said, "was": bin.was})).collect();
        json!({
            "n": self.p.len(),
            "auc": auc(&self.p, &self.was),
            "accuracy": self.accuracy(),
            "brier": brier(&self.p, &self.was),
            "ece": expected_calibration_error(&bins),
            "reliability": table,
        })
    }

    fn to_text(&self, what: &str) -> String {
        let bins = reliability(&self.p, &self.was, N_BINS);
        let area = auc(&self.p, &self.was).map_or("-".to_owned(), |auc| format!("{auc:.4}"));
        let mut text = format!(
            "{what}: {} faces, AUC {area}, decisions right {:.1} %, Brier {:.4}, calibration error {:.4}\n",
            self.p.len(),
            100.0 * self.accuracy(),
            brier(&self.p, &self.was),
            expected_calibration_error(&bins)
        );
        text += "     faces   said    was\n";
        for bin in bins {
            text += &format!("    {:>6}  {:>5.3}  {:>5.3}\n", bin.n, bin.said, bin.was);
        }
        text
    }
}

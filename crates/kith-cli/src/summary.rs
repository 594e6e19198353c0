//! What a fit found: one partition, and how far to trust the chains.

use std::borrow::Cow;

use kith::belief::agreement::disagreement;
use kith::belief::people::partitions;
use kith::belief::{AGREED, ENOUGH, Learnt};
use kith::chain::Draw;
use kith::chain::diagnostics::{Summary, highest_density_interval};
use kith::predict::partition::adjusted_rand_index;
use kith::predict::representative::representative;
use serde_json::{Value, json};

use crate::progress::{count, note};

/// Figures of a finished fit.
pub struct FitSummary {
    n_faces: usize,
    scalars: Vec<(&'static str, Summary)>,
    partition: Vec<u32>,
    certainty: Vec<f64>,
    ari: Option<Ari>,
    /// By how much the chains disagree.
    disagreement: f64,
    seconds: f64,
}

/// Agreement with the truth.
struct Ari {
    partition: f64,
    mean: f64,
    hdi: [f64; 2],
}

impl FitSummary {
    /// Summarises draws; `truth` is for evaluation only. Where chains ran until they agreed, `learnt` has
    /// what it came to: the concentrations were then followed from redraw to redraw.
    pub fn of(
        draws: &[Draw],
        n_chains: usize,
        truth: Option<&[Option<String>]>,
        learnt: Option<&Learnt>,
        seconds: f64,
    ) -> Self {
        let scalar = |name: &'static str, value: &dyn Fn(&Draw) -> f64| {
            let mut chains = vec![Vec::new(); n_chains];
            draws.iter().for_each(|draw| chains[draw.chain as usize].push(value(draw)));
            chains.retain(|chain| !chain.is_empty());
            (name, Summary::of(&chains))
        };
        let mut scalars = vec![
            scalar("n_identities", &|draw| draw.n_people() as f64),
            scalar("ln_joint", &|draw| draw.globals.ln_joint),
            scalar("global_concentration", &|draw| draw.globals.global_concentration),
            scalar("local_concentration", &|draw| {
                draw.globals.local_concentration.iter().sum::<f64>()
                    / draw.globals.local_concentration.len() as f64
            }),
            scalar("context_concentration", &|draw| draw.globals.context_concentration),
            scalar("name_concentration", &|draw| draw.globals.name_concentration),
            scalar("error_rate", &|draw| draw.globals.error_rate),
        ];
        if let Some([global, local]) = learnt.and_then(|learnt| learnt.concentrations) {
            (scalars[2].1, scalars[3].1) = (global, local);
        }
        // What was fixed has nothing to diagnose, nor have names where nobody was named.
        let is_anybody_named = draws.iter().any(|draw| draw.globals.name_weights.len() > 1);
        scalars.retain(|(name, s)| match *name {
            "n_identities" | "ln_joint" => true,
            "name_concentration" | "error_rate" if !is_anybody_named => false,
            _ => s.hdi[0] != s.hdi[1],
        });
        let partitions = partitions(draws);
        let shown = representative(&partitions);
        let ari = truth.and_then(|truth| Ari::of(truth, &shown.labels, &partitions));
        Self {
            n_faces: shown.labels.len(),
            scalars,
            partition: shown.labels,
            certainty: shown.certainty,
            ari,
            disagreement: learnt
                .and_then(|learnt| learnt.r_hat)
                .unwrap_or_else(|| disagreement(&draws.iter().collect::<Vec<_>>(), n_chains)),
            seconds,
        }
    }

    /// The object of `kith fit --json`.
    pub fn to_json(&self) -> Value {
        let each = |value: &dyn Fn(&Summary) -> Value| -> Value {
            self.scalars.iter().map(|(name, summary)| (name.to_string(), value(summary))).collect()
        };
        let of = |wanted: &str| {
            let (_, summary) = self.scalars.iter().find(|(name, _)| *name == wanted).expect("always there");
            json!({"mean": summary.mean, "hdi": summary.hdi})
        };
        let mut object = json!({
            "n_faces": self.n_faces,
            "n_identities": of("n_identities"),
            "ln_joint": of("ln_joint"),
            "r_hat": each(&|summary| json!(summary.r_hat)),
            "ess": each(&|summary| json!({"bulk": summary.ess_bulk, "tail": summary.ess_tail})),
            "partition": self.partition,
            "certainty": self.certainty,
            "seconds": self.seconds,
        });
        if let Some(ari) = &self.ari {
            object["ari"] = json!({
                "partition": ari.partition,
                "draws": {"mean": ari.mean, "hdi": ari.hdi},
            });
        }
        object
    }

    /// A few lines for a person.
    pub fn print(&self) {
        let n_shown = self.partition.iter().max().map_or(0, |highest| *highest as usize + 1);
        let mean = self.certainty.iter().sum::<f64>() / self.n_faces as f64;
        note(format!(
            "{}, shown as {}; a face's place is {:.0} % sure on average",
            count(self.n_faces, "face"),
            count(n_shown, "person"),
            100.0 * mean
        ));
        for (name, s) in &self.scalars {
            note(format!(
                "  {name:<22} {:>12.3}  {}  R-hat {}  ESS {}",
                s.mean,
                interval(s),
                number(s.r_hat, 3),
                number(s.ess_bulk, 0)
            ));
        }
        if let Some(ari) = &self.ari {
            note(format!(
                "  agreement with the truth (adjusted Rand index): {:.4}; draws {:.4} [{:.4}, {:.4}]",
                ari.partition, ari.mean, ari.hdi[0], ari.hdi[1]
            ));
        }
        let worst = self.disagreement;
        if worst.is_infinite() {
            note("  too few draws to tell whether the chains agree: give them more --sweeps");
        } else if worst >= AGREED {
            note(format!(
                "  the chains do not agree yet (R-hat {worst:.2}, wanted below {AGREED}): give them more \
                 --sweeps"
            ));
        }
    }
}

/// The interval, where the draws are worth enough independent ones to tell its ends.
fn interval(s: &Summary) -> String {
    let [low, high] = s.hdi;
    match s.ess_bulk >= ENOUGH || low == high {
        true => format!("95 % [{low:.3}, {high:.3}]"),
        false => "too few draws for an interval".to_owned(),
    }
}

/// A diagnostic, or a dash where there is none: of draws that are all the same, or too few.
fn number(value: f64, decimals: usize) -> String {
    if value.is_finite() { format!("{value:.decimals$}") } else { "-".to_owned() }
}

impl Ari {
    /// Over the faces whose truth is known.
    fn of(truth: &[Option<String>], shown: &[u32], draws: &[Cow<'_, [u32]>]) -> Option<Self> {
        let mut people: Vec<&str> = truth.iter().flatten().map(String::as_str).collect();
        people.sort_unstable();
        people.dedup();
        let known: Vec<usize> = (0..truth.len()).filter(|&face| truth[face].is_some()).collect();
        if known.is_empty() {
            return None;
        }
        let person = |&face: &usize| {
            let name = truth[face].as_deref().expect("only known faces are asked");
            people.binary_search(&name).expect("every person is listed") as u32
        };
        let truth: Vec<u32> = known.iter().map(person).collect();
        let score = |labels: &[u32]| {
            let labels: Vec<u32> = known.iter().map(|&face| labels[face]).collect();
            adjusted_rand_index(&truth, &labels)
        };
        let scores: Vec<f64> = draws.iter().map(|draw| score(draw)).collect();
        Some(Self {
            partition: score(shown),
            mean: scores.iter().sum::<f64>() / scores.len() as f64,
            hdi: highest_density_interval(&scores, 0.95),
        })
    }
}

#[cfg(test)]
mod tests {
    use kith::random::driver;

    use super::*;

    #[test]
    fn an_interval_is_told_where_the_draws_are_worth_it() {
        let mut rng = driver(1);
        let mut of =
            |n: usize| -> Vec<Vec<f64>> { (0..4).map(|_| (0..n).map(|_| rng.normal()).collect()).collect() };
        assert!(interval(&Summary::of(&of(100))).starts_with("95 % ["));
        assert_eq!(interval(&Summary::of(&of(8))), "too few draws for an interval");
        assert_eq!(interval(&Summary::of(&[vec![3.0; 8], vec![3.0; 8]])), "95 % [3.000, 3.000]");
    }
}

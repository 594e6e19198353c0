//! What the discovery of identities found: curves over frames, how the protocols end, and contexts predicted.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Discovery, Outcome, Protocol};
use crate::figures::{Chart, Figure, Series, Timeline, look, panels, timeline};
use crate::metrics::Interval;
use crate::report::{Findings, Table};

/// One model under one protocol, with or without contexts, over all repeats.
struct Curve<'o> {
    arm: usize,
    protocol: Protocol,
    contexts: bool,
    /// Over chains and repeats, by frame.
    ari: BTreeMap<usize, Interval>,
    outcomes: Vec<&'o Outcome>,
}

impl Curve<'_> {
    fn end(&self) -> &Interval {
        self.ari.values().last().expect("a curve has points")
    }

    fn mean(&self, of: impl Fn(&Outcome) -> f64) -> f64 {
        self.outcomes.iter().map(|outcome| of(outcome)).sum::<f64>() / self.outcomes.len() as f64
    }

    fn context_accuracy(&self) -> Option<f64> {
        self.contexts.then(|| self.mean(|outcome| outcome.context_accuracy.unwrap_or(f64::NAN)))
    }
}

pub(super) fn of(experiment: &Discovery<'_>, outcomes: &[Outcome]) -> Findings {
    let curves = curves(experiment, outcomes);
    let mut listed = Vec::new();
    let mut accuracies = Vec::new();
    for curve in &curves {
        for label in &experiment.arms[curve.arm].labels {
            let protocol = curve.protocol.name();
            listed.extend(curve.ari.iter().map(|(frame, ari)| {
                json!({
                    "model": label, "protocol": protocol, "contexts": curve.contexts, "frame": frame,
                    "ari": {"mean": ari.mean, "hdi": ari.hdi},
                })
            }));
            if let Some(accuracy) = curve.context_accuracy() {
                accuracies.push(json!({"model": label, "protocol": protocol, "accuracy": accuracy}));
            }
        }
    }
    // One number to quote: the model asked for, offline.
    let is_quoted = |curve: &&Curve<'_>| {
        curve.contexts
            && curve.protocol == Protocol::Offline
            && experiment.arms[curve.arm].labels.contains(&"kith")
    };
    let quoted: Value = curves.iter().find(is_quoted).and_then(Curve::context_accuracy).into();
    Findings {
        title: "Identity discovery (§4.2)",
        about: format!(
            "{} people, each belonging to one of three contexts, walk in and out of the picture of a wearer \
             who moves between the contexts: {} frames, nobody named. Learnt from frame by frame (online), \
             every 20 frames (batch) or at once (offline), with the contexts given and with the context \
             model off. {} simulation(s).",
            experiment.people.len(),
            experiment.n_frames,
            experiment.plan.repeats
        ),
        summary: json!({"curves": listed, "context_accuracy": quoted, "context_accuracies": accuracies}),
        comparison: comparison(experiment, &curves),
        tables: vec![ends(experiment, &curves), points(experiment, &curves)],
        figures: figures(experiment, &curves),
        notes: notes(experiment, &curves),
    }
}

fn curves<'o>(experiment: &Discovery<'_>, outcomes: &'o [Outcome]) -> Vec<Curve<'o>> {
    let mut curves = Vec::new();
    for arm in 0..experiment.arms.len() {
        for contexts in [true, false] {
            for protocol in Protocol::ALL {
                let is_of = |o: &&Outcome| o.arm == arm && o.protocol == protocol && o.contexts == contexts;
                let outcomes: Vec<&Outcome> = outcomes.iter().filter(is_of).collect();
                let mut values: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
                for moment in outcomes.iter().flat_map(|outcome| &outcome.curve) {
                    values.entry(moment.frame).or_default().extend(&moment.ari);
                }
                let ari = values.into_iter().map(|(frame, ari)| (frame, Interval::of(&ari))).collect();
                curves.push(Curve { arm, protocol, contexts, ari, outcomes });
            }
        }
    }
    curves
}

fn with(contexts: bool) -> &'static str {
    if contexts { "with contexts" } else { "without contexts" }
}

fn shown(interval: &Interval) -> String {
    format!("{:.3} [{:.3}, {:.3}]", interval.mean, interval.hdi[0], interval.hdi[1])
}

fn comparison(experiment: &Discovery<'_>, curves: &[Curve<'_>]) -> Table {
    let mut rows = Vec::new();
    for (arm, model) in experiment.arms.iter().enumerate() {
        let end = |contexts: bool, protocol: Protocol| {
            let of = |c: &&Curve<'_>| c.arm == arm && c.contexts == contexts && c.protocol == protocol;
            curves.iter().find(of).expect("every combination was run").end()
        };
        for protocol in Protocol::ALL {
            let (given, none) = (end(true, protocol), end(false, protocol));
            rows.push(vec![
                format!("{}, {}: ARI at the end, with / without contexts", model.title, protocol.name()),
                "with contexts marginally better, and of less variance".to_owned(),
                format!("{} / {}", shown(given), shown(none)),
            ]);
        }
        let width = |protocol| {
            let [low, high] = end(true, protocol).hdi;
            high - low
        };
        rows.push(vec![
            format!("{}: width of the interval at the end, online / batch / offline", model.title),
            "online much lower variance".to_owned(),
            Protocol::ALL.map(|protocol| format!("{:.3}", width(protocol))).join(" / "),
        ]);
    }
    Table {
        name: "comparison",
        caption:
            "Adjusted Rand index of the partition of all faces; means and 95 % intervals over chains and \
                  simulations."
                .to_owned(),
        header: vec!["what", "the paper", "here"],
        rows,
    }
}

fn ends(experiment: &Discovery<'_>, curves: &[Curve<'_>]) -> Table {
    let average = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let row = |curve: &Curve<'_>| {
        vec![
            experiment.arms[curve.arm].title.clone(),
            curve.protocol.name().to_owned(),
            with(curve.contexts).to_owned(),
            shown(curve.end()),
            format!("{:.3}", curve.mean(|outcome| average(&outcome.precision))),
            format!("{:.3}", curve.mean(|outcome| average(&outcome.recall))),
            format!("{:.3}", curve.mean(|outcome| average(&outcome.variation_of_information))),
            curve.context_accuracy().map_or(String::new(), |accuracy| format!("{:.1} %", 100.0 * accuracy)),
            format!("{:.0}", curve.mean(|outcome| outcome.seconds)),
        ]
    };
    Table {
        name: "ends",
        caption: "After the last frame. The context is predicted for frames that come later, from their \
                  faces alone."
            .to_owned(),
        header: vec![
            "model",
            "protocol",
            "contexts",
            "ARI",
            "pairwise precision",
            "pairwise recall",
            "VI (nats)",
            "context predicted rightly",
            "seconds",
        ],
        rows: curves.iter().map(row).collect(),
    }
}

fn points(experiment: &Discovery<'_>, curves: &[Curve<'_>]) -> Table {
    let mut rows = Vec::new();
    for curve in curves {
        for (frame, ari) in &curve.ari {
            rows.push(vec![
                experiment.arms[curve.arm].label().to_owned(),
                curve.protocol.name().to_owned(),
                curve.contexts.to_string(),
                frame.to_string(),
                ari.mean.to_string(),
                ari.hdi[0].to_string(),
                ari.hdi[1].to_string(),
            ]);
        }
    }
    Table {
        name: "curves",
        caption: "Each point of the curves.".to_owned(),
        header: vec!["model", "protocol", "contexts", "frame", "ari", "low", "high"],
        rows,
    }
}

fn figures(experiment: &Discovery<'_>, curves: &[Curve<'_>]) -> Vec<Figure> {
    let stream = experiment.stream(0);
    let mut first_seen = vec![false; experiment.people.len()];
    let mut stars = Vec::new();
    for (number, frame) in stream.frames.iter().enumerate() {
        let newcomers =
            frame.people.iter().filter(|&&person| !std::mem::replace(&mut first_seen[person], true));
        if newcomers.count() > 0 {
            stars.push((number + 1) as f64);
        }
    }
    let mut charts = Vec::new();
    for (arm, model) in experiment.arms.iter().enumerate() {
        for contexts in [true, false] {
            let of = curves.iter().filter(|curve| curve.arm == arm && curve.contexts == contexts);
            let series = of.map(|curve| Series {
                label: curve.protocol.name().to_owned(),
                look: look(curve.protocol.name()),
                points: curve.ari.iter().map(|(frame, ari)| [*frame as f64, ari.mean]).collect(),
                band: curve.ari.iter().map(|(frame, ari)| [*frame as f64, ari.hdi[0], ari.hdi[1]]).collect(),
                dots: curve.protocol != Protocol::Online,
            });
            charts.push(Chart {
                title: format!("{}, {}", model.title, with(contexts)),
                x_label: "frame".to_owned(),
                y_label: "adjusted Rand index".to_owned(),
                x: [0.0, experiment.n_frames as f64],
                y: [0.0, 1.0],
                percent: false,
                series: series.collect(),
                stars: stars.clone(),
            });
        }
    }
    let frames = stream.frames.iter().map(|frame| (frame.context, &frame.people[..])).collect();
    let shown = Timeline { contexts: &stream.contexts, context_of: &stream.context_of, frames };
    vec![
        Figure {
            name: "timeline",
            caption:
                "The first simulation: people by the context they belong to, shaded while the wearer is \
                      there."
                    .to_owned(),
            drawing: timeline(&shown),
        },
        Figure {
            name: "ari",
            caption: "Adjusted Rand index over frames; bands are 95 % highest-density intervals over chains \
                      and simulations. The offline curve is the last state's, on the faces up to each frame. \
                      Stars are the first simulation's."
                .to_owned(),
            drawing: panels(&charts, 2),
        },
    ]
}

/// Whether the protocols end together, in words.
fn notes(experiment: &Discovery<'_>, curves: &[Curve<'_>]) -> Vec<String> {
    let mut notes = vec![
        "Without a background the face prior is learnt from the stream's own faces, nobody named, before the \
         first frame is learnt from: online learning knows in advance how faces vary, not who is who."
            .to_owned(),
    ];
    for (arm, model) in experiment.arms.iter().enumerate() {
        for contexts in [true, false] {
            let of: Vec<&Curve<'_>> =
                curves.iter().filter(|curve| curve.arm == arm && curve.contexts == contexts).collect();
            let pairs = [(0, 1), (0, 2), (1, 2)];
            let apart: Vec<String> = pairs
                .into_iter()
                .filter(|&(a, b)| !of[a].end().overlaps(of[b].end()))
                .map(|(a, b)| {
                    let difference = of[a].end().mean - of[b].end().mean;
                    format!("{} against {}: {difference:+.3}", of[a].protocol.name(), of[b].protocol.name())
                })
                .collect();
            let place = format!("{}, {}", model.title, with(contexts));
            notes.push(if apart.is_empty() {
                format!("{place}: the three protocols end within each other's intervals.")
            } else {
                format!(
                    "{place}: not within each other's intervals end {}. Chains that have seen faces in \
                     another order and for other numbers of sweeps then rest in different partitions of \
                     about the same probability: the sampler, not the data, tells them apart.",
                    apart.join(", ")
                )
            });
        }
    }
    notes
}

//! What naming found: accuracy by group over numbers of names, and over wrong names.

use std::collections::BTreeMap;

use serde_json::json;

use super::{Condition, NAMES, Naming, Outcome, Scores};
use crate::figures::{Chart, Figure, Series, look, panels};
use crate::metrics::Interval;
use crate::report::{Findings, Table};

const GROUPS: [&str; 3] = ["acquainted", "familiar", "stranger"];

/// One method, group and condition: the shares of right names of all draws and repeats.
struct Point {
    method: String,
    group: &'static str,
    names: usize,
    wrong: f64,
    accuracy: Interval,
}

pub(super) fn of(experiment: &Naming<'_>, outcomes: &[Outcome]) -> Findings {
    let points = points(experiment, outcomes);
    let gammas: Vec<f64> = outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            Outcome::Baselines { gamma, .. } => Some(*gamma),
            _ => None,
        })
        .collect();
    let mut curves = Vec::new();
    for point in &points {
        let arm = experiment.arms.iter().find(|arm| arm.label() == point.method);
        let labels: Vec<&str> = arm.map_or(vec![&point.method], |arm| arm.labels.clone());
        curves.extend(labels.into_iter().map(|label| {
            json!({
                "method": label, "group": point.group, "names": point.names, "wrong": point.wrong,
                "accuracy": {"mean": point.accuracy.mean, "hdi": point.accuracy.hdi},
            })
        }));
    }
    let mut seconds: BTreeMap<&str, f64> = BTreeMap::new();
    for outcome in outcomes {
        if let Outcome::Arm { arm, seconds: more, .. } = outcome {
            *seconds.entry(experiment.arms[*arm].label()).or_default() +=
                more / experiment.plan.repeats as f64;
        }
    }
    let mut figures = figures(experiment, &points);
    figures.extend(outcomes.iter().filter_map(|outcome| match outcome {
        Outcome::Toy(toy) => Some(toy.figure()),
        _ => None,
    }));
    Findings {
        title: "Semi-supervised naming (§4.3)",
        about: format!(
            "A third of the people are acquainted (seen on 15 photos, 1 to 15 of them named), a third \
             familiar (seen on 15 photos, never named), a third strangers (never seen). Asked about 15 other \
             photos of each, a method should say the name of an acquaintance and \"unknown\" for everybody \
             else. {} random split(s).",
            experiment.plan.repeats
        ),
        summary: json!({
            "repeats": experiment.plan.repeats, "curves": curves, "gammas": gammas, "seconds": seconds,
        }),
        comparison: comparison(experiment, &points),
        tables: vec![table(experiment, &points)],
        figures,
        notes: vec![
            "Nearest neighbour and label propagation cannot say \"unknown\": as in the paper they stand at \
             zero for the familiar and for strangers. With a threshold they can: it is chosen on the named \
             photos by letting one acquaintance at a time play the stranger and the familiar, against every \
             second named photo of the others, and weighs both kinds of mistake alike. With one name each \
             there is no photo to play the known: all who play the unknown are refused."
                .to_owned(),
            "Label propagation has the kernel of the one-class SVM; its width is chosen on all 15 training \
             photos of each acquaintance whatever the number of names, which favours it at few names. Its \
             threshold is on the share of the label and on how like others the photo is; it helps little \
             with the familiar, who take the whole of some label along the graph however weakly they are \
             tied to it."
                .to_owned(),
            "Our default model looks at all photos asked about together, without their names (D11 in \
             PAPER.md). The baselines and the paper's model answer each photo by itself; label propagation \
             sees unnamed training photos, but none of those asked about."
                .to_owned(),
        ]
        .into_iter()
        .chain(experiment.arms.iter().filter_map(|arm| shortfall(arm.label(), &points)))
        .collect(),
    }
}

/// By how much a model names fewer of the acquainted than nearest neighbour, given most names, and why;
/// `None` within a point of it.
fn shortfall(method: &str, points: &[Point]) -> Option<String> {
    let most = most();
    let accuracy = |method: &str| {
        let is_it = |point: &&Point| {
            point.method == method && point.group == "acquainted" && point.names == most && point.wrong == 0.0
        };
        points.iter().find(is_it).map(|point| point.accuracy.mean)
    };
    let short = 100.0 * (accuracy("nearest_neighbour")? - accuracy(method)?);
    (short > 1.0).then(|| {
        format!(
            "{method} names {short:.1} points fewer photos of acquaintances rightly than nearest neighbour \
             with {most} names. Nearest neighbour never says \"unknown\", whoever is on the photo; a model \
             that does so for strangers takes some odd photos of acquaintances for a stranger's."
        )
    })
}

fn points(experiment: &Naming<'_>, outcomes: &[Outcome]) -> Vec<Point> {
    // By method, then condition, in the order in which they are first met.
    let mut found: Vec<(String, Condition, Vec<&Scores>)> = Vec::new();
    let mut add = |method: &str, condition: Condition, scores| match found
        .iter_mut()
        .find(|(known, at, _)| known == method && *at == condition)
    {
        Some((_, _, all)) => all.push(scores),
        None => found.push((method.to_owned(), condition, vec![scores])),
    };
    for outcome in outcomes {
        match outcome {
            Outcome::Arm { arm, condition, scores, .. } => {
                add(experiment.arms[*arm].label(), *condition, scores);
            }
            Outcome::Baselines { answers, .. } => {
                answers.iter().for_each(|(method, condition, scores)| add(method, *condition, scores));
            }
            Outcome::Toy(_) => {}
        }
    }
    let mut points = Vec::new();
    for (method, condition, scores) in found {
        for group in GROUPS {
            let of = |scores: &&Scores| match group {
                "acquainted" => scores.acquainted.clone(),
                "familiar" => scores.familiar.clone(),
                _ => scores.stranger.clone(),
            };
            let accuracy = Interval::of(&scores.iter().flat_map(of).collect::<Vec<f64>>());
            let Condition { names, wrong } = condition;
            points.push(Point { method: method.clone(), group, names, wrong, accuracy });
        }
    }
    points
}

/// What a reader calls a method.
fn title<'e>(experiment: &'e Naming<'_>, method: &'e str) -> &'e str {
    match method {
        "nearest_neighbour" => "nearest neighbour",
        "nearest_neighbour_threshold" => "nearest neighbour, threshold",
        "label_propagation" => "label propagation",
        "label_propagation_threshold" => "label propagation, threshold",
        _ => experiment.arms.iter().find(|arm| arm.label() == method).map_or(method, |arm| &arm.title),
    }
}

fn percent(interval: &Interval) -> String {
    let [low, high] = interval.hdi;
    format!("{:.1} % [{:.1}, {:.1}]", 100.0 * interval.mean, 100.0 * low, 100.0 * high)
}

fn most() -> usize {
    NAMES[NAMES.len() - 1]
}

fn comparison(experiment: &Naming<'_>, points: &[Point]) -> Table {
    let at = |method: &str, group: &str, wrong: f64| {
        let is = |p: &&Point| p.method == method && p.group == group && p.names == most() && p.wrong == wrong;
        points.iter().find(is).map(|point| &point.accuracy)
    };
    let mut rows = Vec::new();
    let mut add = |what: String, said: &str, accuracy: Option<&Interval>| {
        rows.extend(accuracy.map(|accuracy| vec![what, said.to_owned(), percent(accuracy)]));
    };
    for method in ["nearest_neighbour", "label_propagation"] {
        let said = "both nearly alike, and slightly above the model";
        let what = format!("{}: acquainted, 15 names", title(experiment, method));
        add(what, said, at(method, "acquainted", 0.0));
    }
    for arm in experiment.arms {
        for (group, said) in [
            ("acquainted", "slightly below the baselines; better with more names"),
            ("familiar", "says that their names are unknown"),
            ("stranger", "says that their names are unknown"),
        ] {
            add(format!("{}: {group}, 15 names", arm.title), said, at(arm.label(), group, 0.0));
        }
    }
    for method in experiment.arms.iter().map(|arm| arm.label()).chain(["nearest_neighbour"]) {
        let what = format!("{}: acquainted, 15 names, 20 % of them wrong", title(experiment, method));
        add(what, "claimed robust, not measured", at(method, "acquainted", 0.2));
    }
    Table {
        name: "comparison",
        caption: "Shares of photos named rightly; intervals over draws and splits (baselines: over splits)."
            .to_owned(),
        header: vec!["what", "the paper", "here"],
        rows,
    }
}

fn table(experiment: &Naming<'_>, points: &[Point]) -> Table {
    let row = |point: &Point| {
        vec![
            title(experiment, &point.method).to_owned(),
            point.group.to_owned(),
            point.names.to_string(),
            point.wrong.to_string(),
            format!("{:.5}", point.accuracy.mean),
            format!("{:.5}", point.accuracy.hdi[0]),
            format!("{:.5}", point.accuracy.hdi[1]),
        ]
    };
    Table {
        name: "curves",
        caption: "Every method, group, number of names per acquaintance and share of wrong names.".to_owned(),
        header: vec!["method", "group", "names", "wrong", "accuracy", "low", "high"],
        rows: points.iter().map(row).collect(),
    }
}

fn figures(experiment: &Naming<'_>, points: &[Point]) -> Vec<Figure> {
    let mut methods: Vec<&str> = Vec::new();
    for point in points {
        if !methods.contains(&point.method.as_str()) {
            methods.push(&point.method);
        }
    }
    let series = |method: &str, group: &str, by_wrong: bool| {
        let is = |p: &&Point| {
            p.method == method
                && p.group == group
                && (if by_wrong { p.names == most() } else { p.wrong == 0.0 })
        };
        let x = |p: &Point| if by_wrong { 100.0 * p.wrong } else { p.names as f64 };
        let of: Vec<&Point> = points.iter().filter(is).collect();
        Series {
            label: title(experiment, method).to_owned(),
            look: look(method),
            points: of.iter().map(|p| [x(p), p.accuracy.mean]).collect(),
            band: of.iter().map(|p| [x(p), p.accuracy.hdi[0], p.accuracy.hdi[1]]).collect(),
            dots: true,
        }
    };
    let chart = |text: &str, group: &str, by_wrong: bool| Chart {
        title: text.to_owned(),
        x_label: if by_wrong { "wrong among the given names, %" } else { "named photos per acquaintance" }
            .to_owned(),
        y_label: "named rightly".to_owned(),
        x: if by_wrong { [0.0, 30.0] } else { [0.0, most() as f64] },
        y: [0.0, 1.0],
        percent: true,
        series: methods.iter().map(|method| series(method, group, by_wrong)).collect(),
        stars: Vec::new(),
    };
    let unknown = "should be \"unknown\"";
    vec![
        Figure {
            name: "naming",
            caption: "Accuracy of the name, by group, over the number of named photos per acquaintance; \
                      bands are 95 % highest-density intervals over draws and splits."
                .to_owned(),
            drawing: panels(
                &[
                    chart("Acquainted", "acquainted", false),
                    chart(&format!("Familiar: {unknown}"), "familiar", false),
                    chart(&format!("Strangers: {unknown}"), "stranger", false),
                ],
                2,
            ),
        },
        Figure {
            name: "robustness",
            caption: "Accuracy of the name when some of 15 names per acquaintance are other \
                      acquaintances'."
                .to_owned(),
            drawing: panels(
                &[
                    chart("Acquainted", "acquainted", true),
                    chart(&format!("Familiar: {unknown}"), "familiar", true),
                ],
                2,
            ),
        },
    ]
}

//! What the detection of unknown people found: tables, figures, and the paper's figures beside ours.

use serde_json::{Map, Value, json};

use super::{BINS, Curve, Outcome, Scores, TEST, Unknown};
use crate::figures::{Chart, Figure, Series, association, look, panels};
use crate::metrics::{Interval, RocPoint, expected_calibration_error, reliability};
use crate::report::{Findings, Table};

/// One model over all repeats.
struct Pooled<'o> {
    label: &'static str,
    title: &'o str,
    repeats: Vec<&'o Scores>,
    auc: Interval,
    accuracy: Interval,
}

/// A baseline over all repeats.
struct Baseline<'o> {
    label: &'static str,
    title: String,
    repeats: Vec<&'o Curve>,
    auc: f64,
}

pub(super) fn of(experiment: &Unknown<'_>, outcomes: &[Outcome]) -> Findings {
    let models: Vec<Pooled<'_>> =
        (0..experiment.arms.len()).map(|arm| pooled(experiment, arm, outcomes)).collect();
    let (baselines, gammas) = baselines(outcomes);
    let mut methods = Map::new();
    for (arm, model) in experiment.arms.iter().zip(&models) {
        for label in &arm.labels {
            methods.insert((*label).to_owned(), model.to_json());
        }
    }
    for baseline in &baselines {
        methods.insert(baseline.label.to_owned(), json!({"auc": baseline.auc}));
    }
    let mut sorted = gammas.clone();
    sorted.sort_by(f64::total_cmp);
    methods["one_class_svm"]["gamma"] = json!(sorted[sorted.len() / 2]);
    methods["one_class_svm"]["gammas"] = json!(gammas);

    Findings {
        title: "Unknown person detection (§4.1)",
        about: format!(
            "{} people are known by 27 photos each, nobody is named, and all photos are of one context. Of \
             13 other photos of each of them, and of 13 photos of each of the people never seen, each method \
             says how likely it shows somebody never seen. {} random split(s) of the people.",
            experiment.n_known(),
            experiment.plan.repeats
        ),
        summary: json!({"repeats": experiment.plan.repeats, "methods": methods}),
        comparison: comparison(&models, &baselines),
        tables: vec![
            methods_table(&models, &baselines),
            repeats_table(outcomes, experiment),
            draws_table(&models),
            roc_table(&models, &baselines),
        ],
        figures: figures(experiment, &models, &baselines),
        notes: vec![
            "AUC ranks by the log odds of a stranger: probabilities of 0 and 1 in floating point would tie. \
             The decision is the paper's: the most probable identity, a new one included."
                .to_owned(),
            "The width of the SVM's kernel is chosen on the training photos by leaving out one person at a \
             time. Neither baseline has a probability, so neither has a decision without a threshold, a \
             Brier score or a calibration error."
                .to_owned(),
            "Our default model looks at all photos asked about together (D11 in PAPER.md); the baselines and \
             the paper's model answer each photo by itself."
                .to_owned(),
        ],
    }
}

fn pooled<'o>(experiment: &'o Unknown<'_>, wanted: usize, outcomes: &'o [Outcome]) -> Pooled<'o> {
    let repeats: Vec<&Scores> = outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            Outcome::Arm { arm, scores, .. } if *arm == wanted => Some(&**scores),
            _ => None,
        })
        .collect();
    let all = |of: fn(&Scores) -> &Vec<f64>| {
        Interval::of(&repeats.iter().flat_map(|scores| of(scores)).copied().collect::<Vec<f64>>())
    };
    let arm = &experiment.arms[wanted];
    let (auc, accuracy) = (all(|scores| &scores.auc), all(|scores| &scores.accuracy));
    Pooled { label: arm.label(), title: &arm.title, auc, accuracy, repeats }
}

fn baselines(outcomes: &[Outcome]) -> (Vec<Baseline<'_>>, Vec<f64>) {
    let (mut nearest, mut svm, mut gammas) = (Vec::new(), Vec::new(), Vec::new());
    for outcome in outcomes {
        if let Outcome::Baselines { nearest_neighbour, one_class_svm, gamma, .. } = outcome {
            nearest.push(nearest_neighbour);
            svm.push(one_class_svm);
            gammas.push(*gamma);
        }
    }
    let of = |label, title: &str, repeats: Vec<_>| Baseline {
        label,
        title: title.to_owned(),
        auc: mean(repeats.iter().map(|curve: &&Curve| curve.auc)),
        repeats,
    };
    let found = vec![
        of("nearest_neighbour", "nearest neighbour", nearest),
        of("one_class_svm", "one-class SVM", svm),
    ];
    (found, gammas)
}

impl Pooled<'_> {
    fn mean(&self, of: fn(&Scores) -> f64) -> f64 {
        mean(self.repeats.iter().map(|scores| of(scores)))
    }

    /// The expected calibration error of all splits' photos together.
    fn ece(&self) -> f64 {
        let p: Vec<f64> = self.repeats.iter().flat_map(|scores| &scores.p).copied().collect();
        let was: Vec<bool> = self.repeats.iter().flat_map(|scores| &scores.is_stranger).copied().collect();
        expected_calibration_error(&reliability(&p, &was, BINS))
    }

    fn to_json(&self) -> Value {
        json!({
            "auc": self.auc.to_json(), "accuracy": self.accuracy.to_json(),
            "brier": self.mean(|scores| scores.brier), "ece": self.ece(),
            "pooled": {
                "auc": self.mean(|scores| scores.pooled_auc),
                "accuracy": self.mean(|scores| scores.pooled_accuracy),
            },
            "training_ari": self.mean(|scores| mean(scores.ari.iter().copied())),
            "seconds": self.mean(|scores| scores.seconds),
        })
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

fn percent(interval: &Interval) -> String {
    let [low, high] = interval.hdi;
    format!("{:.1} % [{:.1}, {:.1}]", 100.0 * interval.mean, 100.0 * low, 100.0 * high)
}

fn area(interval: &Interval) -> String {
    format!("{:.4} [{:.4}, {:.4}]", interval.mean, interval.hdi[0], interval.hdi[1])
}

fn comparison(models: &[Pooled<'_>], baselines: &[Baseline<'_>]) -> Table {
    let mut rows = Vec::new();
    for model in models {
        rows.push(vec![
            format!("{}: AUC", model.title),
            "above 0.95, above both baselines".to_owned(),
            area(&model.auc),
        ]);
        let said = "95 % interval 92.3 % to 94.3 %".to_owned();
        rows.push(vec![format!("{}: MAP decisions right", model.title), said, percent(&model.accuracy)]);
    }
    for baseline in baselines {
        let measured = format!("{:.4}", baseline.auc);
        rows.push(vec![format!("{}: AUC", baseline.title), "above 0.95".to_owned(), measured]);
    }
    Table {
        name: "comparison",
        caption: "Means over draws and splits, with 95 % highest-density intervals over the draws."
            .to_owned(),
        header: vec!["what", "the paper (LFW, OpenFace)", "here"],
        rows,
    }
}

fn methods_table(models: &[Pooled<'_>], baselines: &[Baseline<'_>]) -> Table {
    let mut rows: Vec<Vec<String>> = models
        .iter()
        .map(|model| {
            vec![
                model.title.to_owned(),
                area(&model.auc),
                format!("{:.4} [{:.4}, {:.4}]", model.auc.median, model.auc.half[0], model.auc.half[1]),
                format!("{:.4}", model.mean(|scores| scores.pooled_auc)),
                percent(&model.accuracy),
                format!("{:.1} %", 100.0 * model.mean(|scores| scores.pooled_accuracy)),
                format!("{:.4}", model.mean(|scores| scores.brier)),
                format!("{:.4}", model.ece()),
                format!("{:.3}", model.mean(|scores| mean(scores.ari.iter().copied()))),
                format!("{:.0}", model.mean(|scores| scores.seconds)),
            ]
        })
        .collect();
    for baseline in baselines {
        let mut row = vec![baseline.title.clone(), format!("{:.4}", baseline.auc)];
        row.resize(10, String::new());
        rows.push(row);
    }
    Table {
        name: "methods",
        caption: "All methods; \"pooled\" averages the probabilities over draws first; ECE is that of all \
                  splits' photos together."
            .to_owned(),
        header: vec![
            "method",
            "AUC, mean [95 %]",
            "AUC, median [50 %]",
            "AUC pooled",
            "right, mean [95 %]",
            "right pooled",
            "Brier",
            "ECE",
            "ARI training",
            "seconds",
        ],
        rows,
    }
}

fn repeats_table(outcomes: &[Outcome], experiment: &Unknown<'_>) -> Table {
    let mut rows = Vec::new();
    for outcome in outcomes {
        match outcome {
            Outcome::Arm { repeat, arm, scores } => rows.push(vec![
                repeat.to_string(),
                experiment.arms[*arm].label().to_owned(),
                format!("{:.6}", mean(scores.auc.iter().copied())),
                format!("{:.6}", mean(scores.accuracy.iter().copied())),
                String::new(),
            ]),
            Outcome::Baselines { repeat, nearest_neighbour, one_class_svm, gamma } => {
                for (label, curve, gamma) in [
                    ("nearest_neighbour", nearest_neighbour, String::new()),
                    ("one_class_svm", one_class_svm, gamma.to_string()),
                ] {
                    let auc = format!("{:.6}", curve.auc);
                    rows.push(vec![repeat.to_string(), label.to_owned(), auc, String::new(), gamma]);
                }
            }
        }
    }
    Table {
        name: "repeats",
        caption: "Each split.".to_owned(),
        header: vec!["repeat", "method", "auc", "accuracy", "gamma"],
        rows,
    }
}

fn draws_table(models: &[Pooled<'_>]) -> Table {
    let mut rows = Vec::new();
    for model in models {
        for (repeat, scores) in model.repeats.iter().enumerate() {
            for (draw, (auc, accuracy)) in scores.auc.iter().zip(&scores.accuracy).enumerate() {
                let numbers = [repeat.to_string(), draw.to_string(), auc.to_string(), accuracy.to_string()];
                rows.push([vec![model.label.to_owned()], numbers.to_vec()].concat());
            }
        }
    }
    Table {
        name: "draws",
        caption: "Each draw.".to_owned(),
        header: vec!["method", "repeat", "draw", "auc", "accuracy"],
        rows,
    }
}

fn roc_table(models: &[Pooled<'_>], baselines: &[Baseline<'_>]) -> Table {
    let of_models = models.iter().map(|model| (model.label, &model.repeats[0].roc));
    let of_baselines = baselines.iter().map(|baseline| (baseline.label, &baseline.repeats[0].roc));
    let row = |label: &str, point: &RocPoint| {
        vec![label.to_owned(), point.false_positives.to_string(), point.true_positives.to_string()]
    };
    Table {
        name: "roc",
        caption: "The ROC curves of the first split.".to_owned(),
        header: vec!["method", "false_positives", "true_positives"],
        rows: of_models
            .chain(of_baselines)
            .flat_map(|(label, curve)| curve.iter().map(move |point| row(label, point)))
            .collect(),
    }
}

fn figures(experiment: &Unknown<'_>, models: &[Pooled<'_>], baselines: &[Baseline<'_>]) -> Vec<Figure> {
    let points = |curve: &[RocPoint]| curve.iter().map(|p| [p.false_positives, p.true_positives]).collect();
    let mut series: Vec<Series> = baselines
        .iter()
        .map(|baseline| Series {
            label: format!("{}, AUC {:.3}", baseline.title, baseline.repeats[0].auc),
            look: look(baseline.label),
            points: points(&baseline.repeats[0].roc),
            band: Vec::new(),
            dots: false,
        })
        .collect();
    series.extend(models.iter().map(|model| {
        let auc = Interval::of(&model.repeats[0].auc);
        let [low, high] = auc.hdi;
        Series {
            label: format!("{}, AUC {:.3} [{low:.3}, {high:.3}]", model.title, auc.median),
            look: look(model.label),
            points: points(&model.repeats[0].roc),
            band: model.repeats[0].band.clone(),
            dots: false,
        }
    }));
    let chart = |title: &str, x, y| Chart {
        title: title.to_owned(),
        x_label: "share of known people called strangers".to_owned(),
        y_label: "strangers found".to_owned(),
        x,
        y,
        percent: true,
        series: series.clone(),
        stars: Vec::new(),
    };
    // The second panel looks at the corner that matters; what lies outside is cut off.
    let mut corner = chart("the upper left corner", [0.0, 0.3], [0.7, 1.0]);
    for series in &mut corner.series {
        series.points.retain(|point| point[0] <= 0.3);
        series.band.retain(|point| point[0] <= 0.3);
    }
    let mut figures = vec![Figure {
        name: "roc",
        caption: "ROC curves of the first split; bands are 95 % highest-density intervals over draws; AUC \
                  with its median and 95 % interval over draws."
            .to_owned(),
        drawing: panels(&[chart("Finding people never seen", [0.0, 1.0], [0.0, 1.0]), corner], 2),
    }];
    let split = experiment.split(0);
    let people = vec![TEST; split.known.len() + split.unknown.len()];
    for model in models {
        let scores = model.repeats[0];
        let n_draws = scores.auc.len() as u32;
        let name = if model.label == "kith" { "association-kith" } else { "association-isotropic" };
        let title = format!("Same identity, {}", model.title);
        figures.push(Figure {
            name,
            caption: format!(
                "How often two test photos of the first split have the same most probable identity, {}.",
                model.title
            ),
            drawing: association(&title, &scores.association, n_draws, &people, split.known.len()),
        });
    }
    figures
}

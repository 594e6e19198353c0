//! Curves with bands over two axes, one panel or several side by side, and one legend for all.

use super::drawing::{Anchor, Drawing};
use super::style::{INK, LABEL, Look, RULE, SOFT, TICK, TITLE};

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What it is called in the legend; curves of one name and look are listed once.
    pub label: String,
    /// How it is drawn.
    pub look: Look,
    /// Its points, from left to right.
    pub points: Vec<[f64; 2]>,
    /// x, low and high end of its band; may be empty.
    pub band: Vec<[f64; 3]>,
    /// Whether its points are marked.
    pub dots: bool,
}

/// A panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Above it.
    pub title: String,
    /// Below it.
    pub x_label: String,
    /// Beside it.
    pub y_label: String,
    /// The ends of the horizontal axis.
    pub x: [f64; 2],
    /// The ends of the vertical axis.
    pub y: [f64; 2],
    /// Whether the vertical axis is in percent of one.
    pub percent: bool,
    /// The curves, the last on top.
    pub series: Vec<Series>,
    /// Stars on the horizontal axis.
    pub stars: Vec<f64>,
}

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 310.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 22.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 58.0;
const LEGEND_ROW: f64 = 24.0;

/// Panels side by side, so many in a row, and their legend below.
pub fn panels(charts: &[Chart], columns: usize) -> Drawing {
    let columns = columns.min(charts.len()).max(1);
    let (cell_width, cell_height) = (LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM);
    let n_rows = charts.len().div_ceil(columns);
    let mut entries: Vec<(&str, Look)> = Vec::new();
    for series in charts.iter().flat_map(|chart| &chart.series) {
        if !entries.contains(&(&series.label, series.look)) {
            entries.push((&series.label, series.look));
        }
    }
    let has_stars = charts.iter().any(|chart| !chart.stars.is_empty());
    let n_entries = entries.len() + usize::from(has_stars);
    let width = cell_width * columns as f64;
    // A legend column is as wide as its longest text.
    let longest = entries.iter().map(|entry| entry.0.chars().count()).max().unwrap_or(0);
    let entry_width = 66.0 + 7.6 * longest.max(if has_stars { 24 } else { 0 }) as f64;
    let legend_columns = (((width - LEFT) / entry_width) as usize).clamp(1, n_entries.max(1));
    let legend_rows = n_entries.div_ceil(legend_columns);
    let mut drawing =
        Drawing::new(width, cell_height * n_rows as f64 + LEGEND_ROW * legend_rows as f64 + 10.0);
    for (place, chart) in charts.iter().enumerate() {
        let corner =
            [cell_width * (place % columns) as f64 + LEFT, cell_height * (place / columns) as f64 + TOP];
        Panel { chart, corner }.draw(&mut drawing);
    }
    for place in 0..n_entries {
        let x = LEFT + entry_width * (place % legend_columns) as f64;
        let y = cell_height * n_rows as f64 + LEGEND_ROW * (place / legend_columns) as f64 + 12.0;
        match entries.get(place) {
            Some((label, look)) => {
                drawing.path(&[[x, y - 5.0], [x + 44.0, y - 5.0]], look.colour, 3.0, look.dashes);
                drawing.text([x + 52.0, y], LABEL, Anchor::Start, label);
            }
            None => {
                star(&mut drawing, [x + 22.0, y - 5.0]);
                drawing.text([x + 52.0, y], LABEL, Anchor::Start, "somebody is met for the first time");
            }
        }
    }
    drawing
}

struct Panel<'c> {
    chart: &'c Chart,
    corner: [f64; 2],
}

impl Panel<'_> {
    fn at(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let Chart { x: [left, right], y: [low, high], .. } = self.chart;
        [
            self.corner[0] + WIDTH * (x - left) / (right - left),
            self.corner[1] + HEIGHT * (high - y.clamp(*low, *high)) / (high - low),
        ]
    }

    fn draw(&self, drawing: &mut Drawing) {
        let chart = self.chart;
        let [left, top] = self.corner;
        drawing.text([left, top - 14.0], TITLE, Anchor::Start, &chart.title);
        for tick in ticks(chart.y) {
            let [_, y] = self.at([chart.x[0], tick]);
            drawing.line([left, y], [left + WIDTH, y], RULE, 1.0);
            let text = if chart.percent { format!("{:.0} %", 100.0 * tick) } else { number(tick, chart.y) };
            drawing.coloured_text([left - 8.0, y + 4.5], TICK, Anchor::End, SOFT, &text);
        }
        for tick in ticks(chart.x) {
            let [x, _] = self.at([tick, chart.y[0]]);
            drawing.line([x, top + HEIGHT], [x, top + HEIGHT + 5.0], SOFT, 1.0);
            let text = number(tick, chart.x);
            drawing.coloured_text([x, top + HEIGHT + 20.0], TICK, Anchor::Middle, SOFT, &text);
        }
        drawing.line([left, top + HEIGHT], [left + WIDTH, top + HEIGHT], INK, 1.2);
        drawing.text([left + 0.5 * WIDTH, top + HEIGHT + 44.0], LABEL, Anchor::Middle, &chart.x_label);
        let beside = [left - 54.0, top + 0.5 * HEIGHT];
        drawing.upright_text(beside, LABEL, &chart.y_label);
        for series in &chart.series {
            let high = series.band.iter().map(|&[x, _, high]| self.at([x, high]));
            let low = series.band.iter().rev().map(|&[x, low, _]| self.at([x, low]));
            let outline: Vec<[f64; 2]> = high.chain(low).collect();
            if !outline.is_empty() {
                drawing.area(&outline, series.look.colour, 0.18);
            }
        }
        for series in &chart.series {
            let points: Vec<[f64; 2]> = series.points.iter().map(|&point| self.at(point)).collect();
            drawing.path(&points, series.look.colour, 2.4, series.look.dashes);
            if series.dots {
                points.iter().for_each(|&point| drawing.dot(point, 3.2, series.look.colour, "#ffffff"));
            }
        }
        for &x in &chart.stars {
            star(drawing, self.at([x, chart.y[0]]));
        }
    }
}

fn star(drawing: &mut Drawing, [x, y]: [f64; 2]) {
    let point = |k: usize| {
        let radius = if k.is_multiple_of(2) { 6.0 } else { 2.6 };
        let angle = std::f64::consts::PI * (k as f64 / 5.0 - 0.5);
        [x + radius * angle.cos(), y + radius * angle.sin()]
    };
    let points: Vec<[f64; 2]> = (0..10).map(point).collect();
    drawing.area(&points, "#B00020", 1.0);
}

/// Four to nine round numbers between the ends.
fn ticks([low, high]: [f64; 2]) -> Vec<f64> {
    let rough = (high - low) / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter().find(|&step| step >= rough);
    let step = step.unwrap_or(10.0 * power);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|k| k as f64 * step).collect()
}

/// With as many decimals as the distance of ticks asks for.
fn number(value: f64, [low, high]: [f64; 2]) -> String {
    let decimals = (1.0 - ((high - low) / 5.0).log10()).floor().clamp(0.0, 6.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(ticks([0.0, 1.0]), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(ticks([1.0, 15.0]), [5.0, 10.0, 15.0]);
        assert_eq!(number(0.6000000000000001, [0.0, 1.0]), "0.6");
        assert_eq!(number(15.0, [1.0, 15.0]), "15");
        assert_eq!(number(0.95, [0.9, 1.0]), "0.95");
        assert_eq!(number(0.0, [0.0, 1.0]), "0");
    }
}

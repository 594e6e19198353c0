//! Naming regions in the plane: which name each place would get, and the faces that were learnt from.

use super::drawing::{Anchor, Drawing};
use super::style::{INK, LABEL, RULE, TITLE};

/// A panel: one method's answers on a grid, row by row from the top, and the faces.
#[derive(Clone, Debug, PartialEq)]
pub struct Regions {
    /// Above it.
    pub title: String,
    /// Per place of the grid, the name's number; `None` is unknown.
    pub names: Vec<Option<usize>>,
    /// Cells per side.
    pub side: usize,
}

/// A face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// Where, 0 to 1 from the left and from the top.
    pub at: [f64; 2],
    /// The name it was given.
    pub name: Option<usize>,
}

const COLOURS: [&str; 4] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7"];
const SIDE: f64 = 400.0;
const GAP: f64 = 40.0;
const TOP: f64 = 44.0;

/// Panels side by side with the same faces.
pub fn regions(panels: &[Regions], spots: &[Spot], names: &[&str]) -> Drawing {
    let width = GAP + (SIDE + GAP) * panels.len() as f64;
    let mut drawing = Drawing::new(width, TOP + SIDE + 70.0);
    for (place, panel) in panels.iter().enumerate() {
        let left = GAP + (SIDE + GAP) * place as f64;
        drawing.text([left, TOP - 16.0], TITLE, Anchor::Start, &panel.title);
        let cell = SIDE / panel.side as f64;
        for (row, cells) in panel.names.chunks(panel.side).enumerate() {
            let mut first = 0;
            while first < cells.len() {
                let run = cells[first..].iter().take_while(|name| **name == cells[first]).count();
                if let Some(name) = cells[first] {
                    let at = [left + cell * first as f64, TOP + cell * row as f64];
                    drawing.rect(at, [cell * run as f64, cell], COLOURS[name % 4], 0.3);
                }
                first += run;
            }
        }
        let edge = [[0.0, 0.0], [SIDE, 0.0], [SIDE, SIDE], [0.0, SIDE], [0.0, 0.0]];
        drawing.path(&edge.map(|[x, y]| [left + x, TOP + y]), RULE, 1.0, "");
        for spot in spots.iter().filter(|spot| spot.name.is_none()) {
            drawing.dot([left + SIDE * spot.at[0], TOP + SIDE * spot.at[1]], 3.0, "#ffffff", INK);
        }
        for (spot, name) in spots.iter().filter_map(|spot| Some((spot, spot.name?))) {
            drawing.dot([left + SIDE * spot.at[0], TOP + SIDE * spot.at[1]], 6.5, COLOURS[name % 4], INK);
        }
    }
    let y = TOP + SIDE + 34.0;
    let mut x = GAP;
    for (number, name) in names.iter().enumerate() {
        drawing.dot([x + 8.0, y - 5.0], 6.5, COLOURS[number % 4], INK);
        drawing.rect([x + 18.0, y - 13.0], [26.0, 16.0], COLOURS[number % 4], 0.3);
        drawing.text([x + 50.0, y], LABEL, Anchor::Start, name);
        x += 74.0 + 8.0 * name.chars().count() as f64;
    }
    drawing.dot([x + 8.0, y - 5.0], 3.0, "#ffffff", INK);
    drawing.text([x + 20.0, y], LABEL, Anchor::Start, "not named; white = \"unknown\"");
    drawing
}

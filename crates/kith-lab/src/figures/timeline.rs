//! The simulated frames (§4.2): who is in the picture when, people by context, shaded by where the wearer is.

use super::drawing::{Anchor, Drawing};
use super::style::{INK, LABEL, RULE, SOFT, TICK, TITLE, look};

/// Frames to show.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline<'a> {
    /// The names of the contexts.
    pub contexts: &'a [String],
    /// Per person, the context they belong to.
    pub context_of: &'a [usize],
    /// Per frame, the context and the people in the picture.
    pub frames: Vec<(usize, &'a [usize])>,
}

const LEFT: f64 = 30.0;
const TOP: f64 = 44.0;
const WIDTH: f64 = 900.0;
const ROW: f64 = 11.0;
const GAP: f64 = 8.0;

/// Draws it.
pub fn timeline(shown: &Timeline<'_>) -> Drawing {
    let n_frames = shown.frames.len().max(1);
    let height = ROW * shown.context_of.len() as f64 + GAP * shown.contexts.len() as f64;
    let mut drawing = Drawing::new(LEFT + WIDTH + 90.0, TOP + height + 62.0);
    drawing.text([LEFT, TOP - 18.0], TITLE, Anchor::Start, "Who is in the picture, frame by frame");
    let step = WIDTH / n_frames as f64;
    let mut y = TOP;
    for (context, name) in shown.contexts.iter().enumerate() {
        let people: Vec<usize> =
            (0..shown.context_of.len()).filter(|&person| shown.context_of[person] == context).collect();
        let deep = ROW * people.len() as f64;
        for (frame, _) in shown.frames.iter().enumerate().filter(|(_, frame)| frame.0 == context) {
            drawing.rect([LEFT + step * frame as f64, y], [step + 0.1, deep], "#e6e6e6", 1.0);
        }
        drawing.text([LEFT + WIDTH + 12.0, y + 0.5 * deep + 5.0], LABEL, Anchor::Start, name);
        for (row, &person) in people.iter().enumerate() {
            let top = y + ROW * row as f64;
            drawing.line([LEFT, top + ROW], [LEFT + WIDTH, top + ROW], RULE, 0.4);
            for (frame, _) in shown.frames.iter().enumerate().filter(|(_, frame)| frame.1.contains(&person)) {
                let at = [LEFT + step * frame as f64, top + 2.0];
                drawing.rect(at, [step + 0.1, ROW - 4.0], look(name).colour, 1.0);
            }
        }
        y += deep + GAP;
    }
    for tick in (0..=n_frames).step_by((n_frames / 10).max(1)) {
        let x = LEFT + step * tick as f64;
        drawing.line([x, y], [x, y + 5.0], SOFT, 1.0);
        drawing.coloured_text([x, y + 19.0], TICK, Anchor::Middle, SOFT, &tick.to_string());
    }
    drawing.line([LEFT, y], [LEFT + WIDTH, y], INK, 1.2);
    drawing.text([LEFT + 0.5 * WIDTH, y + 42.0], LABEL, Anchor::Middle, "frame");
    let at = [LEFT - 8.0, TOP + 0.5 * height];
    drawing.upright_text(at, LABEL, "people, a row each");
    drawing
}

//! The association matrix (§4.1): how often two test photos were given the same identity.

use super::drawing::{Anchor, Drawing};
use super::style::{INK, LABEL, SOFT, TICK, TITLE};

const SIDE: f64 = 520.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 48.0;

/// `counts` holds, for each pair of photos, the number of draws out of `n_draws` that agree; `people` are the
/// true people's numbers of photos in order, the first `n_known` of them known.
pub fn association(title: &str, counts: &[u32], n_draws: u32, people: &[usize], n_known: usize) -> Drawing {
    let n: usize = people.iter().sum();
    assert_eq!(counts.len(), n * n, "one count per pair of photos");
    let mut drawing = Drawing::new(LEFT + SIDE + 120.0, TOP + SIDE + 64.0);
    drawing.text([LEFT, TOP - 20.0], TITLE, Anchor::Start, title);
    let cell = SIDE / n as f64;
    for row in 0..n {
        // Cells of one shade are drawn together.
        let shade = |column: usize| 20 * counts[row * n + column] / n_draws.max(1);
        let mut first = 0;
        while first < n {
            let last = (first..n).take_while(|&column| shade(column) == shade(first)).last().unwrap_or(first);
            if shade(first) > 0 {
                let at = [LEFT + cell * first as f64, TOP + cell * row as f64];
                let size = [cell * (last + 1 - first) as f64, cell];
                drawing.rect(at, size, "#0072B2", f64::from(shade(first)) / 20.0);
            }
            first = last + 1;
        }
    }
    let mut end = 0;
    let (mut before_unknown, edge) = (0.0, SIDE + 0.0);
    for (person, photos) in people.iter().enumerate() {
        end += photos;
        let at = cell * end as f64;
        drawing.line([LEFT + at, TOP + SIDE], [LEFT + at, TOP + SIDE + 7.0], INK, 1.0);
        drawing.line([LEFT - 7.0, TOP + at], [LEFT, TOP + at], INK, 1.0);
        if person + 1 == n_known {
            before_unknown = at;
        }
    }
    let frame = [[LEFT, TOP], [LEFT + SIDE, TOP], [LEFT + SIDE, TOP + SIDE], [LEFT, TOP + SIDE], [LEFT, TOP]];
    drawing.path(&frame, INK, 1.0, "");
    drawing.path(&[[LEFT, TOP + before_unknown], [LEFT + SIDE, TOP + before_unknown]], SOFT, 1.0, "4 4");
    drawing.path(&[[LEFT + before_unknown, TOP], [LEFT + before_unknown, TOP + SIDE]], SOFT, 1.0, "4 4");
    for (from, to, text) in [(0.0, before_unknown, "known people"), (before_unknown, edge, "unknown people")]
    {
        let middle = 0.5 * (from + to);
        drawing.text([LEFT + middle, TOP + SIDE + 30.0], LABEL, Anchor::Middle, text);
        drawing.upright_text([LEFT - 20.0, TOP + middle], LABEL, text);
    }
    let note = "test photos; ticks end a person";
    drawing.coloured_text([LEFT + 0.5 * SIDE, TOP + SIDE + 52.0], TICK, Anchor::Middle, SOFT, note);
    let (x, height) = (LEFT + SIDE + 24.0, 200.0);
    for step in 0..20 {
        let at = [x, TOP + height * (1.0 - (step + 1) as f64 / 20.0)];
        drawing.rect(at, [18.0, height / 20.0], "#0072B2", (step + 1) as f64 / 20.0);
    }
    for (share, text) in [(0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %")] {
        drawing.text([x + 24.0, TOP + height * (1.0 - share) + 5.0], TICK, Anchor::Start, text);
    }
    drawing.text([x, TOP + height + 28.0], TICK, Anchor::Start, "of draws agree");
    drawing
}

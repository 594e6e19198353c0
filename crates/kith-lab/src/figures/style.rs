//! How things look everywhere: Okabe and Ito's colours, which colour-blind people can tell apart, and dashes
//! with them.

/// Ink and rules.
pub(super) const INK: &str = "#222222";
pub(super) const SOFT: &str = "#666666";
pub(super) const RULE: &str = "#dddddd";
pub(super) const FONT: &str = "Ubuntu, sans-serif";

/// Sizes of text.
pub(super) const TITLE: f64 = 17.0;
pub(super) const LABEL: f64 = 15.0;
pub(super) const TICK: f64 = 13.0;

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Its colour.
    pub colour: &'static str,
    /// Its dashes, as in SVG; empty for a full line.
    pub dashes: &'static str,
}

/// The look of a method, a protocol or a group; the same in every figure.
pub fn look(name: &str) -> Look {
    let (colour, dashes) = match name {
        "kith" | "online" | "home" => ("#0072B2", ""),
        "isotropic" | "batch" | "work" => ("#D55E00", "9 4"),
        "nearest_neighbour" | "offline" | "gym" => ("#009E73", "2 4"),
        "nearest_neighbour_threshold" => ("#009E73", "12 4 2 4"),
        "one_class_svm" | "label_propagation" => ("#CC79A7", "6 3 2 3"),
        "label_propagation_threshold" => ("#CC79A7", "12 3 2 3 2 3"),
        _ => (SOFT, "1 3"),
    };
    Look { colour, dashes }
}

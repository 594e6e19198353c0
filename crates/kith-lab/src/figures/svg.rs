//! SVG, written element by element.

use std::fmt::Write;

use super::style::{FONT, INK};

/// A picture in the making; places are in pixels from the upper left corner.
pub(super) struct Svg {
    width: f64,
    height: f64,
    body: String,
}

/// Which end of a text is at its place.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    pub fn text(&mut self, at: [f64; 2], size: f64, anchor: Anchor, text: &str) {
        self.coloured_text(at, size, anchor, INK, text);
    }

    pub fn coloured_text(&mut self, at: [f64; 2], size: f64, anchor: Anchor, colour: &str, text: &str) {
        self.turned_text(at, 0.0, size, anchor, colour, text);
    }

    /// Turned by degrees about its place.
    pub fn turned_text(
        &mut self,
        [x, y]: [f64; 2],
        degrees: f64,
        size: f64,
        anchor: Anchor,
        colour: &str,
        text: &str,
    ) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let turn = if degrees == 0.0 {
            String::new()
        } else {
            format!(" transform=\"rotate({degrees} {x:.1} {y:.1})\"")
        };
        let text = escaped(text);
        let _ = writeln!(
            self.body,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{colour}\"{turn}>{text}</text>"
        );
    }

    pub fn line(&mut self, from: [f64; 2], to: [f64; 2], colour: &str, width: f64) {
        self.path(&[from, to], colour, width, "");
    }

    pub fn path(&mut self, points: &[[f64; 2]], colour: &str, width: f64, dashes: &str) {
        let dashes =
            if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
        let _ = writeln!(
            self.body,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"{dashes}/>",
            listed(points)
        );
    }

    pub fn area(&mut self, points: &[[f64; 2]], colour: &str, opacity: f64) {
        let _ = writeln!(
            self.body,
            "<polygon points=\"{}\" fill=\"{colour}\" fill-opacity=\"{opacity}\"/>",
            listed(points)
        );
    }

    pub fn rect(&mut self, [x, y]: [f64; 2], [width, height]: [f64; 2], colour: &str, opacity: f64) {
        let _ = writeln!(
            self.body,
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"{colour}\" fill-opacity=\"{opacity}\" shape-rendering=\"crispEdges\"/>"
        );
    }

    pub fn dot(&mut self, [x, y]: [f64; 2], radius: f64, fill: &str, edge: &str) {
        let _ = writeln!(
            self.body,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{fill}\" stroke=\"{edge}\"/>"
        );
    }

    pub fn finish(self) -> String {
        let (width, height) = (self.width, self.height);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" font-family=\"{FONT}\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{}</svg>\n",
            self.body
        )
    }
}

fn listed(points: &[[f64; 2]]) -> String {
    let mut text = String::new();
    for [x, y] in points {
        let _ = write!(text, "{x:.2},{y:.2} ");
    }
    text.pop();
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

//! A drawing: shapes in the order in which they are painted; SVG text and PNG are made of the same ones.

use super::style::INK;

/// A picture; places are in pixels from the upper left corner.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) shapes: Vec<Shape>,
}

/// What is painted.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Text(Text),
    Line { points: Vec<[f64; 2]>, colour: &'static str, width: f64, dashes: &'static str },
    Area { points: Vec<[f64; 2]>, colour: &'static str, opacity: f64 },
    Rect { at: [f64; 2], size: [f64; 2], colour: &'static str, opacity: f64 },
    Dot { at: [f64; 2], radius: f64, fill: &'static str, edge: &'static str },
}

/// A line of text, turned by degrees about its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Text {
    pub at: [f64; 2],
    pub degrees: f64,
    pub size: f64,
    pub anchor: Anchor,
    pub colour: &'static str,
    pub text: String,
}

/// Which end of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Drawing {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self { width, height, shapes: Vec::new() }
    }

    pub(super) fn text(&mut self, at: [f64; 2], size: f64, anchor: Anchor, text: &str) {
        self.coloured_text(at, size, anchor, INK, text);
    }

    pub(super) fn coloured_text(
        &mut self,
        at: [f64; 2],
        size: f64,
        anchor: Anchor,
        colour: &'static str,
        text: &str,
    ) {
        self.shapes.push(Shape::Text(Text { at, degrees: 0.0, size, anchor, colour, text: text.to_owned() }));
    }

    /// Read from below, as beside the axis of a chart.
    pub(super) fn upright_text(&mut self, at: [f64; 2], size: f64, text: &str) {
        let (degrees, anchor, colour) = (-90.0, Anchor::Middle, INK);
        self.shapes.push(Shape::Text(Text { at, degrees, size, anchor, colour, text: text.to_owned() }));
    }

    pub(super) fn line(&mut self, from: [f64; 2], to: [f64; 2], colour: &'static str, width: f64) {
        self.path(&[from, to], colour, width, "");
    }

    pub(super) fn path(
        &mut self,
        points: &[[f64; 2]],
        colour: &'static str,
        width: f64,
        dashes: &'static str,
    ) {
        self.shapes.push(Shape::Line { points: points.to_vec(), colour, width, dashes });
    }

    pub(super) fn area(&mut self, points: &[[f64; 2]], colour: &'static str, opacity: f64) {
        self.shapes.push(Shape::Area { points: points.to_vec(), colour, opacity });
    }

    pub(super) fn rect(&mut self, at: [f64; 2], size: [f64; 2], colour: &'static str, opacity: f64) {
        self.shapes.push(Shape::Rect { at, size, colour, opacity });
    }

    pub(super) fn dot(&mut self, at: [f64; 2], radius: f64, fill: &'static str, edge: &'static str) {
        self.shapes.push(Shape::Dot { at, radius, fill, edge });
    }
}

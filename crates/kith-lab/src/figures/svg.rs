//! SVG, written shape by shape.

use std::fmt::Write;

use super::drawing::{Anchor, Drawing, Shape, Text};
use super::style::FONT;

impl Drawing {
    /// The picture as SVG text.
    pub fn to_svg(&self) -> String {
        let (width, height) = (self.width, self.height);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"{FONT}\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
        );
        for shape in &self.shapes {
            write(&mut out, shape).expect("a string takes everything");
        }
        out + "</svg>\n"
    }
}

fn write(out: &mut String, shape: &Shape) -> std::fmt::Result {
    match shape {
        Shape::Text(text) => write_text(out, text),
        Shape::Line { points, colour, width, dashes } => {
            let dashes = if dashes.is_empty() { "" } else { &format!(" stroke-dasharray=\"{dashes}\"") };
            let points = listed(points);
            writeln!(
                out,
                "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" \
                 stroke-linejoin=\"round\"{dashes}/>"
            )
        }
        Shape::Area { points, colour, opacity } => {
            let points = listed(points);
            writeln!(out, "<polygon points=\"{points}\" fill=\"{colour}\" fill-opacity=\"{opacity}\"/>")
        }
        Shape::Rect { at: [x, y], size: [width, height], colour, opacity } => writeln!(
            out,
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"{colour}\" \
             fill-opacity=\"{opacity}\" shape-rendering=\"crispEdges\"/>"
        ),
        Shape::Dot { at: [x, y], radius, fill, edge } => {
            writeln!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{fill}\" stroke=\"{edge}\"/>"
            )
        }
    }
}

fn write_text(out: &mut String, text: &Text) -> std::fmt::Result {
    let Text { at: [x, y], degrees, size, anchor, colour, text } = text;
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let turn = if *degrees == 0.0 { "" } else { &format!(" transform=\"rotate({degrees} {x:.1} {y:.1})\"") };
    let text = escaped(text);
    writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" \
         fill=\"{colour}\"{turn}>{text}</text>"
    )
}

fn listed(points: &[[f64; 2]]) -> String {
    points.iter().map(|[x, y]| format!("{x:.2},{y:.2}")).collect::<Vec<_>>().join(" ")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

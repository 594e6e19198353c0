//! Drawn stand-ins for faces and photos that came without pictures: the same looks give the same drawing.

use std::fmt::Write;

/// Width and height of a drawn face.
const SIDE: usize = 160;
/// What a face of a drawn photo takes.
const CELL: (usize, usize) = (240, 300);

/// A face as SVG, by its embedding; a silhouette where it is not known.
pub fn face(looks: Option<&[f32]>) -> String {
    let mut svg =
        format!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {SIDE} {SIDE}\" role=\"img\">");
    head(&mut svg, looks);
    svg + "</svg>"
}

/// A photo as SVG, its faces side by side.
pub fn scene(faces: &[Option<&[f32]>]) -> String {
    let (width, height) = scene_size(faces.len());
    let mut svg =
        format!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\">");
    let ground = height * 3 / 4;
    let _ = write!(
        svg,
        "<rect width=\"{width}\" height=\"{height}\" fill=\"#dfe6e4\"/>\
         <rect y=\"{ground}\" width=\"{width}\" height=\"{height}\" fill=\"#cbd5cf\"/>"
    );
    for (looks, [x, y, w, _]) in faces.iter().zip(places(faces.len())) {
        let (left, top) = (x * width as f32, y * height as f32);
        let scale = w * width as f32 / SIDE as f32;
        let _ = write!(svg, "<g transform=\"translate({left:.1} {top:.1}) scale({scale:.3})\">");
        head(&mut svg, *looks);
        svg += "</g>";
    }
    svg + "</svg>"
}

/// Width and height of a drawn photo of so many faces.
pub fn scene_size(n_faces: usize) -> (usize, usize) {
    (CELL.0 * n_faces.max(2), CELL.1)
}

/// Where faces of a drawn photo are: left, top, width and height as parts of it.
pub fn places(n_faces: usize) -> Vec<[f32; 4]> {
    let (width, height) = scene_size(n_faces);
    let (width, height) = (width as f32, height as f32);
    let side = SIDE as f32;
    let left = |k: usize| {
        (width - (n_faces * CELL.0) as f32) / 2.0 + (k * CELL.0) as f32 + (CELL.0 as f32 - side) / 2.0
    };
    let top = |k: usize| if k.is_multiple_of(2) { 70.0 } else { 95.0 };
    (0..n_faces).map(|k| [left(k) / width, top(k) / height, side / width, side / height]).collect()
}

/// Numbers between 0 and 1, each a fixed random direction of the looks.
fn traits(looks: &[f32]) -> [f32; 8] {
    let length = looks.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    std::array::from_fn(|k| {
        let sign = |i: usize| {
            let mixed = (i as u64 * 8 + k as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            if (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 63 == 0 { 1.0 } else { -1.0 }
        };
        let along: f32 = looks.iter().enumerate().map(|(i, x)| sign(i) * x).sum();
        0.5 + 0.5 * (along / length).tanh()
    })
}

/// A head of `SIDE` by `SIDE`.
fn head(svg: &mut String, looks: Option<&[f32]>) {
    let Some(looks) = looks else {
        *svg += "<rect width=\"160\" height=\"160\" fill=\"#d9dde1\"/><circle cx=\"80\" cy=\"68\" r=\"32\" fill=\"#a9b1b9\"/>\
                 <path d=\"M22 160c4-36 28-50 58-50s54 14 58 50z\" fill=\"#a9b1b9\"/>";
        return;
    };
    let [ground, skin, hair, length, eyes, mouth, cloth, round] = traits(looks);
    let (ground, cloth) = (360.0 * ground, 360.0 * cloth);
    let (skin_light, hair_light) = (38.0 + 42.0 * skin, 12.0 + 50.0 * hair);
    let (rx, ry) = (28.0 + 8.0 * round, 38.0 - 4.0 * round);
    let (apart, curve) = (9.0 + 7.0 * eyes, 82.0 + 18.0 * mouth);
    let fall = 70.0 + 50.0 * length;
    let _ = write!(
        svg,
        "<rect width=\"160\" height=\"160\" fill=\"hsl({ground:.0} 28% 86%)\"/>\
         <path d=\"M{:.0} {fall:.0}V62a36 38 0 0 1 72 0v{:.0}z\" fill=\"hsl(28 35% {hair_light:.0}%)\"/>\
         <path d=\"M20 160c4-32 30-42 60-42s56 10 60 42z\" fill=\"hsl({cloth:.0} 35% 48%)\"/>\
         <rect x=\"70\" y=\"96\" width=\"20\" height=\"30\" rx=\"9\" fill=\"hsl(26 48% {:.0}%)\"/>\
         <ellipse cx=\"80\" cy=\"74\" rx=\"{rx:.1}\" ry=\"{ry:.1}\" fill=\"hsl(26 52% {skin_light:.0}%)\"/>\
         <path d=\"M{:.0} 64c6-24 {:.0}-28 {:.0}-28s30 6 34 28c-16-8-34-16-68 0z\" fill=\"hsl(28 35% {hair_light:.0}%)\"/>\
         <circle cx=\"{:.1}\" cy=\"74\" r=\"3.2\" fill=\"#26282b\"/><circle cx=\"{:.1}\" cy=\"74\" r=\"3.2\" fill=\"#26282b\"/>\
         <path d=\"M68 91Q80 {curve:.0} 92 91\" fill=\"none\" stroke=\"#7c3b34\" stroke-width=\"2.6\" stroke-linecap=\"round\"/>",
        44.0,
        fall - 62.0,
        skin_light - 6.0,
        46.0,
        16.0,
        34.0,
        80.0 - apart,
        80.0 + apart,
    );
}

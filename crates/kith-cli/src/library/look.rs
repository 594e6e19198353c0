//! A photo that is not in the library: its faces as new ones, and a copy of it with who they are.

use std::path::Path;

use anyhow::{Context, ensure};
use kith::data::{Dataset, NewFace};
use kith_io::dataset::FaceTable;
use kith_lab::figures::sign;
use kith_store::Library;
use kith_vision::{About, Pixels, Seen, Vision, decode, is_raw, models, pipeline};

/// The longer side of a drawn copy.
const SIDE: usize = 2048;

/// The faces of a photo, as a dataset of one frame.
pub fn look(library: &Library, path: &Path, folder: Option<&Path>) -> anyhow::Result<(FaceTable, Seen)> {
    let name = path.display();
    let wanted = library.get(kith_store::meta::EMBEDDING)?;
    let vision = Vision::load(&models::folders(folder), wanted.as_deref())?;
    let found = vision.pipeline();
    ensure!(
        wanted.as_deref() == Some(found),
        "{name}: found the networks of \"{found}\", wanted those of \"{}\" as in the library",
        wanted.unwrap_or_else(|| "no photos".to_owned())
    );
    let bytes = pipeline::read(path).with_context(|| name.to_string())?;
    let seen = vision.look(&bytes, is_raw(path), &[]).with_context(|| name.to_string())?;
    ensure!(!seen.faces.is_empty(), "{name}: found no face, wanted at least one");
    let mut data = Dataset::empty(seen.faces[0].embedding.len())?;
    let faces: Vec<NewFace<'_>> =
        seen.faces.iter().map(|face| NewFace { embedding: &face.embedding, name: None }).collect();
    data.push_frame(None, &faces)?;
    let photo = path.file_name().unwrap_or_default().to_string_lossy();
    let mut table = FaceTable::new(data);
    table.faces = (0..seen.faces.len()).map(|k| format!("{photo}#{k}")).collect();
    table.frames = vec![photo.into_owned()];
    Ok((table, seen))
}

/// Writes a copy of a photo with a box around each face and a label above it.
pub fn draw(photo: &Path, seen: &Seen, labels: &[String], out: &Path) -> anyhow::Result<()> {
    let bytes = pipeline::read(photo)?;
    let whole = decode(&bytes, is_raw(photo))?;
    let mut picture = whole.fitted(SIDE)?.0.upright(About::of(&bytes).orientation);
    let (width, height) = (picture.width as f32, picture.height as f32);
    let line = (picture.width.max(picture.height) / 300).max(2);
    for (face, label) in seen.faces.iter().zip(labels) {
        let [x, y, w, h] = face.bounds;
        let (left, top) = ((x * width) as i32, (y * height) as i32);
        frame(&mut picture, (left, top), ((w * width) as i32, (h * height) as i32), line as i32);
        let sign = label_of(label, line)?;
        paste(&mut picture, &sign, (left, top - sign.height as i32));
    }
    kith_io::atomic::replace(out, &picture.to_jpeg(90)?).with_context(|| out.display().to_string())
}

const COLOUR: [u8; 3] = [255, 196, 0];

fn set(picture: &mut Pixels, x: i32, y: i32, colour: [u8; 3]) {
    if (0..picture.width as i32).contains(&x) && (0..picture.height as i32).contains(&y) {
        let at = 3 * (y as usize * picture.width + x as usize);
        picture.data[at..at + 3].copy_from_slice(&colour);
    }
}

fn frame(picture: &mut Pixels, (left, top): (i32, i32), (width, height): (i32, i32), line: i32) {
    for y in top..=top + height {
        for x in left..=left + width {
            let is_edge =
                x < left + line || y < top + line || x > left + width - line || y > top + height - line;
            if is_edge {
                set(picture, x, y, COLOUR);
            }
        }
    }
}

/// A text on a ground, as pixels. Figures are drawn twice as large: here that is for smooth letters alone.
fn label_of(text: &str, line: usize) -> anyhow::Result<Pixels> {
    let twice = decode(&sign(text, 4.0 * line as f64).to_png(), false)?;
    Ok(twice.fitted(twice.width / 2)?.0)
}

fn paste(picture: &mut Pixels, sign: &Pixels, (left, top): (i32, i32)) {
    let (left, top) = (left.max(0), top.max(0));
    for y in 0..sign.height {
        for (x, pixel) in sign.row(y).chunks_exact(3).enumerate() {
            set(picture, left + x as i32, top + y as i32, [pixel[0], pixel[1], pixel[2]]);
        }
    }
}

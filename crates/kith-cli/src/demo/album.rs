//! The week as a library with drawn photos, for the page.

use std::path::Path;

use anyhow::Context;
use kith::random::{self, Rng};
use kith_store::{ContextRule, Kind, Library, NewFace, NewPhoto, Saying};
use kith_vision::{Orientation, Pixels};
use rayon::prelude::*;
use tiny_skia::{Color, FillRule, Paint, PathBuilder, Pixmap, Rect, Stroke, Transform};

use super::week::{STEPS_PER_DAY, Scene, Week};
use crate::Outcome;
use crate::library::args::PageOptions;
use crate::library::{serve, speaker};
use crate::progress::note;

/// Width and height of a photo.
const SIZE: (u32, u32) = (960, 640);
/// Who made the embeddings up.
const PIPELINE: &str = "made up";
/// The Monday on which the week begins.
const MONDAY: u64 = 2;
/// Quality of the drawn JPEGs.
const QUALITY: u8 = 86;

/// Draws the week into a folder that goes when the page ends, and serves it.
pub fn serve(week: &Week, page: &PageOptions) -> anyhow::Result<Outcome> {
    let folder = tempfile::tempdir().context("no folder for the drawn photos")?;
    note("drawing a week of photos of people who do not exist");
    let lib = folder.path().join("week.kith");
    make(week, folder.path(), &lib)?;
    serve::serve(&lib, page, false, Vec::new())
}

/// The library, with the names that were said.
fn make(week: &Week, folder: &Path, lib: &Path) -> anyhow::Result<()> {
    let scenes: Vec<(usize, &Scene)> = week.scenes.iter().enumerate().collect();
    let photos: Vec<NewPhoto> = scenes
        .par_iter()
        .map(|(number, scene)| photo(week, *number, scene, folder))
        .collect::<Result<_, _>>()?;
    let library = Library::open_or_create(lib)?;
    library.add_photos(&photos, PIPELINE)?;
    library.set_contexts(ContextRule::Folder)?;
    for (photo, scene) in photos.iter().zip(&week.scenes) {
        for ((face, _), seen) in photo.faces.iter().zip(&scene.faces) {
            let Some(name) = seen.said else { continue };
            let face = library.face(&face.key)?;
            library.say(&speaker(), &[Saying { kind: Kind::Name, face, other: None, name: Some(name) }])?;
        }
    }
    Ok(())
}

fn photo(week: &Week, number: usize, scene: &Scene, folder: &Path) -> anyhow::Result<NewPhoto> {
    let place = &week.contexts[scene.context];
    let key = format!("{place}/{number:04}.jpg");
    let mut rng = random::stream(7, number as u64);
    let mut canvas = Canvas::new(scene.context)?;
    let places = places(scene.faces.len(), &mut rng);
    for (face, &(centre, size)) in scene.faces.iter().zip(&places) {
        canvas.person(&Looks::of(face.person), centre, size, &mut rng);
    }
    let pixels = canvas.pixels()?;
    let mut faces = Vec::new();
    for (k, (face, &(centre, size))) in scene.faces.iter().zip(&places).enumerate() {
        let bounds = [centre.0 - 0.5 * size, centre.1 - 0.62 * size, size, 1.24 * size];
        let thumbnail = pixels.thumbnail(Orientation::UPRIGHT, bounds, 160.0).context("a face outside")?;
        let [x, y, w, h] = bounds;
        let (width, height) = (SIZE.0 as f32, SIZE.1 as f32);
        let parts = format!("{:.5} {:.5} {:.5} {:.5}", x / width, y / height, w / width, h / height);
        let new = NewFace {
            key: format!("{key}#{k}"),
            embedding: face.embedding.clone(),
            place: Some(parts),
            ..NewFace::default()
        };
        faces.push((new, thumbnail.to_jpeg(QUALITY)?));
    }
    let jpeg = pixels.to_jpeg(QUALITY)?;
    let path = folder.join(format!("{number:04}.jpg"));
    std::fs::write(&path, &jpeg).with_context(|| path.display().to_string())?;
    let (day, minute) = (scene.time.0 / STEPS_PER_DAY, 8 * 60 + 15 * (scene.time.0 % STEPS_PER_DAY));
    Ok(NewPhoto {
        key,
        path: path.to_string_lossy().into_owned(),
        size: jpeg.len() as u64,
        hash: format!("drawn {number}"),
        pixels: (SIZE.0 as usize, SIZE.1 as usize),
        orientation: 1,
        time: Some(format!("2026-03-{:02}T{:02}:{:02}:00Z", MONDAY + day, minute / 60, minute % 60)),
        faces,
        ..NewPhoto::default()
    })
}

/// Centre and width of each face, side by side and never over the edge.
fn places(n: usize, rng: &mut Rng) -> Vec<((f32, f32), f32)> {
    let cell = SIZE.0 as f32 / n as f32;
    let size = (0.52 * cell).min(170.0);
    let mut place = |k: usize| {
        let shift = (0.12 * cell).min(60.0) * (rng.uniform() as f32 - 0.5);
        let up = 40.0 * (rng.uniform() as f32 - 0.5);
        (
            ((k as f32 + 0.5) * cell + shift, 0.46 * SIZE.1 as f32 + up),
            size * (0.85 + 0.3 * rng.uniform() as f32),
        )
    };
    (0..n).map(&mut place).collect()
}

/// What somebody looks like.
struct Looks {
    skin: Color,
    hair: Color,
    clothes: Color,
    eyes: Color,
    /// Width of the face, length of the hair, distance of the eyes, thickness of the brows.
    shape: [f32; 4],
    style: usize,
    has_glasses: bool,
    has_beard: bool,
}

impl Looks {
    fn of(person: usize) -> Self {
        let mut rng = random::stream(99, person as u64);
        let mut u = || rng.uniform() as f32;
        let tone = u();
        let hairs =
            [(0.06, 0.5, 0.14), (0.07, 0.6, 0.3), (0.11, 0.65, 0.55), (0.03, 0.7, 0.4), (0.1, 0.08, 0.72)];
        let (hue, saturation, light) = hairs[(u() * 4.99) as usize];
        Self {
            skin: hsl(0.07, 0.35 + 0.2 * u(), 0.36 + 0.44 * tone),
            hair: hsl(hue, saturation, light * (0.8 + 0.3 * u())),
            clothes: hsl(u(), 0.4, 0.45 + 0.15 * u()),
            eyes: hsl(0.08 + 0.5 * u(), 0.4, 0.25),
            shape: [0.84 + 0.22 * u(), u(), 0.17 + 0.07 * u(), 0.02 + 0.03 * u()],
            style: (u() * 4.99) as usize,
            has_glasses: u() < 0.25,
            has_beard: u() < 0.2,
        }
    }
}

fn hsl(hue: f32, saturation: f32, light: f32) -> Color {
    let channel = |shift: f32| {
        let k = (shift + 12.0 * hue) % 12.0;
        let reach = saturation * light.min(1.0 - light);
        (light - reach * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0)).clamp(0.0, 1.0)
    };
    Color::from_rgba(channel(0.0), channel(8.0), channel(4.0), 1.0).unwrap_or(Color::BLACK)
}

struct Canvas(Pixmap);

impl Canvas {
    /// A room or a street, by its number.
    fn new(context: usize) -> anyhow::Result<Self> {
        let mut canvas = Self(Pixmap::new(SIZE.0, SIZE.1).context("no memory for a picture")?);
        let hue = (0.12 + 0.23 * context as f32) % 1.0;
        canvas.0.fill(hsl(hue, 0.22, 0.84));
        let (width, height) = (SIZE.0 as f32, SIZE.1 as f32);
        canvas.rectangle([0.0, 0.78 * height, width, 0.22 * height], hsl(hue, 0.2, 0.7));
        for k in 0..3 {
            let x = width * (0.08 + 0.32 * k as f32) + 20.0 * context as f32;
            canvas.rectangle([x, 0.1 * height, 0.18 * width, 0.4 * height], hsl(hue + 0.08, 0.25, 0.9));
            canvas.rectangle(
                [x + 8.0, 0.1 * height + 8.0, 0.18 * width - 16.0, 0.4 * height - 16.0],
                hsl(0.55, 0.3, 0.86),
            );
        }
        Ok(canvas)
    }

    fn rectangle(&mut self, [x, y, w, h]: [f32; 4], colour: Color) {
        if let Some(rect) = Rect::from_xywh(x, y, w, h) {
            self.0.fill_rect(rect, &paint(colour), Transform::identity(), None);
        }
    }

    fn ellipse(&mut self, (x, y): (f32, f32), (rx, ry): (f32, f32), colour: Color) {
        let path = Rect::from_xywh(x - rx, y - ry, 2.0 * rx, 2.0 * ry).and_then(PathBuilder::from_oval);
        if let Some(path) = path {
            self.0.fill_path(&path, &paint(colour), FillRule::Winding, Transform::identity(), None);
        }
    }

    /// A bow from one point to another by a third, as a line.
    fn bow(&mut self, from: (f32, f32), by: (f32, f32), to: (f32, f32), width: f32, colour: Color) {
        let mut path = PathBuilder::new();
        path.move_to(from.0, from.1);
        path.quad_to(by.0, by.1, to.0, to.1);
        let stroke = Stroke { width, line_cap: tiny_skia::LineCap::Round, ..Stroke::default() };
        if let Some(path) = path.finish() {
            self.0.stroke_path(&path, &paint(colour), &stroke, Transform::identity(), None);
        }
    }

    /// Somebody, the face about `size` wide.
    fn person(&mut self, looks: &Looks, (x, y): (f32, f32), size: f32, rng: &mut Rng) {
        let [wide, length, apart, brow] = looks.shape;
        let (rx, ry) = (0.42 * size * wide, 0.56 * size);
        let turn = 0.06 * size * (rng.uniform() as f32 - 0.5);
        let smile = 0.04 + 0.12 * rng.uniform() as f32;
        let dark = hsl(0.07, 0.3, 0.16);
        // Behind: long hair, shoulders, neck.
        if looks.style >= 2 {
            let fall = 0.2 + 0.5 * length;
            self.ellipse((x, y + 0.1 * size), (1.28 * rx, ry * (0.95 + fall)), looks.hair);
        }
        self.ellipse((x, y + 1.45 * size), (0.95 * size, 0.75 * size), looks.clothes);
        self.rectangle([x - 0.14 * size, y + 0.35 * size, 0.28 * size, 0.45 * size], looks.skin);
        // The head, with hair over it and the face below that.
        self.ellipse((x, y - 0.1 * size), (1.1 * rx, 1.02 * ry), looks.hair);
        self.ellipse((x, y + 0.06 * size), (rx, 0.92 * ry), looks.skin);
        if looks.style == 1 || looks.style == 3 {
            self.ellipse((x - 0.4 * rx, y - 0.42 * ry), (0.75 * rx, 0.3 * ry), looks.hair);
        } else if looks.style == 4 {
            self.ellipse((x, y - 0.5 * ry), (0.9 * rx, 0.24 * ry), looks.hair);
        }
        if looks.has_beard {
            self.ellipse((x, y + 0.62 * ry), (0.72 * rx, 0.4 * ry), looks.hair);
            self.ellipse((x, y + 0.5 * ry), (0.45 * rx, 0.16 * ry), looks.skin);
        }
        for side in [-1.0, 1.0] {
            let eye = (x + turn + side * apart * size, y + 0.02 * size);
            self.ellipse(eye, (0.075 * size, 0.05 * size), Color::WHITE);
            self.ellipse((eye.0 + 0.3 * turn, eye.1), (0.036 * size, 0.042 * size), looks.eyes);
            let (left, right) = (eye.0 - 0.08 * size, eye.0 + 0.08 * size);
            let up = eye.1 - 0.12 * size;
            self.bow((left, up), (eye.0, up - 0.04 * size), (right, up), brow * size, looks.hair);
            if looks.has_glasses {
                let (low, high) = (eye.1 + 0.12 * size, eye.1 - 0.12 * size);
                self.bow((left - 3.0, eye.1), (eye.0, low), (right + 3.0, eye.1), 0.018 * size, dark);
                self.bow((left - 3.0, eye.1), (eye.0, high), (right + 3.0, eye.1), 0.018 * size, dark);
            }
        }
        let nose = (x + 1.6 * turn, y + 0.2 * size);
        self.bow(
            (nose.0 - 0.03 * size, nose.1),
            (nose.0, nose.1 + 0.04 * size),
            (nose.0 + 0.04 * size, nose.1),
            0.02 * size,
            dark,
        );
        let mouth = y + 0.34 * size;
        let red = hsl(0.0, 0.45, 0.4);
        self.bow(
            (x + turn - 0.13 * size, mouth),
            (x + turn, mouth + smile * size),
            (x + turn + 0.13 * size, mouth),
            0.03 * size,
            red,
        );
    }

    fn pixels(&self) -> anyhow::Result<Pixels> {
        let data = self.0.pixels().iter().flat_map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]);
        Ok(Pixels::new(SIZE.0 as usize, SIZE.1 as usize, data.collect())?)
    }
}

fn paint(colour: Color) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(colour);
    paint
}

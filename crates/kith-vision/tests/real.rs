//! Real networks and real photos against OpenCV's detections and embeddings, where both are there.

mod drawn;

use std::path::{Path, PathBuf};

use drawn::cosine;
use kith_vision::{Face, Vision, detect::overlap};

/// A face of the reference: its box in pixels, and whether it is the photo's main one.
struct Reference {
    photo: String,
    is_main: bool,
    bounds: [f32; 4],
}

fn shared() -> Option<(PathBuf, PathBuf)> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let (models, photos) = (shared.join("models"), shared.join("photos"));
    if models.is_dir() && photos.is_dir() {
        return Some((models, photos));
    }
    eprintln!("skipped: ../shared/models or ../shared/photos is not there");
    None
}

fn references(photos: &Path) -> (Vec<String>, Vec<Reference>, Vec<Vec<f32>>) {
    let names: Vec<String> =
        std::fs::read_to_string(photos.join("photos.txt")).unwrap().lines().map(str::to_owned).collect();
    let table = std::fs::read_to_string(photos.join("detections.csv")).unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |k: usize| cells[k].parse().unwrap();
        Reference {
            photo: cells[0].to_owned(),
            is_main: cells[1] == "1",
            bounds: [number(2), number(3), number(4), number(5)],
        }
    };
    let bytes = std::fs::read(photos.join("main_face_embeddings.npy")).unwrap();
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let values: Vec<f32> =
        bytes[start..].chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect();
    let dimension = values.len() / names.len();
    (names, table.lines().skip(1).map(row).collect(), values.chunks(dimension).map(<[f32]>::to_vec).collect())
}

/// Looks at every photo; how many faces of the reference were found, how many others, and the cosines of main
/// faces.
fn compare(vision: &Vision, photos: &Path, read: impl Fn(&str) -> Vec<u8>) -> (usize, usize, Vec<f64>) {
    let (names, references, embeddings) = references(photos);
    let (mut n_found, mut n_faces, mut cosines) = (0, 0, Vec::new());
    for (name, wanted) in names.iter().zip(&embeddings) {
        let seen = vision.look(&read(name), false, &[]).unwrap();
        let (width, height) = (seen.size.0 as f32, seen.size.1 as f32);
        n_faces += seen.faces.len();
        for reference in references.iter().filter(|reference| &reference.photo == name) {
            let share = |face: &Face| {
                let [x, y, w, h] = face.bounds;
                overlap(&[x * width, y * height, w * width, h * height], &reference.bounds)
            };
            let best = seen.faces.iter().max_by(|a, b| share(a).total_cmp(&share(b)));
            if let Some(face) = best.filter(|face| share(face) > 0.5) {
                n_found += 1;
                if reference.is_main {
                    cosines.push(cosine(&face.embedding, wanted));
                }
            }
        }
    }
    (n_found, n_faces, cosines)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn every_face_of_the_reference_is_found_and_embedded_alike_through_our_decoder() {
    let Some((models, photos)) = shared() else { return };
    let vision = Vision::load(&[models], None).unwrap();
    assert!(vision.pipeline().starts_with("MobileFace V2 ("), "{}", vision.pipeline());
    let (found, faces, cosines) = compare(&vision, &photos, |name| std::fs::read(photos.join(name)).unwrap());
    let least = cosines.iter().copied().fold(1.0, f64::min);
    eprintln!("{found} found of {faces}; cosine mean {:.6}, least {least:.6}", mean(&cosines));
    assert_eq!((found, faces, cosines.len()), (172, 172, 120));
    // JPEG decoders differ by a level or two, and the detector then lets a neighbouring cell win now and
    // then.
    assert!(mean(&cosines) > 0.999 && least > 0.97, "mean {}, least {least}", mean(&cosines));
}

#[test]
fn the_same_pixels_give_the_same_embeddings() {
    let Some((models, photos)) = shared() else { return };
    // `bench/photos.py --png target/photos-png` writes them as OpenCV decodes them.
    let pngs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/photos-png");
    if !pngs.is_dir() {
        return eprintln!("skipped: target/photos-png is not there");
    }
    let vision = Vision::load(&[models], None).unwrap();
    let read = |name: &str| std::fs::read(pngs.join(Path::new(name).with_extension("png"))).unwrap();
    let (found, faces, cosines) = compare(&vision, &photos, read);
    let least = cosines.iter().copied().fold(1.0, f64::min);
    eprintln!("{found} found of {faces}; cosine mean {:.6}, least {least:.6}", mean(&cosines));
    assert_eq!((found, faces, cosines.len()), (172, 172, 120));
    assert!(least > 0.9998, "{least}");
}

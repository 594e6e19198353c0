//! Drawn photos through the toy networks: formats, orientations, bad files, many at once.

mod drawn;
mod fuzz;

use std::io::Cursor;
use std::path::PathBuf;

use drawn::{cosine, photo, vision};
use kith_vision::pipeline::{self, Outcome};
use kith_vision::{Orientation, Pixels, Seen, VisionError, decode, names, walk};

/// The picture of [`every_orientation_and_every_format_gives_the_same_faces`] as libheif and x265 write it:
/// as it is, and turned by the file itself (irot) with EXIF saying so too.
const UPRIGHT: &[u8] = include_bytes!("corpus/photos/upright.heic");
const TURNED: &[u8] = include_bytes!("corpus/photos/turned.heic");

/// A JPEG that EXIF says is turned.
fn turned_jpeg(pixels: &Pixels, orientation: u32) -> Vec<u8> {
    let stored = pixels.clone().upright(Orientation::new(orientation).inverse());
    let jpeg = stored.to_jpeg(95).unwrap();
    let exif = [
        &b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0"[..],
        &[orientation as u8, 0, 0, 0, 0, 0, 0],
    ]
    .concat();
    let length = (exif.len() + 2) as u16;
    [&jpeg[..2], &[0xff, 0xe1], &length.to_be_bytes(), &exif, &jpeg[2..]].concat()
}

fn png(pixels: &Pixels, depth: png::BitDepth) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, pixels.width as u32, pixels.height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(depth);
    let wide: Vec<u8> = match depth {
        png::BitDepth::Sixteen => pixels.data.iter().flat_map(|&value| [value, value]).collect(),
        _ => pixels.data.clone(),
    };
    encoder.write_header().unwrap().write_image_data(&wide).unwrap();
    bytes
}

fn webp(pixels: &Pixels) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (width, height) = (pixels.width as u32, pixels.height as u32);
    let encoder = image_webp::WebPEncoder::new(&mut bytes);
    encoder.encode(&pixels.data, width, height, image_webp::ColorType::Rgb8).unwrap();
    bytes
}

fn tiff(pixels: &Pixels, is_cmyk: bool) -> Vec<u8> {
    use tiff::encoder::{TiffEncoder, colortype};
    let mut bytes = Cursor::new(Vec::new());
    let (width, height) = (pixels.width as u32, pixels.height as u32);
    let mut encoder = TiffEncoder::new(&mut bytes).unwrap();
    if is_cmyk {
        let inks = pixels.data.chunks(3).flat_map(|p| [255 - p[0], 255 - p[1], 255 - p[2], 0]);
        let inks: Vec<u8> = inks.collect();
        encoder.write_image::<colortype::CMYK8>(width, height, &inks).unwrap();
    } else {
        let wide: Vec<u16> = pixels.data.iter().map(|&value| u16::from(value) * 257).collect();
        encoder.write_image::<colortype::RGB16>(width, height, &wide).unwrap();
    }
    bytes.into_inner()
}

/// As programs for print write it: four inks, in JPEG turned around.
fn cmyk_jpeg(pixels: &Pixels) -> Vec<u8> {
    let mut bytes = Vec::new();
    let inks: Vec<u8> = pixels.data.chunks(3).flat_map(|p| [255 - p[0], 255 - p[1], 255 - p[2], 0]).collect();
    let (width, height) = (pixels.width as u16, pixels.height as u16);
    let encoder = jpeg_encoder::Encoder::new(&mut bytes, 95);
    encoder.encode(&inks, width, height, jpeg_encoder::ColorType::Cmyk).unwrap();
    bytes
}

fn look(bytes: &[u8]) -> Result<Seen, VisionError> {
    vision().look(bytes, false, &[])
}

#[test]
fn faces_are_found_from_left_to_right_and_the_same_person_looks_the_same() {
    let first = look(&photo(640, 320, &[(10, 5, 1), (2, 3, 2)]).to_jpeg(95).unwrap()).unwrap();
    let second = look(&photo(320, 320, &[(5, 2, 1)]).to_jpeg(95).unwrap()).unwrap();
    assert_eq!((first.faces.len(), second.faces.len(), first.size), (2, 1, (640, 320)));
    let [x, y, w, h] = first.faces[0].bounds;
    // The face in column 2, row 3: its middle is at pixel 80, 112, its side 96.
    let found = [x * 640.0, y * 320.0, w * 640.0, h * 320.0];
    found.iter().zip([32.0, 64.0, 96.0, 96.0]).for_each(|(a, b)| assert!((a - b).abs() < 0.1, "{found:?}"));
    let same = cosine(&first.faces[1].embedding, &second.faces[0].embedding);
    let other = cosine(&first.faces[0].embedding, &second.faces[0].embedding);
    assert!(same > 0.999 && other < 0.95, "{same} {other}");
    let norm: f32 = first.faces[0].embedding.iter().map(|value| value * value).sum();
    assert!((norm - 1.0).abs() < 1e-4);
    assert!(first.faces[0].quality.score > 0.9);
    assert_eq!(look(&photo(320, 320, &[]).to_jpeg(95).unwrap()).unwrap().faces, []);
}

#[test]
fn every_orientation_and_every_format_gives_the_same_faces() {
    let upright = photo(320, 256, &[(2, 2, 5), (7, 5, 9)]);
    let wanted = look(&upright.to_jpeg(95).unwrap()).unwrap();
    assert_eq!(wanted.faces.len(), 2);
    let raw = [b"a RAW file begins like this".to_vec(), upright.to_jpeg(95).unwrap(), vec![7; 99]].concat();
    let mut files: Vec<(String, Vec<u8>)> =
        (1..=8).map(|number| (format!("EXIF {number}"), turned_jpeg(&upright, number))).collect();
    files.extend([
        ("PNG".to_owned(), png(&upright, png::BitDepth::Eight)),
        ("PNG of 16 bits".to_owned(), png(&upright, png::BitDepth::Sixteen)),
        ("WebP".to_owned(), webp(&upright)),
        ("TIFF of 16 bits".to_owned(), tiff(&upright, false)),
        ("TIFF of CMYK".to_owned(), tiff(&upright, true)),
        ("JPEG of CMYK".to_owned(), cmyk_jpeg(&upright)),
        ("RAW".to_owned(), raw),
        ("HEIC".to_owned(), UPRIGHT.to_vec()),
        ("HEIC that is turned, and says so twice".to_owned(), TURNED.to_vec()),
    ]);
    for (name, bytes) in files {
        let seen = look(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(seen.faces.len(), 2, "{name}");
        assert_eq!(seen.size, (320, 256), "{name}");
        for (found, wanted) in seen.faces.iter().zip(&wanted.faces) {
            let near = found.bounds.iter().zip(wanted.bounds).all(|(a, b)| (a - b).abs() < 0.01);
            assert!(near, "{name}: {:?} {:?}", found.bounds, wanted.bounds);
            assert!(cosine(&found.embedding, &wanted.embedding) > 0.995, "{name}");
            let (a, b) =
                (decode(&found.thumbnail, false).unwrap(), decode(&wanted.thumbnail, false).unwrap());
            assert!(a.width.abs_diff(b.width) <= 2 && a.height.abs_diff(b.height) <= 2, "{name}");
            // Middles of cells, away from their edges.
            for k in 0..9 {
                let at = |pixels: &Pixels| {
                    let (x, y) =
                        (pixels.width * (2 * (k % 3) + 1) / 6, pixels.height * (2 * (k / 3) + 1) / 6);
                    pixels.row(y)[3 * x..3 * x + 3].to_vec()
                };
                let far = at(&a).iter().zip(at(&b)).map(|(a, b)| a.abs_diff(b)).max();
                assert!(far < Some(60), "{name}: the thumbnail shows something else");
            }
        }
    }
}

/// The head of a PNG of this size, and nothing more.
fn png_head(width: u32, height: u32) -> Vec<u8> {
    let mut head = b"IHDR".to_vec();
    head.extend(width.to_be_bytes());
    head.extend(height.to_be_bytes());
    head.extend([8, 2, 0, 0, 0]);
    let mut crc = !0u32;
    for &byte in &head {
        crc ^= u32::from(byte);
        (0..8).for_each(|_| crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 });
    }
    [&b"\x89PNG\r\n\x1a\n\0\0\0\x0d"[..], &head, &(!crc).to_be_bytes(), &[0, 0, 0, 4], b"IDAT0123"].concat()
}

#[test]
fn what_is_no_photo_is_one_line() {
    let jpeg = photo(320, 256, &[(2, 2, 5)]).to_jpeg(90).unwrap();
    let mut bomb = jpeg.clone();
    let frame = bomb.windows(2).position(|part| part == [0xff, 0xc0]).unwrap();
    bomb[frame + 5..frame + 9].copy_from_slice(&[0xff; 4]);
    let cases: [(&str, &[u8], &str); 6] = [
        ("empty", b"", "empty"),
        ("text", b"no photo at all", "something else"),
        ("avif", b"\0\0\0\x20ftypavif\0\0\0\0", "AVIF"),
        ("a bomb", &png_head(100_000, 100_000), "100000 x 100000"),
        ("a bomb of 65535 x 65535", &bomb, "65535 x 65535"),
        ("the head of a JPEG", &jpeg[..300], "cannot be decoded"),
    ];
    for (name, bytes, wanted) in cases {
        let error = look(bytes).map(|seen| seen.faces.len()).unwrap_err().to_string();
        assert!(error.contains(wanted) && !error.contains('\n'), "{name}: {error}");
    }
    // What is there of a photo that was cut off is looked at, and it is said.
    let seen = look(&jpeg[..jpeg.len() - 40]).unwrap();
    assert!(seen.is_cut_off && seen.faces.len() == 1);
    assert!(!look(&jpeg).unwrap().is_cut_off);
    assert!(look(&UPRIGHT[..UPRIGHT.len() - 40]).is_err());
    let heic = b"\0\0\0\x18ftypheic\0\0\0\0heicmif1\0\0\0\x08mdat";
    assert!(look(heic).is_err());
}

#[test]
fn many_photos_come_out_in_order_each_with_its_fault() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(path("b/deep")).unwrap();
    for k in 0..50 {
        let photo = photo(96, 96, &[(1, 1, k)]).to_jpeg(90).unwrap();
        std::fs::write(path(&format!("b/{k:02}.jpg")), photo).unwrap();
    }
    std::fs::write(path("b/deep/empty.JPG"), b"").unwrap();
    std::fs::write(path("b/.hidden.jpg"), b"").unwrap();
    std::fs::write(path("b/notes.txt"), b"").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt;
        std::os::unix::fs::symlink(folder.path(), path("b/deep/circle")).unwrap();
        std::os::unix::fs::symlink(path("nowhere"), path("b/gone.jpg")).unwrap();
        let name = std::ffi::OsString::from_vec(b"b/\xff.jpg".to_vec());
        std::fs::write(folder.path().join(name), b"").unwrap();
    }
    let walked = walk(&[folder.path().to_owned()]);
    assert_eq!(walked.files.len(), 51);
    #[cfg(unix)]
    assert_eq!(walked.bad.len(), 2, "{:?}", walked.bad);
    // One vanishes between the walk and the look.
    std::fs::remove_file(path("b/07.jpg")).unwrap();
    let (mut seen, mut bad): (Vec<PathBuf>, Vec<String>) = (Vec::new(), Vec::new());
    pipeline::run(
        &vision(),
        &walked.files,
        3,
        &names::Reader::default(),
        |_| false,
        |photo| {
            match photo {
                Ok(photo) => {
                    assert!(matches!(&photo.outcome, Outcome::Seen(seen) if seen.faces.len() == 1));
                    seen.push(photo.file.path);
                }
                Err(fault) => bad.push(fault.reason),
            }
            true
        },
    );
    assert_eq!((seen.len(), bad.len()), (49, 2), "{bad:?}");
    assert!(seen.is_sorted());
    // Who has seen enough is not told more.
    let mut n = 0;
    pipeline::run(
        &vision(),
        &walked.files,
        2,
        &names::Reader::default(),
        |_| true,
        |_| {
            n += 1;
            n < 3
        },
    );
    assert_eq!(n, 3);
}

//! What a file says of its photo: how it is turned, when and where it was taken, and with what.

use std::io::Cursor;

use exif::{Exif, In, Reader, Tag, Value};

use crate::decode::preview;
use crate::{Kind, Orientation};

/// What EXIF says; what it does not say, or says wrongly, is left out.
#[derive(Clone, Debug, PartialEq)]
pub struct About {
    /// How the decoded pixels are turned.
    pub orientation: Orientation,
    /// How the stored picture is turned: other programs' regions are relative to it. The same, but for HEIC.
    pub stored_orientation: Orientation,
    /// As "2024-05-01T12:00:00", with "+02:00" only where the camera knew its zone.
    pub time: Option<String>,
    /// Latitude and longitude, in degrees.
    pub place: Option<(f64, f64)>,
    /// Maker and model.
    pub camera: Option<String>,
}

impl Default for About {
    fn default() -> Self {
        let upright = Orientation::UPRIGHT;
        Self { orientation: upright, stored_orientation: upright, time: None, place: None, camera: None }
    }
}

impl About {
    /// Reads the head of a photo.
    pub fn of(bytes: &[u8]) -> Self {
        let mut about = match Kind::of(bytes) {
            Kind::Other => from_raw(bytes),
            _ => container(bytes).map(|exif| from_exif(&exif)).unwrap_or_default(),
        };
        about.stored_orientation = about.orientation;
        if Kind::of(bytes) == Kind::Heic {
            // The file's own turns are undone in decoding; EXIF repeats them.
            about.orientation = Orientation::UPRIGHT;
        }
        about
    }
}

/// EXIF of a file in one of the usual formats, as much of it as can be read.
fn container(bytes: &[u8]) -> Option<Exif> {
    let read = Reader::new().continue_on_error(true).read_from_container(&mut Cursor::new(bytes));
    read.or_else(|error| error.distill_partial_result(|_| {})).ok()
}

/// A RAW file that is not a TIFF: Canon's CR3 keeps EXIF in boxes of its own, others leave it in the preview.
fn from_raw(bytes: &[u8]) -> About {
    let mut about = About::default();
    for name in [b"CMT1", b"CMT2", b"CMT4"] {
        let head = &bytes[..bytes.len().min(1 << 20)];
        let Some(at) = head.windows(4).position(|part| part == name) else { continue };
        let Some(length) = at.checked_sub(4).and_then(|start| head.get(start..at)) else { continue };
        let length = u32::from_be_bytes(length.try_into().expect("four bytes were taken")) as usize;
        let block = bytes.get(at + 4..(at + length).saturating_sub(4)).unwrap_or_default();
        let read = Reader::new().continue_on_error(true).read_raw(block.to_vec());
        if let Ok(exif) = read.or_else(|error| error.distill_partial_result(|_| {})) {
            let part = from_exif_as(&exif, name == b"CMT4");
            let turned = part.orientation != Orientation::UPRIGHT;
            about.orientation = if turned { part.orientation } else { about.orientation };
            about.time = part.time.or(about.time);
            about.place = part.place.or(about.place);
            about.camera = part.camera.or(about.camera);
        }
    }
    if about == About::default() {
        about = preview(bytes).and_then(container).map(|exif| from_exif(&exif)).unwrap_or_default();
    }
    about
}

fn from_exif(exif: &Exif) -> About {
    from_exif_as(exif, false)
}

/// In a block of its own, EXIF's place has the tags of a main directory.
fn from_exif_as(exif: &Exif, is_place: bool) -> About {
    let tag = |tag: Tag| if is_place { Tag(exif::Context::Tiff, tag.1) } else { tag };
    let text = |which: Tag| {
        let field = exif.get_field(tag(which), In::PRIMARY)?;
        let Value::Ascii(lines) = &field.value else { return None };
        let text = String::from_utf8_lossy(lines.first()?).trim_matches(['\0', ' ']).to_owned();
        (!text.is_empty()).then_some(text)
    };
    let degrees = |which: Tag, side: Tag, negative: &str| {
        // Some phones write signed numbers, against the standard.
        let parts: Vec<f64> = match &exif.get_field(tag(which), In::PRIMARY)?.value {
            Value::Rational(parts) => parts.iter().map(exif::Rational::to_f64).collect(),
            Value::SRational(parts) => parts.iter().map(exif::SRational::to_f64).collect(),
            _ => return None,
        };
        let [degrees, minutes, seconds] = parts[..] else { return None };
        let value = degrees + minutes / 60.0 + seconds / 3600.0;
        Some(if text(side).as_deref() == Some(negative) { -value } else { value })
    };
    let number = exif.get_field(Tag::Orientation, In::PRIMARY).and_then(|field| field.value.get_uint(0));
    let place = degrees(Tag::GPSLatitude, Tag::GPSLatitudeRef, "S")
        .zip(degrees(Tag::GPSLongitude, Tag::GPSLongitudeRef, "W"))
        // Nobody takes photos at 0, 0; cameras without a fix do.
        .filter(|(y, x)| y.abs() <= 90.0 && x.abs() <= 180.0 && (*y, *x) != (0.0, 0.0));
    let taken = [Tag::DateTimeOriginal, Tag::DateTimeDigitized, Tag::DateTime];
    let time = taken.iter().find_map(|&which| written(&text(which)?));
    let zone = text(Tag::OffsetTimeOriginal).or_else(|| text(Tag::OffsetTime)).filter(|zone| is_zone(zone));
    let camera = match (text(Tag::Make), text(Tag::Model)) {
        (Some(make), Some(model)) if model.starts_with(&make) => Some(model),
        (Some(make), Some(model)) => Some(format!("{make} {model}")),
        (make, model) => make.or(model),
    };
    About {
        orientation: Orientation::new(if is_place { 1 } else { number.unwrap_or(1) }),
        time: time.map(|time| time + &zone.unwrap_or_default()),
        place,
        camera,
        ..About::default()
    }
}

/// "2024:05:01 12:00:00" as a date is written elsewhere; zeros and blanks are no date.
fn written(text: &str) -> Option<String> {
    let digits = |range: std::ops::Range<usize>| text.get(range)?.parse::<u32>().ok();
    let [year, month, day] = [digits(0..4)?, digits(5..7)?, digits(8..10)?];
    let [hour, minute, second] = [digits(11..13)?, digits(14..16)?, digits(17..19)?];
    let is_date = year > 0 && (1..=12).contains(&month) && (1..=31).contains(&day);
    let is_time = hour < 24 && minute < 60 && second < 61;
    (is_date && is_time).then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"))
}

/// "+02:00", or "Z".
fn is_zone(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_digit = |k: usize| bytes[k].is_ascii_digit();
    text == "Z"
        || bytes.len() == 6
            && matches!(bytes[0], b'+' | b'-')
            && bytes[3] == b':'
            && [1, 2, 4, 5].into_iter().all(is_digit)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use exif::experimental::Writer;
    use exif::{Field, Rational, SRational};

    /// A JPEG with EXIF in it: what tests need of a camera.
    pub(crate) fn with_exif(jpeg: &[u8], fields: &[(Tag, Value)]) -> Vec<u8> {
        let fields: Vec<Field> = fields
            .iter()
            .map(|(tag, value)| Field { tag: *tag, ifd_num: In::PRIMARY, value: value.clone() })
            .collect();
        let mut writer = Writer::new();
        fields.iter().for_each(|field| writer.push_field(field));
        let mut block = Cursor::new(Vec::new());
        writer.write(&mut block, false).unwrap();
        let block = block.into_inner();
        let length = (block.len() + 8) as u16;
        [&jpeg[..2], &[0xff, 0xe1], &length.to_be_bytes(), b"Exif\0\0", &block, &jpeg[2..]].concat()
    }

    pub(crate) fn ascii(text: &str) -> Value {
        Value::Ascii(vec![text.as_bytes().to_vec()])
    }

    #[test]
    fn time_place_and_camera_are_read_and_nonsense_is_left_out() {
        let jpeg = crate::Pixels::new(8, 8, vec![7; 192]).unwrap().to_jpeg(80).unwrap();
        assert_eq!(About::of(&jpeg), About::default());
        let north = [51, 30, 0].map(|part| Rational { num: part, denom: 1 }).to_vec();
        let west = [0, 7, 30].map(|part| SRational { num: part, denom: 1 }).to_vec();
        let fields = [
            (Tag::Orientation, Value::Short(vec![7])),
            (Tag::Make, ascii("Acme")),
            (Tag::Model, ascii("Acme One")),
            (Tag::DateTimeOriginal, ascii("2024:05:01 12:13:14")),
            (Tag::OffsetTimeOriginal, ascii("+02:00")),
            (Tag::GPSLatitude, Value::Rational(north)),
            (Tag::GPSLatitudeRef, ascii("N")),
            (Tag::GPSLongitude, Value::SRational(west)),
            (Tag::GPSLongitudeRef, ascii("W")),
        ];
        let about = About::of(&with_exif(&jpeg, &fields));
        assert_eq!(about.orientation.number(), 7);
        assert_eq!(about.time.as_deref(), Some("2024-05-01T12:13:14+02:00"));
        assert_eq!(about.place, Some((51.5, -0.125)));
        assert_eq!(about.camera.as_deref(), Some("Acme One"));
        let zeros = [0, 0, 0].map(|part| Rational { num: part, denom: 1 }).to_vec();
        let nonsense = [
            (Tag::Orientation, Value::Short(vec![77])),
            (Tag::DateTimeOriginal, ascii("0000:00:00 00:00:00")),
            (Tag::GPSLatitude, Value::Rational(zeros.clone())),
            (Tag::GPSLongitude, Value::Rational(zeros)),
        ];
        assert_eq!(About::of(&with_exif(&jpeg, &nonsense)), About::default());
        // A time without a zone is kept without one.
        let local = [(Tag::DateTimeOriginal, ascii("2024:05:01 12:13:14"))];
        assert_eq!(About::of(&with_exif(&jpeg, &local)).time.as_deref(), Some("2024-05-01T12:13:14"));
    }
}

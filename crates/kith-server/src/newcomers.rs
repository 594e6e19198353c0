//! Photos: shown, dropped onto the page and answered, stored if asked, and a face added by hand.

use std::path::{Path, PathBuf};

use kith::predict::{NameShare, NewPhoto as Occasion};
use kith_album::{new_face, new_photo};
use kith_store::meta::EMBEDDING;
use kith_store::{NewFace, Person, Photo};
use kith_vision::{About, Face, Kind, Region, Seen, Vision, decode, is_raw, pipeline};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::call::{Call, Reply};
use crate::drawn;
use crate::failure::Failure;
use crate::reads::{Found, found};
use crate::scribe::{self, Job};

/// The longer side of a photo that is shown whole, or in a list.
const SIDES: [usize; 2] = [1600, 480];
/// JPEGs of so many bytes are sent as they are.
const SMALL: u64 = 400_000;

/// The picture of a photo: upright in the browser, not larger than a screen.
pub fn picture(call: &Call) -> Result<Reply, Failure> {
    let view = call.view();
    let photo = match found(&view, call)? {
        Found::Photo(photo) => photo,
        Found::Frame(frame) => {
            let asked = view.asked.as_ref();
            let looks = |row: &kith_store::FaceRow| {
                let asked = asked?;
                let face = asked.believed.rows.face_of(*row)?;
                Some(asked.believed.belief.target().data().embedding(face))
            };
            let faces: Vec<Option<&[f32]>> = view.frames[&frame].iter().map(looks).collect();
            return Ok(Reply::of("image/jpeg", drawn::scene(&faces)));
        }
    };
    let side = if call.word("size") == Some("small") { SIDES[1] } else { SIDES[0] };
    let bytes = read(photo)?;
    if Kind::of(&bytes) == Kind::Jpeg && photo.size <= SMALL {
        return Ok(Reply::of("image/jpeg", bytes).kept());
    }
    let shown = || -> Result<Vec<u8>, kith_vision::VisionError> {
        let whole = decode(&bytes, is_raw(Path::new(&photo.path)))?;
        whole.fitted(side)?.0.upright(About::of(&bytes).orientation).to_jpeg(85)
    };
    Ok(Reply::of("image/jpeg", shown().map_err(|error| Failure::refused(error.to_string()))?).kept())
}

fn read(photo: &Photo) -> Result<Vec<u8>, Failure> {
    let gone = |_| Failure::missing(format!("{}: the photo is not there any more", photo.key));
    pipeline::read(Path::new(&photo.path)).map_err(gone)
}

/// The networks of the library, loaded when they are first needed.
fn vision(call: &Call) -> Result<&Vision, Failure> {
    let load = || {
        let wanted = call.desk.reader.lock().expect("nobody panics while holding it").get(EMBEDDING);
        let wanted = wanted.map_err(|error| error.to_string())?;
        let vision =
            Vision::load(&call.desk.options.models, wanted.as_deref()).map_err(|error| error.to_string())?;
        match wanted {
            Some(wanted) if wanted == vision.pipeline() => Ok(vision),
            wanted => Err(format!(
                "found the networks of \"{}\", wanted those of \"{}\" as in the library",
                vision.pipeline(),
                wanted.unwrap_or_else(|| "no photos".to_owned())
            )),
        }
    };
    call.desk.vision.get_or_init(load).as_ref().map_err(|reason| Failure::unavailable(reason.clone()))
}

fn look(call: &Call, bytes: &[u8], regions: &[Region]) -> Result<Seen, Failure> {
    let seen = vision(call)?.look(bytes, false, regions);
    seen.map_err(|error| Failure::refused(format!("the photo: {error}")))
}

/// Who is on a photo that is not stored.
pub fn who(call: &Call) -> Result<Reply, Failure> {
    let seen = look(call, &call.body, &[])?;
    let view = call.view();
    let asked = view.reasons.clone().or_else(|| view.asked.clone());
    let asked = asked.ok_or_else(|| Failure::unavailable("found nobody known yet, wanted faces"))?;
    let faces: Vec<&[f32]> = seen.faces.iter().map(|face| &face.embedding[..]).collect();
    let photos = [Occasion { context: None, faces }];
    let answers = if seen.faces.is_empty() {
        Vec::new()
    } else {
        let reader = call.desk.reader.lock().expect("nobody panics while holding it");
        asked.believed.who_is_on(&reader, &photos, &|| ())?.swap_remove(0)
    };
    let names = asked.believed.belief.target().data().names();
    let faces = seen.faces.iter().zip(&answers).enumerate().map(|(k, (face, who))| {
        let answer = &who.answer;
        let name = |share: &NameShare| names[share.label.index()].clone();
        let best = answer.names.first().filter(|name| name.p >= 0.5).map(name);
        let person = who.person.filter(|(_, p)| *p >= 0.5).and_then(|(id, _)| view.person(id));
        let told = answer.names.iter().take(3);
        let told = told.map(|share| json!({"name": name(share), "p": share.p, "hdi": share.hdi}));
        json!({
            "face": format!("#{k}"), "box": face.bounds, "acquainted": answer.acquainted,
            "familiar": answer.familiar, "stranger": answer.stranger, "names": told.collect::<Vec<_>>(),
            "unknown_name": answer.unknown_name,
            "person": who.person.map(|(id, p)| json!({"id": id, "p": p})),
            "title": best.or_else(|| person.map(Person::title)),
        })
    });
    let faces: Vec<Value> = faces.collect();
    Ok(Reply::json(&json!({"width": seen.size.0, "height": seen.size.1, "faces": faces})))
}

/// Stores a photo beside the library, and its faces in it.
pub fn store(call: &Call) -> Result<Reply, Failure> {
    let name =
        call.word("name").ok_or_else(|| Failure::malformed("name: missing, wanted the photo's name"))?;
    let name: String = name.chars().filter(|c| c.is_alphanumeric() || "-_. ".contains(*c)).collect();
    let name = name.trim_matches(['.', ' ']).to_owned();
    if name.is_empty() || name.len() > 200 {
        return Err(Failure::malformed("name: wanted 1 to 200 letters, digits, dots, dashes or blanks"));
    }
    if call.desk.options.is_read_only {
        return Err(Failure::read_only());
    }
    let seen = look(call, &call.body, &[])?;
    let hash = hex(&call.body);
    let view = call.view();
    if let Some(known) = view.photos.iter().find(|photo| photo.hash == hash) {
        return Ok(Reply::json(&json!({"photo": known.row, "faces": 0, "text": "it is here already"})));
    }
    let (path, name) = keep(call, &name)?;
    let of_file = (call.body.len() as u64, 0);
    let photo = new_photo(name, path.to_string_lossy().into_owned(), of_file, hash, &seen);
    let pipeline = vision(call)?.pipeline().to_owned();
    Ok(Reply::json(&scribe::ask(&call.desk, Job::Photo(Box::new(photo), pipeline))?))
}

/// Writes a photo into a folder beside the library, under a name that nobody has.
fn keep(call: &Call, name: &str) -> Result<(PathBuf, String), Failure> {
    use std::io::Write;
    let failed = |error: std::io::Error| Failure::unavailable(format!("the photo cannot be stored: {error}"));
    let mut folder = call.desk.options.lib.clone().into_os_string();
    folder.push("-photos");
    let folder = PathBuf::from(folder);
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(&folder).map_err(failed)?;
    let folder = folder.canonicalize().map_err(failed)?;
    let names = std::iter::once(name.to_owned()).chain((2..1000).map(|k| format!("{k} {name}")));
    for name in names {
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(folder.join(&name)) {
            Ok(mut file) => {
                file.write_all(&call.body).and_then(|()| file.sync_all()).map_err(failed)?;
                return Ok((folder.join(&name), format!("dropped/{name}")));
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Err(Failure::refused("found a thousand photos of this name, wanted another"))
}

/// Where a face is.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Box4 {
    r#box: [f32; 4],
}

/// A face that was not found is looked for where somebody points.
pub fn add_face(call: &Call) -> Result<Reply, Failure> {
    let Box4 { r#box: bounds } = call.read()?;
    let [x, y, w, h] = bounds;
    let is_within = x >= 0.0 && y >= 0.0 && w > 0.0 && h > 0.0 && x + w <= 1.001 && y + h <= 1.001;
    if !is_within {
        return Err(Failure::malformed("box: wanted left, top, width and height as parts of the photo"));
    }
    let view = call.view();
    let Found::Photo(photo) = found(&view, call)? else {
        return Err(Failure::refused("found a drawn photo, wanted one of a camera"));
    };
    let bytes = read(photo)?;
    let region = Region { name: "?".to_owned(), bounds: Some(bounds), is_stored: false, source: "hand" };
    let seen = look(call, &bytes, &[region])?;
    let centre = (x + w / 2.0, y + h / 2.0);
    let is_there = |face: &&Face| {
        let [fx, fy, fw, fh] = face.bounds;
        (fx..fx + fw).contains(&centre.0) && (fy..fy + fh).contains(&centre.1)
    };
    let Some(face) = seen.faces.iter().find(is_there) else {
        return Err(Failure::refused("found no face there, wanted one that can be made out"));
    };
    let new_face = NewFace { name: None, ..new_face(format!("{}#hand", photo.key), face) };
    let new = photo.with_faces(vec![(new_face, face.thumbnail.clone())]);
    let pipeline = vision(call)?.pipeline().to_owned();
    let done = scribe::ask(&call.desk, Job::Photo(Box::new(new), pipeline))?;
    if done["faces"] == 0 {
        return Err(Failure::refused("found a face there that is known already, wanted a new one"));
    }
    Ok(Reply::json(&done))
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

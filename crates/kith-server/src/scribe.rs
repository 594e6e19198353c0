//! The one who writes: what is said goes to the disk, one act after another, and is acknowledged only then.

use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, mpsc};

use kith_store::{ActId, EntryId, FaceRow, Forget, Kind, Library, NewPhoto, PersonId, Saying, StoreError};
use serde_json::{Value, json};

use crate::acts::{Act, Meant};
use crate::failure::Failure;
use crate::forget;
use crate::serve::Desk;
use crate::view::Effect;

/// Something to write.
pub enum Job {
    /// The owner says something.
    Say(Act),
    /// An act is taken back, or the last one.
    Undo(Option<ActId>),
    /// An act stands again, or the one that was taken back last.
    Redo(Option<ActId>),
    /// A person is shown by this face.
    Picture(PersonId, FaceRow),
    /// An entry that looks like a slip was meant so, or not.
    Meant(EntryId, bool),
    /// Somebody is forgotten, or only what that would remove is said.
    Forget(Forget, bool),
    /// A photo, new or with one face more.
    Photo(Box<NewPhoto>, String),
}

/// A job and where its outcome goes.
pub type Request = (Job, Sender<Result<Value, Failure>>);

/// Writes until nobody has anything to write any more.
pub fn run(library: &Library, desk: &Arc<Desk>, jobs: &Receiver<Request>) {
    for (job, reply) in jobs {
        let done = write(library, desk, job);
        // Who asked may be gone; what was said is kept.
        let _gone = reply.send(done);
    }
}

/// Has something written; returns when it is on the disk.
pub fn ask(desk: &Desk, job: Job) -> Result<Value, Failure> {
    let scribe = desk.scribe.lock().expect("nobody panics while holding it").clone();
    let scribe = scribe.ok_or_else(Failure::read_only)?;
    let (reply, done) = mpsc::channel();
    let ended = || Failure::unavailable("found the page at its end, wanted it open");
    scribe.send((job, reply)).map_err(|_| ended())?;
    done.recv().map_err(|_| ended())?
}

fn write(library: &Library, desk: &Desk, job: Job) -> Result<Value, Failure> {
    let (by, view) = (&desk.by, desk.view());
    let (value, effect) = match job {
        Job::Say(act) => {
            let Meant { entries, effect, text } = act.meant(&view)?;
            let sayings: Vec<Saying<'_>> = entries.iter().map(|said| said.saying()).collect();
            let act = library.say(by, &sayings)?;
            (json!({"act": act, "text": text, "entries": entries.len()}), effect)
        }
        Job::Undo(act) => {
            let undone = match act {
                Some(act) => library.take_back(by, act)?.then_some(act),
                None => library.undo(by, 1)?.first().copied(),
            };
            (json!({"undone": undone, "text": "taken back"}), Effect::Settled(Vec::new()))
        }
        Job::Redo(act) => {
            let redone = match act {
                Some(act) => library.restore(by, act)?.then_some(act),
                None => library.redo(by)?,
            };
            (json!({"redone": redone, "text": "restored"}), Effect::Settled(Vec::new()))
        }
        Job::Picture(person, face) => choose_picture(library, desk, person, face)?,
        Job::Meant(entry, is_meant) => (mean(library, desk, entry, is_meant)?, Effect::Shown),
        Job::Forget(whom, is_dry_run) => return forget::write(library, desk, &whom, is_dry_run),
        Job::Photo(photo, pipeline) => return store_photo(library, desk, *photo, &pipeline),
    };
    desk.heard(library, effect)?;
    desk.live.tell("said", &value);
    Ok(value)
}

fn choose_picture(
    library: &Library,
    desk: &Desk,
    person: PersonId,
    face: FaceRow,
) -> Result<(Value, Effect), Failure> {
    let view = desk.view();
    let owner = view.face(face).map(|(owner, _)| owner).filter(|owner| owner.id == person);
    let Some(owner) = owner else {
        return Err(Failure::refused(format!(
            "found a face that is not of person {person}, wanted one that is"
        )));
    };
    let saying = Saying { kind: Kind::Picture, face, other: None, name: None };
    let act = library.say(&desk.by, &[saying])?;
    let before = view.picture(owner);
    let value =
        json!({"act": act, "person": person, "face": face, "before": before, "text": "another picture"});
    Ok((value, Effect::Shown))
}

fn mean(library: &Library, desk: &Desk, entry: EntryId, is_meant: bool) -> Result<Value, Failure> {
    let view = desk.view();
    let missing = || Failure::missing(format!("found no entry {entry}"));
    let place = view.log.binary_search_by_key(&entry, |entry| entry.id).map_err(|_| missing())?;
    let said = &view.log[place];
    let face = said.face.ok_or_else(missing)?;
    let act = match view.meant(said) {
        Some(act) if !is_meant => library.take_back(&desk.by, act).map(|_| Some(act))?,
        None if is_meant => {
            let name = said.name.and_then(|name| view.names.get(&name)).map(String::as_str);
            let saying = Saying { kind: Kind::Meant, face, other: said.other, name };
            Some(library.say(&desk.by, &[saying])?)
        }
        known => known,
    };
    Ok(json!({"act": act, "entry": entry, "meant": is_meant, "text": "it was meant so"}))
}

fn store_photo(library: &Library, desk: &Desk, photo: NewPhoto, pipeline: &str) -> Result<Value, Failure> {
    let known = library.photos()?.into_iter().find(|known| known.key == photo.key);
    let key = photo.key.clone();
    let text = if known.is_some() { "a face was added" } else { "a photo came in" };
    let added = match known {
        Some(known) => library.change_photo(known.row, photo, pipeline)?,
        None => library.add_photos(&[photo], pipeline)?,
    };
    let photos = library.photos()?;
    let row = photos.iter().find(|known| known.key == key).map(|known| known.row);
    desk.change(|view| view.set_photos(photos));
    desk.wake();
    let value = json!({"photo": row, "faces": added.faces, "text": text});
    desk.live.tell("said", &value);
    Ok(value)
}

/// What went wrong in the background, for whoever looks.
pub fn trouble(desk: &Desk, error: &StoreError) {
    desk.live.tell("trouble", &json!({"text": error.to_string()}));
}

//! Forgetting through the page: what would go is said first, and then it is gone for good.

use std::sync::atomic::Ordering;

use kith_store::{Forget, Library, PersonId};
use serde_json::{Value, json};

use crate::call::{Call, Reply};
use crate::failure::Failure;
use crate::scribe::{self, Job};
use crate::serve::Desk;
use crate::view::View;

/// Whom to forget, and whether only to say what would go.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    person: Option<i64>,
    face: Option<i64>,
    name: Option<String>,
    #[serde(default)]
    dry_run: bool,
}

/// Removes a person, a face or a name with every trace, or says what that would remove.
pub fn forget(call: &Call) -> Result<Reply, Failure> {
    let wanted: Wanted = call.read()?;
    let whom = match (wanted.person, wanted.face, wanted.name) {
        (Some(person), None, None) => Forget::Person(PersonId(person)),
        (None, Some(face), None) => {
            let view = call.view();
            let known = view.face(face.into());
            let (_, face) = known.ok_or_else(|| Failure::missing(format!("found no face {face}")))?;
            Forget::Face(face.key.clone())
        }
        (None, None, Some(name)) => Forget::Name(name),
        _ => return Err(Failure::malformed("wanted a person, a face or a name, one of them")),
    };
    let (desk, is_dry_run) = (&call.desk, wanted.dry_run);
    if is_dry_run {
        return Ok(Reply::json(&scribe::ask(desk, Job::Forget(whom, true))?));
    }
    // Whoever learns from faces lets go of them first, and does not look again before they are gone.
    desk.is_forgetting.store(true, Ordering::Relaxed);
    desk.wake();
    let thinking = desk.thinking.lock().expect("nobody panics while holding it");
    let done = scribe::ask(desk, Job::Forget(whom, false));
    desk.is_forgetting.store(false, Ordering::Relaxed);
    drop(thinking);
    desk.wake();
    Ok(Reply { forgets: true, ..Reply::json(&done?) })
}

/// Does it, by whoever writes.
pub fn write(library: &Library, desk: &Desk, whom: &Forget, is_dry_run: bool) -> Result<Value, Failure> {
    let forgotten = library.forget(whom, is_dry_run)?;
    let value = json!({
        "faces": forgotten.faces.len(), "photos": forgotten.frames, "entries": forgotten.entries,
        "names": forgotten.names, "unwiped": forgotten.unwiped, "dry_run": is_dry_run,
    });
    if is_dry_run {
        return Ok(value);
    }
    desk.replace(View::stored(library)?);
    desk.live.tell("said", &json!({"text": "forgotten"}));
    Ok(value)
}

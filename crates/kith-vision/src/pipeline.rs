//! Many photos: several workers look at them at once, and what they saw comes out in the order of the photos.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Condvar, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::VisionError;
use crate::about::About;
use crate::decode::{MOST_BYTES, guarded};
use crate::models::hex;
use crate::names::{self, Region};
use crate::vision::{Seen, Vision};
use crate::walk::{BadPhoto, File, is_raw};

/// How far the workers may run ahead of the first photo that is not done, so that memory stays bounded.
const AHEAD: usize = 32;

/// What became of a photo.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It was looked at.
    Seen(Box<Seen>),
    /// Its content is known already; what other programs left of names is read again.
    Known(About, Vec<Region>),
}

/// A photo that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Photo {
    /// The file.
    pub file: File,
    /// The SHA-256 of its content.
    pub hash: String,
    /// What became of it.
    pub outcome: Outcome,
}

/// Looks at photos with several workers. `names` reads what other programs left; `is_known` says that a
/// content was looked at before; `each` takes the photos in their order, and says whether to go on.
pub fn run(
    vision: &Vision,
    files: &[File],
    workers: usize,
    names: &names::Reader,
    is_known: impl Fn(&str) -> bool + Sync,
    mut each: impl FnMut(Result<Photo, BadPhoto>) -> bool,
) {
    let next = AtomicUsize::new(0);
    let progress = Progress::default();
    let (sender, receiver) = sync_channel(2 * workers.max(1));
    std::thread::scope(|scope| {
        for _ in 0..workers.max(1) {
            let (sender, is_known, next, progress) = (sender.clone(), &is_known, &next, &progress);
            scope.spawn(move || {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(place) else { break };
                    progress.wait_for(place.saturating_sub(AHEAD));
                    let photo = look(vision, file, names, is_known);
                    let bad =
                        |error: VisionError| BadPhoto { path: file.path.clone(), reason: error.to_string() };
                    if sender.send((place, photo.map_err(bad))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let (mut waiting, mut first) = (BTreeMap::new(), 0);
        'all: for (place, photo) in receiver.iter() {
            waiting.insert(place, photo);
            while let Some(photo) = waiting.remove(&first) {
                first += 1;
                progress.reach(first);
                if !each(photo) {
                    break 'all;
                }
            }
        }
        // Workers that would go on have nobody to tell.
        drop(receiver);
        progress.reach(usize::MAX);
    });
}

/// How many photos are done, for those who wait.
#[derive(Default)]
struct Progress {
    done: Mutex<usize>,
    changed: Condvar,
}

impl Progress {
    fn wait_for(&self, wanted: usize) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        while *done < wanted {
            done = self.changed.wait(done).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn reach(&self, n: usize) {
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) = n;
        self.changed.notify_all();
    }
}

fn look(
    vision: &Vision,
    file: &File,
    names: &names::Reader,
    is_known: &(impl Fn(&str) -> bool + Sync),
) -> Result<Photo, VisionError> {
    let bytes = read(&file.path)?;
    let hash = hex(&Sha256::digest(&bytes));
    guarded(|| {
        let regions = names.read(&file.path, &bytes);
        let outcome = if is_known(&hash) {
            Outcome::Known(About::of(&bytes), regions)
        } else {
            Outcome::Seen(Box::new(vision.look(&bytes, is_raw(&file.path), &regions)?))
        };
        Ok(Photo { file: file.clone(), hash, outcome })
    })
}

/// The bytes of a photo, unless there are too many.
pub fn read(path: &Path) -> Result<Vec<u8>, VisionError> {
    let wrong =
        |error: std::io::Error| VisionError::photo(format!("found {error}, wanted a file that can be read"));
    let file = fs::File::open(path).map_err(wrong)?;
    let size = file.metadata().map_err(wrong)?.len();
    if size > MOST_BYTES {
        let most = MOST_BYTES >> 20;
        return Err(VisionError::photo(format!("found {} MB, wanted at most {most}", size >> 20)));
    }
    let mut bytes = Vec::with_capacity(size as usize);
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(wrong)?;
    Ok(bytes)
}

//! What became of the photos under some folders since they were looked at last.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use kith_store::{Added, ContextRule, Library, NewPhoto, PhotoRow, ToldName, meta};
use kith_vision::pipeline::{self, Outcome as Looked, Photo};
use kith_vision::{BadPhoto, File, Vision, names, walk};

use crate::{AlbumError, new_photo};

/// Photos of one transaction: as many as are lost when the machine stops, at most.
const BATCH: usize = 32;

/// What became of photos.
#[derive(Debug, Default)]
pub struct Tally {
    /// Photos that were not known.
    pub new: usize,
    /// Photos that are as they were.
    pub unchanged: usize,
    /// Photos with another content at their path.
    pub changed: usize,
    /// Photos at another path.
    pub moved: usize,
    /// Photos whose content is there once more.
    pub copies: usize,
    /// Photos that are not there any more.
    pub gone: usize,
    /// New faces.
    pub faces: usize,
    /// Those of them that are left out because it cannot be told whose they are.
    pub unclear: usize,
    /// Names that other programs left.
    pub names: usize,
    /// Names of theirs that fit no face.
    pub unplaced: usize,
    /// Photos that cannot be read, and why.
    pub bad: Vec<BadPhoto>,
}

impl Tally {
    fn count(&mut self, added: Added) {
        self.faces += added.faces;
        self.unclear += added.unclear;
    }

    /// Whether anything is not as it was.
    pub fn has_news(&self) -> bool {
        self.new + self.changed + self.moved + self.gone + self.bad.len() > 0
    }
}

/// How far looking has come.
#[derive(Clone, Copy, Debug)]
pub struct Glance {
    /// Photos that were looked at.
    pub done: usize,
    /// Photos to look at.
    pub all: usize,
    /// Faces that are stored by now.
    pub faces: usize,
}

const RULES: [(&str, ContextRule); 4] = [
    ("place", ContextRule::Place),
    ("folder", ContextRule::Folder),
    ("day", ContextRule::Day),
    ("none", ContextRule::None),
];

/// The rule for contexts of photos that has this name.
pub fn rule_of(name: &str) -> Option<ContextRule> {
    RULES.iter().find(|(known, _)| *known == name).map(|(_, rule)| *rule)
}

/// Faces of two networks, or of two ways to align them, cannot be compared.
fn refuse_another_pipeline(library: &Library, vision: &Vision) -> Result<(), AlbumError> {
    let found = vision.pipeline();
    let refused = match library.get(meta::EMBEDDING)? {
        Some(wanted) if wanted == found => return Ok(()),
        Some(wanted) => format!(
            "found the networks of \"{found}\", wanted those of \"{wanted}\" as in the library; \
             --embed-again embeds all faces anew"
        ),
        None if library.get(meta::DIMENSION)?.is_none() => return Ok(()),
        None => {
            "found a library of faces that did not come from photos, wanted a library of its own for photos"
                .to_owned()
        }
    };
    Err(AlbumError::Refused(refused))
}

/// Photos of some folders, and the library that they go to.
#[derive(Debug)]
pub struct Album<'a> {
    library: &'a Library,
    vision: &'a Vision,
    workers: usize,
    stop: &'a AtomicBool,
    /// Photos that could not be read and copies of others; they are not tried again before they change.
    skip: HashSet<(PathBuf, u64, i64)>,
    is_first: bool,
}

/// What the library knows of photos.
struct Known {
    of_path: HashMap<String, kith_store::Photo>,
    of_hash: Mutex<HashMap<String, Vec<PhotoRow>>>,
    keys: HashMap<String, String>,
}

impl<'a> Album<'a> {
    /// Refused where the library is of other networks. Whoever sets `stop` ends looking; what was seen stays.
    pub fn new(
        library: &'a Library,
        vision: &'a Vision,
        workers: usize,
        stop: &'a AtomicBool,
    ) -> Result<Self, AlbumError> {
        refuse_another_pipeline(library, vision)?;
        Ok(Self { library, vision, workers, stop, skip: HashSet::new(), is_first: true })
    }

    /// Looks at everything under some paths; photos that were bad are named when they are first seen, or
    /// changed. `context` is the name of a rule (see [`rule_of`]); without it the library's own stays.
    pub fn look(
        &mut self,
        paths: &[PathBuf],
        context: Option<&str>,
        tell: &mut dyn FnMut(Glance),
    ) -> Result<Tally, AlbumError> {
        let rule = self.context_rule(context)?;
        let mut tally = self.once(paths, tell)?;
        if self.is_first || tally.has_news() {
            tally.names = self.library.take_told()?;
            self.library.set_contexts(rule)?;
        }
        self.is_first = false;
        Ok(tally)
    }

    /// The rule that was given, or the one that the library has.
    fn context_rule(&self, given: Option<&str>) -> Result<ContextRule, AlbumError> {
        let stored = self.library.get(meta::PHOTO_CONTEXT)?.unwrap_or_else(|| "none".to_owned());
        let name = given.unwrap_or(&stored);
        let Some(rule) = rule_of(name) else {
            let known = RULES.map(|(name, _)| name).join(", ");
            return Err(AlbumError::Refused(format!("context: found \"{name}\", wanted one of {known}")));
        };
        if name != stored {
            self.library.set(meta::PHOTO_CONTEXT, name.to_owned())?;
        }
        Ok(rule)
    }

    fn once(&mut self, paths: &[PathBuf], tell: &mut dyn FnMut(Glance)) -> Result<Tally, AlbumError> {
        let walked = walk(paths);
        let bad = if self.is_first { walked.bad } else { Vec::new() };
        let mut tally = Tally { bad, ..Tally::default() };
        let mut known = self.known()?;
        let there: HashSet<&Path> = walked.files.iter().map(|file| file.path.as_path()).collect();
        let files: Vec<File> = walked
            .files
            .iter()
            .filter(|file| !self.skip.contains(&(file.path.clone(), file.size, file.modified)))
            .filter(|file| {
                let path = file.path.to_str().unwrap_or_default();
                let is_same = |photo: &kith_store::Photo| {
                    (photo.size, photo.modified, photo.is_gone) == (file.size, file.modified, false)
                };
                let is_unchanged = known.of_path.get(path).is_some_and(is_same);
                tally.unchanged += usize::from(is_unchanged);
                !is_unchanged
            })
            .cloned()
            .collect();
        self.look_at(&files, &mut known, &mut tally, tell)?;
        if !self.stop.load(Ordering::Relaxed) {
            self.mark_gone(paths, &there, &mut tally)?;
        }
        Ok(tally)
    }

    fn known(&self) -> Result<Known, AlbumError> {
        let photos = self.library.photos()?;
        let mut of_hash: HashMap<String, Vec<PhotoRow>> = HashMap::new();
        photos.iter().for_each(|photo| of_hash.entry(photo.hash.clone()).or_default().push(photo.row));
        Ok(Known {
            keys: photos.iter().map(|photo| (photo.key.clone(), photo.path.clone())).collect(),
            of_path: photos.into_iter().map(|photo| (photo.path.clone(), photo)).collect(),
            of_hash: Mutex::new(of_hash),
        })
    }

    fn look_at(
        &mut self,
        files: &[File],
        known: &mut Known,
        tally: &mut Tally,
        tell: &mut dyn FnMut(Glance),
    ) -> Result<(), AlbumError> {
        let (mut batch, mut failed, mut done) = (Vec::new(), None, 0);
        let hashes = std::mem::take(&mut known.of_hash);
        let is_known = |hash: &str| hashes.lock().is_ok_and(|hashes| hashes.contains_key(hash));
        let by_path: BTreeMap<&Path, &File> = files.iter().map(|file| (file.path.as_path(), file)).collect();
        let names = names::Reader::new(self.written()?);
        pipeline::run(self.vision, files, self.workers, &names, is_known, |photo| {
            let taken = match photo {
                Ok(photo) => self.take(photo, known, &hashes, &mut batch, tally),
                Err(bad) => {
                    by_path.get(bad.path.as_path()).into_iter().for_each(|file| self.skip(file));
                    tally.bad.push(bad);
                    Ok(())
                }
            };
            failed = match taken {
                Ok(()) if batch.len() >= BATCH => self.write(&mut batch, tally),
                taken => taken,
            }
            .err();
            done += 1;
            tell(Glance { done, all: files.len(), faces: tally.faces });
            failed.is_none() && !self.stop.load(Ordering::Relaxed)
        });
        match failed {
            Some(error) => Err(error),
            None => self.write(&mut batch, tally),
        }
    }

    fn write(&self, batch: &mut Vec<NewPhoto>, tally: &mut Tally) -> Result<(), AlbumError> {
        let photos = std::mem::take(batch);
        if !photos.is_empty() {
            tally.count(self.library.add_photos(&photos, self.vision.pipeline())?);
        }
        Ok(())
    }

    fn skip(&mut self, file: &File) {
        self.skip.insert((file.path.clone(), file.size, file.modified));
    }

    /// What kith wrote beside photos, and what was there before: names of its own are no news.
    fn written(&self) -> Result<names::Written, AlbumError> {
        let sidecars = self.library.sidecars()?.into_iter();
        Ok(sidecars.map(|sidecar| (sidecar.path.into(), (sidecar.after, sidecar.before))).collect())
    }

    /// A photo that was read: new, changed, moved, or a copy of one that is there.
    fn take(
        &mut self,
        photo: Photo,
        known: &mut Known,
        hashes: &Mutex<HashMap<String, Vec<PhotoRow>>>,
        batch: &mut Vec<NewPhoto>,
        tally: &mut Tally,
    ) -> Result<(), AlbumError> {
        let not_text = || AlbumError::Refused("found a name that is not UTF-8".to_owned());
        let path = photo.file.path.to_str().ok_or_else(not_text)?.to_owned();
        if path.contains(char::is_control) {
            // An id is one line, at every door.
            let reason = "found control characters in its name, wanted none".to_owned();
            tally.bad.push(BadPhoto { path: photo.file.path.clone(), reason });
            self.skip(&photo.file);
            return Ok(());
        }
        let mut hashes = hashes.lock().expect("nobody panics while holding it");
        let seen = match photo.outcome {
            Looked::Known(about, regions) => {
                let rows = hashes.get(&photo.hash).cloned().unwrap_or_default();
                drop(hashes);
                return self.take_known(&rows, &photo.file, &about, &regions, tally);
            }
            Looked::Seen(seen) => *seen,
        };
        tally.unplaced += seen.unplaced;
        if seen.is_cut_off {
            let reason = "found it cut off, wanted a whole photo; what is there was looked at".to_owned();
            tally.bad.push(BadPhoto { path: photo.file.path.clone(), reason });
        }
        if hashes.insert(photo.hash.clone(), Vec::new()).is_some() {
            tally.copies += 1;
            self.skip(&photo.file);
            return Ok(());
        }
        let of_file = (photo.file.size, photo.file.modified);
        if let Some(old) = known.of_path.get(&path) {
            tally.changed += 1;
            let new = new_photo(old.key.clone(), path, of_file, photo.hash, &seen);
            tally.count(self.library.change_photo(old.row, new, self.vision.pipeline())?);
            return Ok(());
        }
        tally.new += 1;
        let key = free_key(&photo.file, &path, &known.keys);
        known.keys.insert(key.clone(), path.clone());
        batch.push(new_photo(key, path, of_file, photo.hash, &seen));
        Ok(())
    }

    /// A photo whose content is in the library, at this path or at another.
    fn take_known(
        &mut self,
        rows: &[PhotoRow],
        file: &File,
        about: &kith_vision::About,
        regions: &[names::Region],
        tally: &mut Tally,
    ) -> Result<(), AlbumError> {
        let photos = rows.iter().map(|&row| self.library.photo(row)).collect::<Result<Vec<_>, _>>()?;
        let is_here = |photo: &&kith_store::Photo| Path::new(&photo.path) == file.path;
        let same = photos.iter().flatten().find(is_here);
        let moved = || photos.iter().flatten().find(|photo| !Path::new(&photo.path).exists());
        let Some(photo) = same.or_else(moved) else {
            tally.copies += 1;
            self.skip(file);
            return Ok(());
        };
        if same.is_some() {
            tally.unchanged += 1;
        } else {
            tally.moved += 1;
        }
        let path = file.path.to_string_lossy();
        self.library.photo_is_at(photo.row, &path, file.size, file.modified)?;
        let faces = self.library.faces_of_photo(photo.row)?;
        let boxes: Vec<[f32; 4]> = faces.iter().map(|face| face.bounds).collect();
        let matched = names::matched(regions, &boxes, about.stored_orientation);
        tally.unplaced += matched.unplaced;
        for (face, (name, source)) in
            faces.iter().zip(matched.names).filter_map(|(face, name)| name.map(|name| (face, name)))
        {
            self.library.tell(&ToldName { face: face.row, name, source: source.to_owned() })?;
        }
        Ok(())
    }

    /// Photos under the paths that were looked at and are not there any more.
    fn mark_gone(
        &self,
        paths: &[PathBuf],
        there: &HashSet<&Path>,
        tally: &mut Tally,
    ) -> Result<(), AlbumError> {
        let photos = self.library.photos()?;
        let is_gone = |photo: &&kith_store::Photo| {
            let path = Path::new(&photo.path);
            !photo.is_gone
                && !there.contains(path)
                && paths.iter().any(|root| path.starts_with(root))
                && !path.exists()
        };
        let gone: Vec<PhotoRow> = photos.iter().filter(is_gone).map(|photo| photo.row).collect();
        tally.gone += gone.len();
        Ok(self.library.photos_are_gone(&gone)?)
    }
}

/// The id of a new photo: its path from the folder that was added; where another photo has it, with more in
/// front.
fn free_key(file: &File, path: &str, taken: &HashMap<String, String>) -> String {
    let root = file.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_free = |key: &String| taken.get(key).is_none_or(|other| other == path);
    let candidates = [file.key.clone(), format!("{root}/{}", file.key), path.to_owned()];
    let free = candidates.iter().find(|key| is_free(key)).cloned();
    free.unwrap_or_else(|| {
        let numbered = (2..).map(|n: u32| format!("{path} ({n})"));
        numbered.into_iter().find(is_free).expect("there are more numbers than photos")
    })
}

//! `kith add` with photos: looks at what is new or changed, follows what moved, and says what cannot be read.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use kith_server::new_photo;
use kith_store::{ContextRule, Library, NewPhoto, PhotoRow, ToldName, meta};
use kith_vision::pipeline::{self, Outcome as Looked, Photo};
use kith_vision::{BadPhoto, File, Seen, Vision, models, names, walk};
use serde_json::{Value, json};

use super::args::{AddOptions, PhotoContext};
use crate::progress::{self, count, note};
use crate::{Outcome, interrupt};

/// Photos of one transaction: as many as are lost when the machine stops, at most.
const BATCH: usize = 32;

/// How often `--follow` looks for new photos.
const PAUSE: Duration = Duration::from_secs(2);

/// What became of photos.
#[derive(Default)]
struct Tally {
    new: usize,
    unchanged: usize,
    changed: usize,
    moved: usize,
    copies: usize,
    gone: usize,
    faces: usize,
    names: usize,
    unplaced: usize,
    bad: Vec<BadPhoto>,
}

/// Runs the verb.
pub fn run(options: &AddOptions) -> anyhow::Result<Outcome> {
    let stop = interrupt::listen()?;
    let paths = options
        .paths
        .iter()
        .map(|path| path.canonicalize().with_context(|| format!("{}: cannot be found", path.display())));
    let paths: Vec<PathBuf> = paths.collect::<anyhow::Result<_>>()?;
    let is_there = options.lib.metadata().is_ok_and(|found| found.len() > 0);
    if !is_there && !options.follow {
        let walked = walk(&paths);
        ensure!(!walked.files.is_empty() || !walked.bad.is_empty(), "{}", nothing_in(options));
    }
    let pipeline = if is_there && !options.embed_again {
        Library::open(&options.lib)?.get(meta::EMBEDDING)?
    } else {
        None
    };
    let vision = Vision::load(&models::folders(options.models.as_deref()), pipeline.as_deref())?;
    let library = Library::open_or_create(&options.lib)?;
    if options.embed_again {
        let _claim = library.claim()?;
        super::embed_again::run(&library, &vision)?;
    }
    refuse_another_pipeline(&library, &vision)?;
    let rule = context_rule(&library, options.context)?;
    let mut add =
        Add { library: &library, vision: &vision, workers: workers(options), stop, skip: HashSet::new() };
    let mut tally = add.once(&paths, true)?;
    finish(&library, rule, &mut tally)?;
    report(&library, &tally, options.json)?;
    while options.follow && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(PAUSE);
        let mut tally = add.once(&paths, false)?;
        if tally.new + tally.changed + tally.moved + tally.gone + tally.bad.len() > 0 {
            finish(&library, rule, &mut tally)?;
            report(&library, &tally, options.json)?;
        }
    }
    let is_cut_short = stop.load(Ordering::Relaxed) && !options.follow;
    Ok(if is_cut_short { Outcome::Negative } else { Outcome::Done })
}

fn nothing_in(options: &AddOptions) -> String {
    let paths: Vec<String> = options.paths.iter().map(|path| path.display().to_string()).collect();
    format!(
        "{}: found neither photos nor a dataset (embeddings.npy and faces.csv), wanted one",
        paths.join(", ")
    )
}

fn workers(options: &AddOptions) -> usize {
    let cores = || std::thread::available_parallelism().map_or(2, usize::from);
    options.threads.map_or_else(cores, |n| n as usize)
}

/// Faces of two networks, or of two ways to align them, cannot be compared.
fn refuse_another_pipeline(library: &Library, vision: &Vision) -> anyhow::Result<()> {
    let (found, wanted) = (vision.pipeline(), library.get(meta::EMBEDDING)?);
    match wanted {
        Some(wanted) => ensure!(
            wanted == found,
            "found the networks of \"{found}\", wanted those of \"{wanted}\" as in the library; --embed-again embeds all \
             faces anew"
        ),
        None => ensure!(
            library.get(meta::DIMENSION)?.is_none(),
            "found a library of faces that did not come from photos, wanted a library of its own for photos"
        ),
    }
    Ok(())
}

/// The rule that was given, or the one that the library has.
fn context_rule(library: &Library, given: Option<PhotoContext>) -> anyhow::Result<ContextRule> {
    const RULES: [(&str, ContextRule); 4] = [
        ("place", ContextRule::Place),
        ("folder", ContextRule::Folder),
        ("day", ContextRule::Day),
        ("none", ContextRule::None),
    ];
    let rule = match given {
        Some(PhotoContext::Place) => "place".to_owned(),
        Some(PhotoContext::Folder) => "folder".to_owned(),
        Some(PhotoContext::Day) => "day".to_owned(),
        Some(PhotoContext::None) => "none".to_owned(),
        None => library.get(meta::PHOTO_CONTEXT)?.unwrap_or_else(|| "none".to_owned()),
    };
    library.set(meta::PHOTO_CONTEXT, rule.clone())?;
    Ok(RULES.iter().find(|(name, _)| *name == rule).map_or(ContextRule::None, |(_, rule)| *rule))
}

fn finish(library: &Library, rule: ContextRule, tally: &mut Tally) -> anyhow::Result<()> {
    tally.names = library.take_told()?;
    Ok(library.set_contexts(rule)?)
}

struct Add<'a> {
    library: &'a Library,
    vision: &'a Vision,
    workers: usize,
    stop: &'a AtomicBool,
    /// Photos that could not be read and copies of others; they are not tried again before they change.
    skip: HashSet<(PathBuf, u64, i64)>,
}

/// What the library knows of photos.
struct Known {
    of_path: HashMap<String, kith_store::Photo>,
    of_hash: Mutex<HashMap<String, Vec<PhotoRow>>>,
    keys: HashMap<String, String>,
}

impl Add<'_> {
    /// Looks once at everything under some paths.
    fn once(&mut self, paths: &[PathBuf], is_first: bool) -> anyhow::Result<Tally> {
        let walked = walk(paths);
        let mut tally = Tally { bad: if is_first { walked.bad } else { Vec::new() }, ..Tally::default() };
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
        self.look(&files, &mut known, &mut tally)?;
        if !self.stop.load(Ordering::Relaxed) {
            self.mark_gone(paths, &there, &mut tally)?;
        }
        Ok(tally)
    }

    fn known(&self) -> anyhow::Result<Known> {
        let photos = self.library.photos()?;
        let mut of_hash: HashMap<String, Vec<PhotoRow>> = HashMap::new();
        photos.iter().for_each(|photo| of_hash.entry(photo.hash.clone()).or_default().push(photo.row));
        Ok(Known {
            keys: photos.iter().map(|photo| (photo.key.clone(), photo.path.clone())).collect(),
            of_path: photos.into_iter().map(|photo| (photo.path.clone(), photo)).collect(),
            of_hash: Mutex::new(of_hash),
        })
    }

    fn look(&mut self, files: &[File], known: &mut Known, tally: &mut Tally) -> anyhow::Result<()> {
        let bar = progress::bar(files.len() as u64, "photos");
        let (mut batch, mut failed, start) = (Vec::new(), None, Instant::now());
        let hashes = std::mem::take(&mut known.of_hash);
        let is_known = |hash: &str| hashes.lock().is_ok_and(|hashes| hashes.contains_key(hash));
        let by_path: BTreeMap<&Path, &File> = files.iter().map(|file| (file.path.as_path(), file)).collect();
        let names = names::Reader::new(self.written()?);
        pipeline::run(self.vision, files, self.workers, &names, is_known, |photo| {
            bar.inc(1);
            let done = match photo {
                Ok(photo) => self.take(photo, known, &hashes, &mut batch, tally),
                Err(bad) => {
                    by_path.get(bad.path.as_path()).into_iter().for_each(|file| self.skip(file));
                    tally.bad.push(bad);
                    Ok(())
                }
            };
            let done = match done {
                Ok(()) if batch.len() >= BATCH => self.write(&mut batch, tally),
                done => done,
            };
            let rate = |n: usize| n as f64 / start.elapsed().as_secs_f64().max(0.1);
            bar.set_message(format!(
                "photos ({:.0}/s, {:.0} faces/s)",
                rate(bar.position() as usize),
                rate(tally.faces)
            ));
            failed = done.err();
            failed.is_none() && !self.stop.load(Ordering::Relaxed)
        });
        bar.finish_and_clear();
        if let Some(error) = failed {
            return Err(error);
        }
        self.write(&mut batch, tally)
    }

    fn write(&self, batch: &mut Vec<NewPhoto>, tally: &mut Tally) -> anyhow::Result<()> {
        let photos = std::mem::take(batch);
        if !photos.is_empty() {
            tally.faces += self.library.add_photos(&photos, self.vision.pipeline())?.faces;
        }
        Ok(())
    }

    fn skip(&mut self, file: &File) {
        self.skip.insert((file.path.clone(), file.size, file.modified));
    }

    /// What kith wrote beside photos, and what was there before: names of its own are no news.
    fn written(&self) -> anyhow::Result<names::Written> {
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
    ) -> anyhow::Result<()> {
        let path = photo.file.path.to_str().context("found a name that is not UTF-8")?.to_owned();
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
        if let Some(old) = known.of_path.get(&path) {
            tally.changed += 1;
            let new = looked_at(&photo.file, &photo.hash, path, old.key.clone(), &seen);
            tally.faces += self.library.change_photo(old.row, new, self.vision.pipeline())?.faces;
            return Ok(());
        }
        tally.new += 1;
        let key = free_key(&photo.file, &path, &known.keys);
        known.keys.insert(key.clone(), path.clone());
        batch.push(looked_at(&photo.file, &photo.hash, path, key, &seen));
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
    ) -> anyhow::Result<()> {
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
    fn mark_gone(&self, paths: &[PathBuf], there: &HashSet<&Path>, tally: &mut Tally) -> anyhow::Result<()> {
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

fn looked_at(file: &File, hash: &str, path: String, key: String, seen: &Seen) -> NewPhoto {
    NewPhoto { path, size: file.size, modified: file.modified, hash: hash.to_owned(), ..new_photo(key, seen) }
}

fn report(library: &Library, tally: &Tally, is_json: bool) -> anyhow::Result<()> {
    for bad in &tally.bad {
        note(format!("{}: {}", bad.path.display(), bad.reason));
    }
    let n_faces = library.n_faces()?;
    let mut out = crate::progress::stdout();
    if is_json {
        let bad: Vec<Value> = tally
            .bad
            .iter()
            .map(|bad| json!({"photo": bad.path.to_string_lossy(), "reason": bad.reason}))
            .collect();
        let object = json!({
            "photos": tally.new, "unchanged": tally.unchanged, "changed": tally.changed, "moved": tally.moved,
            "copies": tally.copies, "gone": tally.gone, "bad": bad, "added": tally.faces, "names": tally.names,
            "unplaced": tally.unplaced, "n_faces": n_faces,
        });
        writeln!(out, "{object}")?;
        return Ok(());
    }
    let mut line = format!("{} in {}", count(tally.faces, "new face"), count(tally.new, "new photo"));
    let parts = [
        (tally.changed, "changed"),
        (tally.moved, "moved"),
        (tally.unchanged, "known already"),
        (tally.copies, "copies of others"),
        (tally.gone, "gone, what was said about them stays"),
        (tally.bad.len(), "bad, each with its line"),
    ];
    for (n, what) in parts.iter().filter(|(n, _)| *n > 0) {
        line += &format!("; {n} {what}");
    }
    if tally.names + tally.unplaced > 0 {
        line += &format!("; {} that other programs left", count(tally.names, "name"));
    }
    if tally.unplaced > 0 {
        line += &format!(" ({} more fit no face)", tally.unplaced);
    }
    writeln!(out, "{line}; the library has {}", count(n_faces, "face"))?;
    Ok(())
}

//! Questions about few faces of many: bounds of what groups of faces say are kept beside the draws, and embeddings are
//! read one by one, those of the people who may matter.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use kith::belief::Belief;
use kith::belief::people::name_of;
use kith::chain::Draw;
use kith::data::{Embeddings, Source};
use kith::ids::FaceId;
use kith::model::face::Odd;
use kith::predict::{Envelopes, KeptBounds};
use kith::target::Target;
use rusqlite::{OptionalExtension, params};

use crate::belief::Believed;
use crate::ids::{EntryId, FaceRow, NameRow, PersonId};
use crate::memory::Bodies;
use crate::meta::{BELIEVED, MODEL, SEED, SETTINGS};
use crate::model::model;
use crate::snapshot::{Rows, Snapshot};
use crate::sums::Of;
use crate::{Library, StoreError, codec};

/// While all embeddings have fewer numbers than this, they are read at once.
pub(crate) const MANY_NUMBERS: usize = 1 << 22;
/// What was said of more faces at once is for chains.
const MOST_WORDS: usize = 64;

/// The embeddings of a library as they were at a moment, read when they are asked for.
#[derive(Debug)]
struct Reader {
    library: Arc<Mutex<Library>>,
    rows: Vec<FaceRow>,
    dimension: usize,
    is_sound: Arc<AtomicBool>,
    /// How many were read one by one, and all of them once those were many.
    n_read: AtomicUsize,
    all: OnceLock<Vec<f32>>,
}

/// From so many on that were read one by one, all are read in the order of the file, which takes less time.
const ONE_BY_ONE: usize = 1 << 15;

impl Reader {
    fn of(
        library: Arc<Mutex<Library>>,
        rows: Vec<FaceRow>,
        dimension: usize,
        is_sound: Arc<AtomicBool>,
    ) -> Self {
        Self { library, rows, dimension, is_sound, n_read: AtomicUsize::new(0), all: OnceLock::new() }
    }

    /// The embedding of a row, when it is the one that was stored.
    fn read(&self, row: FaceRow) -> Option<Vec<f32>> {
        let library = self.library.lock().unwrap_or_else(PoisonError::into_inner);
        let query = "SELECT embedding FROM faces WHERE id = ?1";
        let bytes: Option<Vec<u8>> = library
            .run(|| library.connection.prepare_cached(query)?.query_row([row], |row| row.get(0)).optional())
            .ok()?;
        let bytes = bytes.filter(|bytes| library.agrees(Of::Face, row.0, bytes))?;
        let embedding = codec::from_bytes(&bytes);
        let is_whole = embedding.len() == self.dimension && embedding.iter().all(|value| value.is_finite());
        is_whole.then_some(embedding)
    }
}

impl Source for Reader {
    fn len(&self) -> usize {
        self.rows.len()
    }

    /// What cannot be read is nowhere in particular: [`Library::asked`] throws away what was answered with it.
    fn row(&self, row: usize) -> Vec<f32> {
        if self.n_read.fetch_add(1, Ordering::Relaxed) >= ONE_BY_ONE {
            return self.all.get_or_init(|| self.all())[row * self.dimension..][..self.dimension].to_vec();
        }
        self.read(self.rows[row]).unwrap_or_else(|| {
            self.is_sound.store(false, Ordering::Relaxed);
            vec![0.0; self.dimension]
        })
    }

    fn all(&self) -> Vec<f32> {
        let mut all = vec![0.0; self.len() * self.dimension];
        let place_of: HashMap<FaceRow, usize> = self.rows.iter().copied().zip(0..).collect();
        let library = self.library.lock().unwrap_or_else(PoisonError::into_inner);
        let n_read = library.each_embedding(|row, embedding| {
            let Some(&place) = place_of.get(&row) else { return 0 };
            let is_whole =
                embedding.len() == self.dimension && embedding.iter().all(|value| value.is_finite());
            if is_whole {
                all[place * self.dimension..][..self.dimension].copy_from_slice(&embedding);
            }
            usize::from(is_whole)
        });
        if n_read.ok() != Some(self.len()) {
            self.is_sound.store(false, Ordering::Relaxed);
        }
        all
    }
}

/// The envelopes of a library, read when they are asked for.
#[derive(Debug)]
struct StoredEnvelopes(Arc<Mutex<Library>>);

impl Envelopes for StoredEnvelopes {
    fn read(&self, number: u32) -> Option<Vec<u8>> {
        let library = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let query = "SELECT body FROM envelopes WHERE number = ?1";
        let body: Option<Vec<u8>> = library
            .run(|| {
                library.connection.prepare_cached(query)?.query_row([number], |row| row.get(0)).optional()
            })
            .ok()?;
        body.filter(|body| library.agrees(Of::Envelope, number.into(), body))
    }
}

/// What is kept beside draws, for the model that it was made with.
struct Kept {
    model: u32,
    odd: Vec<(FaceRow, Odd, FaceRow)>,
    bounds: KeptBounds,
}

impl Kept {
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + 40 * self.odd.len() + 4 * self.bounds.values.len());
        out.extend(self.model.to_le_bytes());
        out.extend(self.bounds.digest.to_le_bytes());
        out.extend((self.odd.len() as u32).to_le_bytes());
        for (face, odd, look_alike) in &self.odd {
            out.extend(face.0.to_le_bytes());
            [odd.ln_p, odd.ln_usual, odd.ln_density].iter().for_each(|value| out.extend(value.to_le_bytes()));
            out.extend(look_alike.0.to_le_bytes());
        }
        self.bounds.values.iter().for_each(|value| out.extend(value.to_le_bytes()));
        out
    }

    /// `None` for bytes that are nothing of the kind.
    fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let model = u32::from_le_bytes(next(&mut bytes)?);
        let digest = u64::from_le_bytes(next(&mut bytes)?);
        let n_odd = u32::from_le_bytes(next(&mut bytes)?);
        let mut odd = Vec::new();
        for _ in 0..n_odd {
            let face = FaceRow(i64::from_le_bytes(next(&mut bytes)?));
            let mut number = || Some(f64::from_le_bytes(next(&mut bytes)?));
            let (ln_p, ln_usual, ln_density) = (number()?, number()?, number()?);
            let look_alike = FaceRow(i64::from_le_bytes(next(&mut bytes)?));
            odd.push((face, Odd { ln_p, ln_usual, ln_density, look_alike: FaceId(0) }, look_alike));
        }
        Some(Self { model, odd, bounds: KeptBounds { digest, values: codec::from_bytes(bytes) } })
    }

    /// What may be odd about faces.
    fn odd(&self, rows: &Rows) -> Option<BTreeMap<FaceId, Odd>> {
        let of_face = |&(face, odd, look_alike): &(FaceRow, Odd, FaceRow)| {
            Some((rows.face_of(face)?, Odd { look_alike: rows.face_of(look_alike)?, ..odd }))
        };
        self.odd.iter().map(of_face).collect()
    }
}

fn next<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}

impl Believed {
    /// Keeps what questions about few faces need, where there are many and it is not there. It goes with the draws
    /// whenever others are kept; whoever has time makes it again.
    pub fn keep_bounds(&self, library: &Library) -> Result<(), StoreError> {
        if !library.is_large_file()? || library.kept_bounds()?.is_some() {
            return Ok(());
        }
        let read = library.read_so_far()?;
        // Others may have learnt, or said something, since these draws were read.
        let seats = |draws: &[Draw]| -> Vec<(Vec<u32>, Vec<u8>)> {
            draws.iter().map(|draw| (draw.identities.clone(), draw.scales.clone())).collect()
        };
        let is_kept = |draws: Vec<Draw>| seats(&draws) == seats(self.belief.draws());
        if read.1 != Some(self.rows.last_evidence()) || !library.draws(&self.rows)?.is_some_and(is_kept) {
            return Ok(());
        }
        let bounds = self.bounds(library)?;
        let envelopes = self.belief.posterior().envelopes(self.belief.target());
        let kept = library.write(|connection| {
            if library.read_so_far()? != read {
                return Ok(());
            }
            library.run(|| connection.execute_batch("DELETE FROM bounds; DELETE FROM envelopes"))?;
            library.run(|| connection.execute("INSERT INTO bounds (body) VALUES (?1)", [&bounds]))?;
            library.seal(Of::Bounds, connection.last_insert_rowid(), &bounds)?;
            for (number, envelope) in &envelopes {
                let insert = "INSERT INTO envelopes VALUES (?1, ?2)";
                library.run(|| connection.prepare_cached(insert)?.execute(params![number, envelope]))?;
                library.seal(Of::Envelope, i64::from(*number), envelope)?;
            }
            Ok(())
        });
        if_it_could_be(kept)
    }

    fn bounds(&self, library: &Library) -> Result<Vec<u8>, StoreError> {
        let target = self.belief.target();
        let row = |face: FaceId| self.rows.faces[face.index()];
        let odd = target.all_odd().iter().map(|(&face, &odd)| (row(face), odd, row(odd.look_alike)));
        let (model, odd) = (library.model_sum()?, odd.collect());
        Ok(Kept { model, odd, bounds: self.belief.posterior().bounds() }.to_bytes())
    }
}

/// What is believed of a large library.
struct Outlined {
    believed: Believed,
    /// Whether all that was read so far is as it was stored: known when a question has been answered.
    is_sound: Arc<AtomicBool>,
    words: Option<Words>,
}

/// What was said since it was kept, and moved nobody; and which draws were read.
struct Words {
    said: BTreeSet<FaceId>,
    chains: Vec<Draw>,
    read: Read,
}

/// Which draws there are, and up to which entry of the log they know.
type Read = (Option<i64>, Option<EntryId>);

impl Outlined {
    fn is_sound(&self) -> bool {
        self.is_sound.load(Ordering::Relaxed)
    }

    /// Keeps what was said and moved nobody: names in chains and draws, and those of the people concerned.
    fn keep(&self, library: &Library) -> Result<(), StoreError> {
        let Some(Words { said, chains, read }) = &self.words else { return Ok(()) };
        let Believed { belief, rows } = &self.believed;
        let (chains, draws) = (Bodies::of(chains, rows), Bodies::of(belief.draws(), rows));
        let bounds = self.believed.bounds(library)?;
        let person_of = library.person_of_faces(rows)?;
        let people: BTreeSet<PersonId> = said.iter().filter_map(|face| person_of[face.index()]).collect();
        let named = |person: PersonId| {
            let is_their = |face: &FaceId| person_of[face.index()] == Some(person);
            let name = name_of(&belief.faces().filter(is_their).collect::<Vec<_>>(), belief.draws());
            (person, name.map(|(label, _)| rows.names[label.index()]), name.map_or(0.0, |name| name.1))
        };
        let named: Vec<(PersonId, Option<NameRow>, f64)> = people.into_iter().map(named).collect();
        let kept = library.write(|connection| {
            // Another process may have learnt meanwhile; then it will be asked again.
            if library.read_so_far()? != *read {
                return Ok(());
            }
            library.remember_names(&chains, &draws)?;
            let query = "UPDATE bounds SET body = ?1 RETURNING id";
            let row = library.run(|| connection.query_row(query, [&bounds], |row| row.get(0)))?;
            library.seal(Of::Bounds, row, &bounds)?;
            for (person, name, p) in named {
                let update = "UPDATE people SET name = ?2, name_p = ?3 WHERE id = ?1";
                library.run(|| connection.execute(update, params![person, name, p]))?;
            }
            library.set(BELIEVED, rows.last_evidence())
        });
        if_it_could_be(kept)
    }
}

impl Library {
    /// Asks something about few faces of what is believed. Of a large library of which nothing is new, or only words
    /// that move nobody, those embeddings are read that may matter.
    pub fn asked<T, E: From<StoreError>>(
        &self,
        question: impl Fn(&Believed) -> Result<T, E>,
    ) -> Result<T, E> {
        if let Some(outlined) = self.outlined()? {
            let answer = question(&outlined.believed);
            if outlined.is_sound() {
                return answer;
            }
        }
        let believed = Believed::open(self)?;
        let answer = question(&believed)?;
        believed.keep_bounds(self)?;
        Ok(answer)
    }

    /// Takes in what was said since, where it moves nobody, and the library is large; otherwise nothing is done.
    pub fn take_in_words(&self) -> Result<(), StoreError> {
        let is_new = self.get(BELIEVED)? != Some(self.last_evidence()?);
        if is_new { self.outlined().map(drop) } else { Ok(()) }
    }

    fn outlined(&self) -> Result<Option<Outlined>, StoreError> {
        if !self.is_large_file()? {
            return Ok(None);
        }
        let beside = Self::open(self.path())?;
        // One read transaction: nothing that another process writes meanwhile is half-seen.
        let reading = self.run(|| self.connection.unchecked_transaction())?;
        let outlined = self.outlined_inside(beside)?;
        self.run(|| reading.finish())?;
        if let Some(outlined) = outlined.as_ref().filter(|outlined| outlined.is_sound()) {
            outlined.keep(self)?;
        }
        Ok(outlined)
    }

    fn outlined_inside(&self, beside: Self) -> Result<Option<Outlined>, StoreError> {
        let (Some(since), true, Some(kept)) =
            (self.get(BELIEVED)?, self.is_all_of_somebody()?, self.kept_bounds()?)
        else {
            return Ok(None);
        };
        beside.run(|| beside.connection.execute_batch("BEGIN"))?;
        if beside.read_so_far()? != self.read_so_far()? {
            return Ok(None);
        }
        let beside = Arc::new(Mutex::new(beside));
        let envelopes: Option<Arc<dyn Envelopes>> = Some(Arc::new(StoredEnvelopes(beside.clone())));
        let is_sound = Arc::new(AtomicBool::new(true));
        let (dimension, sound) = (self.dimension()?.unwrap_or(0), is_sound.clone());
        let Snapshot { data, rows } = self.outline(|rows| {
            let reader = Reader::of(beside, rows.to_vec(), dimension, sound);
            Embeddings::elsewhere(Box::new(reader), dimension)
        })?;
        let (Some(said), Some(odd)) = (rows.words_since(since), kept.odd(&rows)) else { return Ok(None) };
        let mut target = Target::with_odd(model(self, &data, None)?, data, odd)?;
        let seed = self.get(SEED)?.unwrap_or(1);
        if since == rows.last_evidence() {
            let Some(draws) = self.draws(&rows)? else { return Ok(None) };
            let belief = Belief::of_bounded_draws(target, draws, (&kept.bounds, envelopes), seed);
            let outlined = |belief| Outlined { believed: Believed { belief, rows }, is_sound, words: None };
            return Ok(belief.map(outlined));
        }
        if said.len() > MOST_WORDS {
            return Ok(None);
        }
        target.look_again(&said);
        let (moment, read) = (rows.last_evidence().0 as u64, self.read_so_far()?);
        let chains = self.memories(&rows)?.into_iter();
        let chains: Option<Vec<Draw>> =
            chains.map(|chain| chain.heard(&said, seed ^ moment, &target)).collect();
        let memories = self.memories_of_draws(&rows, false)?;
        let belief = Belief::in_place(target, memories, (&kept.bounds, envelopes), &said, (seed, moment));
        let (Some(belief), Some(chains)) = (belief, chains) else { return Ok(None) };
        let words = Some(Words { said, chains, read });
        Ok(Some(Outlined { believed: Believed { belief, rows }, is_sound, words }))
    }

    fn read_so_far(&self) -> Result<Read, StoreError> {
        let newest = "SELECT max(id) FROM draws";
        Ok((self.run(|| self.connection.query_row(newest, [], |row| row.get(0)))?, self.get(BELIEVED)?))
    }

    /// Whether there are too many faces to be read for every question, in a file of its own: there a second reader sees
    /// the same, and a copy in memory has been read already.
    fn is_large_file(&self) -> Result<bool, StoreError> {
        let is_file = self.connection.path().is_some_and(|path| !path.is_empty());
        Ok(is_file && self.n_faces()? * self.dimension()?.unwrap_or(0) >= self.many_numbers.get())
    }

    /// Tells somebody every embedding that is as it was stored; adds up what that returns.
    fn each_embedding(&self, mut tell: impl FnMut(FaceRow, Vec<f32>) -> usize) -> Result<usize, StoreError> {
        let sums = self.sums(Of::Face)?;
        self.run(|| {
            let mut query = self.connection.prepare("SELECT id, embedding FROM faces")?;
            let mut rows = query.query([])?;
            let mut total = 0;
            while let Some(row) = rows.next()? {
                let (id, bytes): (FaceRow, &[u8]) =
                    (row.get(0)?, row.get_ref(1)?.as_blob().unwrap_or_default());
                if sums.agree(id.0, bytes) {
                    total += tell(id, codec::from_bytes(bytes));
                }
            }
            Ok(total)
        })
    }

    /// What says whether bounds are of the model that is there.
    fn model_sum(&self) -> Result<u32, StoreError> {
        let texts = [self.get(MODEL)?, self.get(SETTINGS)?].map(Option::unwrap_or_default);
        Ok(crc32fast::hash(texts.join("\n").as_bytes()))
    }

    fn kept_bounds(&self) -> Result<Option<Kept>, StoreError> {
        let query = "SELECT id, body FROM bounds";
        let body: Option<(i64, Vec<u8>)> = self
            .run(|| self.connection.query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?))).optional())?;
        let body = body.filter(|(row, bytes)| self.agrees(Of::Bounds, *row, bytes));
        let sum = self.model_sum()?;
        Ok(body.and_then(|(_, bytes)| Kept::from_bytes(&bytes)).filter(|kept| kept.model == sum))
    }

    /// How many bounds are not as they were stored.
    pub(crate) fn n_spoilt(&self, of: Of) -> Result<usize, StoreError> {
        let query = if of == Of::Bounds {
            "SELECT id, body FROM bounds"
        } else {
            "SELECT number, body FROM envelopes"
        };
        let sums = self.sums(of)?;
        self.run(|| {
            let mut query = self.connection.prepare(query)?;
            let is_spoilt = |row: &rusqlite::Row<'_>| {
                let body = row.get_ref(1)?.as_blob().unwrap_or_default();
                Ok(!sums.agree(row.get(0)?, body))
            };
            let spoilt: Vec<bool> = query.query_map([], is_spoilt)?.collect::<rusqlite::Result<_>>()?;
            Ok(spoilt.into_iter().filter(|&is_spoilt| is_spoilt).count())
        })
    }
}

/// What was kept, or not because another process writes: an answer is as good without.
fn if_it_could_be(kept: Result<(), StoreError>) -> Result<(), StoreError> {
    match kept {
        Err(StoreError::Busy { .. }) => Ok(()),
        kept => kept,
    }
}

#[cfg(test)]
mod tests {
    use kith::predict::NewPhoto;

    use super::*;
    use crate::{Forget, Kind, NewFace, NewFrame, Saying, Who};

    const DIMENSION: usize = 32;

    /// Twelve people, six photos of each, that lie apart but not far; learnt from, and taken for large.
    fn library(folder: &tempfile::TempDir) -> Library {
        let library = Library::open_or_create(&folder.path().join("lib")).unwrap();
        let face = |k: usize| NewFace { key: format!("f{k}"), embedding: look(k), ..NewFace::default() };
        let frame = |k: usize| NewFrame {
            key: Some(format!("m{k}")),
            context: (!k.is_multiple_of(5)).then(|| ["home", "work"][k % 2].to_owned()),
            faces: vec![face(2 * k), face(2 * k + 1)],
            ..NewFrame::default()
        };
        library.add(&(0..36).map(frame).collect::<Vec<_>>(), None).unwrap();
        library.many_numbers.set(0);
        Believed::open(&library).unwrap().keep_bounds(&library).unwrap();
        library
    }

    /// The looks of photo k: those of person k % 12, and some of its own.
    fn look(k: usize) -> Vec<f32> {
        let part = |seed: usize, d: usize| {
            let x = (seed * 7919 + d * 104_729 + 13) as f64;
            (((x * 12.9898).sin() * 43758.5453).fract() * 2.0) as f32
        };
        (0..DIMENSION).map(|d| part(k % 12, d) + 0.45 * part(100 + k, d)).collect()
    }

    fn say(library: &Library, kind: Kind, face: &str, other: Option<&str>, name: Option<&str>) {
        let [face, other] = [Some(face), other].map(|key| key.map(|key| library.face(key).unwrap()));
        library.say("me", &[Saying { kind, face: face.unwrap(), other, name }]).unwrap();
    }

    fn who(library: &Library, key: &str) -> Who {
        let row = library.face(key).unwrap();
        library.asked(|believed| believed.who(library, believed.rows.face_of(row).unwrap())).unwrap()
    }

    fn n_bounds(library: &Library) -> i64 {
        library.connection.query_row("SELECT count(*) FROM bounds", [], |row| row.get(0)).unwrap()
    }

    /// Whether the next question reads few faces.
    fn is_outlined(library: &Library) -> bool {
        library.outlined().unwrap().is_some()
    }

    fn assert_near(a: &Who, b: &Who, what: &str) {
        let kinds = |who: &Who| [who.answer.acquainted, who.answer.familiar, who.answer.stranger];
        for (a, b) in kinds(a).into_iter().zip(kinds(b)) {
            assert!((a - b).abs() < 1e-5, "{what}: {a} {b}");
        }
        let (p, q) = (a.person.map(|of| of.1), b.person.map(|of| of.1));
        assert!(a.person.map(|of| of.0) == b.person.map(|of| of.0), "{what}: {:?} {:?}", a.person, b.person);
        assert!((p.unwrap_or(0.0) - q.unwrap_or(0.0)).abs() < 1e-5, "{what}: {p:?} {q:?}");
    }

    #[test]
    fn answers_by_bounds_are_those_of_all_faces_whoever_is_asked_about() {
        let folder = tempfile::tempdir().unwrap();
        let library = library(&folder);
        assert!(n_bounds(&library) == 1 && is_outlined(&library));
        let whole = Believed::open(&library).unwrap();
        for (face, key) in whole.belief.faces().zip(&whole.rows.keys).step_by(5) {
            assert_near(&who(&library, key), &whole.who(&library, face).unwrap(), key);
        }
        // Somebody known, somebody between two people, and somebody far from all.
        let between: Vec<f32> = look(3).iter().zip(look(4)).map(|(a, b)| 0.5 * (a + b)).collect();
        let far: Vec<f32> = look(500).iter().map(|x| -3.0 * x).collect();
        for (k, embedding) in [look(12 * 50 + 3), between, far].iter().enumerate() {
            let photos = [NewPhoto { context: None, faces: vec![embedding] }];
            let answer = |believed: &Believed| {
                believed.who_is_on(&library, &photos, &|| ()).map(|mut all| all.remove(0).remove(0))
            };
            assert_near(&library.asked(answer).unwrap(), &answer(&whole).unwrap(), &k.to_string());
        }
    }

    #[test]
    fn a_word_that_moves_nobody_is_taken_in_where_everybody_is() {
        let folder = tempfile::tempdir().unwrap();
        let library = library(&folder);
        let seats = |library: &Library| -> Vec<Vec<u32>> {
            let believed = Believed::open(library).unwrap();
            believed.belief.draws().iter().map(|draw| draw.identities.clone()).collect()
        };
        let before = seats(&library);
        say(&library, Kind::Name, "f3", None, Some("Ann"));
        assert!(!library.is_believed().unwrap() && is_outlined(&library) && library.is_believed().unwrap());
        let p = |who: Who| who.answer.names.first().map_or(0.0, |name| name.p);
        assert!(p(who(&library, "f3")) > 0.99 && p(who(&library, "f15")) > 0.9, "another photo of them");
        assert!(p(who(&library, "f4")) < 0.1, "somebody else");
        let ann = library.people().unwrap().remove(0);
        assert_eq!((ann.name.as_deref(), ann.faces.len()), (Some("Ann"), 6));
        assert!(seats(&library) == before, "nobody moved");
        assert_eq!(library.check().unwrap().faults, [""; 0]);
        // What agrees with where faces are moves nobody either; and it counts.
        say(&library, Kind::Same, "f3", Some("f27"), None);
        say(&library, Kind::Not, "f4", None, Some("Ann"));
        assert!(is_outlined(&library) && library.is_believed().unwrap());
        assert!(seats(&library) == before);
        let learnt = Believed::open(&library).unwrap();
        assert_eq!(learnt.belief.target().data().evidence().statements().len(), 2);
        assert_eq!(learnt.belief.target().all_odd().len(), library.kept_bounds().unwrap().unwrap().odd.len());
    }

    #[test]
    fn a_word_that_moves_somebody_is_left_to_chains() {
        let folder = tempfile::tempdir().unwrap();
        let library = library(&folder);
        say(&library, Kind::Different, "f3", Some("f15"), None);
        assert!(!is_outlined(&library) && !library.is_believed().unwrap());
        let [first, second] = ["f3", "f15"].map(|key| who(&library, key).person.unwrap().0);
        assert_ne!(first, second);
        assert!(library.is_believed().unwrap() && is_outlined(&library), "the next question reads few faces");
        // What is taken back, and faces that are ignored, are for chains, too.
        library.undo("me", 1).unwrap();
        assert!(!is_outlined(&library));
        say(&library, Kind::Ignore, "f70", None, None);
        assert!(!is_outlined(&library));
        assert!(who(&library, "f71").answer.stranger < 0.5 && is_outlined(&library));
        let whole = Believed::open(&library).unwrap();
        let face = whole.rows.face_of(library.face("f71").unwrap()).unwrap();
        assert_near(&who(&library, "f71"), &whole.who(&library, face).unwrap(), "f71");
    }

    #[test]
    fn bounds_go_with_draws_and_are_of_one_model_and_a_face_that_was_changed_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let library = library(&folder);
        let flip =
            "UPDATE faces SET embedding = CAST(x'0000a03f' || substr(embedding, 5) AS BLOB) WHERE key = 'f3'";
        library.connection.execute(flip, []).unwrap();
        assert!(is_outlined(&library), "nothing of it was read");
        who(&library, "f15");
        let notes = library.take_notes();
        assert!(
            notes.iter().any(|note| note.contains("face f3: found an embedding that is not")),
            "{notes:?}"
        );
        let folder = tempfile::tempdir().unwrap();
        let library = self::library(&folder);
        library.set(SETTINGS, "{\"evidence\": {\"odd\": 0.002}}".to_owned()).unwrap();
        assert!(!is_outlined(&library), "of another model");
        let n = |what: &str| -> i64 {
            library
                .connection
                .query_row(&format!("SELECT count(*) FROM {what}"), [], |row| row.get(0))
                .unwrap()
        };
        let sums = "sums WHERE of IN ('bounds', 'envelopes')";
        assert!(n("envelopes") > 5 && n(sums) == 1 + n("envelopes"), "{}", n("envelopes"));
        library
            .connection
            .execute("UPDATE envelopes SET body = zeroblob(length(body)) WHERE number % 2 = 0", [])
            .unwrap();
        let faults = library.check().unwrap().faults;
        assert!(faults.len() == 1 && faults[0].contains("of the bounds that cannot be read"), "{faults:?}");
        library.forget(&Forget::Face("f0".to_owned()), false).unwrap();
        assert_eq!([n("bounds"), n("envelopes"), n(sums)], [0; 3]);
    }
}

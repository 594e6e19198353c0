//! What the page shows at one moment: made when something changed, read by many, never changed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use crate::alike::{Alike, Looks, Piece};
use crate::filed::Filed;
use kith::belief::{About, Question};
use kith_store::{
    ActId, Asked, Entry, EntryId, FaceRow, FrameRow, Kind, Library, Member, NameRow, Person, PersonId, Photo,
    StoreError,
};

/// Everything that is shown.
#[derive(Clone, Default)]
pub struct View {
    /// Higher with every change.
    pub number: u64,
    pub people: Vec<Arc<Person>>,
    place_of: Arc<HashMap<PersonId, usize>>,
    face_at: Arc<HashMap<FaceRow, (usize, usize)>>,
    pub frames: Arc<BTreeMap<FrameRow, Vec<FaceRow>>>,
    /// The faces that people are shown by, where somebody chose one: the latest choice counts.
    pictures: BTreeMap<PersonId, FaceRow>,
    pub log: Arc<Vec<Entry>>,
    pub names: HashMap<NameRow, String>,
    pub photos: Arc<Vec<Photo>>,
    photo_of: Arc<HashMap<FrameRow, usize>>,
    /// What their files are called, once somebody asks.
    filed: Arc<OnceLock<Filed>>,
    /// What is believed, once it was worked out.
    pub asked: Option<Arc<Asked>>,
    /// The same, or what was believed a moment ago, with all that reasons need.
    pub reasons: Option<Arc<Asked>>,
    pub questions: Arc<Vec<Asking>>,
    pub doubtful: Arc<Vec<Doubt>>,
    pub looks: Looks,
    /// Groups that may be pieces of others.
    pub pieces: Arc<Vec<Piece>>,
}

/// A question, by rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Asking {
    pub face: FaceRow,
    /// Whom it is compared with, and how probable it is that they are the same.
    pub other: Option<(FaceRow, f64)>,
    pub gain: f64,
    pub settles: f64,
}

/// An entry that looks like a slip.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    pub entry: EntryId,
    pub p: f64,
    pub looks_like: Option<FaceRow>,
}

/// What an act changes at once, until belief has taken it in.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// A person has this name.
    Named(PersonId, String),
    /// The faces of the first are the second's.
    Joined(PersonId, PersonId),
    /// Faces are nobody's.
    Gone(Vec<FaceRow>),
    /// Only how things are shown; there is nothing to believe.
    Shown,
    /// Belief will tell; questions about these faces are answered.
    Settled(Vec<FaceRow>),
    /// All of these.
    Several(Vec<Effect>),
}

impl Effect {
    /// Whether faces change hands.
    fn moves(&self) -> bool {
        match self {
            Self::Joined(..) | Self::Gone(_) => true,
            Self::Several(all) => all.iter().any(Self::moves),
            Self::Named(..) | Self::Settled(_) | Self::Shown => false,
        }
    }
}

impl View {
    /// What a library has stored of people, without working out anything.
    pub fn stored(library: &Library) -> Result<Self, StoreError> {
        let log = library.log()?;
        let mut names = HashMap::new();
        for name in log.iter().filter_map(|entry| entry.name) {
            if let std::collections::hash_map::Entry::Vacant(place) = names.entry(name) {
                place.insert(library.name_of(name)?);
            }
        }
        let mut view = Self {
            people: library.people()?.into_iter().map(Arc::new).collect(),
            log: log.into(),
            names,
            ..Self::default()
        };
        view.set_photos(library.photos()?);
        view.index();
        Ok(view)
    }

    /// There are these photos.
    pub fn set_photos(&mut self, photos: Vec<Photo>) {
        let frames = photos.iter().enumerate().filter_map(|(place, photo)| Some((photo.frame?, place)));
        self.photo_of = Arc::new(frames.collect());
        self.photos = photos.into();
        self.filed = Arc::default();
    }

    /// What the files of photos are called.
    pub fn filed(&self) -> &Filed {
        self.filed.get_or_init(|| Filed::of(&self.photos))
    }

    /// The same with what was found out of files before, where photos are the same.
    pub fn filed_as(mut self, earlier: &Self) -> Self {
        let rows = |view: &Self| (view.photos.len(), view.photos.last().map(|photo| photo.row));
        if rows(&self) == rows(earlier) {
            self.filed = earlier.filed.clone();
        }
        self
    }

    /// The photo of a frame, where there is one.
    pub fn photo_of_frame(&self, frame: FrameRow) -> Option<&Photo> {
        self.photo_of.get(&frame).map(|&place| &self.photos[place])
    }

    /// The same with what is believed.
    pub fn believing(self, asked: Arc<Asked>) -> Self {
        let looks = Looks::of(&self.people, &asked);
        let pieces = Arc::new(looks.pieces(&self.people));
        Self { asked: Some(asked), looks, pieces, ..self }
    }

    /// The same with what was thought before, until it is thought anew.
    pub fn thinking_as(self, earlier: &Self) -> Self {
        Self {
            asked: earlier.asked.clone(),
            reasons: earlier.reasons.clone(),
            questions: earlier.questions.clone(),
            doubtful: earlier.doubtful.clone(),
            looks: earlier.looks.clone(),
            pieces: earlier.pieces.clone(),
            ..self
        }
    }

    fn index(&mut self) {
        self.people.retain(|person| !person.faces.is_empty());
        let places = self.people.iter().enumerate().map(|(place, person)| (person.id, place));
        self.place_of = Arc::new(places.collect());
        let mut face_at = HashMap::new();
        let mut frames: BTreeMap<FrameRow, Vec<FaceRow>> = BTreeMap::new();
        for (place, person) in self.people.iter().enumerate() {
            for (number, face) in person.faces.iter().enumerate() {
                face_at.insert(face.row, (place, number));
                frames.entry(face.frame).or_default().push(face.row);
            }
        }
        frames.values_mut().for_each(|faces| faces.sort_unstable());
        (self.face_at, self.frames) = (Arc::new(face_at), Arc::new(frames));
        self.find_pictures();
    }

    /// This was said.
    pub fn set_log(&mut self, log: Arc<Vec<Entry>>, names: HashMap<NameRow, String>) {
        (self.log, self.names) = (log, names);
        self.find_pictures();
    }

    fn find_pictures(&mut self) {
        let chosen = self.log.iter().filter(|entry| entry.stands && entry.kind == Kind::Picture);
        let of_person = |entry: &Entry| Some((self.face(entry.face?)?.0.id, entry.face?));
        self.pictures = chosen.filter_map(of_person).collect();
    }

    /// The act that says that what an entry says was meant so.
    pub fn meant(&self, entry: &Entry) -> Option<ActId> {
        let said = |entry: &Entry| (entry.face, entry.other, entry.name);
        let is_it = |later: &&Entry| later.kind == Kind::Meant && later.stands && said(later) == said(entry);
        let later = self.log.iter().rev().take_while(|later| later.id > entry.id);
        later.filter(is_it).map(|later| later.act).next()
    }

    /// A person.
    pub fn person(&self, id: PersonId) -> Option<&Person> {
        self.place_of.get(&id).map(|&place| &*self.people[place])
    }

    /// Whose a face is, and what is known of it; nothing of ignored ones.
    pub fn face(&self, row: FaceRow) -> Option<(&Person, &Member)> {
        let &(place, number) = self.face_at.get(&row)?;
        Some((&self.people[place], &self.people[place].faces[number]))
    }

    /// How many faces are shown.
    pub fn n_faces(&self) -> usize {
        self.face_at.len()
    }

    /// The face that a person is shown by.
    pub fn picture(&self, person: &Person) -> FaceRow {
        self.pictures.get(&person.id).copied().unwrap_or(person.faces[0].row)
    }

    /// The number by which the photo of a frame is asked for: a photo's row, or the frame's where there are
    /// no photos.
    pub fn photo_number(&self, frame: FrameRow) -> i64 {
        self.photo_of.get(&frame).map_or(frame.0, |&place| self.photos[place].row.0)
    }

    /// How many faces have a person with a name.
    pub fn n_named(&self) -> usize {
        self.people.iter().filter(|person| person.name.is_some()).map(|person| person.faces.len()).sum()
    }

    /// The last entry of the log that is shown.
    pub fn last_entry(&self) -> EntryId {
        self.log.last().map_or(EntryId(0), |entry| entry.id)
    }

    /// The people whose faces look most like somebody's, nearest first.
    pub fn look_alikes(&self, id: PersonId, n: usize) -> Vec<Alike> {
        let mut others = self.looks.nearest(id, self.people.iter().map(|person| person.id));
        others.truncate(n);
        others
    }

    /// The same after an act.
    pub fn after(&self, effect: &Effect) -> Self {
        let mut view = self.clone();
        let concerned = view.take(effect);
        if effect.moves() {
            view.index();
        }
        let is_open = |asking: &&Asking| {
            let faces = [Some(asking.face), asking.other.map(|other| other.0)];
            !faces.iter().flatten().any(|face| concerned.contains(face))
        };
        view.questions = Arc::new(view.questions.iter().filter(is_open).cloned().collect());
        view
    }

    /// Takes an act in; returns the faces that are no question any more.
    fn take(&mut self, effect: &Effect) -> Vec<FaceRow> {
        let at = |id: &PersonId| self.place_of.get(id).copied();
        match effect {
            Effect::Named(id, name) => {
                let Some(place) = at(id) else { return Vec::new() };
                let person = Arc::make_mut(&mut self.people[place]);
                (person.name, person.name_p) = (Some(name.clone()), person.name_p.max(0.95));
                person.faces.iter().map(|face| face.row).collect()
            }
            Effect::Joined(from, into) => {
                let (Some(from), Some(into)) = (at(from), at(into)) else { return Vec::new() };
                let moved = std::mem::take(&mut Arc::make_mut(&mut self.people[from]).faces);
                let name = self.people[from].name.clone();
                let rows = moved.iter().map(|face| face.row).collect();
                let into = Arc::make_mut(&mut self.people[into]);
                into.faces.extend(moved);
                into.name = into.name.take().or(name);
                rows
            }
            Effect::Gone(rows) => {
                let gone: BTreeSet<FaceRow> = rows.iter().copied().collect();
                let places: BTreeSet<usize> =
                    rows.iter().filter_map(|row| Some(self.face_at.get(row)?.0)).collect();
                for place in places {
                    Arc::make_mut(&mut self.people[place]).faces.retain(|face| !gone.contains(&face.row));
                }
                rows.clone()
            }
            Effect::Settled(rows) => rows.clone(),
            Effect::Shown => Vec::new(),
            Effect::Several(all) => all.iter().flat_map(|effect| self.take(effect)).collect(),
        }
    }
}

/// A question by rows.
pub fn asking(question: &Question, asked: &Asked) -> Asking {
    let row = |face: kith::ids::FaceId| asked.believed.rows.faces[face.index()];
    let (face, other) = match question.about {
        About::Who(face) => (row(face), None),
        About::Same(a, b, p) => (row(a), Some((row(b), p))),
    };
    Asking { face, other, gain: question.gain, settles: question.settles }
}

/// Entries whose truth is doubted; of the latest few hundred that people said.
pub fn doubtful(log: &[Entry], asked: &Asked) -> Vec<Doubt> {
    const MOST: usize = 300;
    const DOUBTFUL: f64 = 0.5;
    let is_said = |entry: &&Entry| {
        let is_statement = !matches!(entry.kind, Kind::Undo | Kind::Redo | Kind::Ignore);
        entry.stands && is_statement && !kith_store::OTHERS.contains(&entry.by.as_str())
    };
    let entries: Vec<Entry> = log.iter().rev().filter(is_said).take(MOST).cloned().collect();
    let agreements = asked.believed.agreements(&entries);
    let doubt = |(entry, p): (&Entry, Option<f64>)| {
        let p = p.filter(|&p| p < DOUBTFUL)?;
        let looks_like = entry.face.and_then(|face| asked.believed.look_alike(face));
        Some(Doubt { entry: entry.id, p, looks_like })
    };
    entries.iter().zip(agreements).filter_map(doubt).collect()
}

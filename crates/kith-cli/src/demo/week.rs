//! The generated week: who was before the camera where and when, and which names were said.

use std::fmt;

use anyhow::Context;
use kith::data::Embeddings;
use kith::model::{FaceModel, Isotropic};
use kith::random::{self, Rng};
use kith::simulate::{Camera, Drawn, Source};

/// A photo every quarter of an hour from 08:00 to 23:00.
pub const STEPS_PER_DAY: u64 = 60;
/// People who belong to a place.
const N_REGULARS: usize = 24;
/// More than can pass by in a week.
const N_OTHERS: usize = 200;
/// D.
const DIMENSION: usize = 32;
/// Of this share of the photos kith is not told where they were taken, from the second day on.
const WITHHELD: f64 = 0.2;
/// So many people of each place introduce themselves, those who are met most.
const INTRODUCED_PER_CONTEXT: usize = 3;
/// Nobody introduces themselves who is met less often than this.
const FEWEST_FACES: usize = 4;

const NAMES: [&str; N_REGULARS] = [
    "Ann", "Ben", "Cleo", "Dan", "Elif", "Finn", "Gita", "Hugo", "Ines", "Jun", "Kofi", "Lena", "Mona",
    "Nils", "Omar", "Pia", "Quinn", "Rosa", "Sven", "Tess", "Uma", "Vera", "Will", "Xenia",
];

/// Everything that happened, in order.
pub struct Week {
    pub n_days: usize,
    /// The places.
    pub contexts: Vec<String>,
    /// The place of every regular; people from there on pass by once.
    pub context_of: Vec<usize>,
    /// The names of the regulars who introduced themselves.
    pub name_of: Vec<Option<&'static str>>,
    pub scenes: Vec<Scene>,
    /// What faces look like in general, as learnt from other people.
    pub looks: Isotropic,
}

/// One photo.
pub struct Scene {
    pub time: Time,
    pub context: usize,
    /// Whether kith is told where it was taken.
    pub is_place_told: bool,
    pub faces: Vec<Appearance>,
}

/// One face of a photo.
pub struct Appearance {
    pub person: usize,
    pub embedding: Vec<f32>,
    /// The name that was said, right or wrong.
    pub said: Option<&'static str>,
}

/// A step of the camera's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub u64);

impl Time {
    /// From 0.
    pub fn day(self) -> usize {
        (self.0 / STEPS_PER_DAY) as usize
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let minutes = 8 * 60 + 15 * (self.0 % STEPS_PER_DAY);
        write!(f, "{} {:02}:{:02}", day_name(self.day()), minutes / 60, minutes % 60)
    }
}

/// "Mon", "Tue", ...
pub fn day_name(day: usize) -> &'static str {
    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][day % 7]
}

/// "at home", "at the gym".
pub fn at(context: &str) -> String {
    match context {
        "home" | "work" => format!("at {context}"),
        other => format!("at the {other}"),
    }
}

impl Week {
    /// Lives through some days.
    pub fn new(n_days: usize, seed: u64) -> anyhow::Result<Self> {
        let mut rng = random::driver(seed);
        // Within-person variance three quarters of between-person variance in 32 dimensions: the most similar
        // other photo is the same person about 97 times in 100.
        let truth = Isotropic { mean: vec![0.0; DIMENSION], kappa: 0.75, shape: 12.0, rate: 11.0 };
        let truth = FaceModel::isotropic(truth);
        let looks = looks_of_others(&truth, &mut rng).context("the generated people cannot be told apart")?;
        let people = Drawn::new(truth, N_REGULARS + N_OTHERS, &mut rng);
        let camera = Camera {
            switch: 0.06,
            enter: 0.02,
            regulars: Some(N_REGULARS),
            passer_by: 0.04,
            ..Camera::default()
        };
        // The days have a stream of their own: chains use those from 0 on.
        let mut days = camera.start(people, random::stream(seed, u64::from(u32::MAX)))?;
        let end = n_days as u64 * STEPS_PER_DAY;
        let (contexts, context_of) = (days.contexts().to_vec(), days.context_of().to_vec());
        let mut scenes = Vec::new();
        let mut morning = 0;
        loop {
            if days.step() >= morning {
                days.go(0);
                morning += STEPS_PER_DAY;
            }
            let frame = days.next().expect("the days go on");
            if frame.step >= end {
                break;
            }
            let time = Time(frame.step);
            let is_place_told = time.day() == 0 || !rng.bernoulli(WITHHELD);
            let faces = frame.people.into_iter().zip(frame.embeddings);
            let faces =
                faces.map(|(person, embedding)| Appearance { person, embedding, said: None }).collect();
            scenes.push(Scene { time, context: frame.context, is_place_told, faces });
        }
        let name_of = vec![None; N_REGULARS];
        let mut week = Self { n_days, contexts, context_of, name_of, scenes, looks };
        week.introduce(&mut rng);
        Ok(week)
    }

    /// Whether somebody belongs to a place.
    pub fn is_regular(&self, person: usize) -> bool {
        person < self.context_of.len()
    }

    /// The name of somebody who introduced themselves.
    pub fn name(&self, person: usize) -> Option<&'static str> {
        self.name_of.get(person).copied().flatten()
    }

    /// Every face, in order.
    pub fn faces(&self) -> impl Iterator<Item = (&Scene, &Appearance)> {
        self.scenes.iter().flat_map(|scene| scene.faces.iter().map(move |face| (scene, face)))
    }

    /// How many faces there are.
    pub fn n_faces(&self) -> usize {
        self.scenes.iter().map(|scene| scene.faces.len()).sum()
    }

    /// Whether a name that was said is not the person's.
    pub fn is_wrong(&self, face: &Appearance) -> bool {
        face.said.is_some() && face.said != self.name(face.person)
    }

    /// People introduce themselves on their second photo; the one met most says it again later, and later
    /// still is called by somebody else's name.
    fn introduce(&mut self, rng: &mut Rng) {
        let mut names = NAMES;
        rng.shuffle(&mut names);
        let photos: Vec<Vec<(usize, usize)>> = (0..N_REGULARS).map(|person| self.photos_of(person)).collect();
        let mut introduced = Vec::new();
        for context in 0..self.contexts.len() {
            let mut people: Vec<usize> = (0..N_REGULARS)
                .filter(|&p| self.context_of[p] == context && photos[p].len() >= FEWEST_FACES)
                .collect();
            people.sort_by_key(|&person| std::cmp::Reverse(photos[person].len()));
            introduced.extend(people.into_iter().take(INTRODUCED_PER_CONTEXT));
        }
        for &person in &introduced {
            self.name_of[person] = Some(names[person]);
            self.say(photos[person][1], names[person]);
        }
        let Some(&victim) = introduced.iter().max_by_key(|&&person| photos[person].len()) else { return };
        let met = &photos[victim];
        let (again, mistaken) = (met[met.len() / 3], met[met.len() * 2 / 3]);
        // Somebody of the same place, or else of another, who has introduced themselves by then.
        let other = introduced
            .iter()
            .copied()
            .filter(|&other| other != victim && photos[other][1] < mistaken)
            .min_by_key(|&other| self.context_of[other] != self.context_of[victim]);
        if let Some(other) = other.filter(|_| met[1] < again && again < mistaken) {
            self.say(again, names[victim]);
            self.say(mistaken, names[other]);
        }
    }

    fn say(&mut self, (scene, face): (usize, usize), name: &'static str) {
        self.scenes[scene].faces[face].said = Some(name);
    }

    /// Scene and place in the scene of every photo of a person.
    fn photos_of(&self, person: usize) -> Vec<(usize, usize)> {
        let place = |scene: &Scene| scene.faces.iter().position(|face| face.person == person);
        let scenes = self.scenes.iter().enumerate();
        scenes.filter_map(|(number, scene)| Some((number, place(scene)?))).collect()
    }
}

/// The prior as it is learnt from 100 people with 8 photos each, none of whom appears in the week.
fn looks_of_others(truth: &FaceModel, rng: &mut Rng) -> Option<Isotropic> {
    let (n_others, n_photos) = (100, 8);
    let mut others = Drawn::new(truth.clone(), n_others, rng);
    let mut values = Vec::new();
    for other in 0..n_others {
        for _ in 0..n_photos {
            values.extend(others.photo(other, rng));
        }
    }
    let embeddings = Embeddings::new(values, DIMENSION).ok()?;
    let rows: Vec<Vec<usize>> =
        (0..n_others).map(|other| (other * n_photos..(other + 1) * n_photos).collect()).collect();
    Isotropic::from_people(&embeddings, &rows)
}

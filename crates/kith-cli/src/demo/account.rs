//! The figures of the week: what kith said and believes, held against the truth.

use super::journal::{Journal, Sighting};
use super::week::{Time, Week};

/// Everything that is told.
pub struct Account {
    /// The people as kith has them, by name and place first, then by first meeting.
    pub people: Vec<Person>,
    /// People who, in truth, were met more than once, and just once.
    pub n_met_again: usize,
    pub n_met_once: usize,
    /// First meetings that were noticed, and re-encounters that were recognised.
    pub strangers: Share,
    pub known: Share,
    /// Re-encounters taken for strangers, and strangers taken for somebody known.
    pub forgotten: usize,
    pub mistaken_strangers: usize,
    /// How often a first meeting looked stranger than a re-encounter, over all pairs of the two.
    pub order: f64,
    /// Faces of people who had introduced themselves, called by their name.
    pub called_by_name: Share,
    pub places: Share,
    pub days: Vec<Day>,
    pub bands: Vec<Band>,
    /// The most similar earlier photo: right among re-encounters, and right of all faces with the best limit.
    pub nearest: Share,
    pub nearest_with_limit: Share,
    pub wrong_name: Option<WrongName>,
    /// Agreement with the truth of all beliefs in the end, on average.
    pub agreement_of_draws: f64,
}

/// So many of so many.
#[derive(Clone, Copy, Default)]
pub struct Share {
    pub n: usize,
    pub of: usize,
}

/// A person, as kith has them.
pub struct Person {
    pub name: Option<&'static str>,
    /// Where they are met most, and the how many-th person met there they are.
    pub context: usize,
    pub number: usize,
    pub n_faces: usize,
    pub first: Time,
    /// What kith said at first sight: how probably a stranger.
    pub at_first: Option<f64>,
    /// How sure the faces' places with this person are on average.
    pub sure: f64,
    /// Who they are for the most part, how many faces are of that person, and how many of those are
    /// elsewhere.
    pub truth: usize,
    pub n_right: usize,
    pub n_missing: usize,
}

/// One day.
pub struct Day {
    pub n_photos: usize,
    pub n_faces: usize,
    pub strangers: Share,
    pub known: Share,
    pub places: Share,
    pub agreement: f64,
}

/// Answers of about the same sureness.
pub struct Band {
    pub low: f64,
    pub high: f64,
    pub mean: f64,
    pub right: Share,
}

/// What became of a wrong name.
pub struct WrongName {
    pub time: Time,
    pub context: usize,
    pub right: &'static str,
    pub wrong: &'static str,
    /// How sure kith was of the right name just before.
    pub before: f64,
    /// In the end, the probabilities of the right and of the wrong name: for that photo, for all photos of
    /// the person, and for all photos of the one whose name it was.
    pub photo: [f64; 2],
    pub person: [f64; 2],
    pub other: [f64; 2],
    pub n_photos: usize,
    pub n_of_other: usize,
}

impl WrongName {
    /// What is named, and the probabilities of the right and of the wrong name.
    pub fn rows(&self) -> [(String, [f64; 2]); 3] {
        let Self { n_photos, n_of_other, right, wrong, .. } = self;
        [
            ("that photo".to_owned(), self.photo),
            (format!("all {n_photos} photos of {right}"), self.person),
            (format!("all {n_of_other} photos of {wrong}"), self.other),
        ]
    }

    /// What it comes to.
    pub fn moral(&self) -> &'static str {
        match self.photo[0] > self.photo[1]
            && self.person[0] > self.person[1]
            && self.other[1] > self.other[0]
        {
            true => "The mistake did not spread.",
            false => "The mistake was believed: saying the right name again would put it straight.",
        }
    }
}

impl Band {
    /// "90 to 99 %".
    pub fn range(&self) -> String {
        let [low, high] = [self.low, self.high].map(|p| 100.0 * p);
        match (self.low, self.high) {
            (0.0, _) => format!("below {high:.0} %"),
            (_, 1.0) => format!("{low:.0} % or more"),
            _ => format!("{low:.0} to {high:.0} %"),
        }
    }
}

impl Share {
    /// Counts how many of a list are so.
    pub fn of(list: impl IntoIterator<Item = bool>) -> Self {
        let mut share = Self::default();
        for is_so in list {
            share.of += 1;
            share.n += usize::from(is_so);
        }
        share
    }

    /// NaN of nothing.
    pub fn ratio(self) -> f64 {
        self.n as f64 / self.of as f64
    }
}

impl Person {
    /// Seen once and never named.
    pub fn is_seen_once(&self) -> bool {
        self.name.is_none() && self.n_faces == 1
    }
}

impl Account {
    /// Draws the account up.
    pub fn new(week: &Week, journal: &Journal) -> Self {
        let asked: Vec<&Sighting> = journal.sightings.iter().filter(|s| s.answer.is_some()).collect();
        let is_right = |s: &&&Sighting| s.is_right() == Some(true);
        let of_kind = |is_first: bool| asked.iter().filter(move |s| s.is_first == is_first);
        let share = |is_first| Share::of(of_kind(is_first).map(|s| is_right(&s)));
        let is_called_stranger =
            |s: &Sighting| s.answer.as_ref().is_some_and(|answer| answer.guess.is_none());
        let (nearest, nearest_with_limit) = nearest_photo(week, &asked);
        let mut n_times: Vec<usize> = Vec::new();
        for sighting in &journal.sightings {
            n_times.resize(n_times.len().max(sighting.person + 1), 0);
            n_times[sighting.person] += 1;
        }
        Self {
            people: people(week, journal),
            n_met_again: n_times.iter().filter(|&&n| n > 1).count(),
            n_met_once: n_times.iter().filter(|&&n| n == 1).count(),
            strangers: share(true),
            known: share(false),
            forgotten: of_kind(false).filter(|s| is_called_stranger(s)).count(),
            mistaken_strangers: of_kind(true).filter(|s| !is_called_stranger(s)).count(),
            order: order(&asked),
            called_by_name: called_by_name(week, &asked),
            places: Share::of(journal.places.iter().map(|place| place.is_right)),
            days: (0..week.n_days).map(|day| day_account(day, week, journal)).collect(),
            bands: bands(&asked),
            nearest,
            nearest_with_limit,
            wrong_name: wrong_name(week, journal),
            agreement_of_draws: journal.agreement_of_draws,
        }
    }

    /// First meetings noticed and re-encounters recognised together.
    pub fn all(&self) -> Share {
        Share { n: self.strangers.n + self.known.n, of: self.strangers.of + self.known.of }
    }
}

fn people(week: &Week, journal: &Journal) -> Vec<Person> {
    let labels = &journal.shown.labels;
    let n_groups = labels.iter().max().map_or(0, |highest| *highest as usize + 1);
    let mut faces_of: Vec<Vec<usize>> = vec![Vec::new(); n_groups];
    for (face, &label) in labels.iter().enumerate() {
        faces_of[label as usize].push(face);
    }
    let mut n_met = vec![0; week.contexts.len()];
    let mut people: Vec<Person> = faces_of
        .iter()
        .map(|faces| {
            let mut person = person(faces, week, journal);
            if !person.is_seen_once() {
                n_met[person.context] += 1;
                person.number = n_met[person.context];
            }
            person
        })
        .collect();
    people.sort_by_key(|p| (p.name.is_none(), p.is_seen_once(), p.context, p.first));
    people
}

fn person(faces: &[usize], week: &Week, journal: &Journal) -> Person {
    let scene = |face: usize| &week.scenes[journal.sightings[face].scene];
    let truth_of = |face: usize| journal.sightings[face].person;
    let context = most(faces.iter().map(|&face| scene(face).context));
    let truth = most(faces.iter().map(|&face| truth_of(face)));
    let n_right = faces.iter().filter(|&&face| truth_of(face) == truth).count();
    let name = week.name_of.iter().flatten().map(|name| (*name, p_name(faces, name, journal)));
    let name = name.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|name| name.1 > 0.5);
    Person {
        name: name.map(|name| name.0),
        context,
        number: 0,
        n_faces: faces.len(),
        first: scene(faces[0]).time,
        at_first: journal.sightings[faces[0]].answer.as_ref().map(|answer| answer.stranger),
        sure: faces.iter().map(|&face| journal.shown.certainty[face]).sum::<f64>() / faces.len() as f64,
        truth,
        n_right,
        n_missing: journal.sightings.iter().filter(|s| s.person == truth).count() - n_right,
    }
}

/// The value that occurs most, the lowest of equals.
fn most(values: impl Iterator<Item = usize>) -> usize {
    let mut values: Vec<usize> = values.collect();
    values.sort_unstable();
    let runs = values.chunk_by(|a, b| a == b);
    runs.rev().max_by_key(|run| run.len()).map_or(0, |run| run[0])
}

/// The probability of a name for some faces, averaged over them and over the beliefs in the end.
fn p_name(faces: &[usize], name: &str, journal: &Journal) -> f64 {
    let Some(label) = journal.names.iter().position(|known| known == name) else { return 0.0 };
    let mut n_so = 0;
    for draw in &journal.draws {
        let called = draw.names_of_people();
        let names = faces.iter().map(|&face| called[draw.identities[face] as usize]);
        n_so += names.filter(|name| name.is_some_and(|name| name.index() == label)).count();
    }
    n_so as f64 / (faces.len() * journal.draws.len()) as f64
}

/// Over all pairs of a first meeting and a re-encounter: how often the first looked more like a stranger.
fn order(asked: &[&Sighting]) -> f64 {
    let of_kind = |is_first: bool| -> Vec<f64> {
        let kind = asked.iter().filter(|s| s.is_first == is_first);
        kind.filter_map(|s| s.answer.as_ref()).map(|answer| answer.stranger).collect()
    };
    let (first, again) = (of_kind(true), of_kind(false));
    let mut n_so = 0.0;
    for a in &first {
        for b in &again {
            n_so += if a > b { 1.0 } else { f64::from(u8::from(a == b)) / 2.0 };
        }
    }
    n_so / (first.len() * again.len()) as f64
}

fn called_by_name(week: &Week, asked: &[&Sighting]) -> Share {
    let is_called = |s: &&&Sighting| {
        let name = s.answer.as_ref().and_then(|answer| answer.name.as_ref());
        name.is_some_and(|(name, p)| *p > 0.5 && Some(name.as_str()) == week.name(s.person))
    };
    Share::of(asked.iter().filter(|s| s.is_introduced).map(|s| is_called(&s)))
}

fn day_account(day: usize, week: &Week, journal: &Journal) -> Day {
    let is_today = |scene: usize| week.scenes[scene].time.day() == day;
    let today: Vec<&Sighting> = journal.sightings.iter().filter(|s| is_today(s.scene)).collect();
    let share = |is_first: bool| {
        let kind = today.iter().filter(move |s| s.is_first == is_first);
        Share::of(kind.filter_map(|s| s.is_right()))
    };
    Day {
        n_photos: week.scenes.iter().filter(|scene| scene.time.day() == day).count(),
        n_faces: today.len(),
        strangers: share(true),
        known: share(false),
        places: Share::of(journal.places.iter().filter(|p| is_today(p.scene)).map(|p| p.is_right)),
        agreement: journal.agreement[day],
    }
}

/// Answers by how sure they were.
fn bands(asked: &[&Sighting]) -> Vec<Band> {
    let mut bands = Vec::new();
    for [low, high] in [[0.99, 1.0], [0.9, 0.99], [0.7, 0.9], [0.0, 0.7]] {
        let is_in = |p: f64| p >= low && (p < high || high == 1.0);
        let within: Vec<(f64, bool)> = asked
            .iter()
            .filter_map(|s| Some((s.answer.as_ref()?.p, s.is_right()?)))
            .filter(|(p, _)| is_in(*p))
            .collect();
        if !within.is_empty() {
            let mean = within.iter().map(|(p, _)| p).sum::<f64>() / within.len() as f64;
            bands.push(Band {
                low,
                high,
                mean,
                right: Share::of(within.iter().map(|(_, is_right)| *is_right)),
            });
        }
    }
    bands
}

/// What others do: take the most similar earlier photo; and, beyond a limit of likeness, say "stranger". The
/// limit is the best that hindsight could choose for this week.
fn nearest_photo(week: &Week, asked: &[&Sighting]) -> (Share, Share) {
    let faces: Vec<(usize, &[f32])> =
        week.faces().map(|(_, face)| (face.person, &face.embedding[..])).collect();
    let n_first = faces.len() - asked.len();
    // Distance to the nearest photo, whether it shows the right person, whether there could be one.
    let mut matches: Vec<(f32, bool, bool)> = Vec::new();
    for (at, sighting) in asked.iter().enumerate() {
        let x = faces[n_first + at].1;
        let distance = |y: &[f32]| x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum::<f32>();
        // Faces of the same photo are somebody else.
        let n_before = n_first + asked.partition_point(|s| s.scene < sighting.scene);
        let earlier = faces[..n_before].iter().map(|(person, y)| (distance(y), *person));
        let nearest = earlier.min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((distance, person)) = nearest {
            matches.push((distance, person == sighting.person, !sighting.is_first));
        }
    }
    matches.sort_by(|a, b| a.0.total_cmp(&b.0));
    let n_right = Share::of(matches.iter().filter(|m| m.2).map(|m| m.1));
    // Everybody a stranger at first; then the limit moves past one match after the other.
    let mut n = matches.iter().filter(|m| !m.2).count();
    let mut best = n;
    for (_, is_right, is_known) in &matches {
        n = n + usize::from(*is_right) - usize::from(!is_known);
        best = best.max(n);
    }
    (n_right, Share { n: best, of: matches.len() })
}

fn wrong_name(week: &Week, journal: &Journal) -> Option<WrongName> {
    let faces: Vec<_> = week.faces().collect();
    let at = faces.iter().position(|(_, face)| week.is_wrong(face))?;
    let (scene, face) = faces[at];
    let right = week.name(face.person)?;
    let wrong = face.said?;
    let photos_of =
        |person: usize| -> Vec<usize> { (0..faces.len()).filter(|&n| faces[n].1.person == person).collect() };
    let photos = photos_of(face.person);
    let other = week.name_of.iter().position(|name| *name == Some(wrong))?;
    let both = |faces: &[usize]| [p_name(faces, right, journal), p_name(faces, wrong, journal)];
    let said = journal.sightings[at].answer.as_ref().and_then(|answer| answer.name.clone());
    Some(WrongName {
        time: scene.time,
        context: scene.context,
        right,
        wrong,
        before: said.filter(|(name, _)| name == right).map_or(0.0, |(_, p)| p),
        photo: both(&[at]),
        person: both(&photos),
        n_photos: photos.len(),
        other: both(&photos_of(other)),
        n_of_other: photos_of(other).len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_value_is_found() {
        assert_eq!(most([3, 1, 3, 2].into_iter()), 3);
        assert_eq!(most([2, 1, 2, 1].into_iter()), 1);
        assert_eq!(most([].into_iter()), 0);
    }
}

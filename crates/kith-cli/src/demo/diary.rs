//! Some moments of the week, as kith saw them.

use super::journal::{Answer, Journal, Sighting};
use super::text::percent;
use super::week::{Time, Week, at};

/// A moment.
pub struct Entry {
    pub time: Time,
    /// Where, as far as kith was told.
    pub place: Option<String>,
    pub text: String,
}

/// A few moments in order: a first meeting, an introduction and what came of it, a place guessed, the wrong
/// name, and where kith was most surely wrong.
pub fn entries(week: &Week, journal: &Journal) -> Vec<Entry> {
    let teller = Teller { week, journal };
    let all = &journal.sightings;
    let find = |is_so: &dyn Fn(&Sighting, &Answer) -> bool| {
        all.iter().position(|s| s.answer.as_ref().is_some_and(|answer| is_so(s, answer)))
    };
    let day = |s: &Sighting| week.scenes[s.scene].time.day();
    let is_right = |s: &Sighting| s.is_right() == Some(true);

    let introduction = (0..all.len()).find(|&at| teller.said(at).is_some());
    let new_friend = introduction.map(|at| all[at].person);
    let mut moments = vec![
        find(&|s, _| s.is_first && is_right(s)),
        introduction,
        find(&|s, _| s.is_introduced && Some(s.person) == new_friend),
        find(&|s, _| {
            day(s) > 0 && !s.is_first && !s.is_introduced && is_right(s) && week.is_regular(s.person)
        }),
        find(&|s, _| day(s) > 1 && s.is_introduced && is_right(s) && Some(s.person) != new_friend),
        find(&|s, _| day(s) > 1 && s.is_first && is_right(s)),
    ];
    let is_wrong_name = |at: &usize| week.faces().nth(*at).is_some_and(|(_, face)| week.is_wrong(face));
    moments.push((0..all.len()).find(is_wrong_name));
    // The surest mistakes of either kind.
    for is_first in [true, false] {
        let mistakes =
            (0..all.len()).filter(|&at| all[at].is_first == is_first && all[at].is_right() == Some(false));
        let sureness = |at: usize| all[at].answer.as_ref().map_or(0.0, |answer| answer.p);
        moments.push(mistakes.max_by(|&a, &b| sureness(a).total_cmp(&sureness(b))));
    }
    let mut moments: Vec<usize> = moments.into_iter().flatten().collect();
    moments.sort_unstable();
    moments.dedup();
    let mut entries: Vec<Entry> = moments.into_iter().map(|at| teller.face(at)).collect();
    entries.extend(teller.place());
    entries.sort_by_key(|entry| entry.time);
    entries
}

struct Teller<'a> {
    week: &'a Week,
    journal: &'a Journal,
}

impl Teller<'_> {
    /// The name that was said of a face.
    fn said(&self, at: usize) -> Option<&'static str> {
        self.week.faces().nth(at).and_then(|(_, face)| face.said)
    }

    fn face(&self, at: usize) -> Entry {
        let sighting = &self.journal.sightings[at];
        let scene = &self.week.scenes[sighting.scene];
        let mut text = match &sighting.answer {
            Some(answer) => self.told(answer),
            None => "nobody has been seen yet".to_owned(),
        };
        let is_right = sighting.is_right() != Some(false);
        if !is_right {
            text += match sighting.is_first {
                true => ": wrong, a first meeting",
                false => ": wrong, someone you had met",
            };
        }
        match self.said(at) {
            Some(name) if Some(name) == self.week.name(sighting.person) => {
                text += &format!(". \"Hello, I am {name}!\"");
            }
            Some(name) => {
                let right = self.week.name(sighting.person).unwrap_or("somebody");
                text += &format!(". You call {right} \"{name}\" by mistake");
            }
            None => {}
        }
        let place = scene.is_place_told.then(|| self.week.contexts[scene.context].clone());
        Entry { time: scene.time, place, text }
    }

    /// An answer in words.
    fn told(&self, answer: &Answer) -> String {
        let sure = format!("{} sure", percent(answer.p));
        match (&answer.guess, &answer.name) {
            (None, _) => format!("somebody never seen ({sure})"),
            (Some(_), Some((name, p))) if *p > 0.5 => format!("{name} ({} sure)", percent(*p)),
            (Some(_), _) => format!("someone seen before who has no name yet ({sure})"),
        }
    }

    /// The first place that was guessed right from several faces, or from any.
    fn place(&self) -> Option<Entry> {
        let n_faces = |scene: usize| self.week.scenes[scene].faces.len();
        let right: Vec<_> = self.journal.places.iter().filter(|place| place.is_right).collect();
        let shown = right.iter().find(|place| n_faces(place.scene) > 1).or(right.first())?;
        let scene = &self.week.scenes[shown.scene];
        let text = format!("you are {}, by who is there ({} sure)", at(&shown.guess), percent(shown.p));
        Some(Entry { time: scene.time, place: None, text })
    }
}

//! The pictures of the page: who was there when, and how well each day went, as inline SVG.

use std::fmt::Write;

use super::account::{Account, Share};
use super::journal::{Journal, Sighting};
use super::page::escaped;
use super::text::{ordinal, percent};
use super::week::{STEPS_PER_DAY, Week, day_name};

/// Where the names end and the days begin, and how wide a step and how high a row is.
const LEFT: f64 = 104.0;
const STEP: f64 = 2.0;
const ROW: f64 = 15.0;
const TOP: f64 = 24.0;
const GAP: f64 = 22.0;

/// People by place, a row each, over the days; shaded where you were.
pub fn timeline(week: &Week, journal: &Journal, account: &Account) -> String {
    let rows = rows(week);
    let width = LEFT + STEP * (week.n_days as u64 * STEPS_PER_DAY) as f64 + 8.0;
    let mut svg = String::new();
    let mut y = TOP;
    for (context, people) in rows.iter().enumerate() {
        y += GAP;
        let height = ROW * (people.len() + 1) as f64;
        let title = escaped(&week.contexts[context]);
        let _ = write!(svg, "<text class=place x=0 y={:.1}>{title}</text>", y - 6.0);
        for (from, to) in stays(week, context) {
            let (x, wide) = (x_of(from), STEP * (to + 1 - from) as f64);
            let _ =
                write!(svg, "<rect class=here x={x:.1} y={y:.1} width={wide:.1} height={height:.1} rx=3 />");
        }
        for &person in people {
            let name = label(person, week, account);
            let class = if week.name(person).is_some() { "who" } else { "who unnamed" };
            let _ = write!(svg, "<text class='{class}' x={} y={:.1}>{name}</text>", LEFT - 8.0, y + 11.0);
            marks(&mut svg, week, journal, y, |sighting| sighting.person == person);
            y += ROW;
        }
        let _ = write!(svg, "<text class='who unnamed' x={} y={:.1}>passers-by</text>", LEFT - 8.0, y + 11.0);
        marks(&mut svg, week, journal, y, |sighting| {
            !week.is_regular(sighting.person) && week.scenes[sighting.scene].context == context
        });
        y += ROW;
    }
    let mut days = String::new();
    for day in 0..week.n_days {
        let x = x_of(day as u64 * STEPS_PER_DAY);
        let _ = write!(days, "<line class=rule x1={x:.1} x2={x:.1} y1=8 y2={y:.1} />");
        let _ = write!(days, "<text class=day x={:.1} y=18>{}</text>", x + 5.0, day_name(day));
    }
    format!(
        "<svg viewBox='0 0 {width} {:.0}' role=img aria-label='Who was there when, by \
         place'>{days}{svg}</svg>",
        y + 4.0
    )
}

/// The regulars who were met, by place, those met first on top.
fn rows(week: &Week) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new(); week.contexts.len()];
    for (_, face) in week.faces().filter(|(_, face)| week.is_regular(face.person)) {
        let row: &mut Vec<usize> = &mut rows[week.context_of[face.person]];
        if !row.contains(&face.person) {
            row.push(face.person);
        }
    }
    rows
}

/// A name, or the number that kith's table has: "3rd person".
fn label(person: usize, week: &Week, account: &Account) -> String {
    let shown =
        || account.people.iter().filter(|p| p.truth == person && p.number > 0).max_by_key(|p| p.n_right);
    match (week.name(person), shown()) {
        (Some(name), _) => name.to_owned(),
        (None, Some(shown)) => format!("{} person", ordinal(shown.number)),
        (None, None) => "no name".to_owned(),
    }
}

/// From the first to the last photo of every stay at a place.
fn stays(week: &Week, context: usize) -> Vec<(u64, u64)> {
    let is_one_stay = |a: &super::week::Scene, b: &super::week::Scene| {
        a.context == b.context && a.time.day() == b.time.day()
    };
    let stays = week.scenes.chunk_by(is_one_stay).filter(|stay| stay[0].context == context);
    stays.map(|stay| (stay[0].time.0, stay[stay.len() - 1].time.0)).collect()
}

fn x_of(step: u64) -> f64 {
    LEFT + STEP * step as f64
}

/// One mark per face: known again, a first meeting noticed, or a mistake; and where a name was said.
fn marks(svg: &mut String, week: &Week, journal: &Journal, y: f64, is_here: impl Fn(&Sighting) -> bool) {
    let faces = week.faces().zip(&journal.sightings);
    for ((scene, face), sighting) in faces.filter(|(_, sighting)| is_here(sighting)) {
        let x = x_of(scene.time.0);
        let told = escaped(&told(week, sighting));
        let title = format!("<title>{}: {told}</title>", scene.time);
        let middle = y + ROW / 2.0;
        let _ = match (sighting.is_right(), sighting.is_first) {
            (Some(false), _) => {
                write!(svg, "<path class=miss d='M{x:.1} {:.1}l6 6m0 -6l-6 6'>{title}</path>", middle - 3.0)
            }
            (_, true) => {
                write!(svg, "<circle class=first cx={:.1} cy={middle:.1} r=3.2>{title}</circle>", x + 1.0)
            }
            (_, false) => write!(
                svg,
                "<rect class=again x={x:.1} y={:.1} width={STEP} height={:.1}>{title}</rect>",
                y + 3.0,
                ROW - 6.0
            ),
        };
        if face.said.is_some() {
            let class = if week.is_wrong(face) { "slip" } else { "said" };
            let _ = write!(
                svg,
                "<path class={class} d='M{:.1} {:.1}l-4 -5h8z'><title>{}: called {}</title></path>",
                x + 1.0,
                y + 4.0,
                scene.time,
                face.said.unwrap_or_default()
            );
        }
    }
}

fn told(week: &Week, sighting: &Sighting) -> String {
    let truth = match (sighting.is_first, week.name(sighting.person)) {
        (true, _) => "a first meeting",
        (false, Some(name)) => name,
        (false, None) => "somebody met before",
    };
    match &sighting.answer {
        Some(answer) => {
            let said = if answer.guess.is_none() { "a stranger" } else { "somebody it knows" };
            format!("{truth}; kith said {said}, {} sure", percent(answer.p))
        }
        None => truth.to_owned(),
    }
}

/// A panel of bars, one per day, for each of four questions.
pub fn days(account: &Account) -> String {
    type Measure = fn(&super::account::Day) -> Share;
    let counts: [(&str, Measure); 3] = [
        ("strangers noticed", |day| day.strangers),
        ("others known again", |day| day.known),
        ("places guessed", |day| day.places),
    ];
    let mut panels: Vec<String> = counts
        .iter()
        .map(|(title, measure)| {
            let bars = account.days.iter().map(measure).map(|share| {
                let label = if share.of == 0 { String::new() } else { format!("{}/{}", share.n, share.of) };
                (share.ratio(), label)
            });
            panel(title, &bars.collect::<Vec<_>>())
        })
        .collect();
    let agreement = account.days.iter().map(|day| (day.agreement, format!("{:.2}", day.agreement)));
    panels.push(panel("agreement with the truth", &agreement.collect::<Vec<_>>()));
    panels.concat()
}

/// Bars from 0 to 1, with what they count above and the day below.
fn panel(title: &str, bars: &[(f64, String)]) -> String {
    let (wide, high) = (36.0, 84.0);
    let mut svg = String::new();
    for (day, (value, label)) in bars.iter().enumerate() {
        let x = wide * day as f64;
        let middle = x + wide / 2.0;
        let bottom = 24.0 + high;
        if value.is_finite() {
            let height = high * value.clamp(0.0, 1.0);
            let _ = write!(
                svg,
                "<rect class=bar x={:.1} y={:.1} width={:.1} height={height:.1} rx=2 />",
                x + 5.0,
                bottom - height,
                wide - 10.0
            );
        } else {
            let _ = write!(svg, "<text class=mid x={middle:.1} y={:.1}>none</text>", bottom - 6.0);
        }
        let _ = write!(svg, "<text class=mid x={middle:.1} y=18>{label}</text>");
        let _ = write!(svg, "<text class=mid x={middle:.1} y={:.1}>{}</text>", bottom + 14.0, day_name(day));
    }
    let width = wide * bars.len() as f64;
    format!(
        "<figure><figcaption>{title}</figcaption><svg viewBox='0 0 {width} 126' style='max-width:{width}px' \
         role=img aria-label='{title}, by day'><line class=rule x1=0 x2={width} y1=108 y2=108 \
         />{svg}</svg></figure>"
    )
}

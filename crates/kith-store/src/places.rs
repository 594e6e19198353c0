//! Contexts from what photos carry: the place, the folder or the day.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Row, params};

use crate::faces::intern;
use crate::ids::FrameRow;
use crate::{Library, StoreError};

/// How a photo gets its context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextRule {
    /// By where it was taken: places where photos were taken on several days are contexts, all others are
    /// one.
    Place,
    /// By the folder that it is in.
    Folder,
    /// By the day on which it was taken.
    Day,
    /// Photos have none.
    None,
}

/// A place recurs when photos were taken there on this many days.
const DAYS: usize = 3;

/// How far photos of one place are from its centre, in metres.
const RADIUS: f64 = 250.0;

/// Metres per degree of latitude.
const DEGREE: f64 = 111_320.0;

/// The context of photos that were taken where nobody came back to.
const ELSEWHERE: &str = "elsewhere";

/// What a rule looks at.
struct Taken {
    frame: FrameRow,
    key: String,
    day: Option<String>,
    place: Option<(f64, f64)>,
}

impl Library {
    /// Gives the frames of all photos contexts by a rule, in place of what they had.
    pub fn set_contexts(&self, rule: ContextRule) -> Result<(), StoreError> {
        self.write(|connection| {
            let query = "SELECT frame, key, substr(time, 1, 10), latitude, longitude FROM photos \
                         WHERE frame IS NOT NULL ORDER BY id";
            let taken = |row: &Row<'_>| {
                let place = row.get::<_, Option<f64>>(3)?.zip(row.get(4)?);
                Ok(Taken { frame: row.get(0)?, key: row.get(1)?, day: row.get(2)?, place })
            };
            let taken: Vec<Taken> =
                self.run(|| connection.prepare(query)?.query_map([], taken)?.collect())?;
            for (photo, context) in taken.iter().zip(contexts(&taken, rule)) {
                self.run(|| {
                    let context = context.map(|name| intern(connection, "contexts", &name)).transpose()?;
                    let update = "UPDATE frames SET context = ?2 WHERE id = ?1 AND context IS NOT ?2";
                    connection.prepare_cached(update)?.execute(params![photo.frame, context])
                })?;
            }
            let unused =
                "DELETE FROM contexts WHERE id NOT IN (SELECT context FROM frames WHERE context IS NOT NULL)";
            self.run(|| connection.execute(unused, []).map(|_| ()))
        })
    }
}

fn contexts(taken: &[Taken], rule: ContextRule) -> Vec<Option<String>> {
    match rule {
        ContextRule::None => vec![None; taken.len()],
        ContextRule::Day => taken.iter().map(|photo| photo.day.clone()).collect(),
        ContextRule::Folder => {
            let folder = |photo: &Taken| photo.key.rsplit_once('/').map(|(folder, _)| folder.to_owned());
            taken.iter().map(folder).collect()
        }
        ContextRule::Place => {
            let centres = recurring(taken);
            let context = |photo: &Taken| {
                let place = photo.place?;
                let near = centres.iter().find(|&&centre| metres(centre, place) <= RADIUS);
                Some(near.map_or(ELSEWHERE.to_owned(), |(y, x)| format!("place {y:.3} {x:.3}")))
            };
            taken.iter().map(context).collect()
        }
    }
}

/// Centres of places that recur, those with most photos first: each is the middle of photos near a photo,
/// taken greedily from cells of about the radius.
fn recurring(taken: &[Taken]) -> Vec<(f64, f64)> {
    let cell = |(y, x): (f64, f64)| {
        let side = RADIUS / DEGREE;
        ((y / side).floor() as i64, (x * y.to_radians().cos() / side).floor() as i64)
    };
    let mut cells: BTreeMap<(i64, i64), Vec<&Taken>> = BTreeMap::new();
    for photo in taken {
        if let Some(place) = photo.place {
            cells.entry(cell(place)).or_default().push(photo);
        }
    }
    let mut cells: Vec<Vec<&Taken>> = cells.into_values().collect();
    // By latitude, so that photos near a centre are found among few.
    let mut north: Vec<((f64, f64), &Taken)> =
        cells.iter().flatten().filter_map(|photo| Some((photo.place?, *photo))).collect();
    north.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
    cells.sort_by_key(|photos| std::cmp::Reverse(photos.len()));
    let mut centres: Vec<(f64, f64)> = Vec::new();
    for photos in cells {
        let places: Vec<(f64, f64)> = photos.iter().filter_map(|photo| photo.place).collect();
        let n = places.len() as f64;
        let centre = places.iter().fold((0.0, 0.0), |sum, place| (sum.0 + place.0 / n, sum.1 + place.1 / n));
        let first = north.partition_point(|(place, _)| place.0 < centre.0 - RADIUS / DEGREE);
        let band = north[first..].iter().take_while(|(place, _)| place.0 <= centre.0 + RADIUS / DEGREE);
        let near = band.filter(|(place, _)| metres(centre, *place) <= RADIUS);
        let days: BTreeSet<&String> = near.filter_map(|(_, photo)| photo.day.as_ref()).collect();
        if days.len() >= DAYS && centres.iter().all(|&other| metres(other, centre) > RADIUS) {
            centres.push(centre);
        }
    }
    centres
}

/// The distance of two near places.
fn metres(a: (f64, f64), b: (f64, f64)) -> f64 {
    let dx = (a.1 - b.1) * DEGREE * a.0.to_radians().cos();
    ((a.0 - b.0) * DEGREE).hypot(dx)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_recur_are_contexts_and_all_others_are_elsewhere() {
        let photo = |frame: i64, place, day: &str| Taken {
            frame: FrameRow(frame),
            key: format!("{}/{frame}.jpg", &day[..4]),
            day: Some(day.to_owned()),
            place,
        };
        // Home on three days, some metres apart; a beach on one; and a photo without a place.
        let taken = [
            photo(1, Some((52.5200, 13.4050)), "2020-01-01"),
            photo(2, Some((52.5203, 13.4052)), "2020-02-01"),
            photo(3, Some((52.5199, 13.4049)), "2021-02-01"),
            photo(4, Some((36.7000, -4.4000)), "2021-07-01"),
            photo(5, None, "2021-07-02"),
        ];
        let places = contexts(&taken, ContextRule::Place);
        assert!(places[0].as_deref().unwrap().starts_with("place 52.520 13.405"), "{places:?}");
        assert_eq!((&places[1], &places[2]), (&places[0], &places[0]));
        assert_eq!(places[3].as_deref(), Some("elsewhere"));
        assert_eq!(places[4], None);
        let folders = contexts(&taken, ContextRule::Folder);
        assert_eq!(folders[0].as_deref(), Some("2020"));
        assert_eq!(contexts(&taken, ContextRule::Day)[4].as_deref(), Some("2021-07-02"));
        assert_eq!(contexts(&taken, ContextRule::None), vec![None; 5]);
    }
}

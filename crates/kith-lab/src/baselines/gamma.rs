//! The kernel's width by leave-one-person-out cross-validation (§4.1).

use super::{OneClassSvm, Rbf, squared_distance};
use crate::metrics::auc;

/// One width that was tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gamma {
    /// The width.
    pub gamma: f64,
    /// The mean AUC over the people left out.
    pub auc: f64,
}

/// Tries widths around one over the median squared distance; the best first. Each person in turn is left out
/// and plays the stranger, against a third of the others' photos, left out too. With fewer than two people,
/// or no photos to leave out, there is nothing to compare and the middle width is returned.
pub fn choose_gamma(people: &[Vec<&[f32]>]) -> Vec<Gamma> {
    let all: Vec<&[f32]> = people.iter().flatten().copied().collect();
    let mut tried: Vec<Gamma> = grid(&all)
        .into_iter()
        .map(|gamma| {
            let folds: Vec<f64> =
                (0..people.len()).filter_map(|left_out| fold(people, left_out, Rbf { gamma })).collect();
            Gamma { gamma, auc: folds.iter().sum::<f64>() / folds.len() as f64 }
        })
        .collect();
    let middle = tried.len() / 2;
    if tried.iter().all(|tried| tried.auc.is_nan()) {
        tried.swap(0, middle);
    } else {
        tried.sort_by(|a, b| b.auc.total_cmp(&a.auc));
    }
    tried
}

/// How well a person left out is told from the others' photos that were left out.
fn fold(people: &[Vec<&[f32]>], left_out: usize, kernel: Rbf) -> Option<f64> {
    let others = || people.iter().enumerate().filter(|(person, _)| *person != left_out);
    let is_kept = |place: usize| place % 3 != 2;
    let photos = |kept: bool| {
        others().flat_map(move |(_, photos)| {
            photos
                .iter()
                .enumerate()
                .filter(move |(place, _)| is_kept(*place) == kept)
                .map(|(_, photo)| *photo)
        })
    };
    let training: Vec<&[f32]> = photos(true).collect();
    if training.is_empty() {
        return None;
    }
    let svm = OneClassSvm::train(&training, kernel);
    let mut scores: Vec<f64> = photos(false).map(|photo| -svm.decision(photo)).collect();
    let mut is_stranger = vec![false; scores.len()];
    scores.extend(people[left_out].iter().map(|photo| -svm.decision(photo)));
    is_stranger.resize(scores.len(), true);
    auc(&scores, &is_stranger)
}

/// 1, 2, 5, 10, ... from a fifth to two hundred times one over the median squared distance.
fn grid(points: &[&[f32]]) -> Vec<f64> {
    let mut distances: Vec<f64> = (0..points.len())
        .flat_map(|a| (0..a).map(move |b| (a, b)))
        .map(|(a, b)| squared_distance(points[a], points[b]))
        .filter(|distance| *distance > 0.0)
        .collect();
    distances.sort_by(f64::total_cmp);
    let unit = distances.get(distances.len() / 2).map_or(1.0, |median| 1.0 / median);
    let round = (-9..=9).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(power)));
    let near: Vec<f64> = round.filter(|gamma| (0.2 * unit..=200.0 * unit).contains(gamma)).collect();
    if near.is_empty() { vec![unit] } else { near }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_fits_the_clusters() {
        // Four people on a circle of radius 1, photos within 0.1: strangers are told apart by a kernel that
        // is narrower than the circle, and one that is far too wide sees a disc with nobody outside.
        let photo = |person: usize, k: usize| {
            let angle = person as f32 * std::f32::consts::FRAC_PI_2;
            [angle.cos() + 0.1 * (k as f32).sin(), angle.sin() + 0.1 * (2.0 * k as f32).cos()]
        };
        let photos: Vec<Vec<[f32; 2]>> = (0..4).map(|p| (0..9).map(|k| photo(p, k)).collect()).collect();
        let people: Vec<Vec<&[f32]>> =
            photos.iter().map(|photos| photos.iter().map(|photo| &photo[..]).collect()).collect();
        let tried = choose_gamma(&people);
        assert_eq!(tried[0].auc, 1.0);
        assert!(tried.len() >= 9 && tried.windows(2).all(|two| two[0].auc >= two[1].auc), "{tried:?}");
    }

    #[test]
    fn nothing_to_compare_still_gives_a_width() {
        let tried = choose_gamma(&[vec![&[0.0, 1.0]], vec![&[1.0, 0.0]]]);
        assert!(tried[0].gamma > 0.0 && tried[0].auc.is_nan());
    }
}

//! Pieces (MODEL.md §8): identities of a draw that lie side by side, nothing between them and nobody else
//! near, are one person.
//!
//! Who changes over ten years varies far along one direction. Cut across it, two identities are likelier than
//! one, at the price of a second mean. They are told from two people who look alike by what is between
//! them: two people are two clouds with a gap, while the parts of a cut touch. And, as for second looks, by how near
//! anybody else comes. It is a function of the draw.

use super::looks::{Crowd, Look};

/// Of fewer identities nobody knows how near people come to each other.
const CROWD: usize = 20;
/// Fewer photos do not show where they end.
const FEWEST: u32 = 8;
/// The farthest that the means of two pieces are apart, squared and per axis, photos being 1 from their
/// person's mean.
const FARTHEST: f64 = 1.2;
/// Everybody else is at least so many times as far from all pieces as they are from each other, in squares:
/// 2.4 is the most of two people under four networks (docs/NOTEBOOK.md, "People who change").
const CONTRAST: f64 = 3.0;
/// Nearer than this is as near as this: what is known of a mean is not better.
const NEAREST: f64 = 0.25;
/// Of each so many of those nearest to it may be the next piece.
const NEXT: usize = 3;
/// Nothing is between two pieces whose standard deviations along the line between their means add up to at
/// least this share of it: 0.45 to 0.7 for the parts of a stretch, 0.3 and less for two people under a network
/// that tells people apart.
const TOUCHING: f64 = 0.4;

/// The pieces of people among a crowd, whose nearest others are given; `photos` are those of a place, and
/// `may_be_one` says whether nothing that is known speaks against two wholes being one person.
pub(super) fn find(
    crowd: &Crowd,
    nearest: &[Vec<(usize, f64)>],
    photos: impl Fn(usize) -> Vec<Vec<f64>>,
    may_be_one: impl Fn(&[usize], &[usize]) -> bool,
) -> Vec<Look> {
    if nearest.len() < CROWD {
        return Vec::new();
    }
    let mut pairs: Vec<(f64, [usize; 2])> = Vec::new();
    for (one, others) in nearest.iter().enumerate() {
        let is_large = |place: usize| crowd.sizes[place] >= FEWEST;
        let near = others.iter().take(NEXT).filter(|&&(other, far)| far < FARTHEST && is_large(other));
        if is_large(one) {
            pairs.extend(near.map(|&(other, far)| (far, [one.min(other), one.max(other)])));
        }
    }
    pairs.sort_by_key(|pair| pair.1);
    pairs.dedup_by_key(|pair| pair.1);
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    // The nearest first, everybody is joined with those who touch; a whole that nobody else is near is a
    // person, and the persons of a larger one that is none stay.
    let mut wholes: Vec<Vec<usize>> = (0..nearest.len()).map(|place| vec![place]).collect();
    let mut whole_of: Vec<usize> = (0..nearest.len()).collect();
    let mut persons: Vec<Vec<Vec<usize>>> = vec![Vec::new(); nearest.len()];
    for (far, pair) in pairs {
        let [a, b] = pair.map(|place| whole_of[place]);
        let is_one = || {
            are_touching(pair.map(|place| (crowd.mean(place), photos(place))))
                && may_be_one(&wholes[a], &wholes[b])
        };
        if a == b || !is_one() {
            continue;
        }
        let more = std::mem::take(&mut wholes[b]);
        more.iter().for_each(|&place| whole_of[place] = a);
        wholes[a].extend(more);
        let of_both = std::mem::take(&mut persons[b]);
        persons[a].extend(of_both);
        let is_alone = |&place: &usize| {
            let mut others = nearest[place].iter().filter(|(other, _)| whole_of[*other] != a);
            others.next().is_some_and(|&(_, other)| other >= CONTRAST * far.max(NEAREST))
        };
        if wholes[a].iter().all(is_alone) {
            persons[a] = vec![wholes[a].clone()];
        }
    }
    let mut pieces = Vec::new();
    for whole in persons.iter().flatten() {
        let number = |place: usize| crowd.numbers[place];
        let person = number(whole[0]);
        pieces.extend(whole[1..].iter().map(|&of| Look { look: number(of), person, is_told: false }));
    }
    pieces
}

/// Whether nothing is between two identities, their means and photos given.
fn are_touching(pair: [(Vec<f64>, Vec<Vec<f64>>); 2]) -> bool {
    let line: Vec<f64> = pair[0].0.iter().zip(&pair[1].0).map(|(a, b)| a - b).collect();
    let length = line.iter().map(|x| x * x).sum::<f64>();
    // Along the line, in units of its length.
    let deviation = |(mean, photos): &(Vec<f64>, Vec<Vec<f64>>)| {
        let along = |photo: &Vec<f64>| -> f64 {
            photo.iter().zip(mean).zip(&line).map(|((y, m), x)| (y - m) * x).sum::<f64>() / length
        };
        let squares: f64 = photos.iter().map(|photo| along(photo).powi(2)).sum();
        (squares / (photos.len() as f64 - 1.0).max(1.0)).sqrt()
    };
    pair.iter().map(deviation).sum::<f64>() >= TOUCHING
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Rng, driver};

    const D: usize = 64;
    const PHOTOS: usize = 60;

    /// People who are far from each other, and identities of `PHOTOS` photos that lie along one line, from
    /// and to: somebody's photos are spread evenly there, and by 1 in all directions. What is found.
    fn found(n_others: usize, stretches: &[[f64; 2]], others_at: f64) -> Vec<[usize; 2]> {
        let mut rng = driver(31);
        let photo = |middle: f64, half: f64, off: f64, rng: &mut Rng| -> Vec<f64> {
            let mut y: Vec<f64> = (0..D).map(|_| rng.normal()).collect();
            y[0] += middle + half * (2.0 * rng.uniform() - 1.0);
            y[1] += off;
            y
        };
        let mut all: Vec<Vec<Vec<f64>>> = Vec::new();
        for [from, to] in stretches {
            let photos = |_| photo(0.5 * (from + to), 0.5 * (to - from), 0.0, &mut rng);
            all.push((0..PHOTOS).map(photos).collect());
        }
        for other in 0..n_others {
            let off = others_at + 20.0 * other as f64;
            all.push((0..4).map(|_| photo(0.0, 0.0, off, &mut rng)).collect());
        }
        let mut crowd = Crowd::new(D);
        for (number, photos) in all.iter().enumerate() {
            let n = photos.len() as f64;
            let mean = (0..D).map(|axis| photos.iter().map(|y| y[axis]).sum::<f64>() / n).collect();
            crowd.push(number, photos.len() as u32, (mean, 1.0 / n));
        }
        let pieces = find(&crowd, &crowd.nearest(), |place| all[place].clone(), |_, _| true);
        pieces.iter().map(|of| [of.look, of.person]).collect()
    }

    #[test]
    fn the_parts_of_a_stretch_are_one_person_and_two_clouds_are_two() {
        assert_eq!(found(30, &[[-6.0, 0.0], [0.0, 6.0]], 40.0), [[1, 0]]);
        let mut three = found(30, &[[-9.0, -3.0], [-3.0, 3.0], [3.0, 9.0]], 60.0);
        three.sort_unstable();
        assert_eq!(three.len(), 2);
        // A third is as far from them as others are: the two stay one.
        let row = [[-3.0, 0.0], [0.0, 3.0], [4.0, 16.0]];
        assert_eq!(found(30, &row, 12.0), [[1, 0]]);
        // As near, and somebody else: 6 apart, photos being 1 from either.
        assert!(found(30, &[[-3.0, -3.0], [3.0, 3.0]], 40.0).is_empty());
    }

    #[test]
    fn what_is_near_is_known_from_a_crowd_and_from_who_else_is_there() {
        let halves = [[-6.0, 0.0], [0.0, 6.0]];
        assert!(found(17, &halves, 40.0).is_empty());
        assert!(found(30, &halves, 8.0).is_empty(), "others are as near");
    }
}

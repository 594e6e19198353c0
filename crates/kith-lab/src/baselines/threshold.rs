//! A fair chance to say "unknown": thresholds on the baselines' scores, by cross-validation on the named
//! photos.
//!
//! Each named person in turn plays somebody unknown, twice: a stranger, all of whose named photos are left
//! out, and somebody familiar, every second of whose photos is left out and the rest unnamed. Of all others
//! every second named photo is left out and plays somebody known. Nothing but the given names is used.

use super::{LabelPropagation, Rbf, nearest};

/// A method that names a face and says how sure it is.
pub trait Closed {
    /// Learns from points, some of them labelled, and names new ones.
    fn names(
        &self,
        points: &[&[f32]],
        labels: &[Option<usize>],
        n_labels: usize,
        new: &[&[f32]],
    ) -> Vec<Scored>;
}

/// A name and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scored {
    /// The label; `None` where nothing can be said.
    pub label: Option<usize>,
    /// Larger is surer.
    pub score: f64,
}

/// 1-nearest-neighbour over the labelled points; its score is less the distance.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour;

/// Label propagation over all points; its score is high where the label has a large share and the point is
/// like others.
#[derive(Clone, Copy, Debug)]
pub struct Propagator {
    /// The similarity.
    pub kernel: Rbf,
}

impl Closed for Neighbour {
    fn names(&self, points: &[&[f32]], labels: &[Option<usize>], _: usize, new: &[&[f32]]) -> Vec<Scored> {
        let named: Vec<usize> = (0..points.len()).filter(|&point| labels[point].is_some()).collect();
        let shown: Vec<&[f32]> = named.iter().map(|&point| points[point]).collect();
        new.iter()
            .map(|x| {
                let found = nearest(x, &shown);
                Scored { label: named.get(found.at).and_then(|&at| labels[at]), score: -found.distance }
            })
            .collect()
    }
}

impl Closed for Propagator {
    fn names(
        &self,
        points: &[&[f32]],
        labels: &[Option<usize>],
        n_labels: usize,
        new: &[&[f32]],
    ) -> Vec<Scored> {
        let graph = LabelPropagation::fit(points, labels, n_labels, self.kernel);
        let of = |x: &&[f32]| match graph.predict(x) {
            Some(found) => {
                Scored { label: Some(found.label), score: found.share.ln() + found.similarity.ln() }
            }
            None => Scored { label: None, score: f64::NEG_INFINITY },
        };
        new.iter().map(of).collect()
    }
}

/// Below which score a method says "unknown".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold(pub f64);

/// Answers of a cross-validation.
#[derive(Clone, Debug, Default)]
pub struct Validated {
    /// Known people: the score, and whether the name was right.
    pub known: Vec<(f64, bool)>,
    /// Unknown people: the score.
    pub unknown: Vec<f64>,
}

impl Validated {
    /// The threshold with the best mean of the two rates: known people named rightly, unknown people refused.
    /// The lowest of several; where no known photo could be left out, the lowest that refuses all unknown.
    pub fn threshold(&self) -> Threshold {
        let rate = |n: usize, of: usize| if of == 0 { 0.0 } else { n as f64 / of as f64 };
        let worth = |threshold: f64| {
            let named =
                self.known.iter().filter(|(score, is_right)| *is_right && *score >= threshold).count();
            let refused = self.unknown.iter().filter(|score| **score < threshold).count();
            rate(named, self.known.len()) + rate(refused, self.unknown.len())
        };
        let mut scores: Vec<f64> =
            self.known.iter().map(|known| known.0).chain(self.unknown.clone()).collect();
        scores.retain(|score| score.is_finite());
        scores.sort_by(f64::total_cmp);
        scores.dedup();
        // Half-way between neighbouring scores, and beyond both ends.
        let mut tried = vec![f64::NEG_INFINITY];
        tried.extend(scores.windows(2).map(|two| 0.5 * (two[0] + two[1])));
        tried.extend(scores.last().map(|last| last.next_up()));
        let mut best = tried[0];
        for &threshold in &tried[1..] {
            if worth(threshold) > worth(best) {
                best = threshold;
            }
        }
        Threshold(best)
    }
}

/// Lets each labelled person in turn play a stranger, and somebody familiar.
pub fn cross_validate(
    method: &dyn Closed,
    points: &[&[f32]],
    labels: &[Option<usize>],
    n_labels: usize,
) -> Validated {
    let mut validated = Validated::default();
    for (left_out, is_stranger) in (0..n_labels).flat_map(|left_out| [(left_out, true), (left_out, false)]) {
        let mut n_seen = vec![0; n_labels];
        // Of everybody but a stranger the first, third, ... named photo is kept.
        let is_asked: Vec<bool> = labels
            .iter()
            .map(|label| {
                label.is_some_and(|label| {
                    n_seen[label] += 1;
                    (is_stranger && label == left_out) || n_seen[label] % 2 == 0
                })
            })
            .collect();
        let kept: Vec<usize> = (0..points.len()).filter(|&point| !is_asked[point]).collect();
        let asked: Vec<usize> = (0..points.len()).filter(|&point| is_asked[point]).collect();
        let pick = |places: &[usize]| places.iter().map(|&place| points[place]).collect::<Vec<_>>();
        let kept_labels: Vec<Option<usize>> =
            kept.iter().map(|&place| labels[place].filter(|&label| label != left_out)).collect();
        if kept_labels.iter().all(Option::is_none) || asked.is_empty() {
            continue;
        }
        let answers = method.names(&pick(&kept), &kept_labels, n_labels, &pick(&asked));
        for (&place, answer) in asked.iter().zip(answers) {
            if labels[place] == Some(left_out) {
                validated.unknown.push(answer.score);
            } else {
                validated.known.push((answer.score, answer.label == labels[place]));
            }
        }
    }
    validated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_the_best_of_a_hand_computed_case() {
        // Rates at thresholds below 2, 3, 5: (3/3 + 0/2), (3/3 + 1/2), (2/3 + 1/2), then (2/3 + 2/2) between
        // 4 and 5.
        let known = vec![(3.0, true), (5.0, true), (6.0, true)];
        let validated = Validated { known: known.clone(), unknown: vec![2.0, 4.0] };
        assert_eq!(validated.threshold(), Threshold(4.5));
        // Only unknown people: all are refused, and no more than that.
        let validated = Validated { known: Vec::new(), unknown: vec![2.0, 4.0] };
        assert_eq!(validated.threshold(), Threshold(4f64.next_up()));
        // Nobody unknown: everybody is named.
        assert_eq!(Validated { known, unknown: Vec::new() }.threshold(), Threshold(f64::NEG_INFINITY));
    }

    #[test]
    fn a_person_left_out_is_refused_and_the_others_are_named() {
        // Three people at 0, 10 and 20, four photos each, 1 apart at most; two unlabelled photos.
        let values: Vec<[f32; 1]> = (0..14).map(|k| [10.0 * (k % 3) as f32 + 0.2 * (k / 3) as f32]).collect();
        let points: Vec<&[f32]> = values.iter().map(|value| &value[..]).collect();
        let labels: Vec<Option<usize>> = (0..14).map(|k| (k < 12).then_some(k % 3)).collect();
        let propagator = Propagator { kernel: Rbf { gamma: 0.5 } };
        let methods: [(&dyn Closed, _); 2] = [(&Neighbour, 18..=18), (&propagator, 12..=17)];
        for (method, n_refused) in methods {
            let validated = cross_validate(method, &points, &labels, 3);
            // Three strangers of four photos, three familiar people of two, and each time two of each of two
            // others.
            assert_eq!((validated.unknown.len(), validated.known.len()), (18, 24));
            let Threshold(threshold) = validated.threshold();
            assert!(validated.known.iter().all(|(score, is_right)| *is_right && *score >= threshold));
            let refused = validated.unknown.iter().filter(|score| **score < threshold).count();
            // All twelve photos of strangers are refused by both. Somebody familiar, like nobody else, takes
            // the whole of some label along the graph, however weakly tied to it: label propagation cannot
            // refuse them all.
            assert!(n_refused.contains(&refused), "{refused}");
        }
    }
}

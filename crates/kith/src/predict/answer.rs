//! Answers: what samples of the posterior say of a face, averaged (MODEL.md §6), with intervals over the
//! samples.
//!
//! Whoever is asked, the draws of a fit, those of a library or chains that take frames in, every sample gives
//! each seat of a face a probability, and one [`Tally`] makes an [`Answer`] of them.

use crate::chain::diagnostics::weighted_highest_density_interval;
use crate::ids::{FaceId, LabelId};
use crate::state::{Name, Seat};

/// What is believed of one face. `acquainted + familiar + stranger = 1`, and so do all names together.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Someone seen before whose name is known.
    pub acquainted: f64,
    /// Someone seen before whose name is not known.
    pub familiar: f64,
    /// Someone never seen.
    pub stranger: f64,
    /// Every known name, the most probable first.
    pub names: Vec<NameShare>,
    /// The probability of a name that nobody has given.
    pub unknown_name: f64,
    /// The most probable person among those seen.
    pub identity: Identity,
    /// The context of the frame: label and probability, the most probable first; empty where it was not in
    /// question.
    pub context: Vec<(String, f64)>,
}

/// The probability of a name (17).
#[derive(Clone, Debug, PartialEq)]
pub struct NameShare {
    /// Which name.
    pub label: LabelId,
    /// Its probability, averaged over samples.
    pub p: f64,
    /// 95 % highest-density interval over samples, widened to hold `p`.
    pub hdi: [f64; 2],
}

/// A person among those seen, known by faces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identity {
    /// The probability that the face has the identity of the first example face.
    pub p: f64,
    /// The faces most likely to be the same person, the most likely first.
    pub faces: Vec<FaceId>,
}

/// An answer, and what it is made of.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The answer.
    pub answer: Answer,
    /// Per draw the seats that matter, by the numbers that the draw's identities have, a new one last.
    pub seats: Vec<Vec<Seat>>,
}

/// What samples say of one face, as they are counted.
#[derive(Clone, Debug)]
pub struct Tally<'w> {
    weights: &'w [f64],
    acquainted: f64,
    familiar: f64,
    stranger: f64,
    unknown_name: f64,
    /// By name, then sample.
    of_name: Vec<Vec<f64>>,
    /// By sample, the probability of identities seen of whose names nothing was said.
    unsaid: Vec<f64>,
}

impl<'w> Tally<'w> {
    /// Of samples with these weights, which sum to one.
    pub fn new(weights: &'w [f64], n_names: usize) -> Self {
        Self {
            weights,
            acquainted: 0.0,
            familiar: 0.0,
            stranger: 0.0,
            unknown_name: 0.0,
            of_name: vec![vec![0.0; weights.len()]; n_names],
            unsaid: vec![0.0; weights.len()],
        }
    }

    /// A sample gives one of its identities, which has this name, this probability.
    fn add_called(&mut self, sample: usize, name: Name, p: f64) {
        match name {
            Name::Known(label) => {
                self.acquainted += self.weights[sample] * p;
                self.of_name[label.index()][sample] += p;
            }
            Name::Unknown => self.add_unnamed(self.weights[sample] * p),
        }
    }

    /// A sample gives one of its identities this probability; its name is one of Y, then unknown, with these,
    /// or where nothing was said of it with those that [`Tally::add_unsaid`] is told.
    pub(super) fn add(&mut self, sample: usize, names: Option<&[f64]>, p: f64) {
        let Some(names) = names else {
            self.unsaid[sample] += p;
            return;
        };
        let (unknown, known) = names.split_last().expect("unknown is always there");
        let weighted = self.weights[sample] * p;
        self.acquainted += weighted * known.iter().sum::<f64>();
        self.add_unnamed(weighted * unknown);
        self.of_name.iter_mut().zip(known).for_each(|(values, share)| values[sample] += share * p);
    }

    /// The identities of a sample of whose names nothing was said have these: H.
    pub(super) fn add_unsaid(&mut self, sample: usize, names: &[f64]) {
        let p = std::mem::take(&mut self.unsaid[sample]);
        self.add(sample, Some(names), p);
    }

    /// Identities without a known name have this probability more, over all samples.
    pub(super) fn add_unnamed(&mut self, p: f64) {
        self.familiar += p;
        self.unknown_name += p;
    }

    /// A sample gives an identity never seen this probability; its name is one of Y, then unknown, with
    /// these.
    pub(super) fn add_new(&mut self, sample: usize, p: f64, names: &[f64]) {
        let weighted = self.weights[sample] * p;
        self.stranger += weighted;
        let (unknown, known) = names.split_last().expect("unknown is always there");
        self.unknown_name += weighted * unknown;
        self.of_name.iter_mut().zip(known).for_each(|(values, share)| values[sample] += share * p);
    }

    /// A sample weighs the seats of a face of the data, whose names are those that the sample has drawn.
    pub fn count(&mut self, sample: usize, seats: &[Seat], names_of_new: &[f64], is_named: bool) {
        for seat in seats {
            match (seat.identity, seat.name) {
                (Some(_), name) => self.add_called(sample, name, seat.p),
                (None, _) => self.add_new_of_data(sample, seat.p, names_of_new, is_named),
            }
        }
    }

    /// As [`Tally::add_new`], of a face of the data. Somebody new whom the face itself was named for is no
    /// stranger.
    pub(super) fn add_new_of_data(&mut self, sample: usize, p: f64, names: &[f64], is_named: bool) {
        self.add_new(sample, p, names);
        if is_named {
            self.stranger -= self.weights[sample] * p;
            self.acquainted += self.weights[sample] * p;
        }
    }

    /// The answer; who of those seen, and where, is not in it yet.
    pub fn answer(self) -> Answer {
        let kinds = [self.acquainted, self.familiar, self.stranger];
        let total: f64 = kinds.iter().sum();
        // Where nothing explains a face, not even somebody never seen, nobody who was seen does.
        let is_sound = total.is_finite() && total > 0.0;
        let [acquainted, familiar, stranger] =
            if is_sound { kinds.map(|p| share(p / total)) } else { [0.0, 0.0, 1.0] };
        let name = |(label, values): (usize, Vec<f64>)| {
            let p = share(values.iter().zip(self.weights).map(|(value, weight)| value * weight).sum());
            NameShare { label: LabelId::new(label), p, hdi: interval(&values, self.weights, p) }
        };
        let mut names: Vec<NameShare> = self.of_name.into_iter().enumerate().map(name).collect();
        names.sort_by(|a, b| b.p.total_cmp(&a.p).then(a.label.cmp(&b.label)));
        let unknown_name = if is_sound { share(self.unknown_name) } else { 1.0 };
        let (identity, context) = (Identity::default(), Vec::new());
        Answer { acquainted, familiar, stranger, names, unknown_name, identity, context }
    }
}

/// A probability, whatever rounding has done to it.
pub(super) fn share(p: f64) -> f64 {
    if p.is_nan() { 0.0 } else { p.clamp(0.0, 1.0) }
}

/// The 95 % highest-density interval over samples, widened to hold their mean: a few samples that are far off
/// move the mean, but are none of the interval's business, and an interval beside its own answer helps
/// nobody.
fn interval(values: &[f64], weights: &[f64], mean: f64) -> [f64; 2] {
    let [low, high] = weighted_highest_density_interval(values, weights, 0.95);
    [share(low.min(mean)), share(high.max(mean))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_holds_its_mean_and_nothing_is_above_one() {
        let weights = [1.0 / 50.0; 50];
        let mut tally = Tally::new(&weights, 2);
        for sample in 0..50 {
            // Two draws of fifty call the person by another name.
            tally.add_called(sample, Name::Known(LabelId(u32::from(sample < 2))), 1.0 + 1e-14);
        }
        let answer = tally.answer();
        assert_eq!((answer.acquainted, answer.stranger, answer.unknown_name), (1.0, 0.0, 0.0));
        let [first, second] = &answer.names[..] else { panic!("{answer:?}") };
        assert!((first.p - 0.96).abs() < 1e-12 && first.hdi == [first.p, 1.0], "{first:?}");
        assert!((second.p - 0.04).abs() < 1e-12 && second.hdi == [0.0, second.p], "{second:?}");
    }

    #[test]
    fn a_face_that_nothing_explains_is_nobody_who_was_seen() {
        let mut tally = Tally::new(&[1.0], 1);
        tally.add(0, Some(&[0.5, 0.5]), f64::NAN);
        tally.add_new(0, f64::NAN, &[0.5, 0.5]);
        let answer = tally.answer();
        assert_eq!((answer.acquainted, answer.familiar, answer.stranger), (0.0, 0.0, 1.0));
        assert_eq!((answer.names[0].p, answer.unknown_name), (0.0, 1.0));
        assert!(answer.names[0].hdi.iter().all(|bound| bound.is_finite()));
    }
}

//! Envelopes: whatever group some faces make up, a lower bound of the quadratic form of another face's
//! residual in it.
//!
//! Some of the faces, each of a scale up to its largest, scatter around their own mean no more than all of
//! them do around any point: `S <= S_all`, and so `e^T (P I + S)^-1 e >= e^T (P I + S_all)^-1 e = |G e|^2`.
//! The triangle G is kept in 16 bits per number, and what rounding may have added is taken off.

use super::scatter::Scatter;
use super::{Centred, FaceKind, FaceModel};

/// The envelope of the groups of some faces.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Envelope {
    /// Per row of G, what one step of its numbers is.
    steps: Vec<f32>,
    /// The numbers, row after row, each as long as it has entries.
    numbers: Vec<i16>,
}

impl FaceModel {
    /// The envelope of faces, each at its largest scale; nothing where identities have no covariance of their
    /// own.
    pub(crate) fn envelope<'a>(&self, faces: impl Iterator<Item = &'a Centred>) -> Option<Envelope> {
        let FaceKind::Full(model) = &self.kind else { return None };
        let usual = faces.filter(|x| !x.leaves_no_trace()).map(|x| (x.portrait.clone(), x.lambda(model)));
        let (rows, weights): (Vec<_>, Vec<_>) = usual.unzip();
        let root = Scatter::root_of(model.n_axes(), model.scale(), rows, weights);
        Envelope::of(&root, model.n_axes())
    }
}

impl Envelope {
    /// `None` where there are no numbers.
    fn of(root: &[f64], n_axes: usize) -> Option<Self> {
        let (mut steps, mut numbers) = (Vec::new(), Vec::new());
        let mut rest = root;
        for r in 0..n_axes {
            let (row, next) = rest.split_at_checked(r + 1)?;
            let highest = row.iter().fold(0.0f64, |highest, value| highest.max(value.abs()));
            let step = (highest / f64::from(i16::MAX)) as f32;
            if !(step.is_finite() && step > 0.0) {
                return None;
            }
            let most = f64::from(i16::MAX);
            numbers
                .extend(row.iter().map(|value| (value / f64::from(step)).round().clamp(-most, most) as i16));
            steps.push(step);
            rest = next;
        }
        Some(Self { steps, numbers })
    }

    /// A lower bound of the quadratic form of a residual.
    pub(crate) fn at_least(&self, residual: &[f64]) -> f64 {
        let (mut form, mut slack, mut length) = (0.0, 0.0, 0.0);
        let mut rest = &self.numbers[..];
        for (r, (&step, e)) in self.steps.iter().zip(residual).enumerate() {
            let (row, next) = rest.split_at(r + 1);
            let image: f64 = row.iter().zip(residual).map(|(&number, e)| f64::from(number) * e).sum();
            length += e.abs();
            form += (f64::from(step) * image).powi(2);
            // A number is at most half a step off, and the highest of a row, which a step was rounded for, no
            // more.
            slack += (0.51 * f64::from(step) * length).powi(2);
            rest = next;
        }
        (form.sqrt() - slack.sqrt()).max(0.0).powi(2) * (1.0 - 1e-9)
    }

    /// As it is kept.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let steps = self.steps.iter().flat_map(|step| step.to_le_bytes());
        steps.chain(self.numbers.iter().flat_map(|number| number.to_le_bytes())).collect()
    }

    /// As it was kept; `None` for bytes that are nothing of the kind.
    pub(crate) fn from_bytes(bytes: &[u8], n_axes: usize) -> Option<Self> {
        let (steps, numbers) = bytes.split_at_checked(4 * n_axes)?;
        let step = |chunk: &[u8; 4]| f32::from_le_bytes(*chunk);
        let steps: Vec<f32> = steps.as_chunks().0.iter().map(step).collect();
        let numbers: Vec<i16> =
            numbers.as_chunks().0.iter().map(|chunk| i16::from_le_bytes(*chunk)).collect();
        let is_whole =
            numbers.len() == n_axes * (n_axes + 1) / 2 && bytes.len() == 4 * n_axes + 2 * numbers.len();
        (is_whole && steps.iter().all(|step| step.is_finite())).then_some(Self { steps, numbers })
    }
}

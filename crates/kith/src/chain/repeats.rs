//! Whether anybody was seen twice: the people that a sampler found, against everybody apart.
//!
//! Faces of as many people are draws of one Gaussian, and among many draws the nearest are near. A prior that
//! takes the nearest for another photo of the same person makes people of them; as a mixture those are no
//! likelier than the one Gaussian, and that is what tells.

use crate::math::ln_gamma;
use crate::model::face::{Centred, FaceKind, ln_gaussian};
use crate::state::State;
use crate::target::Target;

/// How much the prior probability of the seats counts. Seats in doubt are one choice of many that would do, so
/// that the joint probability of one draw falls short of the evidence, by the entropy of the seats. Half of
/// the prior's cost stands for it (docs/NOTEBOOK.md, "Crowds of many shapes": between what crowds of people
/// seen once have and what others have).
const SEATS: f64 = 0.5;
/// The largest concentration that is tried, as a multiple of the number of faces: everybody is apart.
const MOST: f64 = 1e3;

/// What the people of a state are worth more than everybody apart, in nats per face.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worth {
    /// Of what faces say.
    pub(super) faces: f64,
    /// Of that and the seats.
    both: f64,
    /// How many photos each of these people has, on average.
    pub(super) photos: f64,
}

impl Worth {
    /// Whether the people say more of their faces than everybody apart would.
    pub(super) fn is_anybody_seen_twice(&self) -> bool {
        self.both > 0.0
    }

    /// Of isotropic people everybody apart is one Gaussian, so that a mixture does not win by an odd shape of
    /// the crowd; of people with covariances, whose density is none that sums to one, it is the same density
    /// for each face alone.
    pub(super) fn of(state: &State, target: &Target) -> Self {
        let (model, data) = target.parts();
        let identities = state.seating().identities();
        let ln_faces = identities.iter().map(|&one| model.face.ln_marginal(state.faces().group(one)));
        let sizes: Vec<f64> = identities.iter().map(|&one| f64::from(state.seating().n_of(one))).collect();
        let ln_apart = match &model.face.kind {
            FaceKind::Isotropic(_) => ln_gaussian(data.embeddings()),
            FaceKind::Full(_) => {
                let mut x = Centred::default();
                let mut alone = |face| {
                    state.look(face, target, &mut x);
                    let mut group = model.face.group();
                    model.face.observe(&mut group, &x);
                    model.face.ln_marginal(&group)
                };
                data.faces().map(&mut alone).sum()
            }
        };
        let n_faces = data.n_faces() as f64;
        let faces = (ln_faces.sum::<f64>() - ln_apart) / n_faces;
        Self { faces, both: faces + SEATS * ln_seats(&sizes) / n_faces, photos: n_faces / sizes.len() as f64 }
    }
}

/// ln probability of people of these sizes under a Dirichlet process of the likeliest concentration a:
/// a^I Gamma(a) / Gamma(a + N) prod Gamma(N_i).
fn ln_seats(sizes: &[f64]) -> f64 {
    let (n, people) = (sizes.iter().sum::<f64>(), sizes.len() as f64);
    // The derivative by ln a, I - sum a / (a + k), falls with a.
    let is_too_small = |a: f64| (0..n as usize).map(|k| a / (a + k as f64)).sum::<f64>() < people;
    let (mut low, mut high) = ((1.0 / MOST).ln(), (MOST * n).ln());
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        *(if is_too_small(middle.exp()) { &mut low } else { &mut high }) = middle;
    }
    let a = low.exp();
    let ln_sizes: f64 = sizes.iter().map(|&size| ln_gamma(size)).sum();
    people * low + ln_gamma(a) - ln_gamma(a + n) + ln_sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_have_the_probability_of_their_likeliest_concentration() {
        // Two of one person and one of another: a / ((1 + a) (2 + a)), at most where a = sqrt 2.
        let a = 2.0_f64.sqrt();
        assert!((ln_seats(&[2.0, 1.0]) - (a / ((1.0 + a) * (2.0 + a))).ln()).abs() < 1e-9);
        // Everybody apart, or everybody together, is certain of an extreme one.
        assert!(ln_seats(&[1.0; 20]).abs() < 0.02);
        assert!(ln_seats(&[20.0]).abs() < 0.02);
    }
}

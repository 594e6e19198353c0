//! Faces that are asked about together: who is on the other photos tells who is on this one (deviation D11).
//!
//! The photos of a week at home hold hardly anybody new, those of a wedding hardly anybody known. Both may be
//! asked about after the same training, whose next face would be new with probability alpha_c pi_0' / (N_c. +
//! alpha_c). So an occasion is a context of its own. Where training had no contexts, its faces are seated
//! together in that one (`guests.rs`).
//!
//! Where the photos have contexts that training knows, or are too many, only the occasion's share s of
//! strangers is learnt from them, with the prior that a context without faces gives it,
//!
//! `s ~ Beta(alpha_c pi_0', alpha_c (1 - pi_0'))`,
//!
//! With s integrated out, face n of an occasion of M is new with prior odds (alpha_c pi_0' + S) :
//! (alpha_c (1 - pi_0') + M - 1 - S), where S is how many of the others are: the seat weights of that
//! context. Per draw, S is taken at its expectation, which is worked out for all faces in turn until it
//! stands (the collapsed variational scheme of zeroth order; Asuncion et al. 2009). One face alone has prior
//! probability pi_0'. Those who have been seen keep their proportions: pi_0i, as in a context without faces;
//! N_ci + alpha_c pi_0i where contexts are told apart and so the photo's is one of them.

mod guests;
mod share;

use rayon::prelude::*;

use self::guests::Seated;
use super::answer::Answer;
use super::by_draw::ByDraw;
use super::new_frame::Marginals;
use super::posterior::{Pooled, Posterior};

use crate::model::Strangers;

/// A new photo: where it was taken, if that is known, and the faces on it.
#[derive(Clone, Debug)]
pub struct NewPhoto<'a> {
    /// The context, where it is known.
    pub context: Option<&'a str>,
    /// The faces.
    pub faces: Vec<&'a [f32]>,
}

/// New photos, and what they say of each other.
#[derive(Clone, Debug)]
pub struct Occasion<'a> {
    photos: &'a [NewPhoto<'a>],
    /// Per photo, the share of strangers among the others, one number per draw; none where it is as expected.
    shares: Vec<Option<Vec<f64>>>,
    /// Per photo, where its faces sit, where all are seated together.
    together: Option<Vec<Seated>>,
}

impl<'a> Occasion<'a> {
    pub(super) fn photo(&self, photo: usize) -> &NewPhoto<'a> {
        &self.photos[photo]
    }

    /// What every draw says of a photo's faces, where all are seated together.
    pub(super) fn seated(&self, photo: usize) -> Option<&[Marginals]> {
        Some(&self.together.as_ref()?[photo].marginals)
    }

    /// The share of strangers that a photo's others make probable, per draw; `None` where it is as expected.
    pub(super) fn shares_of(&self, photo: usize) -> Option<&[f64]> {
        self.shares[photo].as_deref()
    }
}

/// At most so many faces are seated together. Of more, about so many tell the share to a few per cent.
const MOST_FACES: usize = 2_000;

impl Posterior {
    /// Takes photos for one occasion, which `after_photo` is told of one by one.
    pub fn occasion<'a>(&self, photos: &'a [NewPhoto<'a>], after_photo: &(dyn Fn() + Sync)) -> Occasion<'a> {
        if self.model.identity.strangers == Strangers::Expected {
            return Occasion { photos, shares: vec![None; photos.len()], together: None };
        }
        let n_faces: usize = photos.iter().map(|photo| photo.faces.len()).sum();
        if self.is_without_contexts() && n_faces <= MOST_FACES {
            let together = Some(guests::seat(self, photos, after_photo));
            return Occasion { photos, shares: vec![None; photos.len()], together };
        }
        let step = n_faces.div_ceil(MOST_FACES).max(1);
        // Per photo that is looked at, and face of it: ln of how much better a stranger explains it, per
        // draw.
        let looked: Vec<usize> = (0..photos.len()).step_by(step).collect();
        let of_photo = |&number: &usize| -> Vec<Vec<f64>> {
            let NewPhoto { context, faces } = &photos[number];
            let halves = vec![0.5; self.draws.len()];
            let ln_ratios = |face: &&[f32]| {
                let each = self.predict_each_with(*context, face, Some(&halves));
                each.iter().map(|by| by.ln_stranger - by.ln_seen).collect()
            };
            let found = faces.iter().map(ln_ratios).collect();
            after_photo();
            found
        };
        let ln_ratios: Vec<Vec<Vec<f64>>> = looked.par_iter().map(of_photo).collect();
        let sizes: Vec<usize> = ln_ratios.iter().map(Vec::len).collect();
        let by_draw: Vec<Vec<f64>> = (0..self.draws.len())
            .into_par_iter()
            .map(|draw| {
                let of_draw: Vec<f64> = ln_ratios.iter().flatten().map(|face| face[draw]).collect();
                share::shares(&of_draw, &sizes, share::prior(&self.draws[draw]))
            })
            .collect();
        // The last of each draw's shares is that of all, for photos that were not looked at.
        let of = |place: usize| by_draw.iter().map(|shares| shares[place]).collect::<Vec<f64>>();
        let mut all = vec![Some(of(looked.len())); photos.len()];
        looked.iter().enumerate().for_each(|(place, &number)| all[number] = Some(of(place)));
        Occasion { photos, shares: all, together: None }
    }

    /// Predicts all faces of one photo of an occasion jointly, as [`Posterior::predict`] does.
    pub fn predict_on(&self, occasion: &Occasion<'_>, photo: usize, weighted: bool) -> Vec<Answer> {
        let NewPhoto { context, faces } = &occasion.photos[photo];
        match occasion.seated(photo) {
            Some(marginals) => self.answer_all(marginals, faces.len(), *context, weighted),
            None => self.predict_with(*context, faces, weighted, occasion.shares_of(photo)),
        }
    }

    /// Asks every draw about the first face of a photo of an occasion, as [`Posterior::predict_each`] does.
    pub fn predict_each_on(&self, occasion: &Occasion<'_>, photo: usize) -> Vec<ByDraw> {
        if let Some(together) = &occasion.together {
            let Seated { marginals, ln_kinds } = &together[photo];
            let each = self.draws.iter().zip(marginals.iter().zip(ln_kinds));
            let by_draw = |(draw, (marginals, ln_kinds)): (&Pooled, (&Marginals, &Vec<[f64; 2]>))| {
                self.said_by(draw, marginals.identities[0].iter().copied(), ln_kinds[0])
            };
            return each.map(by_draw).collect();
        }
        let NewPhoto { context, faces } = &occasion.photos[photo];
        self.predict_each_with(*context, faces[0], occasion.shares[photo].as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::{Belief, Chains, Schedule};
    use crate::data::NewFace;
    use crate::model::{FaceModel, Isotropic, Model};

    /// Two people learnt from at home; there the same doubtful face among known ones and among strangers.
    #[test]
    fn a_doubtful_face_is_a_stranger_more_probably_among_strangers() {
        let prior = Isotropic { mean: vec![0.0; 2], kappa: 0.1, shape: 3.0, rate: 2.0 };
        let mut model = Model::new(FaceModel::isotropic(prior));
        model.identity.strangers = Strangers::Learnt;
        let mut belief =
            Belief::new(model, Chains { n: 4, seed: 3 }).unwrap().with_schedule(Schedule::ONLINE);
        for k in 0..12 {
            let face = [[6.0, 0.1 * k as f32], [-6.0, 0.1 * k as f32]][k % 2];
            belief.see(Some("home"), &[NewFace { embedding: &face, name: None }]).unwrap();
        }
        let draws = belief.draws();
        let posterior = Posterior::new(belief.target(), draws);
        let doubtful = [4.0f32, 2.5];
        let [near, far] = [[6.0f32, 0.4], [0.0f32, 14.0]];
        let ask = |others: [f32; 2]| {
            let others = [others; 20];
            let mut photos: Vec<NewPhoto<'_>> = others
                .iter()
                .map(|face| NewPhoto { context: Some("home"), faces: vec![face.as_slice()] })
                .collect();
            photos.push(NewPhoto { context: Some("home"), faces: vec![&doubtful] });
            let occasion = posterior.occasion(&photos, &|| ());
            let answer = posterior.predict_on(&occasion, 20, false).remove(0);
            let total = answer.acquainted + answer.familiar + answer.stranger;
            assert!((total - 1.0).abs() < 1e-9, "{total}");
            let each = posterior.predict_each_on(&occasion, 20);
            let mean = each.iter().map(|by| by.ln_stranger.exp()).sum::<f64>() / each.len() as f64;
            assert!((mean - answer.stranger).abs() < 1e-9);
            answer.stranger
        };
        let (among_known, among_strangers) = (ask(near), ask(far));
        assert!(among_known + 0.1 < among_strangers, "{among_known} {among_strangers}");
    }
}

//! What faces look like while there are only a few of them.
//!
//! The nearest neighbour of a face is another photo of the same person only when there are several of
//! everybody. Among the first faces it is somebody else, and a prior that takes the two for one person makes
//! one of the next ones, too. What a few faces do tell is the scale of the embeddings: networks are trained
//! to spread people around the origin, and two photos of one person differ by a third to 0.6 of what two
//! people do (measured on LFW under a strong and a weak network; 5 % of the pairs of two people are below
//! 0.78). So within-person variance begins at half of the total, about a mean that moves away from the origin
//! as faces arrive, and comes down to what the neighbours say.

use super::Isotropic;
use crate::data::Embeddings;

/// The origin counts for so many faces.
const ORIGIN: f64 = 16.0;
/// Within-person variance over all variance, to begin with, and at most.
const WITHIN: f64 = 0.5;

impl Isotropic {
    /// The prior of fewer than `many` faces, from which on neighbours are trusted.
    pub fn from_few(embeddings: &Embeddings, many: usize) -> Self {
        let of_many = Self::from_unlabelled(embeddings);
        let n = embeddings.len() as f64;
        let mean: Vec<f64> = of_many.mean.iter().map(|m| m * n / (n + ORIGIN)).collect();
        let distance =
            |row: &[f32]| row.iter().zip(&mean).map(|(&x, m)| (f64::from(x) - m).powi(2)).sum::<f64>();
        let total = embeddings.rows().map(distance).sum::<f64>() / (n * mean.len() as f64);
        let most = WITHIN * total;
        let least = most * (1.0 - n / many as f64).max(1e-3);
        let neighbours = of_many.rate / (of_many.shape - 1.0);
        if !most.is_normal() {
            return of_many;
        }
        let within = neighbours.clamp(least, most);
        Self { mean, kappa: within / (total - within), rate: within * (of_many.shape - 1.0), ..of_many }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::driver;

    /// Within-person variance over the rest of the total.
    fn kappa(values: Vec<f32>, dimension: usize) -> f64 {
        let embeddings = Embeddings::new(values, dimension).unwrap();
        Isotropic::from_few(&embeddings, 64).kappa
    }

    #[test]
    fn the_first_faces_are_not_taken_for_one_person_whoever_they_are() {
        let mut rng = driver(4);
        let mut person = || -> Vec<f32> { (0..8).map(|_| rng.normal() as f32).collect() };
        let (ann, ben) = (person(), person());
        let near = |x: &[f32]| x.iter().map(|x| x + 0.1).collect::<Vec<f32>>();
        for faces in
            [vec![&ann[..]], vec![&ann, &ben], vec![&ann, &near(&ann)], vec![&ann, &ben, &near(&ben)]]
        {
            let kappa = kappa(faces.concat(), 8);
            assert!((0.6..=1.0).contains(&kappa), "{} faces: {kappa}", faces.len());
        }
        // Equal faces, and faces at the origin, still give a prior.
        assert!(kappa([1.0, 2.0].repeat(3), 2) > 0.0);
        assert!(kappa(vec![0.0; 6], 2) > 0.0);
    }
}

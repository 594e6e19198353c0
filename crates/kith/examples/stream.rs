//! A device meets people: every frame is answered before it is learnt from, at the same cost however many
//! came before.

use kith::belief::{Belief, Chains};
use kith::data::NewFace;
use kith::model::{FaceModel, Isotropic, Model};
use kith::predict::NewPhoto;
use kith::random::driver;
use kith::simulate::{Drawn, Source};

/// Also run by the tests.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let looks = Isotropic { mean: vec![0.0; 8], kappa: 0.02, shape: 20.0, rate: 10.0 };
    let model = Model::new(FaceModel::isotropic(looks));
    let mut rng = driver(3);
    let mut people = Drawn::new(model.face.clone(), 5, &mut rng);
    let mut belief = Belief::new(model, Chains { n: 4, seed: 1 })?;
    let mut n_right = 0;
    for met in 0..60 {
        let person = met % 5;
        let face = people.photo(person, &mut rng);
        let answer = &belief.who(&[NewPhoto { context: Some("door"), faces: vec![&face] }])[0][0];
        let is_new = met < 5;
        n_right += usize::from((answer.stranger > 0.5) == is_new);
        belief.see(Some("door"), &[NewFace { embedding: &face, name: None }])?;
    }
    println!("right about {n_right} of 60 faces: somebody new, or somebody seen before");
    println!("{} people were met", belief.people().len());
    assert!(n_right >= 55);
    Ok(())
}

//! For researchers: chains from four starting points, whether they agree, and one partition that represents
//! their draws.

use kith::belief::{Belief, Chains, Until};
use kith::chain::{Start, Watch};
use kith::data::{Dataset, NewFace};
use kith::model::{FaceModel, Isotropic, Model};
use kith::predict::partition::adjusted_rand_index;
use kith::random::driver;
use kith::simulate::{Drawn, Source};
use kith::target::Target;

/// Also run by the tests.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let looks = Isotropic { mean: vec![0.0; 6], kappa: 0.02, shape: 20.0, rate: 10.0 };
    let model = Model::new(FaceModel::isotropic(looks));
    let mut rng = driver(5);
    let mut people = Drawn::new(model.face.clone(), 8, &mut rng);
    let (mut data, mut truth) = (Dataset::empty(6)?, Vec::new());
    for photo in 0..80 {
        let face = people.photo(photo % 8, &mut rng);
        data.push_frame(None, &[NewFace { embedding: &face, name: None }])?;
        truth.push((photo % 8) as u32);
    }
    let target = Target::new(model, data)?;
    let mut belief = Belief::start(target, &Start::ALL, Chains { n: 4, seed: 1 });
    let learnt = belief.learn(&Until::agreed(), &Watch::nobody());
    println!("{} sweeps, R-hat {:.3}", learnt.sweeps, learnt.r_hat.unwrap_or(f64::INFINITY));
    let people = belief.people();
    println!(
        "{} people, adjusted Rand index {:.3}",
        people.len(),
        adjusted_rand_index(&people.of_face, &truth)
    );
    assert!(learnt.is_agreed() && adjusted_rand_index(&people.of_face, &truth) > 0.9);
    Ok(())
}

//! Two people at home, one of them named once: who is on new photos?

use kith::belief::{Belief, Chains, Said, Until};
use kith::chain::Watch;
use kith::data::NewFace;
use kith::model::{FaceModel, Isotropic, Model};
use kith::predict::NewPhoto;

/// Also run by the tests.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let looks = Isotropic { mean: vec![0.0; 2], kappa: 0.01, shape: 3.0, rate: 0.5 };
    let mut belief = Belief::new(Model::new(FaceModel::isotropic(looks)), Chains { n: 4, seed: 1 })?;
    for k in 0..8 {
        let [a, b] = [[5.0, 0.1 * k as f32], [-5.0, 0.1 * k as f32]];
        belief.see(Some("home"), &[&a, &b].map(|embedding| NewFace { embedding, name: None }))?;
    }
    let first = belief.faces().next().ok_or("no faces")?;
    belief.hear(&[Said::Name(first, "Ann")])?;
    belief.learn(&Until::agreed(), &Watch::nobody());

    let photo = |face| NewPhoto { context: Some("home"), faces: vec![face] };
    let photos = [photo(&[5.0, 0.4]), photo(&[-5.0, 0.3]), photo(&[0.0, 12.0])];
    let answers = belief.who(&photos);
    for answer in answers.iter().flatten() {
        println!(
            "acquainted {:.2}, familiar {:.2}, stranger {:.2}",
            answer.acquainted, answer.familiar, answer.stranger
        );
    }
    assert!(answers[0][0].acquainted > 0.5 && answers[1][0].familiar > 0.5 && answers[2][0].stranger > 0.5);
    Ok(())
}

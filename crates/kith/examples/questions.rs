//! What to ask a person: the question whose answer names most faces right comes first.

use kith::belief::{About, Belief, Chains, Said, Until};
use kith::chain::Watch;
use kith::data::NewFace;
use kith::model::{FaceModel, Isotropic, Model};

/// Also run by the tests.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let looks = Isotropic { mean: vec![0.0; 2], kappa: 0.01, shape: 3.0, rate: 0.5 };
    let mut belief = Belief::new(Model::new(FaceModel::isotropic(looks)), Chains { n: 4, seed: 1 })?;
    // Twelve photos of the first person, four of the second, one of the third.
    for (place, n) in [(6.0_f32, 12), (-6.0, 4), (0.0, 1)] {
        for k in 0..n {
            let face = [place, 8.0 - place.abs() + 0.05 * k as f32];
            belief.see(None, &[NewFace { embedding: &face, name: None }])?;
        }
    }
    belief.learn(&Until::agreed(), &Watch::nobody());
    let mut asked = Vec::new();
    for name in ["Ann", "Ben"] {
        let Some(best) = belief.ask(1).pop() else { break };
        let About::Who(face) = best.about else { break };
        println!("who is face {}? {:.1} more faces will have their right name", face.index(), best.gain);
        asked.push(face.index());
        belief.hear(&[Said::Name(face, name)])?;
    }
    assert!(asked[0] < 12, "the largest group first");
    assert!((12..16).contains(&asked[1]), "then the second");
    Ok(())
}

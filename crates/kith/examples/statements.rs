//! Look-alikes, and what somebody says of them: "these are different people", "this is not Ann".

use kith::belief::{Belief, Chains, Said, Until};
use kith::chain::Watch;
use kith::data::NewFace;
use kith::model::{FaceModel, Isotropic, Model};

/// Also run by the tests.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let looks = Isotropic { mean: vec![0.0; 2], kappa: 0.05, shape: 3.0, rate: 1.0 };
    let mut belief = Belief::new(Model::new(FaceModel::isotropic(looks)), Chains { n: 4, seed: 1 })?;
    for k in 0..3 {
        let twins = [[3.0, 0.3 * k as f32], [4.6, 0.3 * k as f32]];
        for twin in &twins {
            belief.see(None, &[NewFace { embedding: twin, name: None }])?;
        }
    }
    belief.learn(&Until::sweeps(100), &Watch::nobody());
    println!("by their looks: {} people", belief.people().len());
    let faces: Vec<_> = belief.faces().collect();
    // Faces come by turns: 0, 2, 4 are one twin and 1, 3, 5 the other.
    belief.hear(&[
        Said::Name(faces[0], "Ann"),
        Said::Not(faces[1], "Ann"),
        Said::Different(faces[2], faces[3]),
    ])?;
    belief.hear(&[Said::Same(faces[0], faces[4]), Said::Same(faces[1], faces[5])])?;
    belief.learn(&Until::sweeps(100), &Watch::nobody());
    let groups = belief.people().of_face;
    println!("after five statements: {groups:?}");
    assert_eq!(groups[0], groups[4]);
    assert_ne!(groups[2], groups[3]);
    Ok(())
}

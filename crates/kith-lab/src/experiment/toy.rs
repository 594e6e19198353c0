//! Names in the plane: three named people, one of them once by a wrong name, and one whom nobody named.

use kith::belief::Chains;
use kith::chain::{Run, Watch};
use kith::data::{Dataset, NewFace};
use kith::model::{FaceModel, Isotropic, Model, ModelError};
use kith::predict::Posterior;
use kith::target::Target;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::fit::fit;
use super::{Plan, Sampler};
use crate::baselines::nearest;
use crate::figures::{Figure, Regions, Spot, regions};

/// The plane is -6 to 6 both ways; cells per side.
const EDGE: f64 = 6.0;
const SIDE: usize = 96;
const PEOPLE: [[f64; 2]; 4] = [[-3.0, 2.6], [2.8, 3.0], [-2.4, -2.8], [3.0, -2.4]];
const NAMES: [&str; 3] = ["Ann", "Ben", "Cleo"];
const PHOTOS: usize = 20;
/// So many photos of each of the first three are named.
const NAMED: usize = 4;

/// Faces, and the name that each method gives each cell.
#[derive(Serialize, Deserialize)]
pub struct Toy {
    faces: Vec<([f32; 2], Option<usize>)>,
    ours: Vec<Option<usize>>,
    neighbour: Vec<Option<usize>>,
}

/// Runs it; `None` when told to stop.
pub(super) fn toy(plan: Plan, watch: &Watch<'_>) -> Result<Option<Toy>, ModelError> {
    let mut rng = kith::random::driver(plan.seed);
    let mut faces: Vec<([f32; 2], Option<usize>)> = Vec::new();
    for (person, centre) in PEOPLE.iter().enumerate() {
        for photo in 0..PHOTOS {
            let at = centre.map(|x| (x + 0.6 * rng.normal()) as f32);
            faces.push((at, (person < NAMES.len() && photo < NAMED).then_some(person)));
        }
    }
    // One of Ann's photos was called Ben.
    faces[1].1 = Some(1);
    let mut data = Dataset::empty(2).expect("two is a dimension");
    for (face, name) in &faces {
        let face = NewFace { embedding: face, name: name.map(|name| NAMES[name]) };
        data.push_frame(None, &[face]).expect("faces are finite");
    }
    let looks = Isotropic { mean: vec![0.0; 2], kappa: 0.04, shape: 3.0, rate: 1.2 };
    let model = Model::new(FaceModel::isotropic(looks));
    let silent = Watch { stop: watch.stop, swept: &|| () };
    let run = Run { sweeps: 300, burn_in: 100, thin: 10 };
    let target = Target::new(model, data)?;
    let chains = Chains { n: plan.n_chains, seed: plan.seed };
    let Some((belief, draws)) = fit(target, Sampler::Ours, &run, chains, &silent) else { return Ok(None) };
    let posterior = Posterior::new(belief.target(), &draws);
    let named: Vec<(&[f32], usize)> =
        faces.iter().filter_map(|(face, name)| Some((&face[..], (*name)?))).collect();
    let shown: Vec<&[f32]> = named.iter().map(|known| known.0).collect();
    let number_of = |name: &str| NAMES.iter().position(|known| *known == name);
    let ours = |cell: usize| {
        let answer = &posterior.predict(None, &[&place(cell)], false)[0];
        let best = answer.names.first().filter(|best| best.p > answer.unknown_name)?;
        number_of(&posterior.names()[best.label.index()])
    };
    Ok(Some(Toy {
        ours: (0..SIDE * SIDE).into_par_iter().map(ours).collect(),
        neighbour: (0..SIDE * SIDE).map(|cell| Some(named[nearest(&place(cell), &shown).at].1)).collect(),
        faces,
    }))
}

/// The middle of a cell, rows from the top.
fn place(cell: usize) -> [f32; 2] {
    let step = 2.0 * EDGE / SIDE as f64;
    let (row, column) = (cell / SIDE, cell % SIDE);
    [(-EDGE + step * (column as f64 + 0.5)) as f32, (EDGE - step * (row as f64 + 0.5)) as f32]
}

impl Toy {
    /// Both methods side by side.
    pub(super) fn figure(&self) -> Figure {
        let panel = |title: &str, names: &[Option<usize>]| Regions {
            title: title.to_owned(),
            names: names.to_vec(),
            side: SIDE,
        };
        let spot = |&([x, y], name): &([f32; 2], Option<usize>)| Spot {
            at: [(f64::from(x) + EDGE) / (2.0 * EDGE), (EDGE - f64::from(y)) / (2.0 * EDGE)],
            name,
        };
        let spots: Vec<Spot> = self.faces.iter().map(spot).collect();
        Figure {
            name: "toy",
            caption: "Which name a face at each place would be given. Four people of 20 photos; of three of \
                      them four photos are named, one of these wrongly (a Ben among Ann's); the fourth was \
                      never named."
                .to_owned(),
            drawing: regions(
                &[panel("kith", &self.ours), panel("nearest neighbour", &self.neighbour)],
                &spots,
                &NAMES,
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn a_wrong_name_and_an_unnamed_person_do_not_mislead() {
        let plan = Plan { seed: 1, repeats: 1, n_chains: 2, sweeps: None };
        let stop = AtomicBool::new(false);
        let toy = toy(plan, &Watch { stop: &stop, swept: &|| () }).unwrap().unwrap();
        let cell_of = |[x, y]: [f64; 2]| {
            let cells = |from: f64| (from / (2.0 * EDGE) * SIDE as f64) as usize;
            cells(EDGE - y) * SIDE + cells(x + EDGE)
        };
        let ours = PEOPLE.map(|centre| toy.ours[cell_of(centre)]);
        assert_eq!(ours, [Some(0), Some(1), Some(2), None]);
        // Far from everybody nobody is named; the nearest neighbour always names.
        assert_eq!(toy.ours[0], None);
        assert!(toy.neighbour.iter().all(Option::is_some));
    }
}

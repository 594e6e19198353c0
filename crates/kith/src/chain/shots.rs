//! Which faces are of one shot (MODEL.md §4, "Shots"): frames of a burst, or of a film, and copies.
//!
//! Photos of a person that were taken within a moment differ by much less than others. Taken for independent
//! ones they make W as small as they differ, and every moment a person. So one of each stands for all, where
//! people are seen again beyond the moment: then moments are not people.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::data::{Dataset, Shots, repeats};
use crate::gibbs::Sweep;
use crate::ids::FaceId;
use crate::model::face::{DIRECTIONS, at_one_length};
use crate::model::{ContextMode, FaceModel, Full, Model};
use crate::random::{Rng, stream};
use crate::state::State;
use crate::target::Target;

use super::Start;

/// With fewer faces than this nothing is looked for.
const FEWEST: usize = 64;
/// People are seen again where at least this share of faces have one of the same person as their neighbour
/// (`data/repeats.rs`): of strangers, and of people found whole, at most 0.08, of moments of people 0.11 to
/// 0.55, but for a weak network with two photos of each (docs/NOTEBOOK.md, "Shots").
const SEEN_AGAIN: f64 = 0.1;
/// And what was found are moments where their faces are so much nearer to each other than one moment of
/// somebody to another, in squared distance: 0.51 and less, where pieces of people have 0.64 and more.
const NEARER: f64 = 0.57;
/// A burst may be one of a film's moments: so many levels are looked for.
const LEVELS: usize = 2;
/// From more faces than this, some are looked at first: half of them at random, the others the nearest to a
/// few of those.
const MOST_FACES: usize = 4_000;
const AROUND: usize = 32;
/// Sweeps that find moments.
const SWEEPS: usize = 3;
/// The random stream; the shots of a dataset are the same whatever the chains' seed.
const SEED: u64 = 0x7368_6f74;

/// The shots of a dataset; `None` where every face is one of its own. The face model of `model` is not looked
/// at.
pub fn find(model: &Model, data: &Dataset) -> Option<Shots> {
    if is_without_shots(model) {
        return None;
    }
    data.shots(|| found(model, data))
}

fn found(model: &Model, data: &Dataset) -> Option<Shots> {
    if data.n_faces() < FEWEST || data.dimension() < DIRECTIONS {
        return None;
    }
    let mut rng = stream(SEED, 0);
    let faces = at_one_length(data.embeddings());
    let near = Shots::allowed(&repeats::nearly_equal(&faces), data);
    let mut shots = match near.n_copies() > 0 && are_seen_again(&near, data, &mut rng) {
        true => near,
        false => Shots::none(data.n_faces()),
    };
    drop(faces);
    for _ in 0..LEVELS {
        let firsts = shots.firsts();
        let units = match shots.n_copies() {
            0 => Cow::Borrowed(data),
            _ => Cow::Owned(data.of_faces(&firsts).0),
        };
        let Some(more) = moments(model, &units, &mut rng) else { break };
        shots = shots.joined(&more);
    }
    (shots.n_copies() > 0).then_some(shots)
}

/// Whether copies would have to say something: of which context they are.
fn is_without_shots(model: &Model) -> bool {
    matches!(model.context.mode, ContextMode::Latent { .. } | ContextMode::Unbounded)
}

/// Whether those who speak for shots show people again.
fn are_seen_again(shots: &Shots, data: &Dataset, rng: &mut Rng) -> bool {
    let mut firsts: Vec<usize> = shots.firsts().into_iter().map(FaceId::index).collect();
    rng.shuffle(&mut firsts);
    firsts.truncate(MOST_FACES);
    let embeddings = at_one_length(data.embeddings());
    firsts.len() >= FEWEST && repeats::repeats(&embeddings, &firsts).share >= SEEN_AGAIN
}

/// The moments that a sampler finds where it takes the nearest faces for those of one person, if they are
/// moments of people who are seen again.
fn moments(model: &Model, data: &Dataset, rng: &mut Rng) -> Option<Shots> {
    if data.n_faces() < FEWEST {
        return None;
    }
    let some = some_faces(data, rng);
    let few = match &some {
        Some(faces) => Cow::Owned(data.of_faces(faces).0),
        None => Cow::Borrowed(data),
    };
    let prior = Full::from_faces(few.embeddings());
    let groups = groups(model, &prior, few.clone().into_owned(), rng);
    if !are_moments(&groups, &few) {
        return None;
    }
    let groups = if some.is_some() { self::groups(model, &prior, data.clone(), rng) } else { groups };
    let moments = Shots::allowed(&Shots::of_groups(groups.into_iter()), data);
    (moments.n_copies() > 0).then_some(moments)
}

/// The identity of each face after a few sweeps.
fn groups(model: &Model, prior: &Full, data: Dataset, rng: &mut Rng) -> Vec<usize> {
    let model = Model { face: FaceModel::full(prior.clone()), ..model.clone() };
    let target =
        Target::new(model, data).expect("a model that fits the data fits them with another face prior");
    let mut state: State = Start::Sequential.state(&target, rng);
    for _ in 0..SWEEPS {
        Sweep::thorough().run(&mut state, &target, rng);
    }
    let identity = |face| state.seating().identity_of(face).expect("every face is seated").index();
    target.data().faces().map(identity).collect()
}

/// Whether groups of faces are moments of people, rather than people, or pieces of them.
fn are_moments(groups: &[usize], data: &Dataset) -> bool {
    let shots = Shots::of_groups(groups.iter().copied());
    let firsts: Vec<usize> = shots.firsts().into_iter().map(FaceId::index).collect();
    if firsts.len() < FEWEST || firsts.len() == groups.len() {
        return false;
    }
    let embeddings = at_one_length(data.embeddings());
    let others = data.faces().filter(|&face| shots.is_copy(face));
    let far = |face: FaceId| {
        repeats::square(embeddings.row(face.index()), embeddings.row(shots.first_of(face).index()))
    };
    let mut within: Vec<f64> = others.map(far).collect();
    within.sort_by(f64::total_cmp);
    let again = repeats::repeats(&embeddings, &firsts);
    again.share >= SEEN_AGAIN && within[within.len() / 2] < NEARER * again.square
}

/// Some faces, ascending, where there are many: whoever is among them at random, and for a few of those
/// everybody who is near, so that their moments are whole.
fn some_faces(data: &Dataset, rng: &mut Rng) -> Option<Vec<FaceId>> {
    if data.n_faces() <= MOST_FACES {
        return None;
    }
    let mut faces: Vec<usize> = (0..data.n_faces()).collect();
    rng.shuffle(&mut faces);
    faces.truncate(MOST_FACES / 2);
    let seeds = &faces[..MOST_FACES / 2 / AROUND];
    let embeddings = at_one_length(data.embeddings());
    let around = repeats::neighbourhoods(&embeddings, seeds, AROUND - 1);
    let some: BTreeSet<usize> = faces.iter().copied().chain(around.into_iter().flatten()).collect();
    Some(some.into_iter().map(FaceId::new).collect())
}

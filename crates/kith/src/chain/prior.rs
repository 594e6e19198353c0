//! What people in general look like, learnt from the faces themselves where nobody is known yet.
//!
//! Begin with what sets a face apart from the one most like it ([`Full::from_faces`]). Then, until it
//! settles: seat the faces one by one, sweep a few times, take the identities for people, and work the prior
//! out anew from them ([`Full::from_supposed`]). Meanwhile everybody is judged by a covariance of their own
//! alone: a prior learnt from pieces of people makes more pieces. Where hardly anybody is found twice it stays
//! as it began. This is an empirical prior: data are used twice, once for some hundred numbers that all
//! identities share, and once for who is who.

use std::borrow::Cow;

use crate::data::{Dataset, Embeddings, NewFace};
use crate::gibbs::Sweep;
use crate::model::face::DIRECTIONS;
use crate::model::{FaceModel, Full, Isotropic, Model, ModelError};
use crate::random::{Rng, stream};
use crate::state::State;
use crate::target::Target;

use super::repeats::Worth;
use super::{Start, shots};

/// From more faces than this the prior is learnt from some of the frames.
const MOST_FACES: usize = 4_000;
/// Rounds, and sweeps in each. Where it settles at all, it does within three or four.
const ROUNDS: usize = 5;
const SWEEPS: usize = 3;
/// Rounds end at once where the people that are found first are worth less than this, in nats per face, more
/// than everybody apart: strangers are worth up to 0.15, three pairs among 64 faces 0.4. They come to nothing
/// where the people found last are worth less than the second number, or have fewer photos on average: W is
/// then mostly that of look-alikes (docs/NOTEBOOK.md, "Hardly anybody seen twice").
const FIRST_WORTH: f64 = 0.2;
const LAST_WORTH: f64 = 2.0;
const PHOTOS: f64 = 1.35;
/// The random stream; the prior of a dataset is the same whatever the chains' seed.
const SEED: u64 = 0x6b69_7468;

/// The prior over full covariances for these data. The face model of `model` is not looked at. People who are
/// known, of the same network, count beside those who are found. `after_sweep` is told the share of the work
/// that is done at most.
pub fn learn_full_prior(
    model: &Model,
    data: &Dataset,
    known: Option<(&Embeddings, &[Vec<usize>])>,
    after_sweep: &mut dyn FnMut(f64),
) -> Result<Full, ModelError> {
    let mut rng = stream(SEED, 0);
    let shots = shots::find(model, data);
    let firsts = shots.map(|shots| data.of_faces(&shots.firsts()).0);
    let data = firsts.as_ref().unwrap_or(data);
    let some = some_frames(data, &mut rng);
    // Of some faces of each person most may be missing.
    let least_photos = if some.is_some() { 1.0 } else { PHOTOS };
    let mut data = some.unwrap_or_else(|| data.clone());
    let mut model = model.clone();
    let begun = match known {
        Some((faces, people)) => Full::from_people(faces, people),
        None => Full::from_faces(data.embeddings()),
    };
    let has_directions = data.dimension() >= DIRECTIONS;
    let (mut full, mut is_learnt) = (begun.clone(), true);
    let (mut done, mut people) = (0, Vec::new());
    for round in 0..ROUNDS {
        model.face = FaceModel::full(full.of_own_covariances());
        let target = Target::new(model.clone(), data)?;
        let mut state = Start::Sequential.state(&target, &mut rng);
        for _ in 0..SWEEPS {
            Sweep::thorough().run(&mut state, &target, &mut rng);
            done += 1;
            after_sweep(done as f64 / (ROUNDS * SWEEPS) as f64);
        }
        let worth = Worth::of(&state, &target);
        data = target.into_data();
        is_learnt = worth.faces >= LAST_WORTH && worth.photos >= least_photos;
        if has_directions && round == 0 && worth.faces < FIRST_WORTH {
            break;
        }
        people = self::people(&state, &data);
        let (faces, all) = with_known(data.embeddings(), &people, known);
        let next = match worth.is_anybody_seen_twice() {
            true => Full::from_supposed(&faces, &all),
            false => Full::from_look_alikes(&faces, &all),
        };
        let is_settled = round > 0 && next.is_near(&full);
        full = next;
        if is_settled {
            break;
        }
    }
    let (faces, all) = with_known(data.embeddings(), &people, known);
    Ok(match has_directions {
        true if is_learnt => Full::from_found(&faces, &all),
        true => begun,
        false => full,
    })
}

/// People who were found, and those who are known, whose faces come after theirs.
fn with_known<'a>(
    faces: &'a Embeddings,
    people: &[Vec<usize>],
    known: Option<(&Embeddings, &[Vec<usize>])>,
) -> (Cow<'a, Embeddings>, Vec<Vec<usize>>) {
    let Some((others, of_others)) = known else { return (Cow::Borrowed(faces), people.to_vec()) };
    let values = [faces.values(), others.values()].concat();
    let all = Embeddings::new(values, faces.dimension()).expect("both are of this dimension, and finite");
    let moved = of_others.iter().map(|rows| rows.iter().map(|row| faces.len() + row).collect());
    (Cow::Owned(all), people.iter().cloned().chain(moved).collect())
}

/// The paper's prior for these data ([`Isotropic::from_unlabelled`]), if the people that are found with it say
/// more of the faces than one Gaussian does; otherwise nobody is taken to be seen twice
/// ([`Isotropic::of_strangers`]). For a few dimensions, where the nearest of many strangers are near.
pub fn learn_isotropic_prior(
    model: &Model,
    data: &Dataset,
    after_sweep: &mut dyn FnMut(f64),
) -> Result<Isotropic, ModelError> {
    let mut rng = stream(SEED, 0);
    let some = some_frames(data, &mut rng).unwrap_or_else(|| data.clone());
    let usual = data.embeddings().usual();
    let prior = Isotropic::from_unlabelled(&usual);
    let mut model = model.clone();
    model.face = FaceModel::isotropic(prior.clone());
    let target = Target::new(model, some)?;
    let mut state = Start::Sequential.state(&target, &mut rng);
    for sweep in 1..=SWEEPS {
        Sweep::default().run(&mut state, &target, &mut rng);
        after_sweep(sweep as f64 / SWEEPS as f64);
    }
    Ok(if Worth::of(&state, &target).is_anybody_seen_twice() {
        prior
    } else {
        Isotropic::of_strangers(&usual)
    })
}

/// The faces of each identity.
fn people(state: &State, data: &Dataset) -> Vec<Vec<usize>> {
    let mut people = vec![Vec::new(); state.seating().n_slots()];
    for face in data.faces() {
        let identity = state.seating().identity_of(face).expect("every face is seated");
        people[identity.index()].push(face.index());
    }
    people
}

/// Frames at random with about [`MOST_FACES`] faces, where there are more.
fn some_frames(data: &Dataset, rng: &mut Rng) -> Option<Dataset> {
    if data.n_faces() <= MOST_FACES {
        return None;
    }
    let mut frames: Vec<_> = data.frames().collect();
    rng.shuffle(&mut frames);
    let mut some = Dataset::empty(data.dimension()).expect("a dataset has a dimension");
    for frame in frames {
        if some.n_faces() >= MOST_FACES {
            break;
        }
        let context = data.given_context(frame).map(|context| data.contexts()[context.index()].as_str());
        let faces: Vec<NewFace<'_>> = data
            .faces_in(frame)
            .iter()
            .map(|&face| NewFace {
                embedding: data.embedding(face),
                name: data.given_name(face).map(|label| data.names()[label.index()].as_str()),
            })
            .collect();
        some.push_frame(context, &faces).expect("faces of a dataset are faces");
    }
    Some(some)
}

//! The week as kith lives it: every photo is answered first and learnt from then.

use kith::belief::people::partitions;
use kith::belief::{Belief, Chains, Schedule};
use kith::chain::Draw;
use kith::data::NewFace;
use kith::model::{FaceModel, Model};
use kith::predict;
use kith::predict::partition::adjusted_rand_index;
use kith::predict::representative::{Representative, representative};

use super::week::{Scene, Week};
use crate::progress::bar;

const N_CHAINS: usize = 8;
/// When the week is over, so many draws of every chain, and so many sweeps from one to the next.
const FINAL_DRAWS: usize = 12;
const FINAL_SWEEPS: u64 = 5;
/// Two faces of one photo are hardly ever the same person.
const REPEAT: f64 = 1e-3;

/// What kith said and came to believe.
pub struct Journal {
    /// One per face, in order.
    pub sightings: Vec<Sighting>,
    /// One per photo whose place kith was not told.
    pub places: Vec<PlaceGuess>,
    /// One per day: agreement with the truth of all faces so far (adjusted Rand index).
    pub agreement: Vec<f64>,
    /// The people as kith has them in the end.
    pub shown: Representative,
    /// The beliefs in the end.
    pub draws: Vec<Draw>,
    /// The names that `draws` speak of.
    pub names: Vec<String>,
    /// Of all beliefs in the end, how much they agree with the truth on average.
    pub agreement_of_draws: f64,
}

/// One face: what was true and what was answered before learning from it.
pub struct Sighting {
    /// Which photo.
    pub scene: usize,
    pub person: usize,
    /// Whether this person had never been seen.
    pub is_first: bool,
    /// Whether this person's own name had been said before.
    pub is_introduced: bool,
    /// Nothing can be asked of the very first photo.
    pub answer: Option<Answer>,
}

/// What was answered.
pub struct Answer {
    pub stranger: f64,
    /// Whom kith takes the face for, by whose photo it points to; `None` is somebody never seen.
    pub guess: Option<usize>,
    /// How sure it is of that.
    pub p: f64,
    /// The most probable name.
    pub name: Option<(String, f64)>,
}

/// Where a photo was taken.
pub struct PlaceGuess {
    pub scene: usize,
    pub guess: String,
    pub p: f64,
    pub is_right: bool,
}

impl Sighting {
    /// Whether the answer was right: a stranger taken for one, or the right person.
    pub fn is_right(&self) -> Option<bool> {
        let wanted = (!self.is_first).then_some(self.person);
        self.answer.as_ref().map(|answer| answer.guess == wanted)
    }
}

/// Lives through the week.
pub fn live(week: &Week, seed: u64) -> anyhow::Result<Journal> {
    let mut model = Model::new(FaceModel::isotropic(week.looks.clone()));
    model.repeat = REPEAT;
    let chains = Chains { n: N_CHAINS, seed };
    let mut belief = Belief::new(model, chains)?.with_schedule(Schedule::ONLINE);
    let mut truth: Vec<u32> = Vec::new();
    let mut introduced: Vec<usize> = Vec::new();
    let (mut sightings, mut places, mut agreement) = (Vec::new(), Vec::new(), Vec::new());
    let bar = bar(week.scenes.len() as u64, "photos");
    for (number, scene) in week.scenes.iter().enumerate() {
        while agreement.len() < scene.time.day() {
            agreement.push(agreement_now(&belief, &truth));
        }
        let answers = ask(&belief, week, scene);
        if let (false, Some(answers)) = (scene.is_place_told, &answers) {
            places.extend(place_guess(number, scene, week, &answers[0]));
        }
        for (place, face) in scene.faces.iter().enumerate() {
            let person = face.person as u32;
            sightings.push(Sighting {
                scene: number,
                person: face.person,
                is_first: !truth.contains(&person),
                is_introduced: introduced.contains(&face.person),
                answer: answers.as_ref().map(|answers| answer(&answers[place], &belief, &truth)),
            });
        }
        for face in &scene.faces {
            truth.push(face.person as u32);
            if face.said.is_some() && !week.is_wrong(face) {
                introduced.push(face.person);
            }
        }
        let context = scene.is_place_told.then(|| week.contexts[scene.context].as_str());
        let faces: Vec<NewFace<'_>> =
            scene.faces.iter().map(|face| NewFace { embedding: &face.embedding, name: face.said }).collect();
        belief.see(context, &faces)?;
        bar.inc(1);
    }
    while agreement.len() < week.n_days {
        agreement.push(agreement_now(&belief, &truth));
    }
    bar.finish_and_clear();
    let draws = final_draws(&belief);
    let shown = representative(&partitions(&draws));
    let of_draws = draws.iter().map(|draw| adjusted_rand_index(&draw.partition(), &truth));
    let agreement_of_draws = of_draws.sum::<f64>() / draws.len() as f64;
    let names = belief.target().data().names().to_vec();
    Ok(Journal { sightings, places, agreement, shown, draws, names, agreement_of_draws })
}

/// What kith says of a photo it has not learnt from; nothing before the first.
fn ask(belief: &Belief, week: &Week, scene: &Scene) -> Option<Vec<predict::Answer>> {
    if belief.target().data().n_faces() == 0 {
        return None;
    }
    let posterior = belief.posterior();
    let context = scene.is_place_told.then(|| week.contexts[scene.context].as_str());
    let faces: Vec<&[f32]> = scene.faces.iter().map(|face| &face.embedding[..]).collect();
    Some(posterior.predict(context, &faces, true))
}

fn answer(prediction: &predict::Answer, belief: &Belief, truth: &[u32]) -> Answer {
    let (stranger, known) = (prediction.stranger, &prediction.identity);
    let example = known.faces.first().filter(|_| known.p > stranger);
    let label = |name: &predict::NameShare| belief.target().data().names()[name.label.index()].clone();
    Answer {
        stranger,
        guess: example.map(|face| truth[face.index()] as usize),
        p: if example.is_some() { known.p } else { stranger },
        name: prediction.names.first().map(|name| (label(name), name.p)),
    }
}

fn place_guess(
    number: usize,
    scene: &Scene,
    week: &Week,
    prediction: &predict::Answer,
) -> Option<PlaceGuess> {
    let (guess, p) = prediction.context.first()?.clone();
    let is_right = guess == week.contexts[scene.context];
    Some(PlaceGuess { scene: number, guess, p, is_right })
}

fn agreement_now(belief: &Belief, truth: &[u32]) -> f64 {
    adjusted_rand_index(&belief.people().of_face, truth)
}

fn final_draws(belief: &Belief) -> Vec<Draw> {
    let mut belief = belief.clone();
    let mut draws = Vec::new();
    for _ in 0..FINAL_DRAWS {
        belief.sweep(FINAL_SWEEPS);
        draws.extend(belief.now());
    }
    draws
}

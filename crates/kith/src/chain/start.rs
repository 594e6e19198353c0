//! Starting points of chains: dispersed, so that chains that agree in the end mean something.

use crate::data::Dataset;
use crate::gibbs::assignments::Scan;
use crate::gibbs::{names, weights};
use crate::ids::{FaceId, IdentityId};
use crate::model::Model;
use crate::random::Rng;
use crate::state::State;

/// Where a chain starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Faces are seated one by one, in random order, each given those before it.
    Sequential,
    /// Everyone is the same person.
    Together,
    /// Everyone is a person of their own.
    Apart,
    /// Everyone is one of about sqrt(N) people, at random.
    Random,
}

impl Start {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Sequential, Self::Together, Self::Apart, Self::Random];

    /// A first state: faces seated, then names and weights drawn given the seats.
    pub fn state(self, model: &Model, data: &Dataset, rng: &mut Rng) -> State {
        let mut state = State::empty(model);
        state.extend(data, model, rng);
        let mut scan = Scan::new(model);
        let mut order: Vec<FaceId> = data.faces().collect();
        rng.shuffle(&mut order);
        let n_groups = match self {
            Self::Together => 1,
            Self::Random => (data.n_faces() as f64).sqrt().ceil() as usize,
            Self::Sequential | Self::Apart => 0,
        };
        let mut groups: Vec<Option<IdentityId>> = vec![None; n_groups];
        let mut n_when_drawn = 1;
        for (n_seated, face) in order.into_iter().enumerate() {
            if self == Self::Sequential && n_seated > n_when_drawn + n_when_drawn / 8 {
                // Every new identity takes its share of what is left for the next: without fresh weights the people
                // who come late would find no seat of their own.
                weights::step(&mut state, model, data, rng);
                n_when_drawn = n_seated;
            }
            let group = if n_groups == 0 { None } else { Some(rng.below(n_groups)) };
            match (self, group.and_then(|group| groups[group])) {
                (Self::Sequential, _) => scan.seat_new(face, &mut state, model, data, rng),
                (_, Some(identity)) => scan.seat_at(face, identity, &mut state, model, data),
                (_, None) => {
                    let identity = scan.seat_apart(face, &mut state, model, data, rng);
                    if let Some(group) = group {
                        groups[group] = Some(identity);
                    }
                }
            }
        }
        names::step(&mut state, model, rng);
        weights::step(&mut state, model, data, rng);
        state
    }
}

impl std::str::FromStr for Start {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "sequential" => Self::Sequential,
            "together" => Self::Together,
            "apart" => Self::Apart,
            "random" => Self::Random,
            other => return Err(format!("found \"{other}\", wanted sequential, together, apart or random")),
        })
    }
}

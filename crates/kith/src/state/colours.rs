//! A state taken apart by colours, and put together again (MODEL.md §10).

use super::{Name, State, Votes, Weights};
use crate::data::Dataset;
use crate::ids::{FaceId, IdentityId};
use crate::math::ln_sum_exp;
use crate::random::Rng;

/// The identities of one colour and their faces, with the colour's share of the unseen mass and of alpha_0: a
/// state like any other for the kernels of seats, which knows nothing of the other colours' faces.
pub(crate) struct Colour {
    pub state: State,
    pub faces: Vec<FaceId>,
}

/// What belongs to an identity alone.
struct Someone {
    ln_weight: f64,
    group: crate::model::face::Group,
    theta: Option<crate::model::face::Face>,
    name: Name,
    heard: Votes,
}

impl State {
    /// Gives every identity one of `n` colours by chance, divides the unseen mass among them, and takes the
    /// state apart; what is left behind is put together again by [`State::unite`].
    pub(crate) fn take_apart(&mut self, n: usize, data: &Dataset, rng: &mut Rng) -> Vec<Colour> {
        let seating = std::mem::take(&mut self.seating);
        let mut new_place = vec![(0, IdentityId(0)); seating.n_slots()];
        let mut people: Vec<Vec<Someone>> = (0..n).map(|_| Vec::new()).collect();
        for &identity in seating.identities() {
            let colour = rng.below(n);
            new_place[identity.index()] = (colour, IdentityId::new(people[colour].len()));
            people[colour].push(self.take_someone(identity));
        }
        let mut faces: Vec<Vec<FaceId>> = vec![Vec::new(); n];
        let mut identities_of = vec![vec![None; seating.size().0]; n];
        for face in (0..seating.size().0).map(FaceId::new) {
            if let Some(identity) = seating.identity_of(face) {
                let (colour, identity) = new_place[identity.index()];
                identities_of[colour][face.index()] = Some(identity);
                faces[colour].push(face);
            }
        }
        let mut ln_shares = vec![self.weights.global_concentration / n as f64; n];
        rng.ln_dirichlet(&mut ln_shares);
        let parts = people.into_iter().zip(identities_of).zip(faces).zip(ln_shares);
        let colour = |(((people, identities), faces), ln_share): (((Vec<Someone>, _), _), f64)| {
            let weights = Weights {
                ln_of: Vec::new(),
                ln_unseen: self.weights.ln_unseen + ln_share,
                global_concentration: self.weights.global_concentration / n as f64,
                ..self.weights.clone()
            };
            let seating = seating.counted(identities, people.len(), data);
            let mut state =
                Self { seating, weights, faces: self.faces.of_nobody(), names: self.names.of_nobody() };
            people.into_iter().for_each(|someone| state.put_someone(someone));
            Colour { state, faces }
        };
        let colours = parts.map(colour).collect();
        self.seating = seating;
        colours
    }

    /// Puts colours together to what they were taken from, wherever their faces sit now.
    pub(crate) fn unite(&mut self, colours: Vec<Colour>, data: &Dataset) {
        let mut identities = vec![None; self.seating.size().0];
        let mut n_people = 0;
        (self.faces, self.names) = (self.faces.of_nobody(), self.names.of_nobody());
        self.weights.ln_of.clear();
        let ln_unseen: Vec<f64> = colours.iter().map(|colour| colour.state.weights.ln_unseen).collect();
        self.weights.ln_unseen = ln_sum_exp(&ln_unseen);
        for Colour { mut state, faces } in colours {
            for face in faces {
                let own = state.seating.identity_of(face).expect("every face of a colour is seated");
                let place = n_people + state.seating.place_of(own);
                identities[face.index()] = Some(IdentityId::new(place));
                self.faces.set_scale(face, state.faces.scale(face));
            }
            for identity in state.seating.identities().to_vec() {
                let someone = state.take_someone(identity);
                self.put_someone(someone);
                n_people += 1;
            }
        }
        self.seating = self.seating.counted(identities, n_people, data);
    }

    fn take_someone(&mut self, identity: IdentityId) -> Someone {
        let (group, theta) = self.faces.take(identity);
        let (name, heard) = self.names.take(identity);
        Someone { ln_weight: self.weights.ln_of(identity), group, theta, name, heard }
    }

    fn put_someone(&mut self, someone: Someone) {
        let Someone { ln_weight, group, theta, name, heard } = someone;
        self.weights.ln_of.push(ln_weight);
        self.faces.push(group, theta);
        self.names.push(name, heard);
    }
}

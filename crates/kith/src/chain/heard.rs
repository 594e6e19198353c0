//! A draw takes in what was said where that moves nobody: names are redrawn, seats stay.

use std::collections::{BTreeSet, HashMap};

use super::resume::recall_name_weights;
use super::{Draw, Memory};
use crate::gibbs;
use crate::ids::{FaceId, IdentityId, LabelId};
use crate::model::ContextMode;
use crate::model::face::{COPY, ODD};
use crate::random::{self, Rng};
use crate::state::{Name, Names, Votes};
use crate::target::Target;

/// A draw that is to take in what was said.
#[derive(Clone, Debug)]
pub enum Remembered {
    /// One of these very faces, frames and identities. H is apart: it is `None` of names that were given
    /// since.
    Whole(Box<Draw>, Vec<Option<f64>>),
    /// One of which some may have come or gone.
    Part(Box<Memory>),
}

impl Remembered {
    /// A draw of the faces and frames that there are, with H apart; as a [`Memory`] where an identity has no
    /// faces, or there are contexts that it does not know.
    pub fn new(draw: Draw, name_weights: Vec<Option<f64>>, target: &Target) -> Self {
        let mut is_there = vec![false; draw.n_identities()];
        draw.identities.iter().for_each(|&identity| is_there[identity as usize] = true);
        let n_local = draw.globals.local_concentration.len();
        let knows_contexts =
            target.model().context.mode != ContextMode::Given || n_local >= target.data().contexts().len();
        if is_there.iter().all(|&is_there| is_there) && knows_contexts {
            return Self::Whole(Box::new(draw), name_weights);
        }
        let globals = draw.globals.with_names(name_weights);
        Self::Part(Box::new(Memory { globals, ..Memory::of(&draw) }))
    }

    /// The faces that have arrived since.
    pub fn newcomers(&self) -> impl Iterator<Item = FaceId> {
        let identities = match self {
            Self::Whole(..) => &[][..],
            Self::Part(memory) => &memory.identities,
        };
        let places = identities.iter().enumerate().filter(|(_, identity)| identity.is_none());
        places.map(|(face, _)| FaceId::new(face))
    }

    /// The draw after a step of names, as [`Memory::heard`], of the faces that there are.
    pub fn heard(self, said: &BTreeSet<FaceId>, seed: u64, target: &Target) -> Option<Draw> {
        match self {
            Self::Part(memory) => memory.completed(seed, target)?.heard(said, seed, target),
            Self::Whole(mut draw, name_weights) => {
                let middle = target.model().face.middle_scale();
                let scales = (0..).map(FaceId).zip(&mut draw.scales);
                scales
                    .filter(|(face, scale)| is_past(**scale, target.odd(*face).is_some()))
                    .for_each(|(_, scale)| *scale = middle);
                Some(draw.heard(&name_weights, said, seed, target))
            }
        }
    }
}

/// Whether a scale is one that a face no longer has: what was said of it was taken back, or something was said
/// of a copy.
fn is_past(scale: u8, is_odd: bool) -> bool {
    (scale == ODD && !is_odd) || (scale == COPY && is_odd)
}

impl Memory {
    /// The same of the faces that there are: one that has arrived since is alone, somebody of whom nothing
    /// else is known, and an identity whose faces have all left has given its weight back (D2). A frame has
    /// the context that was given, or one as likely as it has frames, as when it arrives. `None` where there
    /// may be a new context.
    pub fn completed(mut self, seed: u64, target: &Target) -> Option<Self> {
        let (model, data) = target.parts();
        let n_contexts = match model.context.mode {
            ContextMode::None => 1,
            ContextMode::Given => data.contexts().len().max(1),
            ContextMode::Latent { count } => count,
            ContextMode::Unbounded if self.contexts.iter().all(Option::is_some) => 0,
            ContextMode::Unbounded => return None,
        };
        let mut n_frames = vec![self.globals.context_concentration / n_contexts as f64; n_contexts];
        let n_in = |context: &u32| n_frames.get_mut(*context as usize).into_iter().for_each(|n| *n += 1.0);
        self.contexts.iter().flatten().for_each(n_in);
        let mut rng = random::stream(seed, u64::from(self.chain) << 32 | self.sweep);
        for (frame, context) in data.frames().zip(&mut self.contexts).filter(|(_, context)| context.is_none())
        {
            let given = data.given_context(frame).filter(|_| model.context.mode == ContextMode::Given);
            let mut ln_weights: Vec<f64> = n_frames.iter().map(|n| n.ln()).collect();
            let number =
                given.map_or_else(|| rng.categorical_ln(&mut ln_weights) as u32, |context| context.0);
            n_frames[number as usize] += 1.0;
            *context = Some(number);
        }
        let local = &mut self.globals.local_concentration;
        if model.context.mode == ContextMode::Given && local.len() < data.contexts().len() {
            let is_shared = model.identity.local_concentration.is_shared();
            local.resize(data.contexts().len(), local.first().copied().filter(|_| is_shared)?);
        }
        self.drop_empty();
        let has_scales = self.scales.iter().any(Option::is_some);
        for face in data.faces().map(FaceId::index) {
            if self.identities[face].is_none() {
                self.set_apart(face);
            }
            let is_odd = target.odd(FaceId::new(face)).is_some();
            let scale = self.scales.get_mut(face).filter(|_| has_scales);
            for scale in scale.into_iter().filter(|scale| scale.is_none_or(|scale| is_past(scale, is_odd))) {
                *scale = Some(model.face.middle_scale());
            }
        }
        Some(self)
    }

    fn drop_empty(&mut self) {
        let mut is_there = vec![false; self.names.len()];
        self.identities.iter().flatten().for_each(|&identity| is_there[identity as usize] = true);
        if is_there.iter().all(|&is_there| is_there) {
            return;
        }
        let left: Vec<usize> = (0..is_there.len()).filter(|&identity| is_there[identity]).collect();
        let mut number_of = vec![0; is_there.len()];
        (0..).zip(&left).for_each(|(number, &identity)| number_of[identity] = number);
        let gone = (0..is_there.len()).filter(|&identity| !is_there[identity]);
        self.globals.unseen += gone.map(|identity| self.globals.weights[identity]).sum::<f64>();
        if !self.people.is_empty() {
            // A person whose first look is gone is known by the next.
            let mut known_by: HashMap<u32, u32> = HashMap::new();
            for &identity in &left {
                known_by.entry(self.people[identity]).or_insert(number_of[identity]);
            }
            for &identity in left.iter().filter(|&&identity| self.people[identity] as usize == identity) {
                known_by.insert(identity as u32, number_of[identity]);
            }
            self.people = left.iter().map(|&identity| known_by[&self.people[identity]]).collect();
        }
        self.names = left.iter().map(|&identity| self.names[identity]).collect();
        self.globals.weights = left.iter().map(|&identity| self.globals.weights[identity]).collect();
        self.identities.iter_mut().flatten().for_each(|identity| *identity = number_of[*identity as usize]);
    }

    /// As [`Draw`] has it: a new identity has the share of pi_0' that it has on average.
    fn set_apart(&mut self, face: usize) {
        let new = self.names.len() as u32;
        let share = self.globals.unseen / (1.0 + self.globals.global_concentration);
        self.globals.unseen -= share;
        self.globals.weights.push(share);
        self.names.push(None);
        if !self.people.is_empty() {
            self.people.push(new);
        }
        self.identities[face] = Some(new);
    }

    /// The draw after a step of names given the seats (§C.4), from where identities of whose faces something
    /// was said take a name that was given them, as [`super::Chain::heed`] has it. `None` where it is not
    /// complete ([`Memory::completed`]). ln of the joint density is not worked out.
    pub fn heard(mut self, said: &BTreeSet<FaceId>, seed: u64, target: &Target) -> Option<Draw> {
        let name_weights = std::mem::take(&mut self.globals.name_weights);
        Some(self.into_draw()?.heard(&name_weights, said, seed, target))
    }
}

impl Draw {
    fn heard(
        mut self,
        name_weights: &[Option<f64>],
        said: &BTreeSet<FaceId>,
        seed: u64,
        target: &Target,
    ) -> Self {
        let data = target.data();
        let mut rng = random::stream(seed, u64::from(self.chain) << 32 | self.sweep);
        let mut names = self.names_now(name_weights, target, &mut rng);
        for &face in said {
            let Some(label) = data.label(face).filter(|label| label.is_word) else { continue };
            let identity = IdentityId(self.identities[face.index()]);
            let is_given =
                |name| matches!(name, Name::Known(name) if names.heard(identity).n_given(name) > 0);
            if !is_given(names.of(identity)) {
                names.set(identity, Name::Known(label.name));
            }
        }
        let identities: Vec<IdentityId> = (0..self.names.len()).map(IdentityId::new).collect();
        gibbs::names::step_of(&identities, &mut names, target.model(), &mut rng);
        let name = |&identity: &IdentityId| match names.of(identity) {
            Name::Known(label) => Some(label),
            Name::Unknown => None,
        };
        self.names = identities.iter().map(name).collect();
        self.globals.name_weights = names.all().map(|name| names.ln_weight(name).exp()).collect();
        (self.globals.name_concentration, self.globals.error_rate) =
            (names.concentration(), names.error_rate());
        self.globals.ln_joint = f64::NAN;
        self
    }

    /// Names as they are remembered, those that were given since, and what was said of all faces.
    fn names_now(&self, name_weights: &[Option<f64>], target: &Target, rng: &mut Rng) -> Names {
        let (model, data) = target.parts();
        let mut names = Names::new(model);
        names.concentration = self.globals.name_concentration;
        names.error_rate = self.globals.error_rate;
        names.extend(data, &model.name, rng);
        recall_name_weights(name_weights, &mut names);
        let mut heard = vec![Votes::default(); self.names.len()];
        for face in data.spoken_of() {
            heard[self.identities[face.index()] as usize].add_face(face, data);
        }
        let is_known = |label: &LabelId| label.index() < data.names().len();
        for (name, heard) in self.names.iter().zip(heard) {
            names.push(name.filter(is_known).map_or(Name::Unknown, Name::Known), heard);
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;
    use crate::random::driver;
    use crate::simulate::prior;

    #[test]
    fn names_are_those_of_the_chain_in_every_mode() {
        let mut n_named = 0;
        for case in cases::all() {
            let (state, target) = prior::draw(&case.target, &mut driver(31));
            let draw = Draw::of(&state, 0, 0, &target);
            let name_weights: Vec<Option<f64>> =
                draw.globals.name_weights.iter().copied().map(Some).collect();
            let names = draw.names_now(&name_weights, &target, &mut driver(32));
            for (face, &identity) in target.data().faces().zip(&draw.identities) {
                let [mine, theirs] = [IdentityId(identity), state.seating().identity_of(face).unwrap()];
                assert_eq!(names.of(mine), state.names().of(theirs), "{}", case.name);
                assert_eq!(names.heard(mine), state.names().heard(theirs), "{}", case.name);
                n_named += names.votes(mine).len();
            }
            for name in names.all() {
                assert_eq!(names.n_named(name), state.names().n_named(name), "{}", case.name);
                let (a, b) = (names.ln_weight(name), state.names().ln_weight(name));
                assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{}: {a} {b}", case.name);
            }
        }
        assert!(n_named > 50, "{n_named}");
    }

    #[test]
    fn a_word_gives_its_identity_a_name_and_leaves_everybody_where_they_are() {
        for case in cases::all() {
            let (state, mut target) = prior::draw(&case.target, &mut driver(33));
            let memory = Memory::of(&Draw::of(&state, 0, 0, &target));
            let face = FaceId(1);
            let label = target.say_name(face, "Somebody new");
            let mut memory = memory;
            let unknown = memory.globals.name_weights.len() - 1;
            memory.globals.name_weights.insert(unknown, None);
            let heard = |memory: &Memory| memory.clone().heard(&BTreeSet::from([face]), 7, &target).unwrap();
            let (draw, again) = (heard(&memory), heard(&memory));
            assert_eq!(
                (&draw.names, &draw.globals.name_weights),
                (&again.names, &again.globals.name_weights)
            );
            assert!(memory.identities.iter().copied().eq(draw.identities.iter().copied().map(Some)));
            let whole = memory.clone();
            let weights = whole.globals.name_weights.clone();
            let known = whole.globals.with_names(vec![Some(0.0); weights.len()]);
            let whole = Memory { globals: known, ..whole }.into_draw().unwrap();
            let whole = Remembered::new(whole, weights, &target);
            assert!(matches!(whole, Remembered::Whole(..)) && whole.newcomers().count() == 0);
            let whole = whole.heard(&BTreeSet::from([face]), 7, &target).unwrap();
            assert_eq!((&whole.names, &whole.globals.weights), (&draw.names, &draw.globals.weights));
            assert_eq!(whole.globals.name_weights, draw.globals.name_weights, "{}", case.name);
            let identity = draw.identities[face.index()];
            let others = state.names().heard(state.seating().identity_of(face).unwrap());
            if others.is_empty() {
                assert_eq!(draw.names[identity as usize], Some(label), "{}", case.name);
            }
            let total: f64 = draw.globals.name_weights.iter().sum();
            assert!((total - 1.0).abs() < 1e-9, "{}: {total}", case.name);
        }
    }
}

//! The posterior: pooled draws of all chains, immutable, with equal groups of faces kept once.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::bounds::UNKNOWN;
use super::kept::Closer;
use super::new_frame::NEGLIGIBLE;
use crate::chain::{Draw, Globals};
use crate::gibbs::names::ln_weights_given;
use crate::gibbs::scan::Screen;
use crate::ids::{ContextId, FaceId, LabelId};
use crate::math::{ln_sum_exp, shares};
use crate::model::face::{Centred, Group};
use crate::model::{ContextMode, FaceModel, Model};
use crate::state::ln_seat;
use crate::state::{Names, PerContext, Votes};
use crate::target::Target;

/// Draws pooled for prediction. An identity of a draw is known by the set of its faces: most sets occur in
/// many draws, and their statistics are kept, and compared with a new face, once.
#[derive(Clone, Debug)]
pub struct Posterior {
    pub(super) model: Model,
    pub(super) n_names: usize,
    names: Vec<String>,
    pub(super) contexts: Vec<String>,
    /// Their statistics, once they are needed, and where their faces are then; all are there where that is
    /// not said.
    pub(super) groups: Vec<OnceLock<Group>>,
    faces: Option<Arc<Target>>,
    /// Closer bounds of groups, where faces have to be read.
    pub(super) closer: Option<Closer>,
    /// The faces of each group, one list after the other, and where each begins.
    members: Vec<FaceId>,
    begins: Vec<usize>,
    /// The scale of each of them.
    scales: Vec<u8>,
    pub(super) draws: Vec<Pooled>,
    n_faces: usize,
    /// Where each group sits: (draw, identity), one list after the other, and where each begins.
    seats: Vec<(u32, u32)>,
    seats_begin: Vec<usize>,
    /// Columns of one number per seat, made when they are asked for: pi_0i, then N_ci + alpha_c pi_0i in each
    /// context of the draw.
    weights: Vec<OnceLock<Vec<f64>>>,
    most_identities: usize,
    /// ln of the most that a seat of the group weighs in any draw, whatever the context.
    pub(super) ln_highest_seat: Vec<f64>,
    /// Bounds on what groups say of a face.
    pub(super) screen: Screen,
}

/// What prediction needs of one draw.
#[derive(Clone, Debug)]
pub(super) struct Pooled {
    /// Per identity its person, and the identities of every person who has several.
    pub person: Vec<u32>,
    pub looks: HashMap<u32, Vec<u32>>,
    /// Per identity: its group, its name, ln pi_0i.
    pub group: Vec<u32>,
    pub name: Vec<Option<LabelId>>,
    pub ln_weight: Vec<f64>,
    /// ln pi_0'.
    pub ln_unseen: f64,
    pub globals: Globals,
    pub contexts: Vec<PooledContext>,
    /// The largest alpha_c.
    pub highest_concentration: f64,
    /// N_ci, per identity.
    pub counts: Vec<PerContext>,
    /// H and epsilon.
    pub names: Names,
    /// The people of whose faces' names anything was said.
    voted: HashMap<u32, Voted>,
}

/// What was said of the names of one identity's faces, and how probable it makes its names, where that was
/// asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Voted {
    pub votes: Votes,
    shares: OnceLock<Vec<f64>>,
}

/// One context of a draw: N_c., M_c, alpha_c.
#[derive(Clone, Debug)]
pub(super) struct PooledContext {
    pub n_in: u32,
    pub n_frames: u32,
    pub concentration: f64,
}

impl Posterior {
    /// Pools draws of a target.
    ///
    /// # Panics
    /// When there is no draw, or a draw is not one of this dataset.
    pub fn new(target: &Target, draws: &[Draw]) -> Self {
        let mut posterior = Self::outlined(target, draws, None);
        let made = (0..posterior.n_groups()).into_par_iter().map(|group| posterior.made(group, target));
        let made: Vec<Group> = made.collect();
        posterior.screen.set_columns(made.iter(), &target.model().face);
        posterior.groups = made.into_iter().map(OnceLock::from).collect();
        posterior
    }

    /// All but the statistics of groups and their bounds.
    pub(super) fn outlined(target: &Target, draws: &[Draw], faces: Option<Arc<Target>>) -> Self {
        assert!(!draws.is_empty(), "a posterior has at least one draw");
        let (model, data) = target.parts();
        let bits: Vec<u128> = (0..data.n_faces() as u64).map(scatter).collect();
        let spoken_of: Vec<FaceId> = data.spoken_of().collect();
        let of_draw = |draw: &Draw| (sets(draw, &bits), Pooled::of_draw(draw, &spoken_of, target));
        let parts: Vec<(Vec<(Set, u128)>, Pooled)> = draws.par_iter().map(of_draw).collect();
        let mut pool = Pool::default();
        let add = |(sets, pooled): (Vec<(Set, u128)>, Pooled)| Pooled { group: pool.add(&sets), ..pooled };
        let pooled: Vec<Pooled> = parts.into_iter().map(add).collect();
        let pool = pool.filled(draws, target);
        let n_groups = pool.begins.len() - 1;
        let (seats, seats_begin) = by_group(&pooled, n_groups);
        let n_columns = 1 + pooled.iter().map(|draw| draw.contexts.len()).max().unwrap_or(0);
        let mut ln_highest_seat = vec![f64::NEG_INFINITY; n_groups];
        for draw in &pooled {
            for (identity, &group) in draw.group.iter().enumerate() {
                let highest = &mut ln_highest_seat[group as usize];
                *highest = highest.max(draw.ln_highest_seat(identity));
            }
        }
        Self {
            n_names: data.names().len(),
            names: data.names().to_vec(),
            contexts: match model.context.mode {
                ContextMode::Given => data.contexts().to_vec(),
                _ => Vec::new(),
            },
            groups: Vec::new(),
            faces,
            closer: None,
            members: pool.members,
            begins: pool.begins,
            scales: pool.scales,
            draws: pooled,
            n_faces: data.n_faces(),
            model: model.clone(),
            seats,
            seats_begin,
            weights: vec![OnceLock::new(); n_columns],
            most_identities: draws.iter().map(Draw::n_identities).max().unwrap_or(0),
            ln_highest_seat,
            screen: Screen::new(&model.face),
        }
    }

    /// The statistics of a group.
    pub(super) fn group(&self, group: usize) -> &Group {
        self.groups[group].get_or_init(|| {
            self.made(
                group,
                self.faces.as_ref().expect("all groups are there, or their faces can be looked at"),
            )
        })
    }

    /// Whether statistics of groups are made when they are needed.
    pub(super) fn reads_faces(&self) -> bool {
        self.faces.is_some()
    }

    fn made(&self, group: usize, target: &Target) -> Group {
        let face = &self.model.face;
        let mut made = face.group();
        let mut x = Centred::default();
        for (&member, &scale) in self.members(group).iter().zip(self.scales_of(group)) {
            target.look(member, &mut x);
            x.set_scale(scale);
            face.observe(&mut made, &x);
        }
        made
    }

    /// ln of what one group may weigh and be left out, where the least that any draw has found is given.
    pub(super) fn floor(&self, ln_least: f64) -> f64 {
        ln_least + self.ln_neglected() - (self.n_groups().max(1) as f64).ln()
    }

    /// ln of the share of a draw's weight that may be left out of an answer. Where faces have to be read for
    /// it, those of groups that change no probability by more than a millionth are not: half of that is for
    /// groups that a closer bound rules out, half for all that come after the last that was looked at.
    pub(super) fn ln_neglected(&self) -> f64 {
        if self.reads_faces() { LN_HALF_A_MILLIONTH } else { -NEGLIGIBLE }
    }

    /// ln predictive of a face under a group.
    pub(super) fn ln_face(&self, group: usize, x: &Centred) -> f64 {
        self.model.face.ln_predictive(self.group(group), x)
    }

    /// The known names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many draws there are.
    pub fn n_draws(&self) -> usize {
        self.draws.len()
    }

    /// How many faces were learnt from.
    pub fn n_faces(&self) -> usize {
        self.n_faces
    }

    /// How many different groups of faces the draws have in all.
    pub fn n_groups(&self) -> usize {
        self.begins.len() - 1
    }

    /// The model behind the draws.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Where a group sits: (draw, identity).
    pub(super) fn seats_of(&self, group: usize) -> &[(u32, u32)] {
        &self.seats[self.seats_begin[group]..self.seats_begin[group + 1]]
    }

    /// Where a group sits, and what each seat weighs: pi_0i in column 0, N_ci + alpha_c pi_0i in column 1 +
    /// c, c being a context of the draw.
    pub(super) fn seats_and_weights(
        &self,
        group: usize,
        column: usize,
    ) -> impl Iterator<Item = (&(u32, u32), &f64)> {
        let weight =
            |&(draw, identity): &(u32, u32)| self.draws[draw as usize].weight_of(identity as usize, column);
        let weights = self.weights[column].get_or_init(|| self.seats.iter().map(weight).collect());
        let places = self.seats_begin[group]..self.seats_begin[group + 1];
        self.seats_of(group).iter().zip(&weights[places])
    }

    /// How many weights a seat has: one more than there are contexts.
    pub(super) fn n_columns(&self) -> usize {
        self.weights.len()
    }

    /// How many identities a draw has at most.
    pub(super) fn most_identities(&self) -> usize {
        self.most_identities
    }

    /// For each group an upper bound of ln of a face there with usual looks, and of the face and any of its
    /// seats.
    pub(super) fn ln_bounds(&self, x: &Centred) -> (Vec<f32>, Vec<f64>) {
        let mut usual = Vec::new();
        self.screen.upper_bounds_of(x, &mut usual);
        // Where a bound is not a number, nothing is known.
        let known = |bound: f32| if bound.is_nan() { UNKNOWN } else { f64::from(bound) };
        let bounds = usual.iter().map(|&bound| x.bound(bound));
        let of = bounds.zip(&self.ln_highest_seat).map(|(bound, seat)| seat + known(bound)).collect();
        (usual, of)
    }

    /// Whether anybody has a second look in any draw.
    pub(super) fn has_looks(&self) -> bool {
        self.draws.iter().any(|draw| !draw.looks.is_empty())
    }

    /// Whether one context holds everything.
    pub(super) fn is_without_contexts(&self) -> bool {
        match self.model.context.mode {
            ContextMode::None => true,
            ContextMode::Given => self.contexts.is_empty(),
            ContextMode::Latent { .. } | ContextMode::Unbounded => false,
        }
    }

    pub(super) fn members(&self, group: usize) -> &[FaceId] {
        &self.members[self.begins[group]..self.begins[group + 1]]
    }

    /// The scale of each of them.
    pub(super) fn scales_of(&self, group: usize) -> &[u8] {
        &self.scales[self.begins[group]..self.begins[group + 1]]
    }

    /// ln predictive of a face under the others of its group, of which there are some.
    pub(super) fn ln_without(&self, group: usize, face: FaceId, x: &Centred) -> f64 {
        let place = self.members(group).iter().position(|&other| other == face).expect("the face is there");
        let mut x = x.clone();
        x.set_scale(self.scales[self.begins[group] + place]);
        ln_without(self.group(group), &x, &self.model.face)
    }
}

impl Pooled {
    /// All but the groups.
    fn of_draw(draw: &Draw, spoken_of: &[FaceId], target: &Target) -> Self {
        let data = target.data();
        assert_eq!(draw.identities.len(), data.n_faces(), "a draw has one identity per face");
        let n_identities = draw.n_identities();
        let person: Vec<u32> = (0..n_identities as u32).map(|identity| draw.person(identity)).collect();
        let looks = looks(&person);
        let mut voted: HashMap<u32, Voted> = HashMap::new();
        for &face in spoken_of {
            let person = person[draw.identities[face.index()] as usize];
            voted.entry(person).or_default().votes.add_face(face, data);
        }
        let (contexts, counts) = counted(draw, target);
        Self {
            person,
            looks,
            group: Vec::new(),
            name: draw.names_of_people().into_owned(),
            ln_weight: draw.globals.weights.iter().map(|weight| weight.ln()).collect(),
            ln_unseen: draw.globals.unseen.ln(),
            globals: draw.globals.clone(),
            highest_concentration: draw.globals.local_concentration.iter().copied().fold(0.0, f64::max),
            contexts,
            counts,
            names: Names::recalled(
                &draw.globals.name_weights,
                draw.globals.error_rate,
                target.model().evidence.is,
            ),
            voted,
        }
    }

    /// The identities of the person whose look an identity is.
    pub fn looks_of(&self, identity: u32) -> &[u32] {
        let person = &self.person[identity as usize];
        self.looks.get(person).map_or(std::slice::from_ref(person), Vec::as_slice)
    }

    /// The groups of faces of that person.
    pub fn groups_of(&self, identity: u32) -> impl Iterator<Item = usize> {
        self.looks_of(identity).iter().map(|&look| self.group[look as usize] as usize)
    }

    /// What was said of the names of that person.
    pub fn voted_of(&self, identity: u32) -> Option<&Voted> {
        self.voted.get(&self.person[identity as usize])
    }

    /// How probable each name is an identity's, over Y and then unknown, its own name y* integrated out;
    /// `None` where nothing was said of it, and it is H.
    pub fn name_shares(&self, identity: u32, model: &Model) -> Option<&[f64]> {
        let voted = self.voted_of(identity)?;
        Some(voted.shares.get_or_init(|| shares(&ln_weights_given(&voted.votes, &self.names, model))))
    }

    /// pi_0i in column 0, N_ci + alpha_c pi_0i in column 1 + c.
    fn weight_of(&self, identity: usize, column: usize) -> f64 {
        let pi = self.ln_weight[identity].exp();
        match column.checked_sub(1) {
            None => pi,
            Some(context) => self.contexts.get(context).map_or(0.0, |of| {
                let n_at = self.counts[identity].at(ContextId::new(context));
                f64::from(n_at) + of.concentration * pi
            }),
        }
    }

    /// An upper bound of ln (N_ci + alpha_c pi_0i) in any context of the draw.
    fn ln_highest_seat(&self, identity: usize) -> f64 {
        let n: u32 = self.counts[identity].iter().map(|(_, n_at)| n_at).max().unwrap_or(0);
        let ln_share = self.highest_concentration.ln() + self.ln_weight[identity];
        ln_seat(f64::from(n), ln_share)
    }
}

/// The contexts of a draw, and how many faces of each identity are in which.
fn counted(draw: &Draw, target: &Target) -> (Vec<PooledContext>, Vec<PerContext>) {
    let data = target.data();
    let local = draw.globals.local_concentration.iter();
    let mut contexts: Vec<PooledContext> =
        local.map(|&concentration| PooledContext { n_in: 0, n_frames: 0, concentration }).collect();
    if let [only] = &mut contexts[..] {
        let mut n_of = vec![0; draw.n_identities()];
        for (_, &identity) in draw.identities.iter().enumerate().filter(|(face, _)| !draw.is_copy(*face)) {
            n_of[identity as usize] += 1;
        }
        (only.n_in, only.n_frames) = (n_of.iter().sum(), data.n_frames() as u32);
        return (contexts, n_of.into_iter().map(|n| PerContext::in_one(ContextId(0), n)).collect());
    }
    let mut counts = vec![PerContext::default(); draw.n_identities()];
    for (frame, &number) in data.frames().zip(&draw.contexts) {
        let context = &mut contexts[number as usize];
        context.n_frames += 1;
        for face in data.faces_in(frame).iter().filter(|face| !draw.is_copy(face.index())) {
            counts[draw.identities[face.index()] as usize].add(ContextId(number));
            context.n_in += 1;
        }
    }
    (contexts, counts)
}

/// The identities of every person who has several.
fn looks(person: &[u32]) -> HashMap<u32, Vec<u32>> {
    let mut looks: HashMap<u32, Vec<u32>> = HashMap::new();
    for (look, &person) in (0..).zip(person).filter(|(look, person)| look != *person) {
        looks.entry(person).or_insert_with(|| vec![person]).push(look);
    }
    looks
}

/// (draw, identity) of every group, one list after the other, and where each begins.
fn by_group(draws: &[Pooled], n_groups: usize) -> (Vec<(u32, u32)>, Vec<usize>) {
    let mut begins = vec![0; n_groups + 1];
    for &group in draws.iter().flat_map(|draw| &draw.group) {
        begins[group as usize + 1] += 1;
    }
    for group in 0..n_groups {
        begins[group + 1] += begins[group];
    }
    let mut next = begins.clone();
    let mut seats = vec![(0, 0); begins[n_groups]];
    for (number, draw) in (0..).zip(draws) {
        for (identity, &group) in (0..).zip(&draw.group) {
            seats[next[group as usize]] = (number, identity);
            next[group as usize] += 1;
        }
    }
    (seats, begins)
}

/// ln 5e-7.
const LN_HALF_A_MILLIONTH: f64 = -14.508_657_738_524_219;

/// A set of faces: a 128-bit sum over them, and how many.
type Set = (u128, u32);

/// As long as the groups have fewer faces than this in all, a set is kept once for each way its faces are
/// scaled. After that a set already known is taken as it was scaled last, which is a draw given that set all
/// the same.
const MOST_SCALED: usize = 20_000;

/// What the faces of each identity of a draw are known by: the set, and a sum over their scales. `bits` are
/// [`scatter`] of every face.
fn sets(draw: &Draw, bits: &[u128]) -> Vec<(Set, u128)> {
    let mut sets = vec![((0u128, 0u32), 0u128); draw.n_identities()];
    for (face, (&identity, &bits)) in draw.identities.iter().zip(bits).enumerate() {
        let scale = u128::from(draw.scales.get(face).copied().unwrap_or(0));
        let ((hash, n), scales) = &mut sets[identity as usize];
        (*hash, *n) = (hash.wrapping_add(bits), *n + 1);
        *scales = scales.wrapping_add(bits.wrapping_mul(2 * scale + 1));
    }
    sets
}

#[derive(Default)]
struct Pool {
    /// By the set of faces and a sum over their scales.
    index: HashMap<(Set, u128), u32>,
    /// By the set alone.
    latest: HashMap<Set, u32>,
    n_groups: u32,
    /// How many faces the groups have in all.
    n_kept: usize,
    /// Per draw the identities whose groups came with it, in the order of their numbers.
    new: Vec<Vec<u32>>,
    members: Vec<FaceId>,
    begins: Vec<usize>,
    scales: Vec<u8>,
}

impl Pool {
    /// The groups of a draw.
    fn add(&mut self, sets: &[(Set, u128)]) -> Vec<u32> {
        let mut new = Vec::new();
        let number = |(identity, &(set, scales)): (u32, &(Set, u128))| {
            let n_before = self.n_groups;
            let number = self.intern(set, scales);
            new.extend((self.n_groups > n_before).then_some(identity));
            number
        };
        let numbers = (0..).zip(sets).map(number).collect();
        self.new.push(new);
        numbers
    }

    /// The number of a set of faces with their scales.
    fn intern(&mut self, set: Set, scales: u128) -> u32 {
        if let Some(&known) = self.index.get(&(set, scales)) {
            self.latest.insert(set, known);
            return known;
        }
        if self.n_kept > MOST_SCALED
            && let Some(&known) = self.latest.get(&set)
        {
            return known;
        }
        self.n_kept += set.1 as usize;
        let number = self.n_groups;
        self.n_groups += 1;
        self.index.insert((set, scales), number);
        self.latest.insert(set, number);
        number
    }

    /// With the faces of all groups: those of most are looked for in one draw of several.
    fn filled(mut self, draws: &[Draw], target: &Target) -> Self {
        let lists = draws.par_iter().zip(&self.new).map(|(draw, new)| faces_of(draw, new));
        let lists: Vec<(Vec<FaceId>, Vec<usize>)> = lists.collect();
        let middle = target.model().face.middle_scale();
        self.begins.push(0);
        for (draw, (faces, ends)) in draws.iter().zip(lists) {
            self.begins.extend(ends.iter().map(|end| self.members.len() + end));
            self.scales
                .extend(faces.iter().map(|face| draw.scales.get(face.index()).copied().unwrap_or(middle)));
            self.members.extend(faces);
        }
        self
    }
}

/// The faces of some identities of a draw, one list after the other, and where each ends.
fn faces_of(draw: &Draw, identities: &[u32]) -> (Vec<FaceId>, Vec<usize>) {
    const NONE: u32 = u32::MAX;
    let mut place_of = vec![NONE; draw.n_identities()];
    (0..).zip(identities).for_each(|(place, &identity)| place_of[identity as usize] = place);
    let of_them = || {
        let places = draw.identities.iter().map(|&identity| place_of[identity as usize]);
        (0..).map(FaceId).zip(places).filter(|(_, place)| *place != NONE)
    };
    let mut ends = vec![0; identities.len() + 1];
    of_them().for_each(|(_, place)| ends[place as usize + 1] += 1);
    (0..identities.len()).for_each(|place| ends[place + 1] += ends[place]);
    let mut faces = vec![FaceId(0); ends[identities.len()]];
    // Where each begins becomes where it ends.
    for (face, place) in of_them() {
        faces[ends[place as usize]] = face;
        ends[place as usize] += 1;
    }
    ends.pop();
    (faces, ends)
}

/// ln predictive of a face of a group with several under the others.
pub(super) fn ln_without(group: &Group, x: &Centred, model: &FaceModel) -> f64 {
    match model.rejoining(group, x) {
        Some(terms) => ln_sum_exp(&terms),
        None => {
            let mut others = group.clone();
            model.forget(&mut others, x);
            model.ln_predictive(&others, x)
        }
    }
}

/// 128 well-mixed bits of a face's number (twice the finaliser of SplitMix64).
pub(super) fn scatter(face: u64) -> u128 {
    let mix = |mut z: u64| {
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let seed = face.wrapping_mul(2);
    let golden = 0x9e37_79b9_7f4a_7c15u64;
    let high = mix(golden.wrapping_mul(seed.wrapping_add(1)));
    let low = mix(golden.wrapping_mul(seed.wrapping_add(2)));
    u128::from(high) << 64 | u128::from(low)
}

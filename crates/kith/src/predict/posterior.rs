//! The posterior: pooled draws of all chains, immutable, with equal groups of faces kept once.

use std::collections::HashMap;
use std::sync::OnceLock;

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
    pub(super) groups: Vec<Group>,
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
    screen: Screen,
}

/// What prediction needs of one draw.
#[derive(Clone, Debug)]
pub(super) struct Pooled {
    /// Per identity its person, and the identities of every person who has several.
    pub person: Vec<u32>,
    looks: HashMap<u32, Vec<u32>>,
    /// Per identity: its group, its name, ln pi_0i.
    pub group: Vec<u32>,
    pub name: Vec<Option<LabelId>>,
    pub ln_weight: Vec<f64>,
    /// ln pi_0'.
    pub ln_unseen: f64,
    pub globals: Globals,
    pub contexts: Vec<PooledContext>,
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
        assert!(!draws.is_empty(), "a posterior has at least one draw");
        let (model, data) = target.parts();
        let mut pool = Pool {
            index: HashMap::new(),
            latest: HashMap::new(),
            groups: Vec::new(),
            members: Vec::new(),
            begins: vec![0],
            scales: Vec::new(),
            n_kept: 0,
        };
        let pooled: Vec<Pooled> = draws.iter().map(|draw| pool.add(draw, target)).collect();
        let mut screen = Screen::new(&model.face);
        screen.set_columns(pool.groups.iter(), &model.face);
        let (seats, seats_begin) = by_group(&pooled, pool.groups.len());
        let n_columns = 1 + pooled.iter().map(|draw| draw.contexts.len()).max().unwrap_or(0);
        let mut ln_highest_seat = vec![f64::NEG_INFINITY; pool.groups.len()];
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
            groups: pool.groups,
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
            screen,
        }
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
        self.groups.len()
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

    /// For each group an upper bound of ln of a face there and of any of its seats.
    pub(super) fn ln_bounds(&self, x: &Centred, out: &mut Vec<f64>) {
        let mut bounds = Vec::new();
        self.screen.upper_bounds_of(x, &mut bounds);
        out.clear();
        // Where a bound is not a number, nothing is known.
        let known = |bound: f32| if bound.is_nan() { f64::INFINITY } else { f64::from(bound) };
        let bounds = bounds.into_iter().map(|bound| x.bound(bound));
        out.extend(bounds.zip(&self.ln_highest_seat).map(|(bound, seat)| seat + known(bound)));
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

    /// ln predictive of a face under the others of its group, of which there are some.
    pub(super) fn ln_without(&self, group: usize, face: FaceId, x: &Centred) -> f64 {
        let place = self.members(group).iter().position(|&other| other == face).expect("the face is there");
        let mut x = x.clone();
        x.set_scale(self.scales[self.begins[group] + place]);
        ln_without(&self.groups[group], &x, &self.model.face)
    }
}

impl Pooled {
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

    /// The largest alpha_c.
    pub fn highest_concentration(&self) -> f64 {
        self.contexts.iter().map(|context| context.concentration).fold(0.0, f64::max)
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
        let ln_share = self.highest_concentration().ln() + self.ln_weight[identity];
        ln_seat(f64::from(n), ln_share)
    }
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

/// A set of faces: a 128-bit sum over them, and how many.
type Key = (u128, u32);

/// As long as the groups have fewer faces than this in all, a set is kept once for each way its faces are
/// scaled. After that a set already known is taken as it was scaled last, which is a draw given that set all
/// the same.
const MOST_SCALED: usize = 20_000;

struct Pool {
    /// By the set of faces and a sum over their scales.
    index: HashMap<(Key, u128), u32>,
    /// By the set alone.
    latest: HashMap<Key, u32>,
    /// How many faces the groups have in all.
    n_kept: usize,
    groups: Vec<Group>,
    members: Vec<FaceId>,
    begins: Vec<usize>,
    scales: Vec<u8>,
}

impl Pool {
    fn add(&mut self, draw: &Draw, target: &Target) -> Pooled {
        let data = target.data();
        assert_eq!(draw.identities.len(), data.n_faces(), "a draw has one identity per face");
        let n_identities = draw.n_identities();
        let mut faces_of = vec![Vec::new(); n_identities];
        for (face, &identity) in data.faces().zip(&draw.identities) {
            faces_of[identity as usize].push(face);
        }
        let group = faces_of.iter().map(|faces| self.intern(faces, draw, target)).collect();

        let person: Vec<u32> = (0..n_identities as u32).map(|identity| draw.person(identity)).collect();
        let looks = looks(&person);
        let mut voted: HashMap<u32, Voted> = HashMap::new();
        for (face, &identity) in data.faces().zip(&draw.identities) {
            if data.given_name(face).is_some() || !data.evidence().denials(face).is_empty() {
                voted.entry(person[identity as usize]).or_default().votes.add_face(face, data);
            }
        }
        let mut contexts: Vec<PooledContext> = draw
            .globals
            .local_concentration
            .iter()
            .map(|&concentration| PooledContext { n_in: 0, n_frames: 0, concentration })
            .collect();
        let mut counts = vec![PerContext::default(); n_identities];
        for (frame, &number) in data.frames().zip(&draw.contexts) {
            let context = &mut contexts[number as usize];
            context.n_frames += 1;
            for face in data.faces_in(frame) {
                counts[draw.identities[face.index()] as usize].add(ContextId(number));
                context.n_in += 1;
            }
        }
        Pooled {
            person,
            looks,
            group,
            name: draw.names_of_people().into_owned(),
            ln_weight: draw.globals.weights.iter().map(|weight| weight.ln()).collect(),
            ln_unseen: draw.globals.unseen.ln(),
            globals: draw.globals.clone(),
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

    /// The number of a set of faces with their scales.
    fn intern(&mut self, faces: &[FaceId], draw: &Draw, target: &Target) -> u32 {
        let model = target.model();
        let hash = faces.iter().fold(0u128, |sum, face| sum.wrapping_add(scatter(face.0)));
        let scale_of = |face: FaceId| draw.scales.get(face.index()).copied();
        let scales = faces.iter().fold(0u128, |sum, &face| {
            let scale = u128::from(scale_of(face).unwrap_or(0));
            sum.wrapping_add(scatter(face.0).wrapping_mul(2 * scale + 1))
        });
        let key = (hash, faces.len() as u32);
        if let Some(&known) = self.index.get(&(key, scales)) {
            self.latest.insert(key, known);
            return known;
        }
        if self.n_kept > MOST_SCALED
            && let Some(&known) = self.latest.get(&key)
        {
            return known;
        }
        self.n_kept += faces.len();
        let number = self.groups.len() as u32;
        let mut group = model.face.group();
        let mut x = Centred::default();
        for &face in faces {
            target.look(face, &mut x);
            if let Some(scale) = scale_of(face) {
                x.set_scale(scale);
            }
            model.face.observe(&mut group, &x);
        }
        self.groups.push(group);
        self.members.extend_from_slice(faces);
        let scale = |&face: &FaceId| scale_of(face).unwrap_or(model.face.middle_scale());
        self.scales.extend(faces.iter().map(scale));
        self.begins.push(self.members.len());
        self.index.insert((key, scales), number);
        self.latest.insert(key, number);
        number
    }
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
fn scatter(face: u32) -> u128 {
    let mix = |mut z: u64| {
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let seed = u64::from(face).wrapping_mul(2);
    let golden = 0x9e37_79b9_7f4a_7c15u64;
    let high = mix(golden.wrapping_mul(seed.wrapping_add(1)));
    let low = mix(golden.wrapping_mul(seed.wrapping_add(2)));
    u128::from(high) << 64 | u128::from(low)
}

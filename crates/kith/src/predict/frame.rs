//! The identities of all faces of a new frame, jointly, under one draw (the paper's (6), (7) and (18)).
//!
//! A configuration gives every face of the frame a seat. Its weight is the chance of its context, of its seats
//! (counts growing along the frame, weights of new identities integrated out), of the faces at those seats, and
//! the `repeat` factor. One face is summed over exactly; several are searched face by face, keeping every
//! configuration within [`NEGLIGIBLE`] of the best, and at most [`WIDEST`] of them.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use super::posterior::{Pooled, Posterior};
use super::shortlist::{self, Near, Table};
use crate::math::{ln_add_exp, ln_gamma, ln_sum_exp};
use crate::model::face::{Centred, Group};
use crate::model::{ContextMode, FaceModel};

/// Configurations this many nats below the best one carry less than 1e-15 of its probability.
pub(super) const NEGLIGIBLE: f64 = 35.0;
/// More configurations than this are not kept from face to face.
const WIDEST: usize = 512;
/// Frames with more faces than a mask has bits are answered in pieces.
pub(super) const MOST_FACES: usize = 64;

/// A new frame, with every face compared to every distinct group of faces once for all draws.
pub(super) struct NewFrame<'p> {
    pub posterior: &'p Posterior,
    context: Option<&'p str>,
    pub xs: Vec<Centred>,
    /// ln predictive of the first face under every group, where all of them are asked for.
    ln_at: OnceCell<Vec<f64>>,
    /// ln predictive of face r under nobody.
    pub ln_new: Vec<f64>,
    /// ln predictive of face r under a group (or nobody, `None`) joined by earlier faces of the frame.
    joined: HashMap<(Option<u32>, u64, usize), f64>,
}

/// What one draw says of a new frame.
#[derive(Clone, Debug)]
pub(super) struct Marginals {
    /// ln p(the frame's faces | draw).
    pub ln_evidence: f64,
    /// Per face: (identity of the draw, probability) of every identity that matters.
    pub identities: Vec<Vec<(u32, f64)>>,
    /// Per face: the probability of an identity never seen.
    pub new: Vec<f64>,
    /// The probability of each context, by its label's number; one more than were occupied stands for a new one.
    pub contexts: Vec<(ContextLabel, f64)>,
}

/// What one draw says of a new frame in one context: as [`Marginals`].
struct InContext {
    ln_evidence: f64,
    identities: Vec<Vec<(u32, f64)>>,
    new: Vec<f64>,
}

/// How a context is called in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ContextLabel {
    /// A context of the draw, or the first free number for one without frames.
    Number(u32),
    /// A given name that training never saw.
    Unseen,
}

/// A seat of a configuration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seat {
    /// An identity of the draw.
    Known(u32),
    /// The k-th new identity of the frame.
    New(u32),
}

/// Seats of the first faces of the frame.
#[derive(Clone)]
struct Configuration {
    ln_weight: f64,
    seats: Vec<Seat>,
}

/// A context a frame may be in: its label, ln of its prior, and which of the draw's it is.
pub(super) struct Candidate {
    label: ContextLabel,
    pub ln_prior: f64,
    context: Option<usize>,
    pub concentration: f64,
    /// ln of how much more often than expected a face is somebody seen, and somebody never seen (deviation D11).
    pub ln_seen: f64,
    pub ln_stranger: f64,
}

impl Marginals {
    /// A context has this much probability more.
    pub fn add_context(&mut self, candidate: &Candidate, p: f64) {
        match self.contexts.iter_mut().find(|known| known.0 == candidate.label) {
            Some(known) => known.1 += p,
            None => self.contexts.push((candidate.label, p)),
        }
    }
}

impl<'p> NewFrame<'p> {
    pub fn new(posterior: &'p Posterior, context: Option<&'p str>, faces: &[&[f32]]) -> Self {
        let model = &posterior.model.face;
        let nobody = model.group();
        let mut xs = Vec::new();
        for face in faces {
            let mut x = Centred::default();
            model.centre(face, &mut x);
            xs.push(x);
        }
        let ln_new = xs.iter().map(|x| model.ln_predictive(&nobody, x)).collect();
        Self { posterior, context, xs, ln_at: OnceCell::new(), ln_new, joined: HashMap::new() }
    }

    /// ln predictive of the first face under a group.
    pub fn ln_face(&self, group: usize) -> f64 {
        self.posterior.model.face.ln_predictive(&self.posterior.groups[group], &self.xs[0])
    }

    /// The marginals of the frame's faces and context under every draw, with the shares of strangers that are expected,
    /// or others, one per draw.
    pub fn under_all(&mut self, shares: Option<&[f64]>) -> Vec<Marginals> {
        self.marginals(shares, shortlist::find)
    }

    /// Per draw, the identities that may matter to the only face of a frame, in a context without faces: those within
    /// `reach` of the best of them, with ln predictives.
    pub fn near_as_guest(&self, reach: f64) -> Vec<Vec<(u32, f64)>> {
        let draws = self.posterior.draws.iter();
        let candidates: Vec<Vec<Candidate>> =
            draws.map(|draw| self.candidates(draw, Some(draw.ln_unseen.exp()))).collect();
        let table = |(draw, candidate): (&'p Pooled, &Candidate)| Table {
            best: f64::NEG_INFINITY,
            seats: Seats::of(draw, candidate),
            near: Vec::new(),
        };
        let draws: &'p [Pooled] = &self.posterior.draws;
        let of_draw = |(draw, candidates): (&'p Pooled, &Vec<Candidate>)| {
            candidates.iter().map(|candidate| table((draw, candidate))).collect()
        };
        let mut tables: Vec<Vec<Table<'p>>> = draws.iter().zip(&candidates).map(of_draw).collect();
        shortlist::find(self.posterior, &self.xs[0], &mut tables);
        let near = |table: &Table<'p>| {
            let is_near = |near: &&Near| near.ln_weight > table.best - reach;
            table.near.iter().filter(is_near).map(|near| (near.identity, near.ln_face)).collect()
        };
        tables.iter().map(|of_draw| near(&of_draw[0])).collect()
    }

    /// The contexts that the frame may have, per draw.
    pub fn all_candidates(&self, shares: Option<&[f64]>) -> Vec<Vec<Candidate>> {
        let draws = self.posterior.draws.iter().enumerate();
        draws.map(|(number, draw)| self.candidates(draw, shares.map(|shares| shares[number]))).collect()
    }

    /// With the seats that matter as `find` finds them.
    fn marginals(
        &mut self,
        shares: Option<&[f64]>,
        find: impl Fn(&Posterior, &Centred, &mut [Vec<Table<'_>>]),
    ) -> Vec<Marginals> {
        let draws: &'p [Pooled] = &self.posterior.draws;
        let candidates = self.all_candidates(shares);
        // By face, draw and context.
        let mut tables: Vec<Vec<Vec<Table<'p>>>> = Vec::new();
        for (x, &ln_new) in self.xs.iter().zip(&self.ln_new) {
            let table = |(draw, candidate): (&'p Pooled, &Candidate)| Table {
                best: candidate.concentration.ln() + draw.ln_unseen + candidate.ln_stranger + ln_new,
                seats: Seats::of(draw, candidate),
                near: Vec::new(),
            };
            let of_draw = |(draw, candidates): (&'p Pooled, &Vec<Candidate>)| {
                candidates.iter().map(|candidate| table((draw, candidate))).collect()
            };
            let mut of_face: Vec<Vec<Table<'p>>> = draws.iter().zip(&candidates).map(of_draw).collect();
            find(self.posterior, x, &mut of_face);
            tables.push(of_face);
        }
        let of_draw = |(number, candidates): (usize, &Vec<Candidate>)| {
            let seats: Vec<&[Table<'p>]> = tables.iter().map(|of_face| &of_face[number][..]).collect();
            self.under(&draws[number], candidates, &seats)
        };
        candidates.iter().enumerate().map(of_draw).collect()
    }

    /// The marginals of the frame's faces and context under one draw; `tables` by face and context.
    fn under(&mut self, draw: &Pooled, candidates: &[Candidate], tables: &[&[Table<'_>]]) -> Marginals {
        let n_faces = self.xs.len();
        let mut ln_contexts = Vec::new();
        let mut per_context = Vec::new();
        for (number, candidate) in candidates.iter().enumerate() {
            let of_context: Vec<&Table<'_>> = tables.iter().map(|of_face| &of_face[number]).collect();
            let found = match of_context[..] {
                [table] => self.one_face(draw, candidate, table),
                _ => self.all_faces(draw, candidate, &of_context),
            };
            ln_contexts.push(candidate.ln_prior + found.ln_evidence);
            per_context.push(found);
        }
        let ln_evidence = ln_sum_exp(&ln_contexts);
        let mut marginals = Marginals {
            ln_evidence,
            identities: vec![Vec::new(); n_faces],
            new: vec![0.0; n_faces],
            contexts: Vec::new(),
        };
        for ((candidate, ln_p), found) in candidates.iter().zip(ln_contexts).zip(per_context) {
            let p = (ln_p - ln_evidence).exp();
            marginals.add_context(candidate, p);
            for face in 0..n_faces {
                marginals.new[face] += p * found.new[face];
                let of_face = found.identities[face].iter().map(|&(identity, share)| (identity, p * share));
                marginals.identities[face].extend(of_face);
            }
        }
        marginals
    }

    /// The contexts the frame may be in, each with this share of strangers. Where there is but one context for all,
    /// an occasion with a share of its own is a context without faces (deviation D11).
    pub fn candidates(&self, draw: &Pooled, share: Option<f64>) -> Vec<Candidate> {
        let mut candidates = self.contexts(draw);
        if let Some(share) = share {
            let is_alone = self.posterior.is_without_contexts();
            for candidate in &mut candidates {
                candidate.context = candidate.context.filter(|_| !is_alone);
                candidate.expect(share, draw);
            }
        }
        candidates
    }

    /// The contexts the frame may be in (MODEL.md §2, §6).
    fn contexts(&self, draw: &Pooled) -> Vec<Candidate> {
        let model = &self.posterior.model;
        let gamma_0 = draw.context_concentration;
        let n_frames: u32 = draw.contexts.iter().map(|context| context.n_frames).sum();
        let known = |number: usize, label: u32, weight: f64| {
            let ln_prior = (weight / (gamma_0 + f64::from(n_frames))).ln();
            let concentration = draw.contexts[number].concentration;
            Candidate::new(ContextLabel::Number(label), ln_prior, Some(number), concentration)
        };
        let certain = |candidate| Candidate { ln_prior: 0.0, ..candidate };
        let share = gamma_0 / draw.contexts.len() as f64;
        let all = draw.contexts.iter().enumerate();
        match (model.context.mode, self.context) {
            _ if self.posterior.is_without_contexts() => vec![certain(known(0, 0, 1.0))],
            (ContextMode::None, _) => unreachable!("this mode has no contexts"),
            (ContextMode::Given, Some(name)) => {
                match self.posterior.contexts.iter().position(|context| context == name) {
                    // Its chance matters where draws differ in it: where a training frame's context is missing.
                    Some(number) => {
                        let n_frames = f64::from(draw.contexts[number].n_frames);
                        vec![known(number, number as u32, share + n_frames)]
                    }
                    None => {
                        let local = &model.identity.local_concentration;
                        let is_shared = local.is_shared();
                        let first = draw.contexts[0].concentration;
                        let concentration = if is_shared { first } else { local.of(Some(name)).start() };
                        let label = ContextLabel::Unseen;
                        vec![Candidate::new(label, 0.0, None, concentration)]
                    }
                }
            }
            (ContextMode::Given, None) => {
                all.map(|(c, context)| known(c, c as u32, share + f64::from(context.n_frames))).collect()
            }
            (ContextMode::Latent { .. }, _) => {
                let occupied = draw.contexts.iter().filter(|context| context.n_frames > 0).count();
                all.map(|(c, context)| known(c, c.min(occupied) as u32, share + f64::from(context.n_frames)))
                    .collect()
            }
            (ContextMode::Unbounded, _) => {
                let mut candidates: Vec<Candidate> =
                    all.map(|(c, context)| known(c, c as u32, f64::from(context.n_frames))).collect();
                let label = ContextLabel::Number(draw.contexts.len() as u32);
                let ln_prior = (gamma_0 / (gamma_0 + f64::from(n_frames))).ln();
                candidates.push(Candidate::new(label, ln_prior, None, draw.contexts[0].concentration));
                candidates
            }
        }
    }

    /// ln p(seat and face | context) for the only face of a frame: all identities (6), then a new one (7).
    pub fn ln_seats(&self, draw: &Pooled, candidate: &Candidate) -> Vec<f64> {
        let seats = Seats::of(draw, candidate);
        let ln_at = self.ln_at.get_or_init(|| {
            let groups = self.posterior.groups.iter();
            groups.map(|group| self.posterior.model.face.ln_predictive(group, &self.xs[0])).collect()
        });
        let mut ln_weights: Vec<f64> = (0..draw.group.len())
            .map(|identity| seats.ln_known(identity, 0.0) + ln_at[draw.group[identity] as usize])
            .collect();
        let ln_new = candidate.concentration.ln() + draw.ln_unseen + candidate.ln_stranger;
        ln_weights.push(ln_new + self.ln_new[0]);
        let ln_denominator = seats.ln_denominator(1);
        ln_weights.iter_mut().for_each(|ln| *ln -= ln_denominator);
        ln_weights
    }

    /// (6), (7) and (18) for the only face of a frame.
    fn one_face(&self, draw: &Pooled, candidate: &Candidate, table: &Table<'_>) -> InContext {
        let best = table.best;
        let ln_new = candidate.concentration.ln() + draw.ln_unseen + candidate.ln_stranger + self.ln_new[0];
        let weight =
            |ln_weight: f64| if ln_weight - best > -NEGLIGIBLE { (ln_weight - best).exp() } else { 0.0 };
        let mut kept: Vec<(u32, f64)> =
            table.near.iter().map(|near| (near.identity, weight(near.ln_weight))).collect();
        let total = kept.iter().map(|seat| seat.1).sum::<f64>() + weight(ln_new);
        kept.iter_mut().for_each(|seat| seat.1 /= total);
        let ln_evidence = best + total.ln() - table.seats.ln_denominator(1);
        InContext { ln_evidence, identities: vec![kept], new: vec![weight(ln_new) / total] }
    }

    /// All faces of a frame, searched face by face.
    fn all_faces(&mut self, draw: &Pooled, candidate: &Candidate, tables: &[&Table<'_>]) -> InContext {
        let n_faces = self.xs.len();
        let seats = Seats::of(draw, candidate);
        let mut beam = vec![Configuration { ln_weight: 0.0, seats: Vec::new() }];
        for (face, table) in tables.iter().enumerate() {
            let mut next = Vec::new();
            for configuration in &beam {
                // The seats that matter to this face if nobody of the frame were there already.
                self.extend(configuration, face, &table.near, &seats, draw, &mut next);
            }
            let best = next.iter().map(|c| c.ln_weight).fold(f64::NEG_INFINITY, f64::max);
            next.retain(|configuration| configuration.ln_weight > best - NEGLIGIBLE);
            if next.len() > WIDEST {
                next.sort_by(|a, b| b.ln_weight.total_cmp(&a.ln_weight));
                next.truncate(WIDEST);
            }
            beam = next;
        }
        let ln_weights: Vec<f64> = beam.iter().map(|configuration| configuration.ln_weight).collect();
        let ln_total = ln_sum_exp(&ln_weights);
        let mut identities = vec![Vec::new(); n_faces];
        let mut new = vec![0.0; n_faces];
        for configuration in &beam {
            let p = (configuration.ln_weight - ln_total).exp();
            for (face, seat) in configuration.seats.iter().enumerate() {
                match seat {
                    Seat::New(_) => new[face] += p,
                    Seat::Known(identity) => identities[face].push((*identity, p)),
                }
            }
        }
        InContext { ln_evidence: ln_total - seats.ln_denominator(n_faces), identities, new }
    }

    /// All ways to seat the next face of a configuration.
    fn extend(
        &mut self,
        configuration: &Configuration,
        face: usize,
        near: &[Near],
        seats: &Seats<'_>,
        draw: &Pooled,
        out: &mut Vec<Configuration>,
    ) {
        let ln_repeat = self.posterior.model.repeat.ln();
        let at = |seat: Seat| {
            let places = configuration.seats.iter().enumerate();
            places.filter(|(_, other)| **other == seat).fold(0u64, |mask, (r, _)| mask | 1 << r)
        };
        let mut push = |seat: Seat, ln_step: f64| {
            let mut seats = configuration.seats.clone();
            seats.push(seat);
            out.push(Configuration { ln_weight: configuration.ln_weight + ln_step, seats });
        };
        // Identities that faces of this frame already have are tried too, however far they looked alone.
        let mut known: Vec<(u32, f64)> = near.iter().map(|near| (near.identity, near.ln_face)).collect();
        for seat in &configuration.seats {
            match seat {
                Seat::Known(identity) if !known.iter().any(|known| known.0 == *identity) => {
                    known.push((*identity, f64::NAN)); // what it says alone is not asked for
                }
                _ => {}
            }
        }
        for (identity, ln_alone) in known {
            let mask = at(Seat::Known(identity));
            let earlier = f64::from(mask.count_ones());
            let ln_seat = seats.ln_known(identity as usize, earlier);
            let ln_face = match mask {
                0 => ln_alone,
                _ => self.ln_joined(Some(draw.group[identity as usize]), mask, face),
            };
            push(
                Seat::Known(identity),
                ln_seat + ln_face + if mask == 0 { 0.0 } else { earlier * ln_repeat },
            );
        }
        let n_new = configuration.seats.iter().filter_map(|seat| match seat {
            Seat::New(k) => Some(k + 1),
            Seat::Known(_) => None,
        });
        let n_new = n_new.max().unwrap_or(0);
        let masks: Vec<u64> = (0..n_new).map(|k| at(Seat::New(k))).collect();
        let mut counts: Vec<u32> = masks.iter().map(|mask| mask.count_ones()).collect();
        let ln_before = seats.ln_new(&counts);
        for k in 0..=n_new {
            let mask = masks.get(k as usize).copied().unwrap_or(0);
            match counts.get_mut(k as usize) {
                Some(count) => *count += 1,
                None => counts.push(1),
            }
            let ln_face = self.ln_joined(None, mask, face);
            let ln_repeats = if mask == 0 { 0.0 } else { f64::from(mask.count_ones()) * ln_repeat };
            let ln_seat = seats.ln_new(&counts) - ln_before + seats.ln_stranger;
            push(Seat::New(k), ln_seat + ln_face + ln_repeats);
            counts[k as usize] -= 1;
        }
    }

    /// ln predictive of a face under a group (or nobody) joined by the frame's earlier faces of `mask`.
    fn ln_joined(&mut self, group: Option<u32>, mask: u64, face: usize) -> f64 {
        match (group, mask) {
            (None, 0) => self.ln_new[face],
            _ => {
                let model = &self.posterior.model.face;
                let posterior = self.posterior;
                let xs = &self.xs;
                *self.joined.entry((group, mask, face)).or_insert_with(|| {
                    let nobody = model.group();
                    let group = group.map_or(&nobody, |group| &posterior.groups[group as usize]);
                    let earlier: Vec<&Centred> =
                        xs.iter().enumerate().filter(|(r, _)| mask >> r & 1 == 1).map(|(_, x)| x).collect();
                    let all: Vec<&Centred> = earlier.iter().copied().chain([&xs[face]]).collect();
                    ln_together(model, group, &all) - ln_together(model, group, &earlier)
                })
            }
        }
    }
}

/// ln p(faces | the group's faces), their scales summed over; those of the fourth face from the end on and before are
/// taken as ordinary, which spares sums of hundreds of terms for a person four times in one frame.
fn ln_together(model: &FaceModel, group: &Group, faces: &[&Centred]) -> f64 {
    let [first, rest @ ..] = faces else { return 0.0 };
    if rest.is_empty() {
        return model.ln_predictive(group, first);
    }
    let at = |scale: u8| {
        let mut x = (*first).clone();
        x.set_scale(scale);
        let mut joined = group.clone();
        model.observe(&mut joined, &x);
        model.ln_joining(group, &x) + ln_together(model, &joined, rest)
    };
    if rest.len() > 2 {
        return at(model.middle_scale());
    }
    let terms: Vec<f64> =
        (0..model.n_scales() as u8).map(|scale| model.ln_scale(scale) + at(scale)).collect();
    ln_sum_exp(&terms)
}

impl Candidate {
    /// A context with as many strangers as it expects.
    fn new(label: ContextLabel, ln_prior: f64, context: Option<usize>, concentration: f64) -> Self {
        Self { label, ln_prior, context, concentration, ln_seen: 0.0, ln_stranger: 0.0 }
    }

    /// The column of [`Posterior::seats_and_weights`] that holds seat weights of this context, and by what to multiply.
    pub fn column(&self) -> (usize, f64) {
        match self.context {
            Some(context) => (1 + context, self.ln_seen.exp()),
            None => (0, self.concentration * self.ln_seen.exp()),
        }
    }

    /// ln (N_c. + alpha_c).
    pub fn ln_denominator(&self, draw: &Pooled) -> f64 {
        Seats::of(draw, self).ln_denominator(1)
    }

    /// Expects this share of strangers; those seen keep their proportions.
    fn expect(&mut self, share: f64, draw: &Pooled) {
        let n_in = self.context.map_or(0.0, |context| f64::from(draw.contexts[context].n_in));
        let of_seen: f64 = draw.ln_weight.iter().map(|ln| ln.exp()).sum();
        let ln_all = (n_in + self.concentration).ln();
        self.ln_seen = (-share).ln_1p() - (n_in + self.concentration * of_seen).ln() + ln_all;
        self.ln_stranger = share.ln() - (self.concentration.ln() + draw.ln_unseen) + ln_all;
    }
}

/// Seat weights of one context of one draw.
pub(super) struct Seats<'d> {
    draw: &'d Pooled,
    context: Option<usize>,
    concentration: f64,
    ln_seen: f64,
    ln_stranger: f64,
    /// What [`Seats::ln_new`] has worked out, by sorted counts.
    of_new: RefCell<HashMap<Vec<u32>, f64>>,
}

impl<'d> Seats<'d> {
    fn of(draw: &'d Pooled, candidate: &Candidate) -> Self {
        let of_new = RefCell::default();
        let Candidate { context, concentration, ln_seen, ln_stranger, .. } = *candidate;
        Self { draw, context, concentration, ln_seen, ln_stranger, of_new }
    }

    /// ln of how much more a seat may weigh than at the largest alpha_c of the draw's contexts.
    pub fn ln_excess(&self) -> f64 {
        (self.concentration / self.draw.highest_concentration()).ln().max(0.0) + self.ln_seen
    }

    /// ln (N_ci + alpha_c pi_0i), with faces of the same frame seated there before.
    pub fn ln_known(&self, identity: usize, earlier: f64) -> f64 {
        let n_at = self.context.map_or(0, |context| self.draw.contexts[context].n_at[identity]);
        let ln_share = self.concentration.ln() + self.draw.ln_weight[identity];
        let ln_seat = match f64::from(n_at) + earlier {
            0.0 => ln_share,
            n => (n + ln_share.exp()).ln(),
        };
        ln_seat + self.ln_seen
    }

    /// ln of the weight of new identities with these many faces each, their shares of pi_0' integrated out:
    /// the sum over table counts t_j of prod_j |s(m_j, t_j)| Gamma(t_j) (alpha_c pi_0')^T alpha_0^k / alpha_0^(T),
    /// T = sum t_j. One new identity with one face has alpha_c pi_0'.
    fn ln_new(&self, counts: &[u32]) -> f64 {
        let mut sorted = counts.to_vec();
        sorted.sort_unstable();
        if let Some(&known) = self.of_new.borrow().get(&sorted) {
            return known;
        }
        let ln_weight = self.sum_over_tables(counts);
        self.of_new.borrow_mut().insert(sorted, ln_weight);
        ln_weight
    }

    fn sum_over_tables(&self, counts: &[u32]) -> f64 {
        if counts.is_empty() {
            return 0.0;
        }
        let alpha_0 = self.draw.global_concentration;
        let ln_step = self.concentration.ln() + self.draw.ln_unseen;
        // ln coefficients by T.
        let mut by_tables = vec![0.0];
        for &count in counts {
            let each = ln_stirling(count);
            let mut next = vec![f64::NEG_INFINITY; by_tables.len() + each.len() - 1];
            for (a, &x) in by_tables.iter().enumerate() {
                for (t, &y) in each.iter().enumerate().skip(1) {
                    next[a + t] = ln_add_exp(next[a + t], x + y + ln_gamma(t as f64));
                }
            }
            by_tables = next;
        }
        let ln_terms: Vec<f64> = by_tables
            .iter()
            .enumerate()
            .skip(1) // Every new identity has at least one table.
            .map(|(tables, ln_coefficient)| {
                let tables = tables as f64;
                ln_coefficient + tables * ln_step - (ln_gamma(alpha_0 + tables) - ln_gamma(alpha_0))
            })
            .collect();
        ln_sum_exp(&ln_terms) + counts.len() as f64 * alpha_0.ln()
    }

    /// ln of (N_c. + alpha_c) (N_c. + alpha_c + 1) ..., one factor per face.
    fn ln_denominator(&self, n_faces: usize) -> f64 {
        let n_in = self.context.map_or(0, |context| self.draw.contexts[context].n_in);
        (0..n_faces).map(|r| (f64::from(n_in) + self.concentration + r as f64).ln()).sum()
    }
}

/// ln of the unsigned Stirling numbers of the first kind |s(n, t)|, t = 0 .. n.
fn ln_stirling(n: u32) -> Vec<f64> {
    let mut row = vec![0.0];
    for m in 0..n {
        let mut next = vec![f64::NEG_INFINITY; row.len() + 1];
        for (t, &ln) in row.iter().enumerate() {
            next[t + 1] = ln_add_exp(next[t + 1], ln);
            if m > 0 {
                next[t] = ln_add_exp(next[t], ln + f64::from(m).ln());
            }
        }
        row = next;
    }
    row
}

#[cfg(test)]
mod tests {
    use super::super::alone::Alone;
    use super::*;
    use crate::cases;
    use crate::chain::Chain;
    use crate::gibbs::Sweep;
    use crate::random::driver;
    use crate::simulate::prior;

    /// The plain way: every seat of every draw.
    fn find_plainly(posterior: &Posterior, x: &Centred, tables: &mut [Vec<Table<'_>>]) {
        for (tables, draw) in tables.iter_mut().zip(&posterior.draws) {
            for table in tables {
                for (identity, &group) in (0..).zip(&draw.group) {
                    let ln_face = posterior.model.face.ln_predictive(&posterior.groups[group as usize], x);
                    let ln_weight = table.seats.ln_known(identity as usize, 0.0) + ln_face;
                    table.best = table.best.max(ln_weight);
                    table.near.push(Near { identity, ln_face, ln_weight });
                }
                let best = table.best;
                table.near.retain(|near| near.ln_weight > best - NEGLIGIBLE);
            }
        }
    }

    /// What is found of a face alone in its frame, against the plain way.
    fn compare(alone: &Option<Alone>, plain: &[Marginals], posterior: &Posterior, name: &str) {
        let Some(alone) = alone else { return };
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        let mut seats: Vec<Vec<f64>> =
            posterior.draws.iter().map(|draw| vec![0.0; draw.group.len()]).collect();
        let mut by_group = vec![0.0; posterior.groups.len()];
        alone.for_each_seat(posterior, |draw, identity, group, p| {
            assert_eq!(posterior.draws[draw].group[identity as usize], group);
            seats[draw][identity as usize] += p;
            by_group[group as usize] += (1 + draw) as f64 * p;
        });
        let weights: Vec<f64> = (1..=posterior.draws.len()).map(|weight| weight as f64).collect();
        alone.for_each_group(posterior, &weights, |group, p| by_group[group as usize] -= p);
        assert!(by_group.iter().all(|&off| near(off, 0.0)), "{name}: {by_group:?}");
        for ((found, plain), mut seats) in alone.marginals.iter().zip(plain).zip(seats) {
            assert!(
                near(found.ln_evidence, plain.ln_evidence),
                "{name}: {} {}",
                found.ln_evidence,
                plain.ln_evidence
            );
            assert!(near(found.new[0], plain.new[0]), "{name}: {} {}", found.new[0], plain.new[0]);
            assert_eq!(found.contexts.len(), plain.contexts.len());
            assert!(found.contexts.iter().zip(&plain.contexts).all(|(a, b)| a.0 == b.0 && near(a.1, b.1)));
            plain.identities[0].iter().for_each(|&(identity, p)| seats[identity as usize] -= p);
            assert!(seats.iter().all(|&off| near(off, 0.0)), "{name}: {seats:?}");
        }
    }

    #[test]
    fn the_shortlist_leaves_out_nothing_that_matters() {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9 * (1.0 + a.abs());
        for case in cases::all() {
            let mut rng = driver(12);
            let (state, data) = prior::draw(&case.model, &case.layout, &mut rng);
            let mut chain = Chain::of_state(state, driver(13));
            let mut draws = Vec::new();
            for _ in 0..12 {
                chain.sweep(&Sweep::default(), &case.model, &data);
                draws.push(chain.draw(&case.model, &data));
            }
            let posterior = Posterior::new(case.model.clone(), &data, &draws);
            for (context, n_faces, size) in
                [(None, 1, 1.0), (Some("home"), 2, 3.0), (Some("never seen"), 3, 1.0), (None, 1, 40.0)]
            {
                let mut face =
                    || -> Vec<f32> { (0..data.dimension()).map(|_| (size * rng.normal()) as f32).collect() };
                let faces: Vec<Vec<f32>> = (0..n_faces).map(|_| face()).collect();
                let faces: Vec<&[f32]> = faces.iter().map(|face| &face[..]).collect();
                let shares: Option<Vec<f64>> =
                    (n_faces < 3).then(|| (0..draws.len()).map(|_| rng.uniform()).collect());
                let shares = shares.as_deref();
                let quick = NewFrame::new(&posterior, context, &faces).under_all(shares);
                let plain = NewFrame::new(&posterior, context, &faces).marginals(shares, find_plainly);
                if let [_] = faces[..] {
                    let frame = NewFrame::new(&posterior, context, &faces);
                    compare(&Alone::of(&frame, shares), &plain, &posterior, case.name);
                }
                for (a, b) in quick.iter().zip(&plain) {
                    assert!(near(a.ln_evidence, b.ln_evidence), "{}", case.name);
                    assert!(a.new.iter().zip(&b.new).all(|(&a, &b)| near(a, b)), "{}", case.name);
                    assert_eq!(a.identities.len(), b.identities.len());
                    for (a, b) in a.identities.iter().zip(&b.identities) {
                        assert_eq!(a.len(), b.len(), "{}", case.name);
                        assert!(a.iter().zip(b).all(|(a, b)| a.0 == b.0 && near(a.1, b.1)), "{}", case.name);
                    }
                }
            }
        }
    }

    #[test]
    fn stirling_numbers_are_those_of_the_books() {
        let exact = [0.0, 24.0, 50.0, 35.0, 10.0, 1.0];
        for (ln, exact) in ln_stirling(5).iter().zip(exact) {
            assert!((ln.exp() - exact).abs() < 1e-9, "{} {exact}", ln.exp());
        }
    }
}

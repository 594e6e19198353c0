//! The identities of all faces of a new frame, jointly, under one draw (the paper's (6), (7) and (18)).
//!
//! A configuration gives every face of the frame a seat. Its weight is the chance of its context, of its
//! seats (counts growing along the frame, weights of new identities integrated out), of the faces at those
//! seats, and the `repeat` factor. One face is summed over exactly; several are searched face by face
//! (`one_frame.rs`).

use std::cell::OnceCell;
use std::collections::HashMap;

use super::contexts::{Candidate, ContextLabel};
use super::near::{self, Near, Table};
use super::posterior::{Pooled, Posterior};
use super::seat_weights::Seats;
use crate::math::ln_sum_exp;
use crate::model::face::Centred;

/// Configurations this many nats below the best one carry less than 1e-15 of its probability.
pub(super) const NEGLIGIBLE: f64 = 35.0;
/// Frames with more faces than a mask has bits are answered in pieces.
pub(super) const MOST_FACES: usize = 64;

/// A new frame, with every face compared to every distinct group of faces once for all draws.
pub(super) struct NewFrame<'p> {
    pub posterior: &'p Posterior,
    pub context: Option<&'p str>,
    pub xs: Vec<Centred>,
    /// ln predictive of the first face under every group, where all of them are asked for.
    ln_at: OnceCell<Vec<f64>>,
    /// ln predictive of face r under nobody.
    pub ln_new: Vec<f64>,
    /// ln predictive of face r under a group (or nobody, `None`) joined by earlier faces of the frame.
    pub joined: HashMap<(Option<u32>, u64, usize), f64>,
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
    /// The probability of each context, by its label's number; one more than were occupied stands for a new
    /// one.
    pub contexts: Vec<(ContextLabel, f64)>,
}

/// What one draw says of a new frame in one context: as [`Marginals`].
pub(super) struct InContext {
    pub ln_evidence: f64,
    pub identities: Vec<Vec<(u32, f64)>>,
    pub new: Vec<f64>,
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
        self.posterior.ln_face(group, &self.xs[0])
    }

    /// The marginals of the frame's faces and context under every draw, with the shares of strangers that are
    /// expected, or others, one per draw.
    pub fn under_all(&mut self, shares: Option<&[f64]>) -> Vec<Marginals> {
        self.marginals(shares, near::find)
    }

    /// Per draw, the identities that may matter to the only face of a frame, in a context without faces:
    /// those within `reach` of the best of them, with ln predictives. Where faces have to be read for it, so
    /// near to somebody new too.
    pub fn near_as_guest(&self, reach: f64) -> Vec<Vec<(u32, f64)>> {
        let draws = self.posterior.draws.iter();
        let candidates: Vec<Vec<Candidate>> =
            draws.map(|draw| self.candidates(draw, Some(draw.ln_unseen.exp()))).collect();
        let table = |(draw, candidate): (&'p Pooled, &Candidate)| Table {
            best: match self.posterior.reads_faces() {
                true => {
                    candidate.concentration.ln() + draw.ln_unseen + candidate.ln_stranger + self.ln_new[0]
                }
                false => f64::NEG_INFINITY,
            },
            seats: Seats::of(draw, candidate),
            near: Vec::new(),
        };
        let draws: &'p [Pooled] = &self.posterior.draws;
        let of_draw = |(draw, candidates): (&'p Pooled, &Vec<Candidate>)| {
            candidates.iter().map(|candidate| table((draw, candidate))).collect()
        };
        let mut tables: Vec<Vec<Table<'p>>> = draws.iter().zip(&candidates).map(of_draw).collect();
        near::find(self.posterior, &self.xs[0], &mut tables);
        let near = |table: &Table<'p>| {
            let is_near = |near: &&Near| near.ln_weight > table.best - reach;
            table.near.iter().filter(is_near).map(|near| (near.identity, near.ln_face)).collect()
        };
        tables.iter().map(|of_draw| near(&of_draw[0])).collect()
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

    /// ln p(seat and face | context) for the only face of a frame: all identities (6), then a new one (7).
    pub fn ln_seats(&self, draw: &Pooled, candidate: &Candidate) -> Vec<f64> {
        let seats = Seats::of(draw, candidate);
        let ln_at = self
            .ln_at
            .get_or_init(|| (0..self.posterior.n_groups()).map(|group| self.ln_face(group)).collect());
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
}

#[cfg(test)]
mod tests {
    use super::super::one_face::Alone;
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
                    let ln_face = posterior.ln_face(group as usize, x);
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
        let mut by_group = vec![0.0; posterior.n_groups()];
        alone.for_each_seat(posterior, |draw, identity, p| {
            seats[draw][identity as usize] += p;
            let group = posterior.draws[draw].group[identity as usize];
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
            let (state, target) = prior::draw(&case.target, &mut rng);
            let mut chain = Chain::of_state(state, driver(13));
            let mut draws = Vec::new();
            for _ in 0..12 {
                chain.sweep(&Sweep::default(), &target);
                draws.push(chain.draw(&target));
            }
            let posterior = Posterior::new(&target, &draws);
            for (context, n_faces, size) in
                [(None, 1, 1.0), (Some("home"), 2, 3.0), (Some("never seen"), 3, 1.0), (None, 1, 40.0)]
            {
                let mut face = || -> Vec<f32> {
                    (0..target.data().dimension()).map(|_| (size * rng.normal()) as f32).collect()
                };
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
}

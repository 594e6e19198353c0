//! Why: what each draw says of a new face's seats, beside the answer.

use std::collections::{BTreeMap, HashMap};

use super::all_photos::{NewPhoto, Occasion};
use super::answer::Explained;
use super::contexts::Candidate;
use super::new_frame::{MOST_FACES, Marginals, NewFrame};
use super::posterior::{Pooled, Posterior};
use super::seat_weights::Seats;
use crate::ids::IdentityId;
use crate::state::{Name, Seat};

/// Seats of a smaller probability are not explained.
const LEAST: f64 = 1e-9;

impl Posterior {
    /// The answers of [`Posterior::predict_on`], and what speaks for each seat. Probabilities are those of
    /// the answer, in which all photos had their say; what the context says is meant of a face that is asked
    /// about alone.
    pub fn explain_on(&self, occasion: &Occasion<'_>, photo: usize, weighted: bool) -> Vec<Explained> {
        let NewPhoto { context, faces } = occasion.photo(photo);
        if let Some(marginals) = occasion.seated(photo) {
            let unseen: Vec<f64> = self.draws.iter().map(|draw| draw.globals.unseen).collect();
            let frame = NewFrame::new(self, *context, faces);
            return self.explained(&frame, marginals, Some(&unseen), weighted);
        }
        let shares = occasion.shares_of(photo);
        let piece = |piece: &[&[f32]]| {
            let mut frame = NewFrame::new(self, *context, piece);
            let marginals = frame.under_all(shares);
            self.explained(&frame, &marginals, shares, weighted)
        };
        faces.chunks(MOST_FACES).flat_map(piece).collect()
    }

    fn explained(
        &self,
        frame: &NewFrame<'_>,
        marginals: &[Marginals],
        shares: Option<&[f64]>,
        weighted: bool,
    ) -> Vec<Explained> {
        let answers = self.answer_all(marginals, frame.xs.len(), frame.context, weighted);
        let candidates: Vec<Candidate> =
            frame.all_candidates(shares).into_iter().zip(marginals).map(most_probable).collect();
        let explain = |(face, answer)| {
            let mut ln_faces: HashMap<u32, f64> = HashMap::new();
            let each = self.draws.iter().zip(marginals).zip(&candidates);
            let seats = each.map(|((draw, marginals), candidate)| {
                let ln_face = |group: u32| {
                    *ln_faces.entry(group).or_insert_with(|| self.ln_face(group as usize, &frame.xs[face]))
                };
                seats(draw, candidate, face, marginals, frame.ln_new[face], ln_face)
            });
            let seats = seats.collect();
            Explained { answer, seats }
        };
        answers.into_iter().enumerate().map(explain).collect()
    }
}

/// The context in which a frame most probably is.
fn most_probable((candidates, marginals): (Vec<Candidate>, &Marginals)) -> Candidate {
    let best = marginals.contexts.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|context| context.0);
    let mut candidates = candidates.into_iter();
    let first = candidates.next().expect("a frame has a context");
    if Some(first.label) == best {
        first
    } else {
        candidates.find(|c| Some(c.label) == best).unwrap_or(first)
    }
}

/// The seats of a face under one draw, a new identity last.
fn seats(
    draw: &Pooled,
    candidate: &Candidate,
    face: usize,
    marginals: &Marginals,
    ln_new: f64,
    mut ln_face: impl FnMut(u32) -> f64,
) -> Vec<Seat> {
    let weights = Seats::of(draw, candidate);
    // An identity comes once for each context that the frame may be in.
    let mut of_identity: BTreeMap<u32, f64> = BTreeMap::new();
    for &(identity, p) in &marginals.identities[face] {
        *of_identity.entry(identity).or_default() += p;
    }
    let known = of_identity.into_iter().filter(|seat| seat.1 > LEAST).map(|(identity, p)| Seat {
        identity: Some(IdentityId(identity)),
        name: draw.name[identity as usize].map_or(Name::Unknown, Name::Known),
        ln_context: weights.ln_known(identity as usize, 0.0),
        ln_face: ln_face(draw.group[identity as usize]),
        ln_said: 0.0,
        p,
    });
    let mut seats: Vec<Seat> = known.collect();
    let ln_context = weights.ln_concentration() + draw.ln_unseen + weights.ln_stranger;
    let (name, p) = (Name::Unknown, marginals.new[face]);
    seats.push(Seat { identity: None, name, ln_context, ln_face: ln_new, ln_said: 0.0, p });
    seats
}

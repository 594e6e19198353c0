//! Where the photos of simulated people come from: the face model, or the photos of real people.

use crate::data::Embeddings;
use crate::model::FaceModel;
use crate::model::face::Face;
use crate::random::Rng;

/// Photos by person.
pub trait Source {
    /// How many people there are photos of.
    fn n_people(&self) -> usize;

    /// The embedding of another photo of a person, who is one of `0 .. n_people()`.
    fn photo(&mut self, person: usize, rng: &mut Rng) -> Vec<f32>;
}

/// People drawn from the face model: a `theta*` each, and every photo of them new.
#[derive(Clone, Debug)]
pub struct Drawn {
    model: FaceModel,
    people: Vec<Face>,
}

impl Drawn {
    /// Draws `n_people` people from the prior.
    pub fn new(model: FaceModel, n_people: usize, rng: &mut Rng) -> Self {
        let nobody = model.group();
        let people = (0..n_people).map(|_| model.draw(&nobody, rng)).collect();
        Self { model, people }
    }
}

impl Source for Drawn {
    fn n_people(&self) -> usize {
        self.people.len()
    }

    fn photo(&mut self, person: usize, rng: &mut Rng) -> Vec<f32> {
        self.model.simulate(Some(&self.people[person]), &[0], rng).swap_remove(0)
    }
}

/// Photos that exist, dealt "without replacement and in cycles, to avoid observing the same image
/// consecutively" (§4.2): each of a person's photos once, in random order, then all of them again in another
/// order.
#[derive(Clone, Debug)]
pub struct Cycled<'a> {
    embeddings: &'a Embeddings,
    people: Vec<Deck>,
}

/// One person's rows: those before `next` have been dealt in this cycle.
#[derive(Clone, Debug)]
struct Deck {
    rows: Vec<usize>,
    next: usize,
}

impl<'a> Cycled<'a> {
    /// `people` lists each person's rows of the embeddings.
    ///
    /// # Panics
    /// If somebody has no photo, or a row does not exist.
    pub fn new(embeddings: &'a Embeddings, people: &[Vec<usize>]) -> Self {
        let deck = |rows: &Vec<usize>| {
            assert!(!rows.is_empty(), "everybody has at least one photo");
            assert!(rows.iter().all(|&row| row < embeddings.len()), "every photo is among the embeddings");
            // As if the last cycle had just ended.
            Deck { rows: rows.clone(), next: rows.len() }
        };
        Self { embeddings, people: people.iter().map(deck).collect() }
    }

    /// The row of another photo of a person.
    pub fn row(&mut self, person: usize, rng: &mut Rng) -> usize {
        let Deck { rows, next } = &mut self.people[person];
        if *next == rows.len() {
            let shown_last = rows[rows.len() - 1];
            rng.shuffle(rows);
            if rows.len() > 1 && rows[0] == shown_last {
                let other = 1 + rng.below(rows.len() - 1);
                rows.swap(0, other);
            }
            *next = 0;
        }
        *next += 1;
        rows[*next - 1]
    }
}

impl Source for Cycled<'_> {
    fn n_people(&self) -> usize {
        self.people.len()
    }

    fn photo(&mut self, person: usize, rng: &mut Rng) -> Vec<f32> {
        let row = self.row(person, rng);
        self.embeddings.row(row).to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::driver;

    #[test]
    fn photos_are_dealt_without_replacement_and_in_cycles() {
        let embeddings = Embeddings::new((0..8).map(|row| row as f32).collect(), 1).unwrap();
        let people = [vec![0, 2, 4, 6, 7], vec![1], vec![3, 5]];
        let mut source = Cycled::new(&embeddings, &people);
        let mut rng = driver(1);
        for (person, rows) in people.iter().enumerate() {
            let dealt: Vec<usize> = (0..40 * rows.len()).map(|_| source.row(person, &mut rng)).collect();
            for cycle in dealt.chunks(rows.len()) {
                let mut cycle = cycle.to_vec();
                cycle.sort_unstable();
                assert_eq!(&cycle, rows);
            }
            assert!(rows.len() == 1 || dealt.windows(2).all(|two| two[0] != two[1]), "{dealt:?}");
        }
        assert_eq!(source.photo(1, &mut rng), [1.0]);
    }
}

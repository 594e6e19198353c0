//! N_ci, where it is not zero: a context meets few people, and a person is met in few contexts.

use serde::{Deserialize, Serialize};

use crate::ids::ContextId;

/// How many faces somebody has in each context where there are any, contexts in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PerContext(Vec<(ContextId, u32)>);

impl PerContext {
    /// Some faces, all of them in one context.
    pub fn in_one(context: ContextId, n: u32) -> Self {
        Self(if n > 0 { vec![(context, n)] } else { Vec::new() })
    }

    /// N_ci of a context.
    pub fn at(&self, context: ContextId) -> u32 {
        self.0.binary_search_by_key(&context, |of| of.0).map_or(0, |place| self.0[place].1)
    }

    /// The contexts with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (ContextId, u32)> {
        self.0.iter().copied()
    }

    /// How many faces in all.
    pub fn total(&self) -> u32 {
        self.0.iter().map(|of| of.1).sum()
    }

    /// A face more.
    pub fn add(&mut self, context: ContextId) {
        match self.0.binary_search_by_key(&context, |of| of.0) {
            Ok(place) => self.0[place].1 += 1,
            Err(place) => self.0.insert(place, (context, 1)),
        }
    }

    /// A face less.
    ///
    /// # Panics
    /// When there is none.
    pub fn take(&mut self, context: ContextId) {
        let place = self.0.binary_search_by_key(&context, |of| of.0).expect("the face was counted");
        self.0[place].1 -= 1;
        if self.0[place].1 == 0 {
            self.0.remove(place);
        }
    }

    /// Every context where either has a face, with the numbers of both.
    pub fn both<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (ContextId, [u32; 2])> + 'a {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        std::iter::from_fn(move || {
            let next = match (a.peek(), b.peek()) {
                (None, None) => return None,
                (Some(of), None) | (None, Some(of)) => of.0,
                (Some(a), Some(b)) => a.0.min(b.0),
            };
            let n_a = a.next_if(|of| of.0 == next).map_or(0, |of| of.1);
            let n_b = b.next_if(|of| of.0 == next).map_or(0, |of| of.1);
            Some((next, [n_a, n_b]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::driver;

    #[test]
    fn counts_are_those_of_a_dense_table() {
        let mut rng = driver(3);
        let (mut a, mut b) = (PerContext::default(), PerContext::default());
        let (mut dense_a, mut dense_b) = ([0_u32; 7], [0_u32; 7]);
        for _ in 0..500 {
            let (counts, dense) =
                if rng.bernoulli(0.5) { (&mut a, &mut dense_a) } else { (&mut b, &mut dense_b) };
            let context = rng.below(7);
            if dense[context] > 0 && rng.bernoulli(0.6) {
                counts.take(ContextId::new(context));
                dense[context] -= 1;
            } else {
                counts.add(ContextId::new(context));
                dense[context] += 1;
            }
            for (context, wanted) in dense_a.iter().enumerate() {
                assert_eq!(a.at(ContextId::new(context)), *wanted);
            }
            assert_eq!(b.total(), dense_b.iter().sum::<u32>());
            let both: Vec<(ContextId, [u32; 2])> = a.both(&b).collect();
            let wanted: Vec<(ContextId, [u32; 2])> = (0..7)
                .map(|context| (ContextId::new(context), [dense_a[context], dense_b[context]]))
                .filter(|of| of.1 != [0, 0])
                .collect();
            assert_eq!(both, wanted);
        }
    }
}

//! How long embeddings are: one that is far longer than the others is not of their network, and would drown
//! them.

use std::borrow::Cow;
use std::fmt;

use super::Embeddings;

/// An embedding may be so many times as long as the median one. Networks whose lengths tell the quality of a
/// photo vary by about ten.
pub const MOST_TIMES: f64 = 100.0;
/// Beyond these lengths squares of numbers are lost in `f32`.
const SHORTEST: f64 = 1e-15;
const LONGEST: f64 = 1e15;
/// So many times as long as the median one, an embedding does not say what is usual.
const SEVERAL: f64 = 5.0;
/// Of fewer embeddings none is the usual one.
const FEWEST: usize = 3;

/// How long embeddings usually are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lengths {
    /// Ascending, without zeros.
    sorted: Vec<f64>,
}

/// An embedding that cannot be of the same dataset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Strange {
    /// Of a length at which numbers are lost.
    Size(f64),
    /// So many times as long as the median one.
    Times(f64),
    /// One of some that are so many times as long as the rest, as in other units.
    Units {
        /// How many they are.
        n: usize,
        /// So many times as long.
        times: f64,
    },
}

impl fmt::Display for Strange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(length) => write!(
                f,
                "found an embedding of length {length:.1e}, wanted {SHORTEST:e} to {LONGEST:e}: multiply all \
                 by one number"
            ),
            Self::Times(times) => write!(
                f,
                "found an embedding {times:.1e} times as long as the median one, wanted at most {MOST_TIMES} \
                 times"
            ),
            Self::Units { n, times } => write!(
                f,
                "found {n} embeddings {times:.1e} times as long as the rest, wanted all in one unit"
            ),
        }
    }
}

impl Lengths {
    /// Of these embeddings.
    pub fn of<'x>(embeddings: impl Iterator<Item = &'x [f32]>) -> Self {
        let mut lengths = Self::default();
        lengths.extend(embeddings);
        lengths
    }

    /// Of more embeddings. An embedding of zeros has no length.
    pub fn extend<'x>(&mut self, embeddings: impl Iterator<Item = &'x [f32]>) {
        self.sorted.extend(embeddings.map(length).filter(|&length| length > 0.0));
        self.sorted.sort_by(f64::total_cmp);
    }

    fn median(&self) -> Option<f64> {
        self.sorted.get(self.sorted.len() / 2).copied().filter(|_| self.sorted.len() >= FEWEST)
    }

    /// What is strange about an embedding beside these.
    pub fn strange(&self, embedding: &[f32]) -> Option<Strange> {
        let length = length(embedding);
        if length == 0.0 {
            return None;
        }
        let usual = self.median().unwrap_or(length);
        // A short one among others is as good as zeros.
        if !(length <= LONGEST && usual >= SHORTEST) {
            return Some(Strange::Size(length));
        }
        let times = length / usual;
        (times > MOST_TIMES).then_some(Strange::Times(times))
    }
}

impl Embeddings {
    /// Without those that are several times as long as the median one: a few of them would say how much all
    /// faces vary.
    pub fn usual(&self) -> Cow<'_, Self> {
        let lengths = Lengths::of(self.rows());
        let Some(median) = lengths.median() else { return Cow::Borrowed(self) };
        let is_usual = |row: &&[f32]| length(row) <= SEVERAL * median;
        if self.rows().all(|row| is_usual(&row)) {
            return Cow::Borrowed(self);
        }
        let usual = self.rows().filter(is_usual).flatten().copied().collect();
        Cow::Owned(Self::new(usual, self.dimension()).expect("they were checked before"))
    }
}

fn length(embedding: &[f32]) -> f64 {
    embedding.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_far_longer_than_the_others_is_strange_and_nothing_else() {
        let rows: Vec<[f32; 2]> = vec![[1.0, 0.0], [0.0, 2.0], [0.0, 0.0], [0.5, 0.5], [0.0, -1.0]];
        let lengths = Lengths::of(rows.iter().map(|row| &row[..]));
        assert!(rows.iter().all(|row| lengths.strange(row).is_none()));
        for usual in [[90.0, 0.0], [1e-9, 0.0], [1e-30, 0.0]] {
            assert_eq!(lengths.strange(&usual), None, "{usual:?}");
        }
        assert_eq!(lengths.strange(&[1000.0, 0.0]), Some(Strange::Times(1000.0)));
        let told = lengths.strange(&[3e30, 0.0]).unwrap().to_string();
        assert!(told.contains("of length 3.0e30"), "{told}");
        let tiny = Lengths::of([[1e-30, 0.0]; 4].iter().map(|row| &row[..]));
        assert!(matches!(tiny.strange(&[1e-30, 0.0]), Some(Strange::Size(_))));
        let embeddings = Embeddings::new([&rows.concat()[..], &[30.0, 0.0]].concat(), 2).unwrap();
        assert_eq!(embeddings.usual().values(), rows.concat());
        assert!(matches!(Embeddings::new(rows.concat(), 2).unwrap().usual(), Cow::Borrowed(_)));
        // Two alone: who is to say which is usual?
        let two = Lengths::of(rows[..2].iter().map(|row| &row[..]));
        assert_eq!(two.strange(&[1e6, 0.0]), None);
    }
}

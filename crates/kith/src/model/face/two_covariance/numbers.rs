//! How many independent numbers an embedding carries within people.

use faer::Mat;

use super::covariances::trace_of;
use super::{COUNTED, MOST_FACES, Sorted};

impl Sorted {
    /// How many independent numbers a photo of a person would have in infinitely many dimensions, and how many
    /// at least, two standard errors off. With P = (tr Sigma)^2 / tr Sigma^2 of a person's covariance it is
    /// 1 / (1/P - 1/D): a random projection to D dimensions adds 1/D to 1/P. Where nobody has several photos
    /// nothing is known: infinity, and none.
    pub(super) fn independent_numbers(&self) -> (f64, f64) {
        let means = self.means();
        let (mut trace_of_squares, mut squared_traces, mut variance, mut first) = (0.0, 0.0, 0.0, 0);
        for (person, &size) in self.sizes.iter().enumerate() {
            if size >= COUNTED {
                let e =
                    Mat::from_fn(size, self.y.ncols(), |r, c| self.y[(first + r, c)] - means[(person, c)]);
                let square = if size < e.ncols() { &e * e.transpose() } else { e.transpose() * &e };
                // Of Gaussian faces with m degrees of freedom, without bias: tr Sigma^2 and (tr Sigma)^2.
                let m = (size - 1) as f64;
                let trace = trace_of(&square) / m;
                let raw = square.col_iter().flat_map(|column| column.iter()).map(|s| s * s).sum::<f64>();
                let of_square = (raw - trace * trace * m) / ((m - 1.0) * (m + 2.0));
                let squared = trace * trace - 2.0 * of_square / m;
                let weight = m.min(MOST_FACES);
                trace_of_squares += weight * of_square;
                squared_traces += weight * squared;
                // The first is known to about 2 / m of itself.
                variance += (weight * 2.0 / m * squared).powi(2);
            }
            first += size;
        }
        if squared_traces <= 0.0 {
            return (f64::INFINITY, 0.0);
        }
        let share = trace_of_squares / squared_traces;
        let of_round = 1.0 / self.y.ncols() as f64;
        let error = 2.0 * variance.sqrt() / squared_traces * share.max(of_round);
        let rest = share - of_round;
        let number = |rest: f64| if rest > 0.0 { 1.0 / rest } else { f64::INFINITY };
        (number(rest), number((rest + error).max(error)))
    }
}

//! The residual scatter `S = sum lambda (y - ybar)(y - ybar)^T` of a group of weighted faces: `ln |I + S/P|`,
//! and quadratic forms in `(P I + S)^-1`.
//!
//! Few faces are kept with their Gram matrix, where everything costs n products; many faces as the D x D
//! triangle G with `(P I + S)^-1 = G^T G` (`math/triangle.rs`), moved by rank-one updates and rebuilt from
//! the faces before rounding could add up.

use std::sync::Arc;

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Accum, Mat, Par, Side};
use serde::{Deserialize, Serialize};

use super::Portrait;
use crate::math::triangle;
use crate::math::vectors::{dot, products};

/// After this many rank-one updates the triangle is rebuilt.
const UPDATES: u32 = 4096;

/// The scatter of some faces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Scatter {
    n_axes: usize,
    /// P.
    scale: f64,
    /// The faces, which all chains share, and their lambda.
    rows: Vec<Portrait>,
    weights: Vec<f64>,
    ln_det: f64,
    form: Form,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Form {
    /// The Gram matrix of the rows (n x n), each row's product with the mean face, the mean face's square,
    /// the Cholesky factor of `P I + weighted centred Gram`, and a bound of the latter's largest eigenvalue.
    Few { gram: Vec<f64>, means: Vec<f64>, mean: f64, factor: Vec<f64>, widest: f64 },
    /// G, the sum of the squares of S's entries (infinite in a draft, of which it is not followed), and how many
    /// updates they have seen.
    Many { root: Vec<f64>, squares: f64, n_updates: u32 },
}

impl Scatter {
    pub fn new(n_axes: usize, scale: f64) -> Self {
        let form = Form::few(Vec::new());
        Self { n_axes, scale, rows: Vec::new(), weights: Vec::new(), ln_det: 0.0, form }
    }

    /// G of some faces with their lambda.
    pub fn root_of(n_axes: usize, scale: f64, rows: Vec<Portrait>, weights: Vec<f64>) -> Vec<f64> {
        let mut scatter = Self { rows, weights, ..Self::new(n_axes, scale) };
        scatter.rebuild_many();
        match scatter.form {
            Form::Many { root, .. } => root,
            Form::Few { .. } => unreachable!("it was built of many"),
        }
    }

    pub fn n_faces(&self) -> u32 {
        self.rows.len() as u32
    }

    /// ln |I + S/P|.
    pub fn ln_det(&self) -> f64 {
        self.ln_det
    }

    /// ln |I + S/P| of these faces and others together, without putting them together. Both have faces, and sum
    /// to `sum` and `other_sum`, weighted.
    pub fn ln_det_with(&self, sum: &[f64], other: &Self, other_sum: &[f64]) -> f64 {
        match (&self.form, &other.form) {
            (Form::Many { root, .. }, _) => {
                let (total, more) = (self.weights.iter().sum::<f64>(), other.weights.iter().sum::<f64>());
                // S is theirs, the others', and what the distance of the two means adds.
                let apart = (total * more / (total + more)).sqrt();
                let column = |axis: usize, k: usize| match other.rows.get(k) {
                    Some(row) => other.weights[k].sqrt() * (f64::from(row[axis]) - other_sum[axis] / more),
                    None => apart * (other_sum[axis] / more - sum[axis] / total),
                };
                let columns = Mat::from_fn(self.n_axes, other.rows.len() + 1, column);
                self.ln_det + triangle::gain(root, columns.as_ref())
            }
            (_, Form::Many { .. }) => other.ln_det_with(other_sum, self, sum),
            (Form::Few { gram: own, .. }, Form::Few { gram: others, .. }) => {
                let (n, m) = (self.rows.len(), other.rows.len());
                let mut gram = vec![0.0; (n + m) * (n + m)];
                let mut rows = gram.chunks_exact_mut(n + m);
                rows.by_ref().zip(own.chunks_exact(n)).for_each(|(to, row)| to[..n].copy_from_slice(row));
                let mut with_rows = Vec::new();
                for (r, row) in other.rows.iter().enumerate() {
                    products(&self.rows, &in_full(row), &mut with_rows);
                    for (c, &product) in with_rows.iter().enumerate() {
                        gram[(n + r) * (n + m) + c] = product;
                        gram[c * (n + m) + n + r] = product;
                    }
                    gram[(n + r) * (n + m) + n..][..m].copy_from_slice(&others[r * m..][..m]);
                }
                let weights = [&self.weights[..], &other.weights].concat();
                let mut both = Self { weights, form: Form::few(gram), ..Self::new(self.n_axes, self.scale) };
                both.factorise();
                both.ln_det
            }
        }
    }

    /// From how many faces on the D x D form is cheaper; back at half of it.
    fn many(&self) -> usize {
        (self.n_axes / 4).max(8)
    }

    /// An upper bound of `S`'s largest eigenvalue, their sum given.
    ///
    /// Of k eigenvalues with mean m and variance s^2 (which the sum and the sum of squares say) none is above
    /// m + s sqrt(k - 1); S has at most one for each axis, and one for each face but the first.
    pub fn widest(&self, trace: f64) -> f64 {
        match &self.form {
            Form::Few { widest, .. } => *widest,
            Form::Many { squares, .. } => {
                let k = self.n_axes.min(self.rows.len().saturating_sub(1)).max(1) as f64;
                // Less than rounding can have added to the sum, more than it can have taken off the squares.
                let mean = (trace * (1.0 - 1e-9)).max(0.0) / k;
                let variance = (squares * (1.0 + 1e-9) / k - mean * mean).max(0.0);
                mean + (variance * (k - 1.0)).sqrt() + 1e-6 * self.scale
            }
        }
    }

    /// A face of weight lambda joins those that sum to `sum`, weighted.
    pub fn observe(&mut self, row: &Portrait, y: &[f64], lambda: f64, sum: &[f64]) {
        match &mut self.form {
            Form::Few { .. } => self.observe_together([(row, y, lambda)]),
            Form::Many { .. } => {
                let total: f64 = self.weights.iter().sum();
                self.update(residual(y, sum, total), lambda * total / (total + lambda));
                self.rows.push(Arc::clone(row));
                self.weights.push(lambda);
                self.rebuild_if_old();
            }
        }
    }

    /// Faces join the others: as many with one factorisation as one. Only for few.
    pub fn observe_together<'a>(&mut self, faces: impl IntoIterator<Item = (&'a Portrait, &'a [f64], f64)>) {
        let before = self.rows.len();
        let mut values = Vec::new();
        for (row, y, lambda) in faces {
            self.rows.push(Arc::clone(row));
            self.weights.push(lambda);
            values.push(y);
        }
        let n = self.rows.len();
        let Form::Few { gram, .. } = &mut self.form else {
            unreachable!("only few faces have a Gram matrix")
        };
        let mut next = vec![0.0; n * n];
        for r in 0..before {
            next[r * n..r * n + before].copy_from_slice(&gram[r * before..(r + 1) * before]);
        }
        let mut with_rows = Vec::new();
        for (r, y) in (before..).zip(values) {
            products(&self.rows[..=r], y, &mut with_rows);
            for (c, &product) in with_rows.iter().enumerate() {
                next[r * n + c] = product;
                next[c * n + r] = product;
            }
        }
        *gram = next;
        if n > self.many() { self.rebuild_many() } else { self.factorise() }
    }

    /// How wide S is will not be asked before it is finished.
    pub fn draft(&mut self) {
        if let Form::Many { squares, .. } = &mut self.form {
            *squares = f64::INFINITY;
        }
    }

    /// A draft is to stay.
    pub fn finish(&mut self) {
        if matches!(self.form, Form::Many { squares, .. } if squares.is_infinite()) {
            self.rebuild_many();
        }
    }

    pub fn is_few(&self) -> bool {
        matches!(self.form, Form::Few { .. })
    }

    /// A face of weight lambda leaves; the others sum to `sum`, weighted.
    pub fn forget(&mut self, row: &Portrait, y: &[f64], lambda: f64, sum: &[f64]) {
        let n = self.n_faces() as usize;
        let at = self.position(row, lambda);
        // The order of the others stays: the Gram matrix has the same.
        self.rows.remove(at);
        self.weights.remove(at);
        let is_small = n - 1 < self.many() / 2;
        match &mut self.form {
            Form::Few { gram, .. } => {
                let kept = (0..n * n).filter(|cell| cell / n != at && cell % n != at);
                *gram = kept.map(|cell| gram[cell]).collect();
                self.factorise();
            }
            Form::Many { .. } if is_small => self.rebuild_few(),
            Form::Many { .. } => {
                let left: f64 = self.weights.iter().sum();
                self.update(residual(y, sum, left), -lambda * left / (left + lambda));
                self.rebuild_if_old();
            }
        }
    }

    /// A face gets another weight; the others sum to `sum`, weighted.
    pub fn reweigh(&mut self, row: &Portrait, y: &[f64], from: f64, to: f64, sum: &[f64]) {
        let at = self.position(row, from);
        self.weights[at] = to;
        match &mut self.form {
            Form::Few { .. } => self.factorise(),
            Form::Many { .. } => {
                let others: f64 = self.weights.iter().sum::<f64>() - to;
                let gain = |lambda: f64| lambda * others / (others + lambda);
                self.update(residual(y, sum, others), gain(to) - gain(from));
                self.rebuild_if_old();
            }
        }
    }

    /// Where a face of the group stands.
    fn position(&self, face: &Portrait, lambda: f64) -> usize {
        let mut rows = self.rows.iter().zip(&self.weights);
        let is_it = |row: &Portrait| Arc::ptr_eq(row, face) || row == face;
        let at = rows.position(|(row, weight)| *weight == lambda && is_it(row));
        at.expect("the face is one of the group")
    }

    /// `(y - ybar)^T (P I + S)^-1 (y - ybar)`, the faces' weighted sum given.
    pub fn quadratic(&self, y: &[f64], square: f64, sum: &[f64]) -> f64 {
        self.quadratic_unless(y, square, sum, |_| false).unwrap_or_else(|least| least)
    }

    /// The same, or a number that it is not below and that `is_enough`. Of many faces the first axes alone give
    /// such numbers, half of them for a quarter of the work.
    pub fn quadratic_unless(
        &self,
        y: &[f64],
        square: f64,
        sum: &[f64],
        is_enough: impl Fn(f64) -> bool,
    ) -> Result<f64, f64> {
        let total: f64 = self.weights.iter().sum();
        let Form::Many { root, .. } = &self.form else { return Ok(self.quadratic_of_few(y, square, total)) };
        let (e, d) = (residual(y, sum, total), self.n_axes);
        let (mut form, mut from) = (0.0, 0);
        for to in [d / 8, d / 4, 3 * d / 8, d / 2, 3 * d / 4] {
            form += triangle::part_of_form(root, &e, from..to);
            if is_enough(form) {
                return Err(form);
            }
            from = to;
        }
        Ok(form + triangle::part_of_form(root, &e, from..d))
    }

    fn quadratic_of_few(&self, y: &[f64], square: f64, total: f64) -> f64 {
        let Form::Few { means, mean, factor, .. } = &self.form else {
            unreachable!("only few faces have a Gram matrix")
        };
        let mut v = Vec::new();
        products(&self.rows, y, &mut v);
        let with_mean = v.iter().zip(&self.weights).map(|(v, w)| v * w).sum::<f64>() / total;
        let distance = square - 2.0 * with_mean + mean;
        if v.len() == 1 {
            return distance.max(0.0) / self.scale;
        }
        let own = means.iter().zip(&self.weights);
        v.iter_mut().zip(own).for_each(|(v, (own, w))| *v = w.sqrt() * (*v - with_mean - own + mean));
        // With factor u = v, e^T (P I + S)^-1 e = (|e|^2 - |u|^2) / P.
        triangle::solve(factor, v.len(), &mut v);
        (distance - dot(&v, &v)).max(0.0) / self.scale
    }

    /// Centres the Gram matrix and factorises `P I + sqrt(lambda_r lambda_c) centred`.
    fn factorise(&mut self) {
        let n = self.weights.len();
        let weights = &self.weights;
        let Form::Few { gram, means, mean, factor, widest } = &mut self.form else {
            unreachable!("only few faces have a Gram matrix")
        };
        let total: f64 = weights.iter().sum();
        let weighted = |row: &[f64]| row.iter().zip(weights).map(|(g, w)| g * w).sum::<f64>() / total;
        *means = gram.chunks_exact(n).map(weighted).collect();
        *mean = weighted(means);
        factor.clear();
        factor.resize(n * n, 0.0);
        let mut ln_det = -(n as f64) * self.scale.ln();
        let mut squares = 0.0;
        let mut rows = vec![0.0; n];
        for r in 0..n {
            let (above, row) = factor.split_at_mut(r * n);
            for c in 0..=r {
                let centred =
                    (weights[r] * weights[c]).sqrt() * (gram[r * n + c] - means[r] - means[c] + *mean);
                squares += if r == c { 1.0 } else { 2.0 } * centred * centred;
                rows[r] += centred.abs();
                rows[c] += if r == c { 0.0 } else { centred.abs() };
                row[c] = centred;
            }
            triangle::solve(above, n, &mut row[..r]);
            row[r] = (row[r] + self.scale - dot(&row[..r], &row[..r])).sqrt();
            ln_det += 2.0 * row[r].ln();
        }
        // S has the eigenvalues of the centred Gram matrix, the largest of which is at most its Frobenius
        // norm, and at most the largest sum of a row's absolute values.
        *widest = squares.sqrt().min(rows.into_iter().fold(0.0, f64::max));
        self.ln_det = ln_det;
    }

    fn rebuild_few(&mut self) {
        let mut gram = Vec::new();
        let mut with_rows = Vec::new();
        for row in &self.rows {
            products(&self.rows, &in_full(row), &mut with_rows);
            gram.extend_from_slice(&with_rows);
        }
        self.form = Form::few(gram);
        self.factorise();
    }

    /// The triangle from all faces at once: a product of matrices and a factorisation.
    fn rebuild_many(&mut self) {
        let (n_axes, total) = (self.n_axes, self.weights.iter().sum::<f64>());
        let mut mean = vec![0.0; n_axes];
        for (row, weight) in self.rows.iter().zip(&self.weights) {
            mean.iter_mut().zip(&**row).for_each(|(mean, &y)| *mean += weight / total * f64::from(y));
        }
        let residual = |axis: usize, face: usize| {
            self.weights[face].sqrt() * (f64::from(self.rows[face][axis]) - mean[axis])
        };
        let residuals = Mat::from_fn(n_axes, self.rows.len(), residual);
        let mut matrix = Mat::zeros(n_axes, n_axes);
        let (to, by) = (matrix.as_mut(), residuals.transpose());
        matmul(to, Accum::Replace, residuals.as_ref(), by, 1.0, Par::Seq);
        let squares = matrix.squared_norm_l2();
        (0..n_axes).for_each(|axis| matrix[(axis, axis)] += self.scale);
        let mut inverse = Mat::full(n_axes, n_axes, f64::NAN);
        // Not positive definite is what no number describes: whoever weighs such faces is told.
        if let Ok(factor) = matrix.llt(Side::Lower) {
            invert_lower_triangular(inverse.as_mut(), factor.L(), Par::Seq);
        }
        let root: Vec<f64> =
            (0..n_axes).flat_map(|r| (0..=r).map(move |c| (r, c))).map(|cell| inverse[cell]).collect();
        let ln_diagonal: f64 = (0..n_axes).map(|axis| inverse[(axis, axis)].ln()).sum();
        self.ln_det = -2.0 * ln_diagonal - n_axes as f64 * self.scale.ln();
        self.form = Form::Many { root, squares, n_updates: 0 };
    }

    /// S := S + c e e^T, of many faces.
    fn update(&mut self, e: Vec<f64>, c: f64) {
        let Form::Many { root, squares, n_updates } = &mut self.form else {
            unreachable!("only many faces have a triangle")
        };
        if squares.is_finite() {
            let square = dot(&e, &e);
            // |S + c e e^T|^2 = |S|^2 + 2 c e^T S e + c^2 |e|^4, and e^T S e = e^T (P I + S) e - P |e|^2.
            let form = triangle::form_of_inverse(root, &e) - self.scale * square;
            *squares += 2.0 * c * form + (c * square).powi(2);
        }
        self.ln_det += triangle::update(root, &e, c);
        *n_updates += 1;
    }

    fn rebuild_if_old(&mut self) {
        if matches!(self.form, Form::Many { n_updates, .. } if n_updates >= UPDATES) {
            self.rebuild_many();
        }
    }
}

impl Form {
    fn few(gram: Vec<f64>) -> Self {
        Self::Few { gram, means: Vec::new(), mean: 0.0, factor: Vec::new(), widest: 0.0 }
    }
}

/// y - ybar, where faces of weight `total` sum to `sum`, weighted.
fn residual(y: &[f64], sum: &[f64], total: f64) -> Vec<f64> {
    y.iter().zip(sum).map(|(y, s)| y - s / total).collect()
}

fn in_full(row: &[f32]) -> Vec<f64> {
    row.iter().map(|&y| f64::from(y)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Rng, driver};

    fn face(rng: &mut Rng, d: usize) -> (Portrait, Vec<f64>) {
        let row: Portrait = (0..d).map(|axis| (3.0 + (1.0 + axis as f64) * rng.normal()) as f32).collect();
        let y = in_full(&row);
        (row, y)
    }

    fn weight(rng: &mut Rng) -> f64 {
        (0.3 * rng.normal()).exp()
    }

    /// A scatter made at once from the same faces.
    fn afresh(scatter: &Scatter) -> (Scatter, Vec<f64>) {
        let mut fresh = Scatter::new(scatter.n_axes, scatter.scale);
        let mut sum = vec![0.0; scatter.n_axes];
        for (row, &lambda) in scatter.rows.iter().zip(&scatter.weights) {
            let y = in_full(row);
            fresh.observe(row, &y, lambda, &sum);
            sum.iter_mut().zip(&y).for_each(|(sum, y)| *sum += lambda * y);
        }
        (fresh, sum)
    }

    #[test]
    fn both_forms_give_the_same_numbers() {
        let (d, mut rng) = (8, driver(1));
        let mut scatter = Scatter::new(d, 9.0);
        let mut sum = vec![0.0; d];
        for _ in 0..30 {
            let ((row, y), lambda) = (face(&mut rng, d), weight(&mut rng));
            scatter.observe(&row, &y, lambda, &sum);
            sum.iter_mut().zip(&y).for_each(|(sum, y)| *sum += lambda * y);
            let (mut few, mut many) = (scatter.clone(), scatter.clone());
            few.rebuild_few();
            many.rebuild_many();
            let (_, probe) = face(&mut rng, d);
            let square = dot(&probe, &probe);
            let (a, b) = (few.quadratic(&probe, square, &sum), many.quadratic(&probe, square, &sum));
            let total: f64 = scatter.weights.iter().sum();
            let distance: f64 = probe.iter().zip(&sum).map(|(y, s)| (y - s / total).powi(2)).sum();
            let trace: f64 = scatter
                .rows
                .iter()
                .zip(&scatter.weights)
                .map(|(row, w)| {
                    let e = residual(&in_full(row), &sum, total);
                    w * dot(&e, &e)
                })
                .sum();
            for widest in [few.widest(trace), many.widest(trace)] {
                assert!(a > (1.0 - 1e-9) * distance / (9.0 + widest), "{a} {distance} {widest}");
            }
            // Stopped on the way, it has come to less.
            for enough in [0.0, 0.3 * a, 0.7 * a] {
                let part = many.quadratic_unless(&probe, square, &sum, |q| q > enough);
                assert!(part.is_ok_and(|q| q == b) || part.is_err_and(|q| q > enough && q <= b), "{part:?}");
            }
            assert!((a - b).abs() < 1e-9 * (1.0 + a), "{a} {b}");
            assert!((few.ln_det() - many.ln_det()).abs() < 1e-9, "{} {}", few.ln_det(), many.ln_det());
        }
    }

    /// Two groups of as many faces as there are forms for, and more than there are axes.
    #[test]
    fn two_groups_weigh_together_what_one_of_all_their_faces_does() {
        let (d, mut rng) = (40, driver(3));
        let mut group = |n: usize| {
            let (mut scatter, mut sum) = (Scatter::new(d, 60.0), vec![0.0; d]);
            for _ in 0..n {
                let ((row, y), lambda) = (face(&mut rng, d), weight(&mut rng));
                scatter.draft();
                scatter.observe(&row, &y, lambda, &sum);
                sum.iter_mut().zip(&y).for_each(|(sum, y)| *sum += lambda * y);
            }
            assert_eq!(scatter.is_few(), n <= 10);
            (scatter, sum)
        };
        let sizes = [1, 2, 10, 11, 30, 90];
        let groups = sizes.map(&mut group);
        for (one, sum) in &groups {
            for (other, other_sum) in &groups {
                let (mut all, mut all_sum) = (one.clone(), sum.clone());
                for (row, &lambda) in other.rows.iter().zip(&other.weights) {
                    let y = in_full(row);
                    all.observe(row, &y, lambda, &all_sum);
                    all_sum.iter_mut().zip(&y).for_each(|(sum, y)| *sum += lambda * y);
                }
                let (found, wanted) = (one.ln_det_with(sum, other, other_sum), all.ln_det());
                assert!((found - wanted).abs() < 1e-9 * (1.0 + wanted), "{found} {wanted}");
            }
        }
        // A draft does not say how wide it is before it is finished.
        for (scatter, _) in groups {
            let mut finished = scatter.clone();
            finished.finish();
            assert_eq!(scatter.widest(1e4).is_finite(), scatter.n_faces() <= 11);
            assert!(finished.widest(1e4).is_finite() && (finished.ln_det() - scatter.ln_det()).abs() < 1e-9);
        }
    }

    /// A million insertions and removals, through both forms, across the border between them.
    #[test]
    fn a_million_moves_lose_no_digits_that_matter() {
        let (d, mut rng) = (8, driver(2));
        let mut scatter = Scatter::new(d, 9.0);
        let mut sum = vec![0.0; d];
        let mut faces: Vec<(Portrait, Vec<f64>, f64)> = Vec::new();
        for step in 0..1_000_000 {
            // The size wanders between 1 and 24 faces; now and then one gets another weight.
            let grows = faces.len() < 2 || faces.len() < 24 && rng.bernoulli(0.5);
            if faces.len() > 1 && rng.bernoulli(0.2) {
                let (at, to) = (rng.below(faces.len()), weight(&mut rng));
                let (row, y, from) = &mut faces[at];
                sum.iter_mut().zip(&*y).for_each(|(sum, y)| *sum -= *from * y);
                scatter.reweigh(row, y, *from, to, &sum);
                sum.iter_mut().zip(&*y).for_each(|(sum, y)| *sum += to * y);
                *from = to;
            } else if grows {
                let ((row, y), lambda) = (face(&mut rng, d), weight(&mut rng));
                scatter.observe(&row, &y, lambda, &sum);
                sum.iter_mut().zip(&y).for_each(|(sum, y)| *sum += lambda * y);
                faces.push((row, y, lambda));
            } else {
                let (row, y, lambda) = faces.swap_remove(rng.below(faces.len()));
                sum.iter_mut().zip(&y).for_each(|(sum, y)| *sum -= lambda * y);
                scatter.forget(&row, &y, lambda, &sum);
            }
            if step % 100_000 == 99_999 {
                let (fresh, fresh_sum) = afresh(&scatter);
                let (_, probe) = face(&mut rng, d);
                let square = dot(&probe, &probe);
                let (a, b) =
                    (scatter.quadratic(&probe, square, &sum), fresh.quadratic(&probe, square, &fresh_sum));
                assert!((a - b).abs() < 1e-8 * (1.0 + b), "{a} {b}");
                assert!((scatter.ln_det() - fresh.ln_det()).abs() < 1e-8, "{step}");
                if scatter.is_few() == fresh.is_few() {
                    let (a, b) = (scatter.widest(0.0), fresh.widest(0.0));
                    assert!((a - b).abs() < 1e-6 * (1.0 + b), "{step}: {a} {b}");
                }
            }
        }
    }
}

//! A positive definite matrix by the inverse G of its Cholesky factor: `M = C C^T`, `G = C^-1`, so
//! `M^-1 = G^T G`.
//!
//! G is lower triangular and kept row after row, each as long as it has entries.

use std::ops::Range;

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, Mat, MatRef, Par, Side};
use pulp::Arch;

use super::vectors::dot_in_lanes;

/// x^T M^-1 x = |G x|^2.
pub fn quadratic_form(root: &[f64], x: &[f64]) -> f64 {
    part_of_form(root, x, 0..x.len())
}

/// What some coordinates of G x add to |G x|^2: n of the first cost n^2.
pub fn part_of_form(root: &[f64], x: &[f64], rows: Range<usize>) -> f64 {
    Arch::new().dispatch(QuadraticForm { root, x, rows })
}

/// The loop of [`part_of_form`].
struct QuadraticForm<'a> {
    root: &'a [f64],
    x: &'a [f64],
    rows: Range<usize>,
}

impl pulp::NullaryFnOnce for QuadraticForm<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let Range { start, end } = self.rows;
        let (mut form, mut rest) = (0.0, &self.root[start * (start + 1) / 2..]);
        for r in start..end {
            let (row, next) = rest.split_at(r + 1);
            let image = dot_in_lanes(row, &self.x[..r + 1]);
            form += image * image;
            rest = next;
        }
        form
    }
}

/// x^T M x = |u|^2 with G^T u = x.
pub fn form_of_inverse(root: &[f64], x: &[f64]) -> f64 {
    Arch::new().dispatch(FormOfInverse { root, x })
}

/// The loop of [`form_of_inverse`].
struct FormOfInverse<'a> {
    root: &'a [f64],
    x: &'a [f64],
}

impl pulp::NullaryFnOnce for FormOfInverse<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let mut left = self.x.to_vec();
        let mut form = 0.0;
        for r in (0..left.len()).rev() {
            let row = &self.root[r * (r + 1) / 2..(r + 1) * (r + 2) / 2];
            let (before, own) = left.split_at_mut(r);
            let u = own[0] / row[r];
            before.iter_mut().zip(row).for_each(|(left, g)| *left -= u * g);
            form += u * u;
        }
        form
    }
}

/// Moves G from M to `M + c x x^T`; returns what ln |M| gains.
///
/// With p = G x the new factor is C K, `K K^T = I + c p p^T`. The rows of K^-1 are those of a regression of
/// each coordinate on those before it: with `s_r = 1 + c (p_1^2 + ... + p_r^2)`, the r-th row of K^-1 G is
/// `sqrt(s_(r-1) / s_r) (G_r - (c p_r / s_(r-1)) sum_(k<r) p_k G_k)`. All in one pass over G.
pub fn update(root: &mut [f64], x: &[f64], c: f64) -> f64 {
    Arch::new().dispatch(Update { root, x, c })
}

/// The loop of [`update`].
struct Update<'a> {
    root: &'a mut [f64],
    x: &'a [f64],
    c: f64,
}

impl pulp::NullaryFnOnce for Update<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let Self { root, x, c } = self;
        let mut s = 1.0;
        // The sum over the rows so far of p_k G_k.
        let mut sum = vec![0.0; x.len()];
        let mut rest = root;
        for r in 0..x.len() {
            let (row, next) = rest.split_at_mut(r + 1);
            let p = dot_in_lanes(row, &x[..r + 1]);
            let grown = s + c * p * p;
            let (shrink, slope) = ((s / grown).sqrt(), c * p / s);
            for (cell, sum) in row.iter_mut().zip(&mut sum) {
                let before = *cell;
                *cell = shrink * (before - slope * *sum);
                *sum += p * before;
            }
            s = grown;
            rest = next;
        }
        s.ln()
    }
}

/// u with L u = v, in the place of v. As many rows of L as v is long are looked at, up to the diagonal; they
/// stand `n` numbers apart.
pub fn solve(lower: &[f64], n: usize, v: &mut [f64]) {
    Arch::new().dispatch(Solve { lower, n, v });
}

/// The loop of [`solve`].
struct Solve<'a> {
    lower: &'a [f64],
    n: usize,
    v: &'a mut [f64],
}

impl pulp::NullaryFnOnce for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { lower, n, v } = self;
        for (r, row) in lower.chunks_exact(n).take(v.len()).enumerate() {
            let (solved, rest) = v.split_at_mut(r);
            let (l, u) = (row[..r].as_chunks::<4>(), solved.as_chunks::<4>());
            let mut sums = [0.0; 4];
            for (l, u) in l.0.iter().zip(u.0) {
                (0..4).for_each(|lane| sums[lane] += l[lane] * u[lane]);
            }
            let last: f64 = l.1.iter().zip(u.1).map(|(l, u)| l * u).sum();
            rest[0] = (rest[0] - sums.iter().sum::<f64>() - last) / row[r];
        }
    }
}

/// What ln |M| gains by `R R^T`: ln |I + V^T V| or, of more columns than axes, ln |I + V V^T|, V = G R. All at
/// once it takes a product of matrices; one column after the other it is what [`update`] returns.
pub fn gain(root: &[f64], columns: MatRef<'_, f64>) -> f64 {
    let (n, m) = (columns.nrows(), columns.ncols());
    let mut whole = vec![0.0; n * n];
    let mut rest = root;
    for (r, row) in whole.chunks_exact_mut(n).enumerate() {
        let (own, next) = rest.split_at(r + 1);
        row[..r + 1].copy_from_slice(own);
        rest = next;
    }
    let whole = MatRef::from_row_major_slice(&whole, n, n);
    let (all, lower) = (BlockStructure::Rectangular, BlockStructure::TriangularLower);
    let mut images = Mat::zeros(n, m);
    matmul(images.as_mut(), all, Accum::Replace, whole, lower, columns, all, 1.0, Par::Seq);
    let (left, right) =
        if m <= n { (images.transpose(), images.as_ref()) } else { (images.as_ref(), images.transpose()) };
    let mut gram = Mat::identity(m.min(n), m.min(n));
    matmul(gram.as_mut(), lower, Accum::Add, left, all, right, all, 1.0, Par::Seq);
    // I and more is positive definite, unless something is no number.
    let Ok(factor) = gram.llt(Side::Lower) else { return f64::NAN };
    2.0 * (0..m.min(n)).map(|r| factor.L()[(r, r)].ln()).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::driver;

    /// G of the identity matrix times `scale`.
    fn of_scale(scale: f64, n: usize) -> Vec<f64> {
        let mut root = vec![0.0; n * (n + 1) / 2];
        let over = 1.0 / scale.sqrt();
        (0..n).for_each(|r| root[r * (r + 3) / 2] = over);
        root
    }

    /// Against the matrix itself, by elimination.
    #[test]
    fn forms_and_determinants_are_those_of_the_matrix() {
        let mut rng = driver(3);
        for n in [2, 15, 17, 40] {
            let mut root = of_scale(3.0, n);
            let mut matrix = vec![0.0; n * n];
            (0..n).for_each(|r| matrix[r * n + r] = 3.0);
            let mut ln_det = n as f64 * 3f64.ln();
            let mut vector = || -> Vec<f64> { (0..n).map(|_| rng.normal()).collect() };
            let taken_out = vector();
            for (x, c) in [(vector(), 0.7), (taken_out.clone(), 2.0), (vector(), 0.2), (taken_out, -1.9)] {
                ln_det += update(&mut root, &x, c);
                for r in 0..n {
                    (0..n).for_each(|k| matrix[r * n + k] += c * x[r] * x[k]);
                }
            }
            let x = vector();
            let (form, wanted_ln_det) = solve(matrix, &x);
            let found = quadratic_form(&root, &x);
            assert!((found - form).abs() < 1e-11 * form, "{n}: {found} {form}");
            assert!((ln_det - wanted_ln_det).abs() < 1e-11 * wanted_ln_det, "{n}: {ln_det} {wanted_ln_det}");
        }
    }

    #[test]
    fn many_columns_gain_what_they_gain_one_after_the_other() {
        let (n, mut rng) = (20, driver(4));
        let mut root = of_scale(3.0, n);
        update(&mut root, &(0..n).map(|_| rng.normal()).collect::<Vec<f64>>(), 1.5);
        for m in [1, 7, 20, 33] {
            let columns = Mat::from_fn(n, m, |_, _| rng.normal());
            let mut moved = root.clone();
            let column = |c: usize| columns.col(c).iter().copied().collect::<Vec<f64>>();
            let wanted: f64 = (0..m).map(|c| update(&mut moved, &column(c), 1.0)).sum();
            let found = gain(&root, columns.as_ref());
            assert!((found - wanted).abs() < 1e-11 * wanted, "{m}: {found} {wanted}");
        }
    }

    /// x^T matrix^-1 x and ln |matrix|.
    fn solve(mut matrix: Vec<f64>, x: &[f64]) -> (f64, f64) {
        let n = x.len();
        let mut y = x.to_vec();
        let mut ln_det = 0.0;
        for k in 0..n {
            let pivot = matrix[k * n + k];
            ln_det += pivot.ln();
            for r in k + 1..n {
                let factor = matrix[r * n + k] / pivot;
                (k..n).for_each(|c| matrix[r * n + c] -= factor * matrix[k * n + c]);
                y[r] -= factor * y[k];
            }
        }
        ((0..n).map(|k| y[k] * y[k] / matrix[k * n + k]).sum(), ln_det)
    }
}

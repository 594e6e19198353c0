//! The hot loops over plain slices, compiled for the processor that is there.

use std::sync::Arc;

use pulp::Arch;

/// a . b.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    Arch::new().dispatch(|| dot_in_lanes(a, b))
}

/// One `dot` per row of a matrix with rows as long as `x`: `out[r] = matrix[r] . x`.
pub fn product(matrix: &[f64], x: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.resize(matrix.len() / x.len(), 0.0);
    Arch::new().dispatch(Product { matrix, x, out });
}

/// The loop of [`product`], which must be inlined where the processor's vector instructions are known.
struct Product<'a> {
    matrix: &'a [f64],
    x: &'a [f64],
    out: &'a mut [f64],
}

impl pulp::NullaryFnOnce for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (out, row) in self.out.iter_mut().zip(self.matrix.chunks_exact(self.x.len())) {
            *out = dot_in_lanes(row, self.x);
        }
    }
}

/// One product per row: `out[r] = rows[r] . x`.
pub fn products(rows: &[Arc<[f32]>], x: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.resize(rows.len(), 0.0);
    Arch::new().dispatch(Products { rows, x, out });
}

/// The loop of [`products`].
struct Products<'a> {
    rows: &'a [Arc<[f32]>],
    x: &'a [f64],
    out: &'a mut [f64],
}

impl pulp::NullaryFnOnce for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (out, row) in self.out.iter_mut().zip(self.rows) {
            let mut sums = [0.0; LANES];
            let (a, b) = (row.chunks_exact(LANES), self.x.chunks_exact(LANES));
            let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| f64::from(*a) * b).sum();
            for (a, b) in a.zip(b) {
                for lane in 0..LANES {
                    sums[lane] += f64::from(a[lane]) * b[lane];
                }
            }
            *out = sums.iter().sum::<f64>() + rest;
        }
    }
}

/// Independent sums that the compiler turns into vector instructions.
const LANES: usize = 16;

/// a . b, for use inside a dispatched loop.
#[inline(always)]
pub fn dot_in_lanes(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// a . b in `f32`, for use inside a dispatched loop.
#[inline(always)]
pub fn dot_in_lanes_f32(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; 2 * LANES];
    let (a, b) = (a.chunks_exact(2 * LANES), b.chunks_exact(2 * LANES));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for lane in 0..2 * LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_with_rows_are_those_of_their_numbers() {
        let row = |n: usize, k: usize| -> Vec<f32> { (0..n).map(|d| (d * k) as f32 - 3.5).collect() };
        for n in [2, 16, 35] {
            let rows: Vec<Arc<[f32]>> = (1..4).map(|k| row(n, k).into()).collect();
            let x: Vec<f64> = (0..n).map(|d| 0.5 * d as f64 + 1.0).collect();
            let mut found = Vec::new();
            products(&rows, &x, &mut found);
            for (row, found) in rows.iter().zip(found) {
                let wanted: f64 = row.iter().zip(&x).map(|(a, b)| f64::from(*a) * b).sum();
                assert_eq!(found, wanted);
            }
        }
    }
}

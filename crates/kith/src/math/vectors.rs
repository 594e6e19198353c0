//! The hot loops over plain slices, compiled for the processor that is there.

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

/// x^T matrix x, for a symmetric matrix, of which half is read.
pub fn quadratic_form(matrix: &[f64], x: &[f64]) -> f64 {
    Arch::new().dispatch(QuadraticForm { matrix, x })
}

/// The loop of [`quadratic_form`]: LANES rows at a time, what is left of the diagonal twice, the blocks on it once.
struct QuadraticForm<'a> {
    matrix: &'a [f64],
    x: &'a [f64],
}

impl pulp::NullaryFnOnce for QuadraticForm<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let Self { matrix, x } = self;
        let mut form = 0.0;
        for (r, (row, x_r)) in matrix.chunks_exact(x.len()).zip(x).enumerate() {
            let start = r / LANES * LANES;
            let end = x.len().min(start + LANES);
            let left = dot_in_lanes(&row[..start], &x[..start]);
            form += x_r * (2.0 * left + dot_in_lanes(&row[start..end], &x[start..end]));
        }
        form
    }
}

/// matrix += scale x x^T, for a square matrix.
pub fn add_outer(matrix: &mut [f64], scale: f64, x: &[f64]) {
    Arch::new().dispatch(|| {
        for (row, &x_r) in matrix.chunks_exact_mut(x.len()).zip(x) {
            let factor = scale * x_r;
            row.iter_mut().zip(x).for_each(|(m, x)| *m += factor * x);
        }
    });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::driver;

    #[test]
    fn a_form_is_that_of_the_whole_matrix() {
        let mut rng = driver(3);
        for n in [2, 15, 16, 17, 40] {
            let x: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
            let mut matrix = vec![0.0; n * n];
            for _ in 0..3 {
                let other: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
                add_outer(&mut matrix, 0.7, &other);
            }
            let mut image = Vec::new();
            product(&matrix, &x, &mut image);
            let (whole, half) = (dot(&image, &x), quadratic_form(&matrix, &x));
            assert!((whole - half).abs() < 1e-12 * (1.0 + whole.abs()), "{n}: {whole} {half}");
        }
    }
}

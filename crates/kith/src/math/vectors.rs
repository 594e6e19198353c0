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

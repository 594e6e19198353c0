//! Lower bounds on the quadratic forms `e^T (P I + S)^-1 e`, `e = y - ybar`, of a block of faces with an identity of
//! several faces, by products of matrices in `f32`.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use pulp::{Arch, Simd, WithSimd};

use crate::model::face::{QuadraticForm, bands};

/// Room to work forms out.
#[derive(Clone, Debug, Default)]
pub(super) struct Forms {
    residuals: Vec<f32>,
    squares: Vec<f32>,
    images: Vec<f32>,
    /// Lower bounds on the forms asked for last, one per face.
    pub lower_bounds: Vec<f32>,
}

impl Forms {
    /// Works out lower bounds on the forms of faces with an identity whose faces sum to `sum`; none where it has no form.
    /// `safe` is 1 minus what rounding may add to a square.
    pub fn take<'a>(
        &mut self,
        form: &QuadraticForm,
        faces: impl ExactSizeIterator<Item = &'a [f32]>,
        sum: &[f32],
        safe: f64,
    ) {
        self.lower_bounds.clear();
        if form.is_empty() {
            return;
        }
        let n_axes = sum.len();
        let n_faces = faces.len();
        self.residuals.resize(n_faces * n_axes, 0.0);
        self.squares.resize(n_faces, 0.0);
        self.lower_bounds.resize(n_faces, 0.0);
        let over_total = (1.0 / form.total) as f32;
        let (residuals, squares) = (&mut self.residuals[..], &mut self.squares[..]);
        Arch::new().dispatch(Residuals { faces, sum, over_total, residuals, squares });
        let mut height = n_axes;
        if form.is_root {
            let mut rest = &form.matrix[..];
            for (first, end) in bands(n_axes) {
                let (band, next) = rest.split_at((end - first) * end);
                self.add_images(band, end);
                rest = next;
            }
        } else {
            height = form.matrix.len() / n_axes;
            self.add_images(&form.matrix, n_axes);
        }
        // A cell of the product is off by at most D 2^-24 times the products of absolute values. Those of G have a norm
        // of at most sqrt(D / P), those of R of at most sqrt(height).
        let off = ((1.0 - safe) * (1.0 + 2.0 * (height as f64).sqrt()) / form.scale) as f32;
        let over_scale = (1.0 / form.scale) as f32;
        for (lower_bound, square) in self.lower_bounds.iter_mut().zip(&self.squares) {
            let form = if form.is_root { *lower_bound } else { over_scale * (square - *lower_bound) };
            *lower_bound = (form - off * square).max(0.0);
        }
    }

    /// Adds the squares of the residuals' images under a matrix with `width` columns.
    fn add_images(&mut self, matrix: &[f32], width: usize) {
        let (n_faces, height) = (self.lower_bounds.len(), matrix.len() / width);
        let n_axes = self.residuals.len() / n_faces;
        self.images.resize(n_faces * height, 0.0);
        let residuals = MatRef::from_column_major_slice(&self.residuals, n_axes, n_faces);
        matmul(
            MatMut::from_column_major_slice_mut(&mut self.images, height, n_faces),
            Accum::Replace,
            MatRef::from_column_major_slice(matrix, height, width),
            residuals.subrows(0, width),
            1.0,
            Par::Seq,
        );
        Arch::new().dispatch(AddSquares { images: &self.images, height, sums: &mut self.lower_bounds });
    }
}

/// Each face less the mean, and the square of that.
struct Residuals<'a, F> {
    faces: F,
    sum: &'a [f32],
    over_total: f32,
    residuals: &'a mut [f32],
    squares: &'a mut [f32],
}

impl<'a, F: Iterator<Item = &'a [f32]>> WithSimd for Residuals<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let n_axes = self.sum.len();
        let faces = self.faces.zip(self.residuals.chunks_exact_mut(n_axes));
        for ((face, residual), square) in faces.zip(self.squares) {
            for ((to, y), sum) in residual.iter_mut().zip(face).zip(self.sum) {
                *to = y - self.over_total * sum;
            }
            *square = square_of(simd, residual);
        }
    }
}

/// `sum += |image|^2` for each face.
struct AddSquares<'a> {
    images: &'a [f32],
    height: usize,
    sums: &'a mut [f32],
}

impl WithSimd for AddSquares<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (sum, image) in self.sums.iter_mut().zip(self.images.chunks_exact(self.height)) {
            *sum += square_of(simd, image);
        }
    }
}

/// x . x, in as many lanes as there are.
#[inline(always)]
fn square_of<S: Simd>(simd: S, x: &[f32]) -> f32 {
    let (lanes, rest) = S::as_simd_f32s(x);
    let (pairs, single) = pulp::as_arrays::<2, _>(lanes);
    let mut sums = [simd.splat_f32s(0.0); 2];
    for &[a, b] in pairs {
        sums = [simd.mul_add_f32s(a, a, sums[0]), simd.mul_add_f32s(b, b, sums[1])];
    }
    for &a in single {
        sums[0] = simd.mul_add_f32s(a, a, sums[0]);
    }
    let rest = simd.partial_load_f32s(rest);
    sums[1] = simd.mul_add_f32s(rest, rest, sums[1]);
    simd.reduce_sum_f32s(simd.add_f32s(sums[0], sums[1]))
}

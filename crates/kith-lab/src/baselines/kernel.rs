//! The RBF kernel `exp(-gamma |x - y|^2)` on embeddings.

/// `|x - y|^2`.
pub fn squared_distance(x: &[f32], y: &[f32]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (f64::from(*x) - f64::from(*y)).powi(2)).sum()
}

/// A kernel of one width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rbf {
    /// One over twice the variance.
    pub gamma: f64,
}

impl Rbf {
    /// At a squared distance.
    pub fn at(&self, squared_distance: f64) -> f64 {
        (-self.gamma * squared_distance).exp()
    }

    /// Of two points.
    pub fn of(&self, x: &[f32], y: &[f32]) -> f64 {
        self.at(squared_distance(x, y))
    }

    /// Of all pairs of points, one row after the other.
    pub fn matrix(&self, points: &[&[f32]]) -> Vec<f64> {
        let n = points.len();
        let mut matrix = vec![1.0; n * n];
        for row in 0..n {
            for column in 0..row {
                let value = self.of(points[row], points[column]);
                matrix[row * n + column] = value;
                matrix[column * n + row] = value;
            }
        }
        matrix
    }
}

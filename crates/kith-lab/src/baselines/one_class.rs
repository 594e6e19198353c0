//! The one-class SVM (Schoelkopf et al. 2001) with an RBF kernel, by sequential minimal optimisation.

use super::Rbf;

/// The share of training points that may be called outliers; the usual default.
const NU: f64 = 0.5;
/// How far a pair may violate the optimality conditions at the end.
const TOLERANCE: f64 = 1e-6;

/// A trained one-class SVM.
#[derive(Clone, Debug)]
pub struct OneClassSvm<'a> {
    kernel: Rbf,
    points: Vec<&'a [f32]>,
    /// One per point, 0 to 1, with sum nu n.
    alpha: Vec<f64>,
    rho: f64,
}

impl<'a> OneClassSvm<'a> {
    /// Minimises 1/2 alpha^T K alpha subject to 0 <= alpha <= 1 and sum alpha = nu n, always moving the pair
    /// that violates the optimality conditions most.
    pub fn train(points: &[&'a [f32]], kernel: Rbf) -> Self {
        let n = points.len();
        assert!(n > 0, "an SVM is trained on at least one point");
        let k = kernel.matrix(points);
        let mut alpha: Vec<f64> = (0..n).map(|i| (NU * n as f64 - i as f64).clamp(0.0, 1.0)).collect();
        let mut gradient: Vec<f64> =
            k.chunks_exact(n).map(|row| row.iter().zip(&alpha).map(|(k, a)| k * a).sum()).collect();
        loop {
            let up = (0..n).filter(|&i| alpha[i] < 1.0).min_by(|&a, &b| gradient[a].total_cmp(&gradient[b]));
            let down =
                (0..n).filter(|&i| alpha[i] > 0.0).max_by(|&a, &b| gradient[a].total_cmp(&gradient[b]));
            let (Some(up), Some(down)) = (up, down) else { break };
            let violation = gradient[down] - gradient[up];
            if violation < TOLERANCE {
                break;
            }
            let curvature = (2.0 - 2.0 * k[up * n + down]).max(1e-12);
            let step = (violation / curvature).min(1.0 - alpha[up]).min(alpha[down]);
            alpha[up] += step;
            alpha[down] -= step;
            // A step that ends at a bound ends exactly there, so that it is not taken again.
            [up, down].into_iter().for_each(|i| {
                if alpha[i] < 1e-12 {
                    alpha[i] = 0.0;
                } else if alpha[i] > 1.0 - 1e-12 {
                    alpha[i] = 1.0;
                }
            });
            for (i, g) in gradient.iter_mut().enumerate() {
                *g += step * (k[up * n + i] - k[down * n + i]);
            }
        }
        let rho = offset(&alpha, &gradient);
        Self { kernel, points: points.to_vec(), alpha, rho }
    }

    /// Positive inside, negative outside: `sum_i alpha_i k(x_i, x) - rho`.
    pub fn decision(&self, x: &[f32]) -> f64 {
        let support = self.points.iter().zip(&self.alpha).filter(|(_, alpha)| **alpha > 0.0);
        support.map(|(point, alpha)| alpha * self.kernel.of(point, x)).sum::<f64>() - self.rho
    }
}

/// rho: the gradient at points strictly between the bounds, or half-way between what the bounds allow.
fn offset(alpha: &[f64], gradient: &[f64]) -> f64 {
    let free: Vec<f64> =
        alpha.iter().zip(gradient).filter(|(a, _)| **a > 0.0 && **a < 1.0).map(|(_, g)| *g).collect();
    if !free.is_empty() {
        return free.iter().sum::<f64>() / free.len() as f64;
    }
    let at = |bound: f64| alpha.iter().zip(gradient).filter(move |(a, _)| **a == bound).map(|(_, g)| *g);
    let (low, high) = (at(1.0).fold(f64::NEG_INFINITY, f64::max), at(0.0).fold(f64::INFINITY, f64::min));
    if high.is_finite() { 0.5 * (low + high) } else { low }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twenty points on a knot: (sin k, cos 2k, sin(3k + 1) / 2).
    fn points() -> Vec<[f32; 3]> {
        let of = |k: f64| [k.sin() as f32, (2.0 * k).cos() as f32, (0.5 * (3.0 * k + 1.0).sin()) as f32];
        (0..20).map(|k| of(f64::from(k))).collect()
    }

    /// scikit-learn 1.9.1: OneClassSVM(gamma=gamma, nu=0.5, tol=1e-12).fit(X), -intercept_,
    /// decision_function(Q).
    #[test]
    fn it_agrees_with_scikit_learn() {
        let values = points();
        let points: Vec<&[f32]> = values.iter().map(|value| &value[..]).collect();
        let asked: [[f32; 3]; 3] = [[0.0, 0.0, 0.0], [1.0, 0.5, -0.2], [3.0, 0.0, 1.0]];
        for (gamma, rho, decisions) in [
            (0.5, 3.823801389961, [0.985856653238, -0.749638031413, -3.651733129417]),
            (5.0, 0.936822909291, [-0.725390586509, -0.735057729277, -0.936822909288]),
        ] {
            let svm = OneClassSvm::train(&points, Rbf { gamma });
            assert!((svm.rho - rho).abs() < 1e-5, "{} {rho}", svm.rho);
            for (x, wanted) in asked.iter().zip(decisions) {
                assert!((svm.decision(x) - wanted).abs() < 1e-5, "{} {wanted}", svm.decision(x));
            }
            assert!((svm.alpha.iter().sum::<f64>() - 10.0).abs() < 1e-9);
        }
    }

    #[test]
    fn one_point_is_its_own_centre() {
        let svm = OneClassSvm::train(&[&[1.0, 2.0]], Rbf { gamma: 1.0 });
        assert!(svm.decision(&[1.0, 2.0]).abs() < 1e-12 && svm.decision(&[1.0, 3.0]) < -0.1);
    }
}

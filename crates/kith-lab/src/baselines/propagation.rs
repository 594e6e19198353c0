//! Label propagation (Zhu & Ghahramani 2002): names flow along similarities until they rest.

use super::Rbf;

/// Labels at rest on a graph of training points.
#[derive(Clone, Debug)]
pub struct LabelPropagation<'a> {
    kernel: Rbf,
    points: Vec<&'a [f32]>,
    n_labels: usize,
    /// Per point, the share of each label.
    shares: Vec<f64>,
}

/// What the graph says of a new point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Propagated {
    /// The label with the largest share.
    pub label: usize,
    /// Its share among all labels.
    pub share: f64,
    /// The similarity to the nearest point: small far from everybody.
    pub similarity: f64,
}

impl<'a> LabelPropagation<'a> {
    /// The fixed point of F = T F with the labelled rows clamped, T the similarities with rows normalised:
    /// `F_U = (I - T_UU)^-1 T_UL Y_L`.
    pub fn fit(points: &[&'a [f32]], labels: &[Option<usize>], n_labels: usize, kernel: Rbf) -> Self {
        assert_eq!(points.len(), labels.len(), "one label, or none, per point");
        let n = points.len();
        let k = kernel.matrix(points);
        let mut shares = vec![0.0; n * n_labels];
        for (point, label) in labels.iter().enumerate() {
            if let Some(label) = label {
                shares[point * n_labels + label] = 1.0;
            }
        }
        let open: Vec<usize> = (0..n).filter(|&point| labels[point].is_none()).collect();
        let width = open.len() + n_labels;
        let mut system = vec![0.0; open.len() * width];
        for (row, &point) in open.iter().enumerate() {
            let similar = &k[point * n..][..n];
            let total: f64 = similar.iter().sum();
            let equation = &mut system[row * width..][..width];
            for (column, &other) in open.iter().enumerate() {
                equation[column] = f64::from(u8::from(row == column)) - similar[other] / total;
            }
            for (other, label) in labels.iter().enumerate() {
                if let Some(label) = label {
                    equation[open.len() + label] += similar[other] / total;
                }
            }
        }
        solve(&mut system, open.len(), n_labels);
        for (row, &point) in open.iter().enumerate() {
            let solution = &system[row * width + open.len()..][..n_labels];
            shares[point * n_labels..][..n_labels].copy_from_slice(solution);
        }
        Self { kernel, points: points.to_vec(), n_labels, shares }
    }

    /// The label of a new point: the labels of all others, each by its similarity. `None` where it is like
    /// nobody.
    pub fn predict(&self, x: &[f32]) -> Option<Propagated> {
        let mut mass = vec![0.0; self.n_labels];
        let mut nearest: f64 = 0.0;
        for (point, shares) in self.points.iter().zip(self.shares.chunks_exact(self.n_labels)) {
            let similarity = self.kernel.of(point, x);
            nearest = nearest.max(similarity);
            mass.iter_mut().zip(shares).for_each(|(mass, share)| *mass += similarity * share);
        }
        let total: f64 = mass.iter().sum();
        let label = (0..self.n_labels).max_by(|&a, &b| mass[a].total_cmp(&mass[b]).then(b.cmp(&a)))?;
        (total > 0.0).then(|| Propagated { label, share: mass[label] / total, similarity: nearest })
    }
}

/// Solves A X = B in place, rows holding A then B, by elimination with row pivots. Where A leaves something
/// open (points like nobody that is labelled), it becomes zero.
fn solve(system: &mut [f64], n: usize, n_right: usize) {
    let width = n + n_right;
    for step in 0..n {
        let size = |row: &usize| system[row * width + step].abs();
        let pivot = (step..n).max_by(|a, b| size(a).total_cmp(&size(b))).expect("rows are left");
        if pivot != step {
            (0..width).for_each(|column| system.swap(pivot * width + column, step * width + column));
        }
        let (above, below) = system.split_at_mut((step + 1) * width);
        let top = &mut above[step * width..];
        if top[step].abs() < 1e-13 {
            top[step..].fill(0.0);
            top[step] = 1.0;
        }
        for row in below.chunks_exact_mut(width) {
            let factor = row[step] / top[step];
            if factor != 0.0 {
                row[step..].iter_mut().zip(&top[step..]).for_each(|(value, top)| *value -= factor * top);
            }
        }
    }
    for step in (0..n).rev() {
        let (above, below) = system.split_at_mut(step * width);
        let scale = below[step];
        below[n..width].iter_mut().for_each(|value| *value /= scale);
        for row in above.chunks_exact_mut(width) {
            let factor = row[step];
            row[n..].iter_mut().zip(&below[n..width]).for_each(|(value, solved)| *value -= factor * solved);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scikit-learn 1.9.1: LabelPropagation(kernel='rbf', gamma=gamma, max_iter=1000000, tol=1e-14), the
    /// first three of twenty points labelled 0, 1, 2; label_distributions_ of points 3, 10, 19 and
    /// predict_proba of three new ones.
    #[test]
    fn it_agrees_with_scikit_learn() {
        let of = |k: f64| [k.sin() as f32, (2.0 * k).cos() as f32, (0.5 * (3.0 * k + 1.0).sin()) as f32];
        let values: Vec<[f32; 3]> = (0..20).map(|k| of(f64::from(k))).collect();
        let points: Vec<&[f32]> = values.iter().map(|value| &value[..]).collect();
        let labels: Vec<Option<usize>> = (0..20).map(|k| (k < 3).then_some(k)).collect();
        let asked: [[f32; 3]; 3] = [[0.0, 0.0, 0.0], [1.0, 0.5, -0.2], [3.0, 0.0, 1.0]];
        let cases = [
            (
                0.5,
                [
                    [0.467756480822, 0.291465052286, 0.240778466892],
                    [0.453450771318, 0.297098519640, 0.249450709041],
                    [0.483504818261, 0.276036666763, 0.240458514977],
                ],
                [(0, 0.414349057343), (0, 0.399258451258), (2, 0.410333329169)],
            ),
            (
                5.0,
                [
                    [0.937831993397, 0.042241428332, 0.019926578271],
                    [0.948842511322, 0.034728773793, 0.016428714885],
                    [0.952950948659, 0.031675419681, 0.015373631660],
                ],
                [(0, 0.853280916694), (0, 0.750261082985), (2, 0.948367226937)],
            ),
        ];
        for (gamma, shares, answers) in cases {
            let graph = LabelPropagation::fit(&points, &labels, 3, Rbf { gamma });
            for (point, wanted) in [3, 10, 19].into_iter().zip(shares) {
                for (share, wanted) in graph.shares[point * 3..][..3].iter().zip(wanted) {
                    assert!((share - wanted).abs() < 1e-6, "{share} {wanted}");
                }
            }
            for (x, (label, share)) in asked.iter().zip(answers) {
                let found = graph.predict(x).unwrap();
                assert_eq!(found.label, label);
                assert!((found.share - share).abs() < 1e-6, "{} {share}", found.share);
            }
        }
    }

    #[test]
    fn what_is_like_nobody_gets_no_label() {
        let points: [&[f32]; 3] = [&[0.0], &[1000.0], &[1001.0]];
        let graph = LabelPropagation::fit(&points, &[Some(0), None, None], 1, Rbf { gamma: 1.0 });
        assert_eq!(graph.predict(&[1000.5]), None);
        assert_eq!(graph.predict(&[0.5]).unwrap().label, 0);
    }
}

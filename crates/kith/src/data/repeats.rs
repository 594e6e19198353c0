//! Whether people are seen again among some faces, told without a model: the face that is nearest in one half
//! of the axes is near in the other half, too, where it is the same person, and as far as anybody where it
//! only looks alike there. And which faces are nearly equal.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};
use rayon::prelude::*;

use super::{Embeddings, Shots};

/// The nearest face in one half is the same person's where in the other half it is nearer than this share of
/// the squared distance of two faces at random.
const NEAR: f64 = 0.5;
/// Axes along which faces vary less than this share of the average say nothing.
const FLAT: f64 = 0.1;
const MOST_AXES: usize = 256;
/// Faces are nearly equal whose squared distance is less than this share of that of two faces at random: of
/// the photos of LFW, one in two hundred has such a neighbour.
const EQUAL: f64 = 0.05;
/// What is nearly equal is so along the leading axes of some faces, which are looked at first.
const LEADING: usize = 32;
const SOME: usize = 2_000;
/// And of those the first few, for so many faces side by side: nearly all pairs end there.
const WIDEST: usize = 8;
const LANES: usize = 32;
/// So many faces look for an equal one before those without one become firsts.
const TOGETHER: usize = 256;

/// How far faces are seen again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeats {
    /// The share of faces (in either half of the axes) that have the same person's as their neighbour.
    pub(crate) share: f64,
    /// The median squared distance of those to it.
    pub(crate) square: f64,
}

/// Looks at some rows.
pub(crate) fn repeats(embeddings: &Embeddings, rows: &[usize]) -> Repeats {
    let axes = principal(embeddings, rows);
    let n = rows.len();
    let halves = [0, 1].map(|first| {
        let some: Vec<usize> = (first..axes.ncols()).step_by(2).collect();
        let half = Mat::from_fn(axes.nrows(), some.len(), |r, c| axes[(r, some[c])]);
        projected(embeddings, rows, &half)
    });
    let mut squares: Vec<f64> = Vec::new();
    for [one, other] in [[0, 1], [1, 0]].map(|pair| pair.map(|half: usize| &halves[half])) {
        let typical = 2.0 * other.iter().map(|x| f64::from(x * x)).sum::<f64>() / n as f64;
        let (width, nearest) = (other.len() / n.max(1), nearest(one, n));
        let row = |k: usize| &other[k * width..(k + 1) * width];
        let near =
            nearest.iter().enumerate().filter(|&(k, &near)| square(row(k), row(near)) < NEAR * typical);
        squares.extend(near.map(|(k, &near)| square(embeddings.row(rows[k]), embeddings.row(rows[near]))));
    }
    squares.sort_by(f64::total_cmp);
    Repeats {
        share: squares.len() as f64 / (2 * n.max(1)) as f64,
        square: squares.get(squares.len() / 2).copied().unwrap_or(f64::INFINITY),
    }
}

/// Shots of faces that are nearly equal to the first of them.
pub(crate) fn nearly_equal(embeddings: &Embeddings) -> Shots {
    let n = embeddings.len();
    let some: Vec<usize> = evenly(n, SOME);
    let axes = principal(embeddings, &some);
    let leading = Mat::from_fn(axes.nrows(), axes.ncols().min(LEADING), |r, c| axes[(r, c)]);
    let all: Vec<usize> = (0..n).collect();
    let (short, width) = (projected(embeddings, &all, &leading), leading.ncols());
    let row = |face: usize| &short[face * width..(face + 1) * width];
    let most = EQUAL * 2.0 * variance(embeddings, &some);
    let mut first_of: Vec<usize> = all;
    let mut firsts: Vec<usize> = Vec::new();
    let mut widest: Vec<[f32; WIDEST]> = Vec::new();
    let widest_of = |face: usize| std::array::from_fn(|axis| row(face).get(axis).copied().unwrap_or(0.0));
    // The squared distance to a first, if it is small enough.
    let far = |face: usize, first: usize| {
        let is_near = square(row(face), row(first)) < most;
        is_near.then(|| square(embeddings.row(face), embeddings.row(first))).filter(|&square| square < most)
    };
    let nearer = |a: Option<(f64, usize)>, b: Option<(f64, usize)>| {
        a.into_iter().chain(b).min_by(|a, b| a.0.total_cmp(&b.0))
    };
    for together in (0..n).step_by(TOGETHER).map(|from| from..(from + TOGETHER).min(n)) {
        let n_before = firsts.len();
        // Of each face the nearest first, if it is near enough; of equally near ones the earlier.
        let among = |faces: &[usize]| {
            let mut lanes = [[0.0f32; LANES]; WIDEST];
            for (lane, &face) in faces.iter().enumerate() {
                let widest: [f32; WIDEST] = widest_of(face);
                (0..WIDEST).for_each(|axis| lanes[axis][lane] = widest[axis]);
            }
            let mut found: Vec<Option<(f64, usize)>> = vec![None; faces.len()];
            for (&first, at) in firsts.iter().zip(&widest) {
                let squares = squares_beside(&lanes, at);
                if squares.iter().all(|&square| f64::from(square) >= most) {
                    continue;
                }
                for (lane, &face) in
                    faces.iter().enumerate().filter(|(lane, _)| f64::from(squares[*lane]) < most)
                {
                    found[lane] = nearer(found[lane], far(face, first).map(|square| (square, first)));
                }
            }
            found
        };
        let faces: Vec<usize> = together.collect();
        let found: Vec<_> = faces.par_chunks(LANES).flat_map_iter(among).collect();
        for (&face, before) in faces.iter().zip(found) {
            let beside = firsts[n_before..].iter().filter_map(|&first| Some((far(face, first)?, first)));
            match nearer(before, beside.min_by(|a, b| a.0.total_cmp(&b.0))) {
                Some((_, first)) => first_of[face] = first,
                None => {
                    firsts.push(face);
                    widest.push(widest_of(face));
                }
            }
        }
    }
    Shots::of_groups(first_of.into_iter())
}

/// The squared distances of faces side by side to one, along the widest axes.
fn squares_beside(lanes: &[[f32; LANES]; WIDEST], at: &[f32; WIDEST]) -> [f32; LANES] {
    let mut squares = [0.0f32; LANES];
    for (lane, &at) in lanes.iter().zip(at) {
        for (square, &x) in squares.iter_mut().zip(lane) {
            *square += (x - at) * (x - at);
        }
    }
    squares
}

/// The nearest `count` other rows of each of some rows, among all.
pub(crate) fn neighbourhoods(embeddings: &Embeddings, of: &[usize], count: usize) -> Vec<Vec<usize>> {
    let nearest = |&face: &usize| {
        let x = embeddings.row(face);
        let others = (0..embeddings.len()).filter(|&other| other != face);
        let mut far: Vec<(f64, usize)> =
            others.map(|other| (square(x, embeddings.row(other)), other)).collect();
        let count = count.min(far.len());
        if count < far.len() {
            far.select_nth_unstable_by(count, |a, b| a.0.total_cmp(&b.0));
        }
        far.truncate(count);
        far.into_iter().map(|(_, other)| other).collect()
    };
    of.par_iter().map(nearest).collect()
}

/// At most `most` numbers below `n`, evenly spaced.
fn evenly(n: usize, most: usize) -> Vec<usize> {
    let count = n.min(most);
    (0..count).map(|k| k * n / count).collect()
}

fn mean(embeddings: &Embeddings, rows: &[usize]) -> Vec<f64> {
    let mut mean = vec![0.0; embeddings.dimension()];
    for &row in rows {
        mean.iter_mut().zip(embeddings.row(row)).for_each(|(mean, &x)| *mean += f64::from(x));
    }
    mean.iter_mut().for_each(|mean| *mean /= rows.len().max(1) as f64);
    mean
}

/// The mean squared distance of some rows to their mean.
fn variance(embeddings: &Embeddings, rows: &[usize]) -> f64 {
    let mean = mean(embeddings, rows);
    let of_row = |&row: &usize| -> f64 {
        embeddings.row(row).iter().zip(&mean).map(|(&x, mean)| (f64::from(x) - mean).powi(2)).sum()
    };
    rows.iter().map(of_row).sum::<f64>() / rows.len().max(1) as f64
}

/// The principal axes of some rows that are not flat, the widest first.
fn principal(embeddings: &Embeddings, rows: &[usize]) -> Mat<f64> {
    let (mean, d) = (mean(embeddings, rows), embeddings.dimension());
    let centred = Mat::from_fn(rows.len(), d, |r, c| f64::from(embeddings.row(rows[r])[c]) - mean[c]);
    let total = centred.transpose() * &centred;
    let Ok(found) = total.self_adjoint_eigen(Side::Lower) else { return Mat::zeros(d, 0) };
    // Ascending.
    let values: Vec<f64> = (0..d).rev().map(|k| found.S()[k]).collect();
    let most = d.min(rows.len() / 2).clamp(1, MOST_AXES);
    let average = values[..most].iter().sum::<f64>() / most as f64;
    let n_axes = values[..most].iter().take_while(|&&value| value > FLAT * average).count();
    Mat::from_fn(d, n_axes, |r, c| found.U()[(r, d - 1 - c)])
}

/// Rows about their mean along some axes, one after the other.
fn projected(embeddings: &Embeddings, rows: &[usize], axes: &Mat<f64>) -> Vec<f32> {
    let (mean, d, width) = (mean(embeddings, rows), embeddings.dimension(), axes.ncols());
    let axes: Vec<f32> = (0..d * width).map(|k| axes[(k / width.max(1), k % width.max(1))] as f32).collect();
    let mut all = vec![0.0; rows.len() * width];
    let of_some = |(some, out): (&[usize], &mut [f32])| {
        let centred: Vec<f32> = some
            .iter()
            .flat_map(|&row| embeddings.row(row).iter().zip(&mean))
            .map(|(&x, mean)| (f64::from(x) - mean) as f32)
            .collect();
        matmul(
            MatMut::from_row_major_slice_mut(out, some.len(), width),
            Accum::Replace,
            MatRef::from_row_major_slice(&centred, some.len(), d),
            MatRef::from_row_major_slice(&axes, d, width),
            1.0,
            Par::Seq,
        );
    };
    if width > 0 {
        rows.par_chunks(TOGETHER).zip(all.par_chunks_mut(TOGETHER * width)).for_each(of_some);
    }
    all
}

/// The nearest other of each of `n` rows.
fn nearest(values: &[f32], n: usize) -> Vec<usize> {
    let width = values.len() / n.max(1);
    let squares: Vec<f32> =
        (0..n).map(|k| values[k * width..][..width].iter().map(|x| x * x).sum()).collect();
    let of_some = |some: Range<usize>| -> Vec<usize> {
        let mut products = vec![0.0f32; some.len() * n];
        matmul(
            MatMut::from_row_major_slice_mut(&mut products, some.len(), n),
            Accum::Replace,
            MatRef::from_row_major_slice(&values[some.start * width..some.end * width], some.len(), width),
            MatRef::from_row_major_slice(values, n, width).transpose(),
            1.0,
            Par::Seq,
        );
        let far = |k: usize, other: usize| squares[other] - 2.0 * products[(k - some.start) * n + other];
        let nearest = |k: usize| {
            let others = (0..n).filter(|&other| other != k);
            others.min_by(|&a, &b| far(k, a).total_cmp(&far(k, b))).unwrap_or(k)
        };
        some.clone().map(nearest).collect()
    };
    let parts: Vec<Range<usize>> =
        (0..n).step_by(TOGETHER).map(|from| from..(from + TOGETHER).min(n)).collect();
    parts.into_par_iter().flat_map_iter(of_some).collect()
}

/// The squared distance, in eight independent sums, which the compiler turns into vector instructions.
pub(crate) fn square(a: &[f32], b: &[f32]) -> f64 {
    let mut sums = [0.0f32; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| (a - b) * (a - b)).sum();
    for (a, b) in a.zip(b) {
        for lane in 0..8 {
            sums[lane] += (a[lane] - b[lane]) * (a[lane] - b[lane]);
        }
    }
    f64::from(sums.iter().sum::<f32>() + rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::FaceId;
    use crate::random::driver;

    /// People of some photos each in 64 dimensions, as wide within as between.
    fn people(n: usize, photos: usize) -> Embeddings {
        let mut rng = driver(21);
        let mut values = Vec::new();
        for _ in 0..n {
            let mean: Vec<f64> = (0..64).map(|_| 1.5 * rng.normal()).collect();
            for _ in 0..photos {
                values.extend(mean.iter().map(|mean| (mean + rng.normal()) as f32));
            }
        }
        Embeddings::new(values, 64).unwrap()
    }

    #[test]
    fn people_who_are_seen_again_are_told_from_strangers() {
        let all = |embeddings: &Embeddings| (0..embeddings.len()).collect::<Vec<usize>>();
        let (twice, once) = (people(150, 4), people(600, 1));
        let [twice, once] = [twice, once].map(|faces| repeats(&faces, &all(&faces)));
        assert!(twice.share > 0.6, "{twice:?}");
        // Photos of a person are sqrt 2 apart along each axis.
        assert!((twice.square / 128.0).ln().abs() < 0.3, "{twice:?}");
        assert!(once.share < 0.02, "{once:?}");
    }

    #[test]
    fn nearly_equal_faces_are_found_in_any_order() {
        let faces = people(40, 2);
        let mut rng = driver(22);
        let mut values = faces.values().to_vec();
        for k in 0..300 {
            values.extend(faces.row(k * 7 % 80).iter().map(|x| x + 0.1 * rng.normal() as f32));
        }
        let shots = nearly_equal(&Embeddings::new(values, 64).unwrap());
        for k in 0..80 {
            assert!(!shots.is_copy(FaceId::new(k)), "{k}");
        }
        for k in 0..300 {
            assert_eq!(shots.first_of(FaceId::new(80 + k)).index(), k * 7 % 80);
        }
    }
}

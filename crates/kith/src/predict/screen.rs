//! Which groups of faces may matter to a new face: upper bounds, from one product in single precision.
//!
//! Under a group of n faces with sum s (of x - m_0), `ln p(x) = K - p ln (r + q |x - s/kappa|^2)`: K, p, r, q and kappa
//! belong to the group (MODEL.md §4, [`Isotropic`]). The product x . s in `f32` is off by at most
//! `(D + 3) 2^-24 |x| |s|`: one rounding of x, one of s, and D of the sum. With that the distance is taken as small as
//! it can be, and ln (1 + t) as its Pade approximant, which is below it. A bound is thus above the value, by a
//! hundredth of a nat where the face is near.

use pulp::Arch;

use crate::model::Isotropic;
use crate::model::face::Centred;

/// So many groups stand side by side, so that their sums are multiplied in vector instructions.
const LANES: usize = 64;
/// The unit roundoff of `f32`.
const ROUNDOFF: f64 = 1.0 / (1u64 << 24) as f64;
/// Far more than what `f64` rounds off a bound, in nats.
const SLACK: f64 = 1e-6;

/// What bounds need of every group.
#[derive(Clone, Debug, Default)]
pub(super) struct Screen {
    dimension: usize,
    /// Blocks of [`LANES`] groups, each D rows of one number per group.
    sums: Vec<f32>,
    /// Per group: 2 / kappa, |s / kappa|, q / r, p, and K - p ln r.
    twice_over_kappa: Vec<f64>,
    length: Vec<f64>,
    slope: Vec<f64>,
    power: Vec<f64>,
    ln_highest: Vec<f64>,
}

impl Screen {
    pub fn new(dimension: usize) -> Self {
        Self { dimension, ..Self::default() }
    }

    /// Adds a group by its faces: how many, their sum and sum of squares. `ln_p` is the exact value of one face `x`,
    /// which says what K is.
    pub fn push(
        &mut self,
        prior: &Isotropic,
        n: f64,
        sum: &[f64],
        sum_of_squares: f64,
        x: &Centred,
        ln_p: f64,
    ) {
        let group = self.power.len();
        if group.is_multiple_of(LANES) {
            self.sums.resize(self.sums.len() + LANES * self.dimension, 0.0);
        }
        let block = &mut self.sums[group / LANES * LANES * self.dimension..];
        for (row, &s) in block.chunks_exact_mut(LANES).zip(sum) {
            row[group % LANES] = s as f32;
        }
        let kappa = prior.kappa + n;
        let square_of_sum: f64 = sum.iter().map(|s| s * s).sum();
        let rate = prior.rate + 0.5 * (sum_of_squares - square_of_sum / kappa).max(0.0);
        let power = prior.shape + 0.5 * (n + 1.0) * self.dimension as f64;
        let slope = 0.5 * kappa / (kappa + 1.0) / rate;
        let distance: f64 = x.values().iter().zip(sum).map(|(x, s)| (x - s / kappa).powi(2)).sum();
        self.twice_over_kappa.push(2.0 / kappa);
        self.length.push(square_of_sum.sqrt() / kappa);
        self.slope.push(slope);
        self.power.push(power);
        self.ln_highest.push(ln_p + power * (slope * distance).ln_1p());
    }

    /// For each group at least ln p(x) plus `ln_seats` of the group.
    pub fn ln_bounds(&self, x: &Centred, ln_seats: &[f64], out: &mut Vec<f64>) {
        let single: Vec<f32> = x.values().iter().map(|&x| x as f32).collect();
        let square: f64 = x.values().iter().map(|x| x * x).sum();
        let off = 2.0 * (self.dimension + 3) as f64 * ROUNDOFF * square.sqrt();
        out.clear();
        out.resize(self.power.len(), 0.0);
        Arch::new().dispatch(Bounds { screen: self, x: &single, square, off, ln_seats, out });
    }
}

/// The loop of [`Screen::ln_bounds`], which must be inlined where the processor's vector instructions are known.
struct Bounds<'a> {
    screen: &'a Screen,
    x: &'a [f32],
    square: f64,
    /// How much a distance may be off, per length of the group's mean.
    off: f64,
    ln_seats: &'a [f64],
    out: &'a mut [f64],
}

impl pulp::NullaryFnOnce for Bounds<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { screen, x, square, off, ln_seats, out } = self;
        let blocks = screen.sums.chunks_exact(LANES * screen.dimension);
        for (block, (sums, out)) in blocks.zip(out.chunks_mut(LANES)).enumerate() {
            let mut products = [0.0f32; LANES];
            for (row, &x) in sums.chunks_exact(LANES).zip(x) {
                for lane in 0..LANES {
                    products[lane] += x * row[lane];
                }
            }
            let first = block * LANES;
            let of_block = first..first + out.len();
            let twice_over_kappa = &screen.twice_over_kappa[of_block.clone()];
            let length = &screen.length[of_block.clone()];
            let slope = &screen.slope[of_block.clone()];
            let power = &screen.power[of_block.clone()];
            let ln_highest = &screen.ln_highest[of_block.clone()];
            let ln_seats = &ln_seats[of_block];
            for lane in 0..out.len() {
                let product = f64::from(products[lane]) * twice_over_kappa[lane];
                let length = length[lane];
                let distance = (square - product + length * (length - off)).max(0.0);
                let ln = below_ln_1p(slope[lane] * distance);
                out[lane] = ln_highest[lane] + ln_seats[lane] + SLACK - power[lane] * ln;
            }
        }
    }
}

/// At most ln (1 + t), for t >= 0: four times the (2, 2) Pade approximant at the fourth root of 1 + t. The
/// approximants on the diagonal are all below the logarithm, and this one by less than 1e-5 up to t = 1.
#[inline(always)]
fn below_ln_1p(t: f64) -> f64 {
    // (1 + t)^(1/4) - 1, without the cancellation.
    let root = (1.0 + t).sqrt();
    let quarter = root.sqrt();
    let u = t / ((root + 1.0) * (quarter + 1.0));
    4.0 * u * (6.0 + 3.0 * u) / (6.0 + 6.0 * u + u * u)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FaceModel;
    use crate::random::driver;

    #[test]
    fn the_approximant_is_below_the_logarithm_and_near() {
        for k in 0..4000 {
            let t = 1e-9 * 1.01f64.powi(k);
            let (found, exact) = (below_ln_1p(t), t.ln_1p());
            assert!(found <= exact * (1.0 + 1e-14), "{t}: {found} {exact}");
            assert!(t > 1.0 || exact - found < 1e-5 * exact, "{t}: {found} {exact}");
            assert!(t > 100.0 || exact - found < 0.02 * exact, "{t}: {found} {exact}");
        }
    }

    #[test]
    fn bounds_are_above_the_values_and_near_them() {
        let dimension = 11;
        let mut rng = driver(4);
        let prior = Isotropic { mean: vec![0.5; dimension], kappa: 0.3, shape: 4.0, rate: 3.0 };
        let model = FaceModel::isotropic(prior.clone());
        let mut screen = Screen::new(dimension);
        let mut groups = Vec::new();
        let mut x = Centred::default();
        for number in 0..150 {
            let (mut group, mut sum, mut sum_of_squares) = (model.group(), vec![0.0; dimension], 0.0);
            let centre: Vec<f64> = (0..dimension).map(|_| 3.0 * rng.normal()).collect();
            let n_faces = 1 + number % 40;
            for _ in 0..n_faces {
                let face: Vec<f32> = centre.iter().map(|c| (c + rng.normal()) as f32).collect();
                model.centre(&face, &mut x);
                model.observe(&mut group, &x);
                sum.iter_mut().zip(x.values()).for_each(|(sum, x)| *sum += x);
                sum_of_squares += x.values().iter().map(|x| x * x).sum::<f64>();
            }
            let ln_p = model.ln_predictive(&group, &x);
            screen.push(&prior, n_faces as f64, &sum, sum_of_squares, &x, ln_p);
            groups.push(group);
        }
        let ln_seats: Vec<f64> = (0..150).map(|_| rng.normal()).collect();
        let mut bounds = Vec::new();
        for size in [0.0f64, 1.0, 3.0, 30.0] {
            let face: Vec<f32> = (0..dimension).map(|_| (size * rng.normal()) as f32).collect();
            model.centre(&face, &mut x);
            screen.ln_bounds(&x, &ln_seats, &mut bounds);
            assert_eq!(bounds.len(), groups.len());
            for ((group, bound), ln_seat) in groups.iter().zip(&bounds).zip(&ln_seats) {
                let exact = model.ln_predictive(group, &x) + ln_seat;
                assert!(*bound >= exact, "{bound} {exact}");
                assert!(size > 3.0 || bound - exact < 0.02 * (1.0 + exact.abs()), "{bound} {exact}");
            }
        }
    }
}

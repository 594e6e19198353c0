//! Upper bounds on every identity's predictive density, for a block of faces, in `f32`.
//!
//! One product of matrices in `f32` gives every face's product with every identity's sum; the rest is
//! arithmetic on vectors of identities. Of a column (an identity) these numbers are known, per scale s and
//! level l of psi:
//!
//! `upper_bound = max_s (C_s - H r(G_s d) - E_s d - F r(Q_s + sum_l W_ls (p_l + t_ls)))`
//!
//! with `d = |y|^2 + |m|^2 - v sum_l p_l`, where p is the product, d a lower bound of the squared distance to
//! the mean, t what the face alone adds, and `r(a) = 3a (2 + a) / (6 + 6a + a^2)`, a lower bound of ln (1 +
//! a). Rounding is on the safe side: of a product of D numbers it is at most `D 2^-24 |y| |sum|`, and
//! `2 |y| |m| <= |y|^2 + |m|^2`, so that squares taken a little too small make up for it.
//!
//! An identity's faces spread further in some directions than in others; G_s has the widest of them, so that
//! the bound holds for all. Where that says too little, the seat is weighed exactly (`shortlist.rs`).

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use pulp::Arch;

use crate::math::vectors::dot_in_lanes_f32;
use crate::model::FaceModel;
use crate::model::face::{Axes, Centred, Coefficients, Group, MOST_LEVELS};

/// So many identities are looked at together.
const LANES: usize = 16;
/// So many identities' products are kept at once, near the processor.
const TILE: usize = 256;
/// What is added to a bound is a little more than it is, and what is taken off a little less, for rounding.
const A_BIT_MORE: f64 = 1e-6;
const A_BIT_LESS: f64 = 1.0 - 1e-5;
/// r is as good as at its limit from here on, and squares stay finite.
const FAR: f32 = 1e9;

type Lanes = [f32; LANES];

/// A block of faces against all identities, in the order of [`crate::state::Seating::identities`].
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    n_axes: usize,
    levels: Vec<Range<usize>>,
    /// lambda per scale.
    lambdas: Vec<f64>,
    /// F, where the mean has a part of its own.
    of_means: Option<f32>,
    /// Coordinates are multiplied by this, so that a person's faces are about 1 apart.
    unit: f64,
    /// 1 minus what rounding may add.
    safe: f64,
    n_columns: usize,
    /// A row per identity: the sum of its faces.
    sums: Vec<f32>,
    /// Per group of LANES identities, field after field: v, m squared, H, then C, G, E, Q and W.
    constants: Vec<f32>,
    faces: Vec<f32>,
    /// Per face: |y|^2, then t per level and scale.
    looks: Vec<f32>,
    /// A row per face.
    upper_bounds: Vec<f32>,
    stride: usize,
    products: Vec<f32>,
    coefficients: Coefficients,
}

impl Screen {
    /// Without faces and identities.
    pub fn new(model: &FaceModel) -> Self {
        let Axes { n_axes, levels, lambdas, of_means, unit } = model.axes();
        let safe = 1.0 - (2 * n_axes + 64) as f64 * f64::from(f32::EPSILON);
        Self {
            n_axes,
            levels,
            lambdas,
            of_means: of_means.map(|factor| (A_BIT_LESS * factor) as f32),
            unit,
            safe,
            n_columns: 0,
            sums: Vec::new(),
            constants: Vec::new(),
            faces: Vec::new(),
            looks: Vec::new(),
            upper_bounds: Vec::new(),
            stride: 0,
            products: Vec::new(),
            coefficients: Coefficients::default(),
        }
    }

    /// Starts again with these identities.
    pub fn set_columns<'a>(&mut self, groups: impl Iterator<Item = &'a Group>, model: &FaceModel) {
        self.n_columns = 0;
        self.looks.clear();
        for group in groups {
            self.open(group, model, &[]);
        }
    }

    /// An identity arrives; the faces of some rows are to know it.
    pub fn open(&mut self, group: &Group, model: &FaceModel, rows: &[usize]) {
        self.n_columns += 1;
        let n_columns = self.n_columns.next_multiple_of(LANES);
        if self.sums.len() < n_columns * self.n_axes {
            self.sums.resize(n_columns * self.n_axes, 0.0);
            self.constants.resize(n_columns / LANES * self.n_fields() * LANES, f32::NEG_INFINITY);
        }
        if n_columns > self.stride {
            self.widen(n_columns);
        }
        self.refresh(self.n_columns - 1, group, model, rows);
    }

    /// An identity has left, and the last one has taken its place; faces before a row no longer matter.
    pub fn close(&mut self, place: usize, from_row: usize) {
        let last = self.n_columns - 1;
        self.n_columns = last;
        let n = self.n_axes;
        self.sums.copy_within(last * n..(last + 1) * n, place * n);
        for field in 0..self.n_fields() {
            let value = self.constants[self.at(last, field)];
            let to = self.at(place, field);
            self.constants[to] = value;
        }
        for row in from_row..self.n_rows() {
            self.upper_bounds[row * self.stride + place] = self.upper_bounds[row * self.stride + last];
        }
    }

    /// An identity's faces are others than before; the faces of some rows are to know it.
    pub fn refresh(&mut self, place: usize, group: &Group, model: &FaceModel, rows: &[usize]) {
        let mut of = std::mem::take(&mut self.coefficients);
        let sum = model.bound(group, self.unit, self.safe, &mut of);
        let row = &mut self.sums[place * self.n_axes..(place + 1) * self.n_axes];
        row.iter_mut().zip(sum).for_each(|(to, from)| *to = (self.unit * from) as f32);
        let constants = of.constants.iter().map(|c| c + 1e-3 + c.abs() * A_BIT_MORE);
        let fields = [of.pull, of.square, of.half * A_BIT_LESS].into_iter();
        let fields = fields.chain(constants).chain(of.gains.iter().copied());
        let less = of.commons.iter().chain(&of.of_sums).map(|value| value * A_BIT_LESS);
        for (field, value) in fields.chain(less).chain(of.weights.iter().copied()).enumerate() {
            let to = self.at(place, field);
            self.constants[to] = value as f32;
        }
        self.coefficients = of;
        Arch::new().dispatch(OneColumn { screen: self, place, rows });
    }

    /// Looks at the next faces: their bounds with all identities.
    pub fn look(&mut self, block: &[Centred]) {
        let (mut faces, mut looks) = (std::mem::take(&mut self.faces), std::mem::take(&mut self.looks));
        faces.clear();
        looks.clear();
        block.iter().for_each(|x| self.look_at(x, &mut faces, &mut looks));
        (self.faces, self.looks) = (faces, looks);
        self.upper_bounds.resize(block.len() * self.stride, 0.0);
        let n_columns = self.n_columns.next_multiple_of(LANES);
        self.products.resize(self.levels.len() * block.len() * TILE, 0.0);
        for first in (0..n_columns).step_by(TILE) {
            let width = TILE.min(n_columns - first);
            let faces = MatRef::from_row_major_slice(&self.faces, block.len(), self.n_axes);
            let sums = &self.sums[first * self.n_axes..(first + width) * self.n_axes];
            let sums = MatRef::from_row_major_slice(sums, width, self.n_axes);
            for (level, axes) in self.levels.iter().enumerate() {
                let at = level * block.len() * TILE;
                let out = &mut self.products[at..at + block.len() * width];
                let out = MatMut::from_column_major_slice_mut(out, width, block.len());
                let faces = faces.subcols(axes.start, axes.len()).transpose();
                matmul(out, Accum::Replace, sums.subcols(axes.start, axes.len()), faces, 1.0, Par::Seq);
            }
            Arch::new().dispatch(OneTile { screen: self, first, width });
        }
    }

    /// A face's coordinates and what it alone adds.
    fn look_at(&self, x: &Centred, face: &mut Vec<f32>, look: &mut Vec<f32>) {
        face.extend(x.values().iter().map(|value| (self.unit * value) as f32));
        look.push((self.unit * self.unit * x.square() * self.safe) as f32);
        if self.of_means.is_some() {
            for square in x.squares() {
                let at_scale = |lambda: &f64| (0.5 * lambda * square * self.safe) as f32;
                look.extend(self.lambdas.iter().map(at_scale));
            }
        }
    }

    /// Per identity: an upper bound of the ln predictive of one face, block or no block.
    pub fn upper_bounds_of(&self, x: &Centred, out: &mut Vec<f32>) {
        let (mut face, mut look) = (Vec::new(), Vec::new());
        self.look_at(x, &mut face, &mut look);
        out.clear();
        Arch::new().dispatch(OneFace { screen: self, face: &face, look: &look, out });
        out.truncate(self.n_columns);
    }

    /// Per identity: an upper bound of the ln predictive of a face of the block. Not a number where nothing
    /// is known.
    pub fn upper_bounds(&self, row: usize) -> &[f32] {
        &self.upper_bounds[row * self.stride..row * self.stride + self.n_columns]
    }

    fn n_rows(&self) -> usize {
        self.looks.len() / self.n_looks()
    }

    fn n_scales(&self) -> usize {
        self.lambdas.len()
    }

    fn n_looks(&self) -> usize {
        1 + if self.of_means.is_some() { self.levels.len() * self.n_scales() } else { 0 }
    }

    fn n_fields(&self) -> usize {
        let of_means = if self.of_means.is_some() { 2 + self.levels.len() } else { 0 };
        3 + (2 + of_means) * self.n_scales()
    }

    fn at(&self, place: usize, field: usize) -> usize {
        (place / LANES * self.n_fields() + field) * LANES + place % LANES
    }

    /// Makes room in every row.
    fn widen(&mut self, needed: usize) {
        let stride = (needed + needed / 4).next_multiple_of(LANES);
        let mut bounds = vec![0.0; self.n_rows() * stride];
        for (to, from) in
            bounds.chunks_exact_mut(stride).zip(self.upper_bounds.chunks_exact(self.stride.max(1)))
        {
            to[..from.len()].copy_from_slice(from);
        }
        (self.upper_bounds, self.stride) = (bounds, stride);
    }

    fn fields(&self, group: usize) -> &[f32] {
        let size = self.n_fields() * LANES;
        &self.constants[group * size..(group + 1) * size]
    }

    fn look_of(&self, row: usize) -> &[f32] {
        &self.looks[row * self.n_looks()..(row + 1) * self.n_looks()]
    }

    /// Lower bounds on the squared distances of one face to the means of LANES identities, their products
    /// given per level.
    #[inline(always)]
    fn distances(&self, group: usize, products: &[Lanes], look: &[f32]) -> Lanes {
        let fields = self.fields(group);
        let (pull, square, own) = (field(fields, 0), field(fields, 1), look[0]);
        let mut distance = [0.0; LANES];
        for product in products {
            for lane in 0..LANES {
                distance[lane] += product[lane];
            }
        }
        for lane in 0..LANES {
            distance[lane] = (own + square[lane] - pull[lane] * distance[lane]).max(0.0);
        }
        distance
    }

    /// The upper bounds of LANES identities for one face, their products given per level.
    #[inline(always)]
    fn of_lanes(&self, group: usize, products: &[Lanes], look: &[f32]) -> Lanes {
        let distance = self.distances(group, products, look);
        let (fields, n_scales) = (self.fields(group), self.n_scales());
        let field = |at: usize| field(fields, at);
        let half = field(2);
        let mut best = [f32::NEG_INFINITY; LANES];
        for scale in 0..n_scales {
            let (constant, gain) = (field(3 + scale), field(3 + n_scales + scale));
            let mut bound = [0.0; LANES];
            for lane in 0..LANES {
                bound[lane] = constant[lane] - half[lane] * below_ln_1p(gain[lane] * distance[lane]);
            }
            if let Some(factor) = self.of_means {
                let (common, of_sum) = (field(3 + 2 * n_scales + scale), field(3 + 3 * n_scales + scale));
                let mut of_mean = *of_sum;
                for (level, product) in products.iter().enumerate() {
                    let at = level * n_scales + scale;
                    let (weight, own) = (field(3 + 4 * n_scales + at), look[1 + at]);
                    for lane in 0..LANES {
                        of_mean[lane] += weight[lane] * (product[lane] + own);
                    }
                }
                for lane in 0..LANES {
                    let of_mean = factor * below_ln_1p(of_mean[lane].max(0.0));
                    bound[lane] -= common[lane] * distance[lane] + of_mean;
                }
            }
            for lane in 0..LANES {
                best[lane] = if best[lane] >= bound[lane] { best[lane] } else { bound[lane] };
            }
        }
        best
    }
}

/// r(a), a lower bound of ln (1 + a) for a >= 0.
#[inline(always)]
fn below_ln_1p(a: f32) -> f32 {
    let a = a.min(FAR);
    (3.0 * a * (2.0 + a)) / (6.0 + a * (6.0 + a))
}

#[inline(always)]
fn field(fields: &[f32], at: usize) -> &Lanes {
    fields[at * LANES..].first_chunk().expect("a whole field")
}

/// The bounds of some identities with the whole block, from their products.
struct OneTile<'a> {
    screen: &'a mut Screen,
    first: usize,
    width: usize,
}

impl pulp::NullaryFnOnce for OneTile<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { screen, first, width } = self;
        let (n_rows, n_levels) = (screen.n_rows(), screen.levels.len());
        let mut products = [[0.0; LANES]; MOST_LEVELS];
        for row in 0..n_rows {
            for at in (0..width).step_by(LANES) {
                for (level, lanes) in products[..n_levels].iter_mut().enumerate() {
                    let from = level * n_rows * TILE + row * width + at;
                    lanes.copy_from_slice(&screen.products[from..from + LANES]);
                }
                let (group, products) = ((first + at) / LANES, &products[..n_levels]);
                let look = screen.look_of(row);
                let bounds = screen.of_lanes(group, products, look);
                let to = row * screen.stride + first + at;
                screen.upper_bounds[to..to + LANES].copy_from_slice(&bounds);
            }
        }
    }
}

/// The bounds of all identities with one face.
struct OneFace<'a> {
    screen: &'a Screen,
    face: &'a [f32],
    look: &'a [f32],
    out: &'a mut Vec<f32>,
}

impl pulp::NullaryFnOnce for OneFace<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { screen, face, look, out } = self;
        let mut products = [[0.0; LANES]; MOST_LEVELS];
        for group in 0..screen.n_columns.div_ceil(LANES) {
            let sums = &screen.sums[group * LANES * screen.n_axes..(group + 1) * LANES * screen.n_axes];
            for (lane, sum) in sums.chunks_exact(screen.n_axes).enumerate() {
                for (products, axes) in products.iter_mut().zip(&screen.levels) {
                    products[lane] = dot_in_lanes_f32(&sum[axes.clone()], &face[axes.clone()]);
                }
            }
            let products = &products[..screen.levels.len()];
            out.extend_from_slice(&screen.of_lanes(group, products, look));
        }
    }
}

/// The bounds of one identity with the faces of some rows.
struct OneColumn<'a> {
    screen: &'a mut Screen,
    place: usize,
    rows: &'a [usize],
}

impl pulp::NullaryFnOnce for OneColumn<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { screen, place, rows } = self;
        let n = screen.n_axes;
        let sum = &screen.sums[place * n..(place + 1) * n];
        let mut products = [[0.0; LANES]; MOST_LEVELS];
        for &row in rows {
            let face = &screen.faces[row * n..(row + 1) * n];
            for (lanes, axes) in products.iter_mut().zip(&screen.levels) {
                lanes[place % LANES] = dot_in_lanes_f32(&sum[axes.clone()], &face[axes.clone()]);
            }
            let (group, products) = (place / LANES, &products[..screen.levels.len()]);
            let look = screen.look_of(row);
            let bounds = screen.of_lanes(group, products, look);
            screen.upper_bounds[row * screen.stride + place] = bounds[place % LANES];
        }
    }
}

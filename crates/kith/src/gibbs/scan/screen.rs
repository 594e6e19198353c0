//! Upper bounds on every identity's predictive density, for a block of faces, in `f32`.
//!
//! One product of matrices in `f32` gives every face's product with every identity's sum; the rest is
//! arithmetic on vectors of identities. Of a column (an identity) these numbers are known, per scale s and
//! level l of psi:
//!
//! `upper_bound = max_s (C_s - H r(G_s d) - E_s d - F r(A_s + M_s m + T_s c))`
//!
//! with `d = |y|^2 + |ybar|^2 - v sum_l p_l`, `m = sum_l V_l p_l` and `c = sum_l U_l |y_l|^2`, where p is the
//! product, d a lower bound of the squared distance to the mean, and `r(a) = 3a (2 + a) / (6 + 6a + a^2)`, a
//! lower bound of ln (1 + a). (`model/face/full_group.rs` says where the numbers come from.) Rounding is on
//! the safe side: of a product of D numbers it is at most `D 2^-24 |y| |sum|`, and
//! `2 |y| |m| <= |y|^2 + |m|^2`, so that squares taken a little too small make up for it.
//!
//! An identity's faces spread further in some directions than in others; G_s has the widest of them, so that
//! the bound holds for all. Where that says too little, the seat is weighed exactly (`shortlist.rs`).

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use pulp::{Arch, Simd, WithSimd};

use crate::math::vectors::dot_in_lanes_f32;
use crate::model::FaceModel;
use crate::model::face::{Axes, Centred, Coefficients, Group, MOST_LEVELS, MOST_SCALES};

/// So many identities are looked at together.
const LANES: usize = 16;
/// So many identities' products are kept at once, near the processor.
const TILE: usize = 256;
/// What is added to a bound is a little more than it is, and what is taken off a little less, for rounding.
const A_BIT_MORE: f64 = 1e-6;
const A_BIT_LESS: f64 = 1.0 - 1e-5;
/// r is as good as at its limit from here on, and the product of four numbers like it stays finite.
const FAR: f32 = 1e6;

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
    /// The same for a block of faces, once there is one: per TILE identities a row per axis, as a product
    /// takes them.
    tiles: Vec<f32>,
    /// Per group of LANES identities, field after field: v, |ybar|^2, H, then C, G, E, A, M, T, V and U.
    constants: Vec<f32>,
    faces: Vec<f32>,
    /// Per face: |y|^2, then |y_l|^2 per level.
    looks: Vec<f32>,
    /// A row per face.
    upper_bounds: Vec<f32>,
    stride: usize,
    products: Vec<f32>,
    coefficients: Coefficients,
    /// The numbers of one identity, each in all lanes.
    column: Vec<Lanes>,
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
            tiles: Vec::new(),
            constants: Vec::new(),
            faces: Vec::new(),
            looks: Vec::new(),
            upper_bounds: Vec::new(),
            stride: 0,
            products: Vec::new(),
            coefficients: Coefficients::default(),
            column: Vec::new(),
        }
    }

    /// Starts again with these identities.
    pub fn set_columns<'a>(&mut self, groups: impl Iterator<Item = &'a Group>, model: &FaceModel) {
        self.n_columns = 0;
        self.looks.clear();
        self.tiles.clear();
        for group in groups {
            self.open(group, model, &[]);
        }
    }

    /// What is known of the identities at some places, to be kept.
    pub fn kept(&self, places: &[usize]) -> Vec<f32> {
        let n = self.n_axes;
        let n_constants = places.len().next_multiple_of(LANES) * self.n_fields();
        let mut out = Vec::with_capacity(places.len() * n + n_constants);
        places.iter().for_each(|&place| out.extend_from_slice(&self.sums[place * n..(place + 1) * n]));
        let mut constants = vec![f32::NEG_INFINITY; n_constants];
        for (to, &from) in places.iter().enumerate() {
            (0..self.n_fields())
                .for_each(|field| constants[self.at(to, field)] = self.constants[self.at(from, field)]);
        }
        out.extend(constants);
        out
    }

    /// Starts again with identities of which this was kept, in parts, each with how many it is of: per
    /// identity its part and its place there. Those that are nowhere are to be made known by
    /// [`Screen::refresh`]. `None` where a part cannot be of so many, or of another model.
    pub fn keep(&mut self, parts: &[(usize, &[f32])], places: &[Option<(usize, usize)>]) -> Option<()> {
        let split = |&(n, values): &(usize, &'_ [f32])| {
            let is_of_them = values.len() == n * self.n_axes + n.next_multiple_of(LANES) * self.n_fields();
            is_of_them.then_some(n * self.n_axes)
        };
        let begins: Vec<usize> = parts.iter().map(split).collect::<Option<_>>()?;
        let (n, n_padded) = (self.n_axes, places.len().next_multiple_of(LANES));
        self.looks.clear();
        self.tiles.clear();
        self.n_columns = places.len();
        self.sums = Vec::with_capacity(n_padded * n);
        self.constants = vec![f32::NEG_INFINITY; n_padded * self.n_fields()];
        for (place, from) in places.iter().enumerate() {
            let Some((part, from)) = *from else {
                self.sums.resize((place + 1) * n, 0.0);
                continue;
            };
            let (sums, constants) = parts[part].1.split_at(begins[part]);
            self.sums.extend_from_slice(&sums[from * n..(from + 1) * n]);
            for field in 0..self.n_fields() {
                let to = self.at(place, field);
                self.constants[to] = constants[self.at(from, field)];
            }
        }
        self.sums.resize(n_padded * n, 0.0);
        Some(())
    }

    /// An identity arrives; the faces of some rows are to know it.
    pub fn open(&mut self, group: &Group, model: &FaceModel, rows: &[usize]) {
        self.n_columns += 1;
        let n_columns = self.n_columns.next_multiple_of(LANES);
        if self.sums.len() < n_columns * self.n_axes {
            self.sums.resize(n_columns * self.n_axes, 0.0);
            self.constants.resize(n_columns / LANES * self.n_fields() * LANES, f32::NEG_INFINITY);
        }
        // There may have been more identities before, and room for their sums: tiles are of those that are here.
        let n_laid = n_columns.next_multiple_of(TILE) * self.n_axes;
        if !self.tiles.is_empty() && self.tiles.len() < n_laid {
            self.tiles.resize(n_laid, 0.0);
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
        self.lay(place);
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
        self.lay(place);
        let constants = of.constants.iter().map(|c| c + 1e-3 + c.abs() * A_BIT_MORE);
        let fields = [of.pull, of.square, of.half * A_BIT_LESS].into_iter();
        let fields = fields.chain(constants).chain(of.gains.iter().copied());
        let less = of.commons.iter().chain(&of.of_sums).map(|value| value * A_BIT_LESS);
        let of_products = of.of_products.iter().copied();
        let of_squares = of.of_squares.iter().map(|value| value * A_BIT_LESS);
        let per_level = of.level_products.iter().chain(&of.level_squares).copied();
        for (field, value) in
            fields.chain(less).chain(of_products).chain(of_squares).chain(per_level).enumerate()
        {
            let to = self.at(place, field);
            self.constants[to] = value as f32;
        }
        self.coefficients = of;
        if !rows.is_empty() {
            Arch::new().dispatch(OneColumn { screen: self, place, rows });
        }
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
        if self.tiles.is_empty() {
            self.tiles.resize(n_columns.next_multiple_of(TILE) * self.n_axes, 0.0);
            (0..self.n_columns).for_each(|place| self.lay(place));
        }
        for first in (0..n_columns).step_by(TILE) {
            let width = TILE.min(n_columns - first);
            let faces = MatRef::from_row_major_slice(&self.faces, block.len(), self.n_axes);
            let sums = &self.tiles[first * self.n_axes..(first + TILE) * self.n_axes];
            let sums = MatRef::from_column_major_slice(sums, TILE, self.n_axes).subrows(0, width);
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

    /// Lays an identity's sum where products are made of it, if they are.
    fn lay(&mut self, place: usize) {
        if self.tiles.is_empty() {
            return;
        }
        let (tile, lane) = (place / TILE * TILE * self.n_axes, place % TILE);
        let sum = &self.sums[place * self.n_axes..(place + 1) * self.n_axes];
        for (to, from) in self.tiles[tile + lane..].iter_mut().step_by(TILE).zip(sum) {
            *to = *from;
        }
    }

    /// A face's coordinates and what it alone adds.
    fn look_at(&self, x: &Centred, face: &mut Vec<f32>, look: &mut Vec<f32>) {
        face.extend(x.values().iter().map(|value| (self.unit * value) as f32));
        look.push((self.unit * self.unit * x.square() * self.safe) as f32);
        if self.of_means.is_some() {
            look.extend(x.squares().iter().map(|square| (square * self.safe) as f32));
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

    /// An upper bound of the ln predictive of one face at one identity, given a lower bound of the quadratic
    /// form of its residual there, in the place of its distance over the widest variance.
    pub fn upper_bound_given(
        &self,
        place: usize,
        x: &Centred,
        form: impl FnOnce(&[f64]) -> f64,
    ) -> Option<f64> {
        let far = f64::from(self.of_means?);
        let field = |at: usize| f64::from(self.constants[self.at(place, at)]);
        let (n, y) = (self.n_scales(), x.values());
        let sum = &self.sums[place * self.n_axes..(place + 1) * self.n_axes];
        let (half, total) = (field(2), 2.0 / field(0));
        let residual: Vec<f64> = y.iter().zip(sum).map(|(y, &sum)| y - f64::from(sum) / total).collect();
        let distance = self.safe * residual.iter().map(|e| e * e).sum::<f64>();
        // The sum is rounded; the form is that of the residual to about this part of the lengths.
        let form = form(&residual) * (1.0 - 1e-4);
        let (mut product, mut square) = (0.0, 0.0);
        for (level, axes) in self.levels.iter().enumerate() {
            let of_level: f64 =
                y[axes.clone()].iter().zip(&sum[axes.clone()]).map(|(y, &sum)| y * f64::from(sum)).sum();
            product += field(3 + 6 * n + level) * of_level;
            square += field(3 + 6 * n + self.levels.len() + level) * x.squares()[level] * self.safe;
        }
        let of_scale = |scale: usize| {
            let [constant, of_widest, common, of_sum, of_product, of_square] =
                [0, 1, 2, 3, 4, 5].map(|kind| field(3 + kind * n + scale));
            // Where there are only odd looks, residuals count nothing.
            let gain = self.lambdas[scale] * total / (self.lambdas[scale] + total);
            let gain = if of_widest == 0.0 { 0.0 } else { A_BIT_LESS * gain };
            // What rounding of the sum may have added to a product of either sign.
            let mean =
                of_sum + of_product * product - 1e-6 * (of_sum + of_square * square) + of_square * square;
            constant
                - common * distance
                - A_BIT_LESS * (half * (gain * form).ln_1p() + far * mean.max(0.0).ln_1p())
        };
        // The larger of two would pass over what is not a number: then nothing is known.
        let highest = (0..n).map(of_scale).fold(f64::NEG_INFINITY, |a, b| if a >= b { a } else { b });
        (!highest.is_nan()).then_some(highest)
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
        1 + if self.of_means.is_some() { self.levels.len() } else { 0 }
    }

    /// How many numbers an identity has per scale.
    fn n_kinds(&self) -> usize {
        if self.of_means.is_some() { 6 } else { 2 }
    }

    fn n_fields(&self) -> usize {
        let per_level = if self.of_means.is_some() { 2 * self.levels.len() } else { 0 };
        3 + self.n_kinds() * self.n_scales() + per_level
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

    /// The numbers of LANES identities, field after field.
    fn fields(&self, group: usize) -> &[Lanes] {
        let n = self.n_fields();
        &self.constants.as_chunks().0[group * n..(group + 1) * n]
    }

    fn look_of(&self, row: usize) -> &[f32] {
        &self.looks[row * self.n_looks()..(row + 1) * self.n_looks()]
    }

    /// The upper bounds of LANES pairs of an identity and a face: the numbers of the identities, field after
    /// field, the products per level, and by its number and the lane what the face alone adds.
    #[inline(always)]
    fn of_lanes<S: Simd>(
        &self,
        fields: &[Lanes],
        products: &[Lanes],
        look: impl Fn(usize, usize) -> f32,
    ) -> Lanes {
        match self.n_scales() {
            MOST_SCALES => self.of_scales::<S, MOST_SCALES>(fields, products, look),
            _ => self.of_scales::<S, 1>(fields, products, look),
        }
    }

    #[inline(always)]
    fn of_scales<S: Simd, const N: usize>(
        &self,
        fields: &[Lanes],
        products: &[Lanes],
        look: impl Fn(usize, usize) -> f32,
    ) -> Lanes {
        let ([pull, square, half], fields) = fields.split_first_chunk().expect("three of their own");
        let distance = distances::<S>(pull, square, products, |lane| look(0, lane));
        // One field per scale of each kind. That many are known to be there: no line below checks for it.
        let (kinds, per_level) = fields.split_at(N * self.n_kinds());
        let kinds: &[[Lanes; N]] = kinds.as_chunks().0;
        let mut best = [f32::NEG_INFINITY; LANES];
        let (Some(far), [constants, gains, commons, of_sums, of_products, of_squares]) =
            (self.of_means, kinds)
        else {
            let [constants, gains] = kinds else { unreachable!("two kinds without a part of the mean") };
            for (constant, gain) in constants.iter().zip(gains) {
                for lane in 0..LANES {
                    let (above, below) = below_ln_1p::<S>(gain[lane] * distance[lane]);
                    best[lane] = higher(best[lane], constant[lane] - half[lane] * above / below);
                }
            }
            return best;
        };
        let [mut product, mut square] = [[0.0; LANES]; 2];
        let (by_products, by_squares) = per_level.split_at(products.len());
        for (level, of_level) in products.iter().enumerate() {
            let (by_product, by_square) = (&by_products[level], &by_squares[level]);
            for lane in 0..LANES {
                product[lane] = madd::<S>(by_product[lane], of_level[lane], product[lane]);
                square[lane] = madd::<S>(by_square[lane], look(1 + level, lane), square[lane]);
            }
        }
        for scale in 0..N {
            let (constant, gain, common) = (&constants[scale], &gains[scale], &commons[scale]);
            let (of_sum, of_product, of_square) = (&of_sums[scale], &of_products[scale], &of_squares[scale]);
            for lane in 0..LANES {
                let mean = madd::<S>(of_square[lane], square[lane], of_sum[lane]);
                let mean = madd::<S>(of_product[lane], product[lane], mean);
                // Two fractions are added by one division.
                let (above, below) = below_ln_1p::<S>(gain[lane] * distance[lane]);
                let (of_mean, below_mean) = below_ln_1p::<S>(positive(mean));
                let of_residual = half[lane] * above;
                let both = madd::<S>(of_residual, below_mean, far * of_mean * below) / (below * below_mean);
                let constant = madd::<S>(-common[lane], distance[lane], constant[lane]);
                best[lane] = higher(best[lane], constant - both);
            }
        }
        best
    }
}

/// Lower bounds on the squared distances of faces to the means of identities, their products given per level.
#[inline(always)]
fn distances<S: Simd>(pull: &Lanes, square: &Lanes, products: &[Lanes], own: impl Fn(usize) -> f32) -> Lanes {
    let mut distance = [0.0; LANES];
    for product in products {
        for lane in 0..LANES {
            distance[lane] += product[lane];
        }
    }
    for lane in 0..LANES {
        distance[lane] = positive(madd::<S>(-pull[lane], distance[lane], own(lane) + square[lane]));
    }
    distance
}

/// The larger of two; the second where it is not a number.
#[inline(always)]
fn higher(a: f32, b: f32) -> f32 {
    if a >= b { a } else { b }
}

/// The number, or 0 where it is below or not a number. One instruction, as `f32::max` is not.
#[inline(always)]
fn positive(a: f32) -> f32 {
    if a > 0.0 { a } else { 0.0 }
}

/// r(a), a lower bound of ln (1 + a) for a >= 0, as a fraction.
#[inline(always)]
fn below_ln_1p<S: Simd>(a: f32) -> (f32, f32) {
    let a = if a < FAR { a } else { FAR };
    (3.0 * a * (2.0 + a), madd::<S>(a, 6.0 + a, 6.0))
}

/// a b + c, in one step where there are vectors: whatever has them has that.
#[inline(always)]
fn madd<S: Simd>(a: f32, b: f32, c: f32) -> f32 {
    if S::IS_SCALAR { a * b + c } else { a.mul_add(b, c) }
}

/// The bounds of some identities with the whole block, from their products.
struct OneTile<'a> {
    screen: &'a mut Screen,
    first: usize,
    width: usize,
}

impl WithSimd for OneTile<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { screen, first, width } = self;
        let (n_rows, n_levels) = (screen.n_rows(), screen.levels.len());
        let mut products = [[0.0; LANES]; MOST_LEVELS];
        // The numbers of LANES identities, of which there are many, stay near the processor for all faces.
        for at in (0..width).step_by(LANES) {
            for row in 0..n_rows {
                for (level, lanes) in products[..n_levels].iter_mut().enumerate() {
                    let from = level * n_rows * TILE + row * width + at;
                    lanes.copy_from_slice(&screen.products[from..from + LANES]);
                }
                let (fields, look) = (screen.fields((first + at) / LANES), screen.look_of(row));
                let bounds = screen.of_lanes::<S>(fields, &products[..n_levels], |number, _| look[number]);
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

impl WithSimd for OneFace<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { screen, face, look, out } = self;
        let mut products = [[0.0; LANES]; MOST_LEVELS];
        for group in 0..screen.n_columns.div_ceil(LANES) {
            let sums = &screen.sums[group * LANES * screen.n_axes..(group + 1) * LANES * screen.n_axes];
            for (lane, sum) in sums.chunks_exact(screen.n_axes).enumerate() {
                for (products, axes) in products.iter_mut().zip(&screen.levels) {
                    products[lane] = dot_in_lanes_f32(&sum[axes.clone()], &face[axes.clone()]);
                }
            }
            let (fields, products) = (screen.fields(group), &products[..screen.levels.len()]);
            out.extend_from_slice(&screen.of_lanes::<S>(fields, products, |number, _| look[number]));
        }
    }
}

/// The bounds of one identity with the faces of some rows.
struct OneColumn<'a> {
    screen: &'a mut Screen,
    place: usize,
    rows: &'a [usize],
}

impl WithSimd for OneColumn<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { screen, place, rows } = self;
        let (n, n_levels, n_looks) = (screen.n_axes, screen.levels.len(), screen.n_looks());
        let mut fields = std::mem::take(&mut screen.column);
        fields.clear();
        fields.extend(screen.fields(place / LANES).iter().map(|field| [field[place % LANES]; LANES]));
        let mut products = [[0.0; LANES]; MOST_LEVELS];
        let mut looks = [[0.0; LANES]; 1 + MOST_LEVELS];
        for rows in rows.chunks(LANES) {
            let sum = &screen.sums[place * n..(place + 1) * n];
            for (lane, &row) in rows.iter().enumerate() {
                let face = &screen.faces[row * n..(row + 1) * n];
                for (products, axes) in products.iter_mut().zip(&screen.levels) {
                    products[lane] = dot_in_lanes_f32(&sum[axes.clone()], &face[axes.clone()]);
                }
                looks.iter_mut().zip(screen.look_of(row)).for_each(|(look, &of)| look[lane] = of);
            }
            let looks = &looks[..n_looks];
            let bounds =
                screen.of_lanes::<S>(&fields, &products[..n_levels], |number, lane| looks[number][lane]);
            for (&row, bound) in rows.iter().zip(bounds) {
                screen.upper_bounds[row * screen.stride + place] = bound;
            }
        }
        screen.column = fields;
    }
}

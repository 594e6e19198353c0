//! Upper bounds on every identity's predictive density, for a block of faces, in `f32`.
//!
//! One product of matrices in `f32` gives every face's product with every identity's sum; the rest is arithmetic on
//! vectors of identities. Of a column (an identity) these numbers are known, per scale s and level l of psi:
//!
//! `upper_bound = max_s (C_s - H r(G_s d) - sum_l W_ls (p_l + t_ls))`, with `d = |y|^2 + |m|^2 - v sum_l p_l`
//!
//! where p is the product, d a lower bound of the squared distance to the mean, t what the face alone adds, and
//! `r(a) = 3a (2 + a) / (6 + 6a + a^2)`, a lower bound of ln (1 + a). Rounding is on the safe side: of a product of
//! D numbers it is at most `D 2^-24 |y| |sum|`, and `2 |y| |m| <= |y|^2 + |m|^2`, so that squares taken a little too
//! small make up for it.
//!
//! Of an identity with several faces d says too little: its faces spread further in some directions than in others.
//! There the quadratic form `q = e^T (P I + S)^-1 e`, `e = y - ybar`, is taken itself, by a product with a matrix for all
//! faces of the block (`forms.rs`), and `G_s q` stands for `G_s d`.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use pulp::Arch;
use rayon::prelude::*;

use super::forms::Forms;
use crate::math::vectors::dot_in_lanes_f32;
use crate::model::FaceModel;
use crate::model::face::{Axes, Centred, Coefficients, Group, MOST_LEVELS, QuadraticForm};

/// So many identities are looked at together.
const LANES: usize = 16;
/// So many identities' products are kept at once, near the processor.
const TILE: usize = 256;
/// From so many products of numbers on, the forms of a tile are shared among threads, and at least so many each.
const SHARED: usize = 4_000_000;
const SHARE: usize = 8;
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
    has_means: bool,
    /// Coordinates are multiplied by this, so that a person's faces are about 1 apart.
    unit: f64,
    /// 1 minus what rounding may add.
    safe: f64,
    n_columns: usize,
    /// A row per identity: the sum of its faces.
    sums: Vec<f32>,
    /// Per group of LANES identities, field after field: v, m squared, H, then C, G and W.
    constants: Vec<f32>,
    faces: Vec<f32>,
    /// Per face: |y|^2, then t per level and scale.
    looks: Vec<f32>,
    /// A row per face.
    upper_bounds: Vec<f32>,
    stride: usize,
    products: Vec<f32>,
    coefficients: Coefficients,
    /// The identities' quadratic forms, and room to work them out.
    matrices: Vec<QuadraticForm>,
    /// Whether the identity has a form that is still to be worked out.
    is_stale: Vec<bool>,
    forms: Forms,
    /// Lower bounds on the forms of a tile, a row per face; NaN where there is none.
    known: Vec<f32>,
}

impl Screen {
    /// Without faces and identities.
    pub fn new(model: &FaceModel) -> Self {
        let Axes { n_axes, levels, lambdas, has_means, unit } = model.axes();
        let safe = 1.0 - (2 * n_axes + 64) as f64 * f64::from(f32::EPSILON);
        Self {
            n_axes,
            levels,
            lambdas,
            has_means,
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
            matrices: Vec::new(),
            is_stale: Vec::new(),
            forms: Forms::default(),
            known: Vec::new(),
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
            self.matrices.resize_with(n_columns, QuadraticForm::default);
            self.is_stale.resize(n_columns, false);
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
        self.matrices.swap(place, last);
        self.is_stale[place] = self.is_stale[last];
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
        let (a_bit_more, a_bit_less) = (1e-6, 1.0 - 1e-5);
        let constants = of.constants.iter().map(|c| c + 1e-3 + c.abs() * a_bit_more);
        let fields = [of.pull, of.square, of.half * a_bit_less].into_iter();
        let fields = fields.chain(constants).chain(of.gains.iter().copied());
        for (field, value) in fields.chain(of.weights.iter().copied()).enumerate() {
            let to = self.at(place, field);
            self.constants[to] = value as f32;
        }
        self.coefficients = of;
        self.is_stale[place] = group.has_form();
        if !rows.is_empty() {
            self.work_out(place, group, model);
            let mut forms = std::mem::take(&mut self.forms);
            self.take_forms(place, Some(rows), &mut forms);
            self.forms = forms;
            Arch::new().dispatch(OneColumn { screen: self, place, rows });
        }
    }

    /// Works out the form of an identity, if it has one that is not known.
    fn work_out(&mut self, place: usize, group: &Group, model: &FaceModel) {
        if std::mem::take(&mut self.is_stale[place]) || !group.has_form() {
            group.form(model, &mut self.matrices[place]);
        }
    }

    /// Looks at the next faces: their bounds with all identities, whose groups `group_at` gives.
    pub fn look<'a>(&mut self, block: &[Centred], group_at: impl Fn(usize) -> &'a Group, model: &FaceModel) {
        (0..self.n_columns).for_each(|place| self.work_out(place, group_at(place), model));
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
            self.look_at_forms(first..(first + width).min(self.n_columns));
            Arch::new().dispatch(OneTile { screen: self, first, width });
        }
    }

    /// The forms of all faces with the identities of a tile. Where that is much work, idle threads help: a form is the
    /// same whoever works it out.
    fn look_at_forms(&mut self, places: Range<usize>) {
        let (first, n_rows) = (places.start, self.n_rows());
        let mut known = std::mem::take(&mut self.known);
        known.clear();
        known.resize(n_rows * TILE, f32::NAN);
        let mut put = |place: usize, found: &[f32]| {
            found.iter().enumerate().for_each(|(row, form)| known[row * TILE + place - first] = *form);
        };
        let n_products: usize = self.matrices[places.clone()].iter().map(|form| form.size() * n_rows).sum();
        if n_products > SHARED {
            let take = |forms: &mut Forms, place: usize| {
                self.take_forms(place, None, forms);
                forms.lower_bounds.clone()
            };
            let found: Vec<Vec<f32>> =
                places.clone().into_par_iter().with_min_len(SHARE).map_init(Forms::default, take).collect();
            places.zip(found).for_each(|(place, found)| put(place, &found));
        } else {
            let mut forms = std::mem::take(&mut self.forms);
            for place in places {
                self.take_forms(place, None, &mut forms);
                put(place, &forms.lower_bounds);
            }
            self.forms = forms;
        }
        self.known = known;
    }

    /// A face's coordinates and what it alone adds.
    fn look_at(&self, x: &Centred, face: &mut Vec<f32>, look: &mut Vec<f32>) {
        face.extend(x.values().iter().map(|value| (self.unit * value) as f32));
        look.push((self.unit * self.unit * x.square() * self.safe) as f32);
        if self.has_means {
            for square in x.squares() {
                let at_scale = |lambda: &f64| (0.5 * lambda * square * self.safe) as f32;
                look.extend(self.lambdas.iter().map(at_scale));
            }
        }
    }

    /// Per identity: an upper bound of the ln predictive of one face, block or no block. NaN where nothing is known:
    /// where there is a quadratic form.
    pub fn upper_bounds_of(&self, x: &Centred, out: &mut Vec<f32>) {
        let (mut face, mut look) = (Vec::new(), Vec::new());
        self.look_at(x, &mut face, &mut look);
        out.clear();
        Arch::new().dispatch(OneFace { screen: self, face: &face, look: &look, out });
        out.truncate(self.n_columns);
        let has_form =
            self.matrices.iter().zip(&self.is_stale).map(|(form, is_stale)| *is_stale || !form.is_empty());
        out.iter_mut()
            .zip(has_form)
            .filter(|(_, has_form)| *has_form)
            .for_each(|(bound, _)| *bound = f32::NAN);
    }

    /// Works out lower bounds on the quadratic forms of the faces of some rows, or of all, where the identity has one.
    fn take_forms(&self, place: usize, rows: Option<&[usize]>, forms: &mut Forms) {
        let (n, form) = (self.n_axes, &self.matrices[place]);
        let sum = &self.sums[place * n..(place + 1) * n];
        let face = |row: usize| &self.faces[row * n..(row + 1) * n];
        match rows {
            Some(rows) => forms.take(form, rows.iter().map(|&row| face(row)), sum, self.safe),
            None => forms.take(form, self.faces.chunks_exact(n), sum, self.safe),
        }
    }

    /// Per identity: an upper bound of the ln predictive of a face of the block. May be NaN: nothing is known then.
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
        1 + if self.has_means { self.levels.len() * self.n_scales() } else { 0 }
    }

    fn n_fields(&self) -> usize {
        2 + 2 * self.n_scales() + self.n_looks()
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

    /// Lower bounds on the squared distances of one face to the means of LANES identities, their products given per
    /// level.
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

    /// The upper bounds of LANES identities for one face, their products given per level, and their distances.
    #[inline(always)]
    fn of_lanes(&self, group: usize, products: &[Lanes], distance: &Lanes, look: &[f32]) -> Lanes {
        let fields = self.fields(group);
        let field = |at: usize| field(fields, at);
        let half = field(2);
        let mut best = [f32::NEG_INFINITY; LANES];
        for scale in 0..self.n_scales() {
            let (constant, gain) = (field(3 + scale), field(3 + self.n_scales() + scale));
            let mut bound = [0.0; LANES];
            for lane in 0..LANES {
                let a = (gain[lane] * distance[lane]).min(FAR);
                let r = (3.0 * a * (2.0 + a)) / (6.0 + a * (6.0 + a));
                bound[lane] = constant[lane] - half[lane] * r;
            }
            if self.has_means {
                for (level, product) in products.iter().enumerate() {
                    let at = level * self.n_scales() + scale;
                    let (weight, own) = (field(3 + 2 * self.n_scales() + at), look[1 + at]);
                    for lane in 0..LANES {
                        bound[lane] -= weight[lane] * (product[lane] + own);
                    }
                }
            }
            for lane in 0..LANES {
                best[lane] = if best[lane] >= bound[lane] { best[lane] } else { bound[lane] };
            }
        }
        best
    }
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
                let mut distances = screen.distances(group, products, look);
                let known: &Lanes = screen.known[row * TILE + at..].first_chunk().expect("a whole tile");
                for lane in 0..LANES {
                    distances[lane] = if known[lane] >= 0.0 { known[lane] } else { distances[lane] };
                }
                let bounds = screen.of_lanes(group, products, &distances, look);
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
            let distances = screen.distances(group, products, look);
            out.extend_from_slice(&screen.of_lanes(group, products, &distances, look));
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
        for (at, &row) in rows.iter().enumerate() {
            let face = &screen.faces[row * n..(row + 1) * n];
            for (lanes, axes) in products.iter_mut().zip(&screen.levels) {
                lanes[place % LANES] = dot_in_lanes_f32(&sum[axes.clone()], &face[axes.clone()]);
            }
            let (group, products) = (place / LANES, &products[..screen.levels.len()]);
            let look = screen.look_of(row);
            let mut distances = screen.distances(group, products, look);
            if let Some(form) = screen.forms.lower_bounds.get(at) {
                distances[place % LANES] = *form;
            }
            let bounds = screen.of_lanes(group, products, &distances, look);
            screen.upper_bounds[row * screen.stride + place] = bounds[place % LANES];
        }
    }
}

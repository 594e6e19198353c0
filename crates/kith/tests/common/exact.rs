//! The exact posterior of a handful of faces: every partition, context and name, summed over.
//!
//! Nothing here is shared with the library but ln Gamma and the types of its models.
//!
//! - p(z | c), with pi_0 and pi_c integrated out, is a sum over table counts (Teh et al. 2006): `prod_c
//!   [alpha_c^T_c. / alpha_c^(N_c.) prod_i |s(N_ci, T_ci)|] alpha_0^I prod_i Gamma(T_.i) / alpha_0^(T..)`.
//! - p(x | z) is a product over identities: Gaussian-inverse gamma marginals, or the factor of MODEL.md §4
//!   for full covariances, summed over all scales.
//! - p(y*, y | z), with H integrated out, is a Dirichlet moment with factors (1 - H(k))^-w, one for every
//!   name k and the w wrong names at identities called k. Two known names are as many as this can do.
//! - A concentration under a Gamma prior is integrated by the trapezoidal rule in its logarithm, which for
//!   such integrands converges faster than any power of the step; the error rate is a Beta integral.

use std::collections::HashMap;
use std::f64::consts::PI;

use kith::chain::Draw;
use kith::data::{Dataset, Statement};
use kith::ids::FaceId;
use kith::math::ln_gamma;
use kith::model::face::FaceKind;
use kith::model::{
    ContextMode, ErrorRate, FaceUpdate, FullPrior, Isotropic, LocalConcentration, Model, Strength,
};

/// One value of everything discrete; identities, and contexts without a name, by first appearance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    /// `z_n` per face.
    pub identities: Vec<u32>,
    /// `c*_m` per frame.
    pub contexts: Vec<u32>,
    /// `y*_i` per identity.
    pub names: Vec<Option<u32>>,
}

impl World {
    pub fn of(draw: &Draw) -> Self {
        Self {
            identities: draw.identities.clone(),
            contexts: draw.contexts.clone(),
            names: draw.names.iter().map(|name| name.map(|label| label.0)).collect(),
        }
    }

    pub fn name_of(&self, face: usize) -> Option<u32> {
        self.names[self.identities[face] as usize]
    }

    pub fn n_identities(&self) -> usize {
        self.names.len()
    }

    pub fn is_same(&self, a: usize, b: usize) -> bool {
        self.identities[a] == self.identities[b]
    }
}

/// Every world with its posterior probability.
pub fn posterior(model: &Model, data: &Dataset) -> Vec<(World, f64)> {
    let mut names = NameIntegrals::new(model, data);
    let contexts = contexts(model, data);
    let identities = IdentityPrior::new(model, data);
    let looks = Looks::new(model, data);
    let mut worlds: HashMap<World, f64> = HashMap::new();
    for z in partitions(data.n_faces()) {
        let faces = looks.p(&z) * model.repeat.powi(n_repeats(data, &z) as i32);
        let named = names.all(&z);
        for (c, p_contexts) in &contexts {
            let p = p_contexts * identities.p(&z, c) * faces;
            let contexts = match model.context.mode {
                ContextMode::Given => c.clone(),
                _ => by_first_appearance(c),
            };
            for (names, p_names) in &named {
                let world = World { identities: z.clone(), contexts: contexts.clone(), names: names.clone() };
                let p_said = p_statements(model, data, &world);
                *worlds.entry(world).or_default() += p * p_names * p_said;
            }
        }
    }
    // In a fixed order, so that sums do not depend on the map's.
    let mut worlds: Vec<(World, f64)> = worlds.into_iter().collect();
    worlds.sort_by(|(a, _), (b, _)| {
        (&a.identities, &a.contexts, &a.names).cmp(&(&b.identities, &b.contexts, &b.names))
    });
    let total: f64 = worlds.iter().map(|world| world.1).sum();
    worlds.iter_mut().for_each(|world| world.1 /= total);
    worlds
}

/// The total prior mass of contexts, of identities given the first and the last of these, and of names given
/// one identity per face and no name. Each should be one.
pub fn prior_masses(model: &Model, data: &Dataset) -> [f64; 3] {
    let contexts = contexts(model, data);
    // Given contexts are no sum over all.
    let is_given = model.context.mode == ContextMode::Given;
    let of_contexts = if is_given { 1.0 } else { contexts.iter().map(|context| context.1).sum() };
    let prior = IdentityPrior::new(model, data);
    let of_identities = |c: &[u32]| partitions(data.n_faces()).iter().map(|z| prior.p(z, c)).sum::<f64>();
    let (first, last) = (of_identities(&contexts[0].0), of_identities(&contexts[contexts.len() - 1].0));
    let mut unnamed = data.clone();
    for face in data.faces() {
        unnamed.set_name(face, None);
    }
    let z: Vec<u32> = (0..data.n_faces() as u32).collect();
    let of_names = NameIntegrals::new(model, &unnamed).all(&z).iter().map(|names| names.1).sum();
    [of_contexts, (first + last) / 2.0, of_names]
}

/// The probability of what holds in some worlds.
pub fn probability(worlds: &[(World, f64)], holds: impl Fn(&World) -> bool) -> f64 {
    worlds.iter().filter(|(world, _)| holds(world)).map(|(_, p)| p).sum()
}

/// Partitions of n things, labelled by first appearance: 1, 2, 5, 15, 52, 203, 877, ...
pub fn partitions(n: usize) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for _ in 0..n {
        let longer = |z: Vec<u32>| {
            let next = z.iter().max().map_or(0, |highest| highest + 1);
            (0..=next).map(move |label| [z.as_slice(), &[label]].concat())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

fn by_first_appearance(labels: &[u32]) -> Vec<u32> {
    let mut seen = Vec::new();
    for label in labels {
        if !seen.contains(label) {
            seen.push(*label);
        }
    }
    labels.iter().map(|label| seen.iter().position(|other| other == label).unwrap() as u32).collect()
}

/// Points and weights that integrate a concentration out.
fn nodes(strength: Strength) -> Vec<(f64, f64)> {
    match strength {
        Strength::Fixed(value) => vec![(value, 1.0)],
        Strength::Learnt { shape, rate } => {
            let step = 0.25;
            (-80..=24)
                .map(|k| {
                    let ln_x = f64::from(k) * step;
                    let x = ln_x.exp();
                    let ln_p = shape * rate.ln() - ln_gamma(shape) + shape * ln_x - rate * x;
                    (x, ln_p.exp() * step)
                })
                .collect()
        }
    }
}

/// x (x + 1) ... (x + n - 1).
fn rising(x: f64, n: usize) -> f64 {
    (0..n).map(|k| x + k as f64).product()
}

/// Every assignment of frames to contexts, with its prior probability (MODEL.md §2).
fn contexts(model: &Model, data: &Dataset) -> Vec<(Vec<u32>, f64)> {
    let n_frames = data.n_frames();
    let n_contexts = match model.context.mode {
        ContextMode::None => 1,
        ContextMode::Given => data.contexts().len().max(1),
        ContextMode::Latent { count } => count,
        ContextMode::Unbounded => n_frames,
    };
    let gamma_0 = nodes(model.context.concentration);
    let with_prior = |c: Vec<u32>| {
        let count = |context| c.iter().filter(|&&other| other == context).count();
        let counts: Vec<usize> = (0..n_contexts as u32).map(count).collect();
        let p = |gamma_0: f64| {
            let each = counts.iter().map(|&m| match model.context.mode {
                ContextMode::Unbounded if m == 0 => 1.0,
                ContextMode::Unbounded => gamma_0 * rising(1.0, m - 1),
                _ => rising(gamma_0 / n_contexts as f64, m),
            });
            each.product::<f64>() / rising(gamma_0, n_frames)
        };
        let p = gamma_0.iter().map(|&(value, weight)| weight * p(value)).sum();
        (c, p)
    };
    if model.context.mode == ContextMode::Unbounded {
        return partitions(n_frames).into_iter().map(with_prior).collect();
    }
    let mut all = vec![Vec::new()];
    for frame in data.frames() {
        let possible = match (model.context.mode, data.given_context(frame)) {
            (ContextMode::Given, Some(given)) => given.0..given.0 + 1,
            _ => 0..n_contexts as u32,
        };
        let longer = |c: Vec<u32>| possible.clone().map(move |context| [c.as_slice(), &[context]].concat());
        all = all.into_iter().flat_map(longer).collect();
    }
    all.into_iter().map(with_prior).collect()
}

/// p(z | c).
struct IdentityPrior<'d> {
    data: &'d Dataset,
    alpha_0: Vec<(f64, f64)>,
    /// alpha_c per context, the same for all when shared; a list because they may be learnt together.
    alphas: Vec<(Vec<f64>, f64)>,
    stirling: Vec<Vec<f64>>,
}

impl<'d> IdentityPrior<'d> {
    fn new(model: &Model, data: &'d Dataset) -> Self {
        let most = data.contexts().len().max(data.n_frames()).max(8);
        let alphas = match &model.identity.local_concentration {
            LocalConcentration::Shared(strength) => {
                nodes(*strength).into_iter().map(|(alpha, weight)| (vec![alpha; most], weight)).collect()
            }
            LocalConcentration::Named(each) => {
                let number = |strength: &Strength| match strength {
                    Strength::Fixed(alpha) => *alpha,
                    Strength::Learnt { .. } => panic!("contexts that learn on their own are not enumerated"),
                };
                let mean = each.values().map(number).sum::<f64>() / each.len() as f64;
                let alphas = data.contexts().iter().map(|name| each.get(name).map_or(mean, number));
                vec![(alphas.collect(), 1.0)]
            }
            LocalConcentration::Own(_) => panic!("contexts that learn on their own are not enumerated"),
        };
        // |s(n + 1, t)| = |s(n, t - 1)| + n |s(n, t)|.
        let mut stirling = vec![vec![1.0]];
        for n in 0..data.n_faces() {
            let last = &stirling[n];
            let get = |t: Option<usize>| t.and_then(|t| last.get(t)).copied().unwrap_or(0.0);
            let next = (0..=n + 1).map(|t| get(t.checked_sub(1)) + n as f64 * get(Some(t))).collect();
            stirling.push(next);
        }
        Self { data, alpha_0: nodes(model.identity.global_concentration), alphas, stirling }
    }

    fn p(&self, z: &[u32], c: &[u32]) -> f64 {
        let n_identities = z.iter().max().map_or(0, |highest| *highest as usize + 1);
        let n_contexts = c.iter().max().map_or(0, |highest| *highest as usize + 1);
        let mut counts = vec![vec![0; n_identities]; n_contexts];
        for face in self.data.faces() {
            let context = c[self.data.frame_of(face).index()];
            counts[context as usize][z[face.index()] as usize] += 1;
        }
        let most = z.len();
        // alpha_0's part depends on T.. alone.
        let global = |tables: usize| -> f64 {
            let part = |&(alpha_0, weight): &(f64, f64)| {
                weight * alpha_0.powi(n_identities as i32) / rising(alpha_0, tables)
            };
            self.alpha_0.iter().map(part).sum()
        };
        let global: Vec<f64> = (0..=most).map(global).collect();
        let given_alphas = |alphas: &[f64]| -> f64 {
            // Polynomials in the number of tables: per identity over contexts, then over identities.
            let mut by_tables = vec![1.0];
            for identity in 0..n_identities {
                let mut own = vec![1.0];
                for (row, alpha_c) in counts.iter().zip(alphas) {
                    let of_seat = self.stirling[row[identity]].iter().enumerate();
                    own =
                        convolve(&own, &of_seat.map(|(t, s)| s * alpha_c.powi(t as i32)).collect::<Vec<_>>());
                }
                // Gamma(T_.i); no table is no identity.
                own[0] = 0.0;
                for (t, coefficient) in own.iter_mut().enumerate().skip(1) {
                    *coefficient *= rising(1.0, t - 1);
                }
                by_tables = convolve(&by_tables, &own);
            }
            let sum: f64 = by_tables.iter().zip(&global).map(|(a, b)| a * b).sum();
            let each = counts.iter().zip(alphas);
            sum / each.map(|(row, alpha_c)| rising(*alpha_c, row.iter().sum())).product::<f64>()
        };
        self.alphas.iter().map(|(alphas, weight)| weight * given_alphas(alphas)).sum()
    }
}

fn convolve(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            out[i + j] += x * y;
        }
    }
    out
}

/// The probability of all statements (MODEL.md §7).
fn p_statements(model: &Model, data: &Dataset, world: &World) -> f64 {
    let is_true = |statement: &Statement| match *statement {
        Statement::Same(a, b) => world.is_same(a.index(), b.index()),
        Statement::Different(a, b) => !world.is_same(a.index(), b.index()),
        Statement::Not(face, label) => world.name_of(face.index()) != Some(label.0),
    };
    let p = |statement: &Statement| {
        let e = match statement {
            Statement::Same(..) => model.evidence.same,
            Statement::Different(..) => model.evidence.different,
            Statement::Not(..) => model.evidence.not,
        };
        if is_true(statement) { 1.0 - e } else { e }
    };
    data.evidence().statements().iter().map(p).product()
}

fn n_repeats(data: &Dataset, z: &[u32]) -> usize {
    let pairs = (0..z.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    let frame_of = |face| data.frame_of(kith::ids::FaceId::new(face));
    pairs.filter(|&(a, b)| z[a] == z[b] && frame_of(a) == frame_of(b)).count()
}

/// p(x | z) of the faces of one identity, for every set of faces: theta* integrated out, summed over scales
/// and over whose looks are odd. A set is a number whose bits are its faces.
struct Looks {
    of_set: Vec<f64>,
}

impl Looks {
    fn new(model: &Model, data: &Dataset) -> Self {
        let xs: Vec<Vec<f64>> = data.faces().map(|face| lies_at(model, data.embedding(face))).collect();
        let all = |set: usize| -> Vec<&[f64]> {
            (0..xs.len()).filter(|face| set >> face & 1 == 1).map(|face| &xs[face][..]).collect()
        };
        let usual: Vec<f64> = (0..1usize << xs.len())
            .map(|set| if set == 0 { 1.0 } else { p_looks(model, &all(set)) })
            .collect();
        let rhos: Vec<f64> = data.faces().map(|face| rho(model, data, face)).collect();
        let odd_looks: Vec<f64> =
            (0..xs.len()).map(|face| p_look_alikes(model, &xs, face, rhos[face])).collect();
        let of_set = |set: usize| -> f64 {
            let with_odd = |odd: usize| {
                let each = (0..xs.len()).filter(|face| set >> face & 1 == 1).map(|face| {
                    if odd >> face & 1 == 1 { rhos[face] * odd_looks[face] } else { 1.0 - rhos[face] }
                });
                each.product::<f64>() * usual[set & !odd]
            };
            let can_be_odd = (0..xs.len()).filter(|&face| rhos[face] > 0.0).map(|face| 1 << face);
            let can_be_odd = set & can_be_odd.sum::<usize>();
            (0..=can_be_odd).filter(|odd| odd & !can_be_odd == 0).map(with_odd).sum()
        };
        Self { of_set: (0..usual.len()).map(of_set).collect() }
    }

    fn p(&self, z: &[u32]) -> f64 {
        let highest = z.iter().max().copied().unwrap_or(0);
        let set = |identity| -> usize {
            (0..z.len()).filter(|&face| z[face] == identity).map(|face| 1 << face).sum()
        };
        (0..=highest).map(|identity| self.of_set[set(identity)]).product()
    }
}

/// Where a face lies: as it is, or after the transform, rounded to `f32`.
fn lies_at(model: &Model, embedding: &[f32]) -> Vec<f64> {
    let x: Vec<f64> = embedding.iter().map(|&x| f64::from(x)).collect();
    match &model.face.kind {
        FaceKind::Isotropic(_) => x,
        FaceKind::Full(full) => {
            let prior = full.prior();
            assert!(prior.length.is_none(), "lengths are not enumerated");
            let rows = prior.transform.chunks(x.len());
            let y = rows.map(|row| row.iter().zip(&x).zip(&prior.mean).map(|((a, x), m)| a * (x - m)).sum());
            y.map(|y: f64| f64::from(y as f32)).collect()
        }
    }
}

/// p of the faces of one identity, their scales summed over.
fn p_looks(model: &Model, xs: &[&[f64]]) -> f64 {
    let prior = match &model.face.kind {
        FaceKind::Isotropic(prior) => return ln_marginal(prior, xs).exp(),
        FaceKind::Full(full) => full.prior(),
    };
    let grid = scales(prior.spread);
    let mut total = 0.0;
    for number in 0..grid.len().pow(xs.len() as u32) {
        let scale = |face: usize| grid[number / grid.len().pow(face as u32) % grid.len()];
        let (lambdas, ps): (Vec<f64>, Vec<f64>) = (0..xs.len()).map(scale).unzip();
        total += ps.iter().product::<f64>() * p_at_scales(prior, xs, &lambdas);
    }
    total
}

/// The scales of faces with their prior (MODEL.md §4).
fn scales(spread: f64) -> Vec<(f64, f64)> {
    if spread == 0.0 {
        return vec![(1.0, 1.0)];
    }
    let step = (2.0f64 / 3.0).sqrt();
    let points = || (-3..=4).map(|k| step * f64::from(k));
    let total: f64 = points().map(|t| (-0.5 * t * t).exp()).sum();
    points().map(|t| ((-spread * t).exp(), (-0.5 * t * t).exp() / total)).collect()
}

/// e^c f^power as it stands in MODEL.md §4.
fn p_at_scales(prior: &FullPrior, ys: &[&[f64]], lambdas: &[f64]) -> f64 {
    let (n, d) = (ys.len() as f64, prior.between.len());
    let dim = d as f64;
    let total: f64 = lambdas.iter().sum();
    let mut mean = vec![0.0; d];
    for (y, lambda) in ys.iter().zip(lambdas) {
        mean.iter_mut().zip(*y).for_each(|(mean, y)| *mean += lambda * y / total);
    }
    let widths = || prior.between.iter().map(|psi| psi + 1.0 / total);
    let q: f64 = mean.iter().zip(widths()).map(|(mean, width)| mean * mean / width).sum();
    let kappa = prior.tail;
    let ln_m = ln_gamma(0.5 * (kappa + dim))
        - ln_gamma(0.5 * kappa)
        - 0.5 * widths().map(|width| (kappa * PI * width).ln()).sum::<f64>()
        - 0.5 * (kappa + dim) * (1.0 + q / kappa).ln();
    let p = prior.freedom - dim - 1.0;
    let mut matrix = vec![vec![0.0; d]; d];
    let mut trace = 0.0;
    for (y, lambda) in ys.iter().zip(lambdas) {
        for r in 0..d {
            trace += lambda * (y[r] - mean[r]).powi(2);
            for c in 0..d {
                matrix[r][c] += lambda * (y[r] - mean[r]) * (y[c] - mean[c]) / p;
            }
        }
    }
    (0..d).for_each(|k| matrix[k][k] += 1.0);
    let gammas = (1..ys.len()).map(|k| {
        let at = 0.5 * (prior.freedom + k as f64);
        ln_gamma(at) - ln_gamma(at - 0.5 * dim)
    });
    let ln_t = gammas.sum::<f64>()
        - 0.5 * (n - 1.0) * dim * (PI * p).ln()
        - 0.5 * (prior.freedom + n - 1.0) * determinant(&matrix).ln();
    let ln_g = -0.5 * ((n - 1.0) * dim * (2.0 * PI).ln() + trace);
    let ln_scales: f64 = lambdas.iter().map(|lambda| lambda.ln()).sum();
    let ln_f =
        ln_m + (1.0 - prior.common) * ln_t + prior.common * ln_g + 0.5 * dim * (ln_scales - total.ln());
    (prior.lookalikes + prior.power * ln_f).exp()
}

/// By Laplace's expansion along the first row.
fn determinant(matrix: &[Vec<f64>]) -> f64 {
    if matrix.is_empty() {
        return 1.0;
    }
    let minor = |column: usize| -> Vec<Vec<f64>> {
        let without = |row: &Vec<f64>| [&row[..column], &row[column + 1..]].concat();
        matrix[1..].iter().map(without).collect()
    };
    let sign = |column: usize| if column.is_multiple_of(2) { 1.0 } else { -1.0 };
    (0..matrix.len()).map(|column| sign(column) * matrix[0][column] * determinant(&minor(column))).sum()
}

/// How often the looks of a face are odd, by what was said of it (MODEL.md §7).
fn rho(model: &Model, data: &Dataset, face: FaceId) -> f64 {
    let statements = data.evidence().statements();
    let is_spoken_of = statements.iter().any(|one| one.faces().any(|other| other == face));
    let is_named = data.label(face).is_some_and(|label| label.is_word);
    let odd = if model.face.update == FaceUpdate::Collapsed { model.evidence.odd } else { 0.0 };
    match data.introduces(face) {
        true => odd.powi(3),
        false if is_named || is_spoken_of => odd,
        false => 0.0,
    }
}

/// What a face shows whose looks are odd: the densest predictive under its nearest face alone, and with the
/// 1, 3, and at most 7 nearest to that one, who are ordinary photos, times the share of all that they are.
fn p_look_alikes(model: &Model, xs: &[Vec<f64>], face: usize, rho: f64) -> f64 {
    if rho == 0.0 {
        return 0.0;
    }
    let distance = |a: usize, b: usize| xs[a].iter().zip(&xs[b]).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    let mut others: Vec<usize> = (0..xs.len()).filter(|&other| other != face).collect();
    let nearest = |&a: &usize, &b: &usize| distance(face, a).total_cmp(&distance(face, b));
    let alike = others.iter().copied().min_by(nearest).expect("somebody else is there");
    others.sort_by(|&a, &b| distance(alike, a).total_cmp(&distance(alike, b)));
    others.truncate(8);
    let near: Vec<&[f64]> = others.iter().map(|&other| &xs[other][..]).collect();
    let counts = [1, 2, 4, 8].into_iter().filter(|&n| n < near.len()).chain([near.len()]);
    let predictive = |n: usize| {
        let with = [&near[..n], &[&xs[face][..]]].concat();
        match &model.face.kind {
            FaceKind::Isotropic(prior) => (ln_marginal(prior, &with) - ln_marginal(prior, &near[..n])).exp(),
            FaceKind::Full(full) => {
                let at =
                    |lambda: f64| p_at_scales(full.prior(), &with, &[&vec![1.0; n][..], &[lambda]].concat());
                let joined: f64 = scales(full.prior().spread).iter().map(|&(lambda, p)| p * at(lambda)).sum();
                joined / p_at_scales(full.prior(), &near[..n], &vec![1.0; n])
            }
        }
    };
    counts.map(|n| predictive(n) * n as f64 / xs.len() as f64).fold(0.0, f64::max)
}

/// ln of the marginal of n faces of one identity (MODEL.md §4), with mean and scatter computed in two passes.
pub fn ln_marginal(prior: &Isotropic, xs: &[impl AsRef<[f64]>]) -> f64 {
    let (n, d) = (xs.len() as f64, prior.mean.len() as f64);
    let mean: Vec<f64> =
        (0..prior.mean.len()).map(|k| xs.iter().map(|x| x.as_ref()[k]).sum::<f64>() / n).collect();
    let square = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    let scatter: f64 = xs.iter().map(|x| square(x.as_ref(), &mean)).sum();
    let kappa_n = prior.kappa + n;
    let a_n = prior.shape + n * d / 2.0;
    let b_n = prior.rate + scatter / 2.0 + prior.kappa * n * square(&mean, &prior.mean) / (2.0 * kappa_n);
    ln_gamma(a_n) - ln_gamma(prior.shape) + prior.shape * prior.rate.ln() - a_n * b_n.ln()
        + d / 2.0 * (prior.kappa / kappa_n).ln()
        - n * d / 2.0 * (2.0 * PI).ln()
}

/// p(y*, y | z) for all y*.
struct NameIntegrals<'d> {
    data: &'d Dataset,
    lambda: Vec<(f64, f64)>,
    error_rate: ErrorRate,
    word_error_rate: f64,
    /// L of every known name.
    base: Vec<f64>,
    known: HashMap<Moment, f64>,
}

/// E[prod H(l)^powers prod (1 - H(k))^-excluded]; the powers of the known names, then of unknown.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Moment {
    powers: Vec<usize>,
    excluded: Vec<usize>,
}

impl<'d> NameIntegrals<'d> {
    fn new(model: &Model, data: &'d Dataset) -> Self {
        // K characters, or as many as the names have.
        let mut letters: Vec<char> = data.names().concat().chars().collect();
        letters.sort_unstable();
        letters.dedup();
        let (phi, k) = (model.name.base.mean_length, model.name.base.alphabet_size.max(letters.len() as f64));
        let mass = |name: &String| ((phi - 1.0) / (phi * k)).powi(name.chars().count() as i32) / (phi - 1.0);
        Self {
            data,
            lambda: nodes(model.name.concentration),
            error_rate: model.name.error_rate,
            word_error_rate: model.evidence.is,
            base: data.names().iter().map(mass).collect(),
            known: HashMap::new(),
        }
    }

    fn all(&mut self, z: &[u32]) -> Vec<(Vec<Option<u32>>, f64)> {
        let n_identities = z.iter().max().map_or(0, |highest| highest + 1);
        let n_known = self.base.len() as u32;
        let mut all = vec![Vec::new()];
        for _ in 0..n_identities {
            let possible = (0..n_known).map(Some).chain([None]);
            let longer = |names: Vec<Option<u32>>| {
                possible.clone().map(move |name| [names.as_slice(), &[name]].concat())
            };
            all = all.into_iter().flat_map(longer).collect();
        }
        all.into_iter().map(|names| (names.clone(), self.p(z, &names))).collect()
    }

    fn p(&mut self, z: &[u32], names: &[Option<u32>]) -> f64 {
        let unknown = self.base.len();
        let mut moment = Moment { powers: vec![0; unknown + 1], excluded: vec![0; unknown] };
        for name in names {
            moment.powers[name.map_or(unknown, |label| label as usize)] += 1;
        }
        let (mut right, mut wrong, mut p_words) = (0, 0, 1.0);
        for face in self.data.faces() {
            let Some(label) = self.data.label(face) else { continue };
            let given = label.name;
            let own = names[z[face.index()] as usize];
            let is_right = own == Some(given.0);
            match (label.is_word, is_right) {
                (true, true) => p_words *= 1.0 - self.word_error_rate,
                (true, false) => p_words *= self.word_error_rate,
                (false, true) => right += 1,
                (false, false) => wrong += 1,
            }
            if is_right {
                continue;
            }
            moment.powers[given.index()] += 1;
            if let Some(own) = own {
                moment.excluded[own as usize] += 1;
            }
        }
        let p_errors = p_words
            * match self.error_rate {
                ErrorRate::Fixed(epsilon) => epsilon.powi(wrong) * (1.0 - epsilon).powi(right),
                ErrorRate::Learnt { alpha, beta } => {
                    let (wrong, right) = (wrong as usize, right as usize);
                    rising(alpha, wrong) * rising(beta, right) / rising(alpha + beta, wrong + right)
                }
            };
        if let Some(known) = self.known.get(&moment) {
            return p_errors * known;
        }
        let integral = self
            .lambda
            .iter()
            .map(|&(lambda, weight)| {
                let mut shapes: Vec<f64> = self.base.iter().map(|mass| lambda * mass).collect();
                shapes.push(lambda * (1.0 - self.base.iter().sum::<f64>()));
                weight * dirichlet_moment(&shapes, &moment.powers, &moment.excluded)
            })
            .sum();
        self.known.insert(moment, integral);
        p_errors * integral
    }
}

/// E[prod H(l)^powers prod (1 - H(k))^-excluded] for H ~ Dir(shapes), the last of which is unknown.
pub fn dirichlet_moment(shapes: &[f64], powers: &[usize], excluded: &[usize]) -> f64 {
    if excluded.iter().all(|&w| w == 0) {
        let each = shapes.iter().zip(powers).map(|(&shape, &power)| rising(shape, power));
        return each.product::<f64>() / rising(shapes.iter().sum(), powers.iter().sum());
    }
    assert_eq!(shapes.len(), 3, "at most two names are known");
    // The first name has its factor integrated in closed form, the second's is the series
    // (1 - h)^-w = sum_r C(w + r - 1, r) h^r, whose terms are products of Beta functions.
    let (first, second) = if excluded[0] > 0 { (0, 1) } else { (1, 0) };
    let after = |k: usize| shapes[k] + powers[k] as f64;
    let (a_1, a_2, a_0) = (after(first), after(second), after(2));
    let (w_1, w_2) = (excluded[first] as f64, excluded[second] as f64);
    let ln_beta = |a: f64, b: f64| ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b);
    let ln_prior = shapes.iter().map(|&shape| ln_gamma(shape)).sum::<f64>() - ln_gamma(shapes.iter().sum());
    let mut term = (ln_beta(a_1, a_2 + a_0 - w_1) + ln_beta(a_2, a_0) - ln_prior).exp();
    if w_2 == 0.0 {
        return term;
    }
    let mut sum = 0.0;
    const TERMS: usize = 4000;
    for r in 0..TERMS {
        let r = r as f64;
        sum += term;
        term *= (w_2 + r) / (r + 1.0) * (a_2 + a_0 - w_1 + r) / (a_1 + a_2 + a_0 - w_1 + r) * (a_2 + r)
            / (a_2 + a_0 + r);
    }
    // The rest falls like r^-(1 + p); its sum is near the integral, to a relative 1 / TERMS of what is left.
    let p = a_1 + a_0 - w_2;
    sum + term * TERMS as f64 / p
}

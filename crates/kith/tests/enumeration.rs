//! Enumeration: chains visit every partition, context and name of six faces as often as the exact posterior
//! says.

use std::collections::BTreeMap;

use crate::common;
use crate::common::exact::{self, World};
use crate::common::{Case, run};
use kith::chain::diagnostics::standard_error;
use kith::chain::{Chain, Draw, Run, Start};
use kith::gibbs::{Step, Sweep};
use kith::ids::FaceId;

const CHAINS: usize = 8;
/// A debug build checks every state after every sweep, and is given fewer.
const RUN: Run = Run { sweeps: if cfg!(debug_assertions) { 2_100 } else { 8_100 }, burn_in: 100, thin: 1 };

/// Covariances are dearer.
const RUN_OF_COVARIANCES: Run = Run { sweeps: if cfg!(debug_assertions) { 600 } else { 2_600 }, ..RUN };

/// Standard errors. Checked for "unbounded, names" with 300 seeds (22,000 events): the distances had mean 0,
/// standard deviation 0.99, 7 beyond 3.5 where 10 are expected, and none beyond 4. A file has about 800
/// events, many of them nearly the same, so that a change of the draws alone fails it in some 3 of 100 cases.
const LIMIT: f64 = 4.0;

/// Something that holds in a world or does not.
type Event = (String, Box<dyn Fn(&World) -> bool>);

fn events(case: &Case, worlds: &[(World, f64)]) -> Vec<Event> {
    let (n_faces, n_frames) = (case.target.data().n_faces(), case.target.data().n_frames());
    let mut events: Vec<Event> = Vec::new();
    let mut add = |name: String, holds: Box<dyn Fn(&World) -> bool>| events.push((name, holds));
    for a in 0..n_faces {
        for b in 0..a {
            add(format!("faces {b} and {a} are one"), Box::new(move |w| w.is_same(a, b)));
        }
    }
    for n in 1..=n_faces {
        add(format!("{n} identities"), Box::new(move |w| w.n_identities() == n));
    }
    for frame in 0..n_frames {
        for context in 0..n_frames as u32 {
            let holds = move |w: &World| w.contexts[frame] == context;
            add(format!("frame {frame} in context {context}"), Box::new(holds));
        }
        for other in 0..frame {
            let holds = move |w: &World| w.contexts[frame] == w.contexts[other];
            add(format!("frames {other} and {frame} in one context"), Box::new(holds));
        }
    }
    for face in 0..n_faces {
        for name in (0..case.target.data().names().len() as u32).map(Some).chain([None]) {
            add(format!("face {face} is called {name:?}"), Box::new(move |w| w.name_of(face) == name));
        }
    }
    let mut of_partition: BTreeMap<&[u32], f64> = BTreeMap::new();
    for (world, p) in worlds {
        *of_partition.entry(&world.identities).or_default() += p;
    }
    let mut partitions: Vec<(Vec<u32>, f64)> =
        of_partition.into_iter().map(|(z, p)| (z.to_vec(), p)).collect();
    partitions.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (z, _) in partitions.into_iter().take(4) {
        add(format!("the partition is {z:?}"), Box::new(move |w| w.identities == z));
    }
    events
}

/// What the chains of a case get wrong.
fn failures(case: &Case, seed: u64) -> Vec<String> {
    let worlds = exact::posterior(case.target.model(), case.target.data());
    differences(case, &worlds, &run(case, CHAINS, seed, &RUN))
}

/// Chains whose faces are seated by `settle`, every face twice: so many that covariances are screened by
/// bounds, as they are from eight faces on.
fn run_settled(case: &Case, seed: u64) -> Vec<Draw> {
    let faces: Vec<FaceId> = case.target.data().faces().chain(case.target.data().faces()).collect();
    let rest = Sweep(vec![Step::SplitMerge, Step::Contexts, Step::Names, Step::Faces, Step::Weights]);
    let of_chain = |number: usize| {
        let mut chain = Chain::start(Start::ALL[number % 4], number as u32, seed, &case.target);
        let mut draws = Vec::new();
        for _ in 0..RUN_OF_COVARIANCES.sweeps {
            chain.settle(&faces, &case.target);
            chain.sweep(&rest, &case.target);
            if RUN_OF_COVARIANCES.keeps(chain.n_sweeps()) {
                draws.push(chain.draw(&case.target));
            }
        }
        draws
    };
    (0..CHAINS).flat_map(of_chain).collect()
}

fn differences(case: &Case, worlds: &[(World, f64)], draws: &[Draw]) -> Vec<String> {
    let visited: Vec<(usize, World)> =
        draws.iter().map(|draw| (draw.chain as usize, World::of(draw))).collect();
    let (mut failures, mut worst) = (Vec::new(), 0.0f64);
    for (name, holds) in events(case, worlds) {
        let exact = exact::probability(worlds, &holds);
        let mut chains = vec![Vec::new(); CHAINS];
        for (chain, world) in &visited {
            chains[*chain].push(f64::from(u8::from(holds(world))));
        }
        let found = chains.iter().flatten().sum::<f64>() / visited.len() as f64;
        // Of what is hardly ever visited the chains know no error: independent draws would have this one.
        let independent = (exact * (1.0 - exact) / visited.len() as f64).sqrt();
        // NaN, which `max` passes over, when the event always or never held.
        let error = standard_error(&chains).max(independent).max(5e-5);
        let z = (found - exact) / error;
        worst = worst.max(z.abs());
        if z.abs() >= LIMIT {
            let figures = format!("found {found:.4}, exact {exact:.4}, z = {z:.1}");
            failures.push(format!("{}: {name}: {figures}", case.name));
        }
    }
    println!("{}: {} worlds, largest |z| {worst:.2}", case.name, worlds.len());
    failures
}

/// Compares cases, each with theta* integrated out and kept.
fn compare(names: &[&str], seed: u64) {
    let mut all = Vec::new();
    for (number, name) in (0..).zip(names) {
        all.extend(failures(&common::named(name), seed + number));
        all.extend(failures(&common::named(&format!("{name}, explicit")), seed + 50 + number));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn with_contexts_known_the_posterior_is_the_exact_one() {
    compare(&["none", "given", "given, one missing"], 100);
}

#[test]
fn with_contexts_sampled_the_posterior_is_the_exact_one() {
    compare(&["latent 2", "latent 3", "unbounded"], 200);
}

#[test]
fn with_names_in_conflict_the_posterior_is_the_exact_one() {
    compare(&["given, names", "unbounded, names"], 300);
}

#[test]
fn with_repeats_rare_the_posterior_is_the_exact_one() {
    compare(&["given, one missing, repeat", "unbounded, names, repeat"], 400);
}

#[test]
fn with_statements_in_conflict_the_posterior_is_the_exact_one() {
    compare(&["given, evidence", "given, evidence, odd looks", "latent 2, evidence, repeat"], 600);
}

/// The default's face model: its power, two experts, tail, look-alikes and scales; seated plainly, as a few
/// faces are, and by bounds.
#[test]
fn with_covariances_the_posterior_is_the_exact_one() {
    let mut all = Vec::new();
    for (number, case) in (0..).zip(common::covariances()) {
        let worlds = exact::posterior(case.target.model(), case.target.data());
        all.extend(differences(&case, &worlds, &run(&case, CHAINS, 700 + number, &RUN_OF_COVARIANCES)));
        all.extend(differences(&case, &worlds, &run_settled(&case, 750 + number)));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

/// One person of that case has so many photos that their scatter is kept as a matrix.
#[test]
fn many_photos_of_one_person_are_probable_where_they_are_enumerated() {
    let case = common::named("covariances, many photos");
    let worlds = exact::posterior(case.target.model(), case.target.data());
    let has_many = |w: &World| (0..10).any(|i| w.identities.iter().filter(|&&z| z == i).count() > 8);
    let p = exact::probability(&worlds, has_many);
    assert!((0.1..0.9).contains(&p), "{p}");
}

#[test]
fn with_everything_learnt_the_posterior_is_the_exact_one() {
    compare(&["latent 2, names, all learnt"], 500);
}

/// The oracle's own: over all partitions, contexts and names, the prior has mass one.
#[test]
fn the_enumerated_priors_sum_to_one() {
    for case in common::collapsed() {
        let [contexts, identities, names] = exact::prior_masses(case.target.model(), case.target.data());
        for (what, mass) in [("contexts", contexts), ("identities", identities), ("names", names)] {
            assert!((mass - 1.0).abs() < 1e-6, "{}: {what}: {mass}", case.name);
        }
    }
}

/// The oracle's own: the series against the midpoint rule over the simplex.
#[test]
fn moments_of_names_agree_with_quadrature() {
    for (shapes, powers, excluded) in [
        ([1.5, 1.3, 2.2], [1, 2, 1], [1, 0]),
        ([1.5, 1.3, 2.2], [2, 1, 1], [0, 1]),
        ([1.2, 1.4, 1.1], [3, 2, 1], [2, 2]),
        ([1.2, 1.1, 1.0], [2, 2, 0], [1, 2]),
    ] {
        let n = 1500;
        let (mut with, mut without) = (0.0, 0.0);
        for i in 0..n {
            for j in 0..n {
                // u = h_1, v = h_2 / (1 - h_1), with powers of 3 that smooth the edges.
                let smooth = |k: i32| (f64::from(k) + 0.5) / f64::from(n);
                let (s, t) = (smooth(i), smooth(j));
                let (u, v) = (s * s * (3.0 - 2.0 * s), t * t * (3.0 - 2.0 * t));
                let jacobian = 36.0 * s * (1.0 - s) * t * (1.0 - t) * (1.0 - u);
                let h = [u, (1.0 - u) * v, (1.0 - u) * (1.0 - v)];
                let density: f64 =
                    h.iter().zip(shapes).map(|(h, shape): (&f64, f64)| h.powf(shape - 1.0)).product();
                let moment: f64 = h.iter().zip(powers).map(|(h, power)| h.powi(power as i32)).product();
                let excluded: f64 =
                    h.iter().zip(excluded).map(|(h, w): (&f64, usize)| (1.0 - h).powi(-(w as i32))).product();
                with += density * moment * excluded * jacobian;
                without += density * jacobian;
            }
        }
        let (quadrature, series) = (with / without, exact::dirichlet_moment(&shapes, &powers, &excluded));
        assert!((series / quadrature - 1.0).abs() < 1e-4, "{shapes:?}: {series} {quadrature}");
    }
}

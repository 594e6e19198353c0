//! Splits and merges against the plain joint, against enumeration, and against single-site Gibbs.

use std::collections::BTreeMap;

use super::{Kernel, effort, shapes};
use crate::cases;
use crate::chain::Start;
use crate::chain::diagnostics::standard_error;
use crate::data::{Dataset, Embeddings};
use crate::gibbs::{Step, Sweep, colours};
use crate::ids::{FaceId, FrameId, IdentityId};
use crate::math::{ln_beta_density, ln_gamma, ln_sum_exp};
use crate::model::face::{Centred, Group};
use crate::model::{FaceModel, FaceUpdate, Isotropic, LocalConcentration, Model, NameUpdate, Strength};
use crate::random::{Rng, driver};
use crate::simulate::prior;
use crate::state::{Name, State};
use crate::target::Target;

/// ln of the joint with the names and the appearance of some identities integrated out.
fn ln_marginal_joint(state: &State, identities: &[IdentityId], target: &Target) -> f64 {
    let Some((&identity, rest)) = identities.split_first() else {
        // theta* of the others is left out both before and after a move.
        let mut collapsed = target.model().clone();
        collapsed.face.update = FaceUpdate::Collapsed;
        return state.ln_joint_plain(&target.clone().with_model(collapsed).unwrap());
    };
    let with = |name| {
        let mut named = state.clone();
        named.names.set(identity, name);
        ln_marginal_joint(&named, rest, target)
    };
    ln_sum_exp(&state.names.all().map(with).collect::<Vec<f64>>())
}

fn group_of(faces: &[FaceId], state: &State, target: &Target) -> Group {
    let mut group = target.model().face.group();
    let mut x = Centred::default();
    for &face in faces {
        state.look(face, target, &mut x);
        target.model().face.observe(&mut group, &x);
    }
    group
}

/// ln of the probability of a deal, every weight worked out from the lists of faces.
fn ln_deal(pair: [FaceId; 2], dealt: &[(FaceId, usize)], ln_pi: f64, state: &State, target: &Target) -> f64 {
    let (model, data) = target.parts();
    let mut sides = pair.map(|face| vec![face]);
    let mut ln_p = 0.0;
    for &(face, side) in dealt {
        let context = state.context_of_face(face, data);
        let alpha_c = state.weights.local_concentration(context);
        let weights = sides.each_ref().map(|there| {
            let same_context = there.iter().filter(|&&f| state.context_of_face(f, data) == context).count();
            let mut weight = same_context as f64 + alpha_c * ln_pi.exp() / 2.0;
            let ln_faces = |faces: &[FaceId]| model.face.ln_marginal(&group_of(faces, state, target));
            weight *= (ln_faces(&[&**there, &[face]].concat()) - ln_faces(there)).exp();
            let same_frame = there.iter().filter(|&&f| data.frame_of(f) == data.frame_of(face)).count();
            weight *= model.repeat.powi(same_frame as i32);
            let links = data.evidence().links(face).iter().filter(|link| there.contains(&link.0));
            for &(other, n_same, n_different) in links {
                assert_ne!(other, face);
                let odds = |e: f64| (1.0 - e) / e;
                weight *= odds(model.evidence.same).powi(n_same as i32);
                weight /= odds(model.evidence.different).powi(n_different as i32);
            }
            if let Some(given) = data.given_name(face) {
                let votes: Vec<_> = there.iter().filter_map(|&f| data.given_name(f)).collect();
                let alike = votes.iter().filter(|&&vote| vote == given).count() as f64;
                weight *=
                    (alike + state.names.ln_weight(Name::Known(given)).exp()) / (votes.len() + 1) as f64;
            }
            weight
        });
        ln_p += (weights[side] / (weights[0] + weights[1])).ln();
        sides[side].push(face);
    }
    ln_p
}

#[test]
fn splits_are_weighed_by_the_joint_and_merges_are_their_inverse() {
    let mut n_splits = 0;
    for case in cases::weighed() {
        for seed in 0..12 {
            let mut rng = driver(500 + seed);
            let (state, target) = prior::draw(&case.target, &mut rng);
            let data = target.data();
            for (a, b) in data.faces().flat_map(|a| data.faces().map(move |b| (a, b))) {
                let [i, j] = [a, b].map(|face| state.seating.identity_of(face).unwrap());
                if a == b || i != j {
                    continue;
                }
                n_splits += 1;
                let mut kernel = Kernel::new(&target.data().faces().collect::<Vec<_>>(), &state, &target);
                let order = kernel.order([a, b], &[i], &mut rng);
                let split = kernel.weigh_split([a, b], i, &order, &state, &mut rng);

                let dealt: Vec<_> = order.iter().copied().zip(split.deal.sides.iter().copied()).collect();
                let moved = dealt.iter().filter(|(_, side)| *side == 1).map(|(face, _)| *face);
                let moved: Vec<FaceId> = [b].into_iter().chain(moved).collect();
                let groups = split.deal.parts.each_ref().map(|part| part.group.clone());
                let mut after = state.clone();
                let new = after.split((i, &moved), groups, split.ln_weights, &target, &mut rng);
                after.check(&target).unwrap();

                let ln_pi = state.weights.ln_of(i);
                let n_at = split.deal.parts.each_ref().map(|part| &part.n_at);
                let [t_1, t_2] = shapes(n_at, ln_pi, &state);
                let share = (after.weights.ln_of(i) - ln_pi).exp();
                let plain = ln_marginal_joint(&after, &[i, new], &target)
                    - ln_marginal_joint(&state, &[i], &target)
                    + ln_pi
                    - ln_beta_density(share, t_1, t_2)
                    - ln_deal([a, b], &dealt, ln_pi, &state, &target);
                let gap = (plain - split.ln_ratio).abs();
                assert!(gap < 1e-8, "{}: split {a:?} {b:?}: {plain} {}", case.name, split.ln_ratio);

                assert_eq!(effort(2.0, i, i, &state), effort(2.0, i, new, &after));

                let mut kernel = Kernel::new(&target.data().faces().collect::<Vec<_>>(), &after, &target);
                let ln_ratio = kernel.weigh_merge([i, new], f64::INFINITY, &after).unwrap();
                // What is refused early would be refused.
                assert!(kernel.weigh_merge([i, new], ln_ratio + 1e-9, &after).is_some());
                assert!(kernel.weigh_merge([i, new], ln_ratio - 1e-3, &after).is_none());
                let unbounded = f64::NEG_INFINITY;
                let replay = kernel.deals.replay([a, b], &order, ln_pi, (new, unbounded), &after).unwrap();
                let gap = (ln_ratio - replay.ln_p - split.ln_ratio).abs();
                assert!(gap < 1e-8, "{}: merge {a:?} {b:?}: gap {gap}", case.name);
                let mut before = after.clone();
                let into = kernel.join([i, new], &mut before, &mut rng);
                before.check(&target).unwrap();
                assert_eq!(before.seating.n_identities(), state.seating.n_identities());
                assert!((before.weights.ln_of(into) - ln_pi).abs() < 1e-12);
            }
        }
    }
    assert!(n_splits > 1000, "only {n_splits} splits");
}

#[test]
fn every_statistic_follows_splits_and_merges() {
    let mut accepted = [0, 0];
    for mut case in cases::weighed() {
        for update in [NameUpdate::Exact, NameUpdate::Paper] {
            case = case.with(|model| model.name.update = update);
            let mut rng = driver(31);
            let (_, target) = prior::draw(&case.target, &mut rng);
            let mut state = Start::Random.state(&target, &mut rng);
            let sweep = Sweep(vec![Step::SplitMerge, Step::Weights]);
            for _ in 0..200 {
                let info = sweep.run(&mut state, &target, &mut rng);
                state.check(&target).unwrap();
                accepted[0] += info.splits.accepted;
                accepted[1] += info.merges.accepted;
            }
        }
    }
    assert!(accepted.iter().all(|&n| n > 1000), "{accepted:?}");
}

/// Five faces of four frames in two given contexts, D = 2, no names.
fn five_faces() -> Target {
    let prior = Isotropic { mean: vec![0.2, -0.1], kappa: 0.3, shape: 2.5, rate: 1.5 };
    let mut model = Model::new(FaceModel::isotropic(prior));
    model.identity.global_concentration = Strength::Fixed(1.4);
    model.identity.local_concentration = LocalConcentration::Shared(Strength::Fixed(0.9));
    model.repeat = 0.5;
    let x = vec![0.1, 0.9, -0.4, 0.2, 1.4, 0.8, 0.3, 1.1, -0.9, -1.2];
    let frames = [0, 0, 1, 2, 3].map(FrameId).to_vec();
    let contexts = ["home", "work", "home", "work"].map(|c| Some(c.to_owned()));
    let data = Dataset::new(Embeddings::new(x, 2).unwrap(), frames, &contexts, &[const { None }; 5]).unwrap();
    Target::new(model, data).unwrap()
}

/// Labels by first appearance.
fn canonical(labels: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut seen: Vec<usize> = Vec::new();
    labels
        .map(|label| {
            seen.iter().position(|&known| known == label).unwrap_or_else(|| {
                seen.push(label);
                seen.len() - 1
            })
        })
        .collect()
}

/// An unsigned Stirling number of the first kind.
fn stirling(n: usize, t: usize) -> f64 {
    let mut row = vec![1.0];
    for m in 0..n {
        let next = |t: usize| {
            let stay = row.get(t).map_or(0.0, |s| s * m as f64);
            stay + if t > 0 { row[t - 1] } else { 0.0 }
        };
        row = (0..=m + 1).map(next).collect();
    }
    row.get(t).copied().unwrap_or(0.0)
}

/// All partitions of so many faces.
fn partitions(n_faces: usize) -> Vec<Vec<usize>> {
    let mut partitions = vec![vec![0]];
    for _ in 1..n_faces {
        let grow = |p: Vec<usize>| {
            let n = p.iter().max().unwrap() + 1;
            (0..=n).map(move |label| [&p[..], &[label]].concat())
        };
        partitions = partitions.into_iter().flat_map(grow).collect();
    }
    partitions
}

/// The exact posterior of all partitions: pi_0 integrated out over table counts, with unsigned Stirling
/// numbers of the first kind.
fn enumerate(target: &Target, state: &State) -> BTreeMap<Vec<usize>, f64> {
    let data = target.data();
    let alpha_0 = state.weights.global_concentration;
    let partitions = partitions(data.n_faces());
    let mut ln_p = Vec::new();
    for partition in &partitions {
        let n_identities = partition.iter().max().unwrap() + 1;
        let members = |i: usize| data.faces().filter(move |f| partition[f.index()] == i).collect::<Vec<_>>();
        // sum over T_ci, one seat after the other: the tables of each identity so far, and their weight.
        let mut sums: BTreeMap<Vec<usize>, f64> = BTreeMap::from([(vec![0; n_identities], 1.0)]);
        for i in 0..n_identities {
            for context in state.seating.contexts() {
                let n = members(i).iter().filter(|&&f| state.context_of_face(f, data) == context).count();
                let alpha_c = state.weights.local_concentration(context);
                let mut next = BTreeMap::new();
                for (tables, weight) in &sums {
                    for t in 0..=n {
                        let mut tables = tables.clone();
                        tables[i] += t;
                        *next.entry(tables).or_insert(0.0) +=
                            weight * stirling(n, t) * alpha_c.powi(t as i32);
                    }
                }
                sums = next;
            }
        }
        let of_tables = |(tables, weight): (&Vec<usize>, &f64)| {
            let total: usize = tables.iter().sum();
            let gammas: f64 = tables.iter().map(|&t| ln_gamma(t.max(1) as f64)).sum();
            weight * (gammas + ln_gamma(alpha_0) - ln_gamma(alpha_0 + total as f64)).exp()
        };
        let mut one = (sums.iter().map(of_tables).sum::<f64>()).ln() + n_identities as f64 * alpha_0.ln();
        for i in 0..n_identities {
            let members = members(i);
            one += target.model().face.ln_marginal(&group_of(&members, state, target));
            for (k, &f) in members.iter().enumerate() {
                let mates = members[..k].iter().filter(|&&g| data.frame_of(g) == data.frame_of(f)).count();
                one += mates as f64 * target.model().repeat.ln();
            }
        }
        ln_p.push(one);
    }
    let total = ln_sum_exp(&ln_p);
    partitions.into_iter().zip(ln_p).map(|(partition, ln_p)| (partition, (ln_p - total).exp())).collect()
}

#[test]
fn splits_and_merges_without_any_scan_visit_the_exact_posterior() {
    // With the second, splits of such small identities are tried less often than merges too, as those of
    // large ones are.
    for dealt in [super::DEALT, 1.0] {
        visits_the_exact_posterior(&format!("dealt {dealt}"), |state, target, rng| {
            let faces: Vec<_> = target.data().faces().collect();
            super::step_dealing(dealt, &faces, state, target, rng, &false.into());
        });
    }
}

#[test]
fn rounds_by_one_two_and_three_colours_visit_the_exact_posterior() {
    for n in 1..=3 {
        visits_the_exact_posterior(&format!("{n} colours"), |state, target, rng| {
            colours::step(n, state, target, rng);
        });
    }
}

fn visits_the_exact_posterior(what: &str, step: impl Fn(&mut State, &Target, &mut Rng)) {
    let target = five_faces();
    let data = target.data();
    let mut rng = driver(77);
    let mut state = Start::Together.state(&target, &mut rng);
    let exact = enumerate(&target, &state);
    assert_eq!(exact.len(), 52);
    let n = 60_000;
    let mut visits: BTreeMap<Vec<usize>, Vec<f64>> =
        exact.keys().map(|p| (p.clone(), vec![0.0; n])).collect();
    for k in 0..n {
        step(&mut state, &target, &mut rng);
        Sweep(vec![Step::Weights]).run(&mut state, &target, &mut rng);
        let labels = data.faces().map(|face| state.seating.identity_of(face).unwrap().index());
        visits.get_mut(&canonical(labels)).unwrap()[k] = 1.0;
    }
    let mut distance = 0.0;
    for (partition, &p) in &exact {
        let series = &visits[partition];
        let found = series.iter().sum::<f64>() / n as f64;
        distance += 0.5 * (found - p).abs();
        let error = standard_error(&[series]).max((p / n as f64).sqrt());
        assert!((found - p).abs() < 4.0 * error, "{what}, {partition:?}: {found}, exact {p}, error {error}");
    }
    assert!(distance < 0.015, "{distance}");
}

#[test]
fn with_names_splits_and_merges_agree_with_single_faces_moving() {
    let names = ["unbounded, all learnt, repeat", "names", "names, explicit, all learnt"];
    for case in cases::all().into_iter().filter(|case| names.contains(&case.name)) {
        let (_, target) = prior::draw(&case.target, &mut driver(68));
        let of_single = together(&target, Step::Assignments);
        let of_others = [Step::SplitMerge, Step::Colours(2)].map(|step| together(&target, step));
        let pairs = of_others.iter().flat_map(|of_other| of_other.iter().zip(&of_single).enumerate());
        for (pair, (a, b)) in pairs {
            let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
            let error = standard_error(&[a]).hypot(standard_error(&[b]));
            let shift = mean(a) - mean(b);
            assert!(
                shift.abs() < 4.0 * error,
                "{}: pair {pair}: {} {}, error {error}",
                case.name,
                mean(a),
                mean(b)
            );
        }
    }
}

/// Which pairs of faces are one person, sweep after sweep; then whether each face's person is unknown.
fn together(target: &Target, step: Step) -> Vec<Vec<f64>> {
    let data = target.data();
    let mut rng = driver(61);
    let mut state = Start::Sequential.state(target, &mut rng);
    let sweep = Sweep(vec![step, Step::Contexts, Step::Names, Step::Faces, Step::Weights]);
    let mut series = vec![Vec::new(); data.n_faces() * data.n_faces()];
    for _ in 0..20_000 {
        sweep.run(&mut state, target, &mut rng);
        let identity = |face| state.seating.identity_of(face).unwrap();
        for (a, b) in data.faces().flat_map(|a| data.faces().map(move |b| (a, b))) {
            let is = if a == b {
                state.names.of(identity(a)) == Name::Unknown
            } else {
                identity(a) == identity(b)
            };
            series[a.index() * data.n_faces() + b.index()].push(f64::from(u8::from(is)));
        }
    }
    series
}

//! Geweke: the joint distribution of state and data is left as it is by each kernel alone and by whole
//! sweeps.

use super::scan::Scan;
use super::{Step, Sweep, assignments};
use crate::cases::{self, Case};
use crate::chain::diagnostics::standard_error;
use crate::chain::{Chain, Memory};
use crate::ids::{FaceId, FrameId};
use crate::model::ContextMode;
use crate::random::{Rng, driver};
use crate::simulate::prior;
use crate::state::{Name, State};
use crate::target::Target;

const STATISTICS: [&str; 22] = [
    "n_identities",
    "faces 0 and 1 are one",
    "faces 0 and 2 are one",
    "size of face 0's identity",
    "frames 0 and 2 share a context",
    "frames in frame 0's context",
    "ln pi_0'",
    "ln pi_0 of face 0",
    "ln alpha_0",
    "ln alpha_c of frame 0",
    "ln gamma_0",
    "ln lambda",
    "epsilon",
    "face 0 unknown",
    "J_unknown",
    "H(unknown)",
    "face 0 mislabelled",
    "ln joint",
    "ln s2 of face 0",
    "scale of face 0",
    "scales of faces 0 and 1",
    "statements that agree",
];

fn statistics(state: &State, target: &Target) -> [f64; STATISTICS.len()] {
    let data = target.data();
    let (seating, weights, names) = (&state.seating, &state.weights, &state.names);
    let identity = |face| seating.identity_of(FaceId(face)).unwrap();
    let context = |frame| seating.context_of(FrameId(frame));
    let flag = |is: bool| f64::from(u8::from(is));
    let first = names.of(identity(0));
    let given = data.given_name(FaceId(0)).map(Name::Known);
    [
        seating.n_identities() as f64,
        flag(identity(0) == identity(1)),
        flag(identity(0) == identity(2)),
        f64::from(seating.n_of(identity(0))),
        flag(context(0) == context(2)),
        f64::from(seating.n_frames_in(context(0))),
        weights.ln_unseen,
        weights.ln_of(identity(0)),
        weights.global_concentration.ln(),
        weights.local_concentration(context(0)).ln(),
        weights.context_concentration.ln(),
        names.concentration.ln(),
        names.error_rate,
        flag(first == Name::Unknown),
        f64::from(names.n_named(Name::Unknown)),
        names.ln_weight(Name::Unknown).exp(),
        flag(given.is_some_and(|given| given != first)),
        state.ln_joint(target),
        state.faces.theta(identity(0)).map_or(0.0, |theta| theta.variance.ln()),
        f64::from(state.faces.scale(FaceId(0))),
        f64::from(state.faces.scale(FaceId(0))) * f64::from(state.faces.scale(FaceId(1))),
        data.evidence().statements().iter().filter(|&&statement| state.agrees(statement)).count() as f64,
    ]
}

/// Draws from the joint, moves each once by `sweep`, and compares every statistic before and after.
fn assert_invariant(case: &Case, sweep: &Sweep, n: usize, seed: u64) {
    let what = format!("{:?}", sweep.0);
    assert_moves_invariant(case, &what, n, seed, |state, target, rng| {
        sweep.run(state, target, rng);
    });
}

/// The same for any moves.
fn assert_moves_invariant(
    case: &Case,
    what: &str,
    n: usize,
    seed: u64,
    moves: impl Fn(&mut State, &Target, &mut Rng),
) {
    let mut rng = driver(seed);
    let mut shifts = Shifts::default();
    for _ in 0..n {
        let (mut state, target) = prior::draw(&case.target, &mut rng);
        let before = statistics(&state, &target);
        moves(&mut state, &target, &mut rng);
        shifts.add(&before, &statistics(&state, &target));
    }
    shifts.assert_none(&format!("{}: {what}", case.name));
}

/// By how much moves shifted each statistic.
#[derive(Clone, Default)]
struct Shifts {
    n: usize,
    sums: [(f64, f64); STATISTICS.len()],
}

impl Shifts {
    fn add(&mut self, before: &[f64; STATISTICS.len()], after: &[f64; STATISTICS.len()]) {
        self.n += 1;
        for (sum, (after, before)) in self.sums.iter_mut().zip(after.iter().zip(before)) {
            sum.0 += after - before;
            sum.1 += (after - before).powi(2);
        }
    }

    fn assert_none(&self, what: &str) {
        let n = self.n as f64;
        for (name, (sum, squares)) in STATISTICS.iter().zip(self.sums) {
            let (mean, square) = (sum / n, squares / n);
            let error = ((square - mean * mean) / n).sqrt();
            // A statistic that every move shifts alike has no standard error: it may not be shifted at all.
            if error > 0.0 {
                let z = mean / error;
                assert!(z.abs() < 4.0, "{what}: {name}: z = {z}, shift {mean}");
            } else {
                assert_eq!(mean, 0.0, "{what}: {name} is shifted by as much every time");
            }
        }
    }
}

/// Faces as they ship, whose joint is drawn from by rejection, which takes its time: every draw is moved by
/// each kernel in turn, from where it was. Bounds are made from eight faces on: `every face twice` has them.
#[test]
fn kernels_leave_the_joint_of_faces_as_they_ship_as_it_is() {
    let twice: Vec<FaceId> = (0..14).map(|k| FaceId(k % 7)).collect();
    type Move<'m> = (&'m str, &'m dyn Fn(&mut State, &Target, &mut Rng));
    let one = |step| {
        move |state: &mut State, target: &Target, rng: &mut Rng| {
            Sweep(vec![step]).run(state, target, rng);
        }
    };
    let (seats, splits, names, weights) =
        (one(Step::Assignments), one(Step::SplitMerge), one(Step::Names), one(Step::Weights));
    let bounds = |state: &mut State, target: &Target, rng: &mut Rng| {
        Scan::new(target).pass(&twice, state, target, rng);
    };
    let settle = |state: &mut State, target: &Target, rng: &mut Rng| {
        let mut chain = Chain::of_state(state.clone(), rng.clone());
        chain.settle(&twice, target);
        (*state, *rng) = chain.into_parts();
    };
    let sweep = |state: &mut State, target: &Target, rng: &mut Rng| {
        Sweep::default().run(state, target, rng);
    };
    let moves: [Move<'_>; 7] = [
        ("seats", &seats),
        ("seats by bounds", &bounds),
        ("split-merge", &splits),
        ("names", &names),
        ("weights", &weights),
        ("settle", &settle),
        ("sweep", &sweep),
    ];
    // What is said is hardly ever true of what is drawn: enumeration has faces as they ship with evidence.
    for case in cases::shipped().iter().filter(|case| !case.name.starts_with("evidence")) {
        let mut rng = driver(5000);
        let mut shifts = vec![Shifts::default(); moves.len()];
        for _ in 0..600 {
            let (drawn, target) = prior::draw_weighed(&case.target, 0.5, &mut rng);
            let before = statistics(&drawn, &target);
            for (shifts, (_, moves)) in shifts.iter_mut().zip(&moves) {
                let mut state = drawn.clone();
                moves(&mut state, &target, &mut rng);
                shifts.add(&before, &statistics(&state, &target));
            }
        }
        for (shifts, (what, _)) in shifts.iter().zip(&moves) {
            shifts.assert_none(&format!("{}: {what}", case.name));
        }
    }
}

fn every_case(step: Step, n: usize, is_concerned: impl Fn(&Case) -> bool) {
    for (number, case) in cases::all().iter().filter(|case| is_concerned(case)).enumerate() {
        assert_invariant(case, &Sweep(vec![step]), n, 1000 + number as u64);
    }
}

#[test]
fn assignments_alone_leave_the_joint_as_it_is() {
    every_case(Step::Assignments, 10_000, |_| true);
}

#[test]
fn assignments_weighed_plainly_leave_the_joint_as_it_is() {
    for (number, case) in cases::all().iter().enumerate() {
        assert_moves_invariant(case, "plainly", 5_000, 1500 + number as u64, |state, target, rng| {
            assignments::step_plainly(state, target, rng);
        });
    }
}

#[test]
fn split_merge_alone_leaves_the_joint_as_it_is() {
    every_case(Step::SplitMerge, 10_000, |_| true);
}

#[test]
fn rounds_by_colour_leave_the_joint_as_it_is() {
    [2, 3].into_iter().for_each(|n| every_case(Step::Colours(n), 5_000, |_| true));
}

#[test]
fn contexts_alone_leave_the_joint_as_it_is() {
    let is_sampled = |case: &Case| !matches!(case.target.model().context.mode, ContextMode::None);
    every_case(Step::Contexts, 10_000, is_sampled);
}

#[test]
fn names_alone_leave_the_joint_as_it_is() {
    every_case(Step::Names, 10_000, |case| !case.target.data().names().is_empty());
}

#[test]
fn appearance_alone_leaves_the_joint_as_it_is() {
    every_case(Step::Faces, 10_000, |case| {
        case.target.model().face.update == crate::model::FaceUpdate::Explicit
    });
}

#[test]
fn weights_alone_leave_the_joint_as_it_is() {
    every_case(Step::Weights, 10_000, |_| true);
}

#[test]
fn whole_sweeps_leave_the_joint_as_it_is() {
    let twice = Sweep([Sweep::default().0, Sweep::default().0].concat());
    for (number, case) in cases::all().iter().enumerate() {
        assert_invariant(case, &twice, 5_000, 2000 + number as u64);
    }
}

/// What a library does between learnings: a few faces are looked at again, and a chain goes on from a draw.
#[test]
fn local_moves_leave_the_joint_as_it_is() {
    let faces = [0, 3, 5].map(FaceId);
    for (number, case) in cases::all().iter().enumerate() {
        let seed = 4000 + number as u64;
        assert_moves_invariant(case, "settle", 5_000, seed, |state, target, rng| {
            let mut chain = Chain::of_state(state.clone(), rng.clone());
            chain.settle(&faces, target);
            (*state, *rng) = chain.into_parts();
        });
        assert_moves_invariant(case, "resume", 5_000, seed, |state, target, rng| {
            let chain = Chain::of_state(state.clone(), rng.clone());
            let memory = Memory::of(&chain.draw(target));
            let seed = (rng.uniform() * 1e15) as u64;
            *state = Chain::resume(&memory, seed, target).into_parts().0;
        });
    }
}

/// Geweke (2004): alternate sweeps and fresh data; the states visited are draws of the prior.
#[test]
fn successive_conditionals_visit_the_prior() {
    let some = [
        "full, scales",
        "given, repeat",
        "latent",
        "unbounded",
        "names",
        "names, explicit, all learnt",
        "evidence, latent, explicit, repeat",
    ];
    for (number, name) in some.into_iter().enumerate() {
        let case = &cases::named(name);
        let mut rng: Rng = driver(3000 + number as u64);
        let n = 15_000;
        let mut of_prior = vec![Vec::new(); STATISTICS.len()];
        let mut of_chain = vec![Vec::new(); STATISTICS.len()];
        let (mut state, mut target) = prior::draw(&case.target, &mut rng);
        for _ in 0..n {
            Sweep::default().run(&mut state, &target, &mut rng);
            prior::redraw_data(&mut state, &mut target, &mut rng);
            let (fresh, its_target) = prior::draw(&case.target, &mut rng);
            let visited = statistics(&state, &target);
            let drawn = statistics(&fresh, &its_target);
            for k in 0..STATISTICS.len() {
                of_chain[k].push(visited[k]);
                of_prior[k].push(drawn[k]);
            }
        }
        for (k, name) in STATISTICS.iter().enumerate() {
            let mean = |values: &[f64]| values.iter().sum::<f64>() / n as f64;
            let error = standard_error(&[&of_chain[k]]).hypot(standard_error(&[&of_prior[k]]));
            let shift = mean(&of_chain[k]) - mean(&of_prior[k]);
            if error.is_finite() && error > 0.0 {
                assert!((shift / error).abs() < 4.0, "{}: {name}: z = {}", case.name, shift / error);
            } else {
                assert_eq!(shift, 0.0, "{}: {name} does not move", case.name);
            }
        }
    }
}

//! A belief from the first frame on: seen, heard, learnt, caught up, asked.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use super::stages::{self, Known};
use super::stream::{Look, Stream};
use super::{About, Belief, Chains, Kind, News, Said, Settings, Until};
use crate::chain::{Memory, Watch};
use crate::data::{Dataset, NewFace};
use crate::gibbs::Sweep;
use crate::ids::FaceId;
use crate::model::{FaceModel, Isotropic, Model};
use crate::predict::NewPhoto;
use crate::random::driver;

const CHAINS: Chains = Chains { n: 3, seed: 5 };

fn model() -> Model {
    Model::new(FaceModel::isotropic(Isotropic { mean: vec![0.0; 2], kappa: 0.02, shape: 3.0, rate: 1.0 }))
}

/// Frames of one face each, of two people far apart by turns.
fn two_people(n_frames: usize) -> Belief {
    let mut rng = driver(11);
    let mut belief = Belief::new(model(), CHAINS).unwrap();
    for frame in 0..n_frames {
        let x = [-6.0, 6.0][frame % 2] + 0.5 * rng.normal();
        let embedding = [x as f32, rng.normal() as f32];
        belief.see(None, &[NewFace { embedding: &embedding, name: None }]).unwrap();
    }
    belief
}

#[test]
fn draws_are_of_the_later_sweeps_evenly_spaced_and_no_more_than_wanted() {
    let mut belief = two_people(12);
    let until = Until { sweeps: Some(100), draws: 8 };
    let mut rounds = 0;
    let learnt = belief.learn_with(&until, &Watch::nobody(), &mut |round| {
        rounds += 1;
        assert_eq!(round.now().len(), CHAINS.n);
        assert!(round.draws().len() <= CHAINS.n * until.draws);
        ControlFlow::Continue(())
    });
    // After 1, 2, 4, 8, 16, 32 and 64 sweeps: the first answers do not wait.
    assert_eq!((learnt.sweeps, learnt.r_hat, rounds), (100, None, 7));
    for chain in 0..CHAINS.n as u32 {
        let of_chain = belief.draws().iter().filter(|draw| draw.chain == chain);
        let sweeps: Vec<u64> = of_chain.map(|draw| draw.sweep).collect();
        assert!(sweeps[0] > 20 && sweeps.len() > 4 && sweeps.len() <= until.draws, "{sweeps:?}");
        assert!(sweeps.windows(3).all(|three| three[1] - three[0] == three[2] - three[1]), "{sweeps:?}");
        assert!(sweeps.last().unwrap() > &90, "{sweeps:?}");
    }
}

/// Whoever keeps rounds is told of none that was broken off: it may have come to no draw.
#[test]
fn nobody_is_told_of_a_round_that_was_broken_off() {
    let mut belief = two_people(12);
    let stop = AtomicBool::new(false);
    let watch = Watch { stop: &stop, swept: &|| stop.store(true, Ordering::Relaxed) };
    let learnt =
        belief.learn_with(&Until::agreed(), &watch, &mut |_| panic!("the first round was broken off"));
    assert!(learnt.is_interrupted);
    assert!(!belief.draws().is_empty());
}

#[test]
fn chains_of_plain_faces_soon_agree_and_one_that_is_stopped_says_so() {
    let mut belief = two_people(20);
    let learnt = belief.learn(&Until::agreed(), &Watch::nobody());
    assert!(learnt.is_agreed() && !learnt.is_interrupted, "{learnt:?}");
    assert!(belief.most_sweeps(&Until::agreed()) >= learnt.sweeps);
    assert_eq!(belief.people().len(), 2);
    let stop = AtomicBool::new(true);
    let learnt = belief.learn(&Until::agreed(), &Watch { stop: &stop, swept: &|| () });
    assert_eq!((learnt.sweeps, learnt.is_interrupted), (0, true));
    // What the chains believe is there all the same.
    assert_eq!(belief.draws().len(), CHAINS.n);
}

#[test]
fn a_round_can_break_off() {
    let mut belief = two_people(6);
    let until = Until::sweeps(1_000);
    let learnt = belief.learn_with(&until, &Watch::nobody(), &mut |_| ControlFlow::Break(()));
    assert_eq!((learnt.sweeps, learnt.is_interrupted), (1, false));
}

#[test]
fn what_is_heard_counts_when_it_is_said() {
    let mut belief = two_people(10);
    belief.learn(&Until::sweeps(40), &Watch::nobody());
    let asked = belief.ask(3);
    assert!(matches!(asked[0].about, About::Who(_)), "{asked:?}");
    belief.hear(&[Said::Name(FaceId(0), "Ann"), Said::Name(FaceId(2), "Ann")]).unwrap();
    let people = belief.people();
    let ann = people.names[people.of_face[0] as usize].expect("she was named");
    assert_eq!(belief.target().data().names()[ann.0.index()], "Ann");
    // Refused, nothing has changed.
    let before = belief.clone();
    assert!(belief.hear(&[Said::Same(FaceId(1), FaceId(1))]).is_err());
    assert_eq!(belief.draws(), before.draws());
    // What came before something that is refused counts.
    let both = [Said::Name(FaceId(3), "Ben"), Said::Different(FaceId(0), FaceId(99))];
    assert!(belief.hear(&both).is_err());
    assert_eq!(belief.target().data().names(), ["Ann", "Ben"]);
    belief.sweep(2);
    belief.chains().iter().for_each(|chain| chain.state().check(belief.target()).unwrap());
    // Said often enough, what looks alike is apart.
    let apart = [Said::Different(FaceId(1), FaceId(3)); 40];
    belief.hear(&apart).unwrap();
    let seats =
        |chain: &crate::chain::Chain| [1, 3].map(|face| chain.state().seating().identity_of(FaceId(face)));
    assert!(belief.chains().iter().all(|chain| seats(chain)[0] != seats(chain)[1]));
}

#[test]
fn remembered_draws_go_on_with_new_faces_and_keep_what_nobody_touched() {
    let mut belief = two_people(260);
    belief.learn(&Until::sweeps(20), &Watch::nobody());
    let before = belief.draws().to_vec();
    let mut target = belief.target().clone();
    target.push_frame(None, &[NewFace { embedding: &[-6.0, 0.0], name: None }]).unwrap();
    let mut memories: Vec<Memory> = before.iter().map(Memory::of).collect();
    for memory in &mut memories {
        memory.identities.push(None);
        memory.contexts.push(None);
    }
    let person_of: Vec<Option<u32>> = before[0].identities.iter().copied().map(Some).chain([None]).collect();
    let news = News { said: BTreeSet::new(), person_of: &person_of, moment: 1 };
    let (after, touched) = Belief::catch_up(target, memories, CHAINS.seed, news);
    assert_eq!(touched, BTreeSet::from([FaceId(260)]));
    assert_eq!((after.draws().len(), after.chains().len()), (before.len(), CHAINS.n));
    for (after, before) in after.draws().iter().zip(&before) {
        assert_eq!(after.identities[..260], before.identities);
        // It is one of the person's on the left, who may be in pieces.
        let mut left = after.identities[..260].iter().step_by(2);
        assert!(left.any(|&identity| identity == after.identities[260]));
    }
    after.chains().iter().for_each(|chain| chain.state().check(after.target()).unwrap());
}

#[test]
fn a_prior_is_learnt_anew_when_that_takes_a_moment_or_somebody_waits() {
    let faces = |n: usize| {
        let mut data = Dataset::empty(40).unwrap();
        for _ in 0..n {
            data.push_frame(None, &[NewFace { embedding: &[0.5; 40], name: None }]).unwrap();
        }
        data
    };
    let model = model();
    let known = |n_faces, has_background| Some(Known { model: &model, n_faces, has_background });
    let due = |n, known, can_wait| stages::due(Settings::default(), &faces(n), known, can_wait);
    assert!(due(2, None, false).is_some(), "nothing is known");
    assert!(due(30, known(20, false), false).is_none(), "not twice as many");
    assert!(due(40, known(20, false), false).is_some(), "twice as many");
    assert!(due(64, known(60, false), false).is_some(), "enough for covariances");
    assert!(due(64, known(60, true), false).is_none(), "other people's prior stays");
    let many = stages::COVARIANCES_AT_ONCE + 1;
    assert!(due(many, known(many - 1, false), false).is_none(), "covariances take too long");
    assert_eq!(due(many, None, false).unwrap().kind, Some(Kind::Isotropic));
    assert_eq!(due(many, known(many - 1, false), true).unwrap().kind, None);
    assert!(due(stages::PRIOR_AT_ONCE, known(10, false), false).is_none(), "only by learning");
}

#[test]
fn what_was_pooled_is_kept_until_something_is_seen_heard_or_learnt() {
    let mut belief = two_people(20);
    belief.learn(&Until::agreed(), &Watch::nobody());
    let there = |belief: &Belief, face: &[f32]| {
        belief.who(&[NewPhoto { context: None, faces: vec![face] }])[0][0].clone()
    };
    assert!(std::ptr::eq(belief.posterior(), belief.posterior()));
    let answer = there(&belief, &[6.0, 0.0]);
    assert!(answer.names.is_empty() && answer.familiar > 0.5, "{answer:?}");
    // Draws that no chain stands behind are of the names there are now, too.
    let mut bare = Belief::of_draws(belief.target().clone(), belief.draws().to_vec(), 1);
    there(&bare, &[6.0, 0.0]);
    bare.hear(&[Said::Name(FaceId(1), "Ann")]).unwrap();
    assert_eq!(there(&bare, &[6.0, 0.0]).names.len(), 1);
    belief.hear(&[Said::Name(FaceId(1), "Ann")]).unwrap();
    assert!(there(&belief, &[6.0, 0.0]).acquainted > 0.5);
    let far = [0.0, 30.0];
    assert!(there(&belief, &far).stranger > 0.5);
    for _ in 0..3 {
        belief.see(None, &[NewFace { embedding: &far, name: None }]).unwrap();
    }
    assert!(there(&belief, &far).stranger < 0.5);
}

#[test]
fn people_of_a_stream_keep_their_ids_and_newcomers_are_new() {
    let mut belief = two_people(20);
    belief.learn(&Until::agreed(), &Watch::nobody());
    let mut stream = Stream::new((0..20).map(|face| Some(face % 2)).collect(), belief.chains());
    let mut arrive = |x: f32, look: Look| {
        let face = FaceId::new(belief.target().data().n_faces());
        belief.target_mut().push_frame(None, &[NewFace { embedding: &[x, 0.1], name: None }]).unwrap();
        let weighed = stream.weigh(&[face], look, &mut belief);
        let (person, p) = stream.decide(face, &weighed[0]);
        stream.take_for(face, person.unwrap_or(7), belief.chains());
        assert_eq!(stream.person_of()[face.index()], Some(person.unwrap_or(7)));
        // Whose it is it stays, seen again.
        let again = stream.weigh(&[face], Look::Again, &mut belief);
        assert_eq!(stream.decide(face, &again[0]).0, Some(person.unwrap_or(7)));
        (person, p)
    };
    for look in [Look::New, Look::AtAll] {
        for (x, person) in [(-6.0, 0), (6.0, 1)] {
            let found = arrive(x, look);
            assert!(found.0 == Some(person) && found.1 > 0.5, "{x} {look:?}: {found:?}");
        }
    }
    for (x, person) in [(40.0, None), (40.2, Some(7))] {
        let found = arrive(x, Look::New);
        assert!(found.0 == person && found.1 > 0.5, "{x}: {found:?}");
    }
}

#[test]
fn a_sweep_that_is_broken_off_leaves_a_state_of_its_own() {
    let belief = two_people(20);
    let target = belief.target();
    let mut chain = belief.chains()[0].clone();
    let before = chain.state().clone();
    chain.sweep_unless(&AtomicBool::new(true), &Sweep::default(), target);
    assert_eq!(chain.state(), &before);
    assert_eq!(chain.state().check(target), Ok(()));
    chain.sweep_unless(&AtomicBool::new(false), &Sweep::default(), target);
    assert_ne!(chain.state(), &before);
}

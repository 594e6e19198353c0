//! Crowds of several shapes with the default settings: their people are found, and no wrong pair is sure
//! (bench/crowds.py has many more).

use kith::belief::{Belief, Chains, Settings, Until};
use kith::chain::{Start, Watch};
use kith::data::{Dataset, NewFace};
use kith::predict::partition::adjusted_rand_index;
use kith::predict::representative::representative;
use kith::random;
use kith::target::Target;

/// People whose means vary `ratio` times as much as their photos, so many photos of each.
fn crowd(dimension: usize, ratio: f64, photos: &[usize], seed: u64) -> (Dataset, Vec<u32>) {
    let mut rng = random::driver(seed);
    let mut shown: Vec<u32> =
        (0..).zip(photos).flat_map(|(person, &n)| std::iter::repeat_n(person, n)).collect();
    rng.shuffle(&mut shown);
    let mean = |_| (0..dimension).map(|_| ratio.sqrt() * rng.normal()).collect::<Vec<f64>>();
    let means: Vec<Vec<f64>> = photos.iter().map(mean).collect();
    let mut data = Dataset::empty(dimension).unwrap();
    for &person in &shown {
        let photo: Vec<f32> = means[person as usize].iter().map(|m| (m + rng.normal()) as f32).collect();
        data.push_frame(None, &[NewFace { embedding: &photo, name: None }]).unwrap();
    }
    (data, shown)
}

/// People of 40 photos who change: each is spread evenly along a direction of their own, eight times as far
/// either way as photos vary; and as many strangers as that.
fn people_who_change(people: usize, seed: u64) -> (Dataset, Vec<u32>) {
    const DIMENSION: usize = 48;
    let mut rng = random::driver(seed);
    let mut shown: Vec<(u32, Vec<f32>)> = Vec::new();
    for person in 0..people as u32 {
        let mean: Vec<f64> = (0..DIMENSION).map(|_| 2.0 * rng.normal()).collect();
        let change: Vec<f64> = (0..DIMENSION).map(|_| rng.normal()).collect();
        let length = change.iter().map(|x| x * x).sum::<f64>().sqrt();
        for _ in 0..40 {
            let along = 8.0 * (2.0 * rng.uniform() - 1.0) / length;
            let photo = mean.iter().zip(&change).map(|(m, u)| (m + along * u + rng.normal()) as f32);
            shown.push((person, photo.collect()));
        }
        let stranger = (0..DIMENSION).map(|_| (5.0_f64.sqrt() * rng.normal()) as f32);
        shown.push((people as u32 + person, stranger.collect()));
    }
    rng.shuffle(&mut shown);
    let mut data = Dataset::empty(DIMENSION).unwrap();
    for (_, photo) in &shown {
        data.push_frame(None, &[NewFace { embedding: photo, name: None }]).unwrap();
    }
    (data, shown.into_iter().map(|(person, _)| person).collect())
}

/// Somebody's changes are one person's, because W is learnt from people who are whole: where it was learnt
/// from pieces of them, it made more pieces (0.67 to 0.76 for such crowds).
#[test]
fn people_who_change_are_one_person_each() {
    for seed in [90, 91] {
        let (data, truth) = people_who_change(25, seed);
        let model = Settings::default().resolve(&data, None, &mut |_| ()).unwrap();
        let target = Target::new(model, data).unwrap();
        let mut belief = Belief::start(target, &[Start::Sequential], Chains { n: 2, seed: 1 });
        belief.learn(&Until::sweeps(12), &Watch::nobody());
        let draws: Vec<Vec<u32>> = belief.draws().iter().map(|draw| draw.partition().to_vec()).collect();
        let ari = adjusted_rand_index(&representative(&draws).labels, &truth);
        assert!(ari > 0.97, "{seed}: {ari}");
    }
}

#[test]
fn people_of_every_shape_of_crowd_are_found_and_no_wrong_pair_is_sure() {
    let power: Vec<usize> = (1..=60).map(|rank| (60 / rank).max(1)).collect();
    // The last is the least adjusted Rand index: where people overlap nobody finds all of them.
    let crowds = [
        (64, 2.0, vec![1; 90], 0.99),
        (64, 2.0, vec![12; 8], 0.99),
        (64, 1000.0, vec![12; 8], 0.99),
        (64, 20.0, power, 0.99),
        (128, 2.0, vec![50; 3], 0.99),
        (512, 20.0, vec![3; 30], 0.99),
        (64, 0.5, vec![12; 16], 0.6),
        (16, 2.0, vec![1; 200], 0.99),
        (16, 0.5, vec![1; 90], 0.99),
        (16, 20.0, vec![12; 8], 0.99),
        (16, 20.0, vec![40; 2], 0.99),
    ];
    for (number, (dimension, ratio, photos, least)) in crowds.into_iter().enumerate() {
        let (data, truth) = crowd(dimension, ratio, &photos, 70 + number as u64);
        let model = Settings::default().resolve(&data, None, &mut |_| ()).unwrap();
        let target = Target::new(model, data).unwrap();
        let mut belief = Belief::start(target, &[Start::Sequential], Chains { n: 2, seed: 1 });
        belief.learn(&Until::sweeps(20), &Watch::nobody());
        let draws: Vec<Vec<u32>> = belief.draws().iter().map(|draw| draw.identities.clone()).collect();
        let what = format!("D {dimension}, ratio {ratio}, {} people, {} faces", photos.len(), truth.len());
        let ari = adjusted_rand_index(&representative(&draws).labels, &truth);
        assert!(ari > least, "{what}: {ari}");
        let (mut n_sure, mut n_wrong) = (0, 0);
        for (a, b) in (0..truth.len()).flat_map(|b| (0..b).map(move |a| (a, b))) {
            let n_together = draws.iter().filter(|draw| draw[a] == draw[b]).count();
            if n_together * 10 >= draws.len() * 9 {
                n_sure += 1;
                n_wrong += usize::from(truth[a] != truth[b]);
            }
        }
        assert!(10 * n_wrong <= n_sure, "{what}: {n_wrong} of {n_sure} sure pairs are wrong");
    }
}

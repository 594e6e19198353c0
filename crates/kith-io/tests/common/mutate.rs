//! Inputs nearly like those of a corpus: bits flipped, parts moved, numbers made extreme, words of the format
//! put in.
//!
//! A run is a function of its seed. `KITH_FUZZ=1000000` makes it long, `KITH_FUZZ_SEED=7` another.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use kith::random::{Rng, driver};

/// How many inputs each target gets in the tests.
const SHORT: usize = 3000;
/// An input does not grow beyond this.
const LARGEST: usize = 1 << 16;

const NUMBERS: [&str; 24] = [
    "0",
    "-0",
    "-1",
    "1",
    "1e-400",
    "1e-300",
    "5e-324",
    "1e38",
    "3.5e38",
    "1e308",
    "1e309",
    "-1e400",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "4294967295",
    "4294967296",
    "2147483648",
    "65536",
    "255",
    "0.1",
    "NaN",
    "inf",
    "1000000",
];

/// The files of a folder.
pub fn corpus(folder: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{}", folder.display());
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// A number that the environment gives.
pub fn number(key: &str) -> Option<u64> {
    std::env::var(key).ok().and_then(|text| text.parse().ok())
}

/// Says what became of inputs.
pub fn tell(name: &str, n: usize, n_taken: usize) {
    println!("{name}: {n} inputs, {n_taken} taken, the others refused");
}

/// Gives a target the corpus, and inputs nearly like it. `take` says whether it took the input for sound.
pub fn fuzz(name: &str, corpus: &[Vec<u8>], words: &[&str], mut take: impl FnMut(&[u8]) -> bool) {
    let n = number("KITH_FUZZ").map_or(SHORT, |n| n as usize);
    let mut rng = driver(number("KITH_FUZZ_SEED").unwrap_or(1));
    let mut n_taken = 0;
    for round in 0..n {
        let input = match corpus.get(round) {
            Some(seed) => seed.clone(),
            None => mutated(corpus, words, &mut rng),
        };
        match catch_unwind(AssertUnwindSafe(|| take(&input))) {
            Ok(is_taken) => n_taken += usize::from(is_taken),
            Err(_) => {
                let path = std::env::temp_dir().join(format!("kith-fuzz-{name}-{round}"));
                std::fs::write(&path, &input).unwrap();
                panic!("{name}: input {round} ends in a panic; it is kept as {}", path.display());
            }
        }
    }
    tell(name, n, n_taken);
    assert!(n_taken > 0 && n_taken < n, "{name}: {n_taken} of {n} taken");
}

fn mutated(corpus: &[Vec<u8>], words: &[&str], rng: &mut Rng) -> Vec<u8> {
    let mut input = corpus[rng.below(corpus.len())].clone();
    // Mostly few changes, so that many inputs are read to the end.
    let most = 1 + rng.below(5);
    for _ in 0..=rng.below(most) {
        change(&mut input, corpus, words, rng);
        input.truncate(LARGEST);
    }
    input
}

fn change(input: &mut Vec<u8>, corpus: &[Vec<u8>], words: &[&str], rng: &mut Rng) {
    let at = rng.below(input.len() + 1);
    let part = |list: &[u8], rng: &mut Rng| -> Vec<u8> {
        let from = rng.below(list.len() + 1);
        let most = (list.len() - from).min(1 + rng.below(64));
        list[from..from + most].to_vec()
    };
    match rng.below(10) {
        0 if !input.is_empty() => input[at.min(at.saturating_sub(1))] ^= 1 << rng.below(8),
        1 if !input.is_empty() => {
            let at = at.saturating_sub(1);
            input[at] = [0, 1, 0x7f, 0x80, 0xff, b'"', b',', b'\n', b'{', b'['][rng.below(10)];
        }
        2 => drop(
            input.splice(at..at, (0..1 + rng.below(8)).map(|_| rng.below(256) as u8).collect::<Vec<_>>()),
        ),
        3 => drop(input.drain(at..(at + 1 + rng.below(32)).min(input.len()))),
        4 => {
            let copied = part(input, rng);
            drop(input.splice(at..at, copied));
        }
        5 => {
            let other = part(&corpus[rng.below(corpus.len())], rng);
            drop(input.splice(at..(at + rng.below(16)).min(input.len()), other));
        }
        6 => input.truncate(at),
        7 if !words.is_empty() => {
            let word = words[rng.below(words.len())].bytes();
            drop(input.splice(at..at, word));
        }
        _ => change_number(input, at, rng),
    }
}

/// Puts another number in the place of the next one that is written in digits.
fn change_number(input: &mut Vec<u8>, from: usize, rng: &mut Rng) {
    let is_digit = |byte: &u8| byte.is_ascii_digit() || b".-+e".contains(byte);
    let Some(at) = input[from..].iter().position(u8::is_ascii_digit).map(|k| from + k) else { return };
    let to = input[at..].iter().position(|byte| !is_digit(byte)).map_or(input.len(), |k| at + k);
    drop(input.splice(at..to, NUMBERS[rng.below(NUMBERS.len())].bytes()));
}

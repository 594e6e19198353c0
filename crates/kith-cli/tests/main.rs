//! The tests of the program from outside, one program: linking is what costs.

mod common;

mod answers;
mod bench;
mod cli;
mod crash;
mod doors;
mod export;
mod laboratory;
mod library;
mod looks;
mod numbers;
mod photos;
mod privacy;
mod refusals;
mod words;

#[test]
fn every_file_of_this_folder_is_part_of_the_tests() {
    let own = include_str!("main.rs");
    for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        if let Some(name) = name.strip_suffix(".rs").filter(|&name| name != "main") {
            assert!(own.contains(&format!("mod {name};")), "tests/main.rs does not name {name}");
        }
    }
}

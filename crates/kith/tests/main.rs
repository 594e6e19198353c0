//! The tests of the library from outside, one program: linking is what costs.

mod common;

mod calibration;
mod crowds;
mod enumeration;
mod examples;
mod prediction;
mod properties;
mod shots;
mod siblings;

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

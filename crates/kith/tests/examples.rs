//! The examples run, and find what they say.

#[path = "../examples/convergence.rs"]
mod convergence;
#[path = "../examples/questions.rs"]
mod questions;
#[path = "../examples/statements.rs"]
mod statements;
#[path = "../examples/stream.rs"]
mod stream;
#[path = "../examples/who.rs"]
mod who;

#[test]
fn chains_from_four_starts_agree() {
    convergence::main().unwrap();
}

#[test]
fn the_largest_nameless_group_is_asked_about_first() {
    questions::main().unwrap();
}

#[test]
fn look_alikes_are_told_apart_by_what_is_said() {
    statements::main().unwrap();
}

#[test]
fn a_stream_is_answered_before_it_is_learnt_from() {
    stream::main().unwrap();
}

#[test]
fn one_name_makes_somebody_acquainted() {
    who::main().unwrap();
}

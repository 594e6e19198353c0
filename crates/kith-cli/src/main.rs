//! The program `kith`: glue.
fn main() {}

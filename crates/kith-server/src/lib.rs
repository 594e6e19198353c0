//! The page of kith: `kith serve` shows a library in a browser on this machine, and takes what its owner
//! says.
//!
//! One thread writes what is said (`scribe.rs`), another believes and learns (`thinker.rs`); whoever reads is
//! answered from the latest `view.rs`, which waits for neither. `door.rs` decides who may come in. The page
//! uses nothing but the API.

mod acts;
mod alike;
mod assets;
mod call;
mod door;
mod drawn;
mod failure;
mod filed;
mod forget;
mod history;
mod live;
mod names;
mod newcomers;
mod plain;
mod reads;
mod routes;
mod scribe;
mod serve;
mod shapes;
mod thinker;
mod view;
mod words;

pub use names::read_names;
pub use routes::{OPENAPI, described_routes};
pub use serve::{Options, ServeError, Server};

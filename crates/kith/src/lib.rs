//! kith: who is who from faces.
pub mod data;
pub mod ids;

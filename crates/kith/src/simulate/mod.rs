//! Made-up people: draws from the model itself, and a person's days before a camera.

pub mod prior;

//! Who is who from faces, mostly unnamed: the model of Castro & Nowozin (ECCV 2018) with exact samplers.
//!
//! Faces are embeddings `x_n` in frames. Every face has an identity, every identity a look and a name; some faces were
//! given names, perhaps wrongly; frames are taken in contexts. A hierarchical Dirichlet process says who is met where,
//! and how likely it is to meet somebody never seen. Inference is by Markov chains whose draws, pooled, answer questions
//! about new faces.
//!
//! The tree is the paper: [`data`] what was seen, [`model`] what is assumed, [`state`] what is believed, [`gibbs`] how
//! belief moves, [`chain`] who moves it, [`predict`] what can be asked. [`mathematics`] states the joint that is sampled
//! (the code cites it as "MODEL.md §3"), [`paper`] maps equations to functions.
//!
//! ```
//! use kith::chain::{Learner, Schedule};
//! use kith::data::NewFace;
//! use kith::model::{FaceModel, Isotropic, Model};
//! use kith::predict::Posterior;
//!
//! let prior = Isotropic { mean: vec![0.0; 2], kappa: 0.01, shape: 3.0, rate: 0.5 };
//! let mut learner = Learner::new(Model::new(FaceModel::isotropic(prior)), 4, 1, Schedule::ONLINE)?;
//! for k in 0..8 {
//!     let [ann, other] = [[5.0, 0.1 * k as f32], [-5.0, 0.1 * k as f32]];
//!     let name = (k == 0).then_some("Ann");
//!     let faces = [NewFace { embedding: &ann, name }, NewFace { embedding: &other, name: None }];
//!     learner.push_frame(Some("home"), &faces)?;
//! }
//! let posterior = Posterior::new(learner.target(), &learner.draws());
//! let seen = &posterior.predict(Some("home"), &[&[5.0, 0.4]], true)[0];
//! let never = &posterior.predict(Some("home"), &[&[0.0, 12.0]], true)[0];
//! assert!(seen.acquainted > 0.5 && never.stranger > 0.5);
//! # Ok::<(), kith::target::TargetError>(())
//! ```

pub mod chain;
pub mod data;
pub mod gibbs;
pub mod ids;
pub mod math;
pub mod model;
pub mod predict;
pub mod random;
pub mod simulate;
pub mod state;
pub mod target;

#[cfg(test)]
mod cases;

#[doc = include_str!("../MODEL.md")]
pub mod mathematics {}

#[doc = include_str!("../PAPER.md")]
pub mod paper {}

/// The README of this crate, whose example must compile and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

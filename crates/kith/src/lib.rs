//! Who is who from faces, mostly unnamed: the model of Castro & Nowozin (ECCV 2018) with exact samplers.
//!
//! Faces are embeddings `x_n` in frames. Every face has an identity, every identity a look and a name; some
//! faces were given names, perhaps wrongly; frames are taken in contexts. A hierarchical Dirichlet process
//! says who is met where, and how likely it is to meet somebody never seen. Inference is by Markov chains
//! whose draws, pooled, answer questions about new faces.
//!
//! The tree is the paper: [`data`] what was seen, [`model`] what is assumed, [`state`] what is believed,
//! [`gibbs`] how belief moves, [`chain`] who moves it, [`predict`] what can be asked, and [`belief`] all of
//! it in one object that learns and answers. [`mathematics`] states the joint that is sampled (the code cites
//! it as "MODEL.md §3"), [`paper`] maps equations to functions.
//!
//! ```
//! use kith::belief::{Belief, Chains, Until};
//! use kith::chain::Watch;
//! use kith::data::NewFace;
//! use kith::model::{FaceModel, Isotropic, Model};
//! use kith::predict::NewPhoto;
//!
//! let prior = Isotropic { mean: vec![0.0; 2], kappa: 0.01, shape: 3.0, rate: 0.5 };
//! let mut belief = Belief::new(Model::new(FaceModel::isotropic(prior)), Chains { n: 4, seed: 1 })?;
//! for k in 0..8 {
//!     let [ann, other] = [[5.0, 0.1 * k as f32], [-5.0, 0.1 * k as f32]];
//!     let name = (k == 0).then_some("Ann");
//!     let faces = [NewFace { embedding: &ann, name }, NewFace { embedding: &other, name: None }];
//!     belief.see(Some("home"), &faces)?;
//! }
//! belief.learn(&Until::agreed(), &Watch::nobody());
//! let photo = |face| NewPhoto { context: Some("home"), faces: vec![face] };
//! let answers = belief.who(&[photo(&[5.0, 0.4]), photo(&[0.0, 12.0])]);
//! let (seen, never) = (&answers[0][0], &answers[1][0]);
//! assert!(seen.acquainted > 0.5 && never.stranger > 0.5);
//! # Ok::<(), kith::target::TargetError>(())
//! ```

pub mod belief;
pub mod chain;
pub mod data;
pub mod gibbs;
pub mod ids;
pub mod math;
pub mod model;
mod odd;
pub mod predict;
pub mod random;
pub mod simulate;
pub mod state;
pub mod target;
pub mod unweighable;

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

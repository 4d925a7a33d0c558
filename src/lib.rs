#![doc = include_str!("../README.md")]
//!
//! # Features
//!
//! None is on by default: a crate that only declares topologies in Rust builds several times faster.
//!
//! * `topology-files`: topologies from TOML and ASTRA-sim YAML files (`sim::topology::load`), sweeps and rules of workloads from TOML
//!   (`sweep::parse`, `workload::Rules::load`), ASTRA-sim's system files.

// `#[collective]` names this crate by its public path, in this crate too.
extern crate self as collective;

pub mod algorithms;
pub mod build;
pub mod calibrate;
pub mod compare;
pub mod correctness;
pub mod measured;
pub mod sweep;
pub mod symmetric;
pub mod workload;

pub use chakra_et;
pub use collective_dsl::*;
pub use collective_macros::collective;
pub use sim_core as sim;

#[doc = include_str!("../docs/rust-subset.md")]
pub mod rust_subset {}

// The pages of the book, as doc tests.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../docs/faq.md")]
    mod faq {}
    #[doc = include_str!("../docs/language.md")]
    mod language {}
    #[doc = include_str!("../docs/tutorial.md")]
    mod tutorial {}
}

/// What a file with algorithms needs: the attribute [`macro@collective`], the [`Program`] that an algorithm is
/// given, the [`ChunkRef`]s that it moves, the [`Cost`] of its computations, and the buffers by their short names.
///
/// Everything else is used by its path: [`Embedded`] and [`AlgorithmDef`], which the attribute makes, [`Setting`]
/// and [`Collective`] for programs without it.
pub mod prelude {
    pub use crate::Buffer::{Input, Output, Scratch};
    pub use crate::{Buffer, ChunkRef, Cost, Program, collective};
}

#![doc = include_str!("../README.md")]

// `#[collective]` names this crate by its public path, in this crate too.
extern crate self as collective;

pub mod algorithms;

pub use chakra_et;
pub use collective_dsl::*;
pub use collective_macros::collective;
pub use sim_core as sim;

/// What a file with algorithms needs.
pub mod prelude {
    pub use crate::Buffer::{Input, Output, Scratch};
    pub use crate::{Buffer, ChunkRef, Program, collective};
}

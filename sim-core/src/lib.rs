//! Simulates Chakra execution traces on declared networks, in whole picoseconds, deterministically.
//!
//! A [`Simulation`] takes a [`Topology`](topology::Topology), a [`Model`] of how messages use it and the
//! [`Conventions`] of the arithmetic, executes a [`chakra_et::graph::Graph`], and gives a
//! [`Report`] or says, as a [`SimError`], who waits for whom. It knows nothing of how the
//! graph was made. See [`Simulation`] for an example.
//!
//! The feature `config` adds topologies and machines from files.

mod compat;
#[cfg(feature = "config")]
mod config_table;
#[cfg(feature = "config")]
mod config_write;
mod engine;
mod error;
mod events;
pub mod link_loads;
pub mod machine;
pub mod model;
mod options;
mod progress;
pub mod report;
mod simulation;
pub mod straggler;
mod stuck;
pub mod topology;
pub mod units;
pub mod workload;

pub use compat::Compat;
pub use error::{Overflow, SimError};
pub use model::loggp::{LogGp, LogGpError};
pub use model::{Conventions, Model};
pub use progress::{Observer, PartialReport, Progress};
pub use report::Report;
pub use simulation::Simulation;
pub use stuck::{DependenceCycle, StuckReport, WaitCycle, WaitKind, WaitReason, WaitStep, WaitingReceive};

//! The algorithms of a workload's collectives, by rules.
//!
//! A workload ([`chakra_et::workload`]) has its collectives as single nodes; the simulator ([`crate::sim::workload`]) asks for each by which algorithm
//! it is carried out. [`Rules`] say so by kind, size, group and node; an [`Expander`] looks them up. Rules are made in
//! Rust, or, with the feature `topology-files`, read from TOML (`Rules::load`).
#![cfg_attr(feature = "topology-files", doc = "")]
#![cfg_attr(feature = "topology-files", doc = include_str!("../../docs/workload-rules.md"))]

#[cfg(feature = "topology-files")]
mod astra_system;
mod error;
mod expander;
#[cfg(feature = "topology-files")]
pub(crate) mod file;
mod foreign;
pub(crate) mod glob;
mod parameters;
mod rule;
mod rules;
mod shape;
mod source;
mod tuner;
mod uses;

#[cfg(feature = "topology-files")]
pub use astra_system::{AstraSystem, SystemError};
pub use error::{RuleError, RulePlace};
pub use expander::Expander;
pub use rule::{Overlap, Rule};
pub use rules::Rules;
pub use tuner::{DefaultChoice, default_choice};
pub use uses::Used;

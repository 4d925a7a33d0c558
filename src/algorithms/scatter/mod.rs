//! Scatter: every rank ends with its part of the root's data.
//!
//! Both take the root as a parameter, rank 0 unless said.

mod binomial;
mod linear;

pub use binomial::scatter_binomial;
pub use linear::scatter_linear;

use super::Algorithm;

pub(super) const ENTRIES: &[Algorithm] = &[binomial::ENTRY, linear::ENTRY];

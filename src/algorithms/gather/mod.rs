//! Gather: the root ends with the data of all ranks, in their order.
//!
//! Both take the root as a parameter, rank 0 unless said.

mod binomial;
mod linear;

pub use binomial::gather_binomial;
pub use linear::gather_linear;

use super::Algorithm;

pub(super) const ENTRIES: &[Algorithm] = &[binomial::ENTRY, linear::ENTRY];

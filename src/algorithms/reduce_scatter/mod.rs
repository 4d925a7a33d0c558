//! Reduce-scatter: every rank ends with its part of the sum over all ranks.

mod hierarchical;
mod ring;

pub use hierarchical::reduce_scatter_hierarchical;
pub use ring::reduce_scatter_ring;

use super::Algorithm;

pub(super) const ENTRIES: &[Algorithm] = &[hierarchical::ENTRY, ring::ENTRY];

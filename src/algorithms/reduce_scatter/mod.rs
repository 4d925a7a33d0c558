//! Reduce-scatter: every rank ends with its part of the sum over all ranks.

mod allpairs;
mod hierarchical;
mod pat;
mod recursive_halving;
mod ring;

pub use allpairs::reduce_scatter_allpairs;
pub use hierarchical::reduce_scatter_hierarchical;
pub use pat::reduce_scatter_pat;
pub use recursive_halving::reduce_scatter_recursive_halving;
pub use ring::reduce_scatter_ring;

use super::Algorithm;

pub(super) const ENTRIES: &[Algorithm] =
    &[allpairs::ENTRY, hierarchical::ENTRY, pat::ENTRY, recursive_halving::ENTRY, ring::ENTRY];

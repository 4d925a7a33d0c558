//! Reduce: the root ends with the sum over all ranks.
//!
//! All take the root as a parameter, rank 0 unless said, and leave the inputs of other ranks as they are.

mod binomial;
mod by_scatter_gather;
mod chain;
mod double_tree;

pub use binomial::reduce_binomial;
pub use by_scatter_gather::reduce_by_scatter_gather;
pub use chain::reduce_chain;
pub use double_tree::reduce_double_tree;

use super::Algorithm;

pub(super) const ENTRIES: &[Algorithm] =
    &[binomial::ENTRY, by_scatter_gather::ENTRY, chain::ENTRY, double_tree::ENTRY];

//! Broadcast: every rank ends with the data of the root.
//!
//! All take the root as a parameter, rank 0 unless said: `--set root=3` of the command, or
//!
//! ```
//! use collective::algorithms::broadcast_chain;
//! // 8 ranks, 4 segments, root 3.
//! assert_eq!(broadcast_chain::compile(8, 4, 3)?.message_count(), 7 * 4);
//! # Ok::<(), collective::Diagnostics>(())
//! ```

mod binomial;
mod chain;
pub(super) mod double_tree;
mod scatter_allgather;

pub use binomial::broadcast_binomial;
pub use chain::broadcast_chain;
pub use double_tree::broadcast_double_tree;
pub use scatter_allgather::broadcast_scatter_allgather;

use super::Algorithm;

pub(super) const ENTRIES: &[Algorithm] =
    &[binomial::ENTRY, chain::ENTRY, double_tree::ENTRY, scatter_allgather::ENTRY];

//! All-gather: every rank ends with the data of all ranks.

mod hierarchical;
mod ring;

pub use hierarchical::allgather_hierarchical;
pub use ring::allgather_ring;

use super::Algorithm;

pub(super) const ENTRIES: &[Algorithm] = &[hierarchical::ENTRY, ring::ENTRY];

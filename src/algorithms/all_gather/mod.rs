//! All-gather: every rank ends with the data of all ranks.

mod allpairs;
mod bruck;
mod hierarchical;
mod neighbour_exchange;
pub(super) mod pat;
mod recursive_doubling;
mod ring;

pub use allpairs::allgather_allpairs;
pub use bruck::allgather_bruck;
pub use hierarchical::allgather_hierarchical;
pub use neighbour_exchange::allgather_neighbour_exchange;
pub use pat::allgather_pat;
pub use recursive_doubling::allgather_recursive_doubling;
pub use ring::allgather_ring;

use super::Algorithm;

pub(super) const ENTRIES: &[Algorithm] = &[
    allpairs::ENTRY,
    bruck::ENTRY,
    hierarchical::ENTRY,
    neighbour_exchange::ENTRY,
    pat::ENTRY,
    recursive_doubling::ENTRY,
    ring::ENTRY,
];

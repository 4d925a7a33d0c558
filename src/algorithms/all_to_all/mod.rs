//! All-to-all: every rank ends with the part that each rank has for it.
//!
//! For parts of different sizes see [`alltoallv`](super::alltoallv).

mod bruck;
mod direct;
mod hierarchical;
mod pairwise;
mod three_step;
mod two_step;

pub use bruck::alltoall_bruck;
pub use direct::alltoall_direct;
pub use hierarchical::alltoall_hierarchical;
pub use pairwise::alltoall_pairwise;
pub use three_step::alltoall_three_step;
pub use two_step::alltoall_two_step;

use super::Algorithm;
use super::catalogue::divisors;

pub(super) const ENTRIES: &[Algorithm] =
    &[bruck::ENTRY, direct::ENTRY, hierarchical::ENTRY, pairwise::ENTRY, three_step::ENTRY, two_step::ENTRY];

/// Numbers of GPUs a node that divide the ranks, from the usual 8 downwards.
fn node_sizes(ranks: usize) -> impl Iterator<Item = usize> {
    divisors(ranks).filter(|gpus| *gpus <= 8)
}

//! All-reduce: every rank ends with the sum over all ranks.

mod hierarchical;
mod recursive_halving_doubling;
mod ring;
mod rotated_rings;

pub use hierarchical::allreduce_hierarchical;
pub use recursive_halving_doubling::allreduce_recursive_halving_doubling;
pub use ring::allreduce_ring;
pub use rotated_rings::allreduce_rotated_rings;

use super::Algorithm;

pub(super) const ENTRIES: &[Algorithm] =
    &[hierarchical::ENTRY, recursive_halving_doubling::ENTRY, ring::ENTRY, rotated_rings::ENTRY];

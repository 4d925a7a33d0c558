//! All-reduce: every rank ends with the sum over all ranks.

mod allpairs_one_shot;
mod allpairs_two_shot;
mod bidirectional_ring;
mod bine;
mod bine_bandwidth;
mod binomial_tree;
mod double_binary_tree;
mod folding;
mod halving_doubling_nearest_first;
mod hierarchical;
mod recursive_doubling;
mod recursive_halving_doubling;
mod ring;
mod rotated_rings;
mod swing;
mod swing_bandwidth;
mod trivance;
mod trivance_bandwidth;

pub use allpairs_one_shot::allreduce_allpairs_one_shot;
pub use allpairs_two_shot::allreduce_allpairs_two_shot;
pub use bidirectional_ring::allreduce_bidirectional_ring;
pub use bine::allreduce_bine;
pub use bine_bandwidth::allreduce_bine_bandwidth;
pub use binomial_tree::allreduce_binomial_tree;
pub use double_binary_tree::allreduce_double_binary_tree;
pub use halving_doubling_nearest_first::allreduce_halving_doubling_nearest_first;
pub use hierarchical::allreduce_hierarchical;
pub use recursive_doubling::allreduce_recursive_doubling;
pub use recursive_halving_doubling::allreduce_recursive_halving_doubling;
pub use ring::allreduce_ring;
pub use rotated_rings::allreduce_rotated_rings;
pub use swing::allreduce_swing;
pub use swing_bandwidth::allreduce_swing_bandwidth;
pub use trivance::allreduce_trivance;
pub use trivance_bandwidth::allreduce_trivance_bandwidth;

use super::Algorithm;

pub(super) const ENTRIES: &[Algorithm] = &[
    allpairs_one_shot::ENTRY,
    allpairs_two_shot::ENTRY,
    bidirectional_ring::ENTRY,
    bine::ENTRY,
    bine_bandwidth::ENTRY,
    binomial_tree::ENTRY,
    double_binary_tree::ENTRY,
    halving_doubling_nearest_first::ENTRY,
    hierarchical::ENTRY,
    recursive_doubling::ENTRY,
    recursive_halving_doubling::ENTRY,
    ring::ENTRY,
    rotated_rings::ENTRY,
    swing::ENTRY,
    swing_bandwidth::ENTRY,
    trivance::ENTRY,
    trivance_bandwidth::ENTRY,
];

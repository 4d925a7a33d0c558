//! All-reduce: every rank ends with the sum over all ranks.
//!
//! What moves the fewest bytes takes many rounds, and the other way around:
//!
//! | family | rounds | sent by a rank | entries |
//! |---|---|---|---|
//! | all-pairs | 1, 2 | S·(n−1), 2·S·(n−1)/n | one-shot, two-shot; every rank needs n−1 ports |
//! | all data to one other rank at a time | log n | S·log n | recursive doubling, Swing, Bine, Trivance |
//! | halving and doubling | 2·log n | 2·S·(n−1)/n | halving-doubling, its nearest-first order, and Swing, Bine and Trivance for bandwidth |
//! | trees | 2·log n and a pipeline | 2·S; S·log n | double binary tree; binomial tree |
//! | rings | 2(n−1) | 2·S·(n−1)/n | ring, bidirectional ring, rotated rings |
//!
//! Swing and Trivance are for some numbers of ranks only. Recursive doubling, halving and doubling, and Bine take the ranks
//! beyond a power of two into their neighbours first, which costs two more rounds of all data.
//!
//! ```
//! use collective::{Size, algorithms};
//! use collective::sim::units::{Bandwidth, Picos};
//!
//! // 8 ranks with links of 1 µs and 50 GB/s between any two: how long do the two all-pairs algorithms take?
//! let link: Bandwidth = "50 GB/s".parse()?;
//! let time = |name: &str, bytes| {
//!     let algorithm = algorithms::find(name)?;
//!     algorithm.cost(&algorithm.choices(8)[0]).time(Picos(1_000_000), link, Size::bytes(bytes))
//! };
//! let (one, two) = ("allreduce_allpairs_one_shot", "allreduce_allpairs_two_shot");
//! assert!(time(one, 1 << 10) < time(two, 1 << 10));
//! assert!(time(one, 1 << 20) > time(two, 1 << 20));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod allpairs_one_shot;
mod allpairs_two_shot;
mod bidirectional_ring;
mod bine;
mod bine_bandwidth;
mod binomial_tree;
mod blueconnect;
mod double_binary_tree;
mod folding;
mod halving_doubling_nearest_first;
mod hierarchical;
mod hierarchical_three_level;
mod recursive_doubling;
mod recursive_halving_doubling;
mod ring;
mod rotated_rings;
mod swing;
mod swing_bandwidth;
mod torus;
mod trivance;
mod trivance_bandwidth;

pub use allpairs_one_shot::allreduce_allpairs_one_shot;
pub use allpairs_two_shot::allreduce_allpairs_two_shot;
pub use bidirectional_ring::allreduce_bidirectional_ring;
pub use bine::allreduce_bine;
pub use bine_bandwidth::allreduce_bine_bandwidth;
pub use binomial_tree::allreduce_binomial_tree;
pub use blueconnect::allreduce_blueconnect;
pub use double_binary_tree::allreduce_double_binary_tree;
pub use halving_doubling_nearest_first::allreduce_halving_doubling_nearest_first;
pub use hierarchical::allreduce_hierarchical;
pub use hierarchical_three_level::allreduce_hierarchical_three_level;
pub use recursive_doubling::allreduce_recursive_doubling;
pub use recursive_halving_doubling::allreduce_recursive_halving_doubling;
pub use ring::allreduce_ring;
pub use rotated_rings::allreduce_rotated_rings;
pub use swing::allreduce_swing;
pub use swing_bandwidth::allreduce_swing_bandwidth;
pub use torus::{allreduce_torus_2d, allreduce_torus_3d};
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
    blueconnect::ENTRY,
    double_binary_tree::ENTRY,
    halving_doubling_nearest_first::ENTRY,
    hierarchical::ENTRY,
    hierarchical_three_level::ENTRY,
    recursive_doubling::ENTRY,
    recursive_halving_doubling::ENTRY,
    ring::ENTRY,
    rotated_rings::ENTRY,
    swing::ENTRY,
    swing_bandwidth::ENTRY,
    torus::ENTRY_2D,
    torus::ENTRY_3D,
    trivance::ENTRY,
    trivance_bandwidth::ENTRY,
];

//! The library of algorithms, each written in the language that this crate is for: one file an algorithm, in a
//! folder for its collective.

mod all_gather;
mod all_reduce;
mod reduce_scatter;

pub use all_gather::*;
pub use all_reduce::*;
pub use reduce_scatter::*;

use crate::AlgorithmDef;

/// All algorithms of the library, by name.
pub const ALL: &[AlgorithmDef] = &[
    allgather_ring::DEF,
    allreduce_hierarchical::DEF,
    allreduce_recursive_halving_doubling::DEF,
    allreduce_ring::DEF,
    allreduce_rotated_rings::DEF,
    reduce_scatter_ring::DEF,
];

/// The algorithm of a name.
///
/// ```
/// let ring = collective::algorithms::find("allreduce_ring").unwrap();
/// let schedule = ring.compile_with(&[("ranks", 5)])?;
/// assert_eq!(schedule.message_count(), 5 * 2 * 4);
/// # Ok::<(), collective::Diagnostics>(())
/// ```
#[must_use]
pub fn find(name: &str) -> Option<&'static AlgorithmDef> {
    ALL.iter().find(|algorithm| algorithm.name == name)
}

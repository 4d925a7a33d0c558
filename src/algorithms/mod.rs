//! The library of algorithms, each written in the language that this crate is for: one file an algorithm, in a
//! folder for its collective.
//!
//! At run time a function of your own can call any of them, and the building blocks of [`levels`] and [`alltoallv`]. At build
//! time `#[collective]` sees only your function or module: a build script can evaluate the rest ([`crate::build`]).
//!
//! An entry ([`Algorithm`]) is the function with its definition, the numbers of ranks that it claims, and its cost in
//! theory. The tests hold every entry to its claims: verified and run for every number of ranks, in place and not, and its
//! rounds, bytes and time on the stated [`Network`] equal to what is simulated.

mod all_gather;
mod all_reduce;
mod all_to_all;
pub mod alltoallv;
mod barrier;
mod broadcast;
mod catalogue;
mod custom;
mod gather;
mod grid;
pub mod levels;
mod reduce;
mod reduce_scatter;
mod rooted;
mod scatter;

pub use all_gather::*;
pub use all_reduce::*;
pub use all_to_all::*;
pub use barrier::*;
pub use broadcast::*;
pub use catalogue::{Algorithm, Cost, Network, Placement, Rounds, Share};
pub use custom::*;
pub use gather::*;
pub use reduce::*;
pub use reduce_scatter::*;
pub use scatter::*;

/// The entries by collective, in the order in which they are listed.
const FAMILIES: &[&[Algorithm]] = &[
    all_reduce::ENTRIES,
    all_gather::ENTRIES,
    reduce_scatter::ENTRIES,
    all_to_all::ENTRIES,
    broadcast::ENTRIES,
    reduce::ENTRIES,
    gather::ENTRIES,
    scatter::ENTRIES,
    barrier::ENTRIES,
    custom::ENTRIES,
];

/// All algorithms of the library.
pub fn all() -> impl Iterator<Item = &'static Algorithm> {
    FAMILIES.iter().copied().flatten()
}

/// The algorithm of a name.
///
/// ```
/// let ring = collective::algorithms::find("allreduce_ring").unwrap();
/// let schedule = ring.def.compile_with(&[("ranks", 5)])?;
/// assert_eq!(schedule.message_count(), 5 * 2 * 4);
/// # Ok::<(), collective::Diagnostics>(())
/// ```
#[must_use]
pub fn find(name: &str) -> Option<&'static Algorithm> {
    all().find(|algorithm| algorithm.def.name == name)
}

//! The library of algorithms, each written in the language that this crate is for.

mod allgather_ring;
mod allreduce_hierarchical;
mod allreduce_recursive_halving_doubling;
mod allreduce_ring;
mod allreduce_rotated_rings;
mod reduce_scatter_ring;

pub use allgather_ring::allgather_ring;
pub use allreduce_hierarchical::allreduce_hierarchical;
pub use allreduce_recursive_halving_doubling::allreduce_recursive_halving_doubling;
pub use allreduce_ring::allreduce_ring;
pub use allreduce_rotated_rings::allreduce_rotated_rings;
pub use reduce_scatter_ring::reduce_scatter_ring;

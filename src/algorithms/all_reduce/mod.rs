//! All-reduce: every rank ends with the sum over all ranks.

mod blueconnect;
mod hierarchical;
mod hierarchical_three_level;
mod recursive_halving_doubling;
mod ring;
mod rotated_rings;
mod torus;

pub use blueconnect::allreduce_blueconnect;
pub use hierarchical::allreduce_hierarchical;
pub use hierarchical_three_level::allreduce_hierarchical_three_level;
pub use recursive_halving_doubling::allreduce_recursive_halving_doubling;
pub use ring::allreduce_ring;
pub use rotated_rings::allreduce_rotated_rings;
pub use torus::{allreduce_torus_2d, allreduce_torus_3d};

use super::Algorithm;

pub(super) const ENTRIES: &[Algorithm] = &[
    blueconnect::ENTRY,
    hierarchical::ENTRY,
    hierarchical_three_level::ENTRY,
    recursive_halving_doubling::ENTRY,
    ring::ENTRY,
    rotated_rings::ENTRY,
    torus::ENTRY_2D,
    torus::ENTRY_3D,
];

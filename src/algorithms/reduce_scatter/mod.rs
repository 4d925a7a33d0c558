//! Reduce-scatter: every rank ends with its part of the sum over all ranks.

mod ring;

pub use ring::reduce_scatter_ring;

use super::Algorithm;

pub(super) const ENTRIES: &[Algorithm] = &[ring::ENTRY];

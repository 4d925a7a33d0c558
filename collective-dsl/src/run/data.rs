//! Input data: different for every rank and position, so that no mistake can hide behind equal values.

use super::{Element, Operator};
use crate::collective::CollectiveKind;

/// Spreads the bits of a number over all of it (the finaliser of SplitMix64).
pub(super) fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// What the ranks begin with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    pub(super) kind: CollectiveKind,
    pub(super) ranks: u32,
    pub(super) operator: Operator,
}

impl Data {
    /// An element of a rank's input, by its position in the whole of it.
    pub(super) fn input<T: Element>(self, rank: u32, position: u64) -> T {
        if self.kind == CollectiveKind::Barrier {
            // The token says who was here: a 1 where the position is the rank's.
            return T::unit(position % u64::from(self.ranks) == u64::from(rank));
        }
        T::sample(mix(mix(u64::from(rank)).wrapping_add(position)), self.operator, self.ranks)
    }
}

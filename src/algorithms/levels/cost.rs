//! What the building blocks cost: rounds and bytes, as shares of S.

use super::{DIRECT, HALVING_DOUBLING, RECURSIVE_DOUBLING, RING, TREE};
use crate::algorithms::catalogue::{Share, divisors, share};
use crate::algorithms::grid::{distinct, divisor_up_to};

/// Parameters of a reduce-scatter or an all-gather on two levels.
pub(in crate::algorithms) fn half_choices(ranks: usize) -> Vec<Vec<usize>> {
    let gpus = divisor_up_to(ranks, 8);
    let other = divisors(ranks).filter(|other| ![1, gpus, ranks].contains(other)).last().unwrap_or(gpus);
    let mut all = vec![[gpus, DIRECT, RING], [gpus, RING, RING], [other, DIRECT, RING], [gpus, RING, DIRECT]];
    if ranks.is_power_of_two() {
        all.extend([[gpus, DIRECT, HALVING_DOUBLING], [other, HALVING_DOUBLING, HALVING_DOUBLING]]);
    }
    distinct(all.into_iter().map(|[gpus, inner, outer]| vec![ranks, gpus, inner, outer]))
}

/// The rounds of a reduce-scatter or an all-gather of a share of S among `n` ranks.
pub(in crate::algorithms) fn half_rounds(algorithm: usize, n: usize, of: Share) -> Vec<(usize, Share)> {
    match algorithm {
        DIRECT => vec![(usize::from(n > 1), of * share(1, n))],
        RING => vec![(n - 1, of * share(1, n))],
        _ => (1..=n.ilog2()).map(|round| (1, of * share(1, 1 << round))).collect(),
    }
}

/// What a rank sends in it.
pub(in crate::algorithms) fn half_sent(n: usize, of: Share) -> Share {
    of * share(n - 1, n)
}

/// The rounds of an all-reduce of a share of S among `n` ranks.
pub(in crate::algorithms) fn all_reduce_rounds(algorithm: usize, n: usize, of: Share) -> Vec<(usize, Share)> {
    match algorithm {
        RECURSIVE_DOUBLING => vec![(n.ilog2() as usize, of)],
        // No number below n has more bits set, each of which is a hop from the root.
        TREE => vec![(2 * n.ilog2() as usize, of)],
        _ => half_rounds(algorithm, n, of).into_iter().map(|(count, share)| (2 * count, share)).collect(),
    }
}

/// What a rank sends in it.
pub(in crate::algorithms) fn all_reduce_sent(algorithm: usize, n: usize, of: Share) -> Share {
    match algorithm {
        RECURSIVE_DOUBLING => of * u64::from(n.ilog2()),
        // The root sends to every power of two below n.
        TREE => of * u64::from(n.next_power_of_two().ilog2()),
        _ => half_sent(n, of) * 2,
    }
}

use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of};
use crate::algorithms::rooted::{choices, rounds};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: broadcast_binomial::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::Switch,
    choices,
    cost: |values| Cost::rounds_of([(rounds(values[0]), one_of(1))]),
};

/// Broadcast along a binomial tree: in every round each rank that has the data gives them to one that has not.
///
/// The distances halve from round to round, so that ranks in which the data arrive hand them on to ever nearer ones. A
/// rank sends to one other at a time: its messages leave from one place, which is filled anew when it is free.
///
/// Choose it for small sizes: where a rank sends one message at a time, nothing takes fewer rounds. The data leave the
/// root ⌈log2 n⌉ times; for large sizes take [`broadcast_double_tree`](fn@super::broadcast_double_tree) or
/// [`broadcast_scatter_allgather`](fn@super::broadcast_scatter_allgather).
///
/// Any number of ranks; without a power of two some have nobody to send to in the first rounds. Rounds: ⌈log2 n⌉.
/// Bytes sent by the root: S·⌈log2 n⌉, by others less. Time on a switch with links of latency α/2 and bandwidth B:
/// ⌈log2 n⌉·(α + S/B).
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH", 2005.
///
/// ```text
///   0 ──────────────▶ 4               round 0
///   0 ──────▶ 2       4 ──────▶ 6     round 1
///   0 ─▶ 1    2 ─▶ 3  4 ─▶ 5  6 ─▶ 7  round 2
/// ```
///
/// ```
/// use collective::algorithms::{self, broadcast_binomial};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(broadcast_binomial, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("broadcast_binomial").unwrap().cost(&[8, 0]).rounds(), 3);
/// ```
#[collective(broadcast, in_place, root = root, defaults(root = 0), build(ranks = 8))]
pub fn broadcast_binomial(p: &Program, ranks: usize, root: usize) {
    // Positions count from the root.
    let rank = |position: usize| (position + root) % ranks;
    p.chunk(root, Input, 0).copy_to(root, Output, 0);
    let mut distance = ranks.next_power_of_two() / 2;
    while distance > 0 {
        for from in (0..ranks - distance).step_by(2 * distance) {
            // What a rank sends must have left before it sends the next: one port.
            let leaving = p.chunk(rank(from), Output, 0).copy_to(rank(from), Scratch("port"), 0);
            leaving.copy_to(rank(from + distance), Output, 0);
        }
        distance /= 2;
    }
}

use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of, share};
use crate::algorithms::rooted::{choices, halves};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: broadcast_scatter_allgather::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::Switch,
    choices,
    cost: |values| {
        let ranks = values[0];
        let scatter = halves(ranks).into_iter().map(|chunks| (1, share(chunks, ranks)));
        Cost::rounds_of(scatter.chain([(ranks - 1, one_of(ranks))]))
    },
};

/// Broadcast in two halves: the root scatters the data over all ranks, and a ring gathers them everywhere.
///
/// The scatter goes down a binomial tree: a rank that holds the chunks of a range of ranks gives the upper part of it away,
/// until everybody holds one. Then every chunk travels once around the ring. A rank begins with that when all that it
/// had to give away has left, and its predecessor on the ring, but the root's, has its chunk no earlier than the rank itself: so
/// the two phases do not disturb each other.
///
/// Choose it for large sizes where the number of ranks is not large: the data cross a port less than twice, whatever the number
/// of ranks, but there are n−1 rounds in the ring.
///
/// Any number of ranks. Rounds: ⌈log2 n⌉ + n−1. Bytes sent by the root: 2·S·(n−1)/n, by others less. Time on a switch with
/// links of latency α/2 and bandwidth B: (⌈log2 n⌉ + n−1)·α + 2·S·(n−1)/(n·B).
///
/// Source: Barnett et al., "Interprocessor Collective Communication Library (InterCom)", 1994, by van de Geijn; MPICH for long
/// messages.
///
/// ```text
///   0 ─{4..7}─▶ 4                                         scatter
///   0 ─{2,3}──▶ 2       4 ─{6,7}──▶ 6
///   0 ─{1}─▶ 1  2 ─▶ 3  4 ─▶ 5      6 ─▶ 7
///   0 ─▶ 1 ─▶ 2 ─▶ 3 ─▶ 4 ─▶ 5 ─▶ 6 ─▶ 7 ─▶ 0              ring, 7 times
/// ```
///
/// ```
/// use collective::algorithms::{self, broadcast_scatter_allgather};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(broadcast_scatter_allgather, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("broadcast_scatter_allgather").unwrap().cost(&[8, 0]).rounds(), 10);
/// ```
#[collective(broadcast, in_place, chunks = ranks, root = root, defaults(root = 0), build(ranks = 8))]
pub fn broadcast_scatter_allgather(p: &Program, ranks: usize, root: usize) {
    // Positions count from the root; the chunk of a number belongs to the position of that number.
    let rank = |position: usize| (position + root) % ranks;
    p.chunks(root, Input, 0, ranks).copy_to(root, Output, 0);
    // What a rank sends must have left before it sends the next: one port.
    let leaving = |position: usize, index: usize, count: usize| {
        p.chunks(rank(position), Output, index, count).copy_to(rank(position), Scratch("port"), 0)
    };
    let mut distance = ranks.next_power_of_two() / 2;
    while distance > 0 {
        for from in (0..ranks - distance).step_by(2 * distance) {
            let to = from + distance;
            leaving(from, to, distance.min(ranks - to)).copy_to(rank(to), Output, to);
        }
        distance /= 2;
    }
    for step in 0..ranks - 1 {
        for owner in 0..ranks {
            let from = (owner + step) % ranks;
            // Nothing leaves on the ring before what the scatter has to send: neither a rank's own chunk nor what the
            // root passes on, to whom the ring's first chunks may come early.
            let chunk = if step == 0 || from == 0 {
                leaving(from, owner, 1)
            } else {
                p.chunk(rank(from), Output, owner)
            };
            chunk.copy_to(rank(from + 1), Output, owner);
        }
    }
}

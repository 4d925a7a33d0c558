use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of, share};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allgather_neighbour_exchange::DEF,
    ranks: "1 and even numbers",
    placement: Placement::Both,
    network: Network::Switch,
    choices: |ranks| if ranks == 1 || ranks.is_multiple_of(2) { vec![vec![ranks]] } else { Vec::new() },
    cost: |values| {
        let ranks = values[0];
        let pairs = ranks / 2;
        Cost::rounds_of([(pairs.min(1), one_of(ranks)), (pairs.saturating_sub(1), share(2, ranks))])
    },
};

/// All-gather by exchanges with the left and the right neighbour in turn, in half the rounds of a ring.
///
/// First the ranks 2j and 2j+1 exchange their data, and so hold a pair. From then on each rank turns from one neighbour
/// to the other, and the two exchange the pair that each has got last.
///
/// Choose it for large sizes on a ring, or between equally distant ranks, where both directions of a link can be used at
/// once and the ring's n−1 rounds are too many.
///
/// Even numbers of ranks, and 1. S is the gathered size. Rounds: n/2. Bytes sent by each rank: S·(n−1)/n, the least
/// possible. Time on a ring of links with latency α and bandwidth B: n/2·α + S·(n−1)/(n·B).
///
/// Source: Chen, Zhang, Zhang and Yuan, "Performance Evaluation of Allgather Algorithms on Terascale Linux Cluster with Fast
/// Ethernet", HPC Asia 2005.
///
/// ```text
///   0 ◀─▶ 1   2 ◀─▶ 3   4 ◀─▶ 5        round 0: one chunk
///   ─▶ 0   1 ◀─▶ 2   3 ◀─▶ 4   5 ◀─    round 1: the pair (5 and 0 are neighbours)
///   0 ◀─▶ 1   2 ◀─▶ 3   4 ◀─▶ 5        round 2: the pair that came last
/// ```
///
/// ```
/// use collective::algorithms::{self, allgather_neighbour_exchange};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(allgather_neighbour_exchange, ranks = 8);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("allgather_neighbour_exchange").unwrap().cost(&[8]).rounds(), 4);
/// ```
#[collective(all_gather, in_place, build(ranks = 8))]
pub fn allgather_neighbour_exchange(p: &Program, ranks: usize) {
    if !p.require(ranks == 1 || ranks.is_multiple_of(2), "the number of ranks must be even, or 1") {
        return;
    }
    for rank in 0..ranks {
        p.chunk(rank, Input, 0).copy_to(rank, Output, rank);
    }
    let pairs = ranks / 2;
    for rank in 0..2 * pairs {
        p.chunk(rank, Output, rank).copy_to(rank ^ 1, Output, rank);
    }
    // The first rank of the pair that each rank has got last.
    let mut latest: Vec<usize> = (0..ranks).map(|rank| rank / 2 * 2).collect();
    for round in 1..pairs {
        // Even ranks turn to the left in odd rounds, and to the right in even ones; odd ranks the other way.
        let peer = |rank: usize| {
            if (rank + round) % 2 == 1 { (rank + ranks - 1) % ranks } else { (rank + 1) % ranks }
        };
        for (rank, pair) in latest.iter().enumerate() {
            p.chunks(rank, Output, *pair, 2).copy_to(peer(rank), Output, *pair);
        }
        latest = (0..ranks).map(|rank| latest[peer(rank)]).collect();
    }
}

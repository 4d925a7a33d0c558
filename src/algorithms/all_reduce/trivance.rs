use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, Share, one_of};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allreduce_trivance::DEF,
    ranks: "powers of three",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices: |ranks| if 3usize.pow(ranks.max(1).ilog(3)) == ranks { vec![vec![ranks]] } else { Vec::new() },
    cost: |values| {
        let rounds = values[0].ilog(3);
        let sent = Share::from_integer(2 * u64::from(rounds));
        Cost::rounds_of([(rounds as usize, one_of(1))]).with_sent(sent)
    },
};

/// All-reduce by Trivance, for latency: in each round a rank exchanges all it has with one rank on either side.
///
/// In round k these are the ranks 3^k before and after it, and both are added at once: what a rank has is the sum over three
/// times as many neighbours as before.
///
/// Choose it for small sizes on a ring or a torus, where a rank has a port in either direction: both are in use in each round.
///
/// Numbers of ranks that are powers of three; with others the last round would reach some ranks from both sides, and add their
/// data twice. Rounds: log3 n, of two messages each. Bytes sent by each rank: 2·S·log3 n. Time with links of latency α and
/// bandwidth B to either partner: log3(n)·(α + S/B). On a ring of links: the most loaded one carries S·(n−1)/2 in all.
///
/// Ranks add in different orders: sums of floating-point numbers may differ between them in the last bits.
///
/// Source: Jürß, Addanki and Schmid, "Trivance: Latency-Optimal AllReduce by Shortcutting Multiport Networks", 2026
/// (arXiv 2602.17254).
///
/// ```text
///   8 ◀─▶ 0 ◀─▶ 1      round 0: rank 0 with its neighbours, all others likewise
///   6 ◀─▶ 0 ◀─▶ 3      round 1
/// ```
///
/// ```
/// use collective::algorithms::{self, allreduce_trivance};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(allreduce_trivance, ranks = 9);
/// // Among 9 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("allreduce_trivance").unwrap().cost(&[9]).rounds(), 2);
/// ```
#[collective(all_reduce, in_place, chunks = 1, build(ranks = 9))]
pub fn allreduce_trivance(p: &Program, ranks: usize) {
    if !p.require(3usize.pow(ranks.ilog(3)) == ranks, "the number of ranks must be a power of three") {
        return;
    }
    for rank in 0..ranks {
        p.chunk(rank, Input, 0).copy_to(rank, Output, 0);
    }
    let mut distance = 1;
    while distance < ranks {
        for rank in 0..ranks {
            let all = p.chunk(rank, Output, 0);
            all.copy_to((rank + distance) % ranks, Scratch("from before"), 0);
            all.copy_to((rank + ranks - distance) % ranks, Scratch("from after"), 0);
        }
        for rank in 0..ranks {
            let sum = p.chunk(rank, Output, 0).reduce(p.chunk(rank, Scratch("from before"), 0));
            sum.reduce(p.chunk(rank, Scratch("from after"), 0));
        }
        distance *= 3;
    }
}

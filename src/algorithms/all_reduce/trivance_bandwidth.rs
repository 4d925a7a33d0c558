use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of, share};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allreduce_trivance_bandwidth::DEF,
    ranks: "powers of three",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices: |ranks| if 3usize.pow(ranks.max(1).ilog(3)) == ranks { vec![vec![ranks]] } else { Vec::new() },
    cost: |values| {
        let rounds = values[0].ilog(3);
        let thirds = (1..=rounds).chain((1..=rounds).rev()).map(|round| (1, one_of(3usize.pow(round))));
        Cost::rounds_of(thirds).with_sent(share(2 * (values[0] - 1), values[0]))
    },
};

/// All-reduce by Trivance, for bandwidth: a reduce-scatter and an all-gather in which a rank meets one rank on either side.
///
/// In round k these are the ranks 3^k before and after it: it keeps a third of what it works on and gives each of them one.
/// The same rounds in reverse order hand the sums out. So that what a rank keeps is in one piece, it ends with the chunk of its
/// number with the digits to base 3 reversed. What arrives waits in scratch until the rank's own data have left.
///
/// Choose it for middle sizes on a ring or a torus, where a rank has a port in either direction: both are in use in each round.
///
/// Numbers of ranks that are powers of three. Rounds: 2·log3 n, of two messages each. Bytes sent by each rank: 2·S·(n−1)/n. Time
/// with links of latency α and bandwidth B to either partner: 2·log3(n)·α + S·(n−1)/(n·B). On a ring of links: the most
/// loaded one carries S/3 in each round.
///
/// Source: Jürß, Addanki and Schmid, "Trivance: Latency-Optimal AllReduce by Shortcutting Multiport Networks", 2026
/// (arXiv 2602.17254).
///
/// ```text
///   8 ◀─▶ 0 ◀─▶ 1      round 0: a third of the data to either side; all other ranks likewise
///   6 ◀─▶ 0 ◀─▶ 3      round 1: a ninth
/// ```
///
/// ```
/// use collective::algorithms::{self, allreduce_trivance_bandwidth};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(allreduce_trivance_bandwidth, ranks = 9);
/// // Among 9 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("allreduce_trivance_bandwidth").unwrap().cost(&[9]).rounds(), 4);
/// ```
#[collective(all_reduce, in_place, build(ranks = 9))]
pub fn allreduce_trivance_bandwidth(p: &Program, ranks: usize) {
    if !p.require(3usize.pow(ranks.ilog(3)) == ranks, "the number of ranks must be a power of three") {
        return;
    }
    for rank in 0..ranks {
        p.chunks(rank, Input, 0, ranks).copy_to(rank, Output, 0);
    }
    // The chunk with which a rank ends.
    let own = |rank: usize| {
        let digits = ranks.ilog(3);
        (0..digits).map(|digit| rank / 3usize.pow(digit) % 3 * 3usize.pow(digits - 1 - digit)).sum::<usize>()
    };
    // Ranks that meet agree in the digits so far, and so in the run of `3 * count` chunks that they work on.
    let (mut distance, mut count) = (1, ranks / 3);
    while distance < ranks {
        for rank in 0..ranks {
            let kept = own(rank) / count * count;
            let (before, after) = ((rank + ranks - distance) % ranks, (rank + distance) % ranks);
            p.chunks(before, Output, kept, count).copy_to(rank, Scratch("from before"), 0);
            p.chunks(after, Output, kept, count).copy_to(rank, Scratch("from after"), 0);
        }
        for rank in 0..ranks {
            let mut sum = p.chunks(rank, Output, own(rank) / count * count, count);
            for side in ["from before", "from after"] {
                sum = sum.reduce(p.chunks(rank, Scratch(side), 0, count));
            }
        }
        (distance, count) = (3 * distance, count / 3);
    }
    (distance, count) = (ranks / 3, 1);
    while distance > 0 {
        for rank in 0..ranks {
            let held = own(rank) / count * count;
            let sums = p.chunks(rank, Output, held, count);
            sums.copy_to((rank + distance) % ranks, Output, held);
            sums.copy_to((rank + ranks - distance) % ranks, Output, held);
        }
        (distance, count) = (distance / 3, 3 * count);
    }
}

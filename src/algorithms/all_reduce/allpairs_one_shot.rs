use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, Share, one_of};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allreduce_allpairs_one_shot::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices: |ranks| vec![vec![ranks]],
    cost: |values| {
        let peers = values[0] - 1;
        Cost::rounds_of([(peers.min(1), one_of(1))]).with_sent(Share::from_integer(peers as u64))
    },
};

/// All-reduce in one round: every rank sends everything to every other, and each adds it all up by itself.
///
/// Every rank adds in the order of the ranks, so all end with the same bits.
///
/// Choose it for the smallest sizes inside a node, where latency is all that counts.
///
/// Any number of ranks. Rounds: 1, of n−1 messages a rank. Bytes sent by each rank: S·(n−1). Time with links of latency α
/// and bandwidth B between any two: α + S/B. Scratch: n−1 times the data.
///
/// Source: `allreduce_1step` of MSCCLang (Cowan et al., "MSCCLang: Microsoft Collective Communication Language", ASPLOS 2023).
///
/// ```text
///   0 ──▶ 1, 2, 3
///   1 ──▶ 0, 2, 3
///   2 ──▶ 0, 1, 3
///   3 ──▶ 0, 1, 2
/// ```
///
/// ```
/// use collective::algorithms::{self, allreduce_allpairs_one_shot};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(allreduce_allpairs_one_shot, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("allreduce_allpairs_one_shot").unwrap().cost(&[8]).rounds(), 1);
/// ```
#[collective(all_reduce, in_place, chunks = 1, build(ranks = 8))]
pub fn allreduce_allpairs_one_shot(p: &Program, ranks: usize) {
    // Where on a rank lies what another has sent: in the order of the others.
    let slot = |rank: usize, from: usize| if from < rank { from } else { from - 1 };
    for from in 0..ranks {
        for rank in (0..ranks).filter(|rank| *rank != from) {
            p.chunk(from, Input, 0).copy_to(rank, Scratch("arrived"), slot(rank, from));
        }
    }
    for rank in 0..ranks {
        let own = p.chunk(rank, Input, 0).copy_to(rank, Output, 0);
        let data_of = |from: usize| {
            if from == rank { own } else { p.chunk(rank, Scratch("arrived"), slot(rank, from)) }
        };
        let sum = (1..ranks).fold(data_of(0), |sum, from| sum.reduce(data_of(from)));
        // Rank 0's own data come first: there the sum is in its place.
        if rank > 0 {
            sum.copy_to(rank, Output, 0);
        }
    }
}

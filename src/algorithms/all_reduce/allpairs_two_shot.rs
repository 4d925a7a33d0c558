use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of, share};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allreduce_allpairs_two_shot::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices: |ranks| vec![vec![ranks]],
    cost: |values| {
        let ranks = values[0];
        Cost::rounds_of([(2 * (ranks - 1).min(1), one_of(ranks))]).with_sent(share(2 * (ranks - 1), ranks))
    },
};

/// All-reduce in two rounds: every rank collects its chunk from all others directly, adds, and sends the sum to all.
///
/// Choose it inside a node where any two GPUs have a link: the fewest bytes there are, in two rounds.
///
/// Any number of ranks. Rounds: 2, of n−1 messages a rank each. Bytes sent by each rank: 2·S·(n−1)/n. Time with links of
/// latency α and bandwidth B between any two: 2·(α + S/(n·B)). Scratch: S·(n−1)/n.
///
/// Source: the all-pairs algorithm of MSCCLang (Cowan et al., "MSCCLang: Microsoft Collective Communication Language",
/// ASPLOS 2023).
///
/// ```text
///   1, 2, 3 ──▶ 0      chunk 0, which is added        0 ──▶ 1, 2, 3      the sum of chunk 0
///   0, 2, 3 ──▶ 1      chunk 1                        1 ──▶ 0, 2, 3      the sum of chunk 1
///   …                                                 …
/// ```
///
/// ```
/// use collective::algorithms::{self, allreduce_allpairs_two_shot};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(allreduce_allpairs_two_shot, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("allreduce_allpairs_two_shot").unwrap().cost(&[8]).rounds(), 2);
/// ```
#[collective(all_reduce, in_place, build(ranks = 8))]
pub fn allreduce_allpairs_two_shot(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        p.chunks(rank, Input, 0, ranks).copy_to(rank, Output, 0);
    }
    // All that is to be added leaves at once, to wait in scratch: in the order of the other ranks, beginning with the next.
    for owner in 0..ranks {
        for distance in 1..ranks {
            let from = (owner + distance) % ranks;
            p.chunk(from, Output, owner).copy_to(owner, Scratch("arrived"), distance - 1);
        }
    }
    for owner in 0..ranks {
        let mut sum = p.chunk(owner, Output, owner);
        for other in 0..ranks - 1 {
            sum = sum.reduce(p.chunk(owner, Scratch("arrived"), other));
        }
        for distance in 1..ranks {
            sum.copy_to((owner + distance) % ranks, Output, owner);
        }
    }
}

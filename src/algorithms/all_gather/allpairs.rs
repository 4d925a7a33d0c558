use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of, share};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allgather_allpairs::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices: |ranks| vec![vec![ranks]],
    cost: |values| {
        let ranks = values[0];
        Cost::rounds_of([(usize::from(ranks > 1), one_of(ranks))]).with_sent(share(ranks - 1, ranks))
    },
};

/// All-gather in one round: every rank sends its data to every other at once.
///
/// Choose it for small sizes where every rank reaches all others at once: GPUs on NVLink or NVSwitch.
///
/// Any number of ranks. S is the gathered size. Rounds: 1, with n−1 messages a rank at once. Bytes sent by each rank:
/// S·(n−1)/n, the least possible. Time, with links of latency α and bandwidth B between any two: α + S/(n·B).
///
/// Source: msccl-tools, `allgather_allpairs`; "full mesh" in MSCCL++.
///
/// ```text
///   0 ◀─▶ 1
///   ▲ ╲ ╱ ▲
///   │  ╳  │
///   ▼ ╱ ╲ ▼
///   2 ◀─▶ 3
/// ```
///
/// ```
/// use collective::algorithms::{self, allgather_allpairs};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(allgather_allpairs, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("allgather_allpairs").unwrap().cost(&[8]).rounds(), 1);
/// ```
#[collective(all_gather, in_place, build(ranks = 8))]
pub fn allgather_allpairs(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        let own = p.chunk(rank, Input, 0);
        // In place, the input is a window of the output, and this copies nothing.
        own.copy_to(rank, Output, rank);
        for distance in 1..ranks {
            own.copy_to((rank + distance) % ranks, Output, rank);
        }
    }
}

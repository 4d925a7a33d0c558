use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of, share};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: alltoall_direct::DEF,
    ranks: "any",
    placement: Placement::OutOfPlace,
    network: Network::FullyConnected,
    choices: |ranks| vec![vec![ranks]],
    cost: |values| {
        let ranks = values[0];
        Cost::rounds_of([(usize::from(ranks > 1), one_of(ranks))]).with_sent(share(ranks - 1, ranks))
    },
};

/// All-to-all in one round: every rank sends every other its part at once.
///
/// Choose it where every rank reaches all others at once, and on any network for parts so large that n−1 messages at once do
/// no harm.
///
/// Any number of ranks, out of place: in place what arrives would replace what has not been sent yet. S is what a rank sends
/// in all, its own part included. Rounds: 1, with n−1 messages a rank at once. Bytes sent by each rank: S·(n−1)/n, the least
/// possible. Time, with links of latency α and bandwidth B between any two: α + S/(n·B).
///
/// Source: msccl-tools, `alltoall_allpairs`; "linear" in Open MPI.
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
/// use collective::algorithms::{self, alltoall_direct};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(alltoall_direct, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("alltoall_direct").unwrap().cost(&[8]).rounds(), 1);
/// ```
#[collective(all_to_all, build(ranks = 8))]
pub fn alltoall_direct(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        // The own part first, then those of the ranks behind: so not all begin with the same receiver.
        for distance in 0..ranks {
            let peer = (rank + distance) % ranks;
            p.chunk(rank, Input, peer).copy_to(peer, Output, rank);
        }
    }
}

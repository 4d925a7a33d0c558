use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of, share};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allreduce_bidirectional_ring::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices: |ranks| vec![vec![ranks]],
    cost: |values| {
        let ranks = values[0];
        // Of two ranks, both neighbours are one, and both directions share its link.
        let message = if ranks == 2 { one_of(2) } else { one_of(2 * ranks) };
        Cost::rounds_of([(2 * (ranks - 1), message)]).with_sent(share(2 * (ranks - 1), ranks))
    },
};

/// All-reduce by two rings at once, each with half of the data, in opposite directions.
///
/// Each is [`allreduce_ring`](fn@crate::algorithms::allreduce_ring) on its half: a chunk collects the contribution of every
/// rank on its way around, and is then passed around once more.
///
/// Choose it for large sizes where every rank has a link of its own to either neighbour, as on a torus: both directions of
/// all links are busy all the time. Where a rank has one port for all, it gains nothing over one ring.
///
/// Any number of ranks. Rounds: 2(n−1), of two messages each. Bytes sent by each rank: 2·S·(n−1)/n, half of it in each
/// direction. Time with a link of latency α and bandwidth B to each neighbour: 2(n−1)·(α + S/(2·n·B)), half of one ring's
/// for large sizes; for two ranks, which have one link, 2·(α + S/(2·B)).
///
/// Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009; Chan et al.,
/// "Collective communication: theory, practice, and experience", 2007, for links that are used in both directions.
///
/// ```text
///   0 ◀─▶ 1 ◀─▶ 2 ◀─▶ 3      ▶ first half of the data, ◀ second half
///   ▲                 ▲
///   └─────────────────┘
/// ```
///
/// ```
/// use collective::algorithms::{self, allreduce_bidirectional_ring};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(allreduce_bidirectional_ring, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("allreduce_bidirectional_ring").unwrap().cost(&[8]).rounds(), 14);
/// ```
#[collective(all_reduce, in_place, chunks = 2 * ranks, build(ranks = 8))]
pub fn allreduce_bidirectional_ring(p: &Program, ranks: usize) {
    for direction in 0..2 {
        let step = if direction == 0 { 1 } else { ranks - 1 };
        let neighbour = |rank: usize| (rank + step) % ranks;
        for start in 0..ranks {
            let index = direction * ranks + start;
            // In place, input and output are one, and this copies nothing.
            for rank in 0..ranks {
                p.chunk(rank, Input, index).copy_to(rank, Output, index);
            }
            let mut sum = p.chunk(start, Output, index).on_channel(direction);
            for _ in 1..ranks {
                sum = p.chunk(neighbour(sum.rank()), Output, index).reduce(sum);
            }
            for _ in 1..ranks {
                sum = sum.copy_to(neighbour(sum.rank()), Output, index);
            }
        }
    }
}

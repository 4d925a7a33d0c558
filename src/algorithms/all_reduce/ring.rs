use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allreduce_ring::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::Switch,
    choices: |ranks| vec![vec![ranks, 1], vec![ranks, 2]],
    cost: |values| {
        let ranks = values[0];
        Cost::rounds_of([(2 * (ranks - 1), one_of(ranks))])
    },
};

/// All-reduce by rings: once around to add, once more to hand out the sums.
///
/// Every channel is a ring of its own over its share of the data. Each chunk starts on the rank of its
/// number, collects the contribution of every rank on its way around, and is then passed around once more.
///
/// Choose it for large sizes where neighbours have links of their own: it sends no byte twice over a link of
/// the ring.
///
/// Any number of ranks. Rounds: 2(n−1). Bytes sent by each rank: 2·S·(n−1)/n, which is the least
/// possible. Time on a ring of links with latency α and bandwidth B: 2(n−1)·(α + S/(n·B)).
///
/// Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009.
///
/// ```text
///   0 ──▶ 1 ──▶ 2 ──▶ 3
///   ▲                 │
///   └─────────────────┘
/// ```
///
/// ```
/// use collective::algorithms::{self, allreduce_ring};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(allreduce_ring, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("allreduce_ring").unwrap().cost(&[8, 1]).rounds(), 14);
/// ```
#[collective(all_reduce, in_place, chunks = ranks * channels, defaults(channels = 1), build(ranks = 8))]
pub fn allreduce_ring(p: &Program, ranks: usize, channels: usize) {
    for channel in 0..channels {
        for start in 0..ranks {
            let index = channel * ranks + start;
            // In place, input and output are one, and this copies nothing.
            for rank in 0..ranks {
                p.chunk(rank, Input, index).copy_to(rank, Output, index);
            }
            let mut sum = p.chunk(start, Output, index).on_channel(channel);
            for step in 1..ranks {
                sum = p.chunk((start + step) % ranks, Output, index).reduce(sum);
            }
            for step in 0..ranks - 1 {
                sum = sum.copy_to((start + step) % ranks, Output, index);
            }
        }
    }
}

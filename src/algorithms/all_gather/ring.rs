use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allgather_ring::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::Switch,
    choices: |ranks| vec![vec![ranks, 1], vec![ranks, 2]],
    cost: |values| {
        let ranks = values[0];
        Cost::rounds_of([(ranks - 1, one_of(ranks))])
    },
};

/// All-gather by rings: every rank's data travels once around.
///
/// Every channel is a ring of its own over its share of the data.
///
/// Choose it for large sizes where neighbours have links of their own.
///
/// Any number of ranks. S is the gathered size. Rounds: n−1. Bytes sent by each rank: S·(n−1)/n, the least
/// possible. Time on a ring of links with latency α and bandwidth B: (n−1)·(α + S/(n·B)).
///
/// Source: Chan et al., "Collective communication: theory, practice, and experience", 2007.
///
/// ```text
///   0 ──▶ 1 ──▶ 2 ──▶ 3
///   ▲                 │
///   └─────────────────┘
/// ```
///
/// ```
/// use collective::algorithms::{self, allgather_ring};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(allgather_ring, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("allgather_ring").unwrap().cost(&[8, 1]).rounds(), 7);
/// ```
#[collective(all_gather, in_place, chunks = channels, defaults(channels = 1), build(ranks = 8))]
pub fn allgather_ring(p: &Program, ranks: usize, channels: usize) {
    for channel in 0..channels {
        for owner in 0..ranks {
            let index = owner * channels + channel;
            // In place, the input is a window of the output, and this copies nothing.
            let mut data = p.chunk(owner, Input, channel).on_channel(channel).copy_to(owner, Output, index);
            for step in 1..ranks {
                data = data.copy_to((owner + step) % ranks, Output, index);
            }
        }
    }
}

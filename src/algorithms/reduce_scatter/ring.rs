use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: reduce_scatter_ring::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::Switch,
    choices: |ranks| vec![vec![ranks, 1], vec![ranks, 2]],
    cost: |values| {
        let ranks = values[0];
        Cost::rounds_of([(ranks - 1, one_of(ranks))])
    },
};

/// Reduce-scatter by rings: every part collects contributions on its way around to its owner.
///
/// Every channel is a ring of its own over its share of the data. On their way the sums overwrite the
/// parts of the input that belong to other ranks, as in-place operation allows.
///
/// Choose it for large sizes where neighbours have links of their own.
///
/// Any number of ranks. S is the input of a rank. Rounds: n−1. Bytes sent by each rank: S·(n−1)/n, the least
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
/// use collective::algorithms::{self, reduce_scatter_ring};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(reduce_scatter_ring, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("reduce_scatter_ring").unwrap().cost(&[8, 1]).rounds(), 7);
/// ```
#[collective(reduce_scatter, in_place, chunks = channels, defaults(channels = 1), build(ranks = 8))]
pub fn reduce_scatter_ring(p: &Program, ranks: usize, channels: usize) {
    for channel in 0..channels {
        for owner in 0..ranks {
            let index = owner * channels + channel;
            let mut sum = p.chunk((owner + 1) % ranks, Input, index).on_channel(channel);
            for step in 2..=ranks {
                let rank = (owner + step) % ranks;
                sum = p.chunk(rank, Input, index).reduce(sum);
            }
            sum.copy_to(owner, Output, channel);
        }
    }
}

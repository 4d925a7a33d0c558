use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of, share};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: reduce_scatter_allpairs::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices: |ranks| vec![vec![ranks]],
    cost: |values| {
        let ranks = values[0];
        Cost::rounds_of([(usize::from(ranks > 1), one_of(ranks))]).with_sent(share(ranks - 1, ranks))
    },
};

/// Reduce-scatter in one round: every rank sends every other its part at once, and adds up what it gets.
///
/// The sums replace the rank's own part of the input.
///
/// Choose it for small sizes where every rank reaches all others at once: GPUs on NVLink or NVSwitch.
///
/// Any number of ranks. S is the input of a rank. Rounds: 1, with n−1 messages a rank at once. Bytes sent by each rank:
/// S·(n−1)/n, the least possible. Time, with links of latency α and bandwidth B between any two: α + S/(n·B). Scratch:
/// S·(n−1)/n.
///
/// Source: the first half of the two-shot all-reduce of Cowan et al., "MSCCLang: Microsoft Collective Communication
/// Language", 2023.
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
/// use collective::algorithms::{self, reduce_scatter_allpairs};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(reduce_scatter_allpairs, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("reduce_scatter_allpairs").unwrap().cost(&[8]).rounds(), 1);
/// ```
#[collective(reduce_scatter, in_place, build(ranks = 8))]
pub fn reduce_scatter_allpairs(p: &Program, ranks: usize) {
    // All parts leave at once, to wait in scratch, so that no message waits for the addition of another.
    for owner in 0..ranks {
        for distance in 1..ranks {
            let from = (owner + distance) % ranks;
            p.chunk(from, Input, owner).copy_to(owner, Scratch("arrived"), distance - 1);
        }
    }
    for owner in 0..ranks {
        let mut sum = p.chunk(owner, Input, owner);
        for other in 0..ranks - 1 {
            sum = sum.reduce(p.chunk(owner, Scratch("arrived"), other));
        }
        // In place, the output is a window of the input, and this copies nothing.
        sum.copy_to(owner, Output, 0);
    }
}

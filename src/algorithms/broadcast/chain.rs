use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of};
use crate::algorithms::rooted::pipelined_choices;
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: broadcast_chain::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::Switch,
    choices: pipelined_choices,
    cost: |values| {
        let (ranks, segments) = (values[0], values[1]);
        let rounds = if ranks > 1 { ranks - 2 + segments } else { 0 };
        Cost::rounds_of([(rounds, one_of(segments))]).with_sent(one_of(1) * u64::from(ranks > 1))
    },
};

/// Broadcast along a chain, in segments: while a rank passes one on, the next arrives.
///
/// Choose it for large sizes where neighbours have links of their own; with k segments of S/k the best k grows with the
/// root of S: k² = (n−2)·S/(α·B).
///
/// Any number of ranks and segments. Rounds: n−2+k. Bytes sent by each rank but the last: S, the least possible for the root.
/// Time on a chain of links with latency α and bandwidth B: (n−2+k)·(α + S/(k·B)).
///
/// Source: Pješivac-Grbović et al., "Performance analysis of MPI collective operations", 2007; NCCL's ring broadcast is such
/// a chain.
///
/// ```text
///   0 ──▶ 1 ──▶ 2 ──▶ 3
///      c     b     a        segments on their way
/// ```
///
/// ```
/// use collective::algorithms::{self, broadcast_chain};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(broadcast_chain, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("broadcast_chain").unwrap().cost(&[8, 8, 0]).rounds(), 14);
/// ```
#[collective(broadcast, in_place, chunks = segments, root = root, defaults(segments = 8, root = 0), build(ranks = 8))]
pub fn broadcast_chain(p: &Program, ranks: usize, segments: usize, root: usize) {
    for segment in 0..segments {
        let mut data = p.chunk(root, Input, segment).copy_to(root, Output, segment);
        for step in 1..ranks {
            data = data.copy_to((root + step) % ranks, Output, segment);
        }
    }
}

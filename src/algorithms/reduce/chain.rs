use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of};
use crate::algorithms::rooted::pipelined_choices;
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: reduce_chain::DEF,
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

/// Reduce along a chain, in segments: the sums travel towards the root, and every rank adds its data as they pass.
///
/// A rank passes a sum on as it makes it: it is stored nowhere but on the root.
///
/// Choose it for large sizes where neighbours have links of their own; with k segments of S/k the best k grows with the
/// root of S: k² = (n−2)·S/(α·B).
///
/// Any number of ranks and segments. Rounds: n−2+k. Bytes sent by each rank but the root: S. Time on a chain of links with
/// latency α and bandwidth B: (n−2+k)·(α + S/(k·B)).
///
/// Source: Pješivac-Grbović et al., "Performance analysis of MPI collective operations", 2007; NCCL's ring reduce is such
/// a chain.
///
/// ```text
///   0 ◀── 1 ◀── 2 ◀── 3
///      a     b     c        segments on their way
/// ```
///
/// ```
/// use collective::algorithms::{self, reduce_chain};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(reduce_chain, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("reduce_chain").unwrap().cost(&[8, 8, 0]).rounds(), 14);
/// ```
#[collective(reduce, in_place, chunks = segments, root = root, defaults(segments = 8, root = 0), build(ranks = 8))]
pub fn reduce_chain(p: &Program, ranks: usize, segments: usize, root: usize) {
    for segment in 0..segments {
        let own = p.chunk(root, Input, segment).copy_to(root, Output, segment);
        if ranks == 1 {
            continue;
        }
        let mut sum = p.chunk((root + ranks - 1) % ranks, Input, segment);
        for position in (1..ranks - 1).rev() {
            sum = p.chunk((root + position) % ranks, Input, segment).reduce(sum);
        }
        own.reduce(sum);
    }
}

use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, share};
use crate::algorithms::rooted::{choices, subtrees};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: gather_binomial::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices,
    cost: |values| {
        let ranks = values[0];
        // From the leaf to the root; every rank sends its subtree's data once.
        let sizes = subtrees(ranks);
        let largest = sizes.first().copied().unwrap_or(0);
        Cost::rounds_of(sizes.into_iter().rev().map(|size| (1, share(size, ranks))))
            .with_sent(share(largest, ranks))
    },
};

/// Gather along a binomial tree: blocks of neighbouring ranks' data are joined and passed on towards the root.
///
/// A rank that has the data of its whole subtree sends them as one message. The subtrees are ranges of ranks, so
/// that a block comes to the root as it lies in the output; but for the one block that reaches beyond the last rank, if the root is
/// another than rank 0.
///
/// Choose it for small sizes: the root receives few messages. For large sizes
/// [`gather_linear`](fn@super::gather_linear) moves every byte once.
///
/// Any number of ranks. S is the gathered size. Rounds: ⌊log2 n⌋, of subtrees of n/2, n/4, …, 1 ranks where n is a power of two;
/// else the largest may have less, and the root receives from two at once. Bytes sent by a rank: those of its subtree, up to
/// S/2. Time with links of latency α and bandwidth B between any two: log2(n)·α + S·(n−1)/(n·B) for a power of two, else
/// less than for the next one with chunks of the same size.
///
/// Source: MPICH's binomial gather; Johnsson and Ho, "Optimum Broadcasting and Personalized Communication in Hypercubes", 1989.
///
/// ```text
///   0 ◀─ 1    2 ◀─ 3  4 ◀─ 5  6 ◀─ 7  round 0: one rank's
///   0 ◀────── 2       4 ◀────── 6     round 1: of two ranks
///   0 ◀────────────── 4               round 2: of four ranks
/// ```
///
/// ```
/// use collective::algorithms::{self, gather_binomial};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(gather_binomial, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("gather_binomial").unwrap().cost(&[8, 0]).rounds(), 3);
/// ```
#[collective(gather, in_place, root = root, defaults(root = 0), build(ranks = 8))]
pub fn gather_binomial(p: &Program, ranks: usize, root: usize) {
    // Positions count from the root.
    let rank = |position: usize| (position + root) % ranks;
    p.chunk(root, Input, 0).copy_to(root, Output, root);
    let mut distance = 1;
    while distance < ranks {
        for to in (0..ranks - distance).step_by(2 * distance) {
            let from = to + distance;
            // The positions from `from` on, whose data lie there in this order.
            let count = distance.min(ranks - from);
            let block = if count == 1 {
                p.chunk(rank(from), Input, 0)
            } else {
                p.chunks(rank(from), Scratch("block"), 0, count)
            };
            if to > 0 {
                if distance == 1 {
                    p.chunk(rank(to), Input, 0).copy_to(rank(to), Scratch("block"), 0);
                }
                block.copy_to(rank(to), Scratch("block"), distance);
            } else if rank(from) + count <= ranks {
                block.copy_to(root, Output, rank(from));
            } else {
                // It begins with the last ranks and goes on with rank 0.
                let here = block.copy_to(root, Scratch("block"), 0);
                for (offset, chunk) in here.split(count).into_iter().enumerate() {
                    chunk.copy_to(root, Output, rank(from + offset));
                }
            }
        }
        distance *= 2;
    }
}

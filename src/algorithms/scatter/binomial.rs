use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, share};
use crate::algorithms::rooted::{choices, halves};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: scatter_binomial::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::Switch,
    choices,
    cost: |values| {
        let ranks = values[0];
        Cost::rounds_of(halves(ranks).into_iter().map(|size| (1, share(size, ranks))))
    },
};

/// Scatter along a binomial tree: in every round a rank gives the upper half of what it holds to the rank that it begins with.
///
/// The subtrees are ranges of ranks, and a rank sends the data of a subtree as one message. It sends to one other at a time: its
/// messages leave from one place, which is filled anew when it is free.
///
/// Choose it for small sizes: the root sends few messages. For large sizes
/// [`scatter_linear`](fn@super::scatter_linear) moves every byte once.
///
/// Any number of ranks; without a power of two the first block is smaller. S is the scattered size. Rounds: ⌈log2 n⌉.
/// Bytes sent by the root: S·(n−1)/n, by others less. Time on a switch with links of latency α/2 and bandwidth B:
/// ⌈log2 n⌉·α + S·(n−1)/(n·B).
///
/// Source: MPICH's binomial scatter; Johnsson and Ho, "Optimum Broadcasting and Personalized Communication in Hypercubes", 1989.
///
/// ```text
///   0 ─{4..7}───────▶ 4                     round 0
///   0 ─{2,3}▶ 2       4 ─{6,7}▶ 6           round 1
///   0 ─▶ 1    2 ─▶ 3  4 ─▶ 5    6 ─▶ 7      round 2
/// ```
///
/// ```
/// use collective::algorithms::{self, scatter_binomial};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(scatter_binomial, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("scatter_binomial").unwrap().cost(&[8, 0]).rounds(), 3);
/// ```
#[collective(scatter, in_place, root = root, defaults(root = 0), build(ranks = 8))]
pub fn scatter_binomial(p: &Program, ranks: usize, root: usize) {
    // Positions count from the root.
    let rank = |position: usize| (position + root) % ranks;
    p.chunk(root, Input, root).copy_to(root, Output, 0);
    let mut distance = ranks.next_power_of_two() / 2;
    while distance > 0 {
        for from in (0..ranks - distance).step_by(2 * distance) {
            // The positions from `to` on.
            let to = from + distance;
            let count = distance.min(ranks - to);
            // What a rank sends must have left before it sends the next: one port.
            let leaving = |source: ChunkRef<'_>, index: usize| {
                source.copy_to(source.rank(), Scratch("port"), index);
            };
            if from > 0 {
                leaving(p.chunks(rank(from), Scratch("block"), distance, count), 0);
            } else {
                // In the order of the positions: from rank 0 on, if it reaches beyond the last rank.
                let straight = count.min(ranks - rank(to));
                leaving(p.chunks(root, Input, rank(to), straight), 0);
                if straight < count {
                    leaving(p.chunks(root, Input, 0, count - straight), straight);
                }
            }
            let block = p.chunks(rank(from), Scratch("port"), 0, count);
            if count == 1 {
                block.copy_to(rank(to), Output, 0);
            } else {
                block.copy_to(rank(to), Scratch("block"), 0).split(count)[0].copy_to(rank(to), Output, 0);
            }
        }
        distance /= 2;
    }
}

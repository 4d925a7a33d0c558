use crate::algorithms::broadcast::double_tree::double_tree_cost;
use crate::algorithms::catalogue::{Algorithm, Network, Placement};
use crate::algorithms::rooted::pipelined_choices;
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: reduce_double_tree::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices: pipelined_choices,
    cost: |values| double_tree_cost(values[0], values[1]),
};

/// Reduce along two binary trees at once, in segments: each tree adds up one half of the data.
///
/// [`broadcast_double_tree`](fn@crate::algorithms::broadcast_double_tree) with all messages turned around: a rank with
/// children in one tree is a leaf of the other, so every rank sends S in all and receives no more than that.
///
/// Choose it for middle and large sizes: it has the rounds of a tree and the bandwidth of a chain. With k segments in
/// each half the best k grows with the root of S: k² = ⌊log2(n−1)⌋·S/(2·α·B).
///
/// Any number of ranks and segments. Rounds: ⌊log2(n−1)⌋ + k. Bytes sent by each rank but the root: S. Time with links of latency
/// α and bandwidth B between any two: (⌊log2(n−1)⌋ + k)·(α + S/(2·k·B)), for two ranks k·(α + S/(k·B)).
///
/// Source: Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", 2009.
///
/// ```text
///   first half:    0            second half:    0
///                  ▲                            ▲
///                  4                            5
///               ┌──┴──┐                      ┌──┴──┐
///               2     6                      3     7
///              ┌┴┐   ┌┴┐                    ┌┴┐   ┌┴┐
///              1 3   5 7                    2 4   6 1
/// ```
///
/// ```
/// use collective::algorithms::{self, reduce_double_tree};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(reduce_double_tree, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("reduce_double_tree").unwrap().cost(&[8, 8, 0]).rounds(), 10);
/// ```
#[collective(reduce, in_place, chunks = 2 * segments, root = root, defaults(segments = 8, root = 0), build(ranks = 8))]
pub fn reduce_double_tree(p: &Program, ranks: usize, segments: usize, root: usize) {
    /// The sum over `size` places from `first` on, at the middle of them.
    fn sum_up<'p>(
        p: &'p Program,
        index: usize,
        first: usize,
        size: usize,
        rank_at: &dyn Fn(usize) -> usize,
    ) -> ChunkRef<'p> {
        // The left side is full, so that every other place is a leaf.
        let left = (1 << size.ilog2()) - 1;
        let rank = rank_at(first + left);
        let own = p.chunk(rank, Input, index);
        if size == 1 {
            return own;
        }
        let mut sum = own.copy_to(rank, Scratch("sum"), index);
        for (first, size) in [(first, left), (first + left + 1, size - left - 1)] {
            if size > 0 {
                sum = sum.reduce(sum_up(p, index, first, size, rank_at));
            }
        }
        sum
    }
    let below = ranks - 1;
    for tree in 0..2 {
        // Leaves of one tree lie where the other branches.
        let rank_at = |place: usize| {
            let other = if below.is_multiple_of(2) { below - 1 - place } else { (place + 1) % below };
            (root + 1 + if tree == 0 { place } else { other }) % ranks
        };
        for segment in 0..segments {
            let index = tree * segments + segment;
            let own = p.chunk(root, Input, index).copy_to(root, Output, index);
            if below > 0 {
                own.reduce(sum_up(p, index, 0, below, &rank_at).on_channel(tree));
            }
        }
    }
}

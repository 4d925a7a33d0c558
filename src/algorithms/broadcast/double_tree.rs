use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of, share};
use crate::algorithms::rooted::pipelined_choices;
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: broadcast_double_tree::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices: pipelined_choices,
    cost: |values| double_tree_cost(values[0], values[1]),
};

/// Of both directions.
pub(in crate::algorithms) fn double_tree_cost(ranks: usize, segments: usize) -> Cost {
    let rounds = match ranks {
        1 => return Cost::rounds_of([]),
        // Both trees are one link, which the two halves share.
        2 => (segments, one_of(segments)),
        _ => ((ranks - 1).ilog2() as usize + segments, share(1, 2 * segments)),
    };
    Cost::rounds_of([rounds]).with_sent(one_of(1))
}

/// Broadcast along two binary trees at once, in segments: each tree carries one half of the data.
///
/// A rank that has children in one tree is a leaf of the other, so every rank sends no more than it receives, and both
/// directions of its port are busy all the time. The trees are in-order: what is in the middle of a range of ranks
/// hands down to the middles of both parts. The second tree is the mirror image of the first, or, where the number of
/// ranks below the root is odd, the first moved by one.
///
/// Choose it for middle and large sizes: it has the rounds of a tree and the bandwidth of a chain. With k segments in
/// each half the best k grows with the root of S: k² = ⌊log2(n−1)⌋·S/(2·α·B).
///
/// Any number of ranks and segments. Rounds: ⌊log2(n−1)⌋ + k. Bytes sent by each rank: no more than S, which the root sends.
/// Time with links of latency α and bandwidth B between any two: (⌊log2(n−1)⌋ + k)·(α + S/(2·k·B)), for two ranks
/// k·(α + S/(k·B)). On a switch, where the two messages that a rank sends or receives at once share its port, each takes
/// up to twice as long.
///
/// Source: Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", 2009.
///
/// ```text
///   first half:    0            second half:    0
///                  │                            │
///                  4                            5
///               ┌──┴──┐                      ┌──┴──┐
///               2     6                      3     7
///              ┌┴┐   ┌┴┐                    ┌┴┐   ┌┴┐
///              1 3   5 7                    2 4   6 1
/// ```
///
/// ```
/// use collective::algorithms::{self, broadcast_double_tree};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(broadcast_double_tree, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("broadcast_double_tree").unwrap().cost(&[8, 8, 0]).rounds(), 10);
/// ```
#[collective(broadcast, in_place, chunks = 2 * segments, root = root, defaults(segments = 8, root = 0), build(ranks = 8))]
pub fn broadcast_double_tree(p: &Program, ranks: usize, segments: usize, root: usize) {
    /// Gives data to the middle of `size` places from `first` on, which gives them to both sides.
    fn hand_down(
        data: ChunkRef<'_>,
        index: usize,
        first: usize,
        size: usize,
        rank_at: &dyn Fn(usize) -> usize,
    ) {
        if size == 0 {
            return;
        }
        // The left side is full, so that every other place is a leaf.
        let left = (1 << size.ilog2()) - 1;
        let here = data.copy_to(rank_at(first + left), Output, index);
        hand_down(here, index, first, left, rank_at);
        hand_down(here, index, first + left + 1, size - left - 1, rank_at);
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
            let data = p.chunk(root, Input, index).copy_to(root, Output, index).on_channel(tree);
            hand_down(data, index, 0, below, &rank_at);
        }
    }
}

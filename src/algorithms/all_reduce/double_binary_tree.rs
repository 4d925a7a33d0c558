use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of, share};

pub use program::allreduce_double_binary_tree;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allreduce_double_binary_tree::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices: |ranks| vec![vec![ranks, 4], vec![ranks, 1], vec![ranks, 16]],
    cost: |values| {
        let (ranks, segments) = (values[0], values[1]);
        Cost::rounds_of([(rounds(ranks, segments), one_of(2 * segments))])
            .with_sent(share(halves_sent(ranks), 2))
    },
};

/// How many halves of the data the busiest rank sends: one to each parent and each child.
fn halves_sent(ranks: usize) -> usize {
    let mut halves = vec![0; ranks];
    for (root, children) in [program::tree(0, ranks), program::tree(1, ranks)] {
        for (rank, children) in children.iter().enumerate() {
            halves[rank] += usize::from(rank != root) + children.len();
        }
    }
    halves.into_iter().max().unwrap_or(0)
}

/// The rounds until the last segment is on the last rank.
///
/// Every message takes one. A rank passes a segment on when it has it from all children, or from the parent; a connection, which
/// both trees may use, carries one message at a time, and those that more others wait for come first.
fn rounds(ranks: usize, segments: usize) -> usize {
    // The messages of one segment, (depth, from, to, tree), in the order of the program.
    let mut messages = Vec::new();
    for tree in 0..2 {
        let (root, children) = program::tree(tree, ranks);
        let mut down = vec![root];
        for i in 0..ranks {
            down.extend(&children[down[i]]);
        }
        let mut depth = vec![0; ranks];
        for parent in down.iter().rev() {
            for child in &children[*parent] {
                depth[*parent] = 1 + usize::max(depth[*parent], depth[*child]);
                messages.push((depth[*parent], *child, *parent, tree));
            }
        }
        for parent in down {
            for child in &children[parent] {
                depth[*child] = 1 + depth[parent];
                messages.push((depth[*child], parent, *child, tree));
            }
        }
    }
    messages.sort_by_key(|(depth, ..)| *depth);

    let mut holds = vec![vec![0; ranks]; 2 * segments];
    let mut free = vec![0; ranks * ranks];
    for (_, from, to, tree) in messages {
        for segment in &mut holds[tree * segments..(tree + 1) * segments] {
            let connection = &mut free[from * ranks + to];
            let arrival = 1 + usize::max(segment[from], *connection);
            *connection = arrival;
            segment[to] = segment[to].max(arrival);
        }
    }
    holds.into_iter().flatten().max().unwrap_or(0)
}

#[crate::collective]
mod program {
    use crate::prelude::*;

    /// One of the two trees: its root, and the children of each rank, of which there are at most two.
    pub(super) fn tree(which: usize, ranks: usize) -> (usize, Vec<Vec<usize>>) {
        let mut root = 0;
        let mut children = vec![Vec::new(); ranks];
        for rank in 0..ranks {
            match parent(rank, which, ranks) {
                Some(parent) => children[parent].push(rank),
                None => root = rank,
            }
        }
        (root, children)
    }

    /// The second tree is the first in a mirror, or turned by one rank where their number is odd: leaves of one are inside in
    /// the other.
    fn parent(rank: usize, tree: usize, ranks: usize) -> Option<usize> {
        let mirror = |rank: usize| ranks - 1 - rank;
        match (tree, ranks % 2) {
            (0, _) => parent_in_first(rank, ranks),
            (_, 0) => parent_in_first(mirror(rank), ranks).map(mirror),
            _ => parent_in_first((rank + ranks - 1) % ranks, ranks).map(|parent| (parent + 1) % ranks),
        }
    }

    /// The level of a rank is the number of zeros at the end of its number; the parent is a level higher, on the side where
    /// there is one.
    fn parent_in_first(rank: usize, ranks: usize) -> Option<usize> {
        if rank == 0 {
            return None;
        }
        let level = 1 << rank.trailing_zeros();
        let below = rank ^ level;
        let above = below | (2 * level);
        Some(if above < ranks { above } else { below })
    }

    /// Adds up over a rank and all below it. Both trees use one connection from a rank to another.
    fn add<'p>(p: &'p Program, children: &[Vec<usize>], rank: usize, index: usize) -> ChunkRef<'p> {
        let mut sum = p.chunk(rank, Output, index).on_channel(0);
        for child in &children[rank] {
            sum = sum.reduce(add(p, children, *child, index));
        }
        sum
    }

    /// Hands the sum down to all below.
    fn hand_down(sum: ChunkRef<'_>, children: &[Vec<usize>], index: usize) {
        for child in &children[sum.rank()] {
            hand_down(sum.copy_to(*child, Output, index), children, index);
        }
    }

    /// All-reduce by two binary trees, each with half of the data: add up to the root, then hand down, segment by segment.
    ///
    /// The trees are NCCL's: a rank that is inside in one is a leaf in the other, so that the work is even. In the first, a
    /// rank's level is the number of zeros at the end of its number, and its parent the neighbour a level higher. The second is the
    /// first in a mirror (even n), or turned by one rank (odd n). `segments` pieces of each half follow one another through
    /// the tree.
    ///
    /// Choose it for middle sizes and many ranks: latency grows with log2 n as in no ring, and bytes do not grow with log2 n as
    /// in recursive doubling. More segments for larger sizes.
    ///
    /// Any number of ranks. Rounds: 2·d for one segment, where d is the depth, ⌈log2 n⌉ or less; every further segment adds one,
    /// or two where both trees use a connection. Bytes sent by the busiest rank: 2·S for four ranks or more, to two children and a
    /// parent in one tree and a parent in the other. Time with links of latency α and bandwidth B between any two:
    /// rounds · (α + S/(2·segments·B)); on a switch a rank's messages to its children share its port, and it takes longer. Both trees are
    /// on one channel; NCCL gives each its own.
    ///
    /// Source: Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", 2009; NCCL's
    /// trees.
    ///
    /// ```text
    ///     0                             7
    ///     └───────┐             ┌───────┘
    ///             4             3
    ///         ┌───┴───┐     ┌───┴───┐
    ///         2       6     1       5          ▲ add, then ▼ hand down
    ///       ┌─┴─┐   ┌─┴─┐ ┌─┴─┐   ┌─┴─┐
    ///       1   3   5   7 0   2   4   6
    /// ```
    #[collective(all_reduce, in_place, chunks = 2 * segments, defaults(segments = 4), build(ranks = [7, 8]))]
    pub fn allreduce_double_binary_tree(p: &Program, ranks: usize, segments: usize) {
        for which in 0..2 {
            let (root, children) = tree(which, ranks);
            for segment in 0..segments {
                let index = which * segments + segment;
                for rank in 0..ranks {
                    p.chunk(rank, Input, index).copy_to(rank, Output, index);
                }
                hand_down(add(p, &children, root, index), &children, index);
            }
        }
    }
}

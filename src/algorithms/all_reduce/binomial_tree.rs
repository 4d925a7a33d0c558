use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, Share, one_of};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allreduce_binomial_tree::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices: |ranks| vec![vec![ranks]],
    cost: |values| {
        let ranks = values[0];
        // The longest way up is from the rank below n whose number has the most ones.
        let levels = ranks.ilog2() as usize;
        let children = ranks.next_power_of_two().ilog2();
        Cost::rounds_of([(2 * levels, one_of(1))]).with_sent(Share::from_integer(children.into()))
    },
};

/// All-reduce by a binomial tree: add up to rank 0, then hand down the same tree.
///
/// The parent of a rank is its number without its lowest one-bit.
///
/// Choose it for small sizes where a rank may not talk to many others, or as the plainest of all: what needs a reduction to
/// a root and a broadcast is built like this. Recursive doubling has half the rounds.
///
/// Any number of ranks. Rounds: 2·⌊log2 n⌋ where a rank sends to all its children at once, 2·⌈log2 n⌉ where it sends to one
/// after the other. Bytes sent by the busiest rank, the root: S·⌈log2 n⌉. Time with links of latency α and bandwidth B
/// between any two: 2·⌊log2 n⌋·(α + S/B).
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH", 2005: reduce
/// followed by broadcast.
///
/// ```text
///             0
///       ┌─────┼───┐
///       4     2   1        ▲ add, then ▼ hand down
///     ┌─┴─┐   │
///     6   5   3
///     │
///     7
/// ```
///
/// ```
/// use collective::algorithms::{self, allreduce_binomial_tree};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(allreduce_binomial_tree, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("allreduce_binomial_tree").unwrap().cost(&[8]).rounds(), 6);
/// ```
#[collective(all_reduce, in_place, chunks = 1, build(ranks = 8))]
pub fn allreduce_binomial_tree(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        p.chunk(rank, Input, 0).copy_to(rank, Output, 0);
    }
    let mut distance = 1;
    while distance < ranks {
        for parent in (0..ranks - distance).step_by(2 * distance) {
            p.chunk(parent, Output, 0).reduce(p.chunk(parent + distance, Output, 0));
        }
        distance *= 2;
    }
    while distance > 1 {
        distance /= 2;
        for parent in (0..ranks - distance).step_by(2 * distance) {
            p.chunk(parent, Output, 0).copy_to(parent + distance, Output, 0);
        }
    }
}

use super::folding::exchanges_of_all;
use crate::algorithms::catalogue::{Algorithm, Network, Placement};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allreduce_recursive_doubling::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices: |ranks| vec![vec![ranks]],
    cost: |values| exchanges_of_all(values[0]),
};

/// All-reduce by recursive doubling: in round k every rank exchanges all it has with the rank whose number differs in
/// bit k, and both add.
///
/// What arrives waits in scratch until the rank's own data have left. All ranks add in the same order, so they end with the
/// same bits.
///
/// Choose it for small sizes: for powers of two no algorithm in which a rank talks to one other at a time has fewer rounds.
///
/// Any number of ranks. Of r ranks beyond a power of two, each first gives its data to a neighbour (of the first 2·r, the
/// even ones to the odd ones), and gets the sums at the end, as in MPICH. Rounds: log2 n, else ⌊log2 n⌋ + 2, of which one is saved where r = 1. Bytes sent by
/// the busiest rank: S·log2 n, else S·(⌊log2 n⌋ + 1). Time with links of latency α and bandwidth B between any two: rounds ·
/// (α + S/B); for powers of two also on a switch, which no rank uses for two messages at once.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH", 2005.
///
/// ```text
///   0 ◀─▶ 1   2 ◀─▶ 3      round 0
///   0 ◀───────▶ 2          round 1
///         1 ◀───────▶ 3
/// ```
#[collective(all_reduce, in_place, chunks = 1, build(ranks = [6, 8]))]
pub fn allreduce_recursive_doubling(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        p.chunk(rank, Input, 0).copy_to(rank, Output, 0);
    }
    let core = 1 << ranks.ilog2();
    let extra = ranks - core;
    for pair in 0..extra {
        p.chunk(2 * pair + 1, Output, 0).reduce(p.chunk(2 * pair, Output, 0));
    }
    // The ranks that go on are numbered anew.
    let rank_of = |number: usize| if number < extra { 2 * number + 1 } else { number + extra };
    let mut distance = 1;
    while distance < core {
        for number in 0..core {
            p.chunk(rank_of(number), Output, 0).copy_to(rank_of(number ^ distance), Scratch("arrived"), 0);
        }
        for number in 0..core {
            let rank = rank_of(number);
            p.chunk(rank, Output, 0).reduce(p.chunk(rank, Scratch("arrived"), 0));
        }
        distance *= 2;
    }
    for pair in 0..extra {
        p.chunk(2 * pair + 1, Output, 0).copy_to(2 * pair, Output, 0);
    }
}

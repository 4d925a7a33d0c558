use super::folding::halving_and_doubling;
use crate::algorithms::catalogue::{Algorithm, Network, Placement};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allreduce_halving_doubling_nearest_first::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices: |ranks| vec![vec![ranks]],
    cost: |values| halving_and_doubling(values[0]),
};

/// All-reduce by halving and doubling that begins with the nearest ranks: vector halving and distance doubling.
///
/// As [`allreduce_recursive_halving_doubling`](fn@crate::algorithms::allreduce_recursive_halving_doubling), but with the lowest
/// bit of the numbers first: the largest messages go to the nearest ranks. So that what a rank keeps is in one piece, it ends
/// with the chunk of its number with the bits reversed.
///
/// Choose it for small and middle sizes where near ranks are better connected: inside nodes, on a ring or a torus. On a ring
/// of links every round loads the most loaded one with S/2; in the other order the first loads it with S·n/4.
///
/// Any number of ranks. Of r ranks beyond a power of two, each first gives all its data to a neighbour (of the first 2·r,
/// the even ones to the odd ones), and gets the sums at the end, as in MPICH. Rounds: 2·log2 n, else 2·⌊log2 n⌋ + 2. Bytes sent
/// by the busiest rank: 2·S·(n−1)/n, else 2·S·(m−1)/m + S with m, the largest power of two below n. Time with links of
/// latency α and bandwidth B between any two: 2·log2(n)·α + 2·S·(n−1)/(n·B), also on a switch; else
/// (2·⌊log2 n⌋ + 2)·α + 2·S·(m−1)/(m·B) + 2·S/B.
///
/// Source: Rabenseifner; Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in
/// MPICH", 2005.
///
/// ```text
///   0 ◀─▶ 1   2 ◀─▶ 3      round 0: half of the data
///   0 ◀───────▶ 2          round 1: a quarter
///         1 ◀───────▶ 3
/// ```
#[collective(all_reduce, in_place, chunks = 1 << ranks.max(1).ilog2(), build(ranks = [6, 8]))]
pub fn allreduce_halving_doubling_nearest_first(p: &Program, ranks: usize) {
    let core = p.output_chunks();
    let extra = ranks - core;
    for rank in 0..ranks {
        p.chunks(rank, Input, 0, core).copy_to(rank, Output, 0);
    }
    for pair in 0..extra {
        p.chunks(2 * pair + 1, Output, 0, core).reduce(p.chunks(2 * pair, Output, 0, core));
    }
    // The ranks that go on are numbered anew.
    let rank_of = |number: usize| if number < extra { 2 * number + 1 } else { number + extra };
    // The chunk with which a rank ends.
    let own = |number: usize| {
        let bits = core.ilog2();
        (0..bits).map(|bit| (number >> bit & 1) << (bits - 1 - bit)).sum::<usize>()
    };
    // Ranks that have met agree in the bits so far, and so in the run of `2 * count` chunks that they work on.
    let (mut distance, mut count) = (1, core / 2);
    while distance < core {
        for number in 0..core {
            let kept = own(number) / count * count;
            let (rank, peer) = (rank_of(number), rank_of(number ^ distance));
            p.chunks(rank, Output, kept, count).reduce(p.chunks(peer, Output, kept, count));
        }
        (distance, count) = (2 * distance, count / 2);
    }
    (distance, count) = (core / 2, 1);
    while distance > 0 {
        for number in 0..core {
            let held = own(number) / count * count;
            let (rank, peer) = (rank_of(number), rank_of(number ^ distance));
            p.chunks(rank, Output, held, count).copy_to(peer, Output, held);
        }
        (distance, count) = (distance / 2, 2 * count);
    }
    for pair in 0..extra {
        p.chunks(2 * pair + 1, Output, 0, core).copy_to(2 * pair, Output, 0);
    }
}

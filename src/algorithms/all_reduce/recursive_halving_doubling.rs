use super::folding::halving_and_doubling;
use crate::algorithms::catalogue::{Algorithm, Network, Placement};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allreduce_recursive_halving_doubling::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices: |ranks| vec![vec![ranks]],
    cost: |values| halving_and_doubling(values[0]),
};

/// All-reduce in a logarithmic number of rounds: halve the data while adding, double it while handing out.
///
/// In each round every rank exchanges half of what it still works on with the rank whose number differs in one
/// bit, the highest first, and adds; after all rounds each rank holds one summed chunk. The same exchanges in reverse order
/// hand the sums out.
///
/// Choose it for small and middle sizes where any two ranks are equally far apart. Where they are not,
/// [`allreduce_halving_doubling_nearest_first`](fn@crate::algorithms::allreduce_halving_doubling_nearest_first) sends the
/// largest messages to the nearest ranks.
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
///   0 ◀───────▶ 2          round 0: half of the data
///         1 ◀───────▶ 3
///   0 ◀─▶ 1   2 ◀─▶ 3      round 1: a quarter
/// ```
#[collective(all_reduce, in_place, chunks = 1 << ranks.max(1).ilog2(), build(ranks = [6, 8]))]
pub fn allreduce_recursive_halving_doubling(p: &Program, ranks: usize) {
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
    // In the round of bit `distance` a rank works on the `2 * distance` chunks around its own number, keeps the
    // half with its own number and gives the other away.
    let mut distance = core / 2;
    while distance > 0 {
        for number in 0..core {
            let kept = number / distance * distance;
            let (rank, peer) = (rank_of(number), rank_of(number ^ distance));
            p.chunks(rank, Output, kept, distance).reduce(p.chunks(peer, Output, kept, distance));
        }
        distance /= 2;
    }
    distance = 1;
    while distance < core {
        for number in 0..core {
            let held = number / distance * distance;
            let (rank, peer) = (rank_of(number), rank_of(number ^ distance));
            p.chunks(rank, Output, held, distance).copy_to(peer, Output, held);
        }
        distance *= 2;
    }
    for pair in 0..extra {
        p.chunks(2 * pair + 1, Output, 0, core).copy_to(2 * pair, Output, 0);
    }
}

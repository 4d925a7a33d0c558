use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allreduce_recursive_halving_doubling::DEF,
    ranks: "powers of two",
    placement: Placement::Both,
    network: Network::Switch,
    choices: |ranks| if ranks.is_power_of_two() { vec![vec![ranks]] } else { Vec::new() },
    cost: |values| {
        let rounds = values[0].ilog2();
        let halves = (1..=rounds).map(|round| (2, one_of(1 << round)));
        Cost::rounds_of(halves)
    },
};

/// All-reduce in a logarithmic number of rounds: halve the data while adding, double it while handing out.
///
/// In round k every rank exchanges half of what it still works on with the rank whose number differs in bit
/// k, and adds; after all rounds each rank holds one summed chunk. The same exchanges in reverse order hand the
/// sums out.
///
/// Choose it for small and middle sizes where any two ranks are equally far apart.
///
/// Numbers of ranks that are powers of two. Rounds: 2·log2 n. Bytes sent by each rank: 2·S·(n−1)/n.
/// Time between equally distant ranks: 2·log2(n)·α + 2·S·(n−1)/(n·B).
///
/// Source: Rabenseifner; Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in
/// MPICH", 2005.
///
/// ```text
///   0 ◀─▶ 1   2 ◀─▶ 3      round 0: half of the data
///   0 ◀───────▶ 2          round 1: a quarter
///         1 ◀───────▶ 3
/// ```
#[collective(all_reduce, in_place, build(ranks = 8))]
pub fn allreduce_recursive_halving_doubling(p: &Program, ranks: usize) {
    if !p.require(ranks.is_power_of_two(), "the number of ranks must be a power of two") {
        return;
    }
    for rank in 0..ranks {
        p.chunks(rank, Input, 0, ranks).copy_to(rank, Output, 0);
    }
    // In the round of bit `distance` a rank works on the `2 * distance` chunks around its own number, keeps the
    // half with its own number and gives the other away.
    let mut distance = ranks / 2;
    while distance > 0 {
        for rank in 0..ranks {
            let kept = rank / distance * distance;
            let peer = rank ^ distance;
            p.chunks(rank, Output, kept, distance).reduce(p.chunks(peer, Output, kept, distance));
        }
        distance /= 2;
    }
    distance = 1;
    while distance < ranks {
        for rank in 0..ranks {
            let held = rank / distance * distance;
            p.chunks(rank, Output, held, distance).copy_to(rank ^ distance, Output, held);
        }
        distance *= 2;
    }
}

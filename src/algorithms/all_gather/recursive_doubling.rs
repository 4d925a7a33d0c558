use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, share};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allgather_recursive_doubling::DEF,
    ranks: "powers of two",
    placement: Placement::Both,
    network: Network::Switch,
    choices: |ranks| if ranks.is_power_of_two() { vec![vec![ranks]] } else { Vec::new() },
    cost: |values| {
        let ranks = values[0];
        Cost::rounds_of((0..ranks.ilog2()).map(|round| (1, share(1 << round, ranks))))
    },
};

/// All-gather in log2 n rounds: ranks exchange all that they hold, with a partner twice as far away each time.
///
/// In round k the partner is the rank whose number differs in bit k; then both hold the data of the same 2^(k+1)
/// ranks, which lie side by side: nothing has to be moved within a rank.
///
/// Choose it for small and middle sizes where any two ranks are equally far apart. Other numbers of ranks: `allgather_bruck`.
///
/// Numbers of ranks that are powers of two. S is the gathered size. Rounds: log2 n. Bytes sent by each rank: S·(n−1)/n,
/// the least possible. Time between equally distant ranks: log2(n)·α + S·(n−1)/(n·B).
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH", 2005.
///
/// ```text
///   0 ◀─▶ 1   2 ◀─▶ 3      round 0: one chunk
///   0 ◀───────▶ 2          round 1: two
///         1 ◀───────▶ 3
/// ```
///
/// ```
/// use collective::algorithms::{self, allgather_recursive_doubling};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(allgather_recursive_doubling, ranks = 8);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("allgather_recursive_doubling").unwrap().cost(&[8]).rounds(), 3);
/// ```
#[collective(all_gather, in_place, build(ranks = 8))]
pub fn allgather_recursive_doubling(p: &Program, ranks: usize) {
    if !p.require(ranks.is_power_of_two(), "the number of ranks must be a power of two") {
        return;
    }
    for rank in 0..ranks {
        p.chunk(rank, Input, 0).copy_to(rank, Output, rank);
    }
    let mut held = 1;
    while held < ranks {
        for rank in 0..ranks {
            let first = rank / held * held;
            p.chunks(rank, Output, first, held).copy_to(rank ^ held, Output, first);
        }
        held *= 2;
    }
}

use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: reduce_scatter_recursive_halving::DEF,
    ranks: "powers of two",
    placement: Placement::Both,
    network: Network::Switch,
    choices: |ranks| if ranks.is_power_of_two() { vec![vec![ranks]] } else { Vec::new() },
    cost: |values| Cost::rounds_of((1..=values[0].ilog2()).map(|round| (1, one_of(1 << round)))),
};

/// Reduce-scatter in log2 n rounds: ranks exchange halves of what they still add up, with a partner half as far away each time.
///
/// In the first round the partner is the rank whose number differs in the highest bit. Each keeps the half of the data with its
/// own part, gives the other half away, and adds what it gets. The sums replace the input.
///
/// Choose it for small and middle sizes where any two ranks are equally far apart. Other numbers of ranks:
/// `reduce_scatter_pat`, which needs no more bytes.
///
/// Numbers of ranks that are powers of two. S is the input of a rank. Rounds: log2 n. Bytes sent by each rank: S·(n−1)/n,
/// the least possible. Time between equally distant ranks: log2(n)·α + S·(n−1)/(n·B).
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH", 2005.
///
/// ```text
///   0 ◀───────▶ 2          round 0: half of the data
///         1 ◀───────▶ 3
///   0 ◀─▶ 1   2 ◀─▶ 3      round 1: a quarter
/// ```
///
/// ```
/// use collective::algorithms::{self, reduce_scatter_recursive_halving};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(reduce_scatter_recursive_halving, ranks = 8);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("reduce_scatter_recursive_halving").unwrap().cost(&[8]).rounds(), 3);
/// ```
#[collective(reduce_scatter, in_place, build(ranks = 8))]
pub fn reduce_scatter_recursive_halving(p: &Program, ranks: usize) {
    if !p.require(ranks.is_power_of_two(), "the number of ranks must be a power of two") {
        return;
    }
    // What a rank keeps are the `kept` parts around its own.
    let mut kept = ranks / 2;
    while kept > 0 {
        for rank in 0..ranks {
            let (first, peer) = (rank / kept * kept, rank ^ kept);
            p.chunks(rank, Input, first, kept).reduce(p.chunks(peer, Input, first, kept));
        }
        kept /= 2;
    }
    for rank in 0..ranks {
        p.chunk(rank, Input, rank).copy_to(rank, Output, 0);
    }
}

use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allreduce_swing::DEF,
    ranks: "powers of two",
    placement: Placement::Both,
    network: Network::Switch,
    choices: |ranks| if ranks.is_power_of_two() { vec![vec![ranks]] } else { Vec::new() },
    cost: |values| Cost::rounds_of([(values[0].ilog2() as usize, one_of(1))]),
};

/// All-reduce by Swing, for latency: recursive doubling that swings from one side of a rank to the other.
///
/// In step s rank r exchanges all it has with r + ρ if r is even, r − ρ if it is odd, and both add; ρ = (1 − (−2)^(s+1)) / 3 is
/// 1, −1, 3, −5, 11, …: the distances are 1, 1, 3, 5, 11 where recursive doubling has 1, 2, 4, 8, 16.
///
/// Choose it for small sizes on a ring or a torus.
///
/// Numbers of ranks that are powers of two; with others a rank's data would be added twice
/// ([`allreduce_bine`](fn@crate::algorithms::allreduce_bine) has the same partners and takes any). Rounds: log2 n. Bytes sent
/// by each rank: S·log2 n. Time between equally distant ranks: log2(n)·(α + S/B). On a ring of links, the most loaded one
/// carries 7·S in all for 16 ranks; 15·S in recursive doubling.
///
/// Ranks add in different orders: from eight ranks on, sums of floating-point numbers may differ between them in the last bits.
///
/// Source: De Sensi et al., "Swing: Short-cutting Rings for Higher Bandwidth Allreduce", NSDI 2024 (arXiv 2401.09356).
///
/// ```text
///   0 ◀─▶ 1   2 ◀─▶ 3   4 ◀─▶ 5   6 ◀─▶ 7      step 0: ρ = 1
///  ─▶ 0   1 ◀─▶ 2   3 ◀─▶ 4   5 ◀─▶ 6   7 ◀─   step 1: ρ = −1
///   0 ◀─────────────▶ 3                        step 2: ρ = 3; 2 with 5, 4 with 7, 6 with 1
/// ```
///
/// ```
/// use collective::algorithms::{self, allreduce_swing};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(allreduce_swing, ranks = 8);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("allreduce_swing").unwrap().cost(&[8]).rounds(), 3);
/// ```
#[collective(all_reduce, in_place, chunks = 1, build(ranks = 8))]
pub fn allreduce_swing(p: &Program, ranks: usize) {
    if !p.require(ranks.is_power_of_two(), "the number of ranks must be a power of two") {
        return;
    }
    for rank in 0..ranks {
        p.chunk(rank, Input, 0).copy_to(rank, Output, 0);
    }
    for step in 0..ranks.ilog2() {
        let rho = (1 - (-2isize).pow(step + 1)) / 3;
        let partner = |rank: usize| {
            let away = if rank.is_multiple_of(2) { rho } else { -rho };
            (rank as isize + away).rem_euclid(ranks as isize) as usize
        };
        for rank in 0..ranks {
            p.chunk(rank, Output, 0).copy_to(partner(rank), Scratch("arrived"), 0);
        }
        for rank in 0..ranks {
            p.chunk(rank, Output, 0).reduce(p.chunk(rank, Scratch("arrived"), 0));
        }
    }
}

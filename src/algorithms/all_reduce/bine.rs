use super::folding::exchanges_of_all;
use crate::algorithms::catalogue::{Algorithm, Network, Placement};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allreduce_bine::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices: |ranks| vec![vec![ranks]],
    cost: |values| exchanges_of_all(values[0]),
};

/// All-reduce by a Bine (binomial negabinary) butterfly, for latency: recursive doubling with nearer partners.
///
/// In round s rank r exchanges all it has with r + ρ if r is even, r − ρ if it is odd, and both add; ρ = 1, −1, 3, −5, 11, …
/// is the number with s + 1 ones to base −2. The partners are those of
/// [`allreduce_swing`](fn@crate::algorithms::allreduce_swing); what Bine adds is every other number of ranks.
///
/// Choose it for small sizes where ranks that are near by number are near in the network, and links between groups are few.
///
/// Any number of ranks. Of r ranks beyond a power of two, each first gives its data to a neighbour (of the first 2·r, the
/// even ones to the odd ones), and gets the sums at the end. Rounds: log2 n, else ⌊log2 n⌋ + 2, of which one is saved where r = 1. Bytes sent by the busiest
/// rank: S·log2 n, else S·(⌊log2 n⌋ + 1). Time with links of latency α and bandwidth B between any two: rounds · (α + S/B); for
/// powers of two also on a switch.
///
/// Ranks add in different orders: from eight ranks on, sums of floating-point numbers may differ between them in the last bits.
///
/// Source: De Sensi et al., "Bine Trees: Enhancing Collective Operations by Optimizing Communication Locality", SC 2025
/// (arXiv 2508.17311), and the authors' MPICH for numbers of ranks that are no powers of two.
///
/// ```text
///   0 ◀─▶ 1   2 ◀─▶ 3   4 ◀─▶ 5   6 ◀─▶ 7      round 0: ρ = 1
///  ─▶ 0   1 ◀─▶ 2   3 ◀─▶ 4   5 ◀─▶ 6   7 ◀─   round 1: ρ = −1
///   0 ◀─────────────▶ 3                        round 2: ρ = 3; 2 with 5, 4 with 7, 6 with 1
/// ```
#[collective(all_reduce, in_place, chunks = 1, build(ranks = [6, 8]))]
pub fn allreduce_bine(p: &Program, ranks: usize) {
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
    let mut rho = 1isize;
    for _ in 0..core.ilog2() {
        let partner = |number: usize| {
            let away = if number.is_multiple_of(2) { rho } else { -rho };
            rank_of((number as isize + away).rem_euclid(core as isize) as usize)
        };
        for number in 0..core {
            p.chunk(rank_of(number), Output, 0).copy_to(partner(number), Scratch("arrived"), 0);
        }
        for number in 0..core {
            let rank = rank_of(number);
            p.chunk(rank, Output, 0).reduce(p.chunk(rank, Scratch("arrived"), 0));
        }
        // One more digit 1 to base −2.
        rho = 1 - 2 * rho;
    }
    for pair in 0..extra {
        p.chunk(2 * pair + 1, Output, 0).copy_to(2 * pair, Output, 0);
    }
}

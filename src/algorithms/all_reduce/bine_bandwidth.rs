use super::folding::halving_and_doubling;
use crate::algorithms::catalogue::{Algorithm, Network, Placement};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allreduce_bine_bandwidth::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices: |ranks| vec![vec![ranks]],
    cost: |values| halving_and_doubling(values[0]),
};

/// All-reduce by a Bine (binomial negabinary) butterfly, for bandwidth: halving and doubling with nearer partners.
///
/// The partners are those of [`allreduce_bine`](fn@crate::algorithms::allreduce_bine), nearest first; in each round a rank
/// exchanges half of what it still works on, and the same exchanges in reverse order hand the sums out. The chunk with which a
/// rank ends is chosen such that all that it sends in a round is in one piece: the order in which a Bine tree from rank 0
/// reaches the ranks.
///
/// Choose it for middle and large sizes where ranks that are near by number are near in the network, and links between groups
/// are few.
///
/// Any number of ranks. Of r ranks beyond a power of two, each first gives all its data to a neighbour (of the first 2·r,
/// the even ones to the odd ones), and gets the sums at the end. Rounds: 2·log2 n, else 2·⌊log2 n⌋ + 2. Bytes sent by the
/// busiest rank: 2·S·(n−1)/n, else 2·S·(m−1)/m + S with m, the largest power of two below n. Time with links of latency α and
/// bandwidth B between any two: 2·log2(n)·α + 2·S·(n−1)/(n·B), also on a switch; else
/// (2·⌊log2 n⌋ + 2)·α + 2·S·(m−1)/(m·B) + 2·S/B.
///
/// Source: De Sensi et al., "Bine Trees: Enhancing Collective Operations by Optimizing Communication Locality", SC 2025
/// (arXiv 2508.17311), and the authors' MPICH for numbers of ranks that are no powers of two.
///
/// ```text
///   0 ◀─▶ 1   2 ◀─▶ 3   4 ◀─▶ 5   6 ◀─▶ 7      round 0: half of the data
///  ─▶ 0   1 ◀─▶ 2   3 ◀─▶ 4   5 ◀─▶ 6   7 ◀─   round 1: a quarter
///   0 ◀─────────────▶ 3                        round 2: an eighth; 2 with 5, 4 with 7, 6 with 1
/// ```
#[collective(all_reduce, in_place, chunks = 1 << ranks.max(1).ilog2(), build(ranks = [6, 8]))]
pub fn allreduce_bine_bandwidth(p: &Program, ranks: usize) {
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
    let partner = |number: usize, rho: isize| {
        let away = if number.is_multiple_of(2) { rho } else { -rho };
        (number as isize + away).rem_euclid(core as isize) as usize
    };
    // ρ of each round: numbers of ones only, to base −2.
    let rhos: Vec<isize> =
        std::iter::successors(Some(1), |rho| Some(1 - 2 * rho)).take(core.ilog2() as usize).collect();

    // In a round those who have been reached reach their partners, who lie half of the rest further.
    let mut own = vec![0; core];
    let mut reached = vec![0];
    let mut half = core;
    for rho in &rhos {
        half /= 2;
        for i in 0..reached.len() {
            let next = partner(reached[i], *rho);
            own[next] = own[reached[i]] + half;
            reached.push(next);
        }
    }

    let mut count = core;
    for rho in &rhos {
        count /= 2;
        for (number, chunk) in own.iter().enumerate() {
            let kept = chunk / count * count;
            let (rank, peer) = (rank_of(number), rank_of(partner(number, *rho)));
            p.chunks(rank, Output, kept, count).reduce(p.chunks(peer, Output, kept, count));
        }
    }
    for rho in rhos.iter().rev() {
        for (number, chunk) in own.iter().enumerate() {
            let held = chunk / count * count;
            let (rank, peer) = (rank_of(number), rank_of(partner(number, *rho)));
            p.chunks(rank, Output, held, count).copy_to(peer, Output, held);
        }
        count *= 2;
    }
    for pair in 0..extra {
        p.chunks(2 * pair + 1, Output, 0, core).copy_to(2 * pair, Output, 0);
    }
}

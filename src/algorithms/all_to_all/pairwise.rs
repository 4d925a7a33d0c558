use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: alltoall_pairwise::DEF,
    ranks: "any",
    placement: Placement::OutOfPlace,
    network: Network::Switch,
    choices: |ranks| vec![vec![ranks]],
    cost: |values| Cost::rounds_of([(values[0] - 1, one_of(values[0]))]),
};

/// All-to-all in n−1 rounds: in round t every rank sends to the rank t behind it, and to no other.
///
/// A part leaves from one buffer of its size, which is free again when the message is delivered: so a rank sends one part at a
/// time, and gets one, and no receiver is crowded.
///
/// Choose it for large parts where a rank has one link to the others: a network card on a switch.
///
/// Any number of ranks, out of place: in place what arrives would replace what has not been sent yet. S is what a rank sends in
/// all, its own part included. Rounds: n−1. Bytes sent by each rank: S·(n−1)/n, the least possible. Time between equally
/// distant ranks: (n−1)·(α + S/(n·B)).
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH", 2005.
///
/// ```text
///   0 ──▶ 1 ──▶ 2 ──▶ 3 ──▶ 0                round 1
///   0 ────────▶ 2 ────────▶ 0                round 2 (1 and 3 too)
///   0 ──────────────▶ 3                      round 3 (all the others too)
/// ```
///
/// ```
/// use collective::algorithms::{self, alltoall_pairwise};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(alltoall_pairwise, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("alltoall_pairwise").unwrap().cost(&[8]).rounds(), 7);
/// ```
#[collective(all_to_all, build(ranks = 8))]
pub fn alltoall_pairwise(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        p.chunk(rank, Input, rank).copy_to(rank, Output, rank);
    }
    for round in 1..ranks {
        for rank in 0..ranks {
            let peer = (rank + round) % ranks;
            let outgoing = p.chunk(rank, Input, peer).copy_to(rank, Scratch("outgoing"), 0);
            outgoing.copy_to(peer, Output, rank);
        }
    }
}

use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, share};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: alltoall_bruck::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::Switch,
    choices: |ranks| vec![vec![ranks]],
    cost: |values| {
        let ranks = values[0];
        let bits = (0..usize::BITS).map(|round| 1 << round).take_while(|bit| *bit < ranks);
        // As many as there are numbers below n with the bit set.
        let moved = |bit: usize| ranks / (2 * bit) * bit + (ranks % (2 * bit)).saturating_sub(bit);
        Cost::rounds_of(bits.map(|bit| (1, share(moved(bit), ranks))))
    },
};

/// All-to-all in ⌈log2 n⌉ rounds: a part travels its distance in hops of 1, 2, 4, …
///
/// First every rank sorts its parts by the distance to their receivers. In round k it sends on those whose distance has bit k
/// set to the rank 2^k behind it, in one message. At the end a part lies where its distance tells who sent it.
///
/// Choose it for small parts, where the number of messages counts: a part is sent about log2(n)/2 times.
///
/// Any number of ranks. S is what a rank sends in all, its own part included. Rounds: ⌈log2 n⌉. Bytes sent by each rank: S/n
/// times the sum over the bits of how many numbers below n have it set, S/2·log2 n for powers of two. Time between equally
/// distant ranks: ⌈log2 n⌉·α + these bytes/B.
///
/// Source: Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient Algorithms for All-to-All Communications in Multiport
/// Message-Passing Systems", 1997.
///
/// ```text
///   0 ──▶ 1 ──▶ 2 ──▶ 3 ──▶ 0      round 0: the parts with distance 1 and 3
///   0 ────────▶ 2 ────────▶ 0      round 1: those with 2 and 3
///         1 ────────▶ 3 ────────▶ 1
/// ```
///
/// ```
/// use collective::algorithms::{self, alltoall_bruck};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(alltoall_bruck, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("alltoall_bruck").unwrap().cost(&[8]).rounds(), 3);
/// ```
#[collective(all_to_all, in_place, build(ranks = 8))]
pub fn alltoall_bruck(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        p.chunks(rank, Input, rank, ranks - rank).copy_to(rank, Scratch("parts"), 0);
        if rank > 0 {
            p.chunks(rank, Input, 0, rank).copy_to(rank, Scratch("parts"), ranks - rank);
        }
    }
    let mut hop = 1;
    while hop < ranks {
        let moved: Vec<usize> = (0..ranks).filter(|distance| distance & hop != 0).collect();
        for rank in 0..ranks {
            for (place, distance) in moved.iter().enumerate() {
                p.chunk(rank, Scratch("parts"), *distance).copy_to(rank, Scratch("outgoing"), place);
            }
        }
        for rank in 0..ranks {
            let peer = (rank + hop) % ranks;
            p.chunks(rank, Scratch("outgoing"), 0, moved.len()).copy_to(peer, Scratch("incoming"), 0);
            for (place, distance) in moved.iter().enumerate() {
                p.chunk(peer, Scratch("incoming"), place).copy_to(peer, Scratch("parts"), *distance);
            }
        }
        hop *= 2;
    }
    for rank in 0..ranks {
        for distance in 0..ranks {
            let from = (rank + ranks - distance) % ranks;
            p.chunk(rank, Scratch("parts"), distance).copy_to(rank, Output, from);
        }
    }
}

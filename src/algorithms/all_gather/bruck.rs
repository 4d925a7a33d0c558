use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, share};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allgather_bruck::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::Switch,
    choices: |ranks| vec![vec![ranks]],
    cost: |values| {
        let ranks = values[0];
        let held = (0..usize::BITS).map(|round| 1 << round).take_while(|held| *held < ranks);
        Cost::rounds_of(held.map(|held| (1, share(held.min(ranks - held), ranks))))
    },
};

/// All-gather in ⌈log2 n⌉ rounds for any number of ranks: what a rank holds doubles with every round.
///
/// A rank gathers in the order in which it meets the others: its own data first, then those of the ranks after it. In
/// round k it sends all of that, or as much as is still missing, to the rank 2^k before it. At the end it turns what it has
/// gathered to the order of the ranks.
///
/// Choose it for small sizes on numbers of ranks that are not powers of two, where any two ranks are equally far apart. The
/// last rounds send most and farthest: where distance costs, take `allgather_pat`.
///
/// Any number of ranks. S is the gathered size. Rounds: ⌈log2 n⌉. Bytes sent by each rank: S·(n−1)/n, the least possible.
/// Time between equally distant ranks: ⌈log2 n⌉·α + S·(n−1)/(n·B).
///
/// Each message leaves from one buffer, which is free again when the message is delivered: so a rank sends one at a
/// time, as the rounds of the paper say, also where the last round has nothing to wait for.
///
/// Source: Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient Algorithms for All-to-All Communications in Multiport
/// Message-Passing Systems", 1997.
///
/// ```text
///   0 ◀── 1 ◀── 2 ◀── 3 ◀── 4 ◀── 0      round 0: one chunk
///   0 ◀──────── 2 ◀──────── 4            round 1: two (1 ◀── 3 ◀── 0 as well)
///   0 ◀──────────────────── 4            round 2: the one that is missing
/// ```
#[collective(all_gather, in_place, build(ranks = [5, 8]))]
pub fn allgather_bruck(p: &Program, ranks: usize) {
    for rank in 0..ranks {
        p.chunk(rank, Input, 0).copy_to(rank, Scratch("gathered"), 0);
    }
    let mut held = 1;
    while held < ranks {
        let missing = ranks - held;
        for rank in 0..ranks {
            let sent = p.chunks(rank, Scratch("gathered"), 0, held.min(missing));
            let outgoing = sent.copy_to(rank, Scratch("outgoing"), 0);
            outgoing.copy_to((rank + missing) % ranks, Scratch("gathered"), held);
        }
        held *= 2;
    }
    // The data of rank q lie q − rank places behind the own.
    for rank in 0..ranks {
        p.chunks(rank, Scratch("gathered"), 0, ranks - rank).copy_to(rank, Output, rank);
        if rank > 0 {
            p.chunks(rank, Scratch("gathered"), ranks - rank, rank).copy_to(rank, Output, 0);
        }
    }
}

use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of};
use crate::algorithms::rooted::rounds;
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: barrier_dissemination::DEF,
    ranks: "any",
    placement: Placement::Both,
    network: Network::Switch,
    choices: |ranks| vec![vec![ranks]],
    cost: |values| Cost::rounds_of([(rounds(values[0]), one_of(1))]),
};

/// Barrier by dissemination: in round k every rank tells the rank 2^k further on of all that it has heard of.
///
/// Nobody collects and nobody announces. In the last round of a number of ranks that is no power of two a rank hears of some
/// a second time.
///
/// Choose it always: no barrier in which a rank sends one message at a time has fewer rounds.
///
/// Any number of ranks. S is the size of a token, which need be no larger than one element. Rounds: ⌈log2 n⌉. Bytes sent by
/// each rank: S·⌈log2 n⌉. Time on a switch with links of latency α/2 and bandwidth B: ⌈log2 n⌉·(α + S/B).
///
/// Source: Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", 1988.
///
/// ```text
///   0 ─▶ 1 ─▶ 2 ─▶ 3 ─▶ 4 ─▶ 0              round 0: 1 further on
///   0 ─▶ 2 ─▶ 4 ─▶ 1 ─▶ 3 ─▶ 0              round 1: 2 further on
///   0 ─▶ 4 ─▶ 3 ─▶ 2 ─▶ 1 ─▶ 0              round 2: 4 further on
/// ```
///
/// ```
/// use collective::algorithms::{self, barrier_dissemination};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(barrier_dissemination, ranks = [5, 8]);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("barrier_dissemination").unwrap().cost(&[8]).rounds(), 3);
/// ```
#[collective(barrier, in_place, build(ranks = 8))]
pub fn barrier_dissemination(p: &Program, ranks: usize) {
    let mut known: Vec<ChunkRef<'_>> = Vec::new();
    for rank in 0..ranks {
        known.push(p.chunk(rank, Input, 0).copy_to(rank, Output, 0));
    }
    let mut distance = 1;
    while distance < ranks {
        // All tell before anybody adds what he hears.
        let mut heard: Vec<ChunkRef<'_>> = Vec::new();
        for rank in 0..ranks {
            heard.push(known[(rank + ranks - distance) % ranks].copy_to(rank, Scratch("heard"), 0));
        }
        for rank in 0..ranks {
            known[rank] = known[rank].reduce(heard[rank]);
        }
        distance *= 2;
    }
}

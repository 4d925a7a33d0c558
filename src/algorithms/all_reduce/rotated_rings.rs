use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, divisors, one_of};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allreduce_rotated_rings::DEF,
    ranks: "multiples of `gpus`",
    placement: Placement::Both,
    network: Network::Switch,
    // More cards than that no node has.
    choices: |ranks| divisors(ranks).filter(|gpus| *gpus <= 16).map(|gpus| vec![ranks, gpus]).collect(),
    cost: |values| {
        let ranks = values[0];
        Cost::rounds_of([(2 * (ranks - 1), one_of(ranks))])
    },
};

/// All-reduce by as many rings as a node has GPUs, so that every network card carries one.
///
/// Ring j visits the GPUs of a node beginning with GPU j and leaves for the next node's GPU j: a flat ring would
/// cross from node to node through the cards of one GPU only. Each ring has its own channel and an equal
/// share of the data.
///
/// Any number of ranks that is a multiple of `gpus`, the number of GPUs in a node; rank = node·gpus + GPU.
/// Rounds: 2(n−1). Bytes sent by each rank: 2·S·(n−1)/n; of these over each card 2·S·(n−1)/(n·gpus). Time on a switch
/// with links of latency α/2 and bandwidth B: 2(n−1)·(α + S/(n·B)).
///
/// Choose it for large sizes on nodes with a network card for each GPU.
///
/// Source: NCCL's rings on nodes with several network cards.
///
/// ```text
///   ring 0:  0 ▶ 1 ▶ 2 ▶ 3 ═▶ 4 ▶ 5 ▶ 6 ▶ 7 ═▶ 0      ═▶ between nodes, to GPU 0
///   ring 1:  1 ▶ 2 ▶ 3 ▶ 0 ═▶ 5 ▶ 6 ▶ 7 ▶ 4 ═▶ 1      ═▶ between nodes, to GPU 1
/// ```
///
/// ```
/// use collective::algorithms::{self, allreduce_rotated_rings};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(allreduce_rotated_rings, ranks = 8, gpus = 8);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("allreduce_rotated_rings").unwrap().cost(&[8, 8]).rounds(), 14);
/// ```
#[collective(all_reduce, in_place, chunks = ranks * gpus, defaults(gpus = 8), build(ranks = 4, gpus = 2))]
pub fn allreduce_rotated_rings(p: &Program, ranks: usize, gpus: usize) {
    if !p.require(ranks.is_multiple_of(gpus), "the number of ranks must be a multiple of `gpus`") {
        return;
    }
    // The rank at a position of a ring.
    fn at(position: usize, ring: usize, ranks: usize, gpus: usize) -> usize {
        let position = position % ranks;
        position / gpus * gpus + (position % gpus + ring) % gpus
    }
    for ring in 0..gpus {
        for start in 0..ranks {
            let index = ring * ranks + start;
            for rank in 0..ranks {
                p.chunk(rank, Input, index).copy_to(rank, Output, index);
            }
            let mut sum = p.chunk(at(start, ring, ranks, gpus), Output, index).on_channel(ring);
            for step in 1..ranks {
                sum = p.chunk(at(start + step, ring, ranks, gpus), Output, index).reduce(sum);
            }
            for step in 0..ranks - 1 {
                sum = sum.copy_to(at(start + step, ring, ranks, gpus), Output, index);
            }
        }
    }
}

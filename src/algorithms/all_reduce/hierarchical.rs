use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, divisors, one_of, share};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: allreduce_hierarchical::DEF,
    ranks: "multiples of `gpus`",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices: |ranks| divisors(ranks).map(|gpus| vec![ranks, gpus]).collect(),
    cost: |values| {
        let (ranks, gpus) = (values[0], values[1]);
        let nodes = ranks / gpus;
        let inside = usize::from(gpus > 1);
        Cost::rounds_of([(2 * inside, one_of(gpus)), (2 * (nodes - 1), one_of(ranks))])
            .with_sent(share(2 * (ranks - 1), ranks))
    },
};

/// All-reduce on two levels: add up inside each node, all-reduce between nodes, hand out inside each node.
///
/// The data are cut into one piece a GPU of a node. Inside a node every GPU collects its piece from all
/// others directly (a reduce-scatter); the GPUs of the same number then run a ring over the nodes on their
/// piece; at last every GPU gives its piece to the others of its node (an all-gather).
///
/// Choose it where nodes are fast inside and slow between: each network card carries only
/// 2·S·(nodes−1)/(nodes·gpus) bytes, in 2(nodes−1) rounds.
///
/// Any number of ranks that is a multiple of `gpus`, the number of GPUs in a node; rank = node·gpus + GPU.
/// Rounds: 2 inside (with gpus−1 messages a GPU at once) and 2(nodes−1) between nodes. Bytes sent by each rank:
/// 2·S·(n−1)/n. Time, with links of latency α and bandwidth B between any two: 2·(α + S/(gpus·B)) +
/// 2(nodes−1)·(α + S/(n·B)).
///
/// Source: Cho et al., "BlueConnect: Decomposing All-Reduce for Deep Learning on Heterogeneous Network
/// Hierarchy", MLSys 2019.
///
/// ```text
///   node 0    GPU 0 ◀─▶ GPU 1 ◀─▶ GPU 2       reduce-scatter, at the end all-gather
///               │         │         │
///               ▼         ▼         ▼         a ring over the nodes for each piece
///   node 1    GPU 0 ◀─▶ GPU 1 ◀─▶ GPU 2
/// ```
#[collective(all_reduce, in_place, defaults(gpus = 8), build(ranks = 8, gpus = 4))]
pub fn allreduce_hierarchical(p: &Program, ranks: usize, gpus: usize) {
    if !p.require(ranks.is_multiple_of(gpus), "the number of ranks must be a multiple of `gpus`") {
        return;
    }
    let nodes = ranks / gpus;
    for rank in 0..ranks {
        p.chunks(rank, Input, 0, ranks).copy_to(rank, Output, 0);
    }
    // Piece g of the data is the chunks g·nodes .. (g + 1)·nodes.
    for node in 0..nodes {
        for gpu in 0..gpus {
            let mut sum = p.chunks(node * gpus + gpu, Output, gpu * nodes, nodes);
            for distance in 1..gpus {
                let from = node * gpus + (gpu + distance) % gpus;
                sum = sum.reduce(p.chunks(from, Output, gpu * nodes, nodes));
            }
        }
    }
    for gpu in 0..gpus {
        for start in 0..nodes {
            let index = gpu * nodes + start;
            let mut sum = p.chunk(start * gpus + gpu, Output, index);
            for step in 1..nodes {
                sum = p.chunk((start + step) % nodes * gpus + gpu, Output, index).reduce(sum);
            }
            for step in 0..nodes - 1 {
                sum = sum.copy_to((start + step) % nodes * gpus + gpu, Output, index);
            }
        }
    }
    for node in 0..nodes {
        for gpu in 0..gpus {
            let piece = p.chunks(node * gpus + gpu, Output, gpu * nodes, nodes);
            for distance in 1..gpus {
                piece.copy_to(node * gpus + (gpu + gpus - distance) % gpus, Output, gpu * nodes);
            }
        }
    }
}

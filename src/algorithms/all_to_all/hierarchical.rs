use super::node_sizes;
use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, one_of};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: alltoall_hierarchical::DEF,
    ranks: "multiples of `gpus`·`racks`",
    placement: Placement::Both,
    network: Network::Switch,
    choices: |ranks| {
        let flat = node_sizes(ranks).map(|gpus| vec![ranks, gpus, 1]);
        // Two racks of at least two nodes each.
        let gpus =
            node_sizes(ranks).find(|gpus| *gpus > 1 && ranks > 2 * gpus && ranks.is_multiple_of(2 * gpus));
        flat.chain(gpus.map(|gpus| vec![ranks, gpus, 2])).collect()
    },
    cost: |values| {
        let (ranks, gpus, racks) = (values[0], values[1], values[2]);
        let sizes = [gpus, ranks / (gpus * racks), racks];
        Cost::rounds_of(sizes.map(|size| (size - 1, one_of(size))))
    },
};

/// All-to-all dimension by dimension: pairwise exchange inside each node, then between the nodes of a rack, then between racks.
///
/// In a dimension every rank exchanges with the ranks that differ from it in this coordinate only: it sends each of them all that
/// goes to a rank with its coordinate. What a rank holds then has come as far as this dimension goes.
///
/// Choose it on networks of several dimensions (nodes and racks, or a torus) for small and middle parts: there are fewer
/// rounds than in `alltoall_pairwise`, and every message crosses one dimension only.
///
/// Any number of ranks that is a multiple of `gpus`·`racks`; rank = (rack·nodes + node)·gpus + GPU, with nodes = n/(gpus·racks). S
/// is what a rank sends in all, its own part included. Rounds: the sum over the dimensions of size d of d−1. Bytes sent by each
/// rank: the sum of S·(d−1)/d. Time between equally distant ranks: the sum of (d−1)·(α + S/(d·B)).
///
/// Each message leaves from one buffer, which is free again when the message is delivered: so a rank sends one at a time.
///
/// Source: Bokhari and Berryman, "Complete Exchange on a Circuit Switched Mesh", 1992; on nodes of GPUs, Hwang et al., "Tutel:
/// Adaptive Mixture-of-Experts at Scale", MLSys 2023.
///
/// ```text
///   node 0    GPU 0 ◀─▶ GPU 1 ◀─▶ GPU 2       first: all for GPUs of one number, on any node
///               ▲         ▲         ▲
///               │         │         │         then: all for one node, between GPUs of one number
///               ▼         ▼         ▼
///   node 1    GPU 0 ◀─▶ GPU 1 ◀─▶ GPU 2
/// ```
///
/// ```
/// use collective::algorithms::{self, alltoall_hierarchical};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(alltoall_hierarchical, ranks = 8, gpus = 8, racks = 1);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("alltoall_hierarchical").unwrap().cost(&[8, 8, 1]).rounds(), 7);
/// ```
#[collective(
    all_to_all,
    in_place,
    defaults(gpus = 8, racks = 1),
    build(ranks = 8, gpus = 4),
    build(ranks = 8, gpus = 2, racks = 2)
)]
pub fn alltoall_hierarchical(p: &Program, ranks: usize, gpus: usize, racks: usize) {
    let whole = ranks.is_multiple_of(gpus * racks);
    if !p.require(whole, "the number of ranks must be a multiple of `gpus`·`racks`") {
        return;
    }
    // A part lies at the number of the rank that it goes to; exchanging along a dimension turns this coordinate of the
    // number into that of the rank that it comes from.
    let buffers = [Input, Scratch("collected in the node"), Scratch("collected in the rack"), Output];
    let sizes = [gpus, ranks / (gpus * racks), racks];
    let mut stride = 1;
    for (dimension, size) in sizes.into_iter().enumerate() {
        let (before, after) = (buffers[dimension], buffers[dimension + 1]);
        // The parts with a coordinate lie in runs of `stride`.
        let runs = move |coordinate: usize| {
            (0..ranks / (stride * size)).map(move |run| (run * size + coordinate) * stride)
        };
        for round in 0..size {
            for rank in 0..ranks {
                let own = rank / stride % size;
                let other = (own + round) % size;
                if round == 0 {
                    for start in runs(own) {
                        p.chunks(rank, before, start, stride).copy_to(rank, after, start);
                    }
                    continue;
                }
                let peer = rank - own * stride + other * stride;
                for (place, start) in runs(other).enumerate() {
                    p.chunks(rank, before, start, stride).copy_to(rank, Scratch("outgoing"), place * stride);
                }
                let count = ranks / size;
                p.chunks(rank, Scratch("outgoing"), 0, count).copy_to(peer, Scratch("incoming"), 0);
                for (place, start) in runs(own).enumerate() {
                    p.chunks(peer, Scratch("incoming"), place * stride, stride).copy_to(peer, after, start);
                }
            }
        }
        stride *= size;
    }
}

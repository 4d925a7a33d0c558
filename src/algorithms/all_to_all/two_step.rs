use super::node_sizes;
use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, share};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: alltoall_two_step::DEF,
    ranks: "multiples of `gpus`",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices: |ranks| node_sizes(ranks).map(|gpus| vec![ranks, gpus]).collect(),
    cost: |values| {
        let (ranks, gpus) = (values[0], values[1]);
        let nodes = ranks / gpus;
        let inside = (usize::from(gpus > 1), share(nodes, ranks));
        let between = (usize::from(nodes > 1), share(gpus, ranks));
        let sent = nodes * (gpus - 1) + (nodes - 1) * gpus;
        Cost::rounds_of([inside, between]).with_sent(share(sent, ranks))
    },
};

/// All-to-all on nodes in two steps: collect inside each node what goes to one GPU over there, then send it in one message.
///
/// In the first step every GPU gives the GPU of number g on its node all that it has for the GPUs of number g on any node. That
/// one sorts it by node, and sends each node its share.
///
/// Choose it where messages between nodes are dear: a GPU sends nodes−1 of them, `gpus` parts each, to GPUs of its own number
/// only (one rail of the network), where `alltoall_direct` sends gpus·(nodes−1) of one part to all.
///
/// Any number of ranks that is a multiple of `gpus`, the number of GPUs in a node; rank = node·gpus + GPU. S is what a rank sends
/// in all, its own part included. Rounds: 2, with gpus−1 messages a rank at once, then nodes−1. Bytes sent by each rank:
/// S·(gpus−1)/gpus inside the node and S·(nodes−1)/nodes between nodes. Time, with links of latency α and bandwidth B between
/// any two: α + S/(gpus·B) + α + S/(nodes·B).
///
/// Source: Cowan et al., "MSCCLang: Microsoft Collective Communication Language", 2023. There each part is a message of its own
/// in the first step; here they are put together, so that both steps are one round.
///
/// ```text
///   node 0    GPU 0 ◀─▶ GPU 1      first: what goes to GPUs 0 of all nodes, and to GPUs 1
///               ▲         ▲
///               │         │        then: one message a node, between GPUs of one number
///               ▼         ▼
///   node 1    GPU 0 ◀─▶ GPU 1
/// ```
///
/// ```
/// use collective::algorithms::{self, alltoall_two_step};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(alltoall_two_step, ranks = 8, gpus = 8);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("alltoall_two_step").unwrap().cost(&[8, 8]).rounds(), 1);
/// ```
#[collective(all_to_all, in_place, defaults(gpus = 8), build(ranks = 8, gpus = 4))]
pub fn alltoall_two_step(p: &Program, ranks: usize, gpus: usize) {
    if !p.require(ranks.is_multiple_of(gpus), "the number of ranks must be a multiple of `gpus`") {
        return;
    }
    let nodes = ranks / gpus;
    for rank in 0..ranks {
        let (node, gpu) = (rank / gpus, rank % gpus);
        for to in 0..gpus {
            for other in 0..nodes {
                let part = p.chunk(rank, Input, other * gpus + to);
                part.copy_to(rank, Scratch("outgoing"), to * nodes + other);
            }
            let outgoing = p.chunks(rank, Scratch("outgoing"), to * nodes, nodes);
            outgoing.copy_to(node * gpus + to, Scratch("incoming"), gpu * nodes);
        }
    }
    for rank in 0..ranks {
        let (node, gpu) = (rank / gpus, rank % gpus);
        for other in 0..nodes {
            for from in 0..gpus {
                let part = p.chunk(rank, Scratch("incoming"), from * nodes + other);
                part.copy_to(rank, Scratch("collected"), other * gpus + from);
            }
            let collected = p.chunks(rank, Scratch("collected"), other * gpus, gpus);
            collected.copy_to(other * gpus + gpu, Output, node * gpus);
        }
    }
}

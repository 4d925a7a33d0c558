use super::node_sizes;
use crate::algorithms::catalogue::{Algorithm, Cost, Network, Placement, share};
use crate::prelude::*;

pub(super) const ENTRY: Algorithm = Algorithm {
    def: alltoall_three_step::DEF,
    ranks: "multiples of `gpus`",
    placement: Placement::Both,
    network: Network::FullyConnected,
    choices: |ranks| node_sizes(ranks).map(|gpus| vec![ranks, gpus]).collect(),
    cost: |values| {
        let (ranks, gpus) = (values[0], values[1]);
        let others = ranks / gpus - 1;
        let each = others.div_ceil(gpus);
        let (inside, between) = (usize::from(gpus > 1), usize::from(others > 0));
        let collect = (inside, share(each * gpus + 1, ranks));
        let exchange = (between, share(gpus * gpus, ranks));
        let hand_out = (inside * between, share(each * gpus, ranks));
        // By the first GPU of a node: parts for its node; for other leaders; between nodes; handed out.
        let sent = gpus - 1 + (others - each) * gpus + each * gpus * gpus + each * gpus * (gpus - 1);
        Cost::rounds_of([collect, exchange, hand_out]).with_sent(share(sent, ranks))
    },
};

/// All-to-all on nodes in three steps: one message from node to node, for which one GPU of a node collects from all others.
///
/// The other nodes are divided among the GPUs of a node, its *leaders*. First every GPU gives each leader what it has for the
/// leader's nodes, and each GPU of its own node its part. A leader sorts what it gets by node, and sends each node all of it, to
/// the leader that this node has for the first. That one hands it out.
///
/// Choose it where messages between nodes are very dear, and parts are small: there are nodes−1 of them a *node*, of gpus²
/// parts each. For larger parts `alltoall_two_step` uses all network cards alike.
///
/// Any number of ranks that is a multiple of `gpus`, the number of GPUs in a node; rank = node·gpus + GPU. S is what a rank sends
/// in all, its own part included. Rounds: 3. Bytes sent by the busiest rank, with e = ⌈(nodes−1)/gpus⌉ nodes a leader: S/n times
/// gpus − 1 + (nodes−1−e)·gpus + e·gpus·(2·gpus−1). Time, with links of latency α and bandwidth B between any two:
/// 3·α + (e·gpus + 1 + gpus² + e·gpus)·S/(n·B).
///
/// Source: msccl-tools, `alltoall_a100_three_step`. There parts are handed out one by one; here those of one receiver go
/// together, so that the third step is one round.
///
/// ```text
///   node 0    GPU 0 ◀─▶ GPU 1 ◀─▶ GPU 2       first: to the leaders, at the end: from the leaders
///               ▲         ▲
///               │         └─────────────▶ node 2
///               ▼
///   node 1    GPU 0 ◀─▶ GPU 1 ◀─▶ GPU 2       (GPU 1 is the leader for node 2 here too)
/// ```
///
/// ```
/// use collective::algorithms::{self, alltoall_three_step};
///
/// // Verified by all rules, and run on data.
/// collective::assert_correct!(alltoall_three_step, ranks = 8, gpus = 8);
/// // Among 8 ranks, so many messages follow one another.
/// assert_eq!(algorithms::find("alltoall_three_step").unwrap().cost(&[8, 8]).rounds(), 1);
/// ```
#[collective(all_to_all, in_place, defaults(gpus = 8), build(ranks = 8, gpus = 2))]
pub fn alltoall_three_step(p: &Program, ranks: usize, gpus: usize) {
    if !p.require(ranks.is_multiple_of(gpus), "the number of ranks must be a multiple of `gpus`") {
        return;
    }
    let nodes = ranks / gpus;
    let others = nodes - 1;
    // Nodes that a leader has, except perhaps the last.
    let each = others.div_ceil(gpus).max(1);
    let leader_of = |slot: usize| slot / each;
    let slots_of = |leader: usize| (leader * each).min(others)..((leader + 1) * each).min(others);
    // A node's slots are the other nodes in their order.
    let node_at = |node: usize, slot: usize| if slot < node { slot } else { slot + 1 };
    let slot_of = |node: usize, other: usize| if other < node { other } else { other - 1 };

    for rank in 0..ranks {
        let (node, gpu) = (rank / gpus, rank % gpus);
        for slot in 0..others {
            let parts = p.chunks(rank, Input, node_at(node, slot) * gpus, gpus);
            parts.copy_to(rank, Scratch("outgoing"), slot * gpus);
        }
        let own = p.chunks(rank, Input, node * gpus, gpus);
        own.copy_to(rank, Scratch("outgoing"), others * gpus);
        for leader in 0..gpus {
            let slots = slots_of(leader);
            if !slots.is_empty() {
                let parts = p.chunks(rank, Scratch("outgoing"), slots.start * gpus, slots.len() * gpus);
                parts.copy_to(node * gpus + leader, Scratch("collected"), gpu * each * gpus);
            }
        }
    }
    for rank in 0..ranks {
        let (node, gpu) = (rank / gpus, rank % gpus);
        for to in 0..gpus {
            // Beside what goes to the leaders, not after it.
            let part = p.chunk(rank, Scratch("outgoing"), others * gpus + to).on_channel(1);
            part.copy_to(node * gpus + to, Output, rank);
        }
        for slot in slots_of(gpu) {
            let (other, place) = (node_at(node, slot), slot % each);
            for from in 0..gpus {
                let parts = p.chunks(rank, Scratch("collected"), (from * each + place) * gpus, gpus);
                parts.copy_to(rank, Scratch("sorted"), (place * gpus + from) * gpus);
            }
            let back = slot_of(other, node);
            let sorted = p.chunks(rank, Scratch("sorted"), place * gpus * gpus, gpus * gpus);
            sorted.copy_to(other * gpus + leader_of(back), Scratch("arrived"), back % each * gpus * gpus);
        }
    }
    for rank in 0..ranks {
        let (node, leader) = (rank / gpus, rank % gpus);
        let slots = slots_of(leader);
        if slots.is_empty() {
            continue;
        }
        for to in 0..gpus {
            for slot in slots.clone() {
                for from in 0..gpus {
                    let part = p.chunk(rank, Scratch("arrived"), (slot % each * gpus + from) * gpus + to);
                    part.copy_to(rank, Scratch("handed out"), (to * each + slot % each) * gpus + from);
                }
            }
            let receiver = node * gpus + to;
            let parts = p.chunks(rank, Scratch("handed out"), to * each * gpus, slots.len() * gpus);
            parts.copy_to(receiver, Scratch("incoming"), slots.start * gpus);
            for slot in slots.clone() {
                let parts = p.chunks(receiver, Scratch("incoming"), slot * gpus, gpus);
                parts.copy_to(receiver, Output, node_at(node, slot) * gpus);
            }
        }
    }
}

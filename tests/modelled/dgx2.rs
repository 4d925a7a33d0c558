//! Two DGX-2 as TE-CCL describes them, and an all-to-all on them.

use collective::prelude::*;
use collective::sim::topology::{LinkList, Node, Topology};

use crate::epochs::Epochs;

/// GPUs of a chassis.
const GPUS: usize = 16;

/// Each chassis: 16 GPUs on a switch, 125 GB/s and 0.35 µs to it and from it. Between the chassis: eight links of 12.5 GB/s and
/// 2.6 µs each way, from each odd GPU to the even one before it on the other side.
pub(crate) fn topology(epochs: &Epochs) -> Topology {
    let mut list = LinkList::new(2 * GPUS as u32);
    let (inside, between) = (epochs.link(125.0, 350), epochs.link(12.5, 2600));
    for chassis in 0..2 {
        let switch = list.switch(format!("NVSwitch {chassis}"));
        for gpu in 0..GPUS as u32 {
            let rank = Node::Rank(chassis * GPUS as u32 + gpu);
            list.both_ways(rank, switch, inside);
            if gpu % 2 == 1 {
                list.one_way(rank, Node::Rank((1 - chassis) * GPUS as u32 + gpu - 1), between);
            }
        }
    }
    list.build().unwrap()
}

/// Each of the eight links carries what its two GPUs, the odd one and its neighbour, have for the other chassis: 32 chunks, each on a
/// channel of its own, so that the next one leaves while the last one is under way. The sender's own chunks go first, since
/// those of its neighbour have to come to it; what the receiver keeps goes before what it passes on.
#[collective(all_to_all)]
pub(crate) fn alltoall_two_dgx2(p: &Program, ranks: usize) {
    if !p.require(ranks == 2 * GPUS, "there are two chassis") {
        return;
    }
    for chassis in 0..2 {
        let (here, there) = (chassis * GPUS, (1 - chassis) * GPUS);
        for pair in 0..GPUS / 2 {
            let (sender, receiver) = (here + 2 * pair + 1, there + 2 * pair);
            for (place, source) in [sender, sender - 1].into_iter().enumerate() {
                for distance in 0..GPUS {
                    let (slot, to) = (place * GPUS + distance, there + (2 * pair + distance) % GPUS);
                    let mut chunk = p.chunk(source, Input, to).on_channel(slot);
                    if source != sender {
                        chunk = chunk.copy_to(sender, Scratch("outgoing"), distance);
                    }
                    if to != receiver {
                        chunk = chunk.copy_to(receiver, Scratch("incoming"), slot);
                    }
                    chunk.copy_to(to, Output, source);
                }
            }
        }
    }
    for rank in 0..ranks {
        for distance in 0..GPUS {
            let peer = rank / GPUS * GPUS + (rank + distance) % GPUS;
            p.chunk(rank, Input, peer).on_channel(2 * GPUS).copy_to(peer, Output, rank);
        }
    }
}

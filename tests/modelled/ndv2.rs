//! Chassis of NDv2 as TE-CCL describes them, and an all-to-all on them.

use collective::prelude::*;
use collective::sim::topology::{LinkList, Node, Topology};

use crate::epochs::Epochs;

/// GPUs of a chassis.
const GPUS: usize = 8;
/// The GPU from which everything leaves a chassis, and the one at which everything comes in.
const SENDER: usize = 0;
const RECEIVER: usize = 1;

/// The NVLinks of a chassis: two GPUs, and GB/s each way.
const NVLINKS: [(usize, usize, u8); 16] = [
    (0, 1, 50),
    (0, 2, 25),
    (0, 3, 25),
    (0, 4, 50),
    (1, 2, 25),
    (1, 3, 50),
    (1, 5, 25),
    (2, 3, 50),
    (2, 6, 50),
    (3, 7, 25),
    (4, 5, 50),
    (4, 6, 25),
    (4, 7, 25),
    (5, 6, 25),
    (5, 7, 50),
    (6, 7, 50),
];

/// NVLinks of 0.7 µs. Between the chassis InfiniBand of 12.5 GB/s and 1.3 µs a link: for two of them a link each way, for more a
/// switch, with a link from each chassis and one to it.
pub(crate) fn topology(chassis: usize, epochs: &Epochs) -> Topology {
    let mut list = LinkList::new((chassis * GPUS) as u32);
    let rank = |chassis: usize, gpu: usize| Node::Rank((chassis * GPUS + gpu) as u32);
    let infiniband = epochs.link(12.5, 1300);
    for chassis in 0..chassis {
        for (a, b, bandwidth) in NVLINKS {
            list.both_ways(rank(chassis, a), rank(chassis, b), epochs.link(bandwidth.into(), 700));
        }
    }
    if chassis == 2 {
        list.one_way(rank(0, SENDER), rank(1, RECEIVER), infiniband);
        list.one_way(rank(1, SENDER), rank(0, RECEIVER), infiniband);
    } else {
        let switch = list.switch("InfiniBand");
        for chassis in 0..chassis {
            list.one_way(rank(chassis, SENDER), switch, infiniband);
            list.one_way(switch, rank(chassis, RECEIVER), infiniband);
        }
    }
    list.build().unwrap()
}

fn bandwidth(from: usize, to: usize) -> Option<u8> {
    NVLINKS.iter().find(|(a, b, _)| (*a, *b) == (from.min(to), from.max(to))).map(|link| link.2)
}

/// The GPUs that a chunk comes to inside a chassis: directly, or by the one GPU that makes the way widest.
fn way(from: usize, to: usize) -> Vec<usize> {
    if from == to {
        return Vec::new();
    }
    if bandwidth(from, to).is_some() {
        return vec![to];
    }
    let width = |by: usize| bandwidth(from, by).min(bandwidth(by, to));
    let by = (0..GPUS).rev().max_by_key(|by| width(*by)).unwrap();
    vec![by, to]
}

/// One GPU of each chassis sends all that the chassis has for others, another one receives all that comes: a link each for
/// 64 chunks a chassis on the other side. Chunks that are at the sender go first, then those that come to it over one NVLink, then over two.
///
/// What the receiver keeps goes before what it passes on if `near_first` is 1, and after it if it is 0. Of the chunks between two
/// chassis `at_once` are on channels of their own, so that one leaves while the one before is under way.
#[collective(all_to_all)]
pub(crate) fn alltoall_ndv2(p: &Program, ranks: usize, at_once: usize, near_first: usize) {
    let chassis = ranks / GPUS;
    let mut sources: Vec<usize> = (0..GPUS).collect();
    sources.sort_by_key(|gpu| way(*gpu, SENDER).len());
    let mut destinations: Vec<usize> = (0..GPUS).collect();
    destinations.sort_by_key(|gpu| way(RECEIVER, *gpu).len());
    if near_first == 0 {
        destinations.reverse();
    }
    for here in 0..chassis {
        for (index, source) in sources.iter().enumerate() {
            for (turn, to) in destinations.iter().enumerate() {
                // At any time each chassis receives from one other.
                for distance in 1..chassis {
                    let there = (here + distance) % chassis;
                    let slot = (index * GPUS + turn) * (chassis - 1) + distance - 1;
                    let (from, target) = (here * GPUS + source, there * GPUS + to);
                    let outside = way(*source, SENDER).into_iter().map(|gpu| here * GPUS + gpu);
                    let arrival = there * GPUS + RECEIVER;
                    let inside = way(RECEIVER, *to).into_iter().map(|gpu| there * GPUS + gpu);
                    let path: Vec<usize> = outside.chain([arrival]).chain(inside).collect();
                    let chunk = p.chunk(from, Input, target).on_channel(slot % at_once);
                    along(&path, chunk, from * ranks + target, from);
                }
            }
        }
    }
    for rank in 0..ranks {
        for peer in rank / GPUS * GPUS..(rank / GPUS + 1) * GPUS {
            let path: Vec<usize> =
                way(rank % GPUS, peer % GPUS).into_iter().map(|gpu| rank / GPUS * GPUS + gpu).collect();
            let chunk = p.chunk(rank, Input, peer);
            if path.is_empty() {
                chunk.copy_to(rank, Output, rank);
            } else {
                along(&path, chunk.on_channel(at_once), rank * ranks + peer, rank);
            }
        }
    }
}

/// Copies a chunk from rank to rank, and at the last into its output; on the way it lies at `place`.
fn along(path: &[usize], mut chunk: ChunkRef<'_>, place: usize, source: usize) {
    for (hop, rank) in path.iter().enumerate() {
        chunk = if hop + 1 == path.len() {
            chunk.copy_to(*rank, Output, source)
        } else {
            chunk.copy_to(*rank, Scratch("passing"), place)
        };
    }
}

//! All-to-all on nodes: what goes to a GPU of another node is collected by the GPU of the same number on the own node,
//! then sent in one message. Also the program `alltoall_a100_yifan` of the collection `programs`.

use collective_dsl::Buffer::{Input, Output, Scratch};
use collective_dsl::{CollectiveKind, Program, Replication};

use crate::common::{Traced, slot};
use crate::figures::Row;

fn program(p: &Program, nodes: usize, gpus: usize) {
    let rank = |node, gpu| node * gpus + gpu;
    for node in 0..nodes {
        for other in (0..nodes).filter(|other| *other != node) {
            for to in 0..gpus {
                let place = slot(node, other) * gpus;
                for from in 0..gpus {
                    let chunk = p.chunk(rank(node, from), Input, rank(other, to));
                    chunk.copy_to(rank(node, to), Scratch("collected"), place + from);
                }
                let collected = p.chunks(rank(node, to), Scratch("collected"), place, gpus);
                collected.copy_to(rank(other, to), Output, rank(node, 0));
            }
        }
        for (from, to) in (0..gpus * gpus).map(|i| (i / gpus, i % gpus)) {
            let chunk = p.chunk(rank(node, from), Input, rank(node, to));
            chunk.copy_to(rank(node, to), Output, rank(node, from));
        }
    }
}

pub(crate) fn trace(row: &Row) -> Traced {
    let [nodes, gpus] = row.numbers();
    let setting = row.setting(CollectiveKind::AllToAll, 1, Replication::Interleaved);
    setting.trace("", |p| program(p, nodes, gpus))
}

//! All-to-all on nodes: for each other node one GPU collects all that its node sends there, sends it to one GPU over
//! there, and that hands it out. Also the program `alltoall_a100_8kp1` of the collection `programs`.
//!
//! Every chunk is divided into `parts`, which take channels of their own within a node; between two leaders all is
//! sent in `connections` messages.

use collective_dsl::Buffer::{Input, Output, Scratch};
use collective_dsl::{CollectiveKind, Program, Replication, Setting};

use crate::common::{Traced, slot};
use crate::figures::Row;

struct Shape {
    nodes: usize,
    gpus: usize,
    parts: usize,
    connections: usize,
}

fn program(p: &Program, shape: &Shape) {
    let Shape { nodes, gpus, parts, connections } = *shape;
    let rank = |node: usize, gpu: usize| node * gpus + gpu;
    // The GPU of a node that exchanges with another, and which of its exchanges it is.
    let leader = |node, other| (rank(node, slot(node, other) % gpus), slot(node, other) / gpus);
    let run = gpus * parts;
    let all = gpus * run;
    for node in 0..nodes {
        for other in (0..nodes).filter(|other| *other != node) {
            let (leader, exchange) = leader(node, other);
            for (from, part) in (0..run).map(|i| (i / parts, i % parts)) {
                let share = p.chunks(rank(node, from), Input, rank(other, 0) * parts + part * gpus, gpus);
                let place = exchange * all + from * run + part * gpus;
                share.on_channel(2 * part).copy_to(leader, Scratch("collected"), place);
            }
        }
    }
    for node in 0..nodes {
        for other in (0..nodes).filter(|other| *other != node) {
            let ((from, sent), (to, received)) = (leader(node, other), leader(other, node));
            let all_chunks = p.chunks(from, Scratch("collected"), sent * all, all);
            for (i, share) in all_chunks.split(connections).into_iter().enumerate() {
                let place = received * all + i * share.count();
                share.on_channel((from + i) % 2).copy_to(to, Scratch("arrived"), place);
            }
        }
    }
    for node in 0..nodes {
        for other in (0..nodes).filter(|other| *other != node) {
            let (leader, exchange) = leader(node, other);
            for (from, to) in (0..gpus * gpus).map(|i| (i / gpus, i % gpus)) {
                let place = exchange * all + from * run + to * parts;
                let part = from * connections / gpus;
                let chunk = p.chunks(leader, Scratch("arrived"), place, parts).on_channel(2 * part + 1);
                chunk.copy_to(rank(node, to), Output, rank(other, from) * parts);
            }
        }
    }
    for node in 0..nodes {
        for (from, to) in (0..gpus * gpus).map(|i| (i / gpus, i % gpus)) {
            for part in 0..parts {
                let chunk = p.chunk(rank(node, from), Input, rank(node, to) * parts + part);
                chunk.on_channel(2 * part).copy_to(rank(node, to), Output, rank(node, from) * parts + part);
            }
        }
    }
}

pub(crate) fn trace(row: &Row) -> Traced {
    let (nodes, gpus, parts) = match *row.args {
        [nodes, gpus, parts] => (nodes, gpus, parts),
        _ => (row.args[0], row.args[1], 1),
    };
    let connections = if row.variant == "ib_connections 1" { 1 } else { parts };
    let setting = row.setting(CollectiveKind::AllToAll, 1, Replication::Interleaved);
    let shape = Shape { nodes, gpus, parts, connections };
    Setting { chunks: Some(parts), ..setting }.trace("", |p| program(p, &shape))
}

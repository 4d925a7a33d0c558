//! All-reduce on nodes: reduce-scatter around each node, all-reduce around a ring of the GPUs of one number, all-gather
//! around each node.

use collective_dsl::Buffer::Input;
use collective_dsl::{CollectiveKind, Program, Replication, Setting};

use crate::common::Traced;
use crate::figures::Row;

fn program(p: &Program, gpus: usize, nodes: usize, manual: bool) {
    let rank = |node: usize, gpu: usize| node % nodes * gpus + gpu % gpus;
    let start = |rank: usize, chunk: usize, channel: usize| {
        let start = p.chunk(rank, Input, chunk);
        if manual { start.on_channel(channel) } else { start }
    };
    // A chunk is summed up along a line of ranks, or handed along it.
    let sum = |chunk: usize, channel: usize, line: &[usize]| {
        let first = start(line[0], chunk, channel);
        line[1..].iter().fold(first, |sum, rank| p.chunk(*rank, Input, chunk).reduce(sum));
    };
    let copy = |chunk: usize, channel: usize, line: &[usize]| {
        let first = start(line[0], chunk, channel);
        line[1..].iter().fold(first, |copy, rank| copy.copy_to(*rank, Input, chunk));
    };
    let within =
        |node: usize, first: usize| -> Vec<usize> { (0..gpus).map(|hop| rank(node, first + hop)).collect() };
    let across =
        |first: usize, gpu: usize| -> Vec<usize> { (0..nodes).map(|hop| rank(first + hop, gpu)).collect() };
    let chunks = || (0..gpus).flat_map(|gpu| (0..nodes).map(move |node| (gpu, node, gpu * nodes + node)));
    for (gpu, part, chunk) in chunks() {
        for node in 0..nodes {
            sum(chunk, part, &within(node, gpu + 1));
        }
    }
    for (gpu, part, chunk) in chunks() {
        let channel = 2 * nodes + gpu % 2;
        sum(chunk, channel, &across(part + 1, gpu));
        copy(chunk, channel, &across(part, gpu));
    }
    for (gpu, part, chunk) in chunks() {
        for node in 0..nodes {
            copy(chunk, nodes + part, &within(node, gpu));
        }
    }
}

pub(crate) fn trace(row: &Row) -> Traced {
    let [gpus, nodes, instances] = row.numbers();
    let setting = row.setting(CollectiveKind::AllReduce, instances, Replication::Blocked);
    Setting { in_place: true, ..setting }.trace("", |p| program(p, gpus, nodes, row.variant == "manual"))
}

//! All-reduce on two nodes: reduce-scatter by direct messages within each node, an exchange of the sums between
//! the nodes, all-gather within each node.

use collective_dsl::Buffer::{Input, Scratch};
use collective_dsl::{CollectiveKind, Program, Replication, Setting};

use crate::allreduce_a100_allpairs::{all_gather, reduce_scatter};
use crate::common::Traced;
use crate::figures::Row;

fn program(p: &Program) {
    let gpus = p.ranks() / 2;
    for node in [0, gpus] {
        reduce_scatter(p, node, gpus, gpus);
    }
    for rank in 0..p.ranks() {
        let sums = p.chunks(rank, Input, rank % gpus * gpus, gpus).on_channel(rank % 2);
        sums.copy_to((rank + gpus) % p.ranks(), Scratch("other node"), 0);
    }
    for rank in 0..p.ranks() {
        let other = p.chunks(rank, Scratch("other node"), 0, gpus);
        p.chunks(rank, Input, rank % gpus * gpus, gpus).reduce(other);
    }
    for node in [0, gpus] {
        all_gather(p, node, gpus, gpus);
    }
}

pub(crate) fn trace(row: &Row) -> Traced {
    let [gpus, instances] = row.numbers();
    let setting = row.setting(CollectiveKind::AllReduce, instances, Replication::Blocked);
    Setting { in_place: true, chunks: Some(gpus * gpus), ..setting }.trace("", program)
}

//! All-reduce by direct messages: every rank collects its block from all, adds it up chunk by chunk, and sends the sums
//! to all. Also the program `allreduce_allpairs` of the collection `programs`.

use collective_dsl::Buffer::{Input, Scratch};
use collective_dsl::{CollectiveKind, Program, Replication, Setting};

use crate::common::{ONE, Traced, exchange, slot};
use crate::figures::Row;

/// Reduce-scatter among the ranks `first..first + size`, in blocks of `block` chunks.
pub(crate) fn reduce_scatter(p: &Program, first: usize, size: usize, block: usize) {
    let members = first..first + size;
    for rank in members.clone() {
        for peer in members.clone().filter(|peer| *peer != rank) {
            let share = p.chunks(rank, Input, (peer - first) * block, block);
            let place = slot(peer - first, rank - first) * block;
            exchange(share, peer, ONE).copy_to(peer, Scratch("arrived"), place);
        }
    }
    for rank in members {
        for chunk in 0..block {
            for from in 0..size - 1 {
                let arrived = p.chunk(rank, Scratch("arrived"), from * block + chunk);
                p.chunk(rank, Input, (rank - first) * block + chunk).reduce(arrived);
            }
        }
    }
}

/// All-gather of the sums among the same ranks.
pub(crate) fn all_gather(p: &Program, first: usize, size: usize, block: usize) {
    for rank in first..first + size {
        let at = (rank - first) * block;
        let sums = p.chunks(rank, Input, at, block);
        for peer in (first..first + size).filter(|peer| *peer != rank) {
            exchange(sums, peer, ONE).copy_to(peer, Input, at);
        }
    }
}

pub(crate) fn trace(row: &Row) -> Traced {
    let [ranks, instances] = row.numbers();
    let setting = row.setting(CollectiveKind::AllReduce, instances, Replication::Blocked);
    Setting { in_place: true, chunks: Some(ranks * ranks), ..setting }.trace("", |p| {
        reduce_scatter(p, 0, ranks, ranks);
        all_gather(p, 0, ranks, ranks);
    })
}

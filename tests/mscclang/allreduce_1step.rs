//! All-reduce in one step: every rank sends everything to every other, and each adds it all up.

use collective_dsl::Buffer::{Input, Scratch};
use collective_dsl::{CollectiveKind, Program, Replication, Setting};

use crate::common::{ONE, Traced, exchange, slot};
use crate::figures::Row;

fn program(p: &Program) {
    let ranks = p.ranks();
    for rank in 0..ranks {
        let all = p.chunks(rank, Input, 0, ranks);
        for peer in (0..ranks).filter(|peer| *peer != rank) {
            exchange(all, peer, ONE).copy_to(peer, Scratch("arrived"), slot(peer, rank) * ranks);
        }
    }
    for rank in 0..ranks {
        for chunk in 0..ranks {
            for from in 0..ranks - 1 {
                p.chunk(rank, Input, chunk).reduce(p.chunk(rank, Scratch("arrived"), from * ranks + chunk));
            }
        }
    }
}

pub(crate) fn trace(row: &Row) -> Traced {
    let [_, instances] = row.numbers();
    let setting = row.setting(CollectiveKind::AllReduce, instances, Replication::Blocked);
    Setting { in_place: true, ..setting }.trace("", program)
}

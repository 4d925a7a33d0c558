//! All-reduce by direct messages, each rank's one chunk added up as a binary tree.

use collective_dsl::Buffer::{Input, Scratch};
use collective_dsl::{CollectiveKind, Program, Replication, Setting};

use crate::allreduce_a100_allpairs::all_gather;
use crate::common::{ONE, Traced, exchange, slot};
use crate::figures::Row;

fn program(p: &Program) {
    let ranks = p.ranks();
    for rank in 0..ranks {
        for peer in (0..ranks).filter(|peer| *peer != rank) {
            let share = p.chunk(rank, Input, peer);
            exchange(share, peer, ONE).copy_to(peer, Scratch("arrived"), slot(peer, rank));
        }
    }
    for rank in 0..ranks {
        // The leaves: the rank's own chunk, then what has arrived.
        let leaf = |i| match i {
            0 => p.chunk(rank, Input, rank),
            i => p.chunk(rank, Scratch("arrived"), i - 1),
        };
        let mut half = ranks / 2;
        while half > 0 {
            (0..half).for_each(|i| _ = leaf(i).reduce(leaf(i + half)));
            half /= 2;
        }
    }
    all_gather(p, 0, ranks, 1);
}

pub(crate) fn trace(row: &Row) -> Traced {
    let [_, instances] = row.numbers();
    let setting = row.setting(CollectiveKind::AllReduce, instances, Replication::Blocked);
    Setting { in_place: true, ..setting }.trace("", program)
}
